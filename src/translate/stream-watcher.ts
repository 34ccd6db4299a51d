import { type ByteForm, byteFormOf, lengthIn, matchBytes, textIn, viewOf } from './byte-form.ts'
import type { Settings } from './settings.ts'
import { StreamReader, type StreamSource } from './stream-reader.ts'

/**
 * Gets each chunk of the bytes in order, with the end of the frame or what it became. `form`: the
 * frame differs from the one before only in the slots of this form.
 */
export type OnFrame = (
  bytes: Uint8Array,
  range: { from: number; to: number; isEnd: boolean },
  form: ByteForm | undefined,
) => void

/**
 * Reads a stream that passes unchanged: how it ends, and its usage. Deltas that only repeat the
 * form are not read.
 */
export class StreamWatcher extends StreamReader {
  readonly #onFrame: OnFrame | undefined
  /** The form of the frame before, for bytes. */
  #byteForm: ByteForm | undefined

  constructor(from: StreamSource, settings: Settings, onFrame?: OnFrame) {
    super(
      from,
      settings,
      () => {},
      () => {},
    )
    this.#onFrame = onFrame
  }

  protected override readBytes(bytes: Uint8Array): number {
    const view = viewOf(bytes)
    let whole = 0
    for (let from = 0; from < bytes.length; ) {
      const form = this.#byteForm
      const next = form && this.#skipRepeated(form, bytes, { view, from })
      const to = next ?? this.#watchFrame(bytes, from)
      if (this.isBetweenFrames) whole = to
      this.#onFrame?.(
        bytes,
        { from, to, isEnd: this.isBetweenFrames },
        next === undefined ? undefined : form,
      )
      from = to
    }
    return whole
  }

  /**
   * Skips a frame of the same form as the one before. Returns where the next one begins; undefined:
   * it has another form.
   */
  #skipRepeated(
    form: ByteForm,
    bytes: Uint8Array,
    { view, from }: { view: DataView; from: number },
  ): number | undefined {
    if (!this.isBetweenFrames || this.seen.ended) return undefined
    const to = matchBytes(form, bytes, view, from)
    if (to === undefined || to - from > this.maxEventLength || !this.#takesUnread(form, bytes))
      return undefined
    this.uses++
    this.frameReader.count++
    this.seen.written += lengthIn(form)
    return to
  }

  /**
   * Whether the arguments of a call are complete may decide whether the response is, so only they
   * are read.
   */
  #takesUnread(byteForm: ByteForm, bytes: Uint8Array): boolean {
    const { delta } = byteForm.form
    if (delta.delta.kind !== 'input') return true
    delta.delta.text = textIn(byteForm, bytes)
    return this.shortcut?.read(this.frameReader.state, delta) ?? false
  }

  #watchFrame(bytes: Uint8Array, from: number): number {
    const known = this.form
    // What comes between may change what frames of the form mean, since the state does not follow
    // those that are not read.
    this.#byteForm = undefined
    const to = this.takeFrame(bytes, from)
    if (this.form && this.form !== known) this.#byteForm = byteFormOf(this.form)
    return to
  }
}
