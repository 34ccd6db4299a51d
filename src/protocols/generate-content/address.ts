import { omitUndefined } from '../../kit/fields/omit.ts'
import { isObject } from '../../kit/json/json.ts'
import { unescaped } from '../../kit/text/text.ts'
import type { Address, Headers, ModelInfo } from '../../protocol.ts'
import { path } from './own.ts'

/** The operation follows the model in the path, after a colon that some clients escape. */
const call =
  /^\/v1(?:beta\d*|alpha)?\/(?:projects\/[^/]+\/locations\/[^/]+\/)?(?:publishers\/[^/]+\/)?(models|tunedModels)\/(.+)(?::|%3[Aa])(\w+)$/
const operations = new Map([
  ['generateContent', { operation: 'generate', stream: false }],
  ['streamGenerateContent', { operation: 'generate', stream: true }],
  ['countTokens', { operation: 'count-tokens', stream: false }],
] as const)

const version = 'v1beta'

/**
 * The operation and model that a POST to this path asks for. Undefined: not a path of this
 * protocol.
 */
export function match(requestPath: string): ReturnType<Address['match']> {
  const [, kind, written = '', word = ''] =
    call.exec(requestPath.replace(/\?.*$/s, '').replace(/(?<=[^/])\/+$/, '')) ?? []
  const known = operations.get(word as 'generateContent')
  if (!known || !written) return undefined
  const model = kind === 'models' ? unescaped(written) : `${kind}/${unescaped(written)}`
  return known.operation === 'generate'
    ? { operation: 'generate', model, stream: known.stream }
    : { operation: 'count-tokens', model }
}

/**
 * The path prefix of a model, unless its name has one: tuned models and those of publishers and
 * projects do.
 */
const ownerOf = (model: string) =>
  /^(?:models|tunedModels|publishers|projects)\//.test(model) ? '' : 'models/'

/** The path of a model whose name is not a single plain word. */
function placeOf(model: string): string {
  const steps = model.toWellFormed().split('/')
  // `.` and `..` must not lead to another path: such a name is escaped as one path segment.
  const isPlain = steps.every(step => !/^\.{1,2}$/.test(step))
  return `${isPlain ? ownerOf(model) : 'models/'}${steps.map(encodeURIComponent).join(isPlain ? '/' : '%2F')}`
}

/** Path and query of an operation. */
export function target({ operation, model, stream }: Parameters<Address['target']>[0]): string {
  const place = `/${version}/${/^\w[\w.-]*$/.test(model) ? `models/${model}` : placeOf(model)}`
  if (operation === 'count-tokens') return `${place}:countTokens`
  return stream ? `${place}:streamGenerateContent?alt=sse` : `${place}:generateContent`
}

export const address: Address = {
  path,

  match,

  target: operation => (operation.operation === 'compact' ? undefined : target(operation)),

  asList: query => query.get('alt') !== 'sse',

  keyPlaces: { headers: ['x-goog-api-key'], query: ['key'] },

  upstreamHeaders(apiKey, client) {
    const headers: Headers = {}
    if (apiKey !== undefined) headers['x-goog-api-key'] = apiKey
    for (const name of ['x-goog-user-project', 'x-goog-api-client']) {
      const value = client?.[name]
      if (value !== undefined) headers[name] = value
    }
    return headers
  },

  requestIdHeader: 'x-request-id',

  listingClaim(requestPath, headers, query) {
    if (/^\/v1(?:beta\d*|alpha)\/(?:models|tunedModels)(?:[/?]|$)/.test(requestPath)) return 3
    if (!/^\/v1\/models(?:[/?]|$)/.test(requestPath)) return 0
    return headers['x-goog-api-key'] !== undefined || query.has('key') ? 3 : 0
  },

  // Without `pageSize` the server lists only fifty.
  listing: `/${version}/models?pageSize=1000`,

  list: models => ({ models: models.map(describe) }),

  listed(body) {
    const models =
      isObject(body) && Array.isArray(body['models']) ? (body['models'] as unknown[]) : []
    return models.flatMap(model =>
      isObject(model) && typeof model['name'] === 'string'
        ? [model['name'].replace(/^models\//, '')]
        : [],
    )
  },

  describe,

  counting: {
    ask: (request, model) => ({
      generateContentRequest: { model: `${ownerOf(model)}${model}`, ...request },
    }),
    read: ({ totalTokens }) => totalTokens,
    write: inputTokens => ({ totalTokens: inputTokens }),
  },
}

function describe({ id, displayName, contextTokens, maxOutputTokens }: ModelInfo) {
  return omitUndefined({
    name: id.startsWith('models/') ? id : `models/${id}`,
    version: '001',
    displayName: displayName ?? id,
    inputTokenLimit: contextTokens,
    outputTokenLimit: maxOutputTokens,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  })
}
