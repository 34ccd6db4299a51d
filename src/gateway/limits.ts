import type { RateLimiterAbstract } from 'rate-limiter-flexible'
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import { isObject } from '../kit/json/json.ts'
import type { ParsedConfig } from './options.ts'

/** Counts calls per minute and name. */
export type Limits = {
  /** Counts one call. Undefined: there is no limit (`perMinute` is 0), or its store failed. */
  take(name: string, perMinute: number): Promise<Taken | undefined>
  close(): Promise<void>
}

/** `waitMs`: set if the limit is exceeded, the milliseconds to wait. `remaining`: calls that are left. `resetMs`: until the count starts again. */
export type Taken = { limit: number; remaining: number; resetMs: number; waitMs?: number }

/** A limit for names, in calls per minute. */
type LimiterOf = (perMinute: number) => RateLimiterAbstract

/** Counts in memory, or in Redis for several processes. `warn`: called when Redis cannot be reached. */
export function createLimits(
  config: ParsedConfig['limits'],
  warn: (error: unknown) => void,
): Limits {
  if (!('redis' in config)) return limitsOf(inMemory, async () => {})
  const { redis } = config
  // Loaded only if configured: the gateway itself runs on any platform.
  const limits = import('../stores/redis-limiter.ts')
    .then(({ createRedisLimiter }) => createRedisLimiter(redis, inMemory, warn))
    .then(({ limiterOf, close }) => limitsOf(limiterOf, close))
    .catch(error => {
      // Without Redis support, as during an outage, each process counts on its own.
      warn(error)
      return limitsOf(inMemory, async () => {})
    })
  return {
    take: async (name, perMinute) =>
      perMinute === 0 ? undefined : (await limits).take(name, perMinute),
    close: async () => (await limits).close(),
  }
}

const inMemory: LimiterOf = perMinute =>
  new RateLimiterMemory({ points: perMinute, duration: 60, keyPrefix: `wireglot:${perMinute}` })

function limitsOf(limiterOf: LimiterOf, close: () => Promise<void>): Limits {
  const limiters = new Map<number, RateLimiterAbstract>()
  return {
    async take(name, perMinute) {
      if (perMinute === 0) return undefined
      let limiter = limiters.get(perMinute)
      if (!limiter) {
        limiter = limiterOf(perMinute)
        limiters.set(perMinute, limiter)
      }
      try {
        const { remainingPoints, msBeforeNext } = await limiter.consume(name)
        return { limit: perMinute, remaining: remainingPoints, resetMs: msBeforeNext }
      } catch (refused) {
        // Not a result of the limiter but a failure of the store, which must not lock out everybody.
        if (!isObject(refused) || typeof refused['msBeforeNext'] !== 'number') return undefined
        const waitMs = Math.max(1, refused['msBeforeNext'])
        return { limit: perMinute, remaining: 0, resetMs: waitMs, waitMs }
      }
    },
    close,
  }
}
