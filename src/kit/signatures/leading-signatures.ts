import type { Part, Place, Signature } from '../../canonical/message.ts'

type LeadingSignature = { signature: Signature; at: Place; index: number }

/**
 * Signatures of carrier blocks that wait for the part after them. A client that moves all thinking
 * to the front puts the carriers of several calls in a row, with a text between them and the calls.
 */
export class LeadingSignatures {
  readonly #lost: (at: Place | undefined) => void
  readonly #waiting: LeadingSignature[] = []
  /**
   * Index of the first one that still waits. An index, because `shift` would move all the others:
   * there may be 100,000.
   */
  #next = 0
  /** Indexes of the call blocks, the last one first. */
  readonly #calls: number[]

  /**
   * `calls`: indexes of the blocks that are calls. `lost`: takes the place of a signature that
   * belongs to no part.
   */
  constructor(calls: readonly number[], lost: (at: Place | undefined) => void) {
    this.#lost = lost
    this.#calls = calls.toReversed()
  }

  add(leading: LeadingSignature): void {
    this.#waiting.push(leading)
    this.#forgetCallsBefore(leading.index)
    // At most as many can wait as calls follow; without calls, one for the next part.
    while (this.#waiting.length - this.#next > Math.max(1, this.#calls.length)) this.#lose()
  }

  give(part: Part, index: number): void {
    const leading = this.#waiting[this.#next]
    // A signature before a text belongs to a call after the text, as long as one follows.
    if (!leading || (part.type === 'text' && index < (this.#calls[0] ?? 0))) return
    if (part.signature) this.#lose()
    else {
      part.signature = leading.signature
      this.#next++
    }
  }

  end(): void {
    while (this.#next < this.#waiting.length) this.#lose()
  }

  #forgetCallsBefore(index: number): void {
    while ((this.#calls.at(-1) ?? index) < index) this.#calls.pop()
  }

  #lose(): void {
    this.#lost(this.#waiting[this.#next++]?.at)
  }
}
