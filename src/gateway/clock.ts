import { type GatewayError, reject } from './error.ts'

/** The result of a wait when a ping is due. */
export const ping = Symbol('ping')

export type Clock = {
  /** Something was sent to the client: its time without output starts again. */
  sent(): void
  /**
   * The result of the promise, or `ping` when a ping is due before. `idleMs`: the longest time for
   * the promise, over all its waits; 0: no limit. @throws GatewayError 504 when it takes longer
   */
  wait<T>(promise: Promise<T>, idleMs: number): Promise<T | typeof ping>
  /** Rejects the current wait. False: there is none. */
  interrupt(reason: GatewayError): boolean
  stop(): void
}

/**
 * `keepAliveMs`: silence before a ping; 0: never. One timer serves pings and idle timeouts; it is
 * rescheduled when it fires, not for each chunk.
 */
export function createClock(keepAliveMs: number): Clock {
  return new RunningClock(keepAliveMs)
}

/** A wait that is not over. */
type Wait = {
  resolve(value: typeof ping): void
  reject(error: GatewayError): void
  since: number
  idleMs: number
}

class RunningClock implements Clock {
  readonly #keepAliveMs: number
  #timer: ReturnType<typeof setTimeout> | undefined
  #due: Wait | undefined
  /** When the timer fires. */
  #setFor = 0
  #lastOut = Date.now()
  #waitingFor: unknown
  #waitingSince = 0

  constructor(keepAliveMs: number) {
    this.#keepAliveMs = keepAliveMs
  }

  sent(): void {
    this.#lastOut = Date.now()
  }

  wait<T>(promise: Promise<T>, idleMs: number): Promise<T | typeof ping> {
    return new Promise((resolve, reject) => {
      if (this.#waitingFor !== promise) {
        this.#waitingFor = promise
        this.#waitingSince = Date.now()
      }
      const mine = { resolve, reject, since: this.#waitingSince, idleMs }
      this.#due = mine
      this.#arm()
      promise.then(
        value => {
          if (this.#due === mine) this.#due = undefined
          resolve(value)
        },
        error => {
          if (this.#due === mine) this.#due = undefined
          reject(error)
        },
      )
    })
  }

  interrupt(reason: GatewayError): boolean {
    const waiting = this.#due
    this.#due = undefined
    waiting?.reject(reason)
    return waiting !== undefined
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#due = undefined
  }

  #arm(): void {
    if (!this.#due) return
    const { since, idleMs } = this.#due
    const soonest = Math.min(
      this.#keepAliveMs ? this.#lastOut + this.#keepAliveMs : Infinity,
      idleMs ? since + idleMs : Infinity,
    )
    if (soonest === Infinity || (this.#timer && this.#setFor <= soonest)) return
    clearTimeout(this.#timer)
    this.#setFor = soonest
    this.#timer = setTimeout(() => this.#fire(), Math.max(1, soonest - Date.now()))
  }

  #fire(): void {
    this.#timer = undefined
    const now = Date.now()
    const waiting = this.#due
    // Cleared before the callback, which may start another wait.
    this.#due = undefined
    if (waiting?.idleMs && now - waiting.since >= waiting.idleMs)
      waiting.reject(reject(504, 'timeout', 'the upstream stopped sending'))
    else if (waiting && this.#keepAliveMs && now - this.#lastOut >= this.#keepAliveMs)
      waiting.resolve(ping)
    else {
      this.#due = waiting
      this.#arm()
    }
  }
}
