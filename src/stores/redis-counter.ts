import { connectRedis } from './redis-client.ts'

/**
 * Adds to a count. The first addition starts its minute. Returns the count, and the milliseconds
 * that are left.
 */
const script = `
local count = redis.call('incrby', KEYS[1], ARGV[1])
local left = redis.call('pttl', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[2])
  redis.call('pexpire', KEYS[1], left)
end
return {count, left}`

/**
 * Counts in Redis, so that several processes share their limits. Rejects while Redis cannot be
 * reached or hangs.
 */
export async function createRedisCounter(url: string, warn: (error: unknown) => void) {
  const { client, run } = await connectRedis(url, warn)
  return {
    async add(name: string, calls: number, windowMs: number) {
      const [count, resetMs] = (await run(() =>
        client.eval(script, {
          keys: [`wireglot:${name}`],
          arguments: [String(calls), String(windowMs)],
        }),
      )) as [number, number]
      return { count, resetMs }
    },
    close: (): void => client.destroy(),
  }
}
