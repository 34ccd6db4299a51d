import type { Signal } from '../transports/abort-controller.ts'

/**
 * What the application returns, unless it takes too long or the client leaves. `act`: gets a signal
 * for both.
 * @throws what `act` throws, and an error when the time is over
 */
export async function inTime<T>(
  signal: Signal,
  mostMs: number,
  act: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  if (signal.aborted) throw new Error('the client has left')
  const end = new AbortController()
  const stop = () => end.abort()
  signal.addEventListener('abort', stop, { once: true })
  const timer = setTimeout(stop, mostMs)
  try {
    const ended = new Promise<never>((_, reject) =>
      end.signal.addEventListener('abort', () => reject(new Error('it took too long'))),
    )
    return await Promise.race([act(end.signal), ended])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
