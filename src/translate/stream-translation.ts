import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Note } from '../canonical/note.ts'
import { omitUndefined } from '../kit/fields/omit.ts'
import { optionsFor } from '../kit/fields/option-groups.ts'
import type {
  ClientHalf,
  CodecOptions,
  FieldNames,
  MachineState,
  Signatures,
  UpstreamHalf,
} from '../protocol.ts'
import type { BridgedEvents } from './bridge.ts'
import { type CallIds, withCallId } from './call-ids.ts'
import { type EndingState, withTrueEnd } from './endings.ts'
import { createJsonWriter } from './json-writer.ts'
import {
  type NormalizerState,
  normalizeEvent,
  startNormalizing,
  takeDirectly,
} from './normalizer.ts'
import { ofRenewedId } from './notes.ts'
import { type RestoreState, restoreEvent, startRestoring } from './restore.ts'
import { forbidden, keptId, type Settings, withDigits } from './settings.ts'
import { copied, type TextDelta } from './shortcut.ts'
import { createStreamReader, type StreamReader } from './stream-reader.ts'
import { type Own, type StreamTranslator, Translator } from './stream-translator.ts'

/** The translator of a stream between different protocols. */
export function translateForeignStream(
  from: UpstreamHalf,
  to: ClientHalf,
  settings: Settings,
): StreamTranslator {
  const running = new Translation(from, to, settings)
  return new Translator(running, running.reader)
}

/**
 * Decodes, restores what the request had to change, orders the parts for the target protocol, and
 * encodes.
 */
class Translation implements Own<string> {
  readonly reader: StreamReader
  readonly #from: UpstreamHalf
  readonly #to: ClientHalf
  readonly #settings: Pick<Settings, 'model' | 'strict' | 'renewId'>
  readonly #options: CodecOptions
  readonly #bridged: BridgedEvents | undefined
  readonly #restoring: RestoreState
  readonly #restoresInput: boolean
  readonly #restoresText: boolean
  readonly #held: EndingState = { usable: {}, calls: {} }
  readonly #callIds: CallIds = { counts: {}, given: {} }
  readonly #json = createJsonWriter()
  #order: NormalizerState
  #encoding: MachineState
  #out = ''
  #hasSpoken = false
  #isRenewed = false
  /** How many notes of each list `strict` has allowed. */
  readonly #checked = new WeakMap<Note[], number>()
  readonly #write = (wire: unknown): void => {
    const { frames } = this.#to
    this.#hasSpoken = true
    this.#out += typeof wire === 'string' ? frames.write(wire) : frames.wrap(this.#json(wire), wire)
  }
  readonly #encode = (event: CanonicalEvent): void =>
    this.#to.streamEncoder.step(this.#encoding, event, this.#write)
  readonly #normalize = (event: CanonicalEvent): void =>
    normalizeEvent(this.#order, event, this.#encode)

  readonly #restore = (event: CanonicalEvent): void => {
    const due = withTrueEnd(this.#held, event)
    if ('failure' in due) this.reader.refuse(due.failure)
    else restoreEvent(this.#restoring, withCallId(this.#callIds, due), this.#normalize)
  }

  constructor(from: UpstreamHalf, to: ClientHalf, settings: Settings) {
    const { model, strict, renewId } = settings
    this.#from = from
    this.#to = to
    this.#settings = omitUndefined({ model, strict, renewId })
    this.#options = optionsFor(to, settings)
    const { context, bridge } = settings
    this.#bridged = context?.bridge === undefined ? undefined : bridge?.events(context.bridge)
    this.#restoring = startRestoring(context, to)
    this.#restoresInput = context?.tools !== undefined
    this.#restoresText = context?.output !== undefined || context?.outputNames !== undefined
    this.#order = startNormalizing(
      to,
      Object.assign({}, this.#options, { fieldNames: from.fieldNames }),
    )
    this.#encoding = this.#begin(undefined)
    this.reader = strict
      ? createStreamReader(from, settings, event => this.#takeStrictly(event))
      : createStreamReader(
          from,
          settings,
          event => this.#take(event),
          (delta, literal) => this.#takeRepeated(delta, literal),
        )
  }

  readonly push = (chunk: Uint8Array | string): string => {
    this.reader.push(chunk)
    const late = this.reader.seen.ended ? undefined : this.#unwanted()
    if (late) this.#refuse(late)
    return this.#due()
  }

  readonly end = (why?: CanonicalError): string => {
    this.reader.end(why)
    this.#to.streamEncoder.end(this.#encoding, this.#write)
    return this.#due()
  }

  readonly ping = (): string => this.#to.frames.ping

  notes(): Note[] {
    return this.#notesOf(list => list)
  }

  #notesOf(choose: (list: Note[]) => Note[]): Note[] {
    const before = [
      ...this.reader.noteLists(),
      ...(this.#bridged ? [this.#bridged.notes] : []),
      this.#restoring.notes,
      this.#order.notes,
    ]
    const encoded = choose(this.#encoding.notes)
    const after = this.#isRenewed ? ofRenewedId(encoded) : encoded
    return withDigits([...before.flatMap(choose), ...after])
  }

  signatures(): Signatures {
    return this.#encoding.signatures ?? {}
  }

  failure(): CanonicalError | undefined {
    return this.#encoding.failure
  }

  /** The state of the encoder. `places`: names of fields that differ in this stream. */
  #begin(places: FieldNames | undefined): MachineState {
    const { fieldNames } = this.#from
    const names = places ? { ...fieldNames, ...places } : fieldNames
    return this.#to.streamEncoder.initial(Object.assign({}, this.#options, { fieldNames: names }))
  }

  #due(): string {
    const text = this.#out
    this.#out = ''
    return text
  }

  #take(event: CanonicalEvent): void {
    // Not at the very start: output there would commit the HTTP status, while the upstream may
    // still fail. Nor behind an error, which is the end.
    if (event.type === 'ping')
      this.#out += this.#hasSpoken && !this.#encoding.failure ? this.#to.frames.ping : ''
    else if (event.type === 'start') this.#start(event)
    else if (this.#bridged) this.#bridged.step(event, this.#restore)
    else this.#restore(event)
  }

  #start({ id, ...start }: Extract<CanonicalEvent, { type: 'start' }>): void {
    const { model, renewId } = this.#settings
    const named = model ?? start.model ?? this.#options.context?.request?.model
    const places = this.reader.places()
    if (places) {
      this.#encoding = this.#begin(places)
      this.#order.fieldNames = { ...this.#from.fieldNames, ...places }
    }
    const kept = keptId(id, renewId)
    if (id !== undefined) this.#callIds.response = id
    this.#isRenewed = id !== undefined && kept.id === undefined
    this.#encode(Object.assign(start, kept, named !== undefined && { model: named }))
  }

  #takeRepeated(delta: TextDelta, literal: string): void {
    const { kind } = delta.delta
    const isRestored =
      (kind === 'input' && this.#restoresInput) || (kind === 'text' && this.#restoresText)
    const isHeld = this.#bridged?.passes(delta) === false
    if (isRestored || isHeld || !takeDirectly(this.#order, delta)) {
      this.#take(copied(delta))
      return
    }
    const text = this.#to.writeDelta?.(this.#encoding, delta, literal)
    if (text === undefined) this.#encode(copied(delta))
    else this.#out += text
  }

  /**
   * The first forbidden note since it was last asked: to look at all notes after each event would
   * take quadratic time.
   */
  #unwanted(): Note | undefined {
    const { strict } = this.#settings
    return strict && !this.reader.seen.error
      ? forbidden(this.#notesOf(this.#newIn), strict)
      : undefined
  }

  readonly #newIn = (list: Note[]): Note[] => {
    const found = list.slice(this.#checked.get(list))
    this.#checked.set(list, list.length)
    return found
  }

  #refuse({ reason, code, path }: Note): void {
    const before = [...this.#encoding.notes]
    this.reader.refuse({
      status: 502,
      kind: 'unsupported',
      message: `refused by strict: ${reason} (${code}${path && ` at ${path}`})`,
    })
    // The error has no place for fields of the response, but they are not why it was refused.
    this.#encoding.notes = before
  }

  /** Output before a forbidden note stays; only an ending that makes such a note is undone. */
  #takeStrictly(event: CanonicalEvent): void {
    const early = this.#unwanted()
    if (early) {
      if (event.type === 'start') this.#take(event)
      this.#refuse(early)
      return
    }
    const isEnding = event.type === 'finish' || event.type === 'end'
    const before = isEnding
      ? {
          encoding: structuredClone(this.#encoding),
          order: structuredClone(this.#order),
          out: this.#out,
        }
      : undefined
    this.#take(event)
    const late = this.#unwanted()
    if (!late) return
    if (before) {
      this.#encoding = { ...before.encoding, notes: this.#encoding.notes }
      this.#order = before.order
      this.#out = before.out
    }
    this.#refuse(late)
  }
}
