import { connectRedis } from './redis-client.ts'

/**
 * Stores texts in Redis, so that several processes share responses. Rejects while Redis cannot be
 * reached or hangs.
 */
export async function createRedisStore(url: string, warn: (error: unknown) => void) {
  const { client, run } = await connectRedis(url, warn)
  return {
    get: (key: string): Promise<unknown> => run(() => client.get(key)),
    set: (key: string, value: string, ttlMs?: number): Promise<unknown> =>
      run(() =>
        client.set(
          key,
          value,
          ttlMs === undefined ? {} : { expiration: { type: 'PX', value: ttlMs } },
        ),
      ),
    delete: (key: string): Promise<unknown> => run(() => client.del(key)),
    close: (): void => client.destroy(),
  }
}
