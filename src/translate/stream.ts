import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Note } from '../canonical/note.ts'
import { mergeUsage, type Usage } from '../canonical/response.ts'
import { TranslationError } from '../errors.ts'
import { failedEnd } from '../kit/failed-reply.ts'
import { createReport } from '../kit/report.ts'
import type { FieldNames, Protocol, Signatures, StreamUsage } from '../protocol.ts'
import { named, parseData } from '../sse/data.ts'
import { createFrameParser, type Frame } from '../sse/parse.ts'
import { createFrameRewriter } from '../sse/rewrite.ts'
import { createTextReader } from '../sse/text.ts'
import { translateNotes } from './notes.ts'
import { restoreEvent, startRestoring } from './restore.ts'
import { createJsonWriter } from './retold.ts'
import { forbidden, keptId, type Settings } from './settings.ts'
import { copied, type Form, formOf, isTextDelta, matchForm, type TextDelta } from './shortcut.ts'

/** Bytes of one protocol's stream in, text of another's out; synchronous, one call for each network chunk. */
export type StreamTranslator = {
  /** What is due now; `''` when nothing is. Any split of the bytes gives the same text in all. */
  push(chunk: Uint8Array | string): string
  /** The source has ended: what is owed. A stream that was cut off ends as an error of the target protocol: as `why`, where that is known. */
  end(why?: CanonicalError): string
  /** A frame that keeps an idle connection open. */
  ping(): string
  readonly notes: Note[]
  readonly usage: Usage | undefined
  /** What the caller asked to keep itself, for the request that comes after this reply; complete when the stream is. */
  readonly signatures: Signatures
  /** The reply came to its own end. */
  readonly finished: boolean
  /** What came behind the end of the reply in the same piece, as far as it stands in frames of its own. */
  readonly after: string
  /** What the stream failed with. Set before its first output when the upstream failed at once. */
  readonly error: CanonicalError | undefined
  /** What its answer failed with by its own word, where it came to its end all the same. */
  readonly failedEnd: CanonicalError | undefined
}

/** How many frames that do not even look like JSON are passed over before the stream counts as broken. */
const unreadableLimit = 3

/** After so many forms in vain a stream is taken for one whose frames never repeat. */
const patience = 8

/**
 * Reads a stream into canonical events; never throws for what the upstream sent.
 *
 * `again` is given a delta that came in the same form as the one before, with its text as JSON writes it; the delta changes with
 * the next one. Absent: `emit` is given a copy.
 */
export function createStreamReader(
  from: Protocol,
  { maxEventLength, ...options }: Settings,
  emit: (event: CanonicalEvent) => void,
  again: (delta: TextDelta, literal: string) => void = delta => emit(copied(delta)),
) {
  const { streamDecoder, shortcut } = from
  const state = streamDecoder.initial(options)
  const seen: {
    usage?: Usage
    error?: CanonicalError
    failedEnd?: CanonicalError | undefined
    unheard: boolean
    ended: boolean
    clean: boolean
    after: string
  } = {
    unheard: false,
    ended: false,
    clean: false,
    after: '',
  }
  const report = createReport('translate', translateNotes)
  let unreadable = 0
  let ending = false
  let cutBy: CanonicalError | undefined
  let begun = false
  const taken: { events: number; last: CanonicalEvent | undefined; frames: number } = { events: 0, last: undefined, frames: 0 }
  const take = (event: CanonicalEvent) => {
    if (seen.ended) return
    taken.events++
    taken.last = event
    // A stream that fails before it says anything is one all the same.
    if (!begun && event.type !== 'start') emit({ type: 'start' })
    begun = true
    if (event.type === 'usage') seen.usage = mergeUsage(seen.usage, event.usage)
    else if (event.type === 'error') {
      seen.error = event.error
      seen.unheard = event.unheard === true
    } else if (event.type === 'finish') seen.failedEnd ??= failedEnd(event.finish)
    else if (event.type === 'end') {
      if (cutBy && !event.clean && !seen.error) take({ type: 'error', error: cutBy })
      seen.ended = true
      seen.clean = event.clean
    }
    emit(event)
  }
  const failWith = (error: CanonicalError) => {
    if (seen.ended) return
    take({ type: 'error', error })
    take({ type: 'end', clean: false })
  }
  const fail = (message: string) => failWith({ status: 502, kind: 'internal', message })
  const guarded = (act: () => void) => {
    try {
      act()
    } catch (error) {
      if (error instanceof RangeError) fail('an event of the upstream stream is too long')
      else if (TranslationError.is(error)) fail(`the upstream stream cannot be read: ${error.message}`)
      else throw error
    }
  }
  const takeFrame = ({ event, data }: Frame) => {
    if (seen.ended) return
    const wire = parseData(data)
    if (wire === undefined) {
      report.add('stream.unreadable-frame', undefined)
      // What began as an event held a piece of the reply; the last one may have been cut off, which is told as that.
      const isDamaged = !ending && data.trimStart().startsWith('{')
      if (++unreadable >= unreadableLimit || isDamaged) fail('the upstream stream cannot be read')
    } else guarded(() => streamDecoder.step(state, named(wire, event), take))
    if (!seen.ended || seen.clean) taken.frames++
  }
  const parser = createFrameParser(takeFrame, maxEventLength === undefined ? {} : { maxLength: maxEventLength })

  const bytes = createTextReader()
  let form: Form | undefined
  let isBetweenFrames = true
  let uses = 0
  let vain = 0
  const notes = () => state.notes.length + report.notes.length
  /** Takes a frame that has the form of the one before; undefined: it has not. */
  const repeat = (text: string, at: number): number | undefined => {
    const end = form && isBetweenFrames && !seen.ended ? matchForm(form, text, at) : undefined
    if (!form || end === undefined || (maxEventLength !== undefined && end - at > maxEventLength)) return undefined
    if (!shortcut?.read(state, form.delta)) return undefined
    uses++
    taken.frames++
    again(form.delta, form.literal)
    return end
  }
  let gap = '\n\n'
  /** Where the next frame begins, whichever line ends the source has; -1: it has not come yet. */
  const endOfFrame = (text: string, at: number): number => {
    let end = text.indexOf(gap, at)
    if (end === -1) {
      const other = gap === '\n\n' ? '\r\n\r\n' : '\n\n'
      end = text.indexOf(other, at)
      if (end !== -1) gap = other
    }
    return end === -1 ? -1 : end + gap.length
  }
  const takeText = (text: string) => {
    let at = 0
    while (at < text.length) {
      const next = repeat(text, at)
      if (next !== undefined) {
        at = next
        continue
      }
      const end = endOfFrame(text, at)
      const frame = end === -1 ? text.slice(at) : text.slice(at, end)
      const [told, noted] = [taken.events, notes()]
      const wasEnded = seen.ended
      guarded(() => parser.push(frame))
      if (seen.ended && !wasEnded) seen.after = text.slice(at + frame.length)
      const isWhole = isBetweenFrames && end !== -1
      isBetweenFrames = end !== -1
      at += frame.length
      const { last } = taken
      if (!shortcut || !isWhole || taken.events !== told + 1 || !last || !isTextDelta(last) || noted !== notes()) continue
      if (form) vain = uses === 0 ? vain + 1 : 0
      uses = 0
      form = vain < patience ? formOf(frame, copied(last), shortcut) : undefined
    }
  }
  return {
    push(chunk: Uint8Array | string) {
      const text = bytes.read(chunk)
      if (shortcut) takeText(text)
      else guarded(() => parser.push(text))
    },
    end(why?: CanonicalError) {
      ending = true
      cutBy = why
      guarded(() => parser.push(bytes.end()))
      guarded(() => parser.end())
      guarded(() => streamDecoder.end(state, take))
      if (!seen.ended) take({ type: 'end', clean: false })
    },
    /** Ends the stream as failed, even where its end is being told. */
    refuse(error: CanonicalError) {
      seen.ended = false
      failWith(error)
    },
    seen,
    /** How many frames were taken before one broke the stream off. */
    frames: () => taken.frames,
    notes: () => [...state.notes, ...report.notes],
    places: () => state.places,
    /** Of frames that nobody could read. */
    unreadable: () => report.notes,
  }
}

/** `watched`: whoever asks passes the chunks on himself, between equal protocols, and is given only what is owed at the end. */
type Watching = Settings & { watched?: boolean }

/** Two machines as one. Between two equal protocols bytes pass as they are; only an unclean end adds something. */
export function createStreamTranslator(from: Protocol, to: Protocol, options: Watching): StreamTranslator {
  return from === to ? passThrough(from, options) : translate(from, to, options)
}

function translate(from: Protocol, to: Protocol, { model, strict, renewId, ...options }: Settings): StreamTranslator {
  const { streamEncoder, frames } = to
  const begin = (places?: FieldNames) => streamEncoder.initial({ ...options, fieldNames: { ...from.fieldNames, ...places } })
  let encoding = begin()
  const { tools, request } = options.context ?? {}
  const restoring = startRestoring(tools)
  let out = ''
  const json = createJsonWriter()
  const write = (wire: unknown) => {
    out += typeof wire === 'string' ? frames.write(wire) : frames.wrap(json(wire), wire)
  }
  const encode = (event: CanonicalEvent) => streamEncoder.step(encoding, event, write)
  const take = (event: CanonicalEvent) => {
    if (event.type === 'start') {
      const { id, ...start } = event
      const named = model ?? event.model ?? request?.model
      const places = reader.places()
      if (places) encoding = begin(places)
      encode({ ...start, ...keptId(id, renewId), ...(named !== undefined && { model: named }) })
    } else restoreEvent(restoring, event, encode)
  }
  const notes = () => [...reader.notes(), ...restoring.notes, ...encoding.notes]
  const unwanted = () => (strict && !reader.seen.error ? forbidden(notes(), strict) : undefined)
  const refuse = ({ reason, code, path }: Note) =>
    reader.refuse({ status: 502, kind: 'unsupported', message: `refused by strict: ${reason} (${code}${path && ` at ${path}`})` })
  /** What was written before stays; an end that must not be told as one is taken back. */
  const takeStrictly = (event: CanonicalEvent) => {
    const early = unwanted()
    if (early) {
      if (event.type === 'start') take(event)
      return refuse(early)
    }
    const isEnding = event.type === 'finish' || event.type === 'end'
    const before = isEnding ? { encoding: structuredClone(encoding), out } : undefined
    take(event)
    const late = unwanted()
    if (!late) return
    if (before) {
      encoding = { ...before.encoding, notes: encoding.notes }
      out = before.out
    }
    refuse(late)
  }
  const takeAgain = (delta: TextDelta, literal: string) => {
    const text = tools && delta.delta.kind === 'input' ? undefined : to.shortcut?.write(encoding, delta, literal)
    if (text === undefined) take(copied(delta))
    else out += text
  }
  const reader = strict ? createStreamReader(from, options, takeStrictly) : createStreamReader(from, options, take, takeAgain)
  const due = () => {
    const text = out
    out = ''
    return text
  }
  return {
    push(chunk) {
      reader.push(chunk)
      const late = reader.seen.ended ? undefined : unwanted()
      if (late) refuse(late)
      return due()
    },
    end(why) {
      reader.end(why)
      streamEncoder.end(encoding, write)
      return due()
    },
    ping: () => frames.ping,
    get notes() {
      return notes()
    },
    get signatures() {
      return encoding.signatures ?? {}
    },
    get usage() {
      return reader.seen.usage
    },
    get finished() {
      return reader.seen.clean
    },
    get after() {
      return reader.seen.after
    },
    get error() {
      return reader.seen.error
    },
    get failedEnd() {
      return reader.seen.failedEnd
    },
  }
}

function passThrough(protocol: Protocol, { model, hideUsage, watched, ...options }: Watching): StreamTranslator {
  const { frames, streamUsage } = protocol
  const reader = createStreamReader(protocol, options, () => {})
  const bytes = createTextReader()
  // Comments fall out with the counts: they are no beginning of an answer.
  const filter = hideUsage && streamUsage ? createFrameRewriter(frame => (!/^data/m.test(frame) || isCounts(frame, streamUsage) ? '' : frame)) : undefined
  const shown = (out: string) => (filter ? filter.push(out) : out)
  /** The upstream said itself what it failed with. */
  const isTold = () => reader.seen.error?.protocol === protocol.name && !reader.seen.unheard
  const isBroken = () => reader.seen.ended && !reader.seen.clean && !isTold()
  let renamed = ''
  let count = 0
  const renamer =
    model === undefined
      ? undefined
      : createFrameParser(({ data, event }) => {
          // What broke the stream off goes no further, nor does what came behind it.
          if (count++ >= reader.frames() && isBroken()) return
          const wire = parseData(data)
          if (wire !== undefined) renamed += frames.write(protocol.withModel(frames.named ? named(wire, event) : wire, model))
        })
  const rename = (act: () => void): string => {
    renamed = ''
    try {
      act()
    } catch (tooLong) {
      // The reader has told of it.
      if (!(tooLong instanceof RangeError)) throw tooLong
    }
    return renamed
  }
  return {
    push(chunk) {
      const wasBroken = isBroken()
      reader.push(chunk)
      if (watched) return ''
      if (!renamer) return shown(bytes.read(chunk))
      return wasBroken ? '' : shown(rename(() => renamer.push(chunk)))
    },
    end(why) {
      reader.end(why)
      const rest = shown(renamer ? rename(() => renamer.end()) : bytes.end()) + (filter?.end() ?? '')
      const { clean, error } = reader.seen
      if (clean || isTold()) return rest
      const failure = error ?? { status: 502, kind: 'internal' as const, message: 'upstream stream ended early' }
      return `${rest}\n\n${frames.failure(failure)}`
    },
    ping: () => frames.ping,
    // What reading would have made of them is not what the bytes say.
    get notes() {
      return reader.unreadable()
    },
    signatures: {},
    get usage() {
      return reader.seen.usage
    },
    get finished() {
      return reader.seen.clean
    },
    get after() {
      return reader.seen.after
    },
    get error() {
      return reader.seen.error
    },
    get failedEnd() {
      return reader.seen.failedEnd
    },
  }
}

/** A chunk of text or arguments is told apart without being parsed. */
function isCounts(frame: string, { isOnlyCounts }: StreamUsage): boolean {
  if (!frame.includes('usage')) return false
  let only = false
  const parser = createFrameParser(({ data }) => {
    only = isOnlyCounts(parseData(data))
  })
  parser.push(frame)
  parser.end()
  return only
}
