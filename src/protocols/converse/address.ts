import { omitUndefined } from '../../kit/fields/omit.ts'
import { isObject } from '../../kit/json/json.ts'
import { flatMap } from '../../kit/text/flat-map.ts'
import { unescaped } from '../../kit/text/text.ts'
import type { Address, ModelInfo } from '../../protocol.ts'
import { bareId } from './models.ts'
import { path } from './own.ts'

/**
 * The model is one segment, `/` and `:` in it escaped; some clients leave them as they are, so the
 * last step is the operation.
 */
const call = /^\/model\/(.+)\/(converse|converse-stream|count-tokens)$/
const operations = new Map([
  ['converse', { operation: 'generate', stream: false }],
  ['converse-stream', { operation: 'generate', stream: true }],
  ['count-tokens', { operation: 'count-tokens', stream: false }],
] as const)

/**
 * The operation and model that a POST to this path asks for. Undefined: not a path of this
 * protocol.
 */
export function match(requestPath: string): ReturnType<Address['match']> {
  const [, written = '', word = ''] =
    call.exec(requestPath.replace(/\?.*$/s, '').replace(/(?<=[^/])\/+$/, '')) ?? []
  const known = operations.get(word as 'converse')
  if (!known || !written) return undefined
  const model = unescaped(written)
  return known.operation === 'generate'
    ? { operation: 'generate', model, stream: known.stream }
    : { operation: 'count-tokens', model }
}

/** The path of an operation. */
export function target({ operation, model, stream }: Parameters<Address['target']>[0]): string {
  // Tokens are counted by the model itself, whose name has no region.
  const name = operation === 'count-tokens' && !model.startsWith('arn:') ? bareId(model) : model
  const generating = stream ? 'converse-stream' : 'converse'
  const word = operation === 'count-tokens' ? 'count-tokens' : generating
  // A segment of only dots would lead to another path.
  const segment = /^\.+$/.test(name)
    ? name.replaceAll('.', '%2E')
    : encodeURIComponent(name.toWellFormed())
  return `/model/${segment}/${word}`
}

/** The request fields that `count-tokens` takes. */
const counted = ['messages', 'system', 'toolConfig', 'additionalModelRequestFields'] as const

export const address: Address = {
  path,

  match,

  target: call => (call.operation === 'compact' ? undefined : target(call)),

  // Clients send their key as `authorization: Bearer`.
  keyPlaces: { headers: [], query: [] },

  upstreamHeaders: apiKey => (apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),

  requestIdHeader: 'x-amzn-requestid',

  listingClaim: requestPath => (/^\/foundation-models(?:[/?]|$)/.test(requestPath) ? 3 : 0),

  listing: '/foundation-models',

  list: models => ({ modelSummaries: models.map(describe) }),

  listed(body) {
    if (!isObject(body)) return []
    const { modelSummaries, inferenceProfileSummaries } = body
    return [
      ...idsIn(modelSummaries, 'modelId'),
      ...idsIn(inferenceProfileSummaries, 'inferenceProfileId'),
    ]
  },

  describe: model => ({ modelDetails: describe(model) }),

  counting: {
    ask: request => ({
      input: {
        converse: Object.fromEntries(
          flatMap(counted, key => (request[key] === undefined ? [] : [[key, request[key]]])),
        ),
      },
    }),
    read: ({ inputTokens }) => inputTokens,
    write: inputTokens => ({ inputTokens }),
  },
}

function idsIn(list: unknown, key: string): string[] {
  return Array.isArray(list)
    ? flatMap(list as unknown[], entry =>
        isObject(entry) && typeof entry[key] === 'string' ? [entry[key] as string] : [],
      )
    : []
}

function describe({ id, owner, displayName }: ModelInfo) {
  return omitUndefined({
    modelId: id,
    modelName: displayName ?? id,
    providerName: owner,
    responseStreamingSupported: true,
  })
}
