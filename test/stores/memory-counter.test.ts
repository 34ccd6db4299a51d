import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMemoryCounter } from '../../src/stores/memory-counter.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('counts by name, and starts again after a minute', async () => {
  const { add } = createMemoryCounter()
  expect(await add('alice', 1, 60_000)).toEqual({ count: 1, resetMs: 60_000 })
  vi.advanceTimersByTime(20_000)
  expect(await add('alice', 1, 60_000)).toEqual({ count: 2, resetMs: 40_000 })
  expect(await add('bob', 1, 60_000)).toEqual({ count: 1, resetMs: 60_000 })
  expect((await add('alice', -1, 60_000)).count).toBe(1)
  vi.advanceTimersByTime(40_000)
  expect(await add('alice', 1, 60_000)).toEqual({ count: 1, resetMs: 60_000 })
})

test.each([-3_600_000, 3_600_000])('a clock that jumps by %d ms changes nothing', async jumpMs => {
  const { add } = createMemoryCounter()
  await add('alice', 1, 60_000)
  vi.setSystemTime(Date.now() + jumpMs)
  expect(await add('alice', 1, 60_000)).toEqual({ count: 2, resetMs: 60_000 })
})
