import { collectEvent, startCollecting } from '../canonical/collect.ts'
import { explode } from '../canonical/explode.ts'
import type { Note } from '../canonical/note.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import { TranslationError } from '../errors.ts'
import { reportDroppedContent } from '../kit/errors/failed-response.ts'
import { optionsFor } from '../kit/fields/option-groups.ts'
import { createReport } from '../kit/notes/report.ts'
import type { Protocol } from '../protocol.ts'
import { translateNotes } from './notes.ts'
import { type Exactness, placesIn, refuseIfStrict, type Settings, withDigits } from './settings.ts'
import { createStreamReader, type StreamReader } from './stream-reader.ts'

/**
 * Stream → complete response of the same protocol. A stream that failed gives an error body.
 * @throws TranslationError `truncated` when the stream stopped before its end; `inexpressible` when
 * strict
 */
export async function collectStream(
  source: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
  protocol: Protocol,
  settings: Settings,
): Promise<{ body: unknown; notes: Note[] }> {
  const { strict } = settings
  const into = startCollecting()
  const reader = createStreamReader(protocol, settings, event => collectEvent(into, event))
  for await (const chunk of source) reader.push(chunk)
  reader.end()
  const { response, clean } = into
  if (response.error) {
    const notes = notesOfFailed(response, reader, protocol)
    refuseIfStrict(notes, strict, protocol.name)
    return {
      body: protocol.encodeError(response.error, optionsFor(protocol, settings)).wire.body,
      notes,
    }
  }
  if (!clean)
    throw new TranslationError(
      { code: 'truncated', protocol: protocol.name, path: '' },
      'the stream ended before the response was complete',
    )
  return encodeCollected(response, reader, protocol, settings)
}

/**
 * The notes of a failed stream. Everything before the error is discarded, and notes list what was
 * dropped.
 */
export function notesOfFailed(
  response: CanonicalResponse,
  reader: Pick<StreamReader, 'notes' | 'places'>,
  protocol: Protocol,
): Note[] {
  const report = createReport(protocol.name, translateNotes, placesIn(reader.places(), protocol))
  reportDroppedContent(response, report)
  return [...reader.notes(), ...report.notes]
}

/**
 * The response that a stream was collected into, with the notes of both.
 * @throws TranslationError `inexpressible` when strict
 */
export function encodeCollected(
  response: CanonicalResponse,
  reader: Pick<StreamReader, 'notes' | 'places'>,
  protocol: Protocol,
  settings: Settings & Exactness,
): { body: unknown; notes: Note[] } {
  const fieldNames = placesIn(reader.places(), protocol)
  const options = Object.assign({}, optionsFor(protocol, settings), { fieldNames })
  const { wire, notes } = protocol.encodeResponse(response, options)
  const all = withDigits(
    [...withoutRepairs(reader.notes()), ...notes],
    settings.keepsDigits ?? false,
  )
  refuseIfStrict(all, settings.strict, protocol.name)
  return { body: wire, notes: all }
}

/** What reading repaired says the same within one protocol. */
const withoutRepairs = (notes: Note[]) => notes.filter(({ code }) => !code.endsWith('.repaired'))

/**
 * Complete response → text of a stream in the same protocol, with the notes of both.
 * @throws TranslationError `malformed`; `inexpressible` when strict
 */
export function explodeResponse(
  body: unknown,
  protocol: Protocol,
  settings: Settings,
): { text: string; notes: Note[] } {
  const options = optionsFor(protocol, settings)
  const { value, notes, fieldNames } = protocol.decodeResponse(body, options)
  const { streamEncoder, frames } = protocol
  const state = streamEncoder.initial(
    Object.assign({}, options, { fieldNames: placesIn(fieldNames, protocol) }),
  )
  let text = ''
  const write = (wire: unknown) => {
    text += frames.write(wire)
  }
  for (const event of explode(value)) streamEncoder.step(state, event, write)
  streamEncoder.end(state, write)
  const all = withDigits([...withoutRepairs(notes), ...state.notes])
  refuseIfStrict(all, settings.strict, protocol.name)
  return { text, notes: all }
}

/**
 * Complete response → input for a stream translator: a stream of one frame, and the protocol with a
 * decoder that emits all events of the response at that frame. Compared with `explodeResponse`,
 * nothing is lost or delayed by the form of the protocol's streams.
 * @throws TranslationError `malformed`; `inexpressible` when strict
 */
export function asEvents(
  body: unknown,
  protocol: Protocol,
  settings: Settings,
): { text: string; from: Protocol } {
  const { value, notes, fieldNames } = protocol.decodeResponse(body, optionsFor(protocol, settings))
  refuseIfStrict(notes, settings.strict, protocol.name)
  const streamDecoder: Protocol['streamDecoder'] = {
    initial: () => ({ notes: [...notes], ...(fieldNames && { places: fieldNames }) }),
    step: (_, __, emit) => explode(value).forEach(emit),
    end() {},
  }
  const { shortcut: _, ...rest } = protocol
  return { text: 'data: {}\n\n', from: { ...rest, streamDecoder } }
}
