import { endedEarly } from '../kit/errors/failed-response.ts'
import { refuseNoChunk } from '../kit/json/wrong-input.ts'
import type { Protocol, StreamUsage } from '../protocol.ts'
import { createChunkEncoder, encoded, joined } from '../sse/bytes.ts'
import { parseData } from '../sse/data.ts'
import { FrameFields } from '../sse/fields.ts'
import { escapeLineSeparatorBytes, escapeLineSeparators } from '../sse/line-separators.ts'
import { parseFrames } from '../sse/parse.ts'
import { createTextReader } from '../sse/text.ts'
import { beforeDone, WholeFrames } from '../sse/whole-frames.ts'
import { type ByteForm, byteFormOf, textIn } from './byte-form.ts'
import { renamedFrame } from './renamed-frame.ts'
import type { Settings } from './settings.ts'
import { formOf } from './shortcut.ts'
import type { StreamReader } from './stream-reader.ts'
import { type Own, type StreamTranslator, Translator } from './stream-translator.ts'
import { type OnFrame, StreamWatcher } from './stream-watcher.ts'

/** What differs between streams that pass as bytes and as text. */
type Passing<C> = {
  none: C
  /** A chunk as it passes. */
  of(chunk: Uint8Array | string): C
  /** What is left of a character that was cut. */
  rest(): C
  join(chunks: readonly C[]): C
  escape(out: C): C
  /** Frames that were edited, or that are added. */
  written(frames: Uint8Array | string): C
}

/**
 * Between equal protocols: the same bytes, in whole frames, while usage and the end are read from
 * them.
 */
export function createPassThrough(
  protocol: Protocol,
  options: Settings,
): StreamTranslator<Uint8Array> {
  const none = new Uint8Array()
  return passThrough<Uint8Array>(protocol, options, {
    none,
    of: createChunkEncoder(),
    rest: () => none,
    join: joined,
    escape: escapeLineSeparatorBytes,
    written: encoded,
  })
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** The same as text, which is split as text: as bytes, it takes twice as long. */
export function createTextPassThrough(protocol: Protocol, options: Settings): StreamTranslator {
  const { read, end } = createTextReader()
  return passThrough<string>(protocol, options, {
    none: '',
    of: read,
    rest: end,
    join: texts => texts.join(''),
    escape: escapeLineSeparators,
    written: frames => (typeof frames === 'string' ? frames : utf8.decode(frames)),
  })
}

function passThrough<C extends Uint8Array | string>(
  protocol: Protocol,
  { model, hideUsage, ...options }: Settings,
  form: Passing<C>,
): StreamTranslator<C> {
  const { frames, framing, streamUsage } = protocol
  const isEdited =
    (model !== undefined && !frames.withoutModel) || (hideUsage && streamUsage !== undefined)
  const editing = { model, hideUsage: hideUsage === true, maxEventLength: options.maxEventLength }
  const editor = isEdited
    ? new FrameEditor(protocol, editing, {
        list: () => watcher.list,
        limit: () => (isBroken() ? watcher.frames() : Infinity),
      })
    : undefined
  const watcher: StreamWatcher = new StreamWatcher(
    protocol,
    options,
    editor && ((bytes, range, form) => editor.take(bytes, range, form)),
  )
  const whole = new WholeFrames<C>(watcher, form.join, options)
  const bytesOf = createChunkEncoder()
  const decode = framing?.decode()
  /** The upstream itself has sent the error, in a form that clients recognize. */
  const isErrorPassed = () =>
    watcher.seen.error?.protocol === protocol.name &&
    !watcher.seen.unrecognized &&
    !watcher.lacksFailure
  const isBroken = () => watcher.seen.ended && !watcher.seen.clean && !isErrorPassed()
  const escaped = (out: C) => (frames.escapesLines ? form.escape(out) : out)
  /** `[DONE]` was left out: nothing passes after it, in this chunk or a later one. */
  let isOver = false
  /** Clients read nothing after `[DONE]`, so an error cannot follow it. */
  const untilError = (out: C): C => {
    if (isOver) return form.none
    if (!isBroken()) return out
    const left = beforeDone(out)
    isOver = left.length < out.length
    return left
  }
  const own: Own<C> = {
    push(received) {
      refuseNoChunk(received)
      const chunk = decode ? decode(received) : received
      if (editor) {
        watcher.push(bytesOf(chunk))
        // It is not what is sent.
        watcher.seen.after = ''
        return untilError(escaped(form.written(editor.taken())))
      }
      const given = form.of(chunk)
      const end = watcher.push(given)
      return untilError(escaped(whole.push(given, end) ?? form.none))
    },
    end(why) {
      watcher.end(why)
      const { clean, lacksEnding, cutFrame, error, id, unrecognized } = watcher.seen
      const { lacksFailure } = watcher
      const failure = () =>
        frames.failure(error ?? endedEarly, {
          count: watcher.frames(),
          hasBegun: watcher.frames() > 0,
          saysError: lacksFailure && !unrecognized,
          id,
          model,
        })
      const isWell = clean || isErrorPassed()
      const last = editor ? form.written(editor.end()) : form.join([whole.rest(), form.rest()])
      if (watcher.list && !editor) {
        const { rest = form.none, pending } = whole.ending(last, isWell ? '' : failure())
        return form.join([escaped(rest), form.written(pending)])
      }
      const rest = cutFrame ? form.none : untilError(escaped(last))
      if (lacksEnding && frames.ending)
        return form.join([rest, form.written(`\n\n${frames.ending}`)])
      return isWell ? rest : form.join([rest, form.written(`\n\n${failure()}`)])
    },
    ping: () => ((editor?.whole ?? whole).isBetween ? frames.ping : ''),
    // Notes of the decoder do not apply: the bytes pass unchanged.
    notes: () => watcher.unreadable(),
    signatures: () => ({}),
    failure: () => undefined,
  }
  return new Translator(own, watcher)
}

type Editing = { model: string | undefined; hideUsage: boolean; maxEventLength: number | undefined }

/**
 * Frames with another model name, or without those that contain only usage. Frames of one form are
 * only copied.
 */
class FrameEditor {
  readonly #protocol: Protocol
  readonly #model: string | undefined
  readonly #usage: StreamUsage | undefined
  readonly #stream: { list: () => StreamReader['list']; limit: () => number }
  readonly #text = createTextReader()
  readonly #fields = new FrameFields(frame => {
    if (this.#count++ < this.#stream.limit())
      this.#renamed += renamedFrame(this.#protocol, frame, this.#model ?? '')
  }, Infinity)
  /** Frames that are cut: only whole ones are edited. */
  readonly whole: WholeFrames<Uint8Array>
  #renamed = ''
  #out: Uint8Array[] = []
  #count = 0
  /** The form, and what is written for it: undefined where that is no form. */
  #form: ByteForm | undefined
  #written: ByteForm | undefined

  /**
   * `limit`: the number of frames that may be renamed. The frame that made the stream fail is not
   * sent, nor any after it.
   */
  constructor(
    protocol: Protocol,
    { model, hideUsage, maxEventLength }: Editing,
    stream: { list: () => StreamReader['list']; limit: () => number },
  ) {
    this.#protocol = protocol
    this.#model = model
    this.#stream = stream
    this.#usage = hideUsage ? protocol.streamUsage : undefined
    this.whole = new WholeFrames<Uint8Array>(
      {
        get list() {
          return stream.list()
        },
      },
      joined,
      { maxEventLength },
    )
  }

  take(
    bytes: Uint8Array,
    { from, to, isEnd }: Parameters<OnFrame>[1],
    form: ByteForm | undefined,
  ): void {
    if (form && this.#model === undefined) this.#out.push(bytes.subarray(from, to))
    else if (form && form === this.#form && this.#written) this.#copy(bytes, form, this.#written)
    else {
      const frame = this.whole.push(bytes.subarray(from, to), isEnd ? to - from : 0)
      const text = frame && this.#edited(this.#text.read(frame), true)
      if (text) this.#out.push(encoded(text))
      if (form && form !== this.#form) this.#learn(form, bytes, text ?? '')
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
    const text = this.#edited(this.#text.read(this.whole.rest()) + this.#text.end(), false)
    return joined([this.taken(), encoded(text)])
  }

  /** A frame as it is sent. `isEnd`: it has its blank line. */
  #edited(frame: string, isEnd: boolean): string {
    const text = this.#model === undefined ? frame : this.#renamedIn(frame, isEnd)
    // The LF of a CRLF that was cut belongs to the frame before.
    if (!this.#usage || text === '\n') return text
    // Comments are removed as well: on their own they would look like the beginning of a response.
    return !/^data/m.test(text) || isCounts(text, this.#usage) ? '' : text
  }

  #renamedIn(frame: string, isEnd: boolean): string {
    this.#renamed = ''
    this.#fields.take(frame, isEnd, this.#stream.list() !== undefined)
    if (!isEnd) this.#fields.end()
    return this.#renamed
  }

  /** The frame of this form was written as `text`: the next ones need not be parsed for that. */
  #learn(form: ByteForm, bytes: Uint8Array, text: string): void {
    const { shortcut } = this.#protocol
    const { delta, slots } = form.form
    const written =
      shortcut &&
      formOf(text, { ...delta, delta: { ...delta.delta, text: textIn(form, bytes) } }, shortcut)
    this.#form = form
    this.#written =
      written && String(written.slots) === String(slots) ? byteFormOf(written) : undefined
  }

  #copy(bytes: Uint8Array, { places }: ByteForm, { fragments }: ByteForm): void {
    if (this.#count++ >= this.#stream.limit()) return
    for (let i = 0; i < fragments.length; i++) {
      this.#out.push((fragments[i] as ByteForm['fragments'][number]).bytes)
      if (2 * i < places.length) this.#out.push(bytes.subarray(places[2 * i], places[2 * i + 1]))
    }
  }
}

/**
 * Does the frame contain usage and nothing else? Most frames need not be parsed to see that they do
 * not.
 */
function isCounts(frame: string, { isOnlyCounts }: StreamUsage): boolean {
  if (!frame.includes('usage')) return false
  return parseFrames(frame).some(({ data }) => isOnlyCounts(parseData(data)))
}
