import type { RateLimiterAbstract } from 'rate-limiter-flexible'
import RateLimiterRedis from 'rate-limiter-flexible/lib/RateLimiterRedis.js'
import { connectRedis } from './redis-client.ts'

export type RedisLimiter = {
  limiterOf(perMinute: number): RateLimiterAbstract
  close(): Promise<void>
}

/**
 * Counts in Redis, so that several processes share their limits. While Redis cannot be reached, each process counts by itself with
 * `insurance`: a limit that is too generous is better than no service.
 */
export async function createRedisLimiter(
  url: string,
  insurance: (perMinute: number) => RateLimiterAbstract,
  warn: (error: unknown) => void,
): Promise<RedisLimiter> {
  const client = await connectRedis(url, warn)
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
