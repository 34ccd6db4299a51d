import { createStreamCheck, outcome } from './converse-stream.ts'
import {
  any,
  type Check,
  either,
  flag,
  int,
  isObject,
  type JsonObject,
  list,
  loose,
  map,
  number,
  object,
  one,
  run,
  type Strict,
  text,
} from './faults.ts'

const filled = text({ min: 1 })
const written = text({ pattern: /\S/ })
const base64 = text({ min: 1, pattern: /^[A-Za-z0-9+/]+={0,2}$/ })

/** An object with one of these keys, which is its kind. */
const union =
  (kinds: Record<string, Check>): Check =>
  (value, at, faults) => {
    if (!isObject(value)) return void faults.push(`${at}: expected an object`)
    const [key, ...others] = Object.keys(value)
    const check = key !== undefined && Object.hasOwn(kinds, key) ? kinds[key] : undefined
    if (others.length > 0) faults.push(`${at}: more than one member`)
    if (check && key !== undefined) check(value[key], `${at}/${key}`, faults)
    else faults.push(`${at}: expected one of ${Object.keys(kinds).join(', ')}`)
  }

const s3Location = object(
  { uri: text({ pattern: /^s3:\/\// }) },
  { bucketOwner: text({ pattern: /^\d{12}$/ }) },
)
const bytes = union({ bytes: base64, s3Location })
const textBlock = { text: written }
const image = object({ format: one('png', 'jpeg', 'gif', 'webp'), source: bytes })
const document = object(
  {
    name: text({ min: 1, max: 200, pattern: /^[\w()[\]-]+(?:\s[\w()[\]-]+)*$/ }),
    source: union({
      bytes: base64,
      s3Location,
      text: text(),
      content: list(union({ text: text() })),
    }),
  },
  {
    format: one('pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'),
    context: text(),
    citations: object({ enabled: flag }),
  },
)
const video = object({
  format: one('mkv', 'mov', 'mp4', 'webm', 'flv', 'mpeg', 'mpg', 'wmv', 'three_gp'),
  source: bytes,
})
const audio = object({
  format: one(
    'mp3',
    'opus',
    'wav',
    'aac',
    'flac',
    'mp4',
    'ogg',
    'mkv',
    'mka',
    'x-aac',
    'm4a',
    'mpeg',
    'mpga',
    'pcm',
    'webm',
  ),
  source: bytes,
})
const searchResult = object(
  { source: text(), title: text(), content: list(object({ text: text() })) },
  { citations: object({ enabled: flag }) },
)
const id = text({ pattern: /^[a-zA-Z0-9_.:-]{1,64}$/ })
const name = text({ pattern: /^[a-zA-Z0-9_-]{1,64}$/ })
const toolUse = object(
  { toolUseId: id, name, input: loose({}) },
  { type: one('server_tool_use', 'tool_use') },
)
const toolResult = object(
  {
    toolUseId: id,
    content: list(union({ ...textBlock, json: loose({}), image, document, video, searchResult })),
  },
  { status: one('success', 'error'), type: text() },
)
const cachePoint = object({ type: one('default') }, { ttl: one('5m', '1h') })
const reasoning = (inner: Check) =>
  union({ reasoningText: object({ text: text() }, { signature: inner }), redactedContent: base64 })
const place = (index: string) => object({}, { [index]: int(0), start: int(0), end: int(0) })
const citation = object(
  {},
  {
    title: text(),
    source: text(),
    sourceContent: list(union({ text: text() })),
    location: union({
      web: object({}, { url: text(), domain: text() }),
      documentChar: place('documentIndex'),
      documentPage: place('documentIndex'),
      documentChunk: place('documentIndex'),
      searchResultLocation: place('searchResultIndex'),
    }),
  },
)
const citationsContent = object(
  { citations: list(citation) },
  { content: list(union({ text: text() })) },
)
const guardContent = loose({})

const blocks: Record<string, Check> = {
  user: union({
    ...textBlock,
    image,
    document,
    video,
    audio,
    toolResult,
    guardContent,
    cachePoint,
    searchResult,
  }),
  assistant: union({
    ...textBlock,
    image,
    toolUse,
    toolResult,
    reasoningContent: reasoning(filled),
    citationsContent,
    cachePoint,
  }),
  system: union({ ...textBlock, toolAddition: loose({}), toolRemoval: loose({}) }),
}

const message: Check = (value, at, faults) => {
  object({ role: one('user', 'assistant', 'system'), content: any })(value, at, faults)
  const known = isObject(value) ? blocks[String(value['role'])] : undefined
  if (known && isObject(value)) list(known, { min: 1 })(value['content'], `${at}/content`, faults)
}

const tool = union({
  toolSpec: object(
    { name, inputSchema: object({ json: loose({ type: one('object') }) }) },
    { description: filled, strict: flag },
  ),
  systemTool: object({ name: filled }),
  cachePoint,
})

const jsonText: Check = (value, at, faults) => {
  try {
    const schema: unknown = JSON.parse(String(value))
    if (isObject(schema)) return
  } catch {
    // It is no JSON.
  }
  faults.push(`${at}: expected a schema as JSON text`)
}

const request = object(
  { messages: list(message, { min: 1 }) },
  {
    system: list(union({ ...textBlock, guardContent, cachePoint })),
    inferenceConfig: object(
      {},
      {
        maxTokens: int(1),
        temperature: number({ min: 0, max: 1 }),
        topP: number({ min: 0, max: 1 }),
        stopSequences: list(written, { max: 2500 }),
      },
    ),
    toolConfig: object(
      { tools: list(tool, { min: 1 }) },
      { toolChoice: union({ auto: object({}), any: object({}), tool: object({ name: filled }) }) },
    ),
    guardrailConfig: loose({}),
    additionalModelRequestFields: loose({}),
    additionalModelResponseFieldPaths: list(text({ min: 1, max: 256 }), { max: 10 }),
    promptVariables: loose({}),
    requestMetadata: map(text({ max: 256, pattern: /^[a-zA-Z0-9\s:_@$#=/+,.-]*$/ })),
    performanceConfig: object({ latency: one('standard', 'optimized') }),
    serviceTier: object({ type: one('default', 'flex', 'priority', 'reserved') }),
    outputConfig: object(
      {},
      {
        textFormat: object({
          type: one('json_schema'),
          structure: union({
            jsonSchema: object({ schema: jsonText }, { name: text(), description: text() }),
          }),
        }),
        effort: one('low', 'medium', 'high', 'xhigh', 'max'),
      },
    ),
  },
)

const arrayOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []
const inside = (block: JsonObject, kind: string): JsonObject =>
  isObject(block[kind]) ? block[kind] : {}

export function checkRequest(body: unknown): string[] {
  const faults = run(request, body)
  if (!isObject(body)) return faults
  const messages = arrayOf(body['messages'])
  const config = inside(body, 'toolConfig')
  const tools = arrayOf(config['tools'])
  checkTurns(messages, faults)
  checkDocuments(messages, faults)
  checkPoints(
    [tools, arrayOf(body['system']), ...messages.map(({ content }) => arrayOf(content))],
    faults,
  )
  if (
    tools.length === 0 &&
    messages.some(({ content }) =>
      arrayOf(content).some(block => 'toolUse' in block || 'toolResult' in block),
    )
  )
    faults.push('/toolConfig: the history has tools')
  const names = tools.map(one => inside(one, 'toolSpec')['name']).filter(Boolean)
  if (new Set(names).size < names.length) faults.push('/toolConfig/tools: two with one name')
  const chosen = inside(inside(config, 'toolChoice'), 'tool')['name']
  if (chosen !== undefined && !names.includes(chosen))
    faults.push('/toolConfig/toolChoice: no such tool')
  const thinking = inside(inside(body, 'additionalModelRequestFields'), 'thinking')
  const most = inside(body, 'inferenceConfig')['maxTokens']
  if (
    thinking['type'] === 'enabled' &&
    typeof most === 'number' &&
    !(Number(thinking['budget_tokens']) < most)
  )
    faults.push('/inferenceConfig/maxTokens: not above the budget')
  return faults
}

/**
 * User and assistant alternate. The message of the user behind calls has results for all of them,
 * and nothing else.
 */
function checkTurns(messages: JsonObject[], faults: string[]): void {
  const seen = new Set<unknown>()
  let open: unknown[] = []
  messages.forEach((entry, index) => {
    const at = `/messages/${index}`
    const content = arrayOf(entry['content'])
    if (index > 0 && messages[index - 1]?.['role'] === entry['role'])
      faults.push(`${at}: two messages of one role`)
    if (entry['role'] === 'assistant') {
      for (const block of content) {
        const { toolUseId, type } = inside(block, 'toolUse')
        if (!('toolUse' in block) || type === 'server_tool_use') continue
        if (seen.has(toolUseId)) faults.push(`${at}: a call id used twice`)
        seen.add(toolUseId)
        open.push(toolUseId)
      }
      return
    }
    if (entry['role'] !== 'user') return
    for (const block of content) {
      if (!('toolResult' in block)) continue
      const { toolUseId, status, content } = inside(block, 'toolResult')
      if (!open.includes(toolUseId))
        faults.push(`${at}: a result belongs to no call of the turn before it`)
      if (status === 'error' && arrayOf(content).length === 0)
        faults.push(`${at}: a failed result without content`)
      open = open.filter(one => one !== toolUseId)
    }
    if (open.length > 0) faults.push(`${at}: ${open.length} calls have no result here`)
    open = []
  })
  if (open.length > 0) faults.push('/messages: the last calls have no result')
  const last = arrayOf(messages.at(-1)?.['content']).at(-1)
  if (
    messages.at(-1)?.['role'] === 'assistant' &&
    typeof last?.['text'] === 'string' &&
    /\s$/.test(last['text'])
  )
    faults.push('/messages: the last text ends with white space')
}

/** A document has a name of its own, and a text next to it. */
function checkDocuments(messages: JsonObject[], faults: string[]): void {
  const names: unknown[] = []
  messages.forEach((entry, index) => {
    const content = arrayOf(entry['content'])
    const own = content.filter(block => 'document' in block)
    if (own.length > 0 && !content.some(block => 'text' in block))
      faults.push(`/messages/${index}: a document without a text`)
    const inResults = content
      .flatMap(block => arrayOf(inside(block, 'toolResult')['content']))
      .filter(block => 'document' in block)
    for (const block of [...own, ...inResults]) names.push(inside(block, 'document')['name'])
  })
  if (new Set(names).size < names.length) faults.push('/messages: two documents with one name')
}

/** At most four cache points, those with the longer lifetime first, each behind what it marks. */
function checkPoints(lists: JsonObject[][], faults: string[]): void {
  const lifetimes: unknown[] = []
  for (const entries of lists)
    entries.forEach((entry, index) => {
      if (!('cachePoint' in entry)) return
      lifetimes.push(inside(entry, 'cachePoint')['ttl'] ?? '5m')
      const before = entries[index - 1]
      if (!before || 'cachePoint' in before) faults.push('/: a cache point marks nothing')
      else if ('reasoningContent' in before) faults.push('/: a cache point behind reasoning')
    })
  if (lifetimes.length > 4) faults.push('/: more than four cache points')
  if (lifetimes.includes('5m') && lifetimes.lastIndexOf('1h') > lifetimes.indexOf('5m'))
    faults.push('/: a point of 1h after one of 5m')
}

const count = int(0)
const usage = object(
  { inputTokens: count, outputTokens: count, totalTokens: count },
  {
    cacheReadInputTokens: count,
    cacheWriteInputTokens: count,
    cacheReadInputTokenCount: count,
    cacheWriteInputTokenCount: count,
    cacheDetails: list(object({ ttl: one('5m', '1h'), inputTokens: count })),
    serverToolUsage: any,
  },
)
const stopReason = one(
  'end_turn',
  'tool_use',
  'max_tokens',
  'stop_sequence',
  'guardrail_intervened',
  'content_filtered',
  'malformed_model_output',
  'malformed_tool_use',
  'model_context_window_exceeded',
)
/** What is next to the message of a response. */
const around = {
  trace: loose({}),
  performanceConfig: loose({}),
  serviceTier: object({ type: filled }),
}
const metrics = object({ latencyMs: count })

const block = union({
  text: text(),
  image: loose({}),
  toolUse,
  toolResult,
  reasoningContent: reasoning(text()),
  citationsContent,
})
const response = object(
  {
    output: union({ message: object({ role: one('assistant'), content: list(block) }) }),
    stopReason,
    usage,
    metrics,
  },
  { additionalModelResponseFields: any, ...around },
)

export function checkResponse(body: unknown): string[] {
  const faults = run(response, body)
  if (!isObject(body)) return faults
  checkTotal(inside(body, 'usage'), '/usage', faults)
  const content = arrayOf(inside(inside(body, 'output'), 'message')['content'])
  if (body['stopReason'] === 'tool_use' && !content.some(block => 'toolUse' in block))
    faults.push('/stopReason: no call')
  return faults
}

/** The total counts the cache, which the input does not. */
function checkTotal(counts: JsonObject, at: string, faults: string[]): void {
  const sum = [
    'inputTokens',
    'outputTokens',
    'cacheReadInputTokens',
    'cacheWriteInputTokens',
  ].reduce((all, key) => all + (Number(counts[key] ?? 0) || 0), 0)
  if (typeof counts['totalTokens'] === 'number' && counts['totalTokens'] !== sum)
    faults.push(`${at}/totalTokens: not the sum`)
}

const errorBody: Check = loose({ message: text({ min: 1 }) })

export const checkError = (body: unknown): string[] => run(either(errorBody), body)

const checkStream = createStreamCheck({ usage, metrics, stopReason, citation, errorBody, around })

export const strict: Strict = { checkRequest, checkResponse, checkStream, checkError, outcome }
