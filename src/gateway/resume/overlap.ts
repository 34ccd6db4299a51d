/**
 * Finds the beginning of a text that repeats the end of another, or all of it. Holds text back as
 * long as it may be a repetition. Two texts may meet in a few letters by chance, so that only a
 * longer repetition counts.
 */
export class Overlap {
  readonly #sent: string
  readonly #end: string
  #held = ''
  /** Does the text before begin with what is held? */
  #isStart = true
  /** What follows is new. */
  isOver: boolean

  /** `sent`: the text before. */
  constructor(sent: string) {
    this.#sent = sent
    this.#end = sent.slice(-longest)
    this.isOver = sent === ''
  }

  /** What is new. */
  take(text: string): string {
    if (this.isOver) return text
    // Only the new letters are compared: a model may write all of it again, a few at a time.
    this.#isStart &&= this.#sent.startsWith(text, this.#held.length)
    this.#held += text
    if (this.#mayRepeat()) return ''
    return this.end()
  }

  /** Nothing follows: what is new of the text that was held back. */
  end(): string {
    const held = this.#held
    this.#held = ''
    this.isOver = true
    return held.slice(this.#repeated(held))
  }

  #mayRepeat(): boolean {
    const { length } = this.#held
    return (
      (this.#isStart && length < this.#sent.length) ||
      (length < this.#end.length && this.#end.includes(this.#held))
    )
  }

  /** The number of letters that were sent before. */
  #repeated(held: string): number {
    if (held.startsWith(this.#sent)) return this.#sent.length
    for (let length = Math.min(held.length, this.#end.length); length >= shortest; length--)
      if (this.#end.endsWith(held.slice(0, length))) return length
    // Providers refuse a beginning that ends with white space, so the model does not know of it.
    const space = this.#end.slice(this.#end.trimEnd().length)
    return held.startsWith(space) ? space.length : 0
  }
}

/** In letters. */
const longest = 2_000
const shortest = 12
