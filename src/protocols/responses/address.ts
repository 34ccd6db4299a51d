import type { CanonicalError } from '../../canonical/error.ts'
import { TranslationError } from '../../errors.ts'
import { hashId } from '../../kit/conversation/ids.ts'
import { isObject, type JsonObject, only } from '../../kit/json/json.ts'
import { modelList } from '../../kit/json/model-list.ts'
import { unescaped } from '../../kit/text/text.ts'
import type {
  Address,
  Headers,
  ModelInfo,
  StoredResponse,
  StoredResponses,
} from '../../protocol.ts'
import { typeOf } from './content/writing.ts'
import { path, protocolName } from './own.ts'

/**
 * Client headers that are passed on: those that identify the caller, and those that ask for newer
 * forms of the protocol.
 */
const passedOn =
  /^(openai-(organization|project|beta)|x-client-request-id|idempotency-key|originator|session-id|thread-id|x-(openai-internal-)?codex-.+)$/

const countPath = `${path}/input_tokens`
/** Fields that affect the token count; the server refuses all others. */
const counted = [
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
  'truncation',
]
const compactPath = `${path}/compact`
const targets = { generate: path, 'count-tokens': countPath, compact: compactPath }

export const address: Address = {
  path,
  match(requestPath) {
    if (requestPath === path) return { operation: 'generate' }
    if (requestPath === countPath) return { operation: 'count-tokens' }
    if (requestPath === compactPath) return { operation: 'compact' }
    return undefined
  },
  target: ({ operation }) => targets[operation],
  keyPlaces: { headers: [], query: [] },
  upstreamHeaders(apiKey, client) {
    const headers: Headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
    for (const [name, value] of Object.entries(client ?? {}))
      if (passedOn.test(name)) headers[name] = value
    return headers
  },
  requestIdHeader: 'x-request-id',
  // The model list is the same as that of chat-completions, which serves both.
  listingClaim: () => 0,
  list: models => ({ object: 'list', data: models.map(describe) }),
  listJson: modelList,
  describe,
  counting: {
    ask: request => only(request, counted),
    read: ({ input_tokens }) => input_tokens,
    write: inputTokens => ({ object: 'response.input_tokens', input_tokens: inputTokens }),
  },
  stored: storedAt(path),
}

function describe({ id, createdAt, owner }: ModelInfo) {
  return { id, object: 'model', created: createdAt ?? 0, owned_by: owner ?? 'unknown' }
}

/** Path segments in the place of an id that are operations. */
const calls: ReadonlySet<string> = new Set(['input_tokens', 'compact'])

const paths = { response: '', input: '/input_items', cancel: '/cancel' }

function partAt(path: string): keyof typeof paths {
  if (path.endsWith(paths.input)) return 'input'
  return path.endsWith(paths.cancel) ? 'cancel' : 'response'
}

/** `GET` and `DELETE /v1/responses/{id}`, `GET …/input_items`, `POST …/cancel`. */
function storedAt(path: string): StoredResponses {
  return {
    match(requestPath) {
      if (!requestPath.startsWith(`${path}/`)) return undefined
      const rest = requestPath.slice(path.length + 1)
      const part = partAt(rest)
      const id = unescaped(rest.slice(0, rest.length - paths[part].length))
      return id === '' || id.includes('/') || calls.has(id) ? undefined : { id, part }
    },
    target: ({ id, part }) => `${path}/${encodeURIComponent(id.toWellFormed())}${paths[part]}`,
    mayRefer,
    wantsToKeep: request => isObject(request) && request['store'] !== false,
    inputOf,
    show: (response, part, query) =>
      part === 'input' ? pageOf(response.input.filter(isObject), query) : whole(response, query),
    finished: {
      status: 400,
      kind: 'invalid_request',
      code: null,
      param: null,
      message: 'Cannot cancel a synchronous response.',
      type: 'invalid_request_error',
      protocol: protocolName,
    },
    deleted: id => ({ id, object: 'response', deleted: true }),
    itemsOf: response =>
      outputOf(response).flatMap(({ id }) => (typeof id === 'string' ? [id] : [])),
    itemOf: (response, wanted) => outputOf(response).find(({ id }) => id === wanted),
    inFull(request, find) {
      if (!isObject(request) || !Array.isArray(request['input'])) return request
      const inPlaceOf = (item: unknown) =>
        isReference(item) && typeof item['id'] === 'string' ? find(item['id']) : undefined
      return { ...request, input: request['input'].map((item: unknown) => inPlaceOf(item) ?? item) }
    },
    unknown: (kind, id) => ({
      ...unknown[kind],
      message: unknown[kind].message(id),
      type: 'invalid_request_error',
      protocol: protocolName,
    }),
  }
}

/**
 * A quick check of the wire form: decoding a request to find references takes a hundred times as
 * long, and few have one.
 */
function mayRefer(request: unknown): boolean {
  if (!isObject(request)) return false
  const { previous_response_id: previous, conversation, input } = request
  return (
    Boolean(previous) || conversation != null || (Array.isArray(input) && input.some(isReference))
  )
}

const isReference = (item: unknown): item is JsonObject =>
  isObject(item) && typeOf(item) === 'item_reference'

type Words = Pick<CanonicalError, 'status' | 'kind' | 'code' | 'param'> & {
  message(id: string): string
}

/**
 * As on the reference server: an unknown `previous_response_id` is a bad request (400), anything
 * else is not found (404).
 */
const unknown: Record<'response' | 'previous' | 'item', Words> = {
  response: {
    status: 404,
    kind: 'not_found',
    code: null,
    param: null,
    message: id => `Response with id '${short(id)}' not found.`,
  },
  previous: {
    status: 400,
    kind: 'invalid_request',
    code: 'previous_response_not_found',
    param: 'previous_response_id',
    message: id => `Previous response with id '${short(id)}' not found.`,
  },
  item: {
    status: 404,
    kind: 'not_found',
    code: null,
    param: 'input',
    message: id => `Item with id '${short(id)}' not found.`,
  },
}

const short = (id: string) => id.slice(0, 100)

function outputOf(response: unknown): JsonObject[] {
  const output = isObject(response) ? response['output'] : undefined
  return Array.isArray(output) ? output.filter(isObject) : []
}

const prefixes: Record<string, string> = {
  message: 'msg_',
  reasoning: 'rs_',
  function_call: 'fc_',
  function_call_output: 'fco_',
  custom_tool_call: 'ctc_',
  custom_tool_call_output: 'ctco_',
}

function itemsOf(input: unknown): JsonObject[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  return Array.isArray(input) ? input.filter(isObject) : []
}

/** The input as items in their full form, as the server lists them. */
function inputOf(request: unknown, id: string): JsonObject[] {
  const input = isObject(request) ? request['input'] : undefined
  return itemsOf(input).map((item, index) => {
    const { type = item['role'] === undefined ? 'item_reference' : 'message' } = item
    const prefix =
      typeof type === 'string' && Object.hasOwn(prefixes, type) ? prefixes[type] : 'item_'
    const named = {
      ...item,
      type,
      id: typeof item['id'] === 'string' ? item['id'] : prefix + hashId(`${id}/input/${index}`),
    }
    return type === 'message' ? { status: 'completed', ...named, content: partsOf(item) } : named
  })
}

function partsOf({ role, content }: JsonObject): unknown {
  if (typeof content !== 'string') return content
  return role === 'assistant'
    ? [{ type: 'output_text', text: content, annotations: [] }]
    : [{ type: 'input_text', text: content }]
}

function whole({ body }: StoredResponse, query: URLSearchParams): unknown {
  if (query.get('stream') === 'true')
    throw strange('stream', 'only responses made in the background can be streamed again')
  return body
}

/** One page of a list; the newest item comes first, unless another order is requested. */
function pageOf(items: readonly JsonObject[], query: URLSearchParams): unknown {
  const limit = Number(query.get('limit') ?? 20)
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw strange('limit', 'expected a whole number from 1 to 100')
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') throw strange('order', 'expected asc or desc')
  const ordered = order === 'asc' ? items : items.toReversed()
  const after = query.get('after')
  const place = after === null ? -1 : ordered.findIndex(({ id }) => id === after)
  if (after !== null && place < 0) throw strange('after', 'expected the id of an item of this list')
  const data = ordered.slice(place + 1, place + 1 + limit)
  return {
    object: 'list',
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: place + 1 + limit < ordered.length,
  }
}

const strange = (name: string, message: string) =>
  new TranslationError({ code: 'malformed', protocol: protocolName, path: `/${name}` }, message)
