import { partOf } from './bytes.ts'
import type { FrameSplitter } from './split.ts'

type Chunk = string | Uint8Array

/**
 * Passes text/event-stream on in whole frames: what is left of one when the stream is cut off would
 * be an event that no client can read. The bytes stay the same. Of a JSON list whole elements pass.
 */
export class WholeFrames<C extends Chunk> {
  readonly #stream: Pick<FrameSplitter, 'list'>
  readonly #join: (chunks: readonly C[]) => C
  readonly #maxHeld: number
  #held: C[] = []
  #heldLength = 0
  /** Passes everything as it comes. */
  #isOpen = false

  /**
   * `maxEventLength`: see `Settings`. Frames far above the limit are forwarded unbuffered: nothing
   * else checks what follows an error.
   */
  constructor(
    stream: Pick<FrameSplitter, 'list'>,
    join: (chunks: readonly C[]) => C,
    { maxEventLength = 64 * 1024 * 1024 }: { maxEventLength?: number | undefined } = {},
  ) {
    this.#stream = stream
    this.#join = join
    // A character has at most three bytes.
    this.#maxHeld = 4 * maxEventLength
  }

  /** `end`: where the last frame of the chunk ends, or 0. Undefined: nothing is whole yet. */
  push(chunk: C, end: number): C | undefined {
    if (this.#isOpen) return chunk
    if (end === 0) {
      this.#held.push(chunk)
      this.#heldLength += chunk.length
      this.#isOpen = this.#heldLength > this.#maxHeld
      return this.#isOpen ? this.rest() : undefined
    }
    if (this.#held.length === 0 && end === chunk.length) return chunk
    const whole = this.#join([...this.#held, part(chunk, 0, end)])
    this.#held = end === chunk.length ? [] : [part(chunk, end, chunk.length)]
    this.#heldLength = chunk.length - end
    return whole
  }

  /**
   * Can something else be sent after what has passed? Not where it may be in the middle of a text.
   */
  get isBetween(): boolean {
    return !this.#isOpen && !this.#stream.list
  }

  /**
   * What is sent at the end of a stream after the complete frames. `rest`: what is left of the last
   * frame. `pending`: a frame that the stream still gets, or ''. A JSON list that was cut off gets
   * it as its last element, and ends.
   */
  ending(rest: C, pending: string): { rest?: C; pending: string } {
    const { list } = this.#stream
    if (!list || list.isClosed) return { rest, pending: list ? '' : pending }
    const element = /^data: ?(.*)$/m.exec(pending)?.[1]
    const before = list.isEmpty ? '[' : ''
    return { pending: element === undefined ? `${before}]` : `${before || ',\n'}${element}]` }
  }

  /** What is left of the last frame. */
  rest(): C {
    const rest = this.#join(this.#held)
    this.#held = []
    this.#heldLength = 0
    return rest
  }
}

const latin1 = new TextDecoder('latin1')

/** The frames up to `[DONE]`, for a stream that must not look complete. */
export function beforeDone<C extends Chunk>(frames: C): C {
  const done = /(^|[\r\n])data: *\[DONE\] *([\r\n]|$)/.exec(
    typeof frames === 'string' ? frames : latin1.decode(frames),
  )
  return done ? part(frames, 0, done.index + (done[1]?.length ?? 0)) : frames
}

/** A part of a chunk is of the same type. */
const part = <C extends Chunk>(chunk: C, from: number, to: number) => partOf(chunk, from, to) as C
