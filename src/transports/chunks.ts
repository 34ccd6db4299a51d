/** Whence chunks come: a stream, or what is like one. */
export type Flow = { pause(): unknown; resume(): unknown; destroy(): unknown }

/** How much is held for a reader before whoever sends is told to wait. */
const most = 64 * 1024

/**
 * Chunks that one side pushes and the other pulls: all that has come, each time, for one promise. The iterator that
 * streams bring along takes three, and a watcher of the stream's end besides: 15 µs for a body of one chunk.
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

  /** What was pushed before is given out first. */
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
