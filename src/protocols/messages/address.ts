import { omitUndefined } from '../../kit/fields/omit.ts'
import { only } from '../../kit/json/json.ts'
import type { Address, Headers, ModelInfo } from '../../protocol.ts'
import { path } from './own.ts'

const countPath = '/v1/messages/count_tokens'
const targets = { generate: path, 'count-tokens': countPath, compact: undefined }

/** The request fields that `count_tokens` takes; the server refuses any other. */
const counted = [
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'cache_control',
  'mcp_servers',
  'context_management',
]

/** `anthropic-version` for upstream when the client sent none. */
const version = '2023-06-01'

export const address: Address = {
  path,

  match(requestPath) {
    const bare = requestPath.replace(/\?.*$/s, '').replace(/(?<=[^/])\/+$/, '')
    if (bare === path) return { operation: 'generate' }
    if (bare === countPath) return { operation: 'count-tokens' }
    return undefined
  },

  target: ({ operation }) => targets[operation],

  keyPlaces: { headers: ['x-api-key'], query: [] },

  upstreamHeaders(apiKey, client) {
    const headers: Headers = { 'anthropic-version': client?.['anthropic-version'] ?? version }
    if (apiKey !== undefined) headers['x-api-key'] = apiKey
    for (const name of [
      'anthropic-beta',
      'anthropic-user-profile-id',
      'anthropic-workspace-id',
      'idempotency-key',
    ]) {
      const value = client?.[name]
      if (value !== undefined) headers[name] = value
    }
    return headers
  },

  requestIdHeader: 'request-id',

  listingClaim(requestPath, headers) {
    if (!/^\/v1\/models(?:[/?]|$)/.test(requestPath)) return 0
    return headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined ? 2 : 0
  },

  // Without `limit` the server lists 20 models.
  listing: '/v1/models?limit=1000',

  list(models) {
    const data = models.map(describe)
    return {
      data,
      has_more: false,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    }
  },

  describe,

  counting: {
    ask: request => only(request, counted),
    read: ({ input_tokens }) => input_tokens,
    write: inputTokens => ({ input_tokens: inputTokens }),
  },
}

function describe({ id, displayName, createdAt, contextTokens, maxOutputTokens }: ModelInfo) {
  return omitUndefined({
    id,
    type: 'model',
    display_name: displayName ?? id,
    // As documented, an unknown date is 1970-01-01T00:00:00Z.
    created_at: new Date((createdAt ?? 0) * 1000).toISOString().replace('.000Z', 'Z'),
    max_input_tokens: contextTokens,
    max_tokens: maxOutputTokens,
  })
}
