import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { inTime } from '../../src/gateway/in-time.ts'

const forever = () => new Promise<never>(() => {})

describe('what the application returns', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test('in time: that, and nothing is left', async () => {
    const { signal } = new AbortController()
    expect(await inTime(signal, 1000, async () => 'found')).toBe('found')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('never: an error when the time is over, and its signal is aborted', async () => {
    const { signal } = new AbortController()
    let seen: AbortSignal | undefined
    const result = inTime(signal, 1000, end => {
      seen = end
      return forever()
    })
    vi.advanceTimersByTime(1000)
    await expect(result).rejects.toThrow('too long')
    expect(seen?.aborted).toBe(true)
  })

  test.each(['before', 'while it waits'])('a client that leaves %s: an error', async when => {
    const client = new AbortController()
    if (when === 'before') client.abort()
    const result = inTime(client.signal, 1000, forever)
    client.abort()
    await expect(result).rejects.toThrow()
  })

  test('an exception: the same', async () => {
    const { signal } = new AbortController()
    await expect(
      inTime(signal, 1000, () => {
        throw new Error('no network')
      }),
    ).rejects.toThrow('no network')
    expect(vi.getTimerCount()).toBe(0)
  })
})
