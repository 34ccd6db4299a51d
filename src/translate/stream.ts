import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Note } from '../canonical/note.ts'
import type { Usage } from '../canonical/response.ts'
import { endedEarly } from '../kit/failed-reply.ts'
import type { FieldNames, Protocol, Signatures, StreamUsage } from '../protocol.ts'
import { parseData } from '../sse/data.ts'
import { escapeLineSeparators } from '../sse/line-separators.ts'
import { createFrameParser } from '../sse/parse.ts'
import { createFrameRewriter } from '../sse/rewrite.ts'
import { createTextReader } from '../sse/text.ts'
import { beforeDone, WholeFrames } from '../sse/whole-frames.ts'
import { createJsonWriter } from './json-writer.ts'
import { ofRenewedId } from './notes.ts'
import { renamedFrame } from './renamed-frame.ts'
import { restoreEvent, startRestoring } from './restore.ts'
import { forbidden, keptId, type Settings } from './settings.ts'
import { copied, type TextDelta } from './shortcut.ts'
import { createStreamReader, type Seen, type StreamReader } from './stream-reader.ts'
import { endsUnusable, type UsableState, unusableCalls } from './unusable-calls.ts'

/** Bytes of a stream in one protocol in, text of a stream in another one out; synchronous, one call per network chunk. */
export type StreamTranslator = {
  /** Returns the text to send now, possibly `''`. The split of the bytes into chunks does not change the whole text. */
  push(chunk: Uint8Array | string): string
  /** Call it once when the source has ended; returns the rest of the text. A stream that was cut off ends with an error event: `why`, if given. */
  end(why?: CanonicalError): string
  /** A frame that keeps an idle connection open. */
  ping(): string
  readonly notes: Note[]
  readonly usage: Usage | undefined
  /** Signatures that the caller asked to store itself (`ccSignature: 'store'`), for the next request. Complete after `end`. */
  readonly signatures: Signatures
  /** The reply ended properly: not cut off, and not with an error. */
  readonly finished: boolean
  /** Further frames in the same chunk after the end of the reply. */
  readonly after: string
  /** Known at the end: what came after the last blank line, if anything did, is no frame that can be read. */
  readonly cutFrame: boolean
  /** The source has said that it is over, without an error, but the reply is not complete. */
  readonly endedEarly: boolean
  /** The error that the stream ended with. When the upstream fails at once, it is set before any output. */
  readonly error: CanonicalError | undefined
  /** The error that the finish reason reports, in a stream that ended properly. */
  readonly failedEnd: CanonicalError | undefined
}

/** `watched`: between equal protocols the caller forwards the bytes itself. Then `push` returns no text, and `end` only what is missing. */
type Watching = Settings & { watched?: boolean }

/** A decoder and an encoder in a row. Between equal protocols the bytes pass unchanged; an error event is added when the stream is cut off. */
export function createStreamTranslator(from: Protocol, to: Protocol, options: Watching): StreamTranslator {
  return from === to ? passThrough(from, options) : translate(from, to, options)
}

function translate(from: Protocol, to: Protocol, { model, strict, renewId, ...options }: Settings): StreamTranslator {
  const { streamEncoder, frames } = to
  const begin = (places?: FieldNames) => streamEncoder.initial({ fieldNames: places ? { ...from.fieldNames, ...places } : from.fieldNames, ...options })
  let encoding = begin()
  const { tools, output, request } = options.context ?? {}
  const restoring = startRestoring(options.context)
  const watching: UsableState = { usable: {} }
  let out = ''
  let hasSpoken = false
  let isRenewed = false
  const json = createJsonWriter()
  const write = (wire: unknown) => {
    hasSpoken = true
    out += typeof wire === 'string' ? frames.write(wire) : frames.wrap(json(wire), wire)
  }
  const encode = (event: CanonicalEvent) => streamEncoder.step(encoding, event, write)
  const take = (event: CanonicalEvent) => {
    if (event.type === 'ping') {
      // Not at the very start: output there would commit the HTTP status, while the upstream may still fail.
      if (hasSpoken) out += frames.ping
    } else if (event.type === 'start') {
      const { id, ...start } = event
      const named = model ?? event.model ?? request?.model
      const places = reader.places()
      if (places) encoding = begin(places)
      const kept = keptId(id, renewId)
      isRenewed = id !== undefined && kept.id === undefined
      encode(Object.assign(start, kept, named !== undefined && { model: named }))
    } else if (endsUnusable(watching, event)) reader.refuse(unusableCalls)
    else restoreEvent(restoring, event, encode)
  }
  const notes = () => [...reader.notes(), ...restoring.notes, ...(isRenewed ? ofRenewedId(encoding.notes) : encoding.notes)]
  const unwanted = () => (strict && !reader.seen.error ? forbidden(notes(), strict) : undefined)
  const refuse = ({ reason, code, path }: Note) => {
    const before = [...encoding.notes]
    reader.refuse({ status: 502, kind: 'unsupported', message: `refused by strict: ${reason} (${code}${path && ` at ${path}`})` })
    // The error has no place for what the reply said of itself, but that is not why it was refused.
    encoding.notes = before
  }
  /** Output before a forbidden note stays; only an ending that makes such a note is undone. */
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
  const takeRepeated = (delta: TextDelta, literal: string) => {
    const isRestored = (tools && delta.delta.kind === 'input') || (output && delta.delta.kind === 'text')
    const text = isRestored ? undefined : to.shortcut?.write(encoding, delta, literal)
    if (text === undefined) take(copied(delta))
    else out += text
  }
  const reader = strict ? createStreamReader(from, options, takeStrictly) : createStreamReader(from, options, take, takeRepeated)
  const due = () => {
    const text = out
    out = ''
    return text
  }
  const own: Own = {
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
    notes,
    signatures: () => encoding.signatures ?? {},
    failure: () => encoding.failure,
  }
  return new Translator(own, reader)
}

function passThrough(protocol: Protocol, { model, hideUsage, watched, ...options }: Watching): StreamTranslator {
  const { frames, streamUsage } = protocol
  const reader = createStreamReader(protocol, options, () => {})
  const bytes = createTextReader()
  const whole = new WholeFrames<string>(texts => texts.join(''), options)
  // Comments are removed as well: on their own they would look like the beginning of an answer.
  const filter = hideUsage && streamUsage ? createFrameRewriter(frame => (!/^data/m.test(frame) || isCounts(frame, streamUsage) ? '' : frame)) : undefined
  const shown = (out: string) => (filter ? filter.push(out) : out)
  const escaped = frames.escapesLines ? escapeLineSeparators : (out: string) => out
  /** The upstream itself has sent the error, in a form that clients recognize. */
  const isTold = () => reader.seen.error?.protocol === protocol.name && !reader.seen.unheard
  const isBroken = () => reader.seen.ended && !reader.seen.clean && !isTold()
  /** Clients read nothing after `[DONE]`, so an error cannot follow it. */
  const untilError = (out: string) => (isBroken() ? beforeDone(out) : out)
  let renamed = ''
  let count = 0
  const renamer =
    model === undefined
      ? undefined
      : createFrameParser(frame => {
          // The frame that made the stream fail is not sent, nor any after it.
          if (count++ >= reader.frames() && isBroken()) return
          renamed += renamedFrame(protocol, frame, model)
        })
  const rename = (act: () => void): string => {
    renamed = ''
    try {
      act()
    } catch (tooLong) {
      // The reader has reported it.
      if (!(tooLong instanceof RangeError)) throw tooLong
    }
    return renamed
  }
  const own: Own = {
    push(chunk) {
      const wasBroken = isBroken()
      reader.push(chunk)
      if (watched) return ''
      // The filter passes whole frames only, too.
      if (!renamer) return untilError(escaped(filter ? filter.push(bytes.read(chunk)) : (whole.push(bytes.read(chunk)) ?? '')))
      return wasBroken ? '' : shown(rename(() => renamer.push(chunk)))
    },
    end(why) {
      reader.end(why)
      const { clean, lacksEnding, cutFrame, error } = reader.seen
      if (whole.isList) {
        const { rest = '', owed } = whole.ending(whole.rest() + bytes.end(), clean || isTold() ? '' : frames.failure(error ?? endedEarly, reader.frames()))
        return escaped(rest + owed)
      }
      const last = renamer ? rename(() => renamer.end()) : whole.rest() + bytes.end()
      const rest = cutFrame ? '' : untilError(escaped(shown(last) + (filter?.end() ?? '')))
      if (lacksEnding && frames.ending) return `${rest}\n\n${frames.ending}`
      if (clean || isTold()) return rest
      const failure = error ?? endedEarly
      return `${rest}\n\n${frames.failure(failure, reader.frames())}`
    },
    ping: () => frames.ping,
    // Notes of the decoder do not apply: the bytes pass unchanged.
    notes: () => reader.unreadable(),
    signatures: () => ({}),
    failure: () => undefined,
  }
  return new Translator(own, reader)
}

type Own = Pick<StreamTranslator, 'push' | 'end' | 'ping'> & { notes(): Note[]; signatures(): Signatures; failure(): CanonicalError | undefined }

/** A class, since an object literal with getters is slow in V8. */
class Translator implements StreamTranslator {
  readonly push: Own['push']
  readonly end: Own['end']
  readonly ping: Own['ping']
  readonly #own: Own
  readonly #seen: Seen

  constructor(own: Own, { seen }: StreamReader) {
    this.push = own.push
    this.end = own.end
    this.ping = own.ping
    this.#own = own
    this.#seen = seen
  }

  get notes(): Note[] {
    return this.#own.notes()
  }

  get signatures(): Signatures {
    return this.#own.signatures()
  }

  get usage(): Usage | undefined {
    return this.#seen.usage
  }

  get finished(): boolean {
    return this.#seen.clean && !this.#own.failure()
  }

  get endedEarly(): boolean {
    const { ended, clean, error } = this.#seen
    return ended && !clean && error === undefined
  }

  get after(): string {
    return this.#seen.after
  }

  get cutFrame(): boolean {
    return this.#seen.cutFrame
  }

  get error(): CanonicalError | undefined {
    return this.#seen.error ?? this.#own.failure()
  }

  get failedEnd(): CanonicalError | undefined {
    return this.#seen.failedEnd
  }
}

/** Does the frame contain usage and nothing else? Most frames need not be parsed to see that they do not. */
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
