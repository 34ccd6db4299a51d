type Chunk = string | Uint8Array

/**
 * Passes text/event-stream on in whole frames: what is left of one when the stream is cut off would be an event that no client can read.
 * The bytes stay the same. A stream that begins with `[` is a JSON list, of which whole elements pass.
 */
export class WholeFrames<C extends Chunk> {
  readonly #join: (chunks: readonly C[]) => C
  readonly #maxHeld: number
  #held: C[] = []
  #heldLength = 0
  /** The last three characters that came: a blank line may be cut. */
  #before = ''
  #begun = false
  /** Passes everything as it comes. */
  #isOpen = false
  #list: ListEnd | undefined

  /** `maxEventLength`: see `Settings`. What is longer by far passes as it comes: nobody else looks at what follows an error. */
  constructor(join: (chunks: readonly C[]) => C, { maxEventLength = 64 * 1024 * 1024 }: { maxEventLength?: number | undefined } = {}) {
    this.#join = join
    // A character has at most three bytes.
    this.#maxHeld = 4 * maxEventLength
  }

  /** Undefined: nothing is whole yet. */
  push(chunk: C): C | undefined {
    this.#begun ||= this.#begin(chunk)
    if (this.#isOpen) return chunk
    const end = this.#list ? this.#list.push(chunk) : endOfFrames(chunk, this.#before)
    this.#before = end > 0 && end === chunk.length ? '\n\n' : lastOf(this.#before, chunk)
    if (end === 0) {
      this.#held.push(chunk)
      this.#heldLength += chunk.length
      this.#isOpen = this.#heldLength > this.#maxHeld
      return this.#isOpen ? this.rest() : undefined
    }
    if (this.#held.length === 0 && end === chunk.length) return chunk
    const whole = this.#join([...this.#held, part(chunk, 0, end)])
    this.#held = end === chunk.length ? [] : [part(chunk, end)]
    this.#heldLength = chunk.length - end
    return whole
  }

  /** Can something else be sent after what has passed? Not where it may be in the middle of a text. */
  get isBetween(): boolean {
    return !this.#isOpen && !this.#list
  }

  get isList(): boolean {
    return this.#list !== undefined
  }

  /**
   * What is sent at the end of a stream behind the whole frames. `rest`: what is left of the last frame. `owed`: a frame that the stream
   * still gets, or ''. A JSON list that was cut off gets it as its last element, and ends.
   */
  ending(rest: C, owed: string): { rest?: C; owed: string } {
    if (!this.#list || this.#list.isClosed) return { rest, owed: this.#list ? '' : owed }
    const element = /^data: ?(.*)$/m.exec(owed)?.[1]
    const before = this.#list.isEmpty ? '[' : ''
    return { owed: element === undefined ? `${before}]` : `${before || ',\n'}${element}]` }
  }

  /** What is left of the last frame. */
  rest(): C {
    const rest = this.#join(this.#held)
    this.#held = []
    this.#heldLength = 0
    return rest
  }

  /** Has anything but white space come? */
  #begin(chunk: C): boolean {
    for (let at = 0; at < chunk.length; at++) {
      const code = codeAt(chunk, at)
      if (isSpace(code) || isOfMark(code)) continue
      if (code === 0x5b) this.#list = new ListEnd()
      return true
    }
    return false
  }
}

/** Finds the ends of the elements of a JSON list. Chunks may be cut anywhere. */
class ListEnd {
  #depth = 0
  #inString = false
  #escaped = false
  isEmpty = true
  isClosed = false

  /** The position after the last element, or after the list, that ends in this chunk. 0: none does. */
  push(chunk: Chunk): number {
    let end = 0
    for (let at = 0; at < chunk.length; at++) {
      const code = codeAt(chunk, at)
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false
        else if (code === 0x5c) this.#escaped = true
        else if (code === 0x22) this.#inString = false
      } else if (code === 0x22) this.#inString = true
      else if (code === 0x7b || code === 0x5b) this.#depth++
      else if (code === 0x7d || code === 0x5d) {
        if (--this.#depth > 1) continue
        if (this.#depth === 1) this.isEmpty = false
        else this.isClosed = true
        end = at + 1
      }
    }
    return end
  }
}

/** The frames up to `[DONE]`, for a stream that must not look complete. */
export function beforeDone<C extends Chunk>(frames: C): C {
  const text = typeof frames === 'string' ? frames : new TextDecoder('latin1').decode(frames)
  const done = /(^|[\r\n])data: *\[DONE\] *([\r\n]|$)/.exec(text)
  return done ? part(frames, 0, done.index + (done[1]?.length ?? 0)) : frames
}

/** The position after the last blank line. 0: there is none. `before`: what came before the chunk. */
function endOfFrames(chunk: Chunk, before: string): number {
  for (let end = chunk.length; end > 0; end--) {
    const last = codeAt(chunk, end - 1)
    if (!isLineEnd(last)) continue
    const start = last === 0x0a && charAt(chunk, before, end - 2) === 0x0d ? end - 2 : end - 1
    if (isLineEnd(charAt(chunk, before, start - 1))) return end
  }
  return 0
}

const charAt = (chunk: Chunk, before: string, at: number) => (at < 0 ? before.charCodeAt(before.length + at) : codeAt(chunk, at))
const codeAt = (chunk: Chunk, at: number) => (typeof chunk === 'string' ? chunk.charCodeAt(at) : (chunk[at] as number))
const isLineEnd = (code: number) => code === 0x0a || code === 0x0d
const isSpace = (code: number) => isLineEnd(code) || code === 0x20 || code === 0x09
/** Of a byte order mark. */
const isOfMark = (code: number) => code === 0xfeff || code === 0xef || code === 0xbb || code === 0xbf

const part = <C extends Chunk>(chunk: C, from: number, to?: number) => (typeof chunk === 'string' ? chunk.slice(from, to) : chunk.subarray(from, to)) as C

function lastOf(before: string, chunk: Chunk): string {
  const last = part(chunk, -3)
  return (before + (typeof last === 'string' ? last : String.fromCharCode(...last))).slice(-3)
}
