import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Note } from '../canonical/note.ts'
import { mergeUsage, type Usage } from '../canonical/response.ts'
import { TranslationError } from '../errors.ts'
import { failedEnd } from '../kit/failed-reply.ts'
import { createReport } from '../kit/report.ts'
import type { Emit, FieldNames, MachineState, Protocol } from '../protocol.ts'
import { named, parseData } from '../sse/data.ts'
import { createFrameParser, type Frame, type FrameParser } from '../sse/parse.ts'
import { createTextReader } from '../sse/text.ts'
import { translateNotes } from './notes.ts'
import type { Settings } from './settings.ts'
import { copied, type Form, formOf, isTextDelta, matchForm, type TextDelta } from './shortcut.ts'

/** What is known of a stream so far. */
export type Seen = {
  usage?: Usage
  /** What it failed with. */
  error?: CanonicalError
  /** It told its failure in words that clients of its protocol do not look for. */
  unheard: boolean
  /** What its answer failed with by its own finish reason, though the stream came to its end. */
  failedEnd?: CanonicalError | undefined
  ended: boolean
  /** It ended by saying so, and not in an error. */
  clean: boolean
  /** The reply said how it ended, but the frame that closes a stream of its protocol (`[DONE]`, say) never came. */
  lacksEnding: boolean
  /** What came behind its end in the same piece of text, as far as it stands in frames of its own. */
  after: string
}

/** How many frames that do not even look like JSON are passed over before the stream counts as broken. */
const unreadableLimit = 3

/** So many forms in a row that no frame repeated, and the stream is taken for one whose frames never repeat. */
const patience = 8

/**
 * Reads a stream into canonical events; never throws for what the upstream sent.
 *
 * `repeated` is given each text delta whose frame has the same form as the one before, with its text as JSON writes it. The
 * delta is one object that changes with the next: copy what you keep. Absent: `emit` is given a copy.
 */
export function createStreamReader(
  from: Protocol,
  settings: Settings,
  emit: Emit<CanonicalEvent>,
  repeated: (delta: TextDelta, literal: string) => void = delta => emit(copied(delta)),
): StreamReader {
  return new StreamReader(from, settings, emit, repeated)
}

/** Chunks → frames → events. Frames that repeat the form of the one before are not parsed: see `shortcut.ts`. */
export class StreamReader {
  readonly seen: Seen
  readonly #frames: FrameReader
  readonly #chunks = createTextReader()
  readonly #shortcut: Protocol['shortcut']
  readonly #maxEventLength: number
  readonly #repeated: (delta: TextDelta, literal: string) => void
  #isBetweenFrames = true
  /** The blank line between two frames, in this source's line ends. */
  #gap = '\n\n'
  #form: Form | undefined
  /** How many frames had the form. */
  #uses = 0
  /** How many forms in a row had none. */
  #vain = 0

  constructor(from: Protocol, settings: Settings, emit: Emit<CanonicalEvent>, repeated: (delta: TextDelta, literal: string) => void) {
    this.#frames = new FrameReader(from, settings, emit)
    this.seen = this.#frames.seen
    this.#shortcut = from.shortcut
    this.#maxEventLength = settings.maxEventLength ?? Infinity
    this.#repeated = repeated
  }

  push(chunk: Uint8Array | string): void {
    const text = this.#chunks.read(chunk)
    if (!this.#shortcut) this.#frames.push(text)
    else for (let at = 0; at < text.length; ) at = this.#takeRepeated(text, at) ?? this.#takeFrame(text, at)
  }

  /** The source has ended; `why`: what cut it off, where that is known and it had not ended by itself. */
  end(why?: CanonicalError): void {
    this.#frames.end(this.#chunks.end(), why)
  }

  /** Ends the stream as failed, even where its end is being told. */
  refuse(error: CanonicalError): void {
    this.seen.ended = false
    this.#frames.fail(error)
  }

  /** How many frames were taken before one broke the stream off. */
  frames(): number {
    return this.#frames.count
  }

  notes(): Note[] {
    return [...this.#frames.state.notes, ...this.#frames.report.notes]
  }

  /** Where fields stand in this stream, if not where its protocol says. */
  places(): FieldNames | undefined {
    return this.#frames.state.places
  }

  /** The notes of frames that nobody could read. */
  unreadable(): Note[] {
    return this.#frames.report.notes
  }

  /** Takes a frame that has the form of the one before. Gives where the next one begins; undefined: it has another form. */
  #takeRepeated(text: string, at: number): number | undefined {
    const form = this.#form
    if (!form || !this.#isBetweenFrames || this.seen.ended) return undefined
    const end = matchForm(form, text, at)
    if (end === undefined || end - at > this.#maxEventLength) return undefined
    if (!this.#shortcut?.read(this.#frames.state, form.delta)) return undefined
    this.#uses++
    this.#frames.count++
    this.#repeated(form.delta, form.literal)
    return end
  }

  /** Takes the text up to the end of this frame, or all there is of it yet. Gives where it stopped. */
  #takeFrame(text: string, at: number): number {
    const { seen } = this
    const found = this.#endOfFrame(text, at)
    const end = found ?? text.length
    const frame = text.slice(at, end)
    const told = this.#frames.events
    const noted = this.#frames.noteCount()
    const wasEnded = seen.ended
    this.#frames.push(frame)
    if (seen.ended && !wasEnded) seen.after = text.slice(end)
    const isWhole = this.#isBetweenFrames && found !== undefined
    this.#isBetweenFrames = found !== undefined
    if (isWhole && this.#frames.events === told + 1 && noted === this.#frames.noteCount()) this.#learnForm(frame)
    return end
  }

  /** The frame told one event and nothing else: the next one may be like it. */
  #learnForm(frame: string): void {
    const { last } = this.#frames
    if (!this.#shortcut || !last || !isTextDelta(last)) return
    if (this.#form) this.#vain = this.#uses === 0 ? this.#vain + 1 : 0
    this.#uses = 0
    this.#form = this.#vain < patience ? formOf(frame, copied(last), this.#shortcut) : undefined
  }

  /** Where the next frame begins, whichever line ends the source has; undefined: it has not come yet. */
  #endOfFrame(text: string, at: number): number | undefined {
    let end = text.indexOf(this.#gap, at)
    if (end === -1) {
      const other = this.#gap === '\n\n' ? '\r\n\r\n' : '\n\n'
      end = text.indexOf(other, at)
      if (end !== -1) this.#gap = other
    }
    return end === -1 ? undefined : end + this.#gap.length
  }
}

/** Frames → events: what a decoder makes of them, and what becomes of a stream that it cannot read. */
class FrameReader {
  readonly seen: Seen = { unheard: false, ended: false, clean: false, lacksEnding: false, after: '' }
  readonly state: MachineState
  readonly report = createReport('translate', translateNotes)
  /** How many frames were taken before one broke the stream off. */
  count = 0
  /** How many events were told, and the last of them. */
  events = 0
  last: CanonicalEvent | undefined
  readonly #decoder: Protocol['streamDecoder']
  readonly #parser: FrameParser
  readonly #emit: Emit<CanonicalEvent>
  #begun = false
  #isEnding = false
  #cutBy: CanonicalError | undefined
  #unreadable = 0

  constructor({ streamDecoder }: Protocol, { maxEventLength, ...options }: Settings, emit: Emit<CanonicalEvent>) {
    this.#decoder = streamDecoder
    this.state = streamDecoder.initial(options)
    this.#emit = emit
    this.#parser = createFrameParser(frame => this.#takeFrame(frame), maxEventLength === undefined ? {} : { maxLength: maxEventLength })
  }

  noteCount(): number {
    return this.state.notes.length + this.report.notes.length
  }

  push(text: string): void {
    try {
      this.#parser.push(text)
    } catch (error) {
      this.#failBy(error)
    }
  }

  end(rest: string, why: CanonicalError | undefined): void {
    this.#isEnding = true
    this.#cutBy = why
    this.push(rest)
    try {
      this.#parser.end()
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

  #takeFrame({ event, data }: Frame): void {
    const { seen } = this
    if (seen.ended) return
    const wire = parseData(data)
    if (wire === undefined) this.#passOver(data)
    else {
      try {
        this.#decoder.step(this.state, named(wire, event), this.#take)
      } catch (error) {
        this.#failBy(error)
      }
    }
    if (!seen.ended || seen.clean) this.count++
  }

  /** What began as an event held a piece of the reply; but the very last one may have been cut off, and is told as a cut. */
  #passOver(data: string): void {
    this.report.add('stream.unreadable-frame', undefined)
    const isDamaged = !this.#isEnding && data.trimStart().startsWith('{')
    if (++this.#unreadable >= unreadableLimit || isDamaged) this.#failWith('the upstream stream cannot be read')
  }

  readonly #take = (event: CanonicalEvent): void => {
    const { seen } = this
    if (seen.ended) return
    this.events++
    this.last = event
    // A stream that fails before it says anything is one all the same.
    if (!this.#begun && event.type !== 'start') this.#emit({ type: 'start' })
    this.#begun = true
    if (event.type === 'usage') seen.usage = mergeUsage(seen.usage, event.usage)
    else if (event.type === 'error') {
      seen.error = event.error
      seen.unheard = event.unheard === true
    } else if (event.type === 'finish') seen.failedEnd ??= failedEnd(event.finish)
    else if (event.type === 'end') {
      if (this.#cutBy && !event.clean && !seen.error) this.#take({ type: 'error', error: this.#cutBy })
      seen.ended = true
      seen.clean = event.clean
    }
    this.#emit(event)
  }

  #failBy(error: unknown): void {
    if (error instanceof RangeError) this.#failWith('an event of the upstream stream is too long')
    else if (TranslationError.is(error)) this.#failWith(`the upstream stream cannot be read: ${error.message}`)
    else throw error
  }

  #failWith(message: string): void {
    this.fail({ status: 502, kind: 'internal', message })
  }
}
