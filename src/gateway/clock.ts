import { type Refusal, refuse } from './error.ts'

/** What a wait gives in place of what was waited for: it is time to say that the connection lives. */
export const ping = Symbol('ping')

export type Clock = {
  /** The client took all it was given: from now on it is waiting. */
  sent(): void
  /**
   * What the promise gives, or `ping` when the client has waited long enough. `idleMs` (0: any time) is how long the
   * promise itself may take, pings included. @throws Refusal 504 when it takes longer
   */
  wait<T>(promise: Promise<T>, idleMs: number): Promise<T | typeof ping>
  /** Whoever waits hears this instead. False: nobody is waiting. */
  interrupt(reason: Refusal): boolean
  stop(): void
}

/** `keepAliveMs`: when a ping is due, 0: never. One timer serves pings and silence; it is set anew when it fires, not for each chunk. */
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
    // Taken before it is told: whoever took a ping may not be waiting any more.
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
