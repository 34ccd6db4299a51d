import { TranslationError } from '../../errors.ts'
import { isObject, type JsonObject, parseObject, without } from '../../kit/json/json.ts'
import type { Headers, SocketEvent, SocketWire } from '../../protocol.ts'
import { writeFrame } from '../../sse/write.ts'
import { frames } from './client.ts'
import { readEvent } from './errors.ts'
import { protocolName } from './own.ts'

const create = 'response.create'

/** Codex reports with it that it has read a response. */
const acknowledgement = 'response.processed'

/** Fields that only a message has, and those that only a request over HTTP has. */
const onlyHere = ['type', 'generate', 'stream_id']
const onlyOverHttp = ['stream', 'stream_options', 'background']

const endings: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
])

/** `response.create` messages, as the official SDK and Codex send them. */
export const socket: SocketWire = {
  glance: ({ type, stream_id: stream }) => ({
    isAcknowledgement: type === acknowledgement,
    ...(typeof stream === 'string' && { marks: { stream_id: stream } }),
  }),
  read(message) {
    const { type, generate, previous_response_id: previous } = message
    if (type !== create) throw malformed('/type', `expected ${create}`)
    const body: JsonObject = { ...without(message, [...onlyHere, ...onlyOverHttp]), stream: true }
    return {
      body,
      generates: generate !== false,
      isStored: body['store'] !== false,
      ...(typeof previous === 'string' && previous !== '' && { previous }),
    }
  },
  requestHeaders({ 'openai-beta': beta, ...headers }) {
    const kept = beta
      ?.split(',')
      .filter(feature => !feature.trim().startsWith('responses_websockets='))
      .join(',')
    return kept ? { ...headers, 'openai-beta': kept } : headers
  },
  continued: (body, items) => ({
    ...without(body, ['previous_response_id']),
    input: [...items, ...inputOf(body)],
  }),
  itemsOf: inputOf,
  // A provider cannot read reasoning by its id alone if it did not store it.
  readable: (output, isStored) => output.filter(item => isStored || !isEmptyReasoning(item)),
  meaning(data, type) {
    if (type !== undefined && type !== 'response.output_item.done' && !endings.has(type))
      return nothing
    const event = parseObject(data)
    const kind = event?.['type']
    if (!event || typeof kind !== 'string') return nothing
    if (kind === 'response.output_item.done') return { item: event['item'] }
    if (!endings.has(kind)) return nothing
    if (kind === 'error') return { end: {}, sent: JSON.stringify(withStatus(event)) }
    const { id, output } = isObject(event['response']) ? event['response'] : {}
    return {
      end: {
        ...(kind !== 'response.failed' && typeof id === 'string' && { continues: id }),
        ...(Array.isArray(output) && { output }),
      },
    }
  },
  prepared(body, id, createdAt) {
    const shared = {
      id,
      object: 'response',
      created_at: createdAt,
      model: body['model'] ?? null,
      output: [],
      error: null,
      incomplete_details: null,
    }
    const usage = {
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 0,
    }
    return [
      {
        type: 'response.created',
        sequence_number: 0,
        response: { ...shared, status: 'in_progress', usage: null },
      },
      {
        type: 'response.completed',
        sequence_number: 1,
        response: { ...shared, status: 'completed', usage },
      },
    ]
  },
  failure: (status, headers, body) => ({
    type: 'error',
    status,
    error: isObject(body) ? (body['error'] ?? body) : null,
    headers,
  }),
  // Providers ignore the fields that only a request over HTTP has, and the rest of the body stays
  // as it is.
  message: body =>
    body.replace('{', /^\s*\{\s*\}/.test(body) ? `{"type":"${create}"` : `{"type":"${create}",`),
  event(data) {
    const name = nameIn(data)
    // Line breaks between the tokens would end the frame.
    if (name !== 'error')
      return {
        frame: writeFrame(data.replace(/[\r\n]/g, ' '), name),
        ends: name !== undefined && endings.has(name),
      }
    const event = parseObject(data) ?? {}
    const { status, headers, error } = withStatus(event)
    const refusal = {
      status,
      headers: isObject(headers) ? textsOf(headers) : {},
      body: JSON.stringify({ error }),
    }
    return { frame: frames.write(withoutStatus(event)), ends: true, refusal }
  },
}

/** The type of an event. Providers write it first. */
function nameIn(data: string): string | undefined {
  const found = /^\{"type": ?"([\w.]+)"/.exec(data)?.[1]
  if (found !== undefined) return found
  const type = parseObject(data)?.['type']
  return typeof type === 'string' ? type : undefined
}

/** An error event of a connection as one of a stream, where the fields of the error are its own. */
function withoutStatus({ status: _, headers: __, error, ...event }: JsonObject): JsonObject {
  return isObject(error) ? { code: null, param: null, ...error, ...event } : event
}

const nothing: SocketEvent = {}

function inputOf({ input }: JsonObject): readonly unknown[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return Array.isArray(input) ? input : []
}

const isEmptyReasoning = (item: unknown) =>
  isObject(item) && item['type'] === 'reasoning' && !item['encrypted_content']

/** An error event of a stream as one of a connection: Codex ignores those without a status. */
function withStatus({ status, ...event }: JsonObject): JsonObject & { status: number } {
  const {
    code = null,
    message = null,
    param = null,
    error = { type: 'server_error', code, message, param },
  } = event
  return {
    ...event,
    error,
    status:
      typeof status === 'number' && status >= 400 && status < 600
        ? status
        : readEvent(event).status,
  }
}

function textsOf(headers: JsonObject): Headers {
  const texts: Headers = {}
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' || typeof value === 'number')
      texts[name.toLowerCase()] = String(value)
  return texts
}

const malformed = (path: string, message: string) =>
  new TranslationError({ code: 'malformed', protocol: protocolName, path }, message)
