import { type Refusal, refuse } from './error.ts'

/** The result of a wait when a ping is due. */
export const ping = Symbol('ping')

export type Clock = {
  /** Something was sent to the client: its time without output starts again. */
  sent(): void
  /**
   * The result of the promise, or `ping` when a ping is due before. `idleMs`: the longest time for the promise, over all its waits;
   * 0: no limit. @throws Refusal 504 when it takes longer
   */
  wait<T>(promise: Promise<T>, idleMs: number): Promise<T | typeof ping>
  /** Rejects the current wait. False: there is none. */
  interrupt(reason: Refusal): boolean
  stop(): void
}

/** `keepAliveMs`: silence before a ping; 0: never. One timer serves pings and idle timeouts; it is rescheduled when it fires, not for each chunk. */
export function createClock(keepAliveMs: number): Clock {
  let timer: ReturnType<typeof setTimeout> | undefined
  let due: { resolve(value: typeof ping): void; reject(error: Refusal): void; since: number; idleMs: number } | undefined
  let setFor = 0
  let lastOut = Date.now()
  let waitingFor: unknown
  let waitingSince = 0

  function arm(): void {
    if (!due) return
    const soonest = Math.min(keepAliveMs ? lastOut + keepAliveMs : Infinity, due.idleMs ? due.since + due.idleMs : Infinity)
    if (soonest === Infinity || (timer && setFor <= soonest)) return
    clearTimeout(timer)
    setFor = soonest
    timer = setTimeout(fire, Math.max(1, soonest - Date.now()))
  }

  function fire(): void {
    timer = undefined
    const now = Date.now()
    const waiting = due
    // Cleared before the callback, which may start another wait.
    due = undefined
    if (waiting?.idleMs && now - waiting.since >= waiting.idleMs) waiting.reject(refuse(504, 'timeout', 'the upstream stopped sending'))
    else if (waiting && keepAliveMs && now - lastOut >= keepAliveMs) waiting.resolve(ping)
    else {
      due = waiting
      arm()
    }
  }

  return {
    sent() {
      lastOut = Date.now()
    },
    wait<T>(promise: Promise<T>, idleMs: number): Promise<T | typeof ping> {
      return new Promise((resolve, reject) => {
        if (waitingFor !== promise) {
          waitingFor = promise
          waitingSince = Date.now()
        }
        const mine = { resolve, reject, since: waitingSince, idleMs }
        due = mine
        arm()
        promise.then(
          value => {
            if (due === mine) due = undefined
            resolve(value)
          },
          error => {
            if (due === mine) due = undefined
            reject(error)
          },
        )
      })
    },
    interrupt(reason: Refusal): boolean {
      const waiting = due
      due = undefined
      waiting?.reject(reason)
      return waiting !== undefined
    },
    stop() {
      clearTimeout(timer)
      due = undefined
    },
  }
}
