import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { endedEarly } from '../../kit/errors/failed-reply.ts'
import type { Protocol } from '../../protocol.ts'
import { encoded, joined } from '../../sse/bytes.ts'
import { named, parseData } from '../../sse/data.ts'
import { createFrameParser, type Frame, type FrameParser } from '../../sse/parse.ts'
import { createFrameRewriter, type FrameRewriter } from '../../sse/rewrite.ts'
import { createTextReader } from '../../sse/text.ts'
import { WholeFrames } from '../../sse/whole-frames.ts'
import { renamedFrame } from '../../translate/renamed-frame.ts'
import type { StreamTranslator } from '../../translate/stream-translator.ts'
import { refuse } from '../error.ts'

type Chunk = string | Uint8Array

const none = new Uint8Array()

/**
 * The stream of a reply that the provider stores, for the relay. It may begin in the middle of the reply, so it is not decoded: whole
 * frames pass, and when it is cut off, an error frame follows, numbered after the last one. `model`: the name for frames with a model.
 */
export class StoredStream implements StreamTranslator<Chunk> {
  readonly notes = []
  readonly usage = undefined
  readonly signatures = {}
  readonly after = ''
  readonly cutFrame = false
  readonly endedEarly = false
  readonly failedEnd = undefined
  error: CanonicalError | undefined
  finished = false
  readonly #protocol: Protocol
  readonly #whole: WholeFrames<Uint8Array>
  readonly #parser: FrameParser
  readonly #text = createTextReader()
  readonly #rewriter: FrameRewriter | undefined
  /** The data of the last frame; undefined: none since the last check. */
  #data: string | undefined
  /** The data of the last frame with an event. */
  #last = ''
  #isOver = false

  constructor(protocol: Protocol, { model, maxEventLength }: { model: string | undefined; maxEventLength: number }) {
    this.#protocol = protocol
    this.#whole = new WholeFrames<Uint8Array>(joined, { maxEventLength })
    this.#parser = createFrameParser(frame => this.#take(frame), { maxLength: maxEventLength })
    this.#rewriter = model === undefined ? undefined : createFrameRewriter(frame => renamed(frame, protocol, model))
  }

  push(chunk: Chunk): Chunk {
    bounded(() => this.#parser.push(chunk))
    return this.#named(this.#whole.push(encoded(chunk)) ?? none)
  }

  end(why?: CanonicalError): Chunk {
    const whole = this.#last
    this.#data = undefined
    // Gives `#take` what is left: the last frame may lack its blank line.
    if (!why) bounded(() => this.#parser.end())
    const isWhole = this.#data !== undefined && parseData(this.#data) !== undefined
    if (!isWhole) this.#last = whole
    const rest = isWhole ? this.#named(this.#whole.rest()) : none
    // A stream that has nothing left to send is empty.
    this.finished = !why && (this.#last === '' || this.#isOver)
    const out = encoded(rest)
    const left = encoded(this.#rewriter?.end() ?? '')
    if (this.finished) return joined([out, left])
    this.error = why ?? endedEarly
    const { frames } = this.#protocol
    return joined([out, left, encoded(`\n\n${frames.failure(this.error, frames.countAfter?.(this.#last))}`)])
  }

  ping(): string {
    return this.#whole.isBetween ? this.#protocol.frames.ping : ''
  }

  #named(frames: Uint8Array): Chunk {
    return this.#rewriter ? this.#rewriter.push(this.#text.read(frames)) : frames
  }

  #take(frame: Frame): void {
    const { data } = frame
    this.#data = data
    if (!data.trimStart().startsWith('{')) return
    this.#last = data
    // An event that ends a reply says how it ended. Events of other kinds may follow.
    if (data.includes('"status"') || data.includes('"error"')) this.#isOver ||= isLast(frame, this.#protocol)
  }
}

function bounded(parse: () => void): void {
  try {
    parse()
  } catch (error) {
    throw error instanceof RangeError ? refuse(502, 'internal', 'an event of the upstream stream is too long') : error
  }
}

/** The frame with another model name, if it has one. */
function renamed(frame: string, protocol: Protocol, model: string): string {
  if (!frame.includes('"model"')) return frame
  let written = ''
  const parser = createFrameParser(one => {
    written = renamedFrame(protocol, one, model)
  })
  parser.push(frame)
  parser.end()
  return written || frame
}

/** Does a stream end with this frame, well or with an error? */
function isLast({ data, event }: Frame, { streamDecoder }: Protocol): boolean {
  const state = streamDecoder.initial({})
  let last = false
  const take = (told: CanonicalEvent) => {
    last ||= told.type === 'error' || (told.type === 'end' && told.clean)
  }
  try {
    streamDecoder.step(state, named(parseData(data), event), take)
    streamDecoder.end(state, take)
  } catch {
    // Nobody can read it.
  }
  return last
}
