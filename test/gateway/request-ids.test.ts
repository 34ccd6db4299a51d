import { afterEach, expect, test, vi } from 'vitest'
import { newRequestId } from '../../src/gateway/ids.ts'

afterEach(() => {
  vi.useRealTimers()
})

const made = (count: number) => Array.from({ length: count }, newRequestId)

test('ids of requests grow within a millisecond, and while the clock goes back', () => {
  vi.useFakeTimers({ now: Date.now() + 1000 })
  const ids = made(3)
  vi.setSystemTime(Date.now() - 60_000)
  ids.push(...made(3))
  vi.setSystemTime(Date.now() + 120_000)
  ids.push(...made(3))
  expect(ids).toEqual(ids.toSorted())
})

test('they grow by their digits alone, which every collation of a database orders alike', () => {
  vi.useFakeTimers({ now: Date.now() + 200_000 })
  // More than a millisecond has room for.
  const digits = made(25_000).map(id => /^req_(\d{17})\w{10}$/.exec(id)?.[1] ?? id)
  expect(digits).toEqual(digits.toSorted())
  expect(new Set(digits).size).toBe(25_000)
})

test('processes that count from the same millisecond on have different ids', () => {
  const ends = new Set(made(1000).map(id => id.slice(-10)))
  expect(ends.size).toBe(1000)
})
