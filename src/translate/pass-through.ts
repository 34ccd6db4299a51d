import { endedEarly } from '../kit/errors/failed-reply.ts'
import type { Protocol, StreamUsage } from '../protocol.ts'
import { encoded, joined } from '../sse/bytes.ts'
import { parseData } from '../sse/data.ts'
import { escapeLineSeparatorBytes, escapeLineSeparators } from '../sse/line-separators.ts'
import { createFrameParser } from '../sse/parse.ts'
import { createFrameRewriter, type FrameRewriter } from '../sse/rewrite.ts'
import { createTextReader } from '../sse/text.ts'
import { beforeDone, WholeFrames } from '../sse/whole-frames.ts'
import { type ByteForm, byteFormOf, textIn } from './byte-form.ts'
import { renamedFrame } from './renamed-frame.ts'
import type { Settings } from './settings.ts'
import { formOf } from './shortcut.ts'
import { createStreamWatcher } from './stream-reader.ts'
import { type Own, type StreamTranslator, Translator } from './stream-translator.ts'

/** What differs between streams that pass as bytes and as text. */
type Passing<C> = {
  none: C
  /** A chunk as it passes. */
  of(chunk: Uint8Array | string): C
  /** Frames that were edited: whole characters, independent of what is left of a chunk. */
  edited(frames: Uint8Array): C
  /** What is left of a character that was cut. */
  rest(): C
  join(chunks: readonly C[]): C
  escape(out: C): C
}

/** Between equal protocols: the same bytes, in whole frames, while usage and the end are read from them. */
export function createPassThrough(protocol: Protocol, options: Settings): StreamTranslator<Uint8Array> {
  const none = new Uint8Array()
  return passThrough<Uint8Array>(protocol, options, {
    none,
    of: encoded,
    edited: frames => frames,
    rest: () => none,
    join: joined,
    escape: escapeLineSeparatorBytes,
  })
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** The same as text. */
export function createTextPassThrough(protocol: Protocol, options: Settings): StreamTranslator {
  const { read, end } = createTextReader()
  return passThrough<string>(protocol, options, {
    none: '',
    of: read,
    edited: frames => utf8.decode(frames),
    rest: end,
    join: texts => texts.join(''),
    escape: escapeLineSeparators,
  })
}

function passThrough<C extends Uint8Array | string>(protocol: Protocol, { model, hideUsage, ...options }: Settings, form: Passing<C>): StreamTranslator<C> {
  const { frames, streamUsage } = protocol
  const { none } = form
  const whole = new WholeFrames<C>(form.join, options)
  const isEdited = model !== undefined || (hideUsage && streamUsage !== undefined)
  const editor = isEdited ? new FrameEditor(protocol, { model, hideUsage: hideUsage === true }, () => (isBroken() ? watcher.frames() : Infinity)) : undefined
  const watcher = createStreamWatcher(protocol, options, editor && ((bytes, from, to, form) => editor.take(bytes, from, to, form)))
  /** The upstream itself has sent the error, in a form that clients recognize. */
  const isTold = () => watcher.seen.error?.protocol === protocol.name && !watcher.seen.unheard
  const isBroken = () => watcher.seen.ended && !watcher.seen.clean && !isTold()
  const escaped = (out: C) => (frames.escapesLines ? form.escape(out) : out)
  /** Clients read nothing after `[DONE]`, so an error cannot follow it. */
  const untilError = (out: C) => (isBroken() ? beforeDone(out) : out)
  const own: Own<C> = {
    push(chunk) {
      const given = form.of(chunk)
      if (editor) {
        const frames = whole.push(given)
        if (frames === undefined) return none
        watcher.push(encoded(frames))
        // It is not what is sent.
        watcher.seen.after = ''
        return untilError(escaped(form.edited(editor.taken())))
      }
      watcher.push(given)
      return untilError(escaped(whole.push(given) ?? none))
    },
    end(why) {
      const left = form.join([whole.rest(), form.rest()])
      if (editor) watcher.push(encoded(left))
      watcher.end(why)
      const { clean, lacksEnding, cutFrame, error } = watcher.seen
      const failure = () => frames.failure(error ?? endedEarly, watcher.frames())
      const isWell = clean || isTold()
      if (whole.isList && !editor) {
        const { rest = none, owed } = whole.ending(left, isWell ? '' : failure())
        return form.join([escaped(rest), form.of(owed)])
      }
      const last = editor ? form.edited(editor.end()) : left
      const rest = cutFrame ? none : untilError(escaped(last))
      if (lacksEnding && frames.ending) return form.join([rest, form.of(`\n\n${frames.ending}`)])
      return isWell ? rest : form.join([rest, form.of(`\n\n${failure()}`)])
    },
    ping: () => (whole.isBetween ? frames.ping : ''),
    // Notes of the decoder do not apply: the bytes pass unchanged.
    notes: () => watcher.unreadable(),
    signatures: () => ({}),
    failure: () => undefined,
  }
  return new Translator(own, watcher)
}

/** Frames with another model name, or without those that contain only usage. Frames of one form are only copied. */
class FrameEditor {
  readonly #protocol: Protocol
  readonly #model: string | undefined
  readonly #limit: () => number
  readonly #text = createTextReader()
  readonly #filter: FrameRewriter | undefined
  readonly #parser = createFrameParser(frame => {
    if (this.#count++ < this.#limit()) this.#renamed += renamedFrame(this.#protocol, frame, this.#model ?? '')
  })
  #renamed = ''
  #out: Uint8Array[] = []
  #count = 0
  /** The form, and what is written for it: undefined where that is no form. */
  #form: ByteForm | undefined
  #written: ByteForm | undefined

  /** `limit`: the number of frames that may be renamed. The frame that made the stream fail is not sent, nor any after it. */
  constructor(protocol: Protocol, { model, hideUsage }: { model: string | undefined; hideUsage: boolean }, limit: () => number) {
    const { streamUsage } = protocol
    this.#protocol = protocol
    this.#model = model
    this.#limit = limit
    // Comments are removed as well: on their own they would look like the beginning of an answer.
    if (hideUsage && streamUsage) this.#filter = createFrameRewriter(frame => (!/^data/m.test(frame) || isCounts(frame, streamUsage) ? '' : frame))
  }

  take(bytes: Uint8Array, from: number, to: number, form: ByteForm | undefined): void {
    if (form && this.#model === undefined) this.#out.push(bytes.subarray(from, to))
    else if (form && form === this.#form && this.#written) this.#copy(bytes, form, this.#written)
    else {
      const text = this.#edited(this.#model === undefined ? this.#text.read(bytes.subarray(from, to)) : this.#rename(bytes.subarray(from, to)))
      if (text) this.#out.push(encoded(text))
      if (form && form !== this.#form) this.#learn(form, bytes, text)
    }
  }

  /** What is to be sent of the frames so far. */
  taken(): Uint8Array {
    const out = joined(this.#out)
    this.#out = []
    return out
  }

  /** The same at the end of the stream. */
  end(): Uint8Array {
    const last = this.#model === undefined ? this.#text.end() : this.#endRenaming()
    return joined([this.taken(), encoded(this.#edited(last) + (this.#filter?.end() ?? ''))])
  }

  #edited(text: string): string {
    return this.#filter ? this.#filter.push(text) : text
  }

  #rename(bytes: Uint8Array): string {
    return this.#renamedBy(() => this.#parser.push(bytes))
  }

  #endRenaming(): string {
    return this.#renamedBy(() => this.#parser.end())
  }

  #renamedBy(act: () => void): string {
    this.#renamed = ''
    try {
      act()
    } catch (tooLong) {
      // The watcher has reported it.
      if (!(tooLong instanceof RangeError)) throw tooLong
    }
    return this.#renamed
  }

  /** The frame of this form was written as `text`: the next ones need not be parsed for that. */
  #learn(form: ByteForm, bytes: Uint8Array, text: string): void {
    const { shortcut } = this.#protocol
    const { delta, holes } = form.form
    const written = shortcut && formOf(text, { ...delta, delta: { ...delta.delta, text: textIn(form, bytes) } }, shortcut)
    this.#form = form
    this.#written = written && String(written.holes) === String(holes) ? byteFormOf(written) : undefined
  }

  #copy(bytes: Uint8Array, { places }: ByteForm, { pieces }: ByteForm): void {
    if (this.#count++ >= this.#limit()) return
    for (let i = 0; i < pieces.length; i++) {
      this.#out.push((pieces[i] as ByteForm['pieces'][number]).bytes)
      if (2 * i < places.length) this.#out.push(bytes.subarray(places[2 * i], places[2 * i + 1]))
    }
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
