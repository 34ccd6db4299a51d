import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { endedEarly } from '../../kit/errors/failed-response.ts'
import { isObject } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import { createChunkEncoder, encoded, joined, textOf } from '../../sse/bytes.ts'
import { named, parseData } from '../../sse/data.ts'
import { createFrameParser, type Frame, type FrameParser, parseFrames } from '../../sse/parse.ts'
import { framesIn } from '../../sse/split.ts'
import { WholeFrames } from '../../sse/whole-frames.ts'
import { renamedFrame } from '../../translate/renamed-frame.ts'
import type { StreamTranslator } from '../../translate/stream-translator.ts'
import { reject } from '../error.ts'

type Chunk = string | Uint8Array

const none = new Uint8Array()

/**
 * The stream of a response that the provider stores, for the relay. It may begin in the middle of
 * the response, so it is not decoded: whole frames pass, and when it is cut off, an error frame
 * follows, numbered after the last one. `model`: the name for frames with a model.
 */
export class StoredStream implements StreamTranslator<Chunk> {
  readonly notes = []
  readonly usage = undefined
  readonly id = undefined
  readonly written = 0
  readonly signatures = {}
  readonly after = ''
  readonly finishes = 0
  readonly cutFrame = false
  readonly endedEarly = false
  readonly failedEnd = undefined
  error: CanonicalError | undefined
  finished = false
  readonly #protocol: Protocol
  readonly #whole: WholeFrames<Uint8Array>
  readonly #parser: FrameParser
  readonly #bytesOf = createChunkEncoder()
  readonly #id: string
  readonly #model: string | undefined
  /** The data of the last frame; undefined: none since the last check. */
  #data: string | undefined
  /** The data of the last frame with an event. */
  #last = ''
  #isOver = false

  constructor(
    protocol: Protocol,
    {
      id,
      model,
      maxEventLength,
    }: { id: string; model: string | undefined; maxEventLength: number },
  ) {
    this.#protocol = protocol
    this.#parser = createFrameParser(frame => this.#take(frame), { maxLength: maxEventLength })
    this.#whole = new WholeFrames<Uint8Array>(this.#parser, joined, { maxEventLength })
    this.#id = id
    this.#model = model
  }

  push(chunk: Chunk): Chunk {
    const bytes = this.#bytesOf(chunk)
    const end = bounded(() => this.#parser.push(bytes))
    return this.#named(this.#whole.push(bytes, end) ?? none)
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
    if (this.finished) return rest
    this.error = why ?? endedEarly
    const { frames } = this.#protocol
    const failure = frames.failure(this.error, {
      count: frames.countAfter?.(this.#last),
      hasBegun: this.#last !== '',
      id: this.#id,
      model: this.#model,
    })
    return joined([rest, encoded(`\n\n${failure}`)])
  }

  get hasContent(): boolean {
    return this.#last !== ''
  }

  ping(): string {
    return this.#whole.isBetween ? this.#protocol.frames.ping : ''
  }

  /** The response in the last event. Undefined: that has none. */
  lastResponse(): unknown {
    const event = this.#isOver ? parseData(this.#last) : undefined
    return isObject(event) ? event['response'] : undefined
  }

  #named(frames: Uint8Array): Uint8Array {
    const model = this.#model
    return model === undefined
      ? frames
      : joined([...framesIn(frames)].map(frame => renamed(frame, this.#protocol, model)))
  }

  #take(frame: Frame): void {
    const { data } = frame
    this.#data = data
    if (!data.trimStart().startsWith('{')) return
    this.#last = data
    // An event that ends a response has its finish reason. Events of other kinds may follow.
    if (data.includes('"status"') || data.includes('"error"'))
      this.#isOver ||= isLast(frame, this.#protocol)
  }
}

function bounded<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw error instanceof RangeError
      ? reject(502, 'internal', 'an event of the upstream stream is too long')
      : error
  }
}

/** The frame with another model name, if it has one. */
function renamed(bytes: Uint8Array, protocol: Protocol, model: string): Uint8Array {
  const text = textOf(bytes)
  const frame = text.includes('"model"') ? parseFrames(text).at(-1) : undefined
  const written = frame && renamedFrame(protocol, frame, model)
  return written ? encoded(written) : bytes
}

/** Does a stream end with this frame, well or with an error? */
function isLast({ data, event }: Frame, { streamDecoder }: Protocol): boolean {
  const state = streamDecoder.initial({})
  let last = false
  const take = (canonicalEvent: CanonicalEvent) => {
    last ||=
      canonicalEvent.type === 'error' || (canonicalEvent.type === 'end' && canonicalEvent.clean)
  }
  try {
    streamDecoder.step(state, named(parseData(data), event), take)
    streamDecoder.end(state, take)
  } catch {
    // It cannot be read.
  }
  return last
}
