import { hashHex } from '../conversation/ids.ts'
import type { JsonObject } from '../json/json.ts'

const mostCharacters = 64

/** The body with a cache key that fits: a longer one becomes a hash, the same one for each key. */
export function fitCacheKey(
  body: JsonObject,
  taken: 'keep' | 'hash' | undefined,
  report: { add(code: 'cache.key-hashed', at: string): void },
): JsonObject {
  const key = body['prompt_cache_key']
  if (taken !== 'hash' || typeof key !== 'string' || key.length <= mostCharacters) return body
  report.add('cache.key-hashed', '/prompt_cache_key')
  return { ...body, prompt_cache_key: hashHex(key, mostCharacters) }
}
