import type { CanonicalEvent } from '../canonical/event.ts'
import type { Note } from '../canonical/note.ts'
import type { FieldNames, Protocol } from '../protocol.ts'
import { createJsonWriter } from './json-writer.ts'
import { ofRenewedId } from './notes.ts'
import { createPassThrough, createTextPassThrough } from './pass-through.ts'
import { restoreEvent, startRestoring } from './restore.ts'
import { forbidden, keptId, type Settings } from './settings.ts'
import { copied, type TextDelta } from './shortcut.ts'
import { createStreamReader } from './stream-reader.ts'
import { type Own, type StreamTranslator, Translator } from './stream-translator.ts'
import { endsUnusable, type UsableState, unusableCalls } from './unusable-calls.ts'

/** A decoder and an encoder in a row. Between equal protocols the bytes pass unchanged; an error event is added when the stream is cut off. */
export function createStreamTranslator(from: Protocol, to: Protocol, options: Settings): StreamTranslator {
  return from === to ? createTextPassThrough(from, options) : translate(from, to, options)
}

/** The same for callers that send bytes. */
export function createByteTranslator(from: Protocol, to: Protocol, options: Settings): StreamTranslator<Uint8Array | string> {
  return from === to ? createPassThrough(from, options) : translate(from, to, options)
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
  const own: Own<string> = {
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
