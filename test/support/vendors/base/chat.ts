import {
  chunks,
  counted,
  type Endpoint,
  firstOf,
  isJson,
  type Json,
  keyed,
  listOf,
  type Offered,
  type Refusal,
  type Turn,
  turnAfter,
} from './turn.ts'

/** What servers of chat-completions have in common, and where they differ. */
export type ChatServer = {
  urls: readonly string[]
  auth?: keyof typeof keyed
  /** The fields that it reads. Others are refused with `unknown`, or ignored without it. */
  fields?: readonly string[]
  unknown?: (field: string, body: Json) => Refusal | string
  roles?: readonly string[]
  badRole?: (role: string, at: number) => Refusal | string
  /** Types of parts that it reads in messages of users. */
  parts?: readonly string[]
  /** System and tool messages take text only. */
  textOnly?: readonly string[]
  /** What else it refuses. */
  refuse?: (body: Json, model: string) => string | Refusal | undefined
  failure?: (refusal: Refusal) => unknown
  idOf?: (nth: number) => string
  serial?: (body: Json) => boolean
  /** The part of a message or delta that holds reasoning. */
  reason?: (text: string, isDelta: boolean, model: string) => Json
  /** Reads it from a message of the history. */
  reasonOf?: (message: Json) => string | undefined
  /** Models that send no reasoning. */
  silent?: (model: string) => boolean
  usage?: (body: Json, model: string) => Json
  /** Where a stream sends it. `requested`: in a chunk of its own, and only with `include_usage`. */
  usageIn?: 'requested' | 'own-chunk' | 'finish-chunk' | 'every-chunk'
  /** Frames of the calls. */
  callFrames?: (turn: Turn, frame: (delta: Json) => string) => string[]
  wholeCall?: (call: Json) => Json
  /** Changes the frames of a stream: comments, missing ends, keys of its own. */
  quirks?: (frames: string[], body: Json) => string[]
  head?: Json
  finish?: (reason: string) => string
}

const official = [
  'model', 'messages', 'tools', 'tool_choice', 'parallel_tool_calls', 'response_format', 'stream', 'stream_options', 'temperature', 'top_p', 'n', 'stop',
  'seed', 'user', 'max_tokens', 'max_completion_tokens', 'reasoning_effort', 'frequency_penalty', 'presence_penalty', 'logit_bias', 'logprobs', 'top_logprobs',
  'store', 'metadata', 'service_tier', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'prediction', 'modalities',
  'audio', 'verbosity', 'web_search_options', 'functions', 'function_call', 'moderation',
] as const // biome-ignore format: one list

/** The fields of OpenAI without some. */
export const fieldsBut = (...left: string[]): string[] =>
  official.filter(field => !left.includes(field))

const plainUsage = (): Json => ({
  prompt_tokens: counted.input,
  completion_tokens: counted.output,
  total_tokens: counted.input + counted.output,
  prompt_tokens_details: { cached_tokens: counted.cached },
  completion_tokens_details: { reasoning_tokens: counted.reasoning },
})

export { plainUsage }

export const openaiFailure = ({
  message,
  param,
  code,
  type = 'invalid_request_error',
}: Refusal): unknown => ({
  error: { message, type, param: param ?? null, code: code ?? null },
})

/** An endpoint of chat-completions. */
export function chatServer(server: ChatServer): Endpoint {
  const {
    urls,
    auth = 'bearer',
    reason = text => ({ reasoning_content: text }),
    reasonOf = readsField('reasoning_content'),
    usageIn = 'requested',
  } = server
  const patterns = urls.map(matching)
  const turnOf = (body: Json) =>
    turnAfter(
      listOf(body['messages']).filter(({ role }) => role === 'tool').length,
      offered(body),
      server.idOf ?? (nth => `call_${nth}`),
      server.serial?.(body),
    )
  const headOf = (body: Json) => ({
    id: `chatcmpl-${listOf(body['messages']).length}`,
    created: 1_780_000_000,
    ...server.head,
  })
  const finishOf = ({ calls }: Turn) =>
    (server.finish ?? (one => one))(calls.length > 0 ? 'tool_calls' : 'stop')
  const usage = server.usage ?? plainUsage
  return {
    protocol: 'chat-completions',
    match: url =>
      patterns.some(pattern => pattern.test(url.origin + url.pathname)) ? {} : undefined,
    authorize: keyed[auth],
    failure: server.failure ?? openaiFailure,
    refuse(body, model) {
      const found = firstOf(
        shape(body, server),
        unknownField(body, server),
        server.refuse?.(body, model),
      )
      return typeof found === 'string' ? { status: 400, message: found } : found
    },
    whole(body, model) {
      const turn = turnOf(body)
      const calls = turn.calls.map(({ id, name, args, text }) =>
        text
          ? { id, type: 'custom', custom: { name, input: args } }
          : { id, type: 'function', function: { name, arguments: args } },
      )
      const sent: Json = server.silent?.(model) ? {} : reason(turn.reasoning, false, model)
      const before = typeof sent['content'] === 'string' ? sent['content'] : ''
      const message = {
        role: 'assistant',
        ...sent,
        ...(!Array.isArray(sent['content']) && { content: before + turn.text || null }),
        ...(Array.isArray(sent['content']) && {
          content: [
            ...(sent['content'] as unknown[]),
            ...(turn.text ? [{ type: 'text', text: turn.text }] : []),
          ],
        }),
        ...(calls.length > 0 && {
          tool_calls: calls.map(call => server.wholeCall?.(call) ?? call),
        }),
      }
      return {
        ...headOf(body),
        object: 'chat.completion',
        model,
        choices: [{ index: 0, message, finish_reason: finishOf(turn) }],
        usage: usage(body, model),
      }
    },
    stream(body, model) {
      const turn = turnOf(body)
      const received =
        usageIn !== 'requested' ||
        (isJson(body['stream_options']) && body['stream_options']['include_usage'] === true)
      const chunkOf = (more: Json) =>
        `data: ${JSON.stringify({ ...headOf(body), object: 'chat.completion.chunk', model, ...more })}\n\n`
      const every = usageIn === 'every-chunk' ? { usage: usage(body, model) } : {}
      const frame = (delta: Json, finish: string | null = null, more: Json = every) =>
        chunkOf({ choices: [{ index: 0, delta, finish_reason: finish }], ...more })
      const frames = [frame({ role: 'assistant', content: '' })]
      if (!server.silent?.(model))
        for (const chunk of reasonDeltas(turn.reasoning, reason, model)) frames.push(frame(chunk))
      for (const content of chunks(turn.text)) frames.push(frame({ content }))
      frames.push(...(server.callFrames ?? callChunks)(turn, frame))
      const counts = usage(body, model)
      frames.push(frame({}, finishOf(turn), usageIn === 'finish-chunk' ? { usage: counts } : every))
      if ((usageIn === 'requested' && received) || usageIn === 'own-chunk')
        frames.push(chunkOf({ choices: [], usage: counts }))
      frames.push('data: [DONE]\n\n')
      return server.quirks?.(frames, body) ?? frames
    },
    returned: body =>
      listOf(body['messages']).flatMap(message =>
        (message['role'] === 'assistant' ? [reasonOf(message) ?? ''] : []).filter(Boolean),
      ),
  }
}

/** Text that begins inside tags comes as text; else each chunk in the field. */
function reasonDeltas(
  text: string,
  reason: NonNullable<ChatServer['reason']>,
  model: string,
): Json[] {
  const whole: Json = reason(text, true, model)
  if (typeof whole['content'] === 'string')
    return chunks(whole['content']).map(content => ({ content }))
  return chunks(text).map(chunk => reason(chunk, true, model))
}

/** Each call is announced, then its arguments come in chunks. */
export function callChunks({ calls }: Turn, frame: (delta: Json) => string): string[] {
  return calls.flatMap(({ id, name, args, text }, index) => [
    frame({
      tool_calls: [
        {
          index,
          id,
          ...(text
            ? { type: 'custom', custom: { name, input: '' } }
            : { type: 'function', function: { name, arguments: '' } }),
        },
      ],
    }),
    ...chunks(args).map(chunk =>
      frame({
        tool_calls: [
          { index, ...(text ? { custom: { input: chunk } } : { function: { arguments: chunk } }) },
        ],
      }),
    ),
  ])
}

/** Later deltas repeat the id and the name as empty texts, as some servers do. */
export function callsWithEmptyNames({ calls }: Turn, frame: (delta: Json) => string): string[] {
  return calls.flatMap(({ id, name, args }, index) => [
    frame({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    ...chunks(args).map(chunk =>
      frame({
        tool_calls: [{ index, id: '', type: 'function', function: { name: '', arguments: chunk } }],
      }),
    ),
  ])
}

/** Each call in one delta. */
export function wholeCalls({ calls }: Turn, frame: (delta: Json) => string): string[] {
  return calls.map(({ id, name, args }, index) =>
    frame({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] }),
  )
}

export const readsField =
  (field: string) =>
  (message: Json): string | undefined =>
    typeof message[field] === 'string' ? message[field] : undefined

export function offered(body: Json): Offered[] {
  return listOf(body['tools']).flatMap(({ function: fn, custom }): Offered[] => {
    if (isJson(fn)) return [{ name: String(fn['name']), schema: fn['parameters'] }]
    return isJson(custom) ? [{ name: String(custom['name']), text: true }] : []
  })
}

/** `{x}` is a value that the user fills in. */
export function matching(url: string): RegExp {
  return new RegExp(
    `^${url.replaceAll(/[.*+?^$()[\]|\\]/g, String.raw`\$&`).replaceAll(/\{\w+\}/g, '[^/]+')}$`,
  )
}

function unknownField(body: Json, { fields, unknown }: ChatServer): Refusal | string | undefined {
  if (!fields || !unknown) return undefined
  const field = Object.keys(body).find(key => !fields.includes(key))
  return field === undefined ? undefined : unknown(field, body)
}

/** What every server checks: roles, the kinds of parts, and that each call has its result. */
function shape(body: Json, server: ChatServer): string | Refusal | undefined {
  const {
    roles = ['system', 'user', 'assistant', 'tool'],
    badRole = role => `Unknown role '${role}'`,
    textOnly = ['system', 'developer', 'tool', 'assistant'],
  } = server
  if (typeof body['model'] !== 'string') return 'model is required'
  const messages = listOf(body['messages'])
  if (messages.length === 0) return 'messages must not be empty'
  let open: unknown[] = []
  for (const [at, message] of messages.entries()) {
    const role = String(message['role'])
    if (!roles.includes(role)) return badRole(role, at)
    const fault = contentFault(message, {
      role,
      at,
      textOnly,
      parts: server.parts ?? ['text', 'image_url', 'input_audio', 'file'],
    })
    if (fault) return fault
    if (role === 'tool') {
      if (!open.includes(message['tool_call_id']))
        return `messages.${at}: a message with role 'tool' must have the result of a call of the message before it`
      open = open.filter(id => id !== message['tool_call_id'])
      continue
    }
    if (open.length > 0)
      return `messages.${at}: tool_call_ids without a response: ${open.join(', ')}`
    if (role === 'assistant') open = listOf(message['tool_calls']).map(({ id }) => id)
  }
  if (open.length > 0) return `tool_call_ids without a response: ${open.join(', ')}`
  return toolFault(body)
}

type Place = { role: string; at: number; textOnly: readonly string[]; parts: readonly string[] }

function contentFault(
  { content, tool_calls: calls, ...rest }: Json,
  { role, at, textOnly, parts }: Place,
): string | undefined {
  const hasNoText =
    content === undefined ||
    content === null ||
    content === '' ||
    (Array.isArray(content) && content.length === 0)
  if (
    hasNoText &&
    role === 'assistant' &&
    listOf(calls).length === 0 &&
    !rest['refusal'] &&
    !rest['audio']
  )
    return `messages.${at}: an assistant message needs content or tool_calls`
  if (hasNoText && (role === 'system' || role === 'user'))
    return `messages.${at}: content must not be empty`
  if (!Array.isArray(content)) return undefined
  const known = textOnly.includes(role)
    ? ['text', 'refusal', ...(parts.includes('thinking') ? ['thinking'] : [])]
    : parts
  const odd = listOf(content).find(({ type }) => !known.includes(String(type)))
  return odd && `messages.${at}: unknown part type '${String(odd['type'])}'`
}

function toolFault(body: Json): string | undefined {
  const tools = offered(body)
  const bad = tools.find(({ name }) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))
  if (bad) return `tools: invalid name '${bad.name}'`
  if (new Set(tools.map(({ name }) => name)).size < tools.length) return 'tools: two with one name'
  if (Array.isArray(body['tools']) && body['tools'].length === 0) return 'tools must not be empty'
  if (
    tools.length === 0 &&
    body['tool_choice'] !== undefined &&
    body['tool_choice'] !== 'auto' &&
    body['tool_choice'] !== 'none'
  )
    return 'tool_choice is only allowed with tools'
  const schema = tools.find(
    one =>
      !one.text &&
      one.schema !== undefined &&
      isJson(one.schema) &&
      one.schema['type'] !== 'object',
  )
  return schema && `tools: parameters of '${schema.name}' must be of type object`
}

/** Some servers refuse these checks' subjects; each says so in its own words. */
export const has = (body: Json, ...fields: string[]): string | undefined =>
  fields.find(field => body[field] !== undefined)

/** A system message that is not the first message. */
export const lateSystem = (body: Json): boolean =>
  listOf(body['messages'])
    .slice(1)
    .some(({ role }) => role === 'system' || role === 'developer')

export const nullContent = (body: Json): boolean =>
  listOf(body['messages']).some(({ content }) => content === null)

export const isThinkingTurn = ({ tool_calls: calls, role }: Json): boolean =>
  role === 'assistant' && listOf(calls).length > 0

function schemasIn(key: string, value: unknown): unknown[] {
  if (key === 'properties' || key === '$defs' || key === 'definitions')
    return Object.values(isJson(value) ? value : {})
  return Array.isArray(value) ? value : [value]
}

/** The key that any schema of a tool has, however deep. */
export function schemaHas(
  schema: unknown,
  isBad: (key: string, value: unknown, schema: Json) => boolean,
): string | undefined {
  if (!isJson(schema)) return undefined
  for (const [key, value] of Object.entries(schema)) {
    if (isBad(key, value, schema)) return key
    for (const one of schemasIn(key, value)) {
      const found = schemaHas(one, isBad)
      if (found) return found
    }
  }
  return undefined
}
