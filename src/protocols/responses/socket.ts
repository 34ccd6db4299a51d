import { TranslationError } from '../../errors.ts'
import { isObject, type JsonObject, parseObject, without } from '../../kit/json/json.ts'
import type { Headers, SocketEvent, SocketWire } from '../../protocol.ts'
import { protocolName } from './content/own.ts'
import { readEvent } from './errors.ts'

const create = 'response.create'

/** Codex reports with it that it has read a response. */
const acknowledgement = 'response.processed'

/** Fields that only a message has, and those that only a request over HTTP has. */
const onlyHere = ['type', 'generate']
const onlyOverHttp = ['stream', 'stream_options', 'background']

const endings: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error'])

/** `response.create` messages, as the official SDK and Codex send them. */
export const socket: SocketWire = {
  read(message) {
    const { type, generate, previous_response_id: previous } = message
    if (type === acknowledgement) return undefined
    if (type !== create) throw malformed('/type', `expected ${create}`)
    const body = { ...without(message, [...onlyHere, ...onlyOverHttp]), stream: true }
    return { body, generates: generate !== false, ...(typeof previous === 'string' && previous !== '' && { previous }) }
  },
  requestHeaders({ 'openai-beta': beta, ...headers }) {
    const kept = beta
      ?.split(',')
      .filter(feature => !feature.trim().startsWith('responses_websockets='))
      .join(',')
    return kept ? { ...headers, 'openai-beta': kept } : headers
  },
  continued: (body, items) => ({ ...without(body, ['previous_response_id']), input: [...items, ...inputOf(body)] }),
  itemsOf(body, output) {
    const isStored = body['store'] !== false
    // A provider cannot read reasoning by its id alone if it did not store it.
    return [...inputOf(body), ...output.filter(item => isStored || !isEmptyReasoning(item))]
  },
  meaning(data, type) {
    if (type !== undefined && type !== 'response.output_item.done' && !endings.has(type)) return nothing
    const event = parseObject(data)
    const kind = event?.['type']
    if (!event || typeof kind !== 'string') return nothing
    if (kind === 'response.output_item.done') return { item: event['item'] }
    if (!endings.has(kind)) return nothing
    if (kind === 'error') return { end: {}, sent: JSON.stringify(withStatus(event)) }
    const { id, output } = isObject(event['response']) ? event['response'] : {}
    return { end: { ...(kind !== 'response.failed' && typeof id === 'string' && { continues: id }), ...(Array.isArray(output) && { output }) } }
  },
  prepared(body, id, createdAt) {
    const shared = { id, object: 'response', created_at: createdAt, model: body['model'] ?? null, output: [], error: null, incomplete_details: null }
    const usage = {
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 0,
    }
    return [
      { type: 'response.created', sequence_number: 0, response: { ...shared, status: 'in_progress', usage: null } },
      { type: 'response.completed', sequence_number: 1, response: { ...shared, status: 'completed', usage } },
    ]
  },
  failure: (status, headers, body) => ({ type: 'error', status, error: isObject(body) ? (body['error'] ?? body) : null, headers }),
  message: body => ({ type: create, ...without(body, onlyOverHttp) }),
  refusal(data) {
    const event = parseObject(data)
    if (event?.['type'] !== 'error') return undefined
    const { status, headers, error } = withStatus(event)
    return { status, headers: isObject(headers) ? textsOf(headers) : {}, body: JSON.stringify({ error }) }
  },
}

const nothing: SocketEvent = {}

function inputOf({ input }: JsonObject): readonly unknown[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return Array.isArray(input) ? input : []
}

const isEmptyReasoning = (item: unknown) => isObject(item) && item['type'] === 'reasoning' && !item['encrypted_content']

/** An error event of a stream as one of a connection: Codex ignores those without a status. */
function withStatus({ status, ...event }: JsonObject): JsonObject & { status: number } {
  const { code = null, message = null, param = null, error = { type: 'server_error', code, message, param } } = event
  return { ...event, error, status: typeof status === 'number' && status >= 400 && status < 600 ? status : readEvent(event).status }
}

function textsOf(headers: JsonObject): Headers {
  const texts: Headers = {}
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string' || typeof value === 'number') texts[name.toLowerCase()] = String(value)
  return texts
}

const malformed = (path: string, message: string) => new TranslationError({ code: 'malformed', protocol: protocolName, path }, message)
