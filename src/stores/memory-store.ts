import { LRUCache } from 'lru-cache'

/**
 * Stores texts in this process. When they take more than the limit, those that were not used for
 * longest are dropped.
 */
export function createMemoryStore(limitBytes: number) {
  const kept = new LRUCache<string, string>({ maxSize: limitBytes, sizeCalculation: sizeOf })
  return {
    async get(key: string): Promise<string | undefined> {
      return kept.get(key)
    },
    async set(key: string, text: string, ttlMs?: number): Promise<void> {
      kept.set(key, text, ttlMs === undefined ? {} : { ttl: ttlMs })
    },
    async delete(key: string): Promise<void> {
      kept.delete(key)
    },
  }
}

/** Two bytes for each UTF-16 unit, which is what an engine needs at most. */
const sizeOf = (text: string, key: string) => 2 * (key.length + text.length)
