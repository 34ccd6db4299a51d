import { connectRedis } from './redis-client.ts'

/** Stores texts in Redis, so that several processes share responses. Rejects immediately while Redis cannot be reached. */
export async function createRedisStore(url: string, warn: (error: unknown) => void) {
  const client = await connectRedis(url, warn)
  return {
    get: (key: string): Promise<unknown> => client.get(key),
    set: (key: string, value: string, ttlMs?: number): Promise<unknown> =>
      client.set(
        key,
        value,
        ttlMs === undefined ? {} : { expiration: { type: 'PX', value: ttlMs } },
      ),
    delete: (key: string): Promise<unknown> => client.del(key),
    close: (): void => client.destroy(),
  }
}
