import { expect, test, vi } from 'vitest'
import { createRenewing } from '../../src/clouds/renewing.ts'

/** Tokens `t1`, `t2`, … that live for `lifeMs`, and the time. */
function source(lifeMs: number | undefined, more: { fails?: () => boolean } = {}) {
  const clock = { time: 1_000_000 }
  const obtain = vi.fn(async (_isForced: boolean) => {
    if (more.fails?.()) throw new Error(`down at ${clock.time}`)
    return {
      value: `t${obtain.mock.calls.length}`,
      expiresAt: lifeMs === undefined ? undefined : clock.time + lifeMs,
    }
  })
  return { clock, obtain, renewing: createRenewing(obtain, () => clock.time) }
}

const hour = 3_600_000
const settled = () => new Promise(setImmediate)

test('fetches once for many concurrent callers', async () => {
  const { obtain, renewing } = source(hour)
  expect(await Promise.all(Array.from({ length: 50 }, () => renewing.get()))).toEqual(
    Array.from({ length: 50 }, () => 't1'),
  )
  expect(obtain).toHaveBeenCalledTimes(1)
})

test('renews in the background five minutes before the end, and uses the old one meanwhile', async () => {
  const { clock, obtain, renewing } = source(hour)
  await renewing.get()
  clock.time += hour - 5 * 60_000 - 1
  expect(await renewing.get()).toBe('t1')
  expect(obtain).toHaveBeenCalledTimes(1)
  clock.time += 1
  expect(await Promise.all([renewing.get(), renewing.get()])).toEqual(['t1', 't1'])
  await settled()
  expect(obtain).toHaveBeenCalledTimes(2)
  expect(await renewing.get()).toBe('t2')
})

test('waits for a new one when less than thirty seconds are left', async () => {
  const { clock, renewing } = source(hour)
  await renewing.get()
  clock.time += hour - 29_000
  expect(await renewing.get()).toBe('t2')
})

test('uses the old one as long as it lives when the renewal fails', async () => {
  let down = false
  const { clock, renewing } = source(hour, { fails: () => down })
  await renewing.get()
  down = true
  clock.time += hour - 10_000
  expect(await renewing.get()).toBe('t1')
  clock.time += 10_001
  await expect(renewing.get()).rejects.toThrow('down at')
  down = false
  clock.time += 1_001
  expect(await renewing.get()).toMatch(/^t\d$/)
})

test('remembers a failure for a second, so that a broken endpoint is not called each time', async () => {
  let down = true
  const { clock, obtain, renewing } = source(hour, { fails: () => down })
  await expect(renewing.get()).rejects.toThrow('down')
  await expect(renewing.get()).rejects.toThrow('down')
  expect(obtain).toHaveBeenCalledTimes(1)
  down = false
  clock.time += 1_000
  expect(await renewing.get()).toBe('t2')
})

test('does not fetch a token per call when its life is short', async () => {
  const { clock, obtain, renewing } = source(200_000)
  for (let call = 0; call < 50; call++) {
    await renewing.get()
    clock.time += 1_000
  }
  expect(obtain).toHaveBeenCalledTimes(1)
})

test('replaces a refused one once for all callers, and not again within ten seconds', async () => {
  const { clock, obtain, renewing } = source(hour)
  const first = await renewing.get()
  expect(await Promise.all([renewing.replace(first), renewing.replace(first)])).toEqual([
    't2',
    't2',
  ])
  // A call that was refused before the renewal gets the new one.
  expect(await renewing.replace(first)).toBe('t2')
  expect(obtain.mock.calls).toEqual([[false], [true]])
  expect(await renewing.replace('t2')).toBeUndefined()
  clock.time += 10_000
  expect(await renewing.replace('t2')).toBe('t3')
})

test('has no replacement for one that never changes', async () => {
  const keys = { accessKeyId: 'a' }
  const renewing = createRenewing(async () => ({ value: keys }))
  expect(await renewing.get()).toBe(keys)
  expect(await renewing.replace(keys)).toBeUndefined()
})
