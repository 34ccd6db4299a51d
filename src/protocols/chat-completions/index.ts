import { omitUndefined } from '../../kit/fields/omit.ts'
import { keepingSource } from '../../kit/fields/source.ts'
import { isObject } from '../../kit/json/json.ts'
import { modelList } from '../../kit/json/model-list.ts'
import type { Address, Headers, ModelInfo, Protocol } from '../../protocol.ts'
import { chatCompletions as client } from './client.ts'
import { storedSignatureKeys } from './content/signatures.ts'
import type { ChatCompletionsOptions } from './options.ts'
import { notes, path, protocolName } from './own.ts'
import { outcome } from './response/response.ts'
import { chatCompletions as upstream } from './upstream.ts'
import { streamUsage } from './usage.ts'
import type { ChatCompletionsWire } from './written.ts'

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

const address: Address = {
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

export type { ChatCompletionsOptions } from './options.ts'

/** The protocol of `POST /v1/chat/completions`, which many servers have copied. */
export const chatCompletions: Protocol<ChatCompletionsOptions, ChatCompletionsWire> & {
  readonly name: typeof protocolName
} = {
  ...client,
  ...upstream,
  address,
  notes,
  // An error body has no `model`.
  withModel: (wire, model) =>
    isObject(wire) && ('model' in wire || wire['error'] == null) ? { ...wire, model } : wire,
  wantsStream: wire => isObject(wire) && wire['stream'] === true,
  streamUsage,
  signatureStorage: {
    keysOf: storedSignatureKeys,
    reading: signatureOf => ({ storedSignatures: signatureOf }),
    writing: { signatures: 'store' },
  },
  ...keepingSource<ChatCompletionsOptions, ChatCompletionsWire>(protocolName, {
    ...client,
    ...upstream,
  }),
  outcome,
}
