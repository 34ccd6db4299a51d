import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { parseConfig } from '../../src/gateway/options.ts'
import { createBreakers } from '../../src/gateway/upstream/breaker.ts'
import { one } from './support.ts'

/** Open channels, tested without a gateway; `retry.test.ts` tests that a gateway skips them. */

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
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
  return {
    rest: () => breakers.restMs(channel),
    run: (result: string) => breakers.run(channel, async () => result),
    /** An attempt that runs until the test ends it. */
    begin: () => {
      const end: ((result: string) => void)[] = []
      const running = breakers.run(
        channel,
        () => new Promise<string>(resolve => void end.push(resolve)),
      )
      return async (result: string) => {
        for (const resolve of end) resolve(result)
        await running
      }
    },
    fails: () =>
      breakers
        .run(channel, () => Promise.reject(new Error('a fault of ours')))
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
