import { omitUndefined } from '../../kit/fields/omit.ts'
import { modelList } from '../../kit/json/model-list.ts'
import type { Address, Headers, ModelInfo } from '../../protocol.ts'
import { path } from './own.ts'

/** Request headers of a client that are passed on to the upstream. */
const passedOn = [
  'openai-organization',
  'openai-project',
  'openai-beta',
  'x-client-request-id',
  'idempotency-key',
] as const

function describe({ id, owner, createdAt, contextTokens, maxOutputTokens }: ModelInfo) {
  return omitUndefined({
    id,
    object: 'model',
    created: createdAt ?? 0,
    owned_by: owner ?? 'unknown',
    context_length: contextTokens,
    max_output_tokens: maxOutputTokens,
  })
}

export const address: Address = {
  path,
  match: requestPath => (requestPath === path ? { operation: 'generate' } : undefined),
  target: ({ operation }) => (operation === 'generate' ? path : undefined),
  keyPlaces: { headers: ['api-key'], query: [] },
  upstreamHeaders(apiKey, client) {
    const headers: Headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
    for (const name of passedOn) {
      const value = client?.[name]
      if (value !== undefined) headers[name] = value
    }
    return headers
  },
  requestIdHeader: 'x-request-id',
  // The default shape of model lists, which clients expect unless the request shows another.
  listingClaim: requestPath =>
    requestPath === '/v1/models' || requestPath.startsWith('/v1/models/') ? 1 : 0,
  list: models => ({ object: 'list', data: models.map(describe) }),
  listJson: modelList,
  describe,
}
