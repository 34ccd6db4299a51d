import { strictOf } from '../../../../src/testing/strict/index.ts'
import { matching } from './chat.ts'
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

/** What servers of the messages protocol have in common, and where they differ. */
export type MessagesServer = {
  urls: readonly string[]
  auth?: keyof typeof keyed
  /** Is every request judged by the published protocol? Others ignore what they do not know. */
  isStrict?: boolean
  /** Types of content blocks that it reads. */
  blocks?: readonly string[]
  /** May `messages` hold the role system? */
  midSystem?: (model: string) => boolean
  refuse?: (body: Json, model: string) => string | Refusal | undefined
  idOf?: (nth: number) => string
  /**
   * Does it check the signatures of thinking? Others write one that means nothing. Default true.
   */
  signs?: boolean
  /** Models that do not think. */
  silent?: (body: Json, model: string) => boolean
}

const signatureOf = (nth: number) => Buffer.from(`signed by this vendor: ${nth}`).toString('base64')

export function messagesServer(server: MessagesServer): Endpoint {
  const { signs = true } = server
  const patterns = server.urls.map(matching)
  const turnOf = (body: Json) =>
    turnAfter(
      blocksOf(body).filter(({ type }) => type === 'tool_result').length,
      toolsOf(body),
      server.idOf ?? (nth => `toolu_${nth}`),
    )
  const usage = {
    input_tokens: counted.input - counted.cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: counted.cached,
    output_tokens: counted.output,
  }
  const headOf = (body: Json, model: string) => ({
    id: `msg_${listOf(body['messages']).length}`,
    type: 'message',
    role: 'assistant',
    model,
  })
  const contentOf = ({ nth, reasoning, text, calls }: Turn, isSilent: boolean) => [
    ...(isSilent
      ? []
      : [
          {
            type: 'thinking',
            thinking: reasoning,
            signature: signs ? signatureOf(nth) : `unchecked-${nth}`,
          },
        ]),
    ...(text ? [{ type: 'text', text }] : []),
    ...calls.map(({ id, name, args }) => ({
      type: 'tool_use',
      id,
      name,
      input: JSON.parse(args) as unknown,
    })),
  ]
  const stopOf = ({ calls }: Turn) => (calls.length > 0 ? 'tool_use' : 'end_turn')
  return {
    protocol: 'messages',
    match: url =>
      patterns.some(pattern => pattern.test(url.origin + url.pathname)) ? {} : undefined,
    authorize: keyed[server.auth ?? 'x-api-key'],
    failure: ({ message, type = 'invalid_request_error' }) => ({
      type: 'error',
      error: { type, message },
      request_id: 'req_7',
    }),
    refuse(body, model) {
      const legal = server.isStrict ? strictOf('messages').checkRequest(body)[0] : undefined
      const found = firstOf(
        legal,
        shape(body, model, server),
        signs && badSignature(body),
        server.refuse?.(body, model),
      )
      return typeof found === 'string' ? { status: 400, message: found } : found
    },
    whole(body, model) {
      const turn = turnOf(body)
      return {
        ...headOf(body, model),
        content: contentOf(turn, server.silent?.(body, model) ?? false),
        stop_reason: stopOf(turn),
        stop_sequence: null,
        usage,
      }
    },
    stream(body, model) {
      const turn = turnOf(body)
      const frame = (type: string, rest: object = {}) =>
        `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
      const message = {
        ...headOf(body, model),
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...usage, output_tokens: 1 },
      }
      const frames = [frame('message_start', { message }), frame('ping')]
      for (const [index, block] of contentOf(
        turn,
        server.silent?.(body, model) ?? false,
      ).entries()) {
        const { start, deltas } = streamed(block as Json)
        frames.push(frame('content_block_start', { index, content_block: start }))
        for (const delta of deltas) frames.push(frame('content_block_delta', { index, delta }))
        frames.push(frame('content_block_stop', { index }))
      }
      const delta = { stop_reason: stopOf(turn), stop_sequence: null }
      return [
        ...frames,
        frame('message_delta', { delta, usage: { output_tokens: counted.output } }),
        frame('message_stop'),
      ]
    },
    // Without its signature a thought is no thought here; a client may leave out the text and keep
    // the signature.
    returned: body =>
      listOf(body['messages'])
        .filter(({ role }) => role === 'assistant')
        .flatMap(({ content }) =>
          listOf(content).flatMap(block =>
            block['type'] === 'thinking' ? [thought(block, signs)] : [],
          ),
        ),
  }
}

/** The thought of a signature, as its issuer can read it. */
function thought({ thinking, signature }: Json, signs: boolean): string {
  const nth = signs
    ? /: (\d)$/.exec(Buffer.from(String(signature), 'base64').toString())?.[1]
    : undefined
  return nth === undefined ? String(thinking) : `Thought ${nth}`
}

function streamed(block: Json): { start: Json; deltas: Json[] } {
  if (block['type'] === 'text')
    return {
      start: { type: 'text', text: '' },
      deltas: chunks(String(block['text'])).map(text => ({ type: 'text_delta', text })),
    }
  if (block['type'] === 'thinking') {
    const deltas: Json[] = chunks(String(block['thinking'])).map(thinking => ({
      type: 'thinking_delta',
      thinking,
    }))
    return {
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [...deltas, { type: 'signature_delta', signature: block['signature'] }],
    }
  }
  const deltas = ['', ...chunks(JSON.stringify(block['input']))].map(partial_json => ({
    type: 'input_json_delta',
    partial_json,
  }))
  return { start: { ...block, input: {} }, deltas }
}

export const blocksOf = (body: Json): Json[] =>
  listOf(body['messages']).flatMap(({ content }) => listOf(content))

export const toolsOf = (body: Json): Offered[] =>
  listOf(body['tools']).flatMap(({ name, input_schema: schema }) =>
    typeof name === 'string' && isJson(schema) ? [{ name, schema }] : [],
  )

/** Signed thinking of another vendor is refused. */
function badSignature(body: Json): string | undefined {
  const bad = blocksOf(body).find(
    ({ type, signature }) =>
      type === 'thinking' &&
      !/^signed by this vendor: \d$/.test(Buffer.from(String(signature), 'base64').toString()),
  )
  return bad && 'messages: Invalid `signature` in `thinking` block'
}

function shape(
  body: Json,
  model: string,
  { blocks, midSystem = () => false }: MessagesServer,
): string | undefined {
  if (typeof body['max_tokens'] !== 'number') return 'max_tokens: Field required'
  const messages = listOf(body['messages'])
  if (messages.length === 0) return 'messages: at least one message is required'
  let open: unknown[] = []
  for (const [at, { role, content }] of messages.entries()) {
    if (role === 'system' && !midSystem(model))
      return `messages.${at}.role: role 'system' is not supported on this model`
    if (role !== 'user' && role !== 'assistant' && role !== 'system')
      return `messages.${at}.role: unexpected value`
    const parts = listOf(content)
    if (
      content === '' ||
      (Array.isArray(content) && parts.length === 0 && at < messages.length - 1)
    )
      return `messages.${at}: content must not be empty`
    const odd = blocks && parts.find(({ type }) => !blocks.includes(String(type)))
    if (odd) return `messages.${at}: unsupported content block '${String(odd['type'])}'`
    if (parts.some(({ type, text }) => type === 'text' && text === ''))
      return 'messages: text content blocks must be non-empty'
    const responded = parts
      .filter(({ type }) => type === 'tool_result')
      .map(part => part['tool_use_id'])
    const lost = responded.find(id => !open.includes(id))
    if (lost) return `messages.${at}: tool_result without its tool_use: ${String(lost)}`
    if (role !== 'system' && open.some(id => !responded.includes(id)))
      return `messages.${at}: tool_use ids without tool_result: ${open.join(', ')}`
    if (role !== 'system')
      open = parts.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
  }
  return open.length > 0 ? 'messages: the last tool_use has no tool_result' : undefined
}
