import { only } from '../../kit/json/json.ts'
import { modelList } from '../../kit/json/model-list.ts'
import type { Address, Headers, ModelInfo } from '../../protocol.ts'
import { path } from './own.ts'
import { storedAt } from './response/stored.ts'

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
