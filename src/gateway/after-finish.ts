import { GatewayError } from './error.ts'

/**
 * What a stream failed with, unless its client has left. A timeout or broken connection does not
 * matter where the response turns out to be complete.
 * @throws the error when the client has left
 */
export function brokenBy(error: unknown): { error: unknown } {
  if (error instanceof GatewayError && error.error.kind === 'cancelled') throw error
  return { error }
}

/**
 * How long usage and metadata may follow the last finish reason. Known servers send them at once.
 */
const afterFinishMs = 10_000

/**
 * The deadline of a stream whose protocol has no last event, or whose upstream does not send it:
 * without one, an upstream that continues after its finish reasons would be read for ever.
 * `finishes`: see `StreamTranslator`.
 */
export class AfterFinish {
  #finishes = 0
  #until = Number.POSITIVE_INFINITY

  /** The longest wait for the next chunk, where `idleMs` is the default one. 0: no limit. */
  idleMs(finishes: number, idleMs: number): number {
    if (finishes !== this.#finishes) {
      this.#finishes = finishes
      this.#until = finishes > 0 ? Date.now() + afterFinishMs : Number.POSITIVE_INFINITY
    }
    if (finishes === 0) return idleMs
    const left = Math.max(1, this.#until - Date.now())
    return idleMs ? Math.min(idleMs, left) : left
  }

  /** Has the deadline passed? What comes now is not read. */
  isOver(): boolean {
    return this.#finishes > 0 && Date.now() >= this.#until
  }
}
