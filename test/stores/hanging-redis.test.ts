import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Redis, redisInstalled, redisTitle, startRedis } from '../gateway/redis.ts'
import {
  after,
  hostsOf,
  one,
  paths,
  post,
  requests,
  responses,
  sendJson,
  upstream,
} from '../gateway/support.ts'
import { startSilentServer } from '../support/silent-server.ts'

const [[, start] = []] = hostsOf(import.meta.url)
if (!start) throw new Error('no host')

/** Two seconds, and what a slow machine adds. A client that waits for Redis waits for ever. */
const mostMs = 12_000

const quiet = { logger: false } as const
const chat = () => post(requests['chat-completions'], { authorization: 'Bearer the-key' })

/** A key with a limit, and all that can be in Redis. */
async function gatewayWith(redis: string, onFailure: 'open' | 'closed', requestsPerMinute = 100) {
  const { url } = await upstream(sendJson(200, responses['chat-completions']))
  const { auth: _, ...config } = one(url, 'chat-completions')
  return start?.(
    {
      ...config,
      keys: [{ name: 'alice', key: 'the-key', group: 'team', requestsPerMinute }],
      groups: { team: { requestsPerMinute: 1000 } },
      limits: { redis, onFailure },
      store: { redis },
    },
    quiet,
  )
}

/** The statuses of requests one after another, and how long the slowest ones took. */
async function timed(
  count: number,
  ask: () => Promise<Response> | undefined,
): Promise<{ statuses: number[]; firstMs: number; othersMs: number }> {
  const statuses: number[] = []
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const since = performance.now()
    const response = await ask()
    await response?.text()
    statuses.push(response?.status ?? 0)
    times.push(performance.now() - since)
  }
  return { statuses, firstMs: times[0] ?? 0, othersMs: Math.max(...times.slice(1)) }
}

describe('a Redis that accepts connections and never answers', () => {
  const silent = async () => {
    const { port, stop } = await startSilentServer()
    after(stop)
    return `redis://127.0.0.1:${port}`
  }

  test('delays one request for two seconds, and each process counts its own limits', async () => {
    const ask = await gatewayWith(await silent(), 'open', 4)
    const { statuses, firstMs, othersMs } = await timed(6, () =>
      ask?.(paths['chat-completions'], chat()),
    )
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429])
    expect(firstMs).toBeLessThan(mostMs)
    expect(othersMs).toBeLessThan(2_000)
  })

  test('makes the gateway refuse requests with a limit when `onFailure` is `closed`', async () => {
    const ask = await gatewayWith(await silent(), 'closed')
    const { statuses, othersMs } = await timed(3, () => ask?.(paths['chat-completions'], chat()))
    expect(statuses).toEqual([503, 503, 503])
    expect(othersMs).toBeLessThan(2_000)
  })

  test('delays a response that is stored for two seconds once', async () => {
    const ask = await gatewayWith(await silent(), 'open')
    const stored = () => post({ ...requests.responses }, { authorization: 'Bearer the-key' })
    const { statuses, firstMs, othersMs } = await timed(3, () => ask?.(paths.responses, stored()))
    expect(statuses).toEqual([200, 200, 200])
    expect(firstMs).toBeLessThan(mostMs)
    expect(othersMs).toBeLessThan(2_000)
  })
})

describe.skipIf(!redisInstalled)(redisTitle, () => {
  let redis: Redis
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  test.each(['open', 'closed'] as const)(
    'a Redis that is stopped and continued delays one request: %s',
    async onFailure => {
      const ask = await gatewayWith(redis.url(onFailure === 'open' ? 3 : 4), onFailure)
      const requested = () => ask?.(paths['chat-completions'], chat())
      expect((await timed(2, requested)).statuses).toEqual([200, 200])
      redis.pause()
      const paused = await timed(8, requested)
      redis.resume()
      expect(paused.statuses).toEqual(Array(8).fill(onFailure === 'open' ? 200 : 503))
      expect(paused.firstMs).toBeLessThan(mostMs)
      expect(paused.othersMs).toBeLessThan(2_000)
      // The command that was late is answered now, so Redis counts again.
      await expect
        .poll(
          async () => {
            const response = await requested()
            const left = response?.headers.get('x-ratelimit-remaining-requests')
            return { status: response?.status, isShared: Number(left) < 96 }
          },
          { timeout: 10_000 },
        )
        .toEqual({ status: 200, isShared: true })
    },
  )
})
