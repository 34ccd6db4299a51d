import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { parseConfig } from '../../src/gateway/options.ts'
import { createBreakers } from '../../src/gateway/upstream/breaker.ts'
import { one } from './support.ts'

/** Open channels, tested without a gateway; `retry.test.ts` tests that a gateway skips them. */

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const restMs = 10_000

function channelOf(failures: number) {
  const { channels } = parseConfig(
    one('http://upstream.test', 'messages', {}, {}, { breaker: { failures, restMs } }),
    {},
  )
  const [channel] = channels as [(typeof channels)[0]]
  const breakers = createBreakers<string>(channels, result =>
    result === 'well' || result === 'failed' ? result : undefined,
  )
  const request = (client = '') => ({ client, failedAt: new Set<string>() })
  return {
    rest: (client = '') => breakers.restMs(channel, client),
    run: (result: string, client?: string) =>
      breakers.run(channel, request(client), async () => result),
    /** Attempts of one request. */
    retry: async (results: readonly string[]) => {
      const one = request()
      for (const result of results) await breakers.run(channel, one, async () => result)
    },
    /** An attempt that runs until the test ends it. */
    begin: (client?: string) => {
      const end: ((result: string) => void)[] = []
      const running = breakers.run(
        channel,
        request(client),
        () => new Promise<string>(resolve => void end.push(resolve)),
      )
      return async (result: string) => {
        for (const resolve of end) resolve(result)
        await running
      }
    },
    fails: () =>
      breakers
        .run(channel, request(), () => Promise.reject(new Error('a fault of ours')))
        .catch(() => undefined),
  }
}

test('opens only after consecutive failures', async () => {
  const { run, rest } = channelOf(2)
  for (const result of ['failed', 'well', 'failed']) await run(result)
  expect(rest()).toBeUndefined()
  await run('failed')
  expect(rest()).toBe(restMs)
})

test('ignores results of attempts that began before it opened', async () => {
  const { run, rest, begin } = channelOf(1)
  const late = [begin(), begin()] as const
  await run('failed')
  vi.advanceTimersByTime(4_000)
  await late[0]('failed')
  await late[1]('well')
  expect(rest()).toBe(6_000)
})

test('allows one trial attempt after the rest, and others do not wait for it', async () => {
  const { run, rest, begin } = channelOf(3)
  for (const _ of [1, 2, 3]) await run('failed')
  vi.advanceTimersByTime(restMs)
  expect(rest()).toBeUndefined()
  const ended = begin()
  expect(rest()).toBe(1_000)
  await ended('failed')
  expect(rest(), 'a single failure is enough then').toBe(restMs)
  vi.advanceTimersByTime(restMs)
  await run('well')
  for (const _ of [1, 2]) await run('failed')
  expect(rest(), 'it counts from the beginning again').toBeUndefined()
})

test('ignores an attempt that throws, and allows the next one', async () => {
  const { run, rest, fails } = channelOf(1)
  await fails()
  expect(rest()).toBeUndefined()
  await run('failed')
  vi.advanceTimersByTime(restMs)
  await fails()
  expect(rest()).toBeUndefined()
})

test('ignores an unknown result, which neither closes it nor resets the failures', async () => {
  const { run, rest } = channelOf(2)
  for (const result of ['failed', 'unknown', 'failed']) await run(result)
  expect(rest()).toBe(restMs)
  vi.advanceTimersByTime(restMs)
  await run('unknown')
  await run('failed')
  expect(rest(), 'the next attempt tried the channel again').toBe(restMs)
})

test('counts a request once, whatever the number of its retries', async () => {
  const { retry, rest } = channelOf(2)
  await retry(['failed', 'failed', 'failed'])
  expect(rest()).toBeUndefined()
  await retry(['failed'])
  expect(rest()).toBe(restMs)
})

test('does not count a request while which another one succeeded', async () => {
  const { begin, run, rest } = channelOf(1)
  const end = begin()
  vi.advanceTimersByTime(1)
  await run('well')
  await end('failed')
  expect(rest()).toBeUndefined()
})

test('a failure at an open channel does not extend the rest, and a success closes the circuit', async () => {
  const { run, rest } = channelOf(1)
  await run('failed')
  vi.advanceTimersByTime(4_000)
  await run('failed')
  expect(rest()).toBe(6_000)
  await run('well')
  expect(rest()).toBeUndefined()
})

test('a clock that is set back changes nothing', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] })
  const { run, rest } = channelOf(1)
  await run('failed')
  vi.setSystemTime(Date.now() - 3_600_000)
  expect(rest()).toBe(restMs)
})

describe('with several clients', () => {
  test('one client alone does not open it while others use the channel', async () => {
    const { run, rest } = channelOf(5)
    await run('well', 'bob')
    for (let i = 0; i < 20; i++) await run('failed', 'mallory')
    expect(rest('bob')).toBeUndefined()
    await run('failed', 'bob')
    expect(rest('bob'), 'one client counts for at most half').toBeUndefined()
    await run('failed', 'bob')
    expect(rest('bob')).toBe(restMs)
  })

  test.each([1, 2, 3])(
    'needs two clients that fail, also when %i failures open it',
    async limit => {
      const { run, rest } = channelOf(limit)
      await run('well', 'bob')
      for (let i = 0; i < 5; i++) await run('failed', 'mallory')
      expect(rest('mallory')).toBeUndefined()
      for (let i = 0; i < limit; i++) await run('failed', 'bob')
      expect(rest('bob')).toBe(restMs)
    },
  )

  test('one client opens it when nobody else has used the channel for a minute', async () => {
    const { run, rest } = channelOf(2)
    await run('well', 'bob')
    vi.advanceTimersByTime(60_001)
    for (let i = 0; i < 2; i++) await run('failed', 'alice')
    expect(rest('alice')).toBe(restMs)
  })

  test('a client whose probe failed lets another one probe first', async () => {
    const { run, rest } = channelOf(2)
    for (const client of ['mallory', 'bob']) await run('failed', client)
    vi.advanceTimersByTime(restMs)
    await run('failed', 'mallory')
    vi.advanceTimersByTime(restMs)
    expect(rest('mallory')).toBe(1_000)
    expect(rest('bob')).toBeUndefined()
    await run('well', 'bob')
    expect(rest('mallory')).toBeUndefined()
  })

  test('a client whose probe failed probes again when no other one comes', async () => {
    const { run, rest } = channelOf(2)
    for (const client of ['alice', 'bob']) await run('failed', client)
    vi.advanceTimersByTime(restMs)
    await run('failed', 'alice')
    vi.advanceTimersByTime(60_001)
    expect(rest('alice')).toBeUndefined()
  })
})
