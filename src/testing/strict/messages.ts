import {
  any,
  by,
  type Check,
  either,
  flag,
  int,
  isObject,
  type JsonObject,
  list,
  loose,
  map,
  nullable,
  number,
  object,
  one,
  run,
  type Strict,
  text,
} from './faults.ts'
import { checkOrder } from './messages-stream.ts'

const id = text({ min: 1, pattern: /^[a-zA-Z0-9_-]+$/ })
const cache = {
  cache_control: nullable(object({ type: one('ephemeral') }, { ttl: one('5m', '1h') })),
}
const filled = text({ min: 1 })
const citations = { citations: nullable(list(loose({ type: text() }))) }

const textBlock = object({ type: one('text'), text: filled }, { ...citations, ...cache })
const imageSource = by('type', {
  base64: object({
    type: any,
    media_type: one('image/jpeg', 'image/png', 'image/gif', 'image/webp'),
    data: filled,
  }),
  url: object({ type: any, url: text({ pattern: /^https?:\/\// }) }),
  file: object({ type: any, file_id: filled }),
})
const image = object({ type: any, source: imageSource }, { transformations: any, ...cache })
const document = object(
  {
    type: any,
    source: by('type', {
      base64: object({ type: any, media_type: one('application/pdf'), data: filled }),
      text: object({ type: any, media_type: one('text/plain'), data: text() }),
      content: object({
        type: any,
        content: either(text(), list(by('type', { text: textBlock, image }))),
      }),
      url: object({ type: any, url: text({ pattern: /^https?:\/\// }) }),
      file: object({ type: any, file_id: filled }),
    }),
  },
  {
    title: nullable(text({ max: 500 })),
    context: nullable(text()),
    citations: nullable(object({}, { enabled: flag })),
    ...cache,
  },
)
const searchResult = object(
  { type: any, source: text(), title: text(), content: list(textBlock) },
  { citations: any, ...cache },
)
const toolResult = object(
  { type: any, tool_use_id: id },
  {
    content: either(
      text(),
      list(
        by('type', {
          text: textBlock,
          image,
          document,
          search_result: searchResult,
          tool_reference: loose({ tool_name: text() }),
          browser_state: loose({}),
        }),
      ),
    ),
    is_error: flag,
    toolset_name: text(),
    ...cache,
  },
)
const serverResults = Object.fromEntries(
  [
    'web_search',
    'web_fetch',
    'code_execution',
    'bash_code_execution',
    'text_editor_code_execution',
    'tool_search',
  ].map(name => [`${name}_tool_result`, loose({ tool_use_id: text(), content: any })] as const),
)
const beta = Object.fromEntries(
  [
    'mcp_tool_use',
    'mcp_tool_result',
    'mcp_tool_listing',
    'compaction',
    'fallback',
    'advisor_tool_result',
    'tool_addition',
    'tool_removal',
  ].map(name => [name, loose({})] as const),
)

const blocks: Record<string, Record<string, Check>> = {
  user: {
    text: textBlock,
    image,
    document,
    search_result: searchResult,
    tool_result: toolResult,
    container_upload: object({ type: any, file_id: filled }, cache),
    ...beta,
  },
  system: { text: textBlock, ...beta },
  assistant: {
    text: textBlock,
    thinking: object({ type: any, thinking: text(), signature: filled }),
    redacted_thinking: object({ type: any, data: filled }),
    tool_use: object(
      { type: any, id, name: text({ min: 1, max: 200 }), input: loose({}) },
      { caller: any, toolset_name: text(), ...cache },
    ),
    server_tool_use: object(
      { type: any, id: text({ pattern: /^srvtoolu_[a-zA-Z0-9_]+$/ }), name: text(), input: any },
      { caller: any, ...cache },
    ),
    ...serverResults,
    ...beta,
  },
}

const message: Check = (value, at, faults) => {
  object(
    { role: one('user', 'assistant', 'system'), content: any },
    { clear_at: any, output_config: any },
  )(value, at, faults)
  if (!isObject(value)) return
  const known = blocks[String(value['role'])]
  if (known)
    either(filled, list(by('type', known), { min: 1 }))(value['content'], `${at}/content`, faults)
}

const toolName = text({ pattern: /^[a-zA-Z0-9_-]{1,128}$/ })
const functionTool = object(
  { name: toolName, input_schema: loose({ type: one('object') }) },
  {
    type: nullable(one('custom')),
    description: text(),
    strict: flag,
    defer_loading: flag,
    allowed_callers: list(text()),
    input_examples: list(loose({})),
    eager_input_streaming: nullable(flag),
    ...cache,
  },
)
const vendorTool = loose({
  type: text({
    pattern:
      /^(bash|text_editor|memory|browser_toolset|computer_toolset|computer|web_search|web_fetch|code_execution|tool_search_tool_(regex|bm25)|mcp_toolset|advisor)(_\d{8})?$/,
  }),
})
const tool: Check = (value, at, faults) =>
  (isObject(value) && value['type'] != null && value['type'] !== 'custom'
    ? vendorTool
    : functionTool)(value, at, faults)

const parallel = { disable_parallel_tool_use: flag }
const display = { display: nullable(one('summarized', 'omitted', 'updates')), block_binding: any }

const request = object(
  { model: text({ min: 1 }), messages: list(message, { min: 1 }), max_tokens: int(0) },
  {
    system: either(text(), list(textBlock)),
    temperature: number({ min: 0, max: 1 }),
    top_p: number({ min: 0, max: 1 }),
    top_k: int(0),
    stop_sequences: list(text({ min: 1, pattern: /\S/ })),
    stream: flag,
    thinking: by('type', {
      enabled: object({ type: any, budget_tokens: int(1024) }, display),
      adaptive: object({ type: any }, display),
      disabled: object({ type: any }),
      between_tools: object({ type: any }, display),
    }),
    output_config: object(
      {},
      {
        effort: nullable(one('low', 'medium', 'high', 'xhigh', 'max')),
        format: nullable(object({ type: one('json_schema'), schema: loose({}) })),
        task_budget: any,
      },
    ),
    tools: list(tool),
    tool_choice: by('type', {
      auto: object({ type: any }, parallel),
      any: object({ type: any }, parallel),
      tool: object({ type: any, name: text({ min: 1 }) }, parallel),
      none: object({ type: any }),
    }),
    metadata: object({}, { user_id: nullable(text({ max: 512 })) }),
    service_tier: one('auto', 'standard_only'),
    speed: nullable(one('standard', 'fast')),
    ...cache,
    container: any,
    inference_geo: nullable(text()),
    diagnostics: nullable(object({}, { previous_message_id: nullable(text()) })),
    mcp_servers: list(loose({})),
    context_management: nullable(loose({})),
    compaction: any,
    thread: any,
    fallbacks: any,
    fallback_credit_token: any,
    billing_policy: any,
    output_format: any,
    safeguards: any,
  },
)

export function checkRequest(body: unknown): string[] {
  const faults = run(request, body)
  if (!isObject(body)) return faults
  checkTurns(arrayOf(body['messages']), faults)
  const thinking = body['thinking']
  if (isObject(thinking) && thinking['type'] === 'enabled') {
    if (!(Number(thinking['budget_tokens']) < Number(body['max_tokens'])))
      faults.push('/thinking/budget_tokens: not below max_tokens')
    const choice = body['tool_choice']
    if (isObject(choice) && (choice['type'] === 'any' || choice['type'] === 'tool'))
      faults.push('/tool_choice: cannot force a tool while thinking')
  }
  const names = arrayOf(body['tools']).map(({ name }) => name)
  if (new Set(names.filter(Boolean)).size < names.filter(Boolean).length)
    faults.push('/tools: two with one name')
  const choice = body['tool_choice']
  if (isObject(choice) && choice['type'] !== 'none' && names.length === 0)
    faults.push('/tool_choice: there are no tools')
  if (isObject(choice) && choice['type'] === 'tool' && !names.includes(choice['name']))
    faults.push('/tool_choice: no such tool')
  checkMarks([body['tools'], body['system'], body['messages']], faults)
  return faults
}

/**
 * The server joins consecutive messages of one role. The next user message must have the results of
 * the calls, before other content.
 */
function checkTurns(messages: JsonObject[], faults: string[]): void {
  const seen = new Set<unknown>()
  let open: unknown[] = []
  messages.forEach((entry, index) => {
    const at = `/messages/${index}`
    const content = arrayOf(entry['content'])
    if (entry['role'] === 'system') {
      const before = messages[index - 1]
      if (before?.['role'] !== 'user' && before?.['role'] !== 'system')
        faults.push(`${at}: a system message follows a user message`)
      return
    }
    if (entry['role'] === 'assistant') {
      for (const block of content)
        if (block['type'] === 'tool_use') {
          if (seen.has(block['id'])) faults.push(`${at}: a call id used twice`)
          seen.add(block['id'])
          open.push(block['id'])
        }
      return
    }
    const results = content.filter(block => block['type'] === 'tool_result')
    const first = content.findIndex(block => block['type'] !== 'tool_result')
    if (first >= 0 && content.slice(first).some(block => block['type'] === 'tool_result'))
      faults.push(`${at}: results stand first`)
    for (const { tool_use_id: callId } of results) {
      if (!open.includes(callId))
        faults.push(`${at}: a result belongs to no call of the turn before it`)
      open = open.filter(one => one !== callId)
    }
    if (open.length > 0) faults.push(`${at}: ${open.length} calls have no result here`)
    open = []
  })
  if (open.length > 0) faults.push('/messages: the last calls have no result')
}

/** At most four cache marks, those with the longer lifetime first. */
function checkMarks(parts: unknown[], faults: string[]): void {
  const lifetimes: unknown[] = []
  const walk = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, item] of Object.entries(value)) {
      if (key === 'cache_control' && isObject(item)) lifetimes.push(item['ttl'] ?? '5m')
      else if (key !== 'input' && key !== 'input_schema') walk(item)
    }
  }
  walk(parts)
  if (lifetimes.length > 4) faults.push('/: more than four cache marks')
  if (lifetimes.includes('5m') && lifetimes.lastIndexOf('1h') > lifetimes.indexOf('5m'))
    faults.push('/: a mark of 1h after one of 5m')
}

const arrayOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []

const tokens = nullable(int(0))
const usageDetails = {
  cache_creation_input_tokens: tokens,
  cache_read_input_tokens: tokens,
  cache_creation: nullable(
    object({ ephemeral_5m_input_tokens: int(0), ephemeral_1h_input_tokens: int(0) }),
  ),
  output_tokens_details: nullable(object({ thinking_tokens: int(0) })),
  server_tool_use: nullable(map(int(0))),
  service_tier: nullable(one('standard', 'priority', 'batch')),
  inference_geo: nullable(text()),
  speed: nullable(one('standard', 'fast')),
  iterations: any,
  fallback_credit: any,
}
const usage = object({ input_tokens: int(0), output_tokens: int(0) }, usageDetails)
const stopReason = one(
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
  'compaction',
)
const stopDetails = nullable(
  object(
    { type: one('refusal'), category: nullable(text()), explanation: nullable(text()) },
    { recommended_model: any },
  ),
)

const responseBlock = by('type', {
  ...blocks['assistant'],
  text: object({ type: one('text'), text: text() }, citations),
  thinking: object({ type: any, thinking: text(), signature: text() }),
  tool_use: object(
    { type: any, id, name: text({ min: 1 }), input: loose({}) },
    { caller: any, toolset_name: text() },
  ),
  container_upload: loose({ file_id: text() }),
})
const stops = {
  stop_sequence: nullable(text()),
  stop_details: stopDetails,
  container: nullable(loose({ id: text() })),
}
const envelope = {
  id: text({ min: 1 }),
  type: one('message'),
  role: one('assistant'),
  model: text(),
}
const more = {
  stop_details: stopDetails,
  container: stops.container,
  diagnostics: any,
  context_management: any,
  input_transformations: any,
}
const response = object(
  {
    ...envelope,
    content: list(responseBlock),
    stop_reason: stopReason,
    stop_sequence: stops.stop_sequence,
    usage,
  },
  more,
)

export function checkResponse(body: unknown): string[] {
  const faults = run(response, body)
  if (isObject(body)) checkStop(body, arrayOf(body['content']), '', faults)
  return faults
}

function checkStop(stop: JsonObject, content: JsonObject[], at: string, faults: string[]): void {
  if (stop['stop_reason'] === 'stop_sequence' && typeof stop['stop_sequence'] !== 'string')
    faults.push(`${at}/stop_sequence: which one?`)
  if (stop['stop_reason'] === 'tool_use' && !content.some(({ type }) => type === 'tool_use'))
    faults.push(`${at}/stop_reason: no call`)
}

const errorBody = object(
  {
    type: one('error'),
    error: object(
      { type: text({ pattern: /^[a-z_]+$/ }), message: text({ min: 1 }) },
      { details: any },
    ),
  },
  { request_id: nullable(text()) },
)

export function checkError(body: unknown): string[] {
  return run(errorBody, body)
}

const index = int(0)
const event = by('type', {
  message_start: object({
    type: any,
    message: object(
      {
        ...envelope,
        content: list(any, { max: 0 }),
        stop_reason: one(null),
        stop_sequence: one(null),
        usage,
      },
      more,
    ),
  }),
  content_block_start: object({ type: any, index, content_block: responseBlock }),
  content_block_delta: object({
    type: any,
    index,
    delta: by('type', {
      text_delta: object({ type: any, text: text() }),
      input_json_delta: object({ type: any, partial_json: text() }),
      thinking_delta: object({ type: any, thinking: text() }, { estimated_tokens: any }),
      signature_delta: object({ type: any, signature: text({ min: 1 }) }),
      citations_delta: object({ type: any, citation: loose({ type: text() }) }),
      compaction_delta: loose({}),
    }),
  }),
  content_block_stop: object({ type: any, index }),
  message_delta: object(
    {
      type: any,
      delta: object(
        { stop_reason: stopReason, stop_sequence: stops.stop_sequence },
        { stop_details: stopDetails, container: stops.container },
      ),
      usage: object({ output_tokens: int(0) }, { input_tokens: tokens, ...usageDetails }),
    },
    { context_management: any },
  ),
  message_stop: object({ type: any }),
  ping: object({ type: any }),
  error: errorBody,
})

export function checkStream(all: unknown[]): string[] {
  return checkOrder(all, { event, stop: checkStop })
}

export function outcome(events: unknown[]): 'success' | 'failed' | 'cut' {
  if (events.some(entry => isObject(entry) && entry['type'] === 'error')) return 'failed'
  return events.some(entry => isObject(entry) && entry['type'] === 'message_stop')
    ? 'success'
    : 'cut'
}

export const strict: Strict = { checkRequest, checkResponse, checkStream, checkError, outcome }
