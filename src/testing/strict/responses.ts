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
import { checkOrder } from './responses-stream.ts'

const filled = text({ min: 1 })
const name = text({ pattern: /^[A-Za-z0-9_-]{1,128}$/ })
const callId = text({ min: 1, max: 64 })
const mark = {
  prompt_cache_breakpoint: object({ mode: one('explicit') }, { ttl: one('30m', '12h') }),
}
const jsonSchema = loose({})

const inputText = object({ type: any, text: text() }, mark)
const inputImage = object(
  { type: any },
  {
    image_url: nullable(text({ pattern: /^(https?:\/\/|data:image\/)/ })),
    file_id: nullable(filled),
    detail: one('auto', 'low', 'high', 'original'),
    ...mark,
  },
)
const inputFile = object(
  { type: any },
  {
    file_data: nullable(filled),
    file_url: nullable(filled),
    file_id: nullable(filled),
    filename: nullable(text()),
    detail: one('auto', 'low', 'high'),
    ...mark,
  },
)
const oneSource =
  (...keys: string[]): Check =>
  (value, at, faults) => {
    if (isObject(value) && !keys.some(key => typeof value[key] === 'string'))
      faults.push(`${at}: needs one of ${keys.join(', ')}`)
  }
const both =
  (...checks: Check[]): Check =>
  (value, at, faults) => {
    for (const check of checks) check(value, at, faults)
  }
const input = {
  input_text: inputText,
  input_image: both(inputImage, oneSource('image_url', 'file_id')),
  input_file: both(inputFile, oneSource('file_data', 'file_url', 'file_id')),
}
const annotation = by('type', {
  url_citation: object({
    type: any,
    start_index: int(0),
    end_index: int(0),
    title: text(),
    url: text(),
  }),
  file_citation: object({ type: any, file_id: text(), filename: text(), index: int(0) }),
  container_file_citation: object({
    type: any,
    container_id: text(),
    file_id: text(),
    filename: text(),
    start_index: int(0),
    end_index: int(0),
  }),
  file_path: object({ type: any, file_id: text(), index: int(0) }),
})
const bytes = list(int(0, 255))
const logprob = object({
  token: text(),
  logprob: number(),
  bytes,
  top_logprobs: list(object({ token: text(), logprob: number(), bytes })),
})
const refusal = object({ type: any, refusal: text() })
// The official client adds `parsed` and `parsed_arguments` to accumulated items and sends them
// back.
const outputText = object(
  { type: any, text: text(), annotations: list(annotation) },
  { logprobs: list(logprob), parsed: any },
)

const status = one('in_progress', 'completed', 'incomplete')
const phase = nullable(one('commentary', 'final_answer'))
const messageItem: Check = (value, at, faults) => {
  object(
    { role: one('user', 'assistant', 'system', 'developer'), content: any },
    { type: one('message'), id: filled, status, phase },
  )(value, at, faults)
  if (!isObject(value)) return
  if (typeof value['content'] === 'string') return
  const parts = value['role'] === 'assistant' ? { output_text: outputText, refusal } : input
  list(by('type', parts), { min: 1 })(value['content'], `${at}/content`, faults)
}
const caller = { caller: nullable(loose({ type: text() })) }
const output = either(text(), list(by('type', input)))
const summary = list(object({ type: one('summary_text'), text: text() }))
const reasoningText = list(object({ type: one('reasoning_text'), text: text() }))
const vendorItems = Object.fromEntries(
  [
    'web_search_call',
    'file_search_call',
    'code_interpreter_call',
    'image_generation_call',
    'computer_call',
    'computer_call_output',
    'local_shell_call',
    'local_shell_call_output',
    'shell_call',
    'shell_call_output',
    'apply_patch_call',
    'apply_patch_call_output',
    'mcp_list_tools',
    'mcp_call',
    'mcp_approval_request',
    'mcp_approval_response',
    'tool_search_call',
    'tool_search_output',
    'program',
    'program_output',
    'compaction',
    'compaction_trigger',
    'additional_tools',
    'configuration_update',
  ].map(type => [type, loose({ type: text() })] as const),
)

const item: Check = (value, at, faults) => {
  if (isObject(value) && value['type'] == null && 'role' in value)
    return messageItem(value, at, faults)
  if (isObject(value) && value['type'] == null && 'id' in value)
    return object({ id: filled }, { type: one(null) })(value, at, faults)
  by('type', {
    message: messageItem,
    reasoning: object(
      { type: any, summary },
      {
        id: filled,
        content: nullable(reasoningText),
        encrypted_content: nullable(text()),
        status: nullable(status),
      },
    ),
    function_call: object(
      { type: any, call_id: callId, name, arguments: text() },
      { id: filled, namespace: text(), async: flag, status, parsed_arguments: any, ...caller },
    ),
    function_call_output: object(
      { type: any, call_id: callId, output },
      {
        id: nullable(filled),
        name: text(),
        namespace: text(),
        status: nullable(status),
        ...caller,
      },
    ),
    custom_tool_call: object(
      { type: any, call_id: callId, name, input: text() },
      { id: filled, namespace: text(), async: flag, status, ...caller },
    ),
    custom_tool_call_output: object(
      { type: any, call_id: callId, output },
      { id: filled, name: text(), namespace: text(), status, ...caller },
    ),
    item_reference: object({ type: any, id: filled }),
    ...vendorItems,
  })(value, at, faults)
}

const functionTool = object(
  { type: any, name, parameters: nullable(jsonSchema), strict: nullable(flag) },
  {
    description: nullable(text()),
    defer_loading: flag,
    allowed_callers: nullable(list(text())),
    async: flag,
    output_schema: any,
  },
)
const customTool = object(
  { type: any, name },
  {
    description: text(),
    format: by('type', {
      text: object({ type: any }),
      grammar: object({ type: any, syntax: one('lark', 'regex'), definition: text() }),
    }),
    defer_loading: flag,
    allowed_callers: nullable(list(text())),
    async: flag,
  },
)
const vendorTools = Object.fromEntries(
  [
    'web_search',
    'web_search_2025_08_26',
    'web_search_preview',
    'web_search_preview_2025_03_11',
    'file_search',
    'code_interpreter',
    'image_generation',
    'mcp',
    'computer',
    'computer_use_preview',
    'local_shell',
    'shell',
    'apply_patch',
    'tool_search',
    'programmatic_tool_calling',
  ].map(type => [type, loose({})] as const),
)
const tool = by('type', {
  function: functionTool,
  custom: customTool,
  namespace: object({
    type: any,
    name,
    description: text(),
    tools: list(by('type', { function: functionTool, custom: customTool })),
  }),
  ...vendorTools,
})
const hosted = Object.fromEntries(
  [...Object.keys(vendorTools), 'computer_use'].map(type => [type, loose({})] as const),
)
const named = { function: object({ type: any, name }), custom: object({ type: any, name }) }
const toolChoice = either(
  one('none', 'auto', 'required'),
  by('type', {
    ...hosted,
    ...named,
    allowed_tools: object({
      type: any,
      mode: one('auto', 'required'),
      tools: list(loose({ type: text() }), { min: 1 }),
    }),
  }),
)
const schemaName = text({ pattern: /^[A-Za-z0-9_-]{1,64}$/ })
const formatOf = (description: Check) =>
  by('type', {
    text: object({ type: any }),
    json_object: object({ type: any }),
    json_schema: object(
      { type: any, name: schemaName, schema: jsonSchema },
      { description, strict: nullable(flag) },
    ),
  })
const format = formatOf(text())
const verbosity = nullable(one('low', 'medium', 'high'))
const effort = nullable(one('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'))
const summaries = nullable(one('auto', 'concise', 'detailed'))
const reasoning = nullable(
  object(
    {},
    {
      effort,
      summary: summaries,
      generate_summary: summaries,
      context: nullable(one('auto', 'current_turn', 'all_turns')),
      mode: nullable(text()),
    },
  ),
)

const settings: Record<string, Check> = {
  instructions: nullable(text()),
  max_output_tokens: nullable(int(16)),
  max_tool_calls: nullable(int(1)),
  temperature: nullable(number({ min: 0, max: 2 })),
  top_p: nullable(number({ min: 0, max: 1 })),
  top_logprobs: nullable(int(0, 20)),
  presence_penalty: number({ min: -2, max: 2 }),
  frequency_penalty: number({ min: -2, max: 2 }),
  parallel_tool_calls: nullable(flag),
  tools: list(tool),
  tool_choice: toolChoice,
  text: object({}, { format, verbosity }),
  reasoning,
  store: nullable(flag),
  previous_response_id: nullable(filled),
  conversation: any,
  background: nullable(flag),
  truncation: nullable(one('auto', 'disabled')),
  prompt: any,
  prompt_cache_key: nullable(text({ max: 64 })),
  prompt_cache_options: nullable(
    object(
      {},
      {
        mode: one('implicit', 'explicit'),
        ttl: one('30m', '12h'),
        prewarm: any,
        comparison_response_id: any,
      },
    ),
  ),
  prompt_cache_retention: nullable(one('in_memory', '24h')),
  metadata: nullable(map(text({ max: 512 }))),
  safety_identifier: nullable(text({ max: 128 })),
  user: nullable(text()),
  service_tier: nullable(one('auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast')),
  moderation: any,
  access_programs: any,
  image: any,
}

const includes = one(
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
)
const request = object(
  { model: text({ min: 1 }), input: either(text(), list(item)) },
  {
    ...settings,
    include: nullable(list(includes)),
    context_management: nullable(list(loose({ type: text() }))),
    stream: nullable(flag),
    stream_options: nullable(object({}, { include_obfuscation: flag })),
    client_metadata: any,
  },
)

const calls: Record<string, string> = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
}

export function checkRequest(body: unknown): string[] {
  const faults = run(request, body)
  if (!isObject(body)) return faults
  const items = arrayOf(body['input'])
  const open = new Map<unknown, string>()
  const seen = new Set<string>()
  items.forEach((entry, index) => {
    const type = String(entry['type'] ?? 'message')
    const at = `/input/${index}`
    const awaited = calls[type]
    if (awaited) {
      if (open.has(entry['call_id'])) faults.push(`${at}: a call id that is still open`)
      open.set(entry['call_id'], awaited)
    }
    if (Object.values(calls).includes(type)) {
      if (
        open.get(entry['call_id']) !== type &&
        body['previous_response_id'] == null &&
        body['conversation'] == null
      )
        faults.push(`${at}: belongs to no call`)
      open.delete(entry['call_id'])
    }
    if (type === 'reasoning' && typeof entry['encrypted_content'] === 'string') {
      const next = items[index + 1]
      if (!next || next['role'] === 'user' || String(next['type']).endsWith('_output'))
        faults.push(`${at}: reasoning without the item that it led to`)
    }
    if (typeof entry['id'] === 'string' && type !== 'item_reference') {
      if (seen.has(entry['id'])) faults.push(`${at}: an item id used twice`)
      seen.add(entry['id'])
    }
  })
  if (open.size > 0) faults.push(`/input: ${open.size} calls have no result`)
  if (body['previous_response_id'] != null && body['conversation'] != null)
    faults.push('/conversation: not together with previous_response_id')
  const tools = arrayOf(body['tools'])
  const choice = body['tool_choice']
  const added = items.some(({ type }) => type === 'additional_tools')
  if (tools.length === 0 && !added && choice != null && choice !== 'auto' && choice !== 'none')
    faults.push('/tool_choice: there are no tools')
  if (
    isObject(choice) &&
    (choice['type'] === 'function' || choice['type'] === 'custom') &&
    !tools.some(one => one['name'] === choice['name'] && one['type'] === choice['type'])
  )
    faults.push('/tool_choice: no such tool')
  const names = tools
    .filter(({ type }) => type === 'function' || type === 'custom')
    .map(one => one['name'])
  if (new Set(names).size < names.length) faults.push('/tools: two with one name')
  if (body['stream_options'] != null && body['stream'] !== true)
    faults.push('/stream_options: only with stream')
  return faults
}

const arrayOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []

const outputItem = by('type', {
  message: object(
    {
      type: any,
      id: filled,
      role: one('assistant'),
      status,
      content: list(by('type', { output_text: outputText, refusal })),
    },
    { phase },
  ),
  reasoning: object(
    { type: any, id: filled, summary },
    {
      content: nullable(reasoningText),
      encrypted_content: nullable(text()),
      status: nullable(status),
    },
  ),
  function_call: object(
    { type: any, id: filled, call_id: filled, name, arguments: text() },
    { namespace: text(), async: flag, status, ...caller },
  ),
  custom_tool_call: object(
    { type: any, id: filled, call_id: filled, name, input: text() },
    { namespace: text(), async: flag, status, ...caller },
  ),
  ...vendorItems,
})
const usage = object({
  input_tokens: int(0),
  input_tokens_details: object(
    { cached_tokens: int(0), cache_write_tokens: int(0) },
    { cache_write_tokens_details: map(int(0)) },
  ),
  output_tokens: int(0),
  output_tokens_details: object({ reasoning_tokens: int(0) }),
  total_tokens: int(0),
})
const checkUsage: Check = (value, at, faults) => {
  usage(value, at, faults)
  if (
    isObject(value) &&
    value['total_tokens'] !== Number(value['input_tokens']) + Number(value['output_tokens'])
  )
    faults.push(`${at}/total_tokens: is not the sum`)
}
const itsError = nullable(
  object(
    { code: text({ min: 1 }), message: text({ min: 1 }) },
    { param: any, type: any, misalignment: any },
  ),
)
// Responses repeat a format with null for what the request left out.
const { instructions: _instructions, ...echo }: Record<string, Check> = {
  ...settings,
  text: object({}, { format: formatOf(nullable(text())), verbosity }),
}
const envelope = {
  id: filled,
  object: one('response'),
  created_at: number({ min: 0 }),
  status: one('completed', 'failed', 'in_progress', 'cancelled', 'queued', 'incomplete'),
  model: text(),
  output: list(outputItem),
  error: itsError,
  incomplete_details: nullable(
    object(
      {},
      {
        reason: one('max_output_tokens', 'max_messages', 'content_filter', 'steered', 'pause_turn'),
      },
    ),
  ),
  instructions: nullable(either(text(), list(any))),
  metadata: nullable(map(text())),
  parallel_tool_calls: flag,
  temperature: nullable(number()),
  tool_choice: toolChoice,
  tools: list(tool),
  top_p: nullable(number()),
}
const envelopeExtras = {
  ...echo,
  service_tier: nullable(text()),
  completed_at: nullable(number({ min: 0 })),
  usage: nullable(checkUsage),
  prompt_cache_diagnostics: any,
  tool_usage: any,
  billing: any,
  max_output_tokens: nullable(int(0)),
}
const response = object(envelope, envelopeExtras)

export function checkResponse(body: unknown): string[] {
  const faults = run(response, body)
  if (isObject(body)) checkEnd(body, '', faults)
  return faults
}

function checkEnd(body: JsonObject, at: string, faults: string[]): void {
  const status = body['status']
  if (status === 'in_progress' || status === 'queued')
    faults.push(`${at}/status: a response has ended`)
  if (status !== 'cancelled' && (status === 'incomplete') !== isObject(body['incomplete_details']))
    faults.push(`${at}/incomplete_details: goes with status incomplete`)
  if ((status === 'failed') !== isObject(body['error']))
    faults.push(`${at}/error: goes with status failed`)
  const items = arrayOf(body['output'])
  const ids = items.map(entry => entry['id'])
  if (new Set(ids).size < ids.length) faults.push(`${at}/output: two items with one id`)
  const linked = items
    .filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
    .map(entry => entry['call_id'])
  if (new Set(linked).size < linked.length) faults.push(`${at}/output: two calls with one call_id`)
}

const errorBody = object({
  error: object({
    message: text({ min: 1 }),
    type: text({ min: 1 }),
    param: nullable(text()),
    code: nullable(text()),
  }),
})

export function checkError(body: unknown): string[] {
  return run(errorBody, body)
}

const place = { sequence_number: int(0), output_index: int(0) }
const ofItem = { type: any, ...place, item_id: filled }
const ofPart = { ...ofItem, content_index: int(0) }
const ofSummary = { ...ofItem, summary_index: int(0) }
const partHead = by('type', {
  output_text: outputText,
  refusal,
  reasoning_text: object({ type: any, text: text() }),
})
const deltaLogprobs = list(loose({ token: text(), logprob: number() }))
const lifecycle = object({ type: any, sequence_number: int(0), response })
const events: Record<string, Check> = {
  'response.created': lifecycle,
  'response.queued': lifecycle,
  'response.in_progress': lifecycle,
  'response.completed': lifecycle,
  'response.incomplete': lifecycle,
  'response.failed': lifecycle,
  'response.output_item.added': object({ type: any, ...place, item: outputItem }),
  'response.output_item.done': object({ type: any, ...place, item: outputItem }),
  'response.content_part.added': object({ ...ofPart, part: partHead }),
  'response.content_part.done': object({ ...ofPart, part: partHead }),
  'response.output_text.delta': object({ ...ofPart, delta: text(), logprobs: deltaLogprobs }),
  'response.output_text.done': object({ ...ofPart, text: text(), logprobs: deltaLogprobs }),
  'response.output_text.annotation.added': object({
    ...ofPart,
    annotation_index: int(0),
    annotation,
  }),
  'response.refusal.delta': object({ ...ofPart, delta: text() }),
  'response.refusal.done': object({ ...ofPart, refusal: text() }),
  'response.function_call_arguments.delta': object({ ...ofItem, delta: text() }),
  'response.function_call_arguments.done': object(
    { ...ofItem, arguments: text() },
    { name: text() },
  ),
  'response.custom_tool_call_input.delta': object({ ...ofItem, delta: text() }),
  'response.custom_tool_call_input.done': object({ ...ofItem, input: text() }),
  'response.reasoning_summary_part.added': object({
    ...ofSummary,
    part: object({ type: one('summary_text'), text: text() }),
  }),
  'response.reasoning_summary_part.done': object(
    { ...ofSummary, part: object({ type: one('summary_text'), text: text() }) },
    { status: one('incomplete') },
  ),
  'response.reasoning_summary_text.delta': object({ ...ofSummary, delta: text() }),
  'response.reasoning_summary_text.done': object({ ...ofSummary, text: text() }),
  'response.reasoning_text.delta': object({ ...ofPart, delta: text() }),
  'response.reasoning_text.done': object({ ...ofPart, text: text() }),
  keepalive: loose({}),
  error: loose({ sequence_number: int(0) }),
}
const event = by('type', events)

export function checkStream(all: unknown[]): string[] {
  return checkOrder(all, { event, end: checkEnd })
}

export function outcome(all: unknown[]): 'success' | 'failed' | 'cut' {
  if (
    all.some(
      entry =>
        isObject(entry) && (entry['type'] === 'error' || entry['type'] === 'response.failed'),
    )
  )
    return 'failed'
  return all.some(
    entry =>
      isObject(entry) &&
      (entry['type'] === 'response.completed' || entry['type'] === 'response.incomplete'),
  )
    ? 'success'
    : 'cut'
}

export const strict: Strict = { checkRequest, checkResponse, checkStream, checkError, outcome }
