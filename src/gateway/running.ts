import type { PlainAbortController } from '../transports/abort-controller.ts'
import { shuttingDown } from './error.ts'
import { longestMs } from './options.ts'

/**
 * The exchanges in progress, and shutting them down. A list and not a set: V8 replaces the table of
 * a set when it is full, and what the old table refers to survives until the next full garbage
 * collection.
 */
export function createRunning() {
  const running: PlainAbortController[] = []
  let closing = false
  let idle = () => {}
  const drained = new Promise<void>(resolve => {
    idle = resolve
  })
  const resolveIfIdle = () => {
    if (closing && running.length === 0) idle()
  }
  const leave = (exchange: PlainAbortController): void => {
    const place = running.indexOf(exchange)
    const last = running.at(-1)
    if (place < 0 || !last) return
    running[place] = last
    running.pop()
    resolveIfIdle()
  }
  return {
    isClosing: () => closing,
    count: () => running.length,
    enter(exchange: PlainAbortController): void {
      running.push(exchange)
    },
    leave,
    /** Waits until none is in progress. After `graceMs` the rest is stopped. */
    async close(graceMs: number): Promise<void> {
      closing = true
      resolveIfIdle()
      const stopAll = () => {
        // One that was stopped before, because its client has left, hangs in a hook: nothing more
        // ends it.
        for (const exchange of [...running])
          if (exchange.aborted) leave(exchange)
          else exchange.abort(shuttingDown())
      }
      const timer = setTimeout(stopAll, Math.min(graceMs, longestMs))
      await drained
      clearTimeout(timer)
    },
  }
}
