import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createCircuit } from '../../src/stores/circuit.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A store that answers when the test says so. */
function hangingStore() {
  const sent: ((answer: string) => void)[] = []
  const command = () => new Promise<string>(resolve => sent.push(resolve))
  return { sent, command }
}

/** What a promise has become after `ms`. */
async function outcomeAfter(ms: number, promise: Promise<unknown>): Promise<unknown> {
  const outcome = promise.then(
    value => value,
    (error: Error) => error.message,
  )
  await vi.advanceTimersByTimeAsync(ms)
  return Promise.race([outcome, Promise.resolve('pending')])
}

describe('a store that hangs', () => {
  test('delays a command for two seconds at most, and later ones not at all', async () => {
    const { sent, command } = hangingStore()
    const { run } = createCircuit()
    const first = run(command)
    expect(await outcomeAfter(1_900, first)).toBe('pending')
    expect(await outcomeAfter(200, first)).toContain('does not respond in time')
    expect(await outcomeAfter(0, run(command))).toContain('does not respond')
    expect(sent).toHaveLength(1)
  })

  test('gets one command every three seconds, for which nobody waits', async () => {
    const { sent, command } = hangingStore()
    const { run } = createCircuit()
    await outcomeAfter(2_000, run(command))
    await vi.advanceTimersByTimeAsync(3_000)
    for (let i = 0; i < 5; i++)
      expect(await outcomeAfter(0, run(command))).toContain('does not respond')
    expect(sent).toHaveLength(2)
  })

  test('is used again when it has answered', async () => {
    const { sent, command } = hangingStore()
    const { run } = createCircuit()
    await outcomeAfter(2_000, run(command))
    sent[0]?.('late')
    await vi.advanceTimersByTimeAsync(0)
    const next = run(command)
    sent[1]?.('in time')
    expect(await next).toBe('in time')
  })

  test('is not used again because a connection to it was given up', async () => {
    const { run } = createCircuit()
    const givenUp = () =>
      new Promise<string>((_, reject) => setTimeout(() => reject(new Error('timeout')), 3_000))
    await outcomeAfter(2_000, run(givenUp))
    await vi.advanceTimersByTimeAsync(1_000)
    const never = vi.fn(givenUp)
    await outcomeAfter(0, run(never))
    expect(never).not.toHaveBeenCalled()
  })
})

test('errors that come at once reach the caller, and delay nobody', async () => {
  const { run } = createCircuit()
  for (let i = 0; i < 3; i++)
    await expect(run(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  expect(await run(async () => 'works')).toBe('works')
})

test('a clock that jumps changes nothing', async () => {
  const { sent, command } = hangingStore()
  const { run } = createCircuit()
  await outcomeAfter(2_000, run(command))
  vi.setSystemTime(Date.now() - 3_600_000)
  await vi.advanceTimersByTimeAsync(3_000)
  await outcomeAfter(0, run(command))
  expect(sent).toHaveLength(2)
})
