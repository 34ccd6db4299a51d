import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createFresh } from '../../src/records/fresh.ts'

const ages = { freshMs: 1_000, staleMs: 2_000 }

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Reads that the test answers one by one. */
function pendingReads() {
  const reads: { answer(value: string): void; fail(): void }[] = []
  const read = () =>
    new Promise<string>((resolve, reject) =>
      reads.push({ answer: resolve, fail: () => reject(new Error('away')) }),
    )
  return { reads, read }
}

test('returns a known value while it is read again, and the new one afterwards', async () => {
  const { reads, read } = pendingReads()
  const fresh = createFresh(read, ages)
  const first = fresh.get('a')
  reads[0]?.answer('old')
  expect(await first).toBe('old')
  await vi.advanceTimersByTimeAsync(1_500)
  expect(await fresh.get('a')).toBe('old')
  expect(await fresh.get('a')).toBe('old')
  expect(reads).toHaveLength(2)
  reads[1]?.answer('new')
  await vi.advanceTimersByTimeAsync(0)
  expect(await fresh.get('a')).toBe('new')
})

test('does not return a value that is too old before it is read again', async () => {
  const { reads, read } = pendingReads()
  const fresh = createFresh(read, ages)
  const first = fresh.get('a')
  reads[0]?.answer('old')
  await first
  await vi.advanceTimersByTimeAsync(2_000)
  const second = fresh.get('a')
  reads[1]?.answer('new')
  expect(await second).toBe('new')
})

test('counts the age of a value from the beginning of its reading', async () => {
  const { reads, read } = pendingReads()
  const fresh = createFresh(read, ages)
  const first = fresh.get('a')
  await vi.advanceTimersByTimeAsync(1_900)
  reads[0]?.answer('old')
  await first
  await vi.advanceTimersByTimeAsync(100)
  void fresh.get('a')
  expect(reads).toHaveLength(2)
  const late = fresh.get('a')
  reads[1]?.answer('new')
  expect(await late).toBe('new')
})

test('keeps the last value while reading fails, unless it must not', async () => {
  for (const keepsLast of [true, false]) {
    const { reads, read } = pendingReads()
    const fresh = createFresh(read, { ...ages, keepsLast })
    const first = fresh.get('a')
    reads[0]?.answer('old')
    await first
    await vi.advanceTimersByTimeAsync(60_000)
    const second = fresh.get('a').catch(({ message }: Error) => message)
    reads[1]?.fail()
    expect(await second).toBe(keepsLast ? 'old' : 'away')
  }
})

test.each([-3_600_000, 3_600_000])('a clock that jumps by %d ms changes nothing', async jumpMs => {
  const { reads, read } = pendingReads()
  const fresh = createFresh(read, ages)
  const first = fresh.get('a')
  reads[0]?.answer('old')
  await first
  vi.setSystemTime(Date.now() + jumpMs)
  expect(await fresh.get('a')).toBe('old')
  expect(reads).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(2_000)
  const second = fresh.get('a')
  reads[1]?.answer('new')
  expect(await second).toBe('new')
})
