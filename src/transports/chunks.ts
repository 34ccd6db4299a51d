/** The source of the chunks. */
export type Flow = { pause(): unknown; resume(): unknown; destroy(): unknown }

/** In bytes: when more are waiting for the reader, the source is paused. */
const most = 64 * 1024

/**
 * A queue of chunks with backpressure: one side pushes, the other iterates. Each pull costs one
 * promise and returns everything that has arrived. The iterator of Node's streams costs three
 * promises and a listener: 15 µs for a body of one chunk.
 */
export class Chunks implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #flow: Flow
  #held: Uint8Array[] = []
  #length = 0
  #paused = false
  #over = false
  #failure: { error: unknown } | undefined
  #wake: (() => void) | undefined

  constructor(flow: Flow) {
    this.#flow = flow
  }

  push(chunk: Uint8Array): void {
    this.#held.push(chunk)
    this.#length += chunk.length
    if (this.#length >= most && !this.#paused) {
      this.#paused = true
      this.#flow.pause()
    }
    this.#stir()
  }

  end(): void {
    this.#over = true
    this.#stir()
  }

  /** The reader gets the chunks that were pushed before, then the error. */
  fail(error: unknown): void {
    if (!this.#over) this.#failure = { error }
    this.end()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#held.length === 0 && !this.#over)
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    if (this.#held.length > 0) return { value: this.#taken(), done: false }
    if (this.#failure) throw this.#failure.error
    return { value: undefined, done: true }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#held = []
    if (!this.#over) this.#flow.destroy()
    this.end()
    return { value: undefined, done: true }
  }

  #taken(): Uint8Array {
    const [only] = this.#held
    const all = this.#held.length === 1 && only ? only : Buffer.concat(this.#held, this.#length)
    this.#held = []
    this.#length = 0
    if (this.#paused) {
      this.#paused = false
      this.#flow.resume()
    }
    return all
  }

  #stir(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}
