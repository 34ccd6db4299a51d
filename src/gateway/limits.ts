import { createMemoryCounter } from '../stores/memory-counter.ts'
import { GatewayError } from './error.ts'
import type { Peers } from './hooks.ts'
import type { ParsedConfig } from './options.ts'

/** Counts calls per minute and name. */
export type Limits = {
  /**
   * Counts one call. Undefined: there is no limit (`perMinute` is 0).
   * @throws GatewayError 503 if the store has failed, and `onFailure` is `closed`
   */
  take(name: string, perMinute: number): Promise<Taken | undefined>
  /** Uncounts a call that was counted. */
  giveBack(name: string, perMinute: number): Promise<void>
  close(): Promise<void>
}

/**
 * `waitMs`: set if the limit is exceeded, the milliseconds to wait. `remaining`: calls that are
 * left. `resetMs`: until the count starts again.
 */
export type Taken = { limit: number; remaining: number; resetMs: number; waitMs?: number }

type Counter = {
  /**
   * Adds to the count of a name, which starts again after `windowMs`. Rejects when the store fails.
   */
  add(name: string, calls: number, windowMs: number): Promise<{ count: number; resetMs: number }>
  close(): void
}

const windowMs = 60_000

/**
 * Counts in memory, and for several processes in Redis or by the peers. `warn`: called once for
 * each outage of these.
 */
export function createLimits(
  config: ParsedConfig['limits'],
  warn: (error: unknown) => void,
  peers?: Peers,
): Limits {
  const own = createMemoryCounter()
  let isFailing = false
  const failed = (error: unknown) => {
    if (!isFailing) warn(error)
    isFailing = true
  }
  const counter = 'redis' in config ? redisCounter(config.redis, failed) : peersCounter(peers, own)

  async function add(name: string, calls: number) {
    try {
      const counted = await counter.add(name, calls, windowMs)
      isFailing = false
      return counted
    } catch (cause) {
      failed(cause)
      if (config.onFailure === 'closed') throw rejection(cause)
      // A limit that is too generous is better than no service: each process counts on its own.
      return own.add(name, calls, windowMs)
    }
  }

  return {
    async take(name, perMinute) {
      if (perMinute === 0) return undefined
      const { count, resetMs } = await add(name, 1)
      const taken = { limit: perMinute, remaining: Math.max(0, perMinute - count), resetMs }
      return count > perMinute ? { ...taken, waitMs: Math.max(1, resetMs) } : taken
    },
    async giveBack(name, perMinute) {
      // Where the store fails, one call too many stays counted.
      if (perMinute > 0) await add(name, -1).catch(() => {})
    },
    async close() {
      counter.close()
    },
  }
}

const rejection = (cause: unknown) =>
  new GatewayError(
    {
      status: 503,
      kind: 'unavailable',
      message: 'the store of the limits cannot be reached',
      retryAfterMs: 5_000,
    },
    { cause },
  )

const peersCounter = (peers: Peers | undefined, own: Counter): Counter =>
  peers ? { add: (...counted) => peers.count(...counted), close() {} } : own

/** Loaded only if configured: the gateway itself runs on any platform. */
function redisCounter(url: string, failed: (error: unknown) => void): Counter {
  const opening = import('../stores/redis-counter.ts').then(({ createRedisCounter }) =>
    createRedisCounter(url, failed),
  )
  opening.catch(failed)
  return {
    add: async (...counted) => (await opening).add(...counted),
    close() {
      opening.then(
        ({ close }) => close(),
        () => {},
      )
    },
  }
}
