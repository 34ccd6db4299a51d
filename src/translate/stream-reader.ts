import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalEvent, PartDelta, PartEnd, PartStart } from '../canonical/event.ts'
import type { Part } from '../canonical/message.ts'
import type { Note } from '../canonical/note.ts'
import { mergeUsage, type Usage } from '../canonical/response.ts'
import { TranslationError } from '../errors.ts'
import { failedEnd, unreadable } from '../kit/errors/failed-response.ts'
import { optionsFor } from '../kit/fields/option-groups.ts'
import { refuseNoChunk } from '../kit/json/wrong-input.ts'
import { createReport } from '../kit/notes/report.ts'
import type { Emit, FieldNames, MachineState, UpstreamHalf } from '../protocol.ts'
import { partOf, textOf } from '../sse/bytes.ts'
import { named, parseData } from '../sse/data.ts'
import { type Frame, FrameFields } from '../sse/fields.ts'
import { FrameSplitter } from '../sse/split.ts'
import { createTextReader } from '../sse/text.ts'
import { translateNotes } from './notes.ts'
import type { Settings } from './settings.ts'
import { copied, type Form, formOf, isTextDelta, matchForm, type TextDelta } from './shortcut.ts'

/** The state of a stream so far. */
export type Seen = {
  /** The id of the response. */
  id?: string | undefined
  usage?: Usage
  /** Text, reasoning and input of tools so far: about so many bytes. */
  written: number
  /** A part of a message has begun. */
  hasContent: boolean
  /** The error it ended with. */
  error?: CanonicalError
  /** It reported the error in a form that clients of its protocol do not recognize. */
  unrecognized: boolean
  /** The error that the finish reason reports, in a stream that ended properly. */
  failedEnd?: CanonicalError | undefined
  ended: boolean
  /** It ended properly: not cut off, and not with an error. */
  clean: boolean
  /** The response ended properly, but the last frame of its protocol (e.g. `[DONE]`) is missing. */
  lacksEnding: boolean
  /** True at the end if the bytes after the last blank line are not a parseable frame. */
  cutFrame: boolean
  /** Further frames in the same chunk after the end of the response. */
  after: string
}

/** What is read of a protocol. */
export type StreamSource = Pick<
  UpstreamHalf,
  'optionsKey' | 'streamDecoder' | 'shortcut' | 'framing'
>

/** After this many frames that do not look like JSON the stream counts as broken. */
const unreadableLimit = 3

/** After this many learned forms in a row that no other frame had, the reader learns no more. */
const unusedFormLimit = 8

/**
 * Reads a stream into canonical events; never throws because of what the upstream sent.
 *
 * `repeated` gets each text delta whose frame has the same form as the one before, with its text as
 * a JSON string. The object is reused for the next delta: copy it to keep it. Absent: `emit` gets a
 * copy.
 */
export function createStreamReader(
  from: StreamSource,
  settings: Settings,
  emit: Emit<CanonicalEvent>,
  repeated: (delta: TextDelta, literal: string) => void = delta => emit(copied(delta)),
): StreamReader {
  return new StreamReader(from, settings, emit, repeated)
}

/**
 * Chunks → frames → events. Frames of the same form as the one before are not parsed: see
 * `shortcut.ts`.
 */
export class StreamReader {
  readonly seen: Seen
  protected readonly frameReader: FrameReader
  readonly #splitter = new FrameSplitter()
  readonly #text = createTextReader()
  readonly #decode: ((chunk: Uint8Array | string) => Uint8Array | string) | undefined
  protected readonly shortcut: UpstreamHalf['shortcut']
  protected readonly maxEventLength: number
  readonly #repeated: (delta: TextDelta, literal: string) => void
  protected isBetweenFrames = true
  /**
   * Chunks come as text, which may have half of a surrogate pair: it is written in another way than
   * it was read.
   */
  #isText = false
  /** The form of the frame before. */
  protected form: Form | undefined
  /** The number of frames that had the form. */
  protected uses = 0
  /** The number of forms in a row that no other frame had. */
  #vain = 0

  constructor(
    from: StreamSource,
    settings: Settings,
    emit: Emit<CanonicalEvent>,
    repeated: (delta: TextDelta, literal: string) => void,
  ) {
    this.frameReader = new FrameReader(from, settings, emit)
    this.seen = this.frameReader.seen
    this.#decode = from.framing?.decode()
    this.shortcut = from.shortcut
    this.maxEventLength = settings.maxEventLength ?? Infinity
    this.#repeated = repeated
  }

  /** Returns where the last frame ends that ends in this chunk, or 0. */
  push(given: Uint8Array | string): number {
    refuseNoChunk(given)
    const chunk = this.#decode ? this.#decode(given) : given
    if (typeof chunk !== 'string') return this.readBytes(chunk)
    this.#isText = true
    return this.#read(chunk)
  }

  /** Set when the stream is one JSON list. */
  get list(): FrameSplitter['list'] {
    return this.#splitter.list
  }

  /** See `StreamTranslator`. */
  get finishes(): number {
    return this.frameReader.state.finishes ?? 0
  }

  get usage(): Usage | undefined {
    return this.seen.usage
  }

  get id(): string | undefined {
    return this.seen.id
  }

  get written(): number {
    return this.seen.written
  }

  /** See `MachineState`. */
  get lacksFailure(): boolean {
    return this.frameReader.state.lacksFailure === true
  }

  /** The response ended properly. */
  get finished(): boolean {
    return this.seen.clean
  }

  /** The source has ended. `why`: the reason, when it is known and the response had not ended. */
  end(why?: CanonicalError): void {
    this.frameReader.end(this.#text.end(), this.list !== undefined, why)
  }

  /** Ends the stream with an error, even while its end is being emitted. */
  refuse(error: CanonicalError): void {
    this.seen.ended = false
    this.frameReader.fail(error)
  }

  /** The number of frames, without one that made the stream fail or was cut off. */
  frames(): number {
    return this.frameReader.count
  }

  /** Notes are only ever added to these lists. */
  noteLists(): Note[][] {
    return [this.frameReader.state.notes, this.frameReader.report.notes]
  }

  notes(): Note[] {
    return this.noteLists().flat()
  }

  /** Names of fields that differ from the protocol's own table. */
  places(): FieldNames | undefined {
    return this.frameReader.state.places
  }

  /** The notes about frames that are not JSON. */
  unreadable(): Note[] {
    return this.frameReader.report.notes
  }

  protected readBytes(bytes: Uint8Array): number {
    return this.#read(this.#text.read(bytes))
  }

  #read(text: string): number {
    let whole = 0
    for (let from = 0; from < text.length; ) {
      from = this.#takeRepeated(text, from) ?? this.takeFrame(text, from)
      if (this.isBetweenFrames) whole = from
    }
    return whole
  }

  /**
   * Reads a frame of the same form as the one before. Returns where the next one begins; undefined:
   * it has another form.
   */
  #takeRepeated(text: string, from: number): number | undefined {
    const form = this.form
    if (!form || !this.isBetweenFrames || this.seen.ended) return undefined
    const to = matchForm(form, text, from)
    if (to === undefined || to - from > this.maxEventLength) return undefined
    if (this.#isText && !form.literal.isWellFormed()) return undefined
    if (!this.shortcut?.read(this.frameReader.state, form.delta)) return undefined
    this.uses++
    this.frameReader.count++
    this.seen.written += lengthOf(form.literal)
    this.#repeated(form.delta, form.literal)
    return to
  }

  /** Reads up to the end of this frame, or to the end of the chunk. Returns where it stopped. */
  protected takeFrame(chunk: Uint8Array | string, from: number): number {
    const { seen } = this
    const end = this.#splitter.next(chunk, from)
    const isEnd = end >= 0
    const to = isEnd ? end : chunk.length
    const frame = this.#text.read(partOf(chunk, from, to))
    const eventsBefore = this.frameReader.events
    const notesBefore = this.frameReader.noteCount()
    const finishesBefore = this.finishes
    const wasEnded = seen.ended
    this.frameReader.take(frame, isEnd, this.list !== undefined)
    if (seen.ended && !wasEnded)
      seen.after = typeof chunk === 'string' ? chunk.slice(to) : textOf(chunk.subarray(to))
    const isWhole = this.isBetweenFrames && isEnd
    this.isBetweenFrames = isEnd
    const isPlain =
      this.frameReader.events === eventsBefore + 1 && notesBefore === this.frameReader.noteCount()
    const { last } = this.frameReader
    // Each finish reason has to be seen.
    const delta =
      isPlain && finishesBefore === this.finishes && last && isTextDelta(last) ? last : undefined
    if (isEnd) this.#follow(delta, isWhole ? frame : undefined)
    return to
  }

  /**
   * Keeps, learns or forgets the form after a frame that was parsed. Such a frame may change what
   * the next ones mean to the decoder, so only a delta for the same place keeps it. `delta`: the
   * only event of the frame. `frame`: its text, if it is in one chunk.
   */
  #follow(delta: TextDelta | undefined, frame: string | undefined): void {
    const isSame =
      delta !== undefined && this.form !== undefined && isForSame(delta, this.form.delta)
    if (isSame && frame === undefined) return
    if (this.form) this.#vain = this.uses === 0 ? this.#vain + 1 : 0
    this.uses = 0
    this.form =
      delta && frame !== undefined && this.shortcut && this.#vain < unusedFormLimit
        ? formOf(frame, copied(delta), this.shortcut)
        : undefined
  }
}

const isForSame = (one: TextDelta, { part, delta }: TextDelta): boolean =>
  one.part === part && one.delta.kind === delta.kind && segmentOf(one.delta) === segmentOf(delta)

const segmentOf = (delta: TextDelta['delta']): number | undefined =>
  delta.kind === 'reasoning' ? delta.segment : undefined

/** About the length in UTF-8: a letter of a dense script has three bytes there. */
const lengthOf = (text: string): number =>
  text.charCodeAt(text.length >> 1) > 0x2e7f ? 3 * text.length : text.length

function contentOf(part: Part): number {
  if (part.type === 'text' || part.type === 'refusal') return lengthOf(part.text)
  if (part.type === 'tool-call') return lengthOf(part.input)
  return part.type === 'reasoning'
    ? part.segments.reduce((sum, { text }) => sum + lengthOf(text), 0)
    : 0
}

/**
 * Frames → events, by the decoder of the protocol. A stream that cannot be read ends with an error.
 */
class FrameReader {
  readonly seen: Seen = {
    written: 0,
    hasContent: false,
    unrecognized: false,
    ended: false,
    clean: false,
    lacksEnding: false,
    cutFrame: false,
    after: '',
  }
  readonly state: MachineState
  readonly report = createReport('translate', translateNotes)
  /** The number of frames, without one that made the stream fail or was cut off. */
  count = 0
  /** The number of events emitted; `last`: the last of them. */
  events = 0
  last: CanonicalEvent | undefined
  readonly #decoder: UpstreamHalf['streamDecoder']
  readonly #fields: FrameFields
  readonly #emit: Emit<CanonicalEvent>
  #begun = false
  #isEnding = false
  #cutBy: CanonicalError | undefined
  #unreadable = 0
  /** `seen.written` at the start of the last part. */
  #beforePart = 0

  constructor(protocol: StreamSource, settings: Settings, emit: Emit<CanonicalEvent>) {
    this.#decoder = protocol.streamDecoder
    this.state = protocol.streamDecoder.initial(optionsFor(protocol, settings))
    this.#emit = emit
    this.#fields = new FrameFields(frame => this.#takeFrame(frame), settings.maxEventLength)
  }

  noteCount(): number {
    return this.state.notes.length + this.report.notes.length
  }

  /** See `FrameFields`. */
  take(text: string, isEnd: boolean, isList: boolean): void {
    try {
      this.#fields.take(text, isEnd, isList)
    } catch (error) {
      this.#failBy(error)
    }
  }

  end(rest: string, isList: boolean, why: CanonicalError | undefined): void {
    this.#isEnding = true
    this.seen.cutFrame = true
    this.#cutBy = why
    this.take(rest, false, isList)
    try {
      this.#fields.end()
    } catch (error) {
      this.#failBy(error)
    }
    const wasEnded = this.seen.ended
    try {
      this.#decoder.end(this.state, this.#take)
    } catch (error) {
      this.#failBy(error)
    }
    this.seen.lacksEnding = this.seen.clean && !wasEnded
    if (!this.seen.ended) this.#take({ type: 'end', clean: false })
  }

  fail(error: CanonicalError): void {
    if (this.seen.ended) return
    this.#take({ type: 'error', error })
    this.#take({ type: 'end', clean: false })
  }

  #takeFrame({ event, data, bare }: Frame): void {
    const { seen } = this
    if (seen.ended && !this.#isEnding) return
    const wire = parseData(data)
    seen.cutFrame = this.#isEnding && wire === undefined
    if (seen.ended) return
    if (wire === undefined) this.#passOver(data)
    else {
      try {
        this.#decoder.step(this.state, named(wire, event), this.#take)
        if (bare && seen.error) seen.unrecognized = true
      } catch (error) {
        this.#failBy(error)
      }
    }
    if ((!seen.ended || seen.clean) && !seen.cutFrame) this.count++
  }

  /**
   * A damaged event means that a chunk of the response is lost. Only the very last one may simply
   * have been cut off.
   */
  #passOver(data: string): void {
    this.report.add('stream.unreadable-frame', undefined)
    const isDamaged = !this.#isEnding && data.trimStart().startsWith('{')
    if (++this.#unreadable >= unreadableLimit || isDamaged) this.#failWith(unreadable)
  }

  readonly #take = (event: CanonicalEvent): void => {
    const { seen } = this
    if (seen.ended) return
    this.events++
    this.last = event
    // A stream that fails at once still needs a start.
    if (!this.#begun && event.type !== 'start') this.#emit({ type: 'start' })
    this.#begun = true
    if (event.type === 'part.delta' || event.type === 'part.start' || event.type === 'part.end')
      this.#measure(event)
    else if (event.type === 'usage') seen.usage = mergeUsage(seen.usage, event.usage)
    else if (event.type === 'start') seen.id = event.id
    else if (event.type === 'error') {
      seen.error = event.error
      seen.unrecognized = event.unrecognized === true
    } else if (event.type === 'finish' && event.candidate === 0)
      seen.failedEnd ??= failedEnd(event.finish)
    else if (event.type === 'end') {
      if (this.#cutBy && !event.clean && !seen.error)
        this.#take({ type: 'error', error: this.#cutBy })
      seen.ended = true
      seen.clean = event.clean
    }
    this.#emit(event)
  }

  #measure(event: PartStart | PartDelta | PartEnd): void {
    const { seen } = this
    seen.hasContent = true
    if (event.type === 'part.delta') {
      if ('text' in event.delta) seen.written += lengthOf(event.delta.text)
      else if (event.delta.kind === 'whole') seen.written += contentOf(event.delta.whole)
    } else if (event.type === 'part.start') {
      this.#beforePart = seen.written
      seen.written += contentOf(event.head)
      // Some upstreams send a part only once, at its end.
    } else if (event.final)
      seen.written = Math.max(seen.written, this.#beforePart + contentOf(event.final))
  }

  #failBy(error: unknown): void {
    if (error instanceof RangeError) this.#failWith('an event of the upstream stream is too long')
    else if (TranslationError.is(error)) this.#failWith(`${unreadable}: ${error.message}`)
    else throw error
  }

  #failWith(message: string): void {
    this.fail({ status: 502, kind: 'internal', message })
  }
}
