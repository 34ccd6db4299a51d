import type { Signal } from '../transports/abort-controller.ts'
import { atEnd, type Ending } from './at-end.ts'
import { type GatewayError, reasonOf } from './error.ts'

/** Frees the slot. Only the first call counts. */
export type Release = () => void

/**
 * `limit`: the most requests at the same time; 0: no limit. `refusal`: makes the error for a
 * request that cannot wait, or has waited too long.
 */
type Wanted = { name: string; limit: number; signal: Signal; rejection(): GatewayError }

/** Requests in progress by name, each with a bounded queue. In this process only. */
export type InFlight = {
  /** Takes a slot at once. Undefined: none is free. */
  take(name: string, limit: number): Release | undefined
  /**
   * Waits in the queue of this name for a slot, first come first served.
   * @throws GatewayError when the queue is full, the wait too long or the signal aborted
   */
  wait(wanted: Wanted): Promise<Release>
}

export function createInFlight({
  queueLimit,
  queueWaitMs,
}: {
  queueLimit: number
  queueWaitMs: number
}): InFlight {
  const gates = new Map<string, Gate>()
  const gateOf = (name: string): Gate => {
    const known = gates.get(name)
    if (known) return known
    const gate = new Gate(() => void gates.delete(name))
    gates.set(name, gate)
    return gate
  }
  const take = (name: string, limit: number) => (limit === 0 ? unlimited : gateOf(name).take(limit))
  return {
    take,
    wait({ name, limit, signal, rejection }) {
      if (signal.aborted) return Promise.reject(reasonOf(signal))
      const free = take(name, limit)
      if (free) return Promise.resolve(free)
      const gate = gateOf(name)
      return gate.queued < queueLimit
        ? gate.wait({ limit, signal, rejection, queueWaitMs })
        : Promise.reject(rejection())
    },
  }
}

type Waiter = { limit: number; start(): void }

/** The requests of one name. `isEmpty`: called when none is left. */
class Gate {
  readonly #isEmpty: () => void
  readonly #waiting = new Set<Waiter>()
  #running = 0

  constructor(isEmpty: () => void) {
    this.#isEmpty = isEmpty
  }

  get queued(): number {
    return this.#waiting.size
  }

  /** Undefined: none is free, or other requests wait already. */
  take(limit: number): Release | undefined {
    return this.#running < limit && this.#waiting.size === 0 ? this.#enter() : undefined
  }

  wait({
    limit,
    signal,
    rejection,
    queueWaitMs,
  }: Omit<Wanted, 'name'> & { queueWaitMs: number }): Promise<Release> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(waiter)
        clearTimeout(timer)
        signal.removeEventListener('abort', left)
      }
      const left = () => {
        leave()
        reject(reasonOf(signal))
      }
      const waiter: Waiter = {
        limit,
        start: () => {
          leave()
          resolve(this.#enter())
        },
      }
      const timer = setTimeout(() => {
        leave()
        reject(rejection())
      }, queueWaitMs)
      this.#waiting.add(waiter)
      signal.addEventListener('abort', left, { once: true })
    })
  }

  #enter(): Release {
    this.#running++
    let isFree = false
    return () => {
      if (isFree) return
      isFree = true
      this.#running--
      for (const waiter of this.#waiting) {
        if (this.#running >= waiter.limit) break
        waiter.start()
      }
      if (this.#running === 0 && this.#waiting.size === 0) this.#isEmpty()
    }
  }
}

/**
 * Keeps a slot for the rest of the exchange.
 * @throws GatewayError if the exchange was aborted, and perhaps reported, while it waited
 */
export function holdUntilEnd(release: Release, trace: Ending, signal: Signal): void {
  if (release === unlimited) return
  if (signal.aborted) {
    release()
    throw reasonOf(signal)
  }
  atEnd(trace, release)
}

const unlimited: Release = () => {}
