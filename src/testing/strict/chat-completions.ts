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

const name64 = text({ pattern: /^[A-Za-z0-9_-]{1,64}$/ })
const callId = text({ min: 1, max: 40 })
const mark = {
  prompt_cache_breakpoint: object({ mode: one('explicit') }, { ttl: one('30m', '12h') }),
}

const textPart = object({ type: one('text'), text: text() }, mark)
const refusalPart = object({ type: one('refusal'), refusal: text() })
const textParts = list(by('type', { text: textPart }), { min: 1 })
const userPart = by('type', {
  text: textPart,
  image_url: object(
    {
      type: any,
      image_url: object(
        { url: text({ pattern: /^(https?:\/\/|data:image\/)/ }) },
        { detail: one('auto', 'low', 'high', 'original') },
      ),
    },
    mark,
  ),
  input_audio: object(
    { type: any, input_audio: object({ data: text({ min: 1 }), format: one('wav', 'mp3') }) },
    mark,
  ),
  file: object(
    {
      type: any,
      file: object(
        {},
        { file_data: text({ min: 1 }), file_id: text({ min: 1 }), filename: text() },
      ),
    },
    mark,
  ),
})

const toolCall = by('type', {
  function: object(
    { id: callId, type: any, function: object({ name: name64, arguments: text() }) },
    { extra_content: any },
  ),
  custom: object(
    { id: callId, type: any, custom: object({ name: name64, input: text() }) },
    { extra_content: any },
  ),
})

/** Extensions that many compatible servers and clients use. */
const dialect = {
  reasoning_content: nullable(text()),
  reasoning: nullable(text()),
  reasoning_details: list(any),
}

/** The same of responses: images that the model made. */
const answered = {
  ...dialect,
  images: list(
    object({ type: one('image_url'), image_url: object({ url: text() }), index: int(0) }),
    { min: 1 },
  ),
}

const message = by('role', {
  developer: object({ role: any, content: either(text(), textParts) }, { name: text() }),
  system: object({ role: any, content: either(text(), textParts) }, { name: text() }),
  user: object(
    { role: any, content: either(text(), list(userPart, { min: 1 })) },
    { name: text() },
  ),
  assistant: object(
    { role: any },
    {
      content: nullable(
        either(text(), list(by('type', { text: textPart, refusal: refusalPart }), { min: 1 })),
      ),
      name: text(),
      refusal: nullable(text()),
      audio: nullable(object({ id: text({ min: 1 }) })),
      // The official client adds it to accumulated messages and sends it back.
      parsed: any,
      tool_calls: list(toolCall, { min: 1, max: 128 }),
      function_call: nullable(object({ name: name64, arguments: text() })),
      ...dialect,
    },
  ),
  tool: object({ role: any, tool_call_id: callId, content: either(text(), textParts) }),
  function: object({ role: any, name: name64, content: nullable(text()) }),
})

const functionTool = object(
  { name: name64 },
  { description: text(), parameters: loose({}), strict: nullable(flag) },
)
const tool = by('type', {
  function: object({ type: any, function: functionTool }),
  custom: object({
    type: any,
    custom: object(
      { name: name64 },
      {
        description: text(),
        format: by('type', {
          text: object({ type: any }),
          grammar: object({
            type: any,
            grammar: object({ definition: text(), syntax: one('lark', 'regex') }),
          }),
        }),
      },
    ),
  }),
})

const named = by('type', {
  function: object({ type: any, function: object({ name: name64 }) }),
  custom: object({ type: any, custom: object({ name: name64 }) }),
})

const request = object(
  { model: text({ min: 1 }), messages: list(message, { min: 1 }) },
  {
    audio: nullable(
      object({ format: one('wav', 'aac', 'mp3', 'flac', 'opus', 'pcm16'), voice: any }),
    ),
    frequency_penalty: nullable(number({ min: -2, max: 2 })),
    presence_penalty: nullable(number({ min: -2, max: 2 })),
    function_call: either(one('none', 'auto'), object({ name: name64 })),
    functions: list(functionTool, { min: 1, max: 128 }),
    logit_bias: nullable(map(number({ min: -100, max: 100 }))),
    logprobs: nullable(flag),
    top_logprobs: nullable(int(0, 20)),
    max_completion_tokens: nullable(int(1)),
    max_tokens: nullable(int(1)),
    metadata: nullable(map(text({ max: 512 }))),
    modalities: nullable(list(one('text', 'audio'))),
    moderation: any,
    n: nullable(int(1, 128)),
    parallel_tool_calls: flag,
    prediction: nullable(object({ type: one('content'), content: either(text(), textParts) })),
    prompt_cache_key: nullable(text({ max: 64 })),
    prompt_cache_options: object({}, { mode: one('implicit', 'explicit'), ttl: one('30m') }),
    prompt_cache_retention: nullable(one('in_memory', '24h')),
    reasoning_effort: nullable(one('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')),
    response_format: by('type', {
      text: object({ type: any }),
      json_object: object({ type: any }),
      json_schema: object({
        type: any,
        json_schema: object(
          { name: name64 },
          { description: text(), schema: loose({}), strict: nullable(flag) },
        ),
      }),
    }),
    safety_identifier: nullable(text({ max: 128 })),
    seed: nullable(int()),
    service_tier: nullable(one('auto', 'default', 'flex', 'scale', 'priority', 'fast')),
    stop: nullable(either(text(), list(text(), { min: 1, max: 4 }))),
    store: nullable(flag),
    stream: nullable(flag),
    stream_options: nullable(object({}, { include_usage: flag, include_obfuscation: flag })),
    temperature: nullable(number({ min: 0, max: 2 })),
    top_p: nullable(number({ min: 0, max: 1 })),
    tool_choice: either(
      one('none', 'auto', 'required'),
      by('type', {
        function: named,
        custom: named,
        allowed_tools: object({
          type: any,
          allowed_tools: object({ mode: one('auto', 'required'), tools: list(named, { min: 1 }) }),
        }),
      }),
    ),
    tools: list(tool, { min: 1, max: 128 }),
    user: text(),
    verbosity: nullable(one('low', 'medium', 'high')),
    web_search_options: object(
      {},
      { search_context_size: one('low', 'medium', 'high'), user_location: any },
    ),
  },
)

export function checkRequest(body: unknown): string[] {
  const faults = run(request, body)
  if (!isObject(body)) return faults
  const messages = (Array.isArray(body['messages']) ? body['messages'] : []).filter(isObject)
  let open: string[] = []
  messages.forEach((entry, index) => {
    const at = `/messages/${index}`
    if (entry['role'] === 'tool') {
      const id = String(entry['tool_call_id'])
      if (open.includes(id)) open = open.filter(one => one !== id)
      else faults.push(`${at}: belongs to no call of the assistant message before it`)
      return
    }
    if (open.length > 0) faults.push(`${at}: ${open.length} calls before it have no result`)
    open = []
    if (entry['role'] !== 'assistant') return
    const calls = Array.isArray(entry['tool_calls']) ? entry['tool_calls'].filter(isObject) : []
    if (
      calls.length === 0 &&
      entry['content'] == null &&
      entry['refusal'] == null &&
      !entry['function_call'] &&
      !entry['audio']
    )
      faults.push(`${at}: says nothing`)
    open = calls.map(call => String(call['id']))
    if (new Set(open).size < open.length) faults.push(`${at}: two calls with one id`)
  })
  if (open.length > 0) faults.push('/messages: the last calls have no result')
  if (body['top_logprobs'] != null && body['logprobs'] !== true)
    faults.push('/top_logprobs: needs logprobs')
  if (body['stream_options'] != null && body['stream'] !== true)
    faults.push('/stream_options: only with stream')
  const tools = [
    ...(Array.isArray(body['tools']) ? body['tools'] : []),
    ...(Array.isArray(body['functions']) ? body['functions'] : []),
  ]
  const names = tools.filter(isObject).map(entry => nameOf(entry))
  const choice = body['tool_choice']
  if (tools.length === 0 && choice !== undefined && choice !== 'auto' && choice !== 'none')
    faults.push('/tool_choice: there are no tools')
  if (isObject(choice) && choice['type'] !== 'allowed_tools' && !names.includes(nameOf(choice)))
    faults.push('/tool_choice: no such tool')
  if (new Set(names).size < names.length) faults.push('/tools: two with one name')
  if (marksOf(messages) > 4) faults.push('/messages: more than four cache breakpoints')
  return faults
}

const nameOf = (entry: JsonObject): unknown => {
  const inner = entry['function'] ?? entry['custom']
  return isObject(inner) ? inner['name'] : entry['name']
}

const marksOf = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 0
    : Object.entries(value).reduce(
        (sum, [key, item]) => sum + (key === 'prompt_cache_breakpoint' ? 1 : marksOf(item)),
        0,
      )

const logprob: Check = object({
  token: text(),
  logprob: number(),
  bytes: nullable(list(int(0, 255))),
  top_logprobs: list(
    object({ token: text(), logprob: number(), bytes: nullable(list(int(0, 255))) }),
  ),
})
const logprobs = nullable(
  object({ content: nullable(list(logprob)), refusal: nullable(list(logprob)) }),
)
const usage = object(
  { prompt_tokens: int(0), completion_tokens: int(0), total_tokens: int(0) },
  {
    prompt_tokens_details: object(
      {},
      {
        cached_tokens: int(0),
        cache_write_tokens: int(0),
        audio_tokens: int(0),
        image_tokens: int(0),
        text_tokens: int(0),
      },
    ),
    completion_tokens_details: object(
      {},
      {
        reasoning_tokens: int(0),
        audio_tokens: int(0),
        text_tokens: int(0),
        accepted_prediction_tokens: int(0),
        rejected_prediction_tokens: int(0),
      },
    ),
  },
)
const checkUsage: Check = (value, at, faults) => {
  usage(value, at, faults)
  if (
    isObject(value) &&
    value['total_tokens'] !== Number(value['prompt_tokens']) + Number(value['completion_tokens'])
  )
    faults.push(`${at}/total_tokens: is not the sum`)
}
const finishWord = one('stop', 'length', 'tool_calls', 'content_filter', 'function_call')
const annotation = object({
  type: one('url_citation'),
  url_citation: loose({ start_index: int(0), end_index: int(0), title: text(), url: text() }),
})
const envelope = {
  service_tier: nullable(text()),
  system_fingerprint: nullable(text()),
  metadata: any,
  moderation: any,
}

const response = object(
  {
    id: text({ min: 1 }),
    object: one('chat.completion'),
    created: int(0),
    model: text(),
    choices: list(
      object(
        {
          index: int(0),
          finish_reason: finishWord,
          logprobs,
          message: object(
            { role: one('assistant'), content: nullable(text()), refusal: nullable(text()) },
            {
              tool_calls: list(toolCall, { min: 1 }),
              annotations: list(annotation),
              audio: any,
              function_call: object({ name: text(), arguments: text() }),
              ...answered,
            },
          ),
        },
        {},
      ),
      { min: 1 },
    ),
  },
  { usage: checkUsage, ...envelope },
)

export function checkResponse(body: unknown): string[] {
  const faults = run(response, body)
  for (const choice of choicesOf(body)) {
    const message = choice['message']
    if (
      choice['finish_reason'] === 'tool_calls' &&
      !(isObject(message) && Array.isArray(message['tool_calls']))
    )
      faults.push('/choices: finish_reason tool_calls without calls')
  }
  return faults
}

const choicesOf = (body: unknown): JsonObject[] =>
  isObject(body) && Array.isArray(body['choices']) ? body['choices'].filter(isObject) : []

const delta = object(
  {},
  {
    role: one('assistant'),
    content: nullable(text()),
    refusal: nullable(text()),
    tool_calls: list(
      object(
        { index: int(0, 127) },
        {
          id: callId,
          type: one('function', 'custom'),
          function: object({}, { name: name64, arguments: text() }),
          custom: object({}, { name: name64, input: text() }),
          extra_content: any,
        },
      ),
      { min: 1 },
    ),
    function_call: any,
    audio: any,
    annotations: list(annotation),
    ...answered,
  },
)
const chunk = object(
  {
    id: text({ min: 1 }),
    object: one('chat.completion.chunk'),
    created: int(0),
    model: text(),
    choices: list(
      object({ index: int(0, 127), delta, finish_reason: nullable(finishWord) }, { logprobs }),
    ),
  },
  { usage: nullable(checkUsage), obfuscation: text(), ...envelope },
)

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

type KnownChoice = { role: boolean; finished: boolean; calls: number; details: number }

/** What was seen of a stream. `over`: its end. */
type SeenStream = {
  faults: string[]
  choices: Map<unknown, KnownChoice>
  over?: '[DONE]' | 'error'
  totals: boolean
  id?: unknown
}

export function checkStream(events: unknown[]): string[] {
  const seen: SeenStream = { faults: [], choices: new Map(), totals: false }
  const { faults, choices } = seen
  for (const [index, event] of events.entries()) checkEvent(seen, event, `event ${index}`)
  if (!seen.over) faults.push('the stream ends without [DONE] and without an error')
  if (seen.over === '[DONE]' && !events.some(event => isObject(event) && 'error' in event)) {
    if (choices.size === 0) faults.push('no choice')
    for (const [index, { finished }] of choices)
      if (!finished) faults.push(`choice ${index} has no finish_reason`)
  }
  return faults
}

function checkEvent(seen: SeenStream, event: unknown, at: string): void {
  const { faults } = seen
  if (seen.over) faults.push(`${at}: after ${seen.over === 'error' ? 'an error' : seen.over}`)
  else if (event === '[DONE]') seen.over = event
  else if (isObject(event) && 'error' in event) {
    seen.over = 'error'
    faults.push(...checkError(event).map(fault => at + fault))
  } else checkChunk(seen, event, at)
}

function checkChunk(seen: SeenStream, event: unknown, at: string): void {
  const { faults } = seen
  chunk(event, at, faults)
  if (!isObject(event)) return
  seen.id ??= event['id']
  if (event['id'] !== seen.id) faults.push(`${at}: another id`)
  if (seen.totals) faults.push(`${at}: after the usage chunk`)
  if (isObject(event['usage'])) seen.totals = true
  for (const choice of choicesOf(event)) checkChoice(seen, choice, at)
}

function checkChoice(
  { faults, choices }: SeenStream,
  choice: Record<string, unknown>,
  at: string,
): void {
  const index = choice['index']
  const known = choices.get(index) ?? { role: false, finished: false, calls: 0, details: 0 }
  choices.set(index, known)
  if (known.finished) faults.push(`${at}: choice ${index} continues after its finish`)
  const message = isObject(choice['delta']) ? choice['delta'] : {}
  if (message['role']) known.role = true
  else if (!known.role) faults.push(`${at}: choice ${index} begins without a role`)
  if (message['reasoning_details'] && ++known.details > 1)
    faults.push(`${at}: reasoning_details twice, the last wins in clients`)
  for (const call of Array.isArray(message['tool_calls'])
    ? message['tool_calls'].filter(isObject)
    : [])
    checkCall(known, call, at, faults)
  if (choice['finish_reason']) known.finished = true
}

function checkCall(
  known: KnownChoice,
  call: Record<string, unknown>,
  at: string,
  faults: string[],
): void {
  const place = Number(call['index'])
  if (place === known.calls) {
    known.calls++
    const inner = call['type'] === 'custom' ? call['custom'] : call['function']
    if (
      !call['id'] ||
      !call['type'] ||
      !isObject(inner) ||
      !inner['name'] ||
      typeof (inner['arguments'] ?? inner['input']) !== 'string'
    )
      faults.push(`${at}: the head of a call needs id, type, name and arguments`)
  } else if (place !== known.calls - 1)
    faults.push(`${at}: call ${place} while ${known.calls - 1} is the last begun`)
}

export function outcome(events: unknown[]): 'success' | 'failed' | 'cut' {
  if (events.some(event => isObject(event) && 'error' in event)) return 'failed'
  const finished = new Map<unknown, boolean>()
  for (const event of events)
    for (const choice of choicesOf(event))
      finished.set(
        choice['index'],
        Boolean(finished.get(choice['index']) || choice['finish_reason']),
      )
  return events.at(-1) === '[DONE]' || (finished.size > 0 && [...finished.values()].every(Boolean))
    ? 'success'
    : 'cut'
}

export const strict: Strict = { checkRequest, checkResponse, checkStream, checkError, outcome }
