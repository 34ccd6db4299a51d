import { createClient } from '@redis/client'
import { type RateLimiterAbstract, RateLimiterRedis } from 'rate-limiter-flexible'

export type RedisLimiter = { limiterOf(perMinute: number): RateLimiterAbstract; close(): Promise<void> }

/**
 * Counts in Redis, so that several processes share their limits. While Redis cannot be reached each process counts by
 * itself with `insurance`: a limit that is a little too generous is better than a gateway that stands still.
 */
export async function createRedisLimiter(
  url: string,
  insurance: (perMinute: number) => RateLimiterAbstract,
  warn: (error: unknown) => void,
): Promise<RedisLimiter> {
  const client = createClient({ url, disableOfflineQueue: true })
  let told = false
  // It tries again and again by itself; one warning is enough.
  client.on('error', (error: unknown) => {
    if (!told) warn(error)
    told = true
  })
  client.on('ready', () => {
    told = false
  })
  await new Promise<void>(resolve => {
    client.once('ready', () => resolve())
    client.once('error', () => resolve())
    client.connect().catch(() => resolve())
  })
  return {
    limiterOf: perMinute =>
      new RateLimiterRedis({
        storeClient: client,
        useRedisPackage: true,
        rejectIfRedisNotReady: true,
        insuranceLimiter: insurance(perMinute),
        points: perMinute,
        duration: 60,
        keyPrefix: `wireglot:${perMinute}`,
      }),
    async close() {
      client.destroy()
    },
  }
}
