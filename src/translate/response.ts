import type { CanonicalError } from '../canonical/error.ts'
import type { Note } from '../canonical/note.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import { TranslationError } from '../errors.ts'
import { failedEnd, reportDroppedContent } from '../kit/errors/failed-response.ts'
import { retryWords, writtenHint } from '../kit/errors/retry-hint.ts'
import { optionsFor } from '../kit/fields/option-groups.ts'
import { isObject } from '../kit/json/json.ts'
import { readBody } from '../kit/json/wrong-input.ts'
import { createReport } from '../kit/notes/report.ts'
import type {
  ClientHalf,
  CodecOptions,
  Encoded,
  Outcome,
  Protocol,
  ProtocolFacts,
  Signatures,
  UpstreamHalf,
  WireError,
} from '../protocol.ts'
import { withCallIds } from './call-ids.ts'
import { withTrueEnds } from './endings.ts'
import { ofRenewedId, translateNotes } from './notes.ts'
import { restoreResponse } from './restore.ts'
import {
  changesResponse,
  type Exactness,
  keptId,
  placesIn,
  refuseIfStrict,
  type Settings,
  withDigits,
} from './settings.ts'

/**
 * `signatures`: those that the caller stores itself (`signatures: 'store'`), for the next request.
 */
export type TranslatedResponse = { body: unknown; notes: Note[]; signatures?: Signatures }

/**
 * A complete response of one protocol → the same response of another. Between equal protocols the
 * body is returned as it is, except for the model name. A response that is an error becomes an
 * error body of the target.
 * @throws TranslationError `malformed`, `inexpressible`; `truncated` for a response without a
 * finish reason
 */
export function translateResponse(
  body: unknown,
  from: Protocol,
  to: Protocol,
  settings: Settings,
): TranslatedResponse {
  const { usage: _, error: __, ...translated } = translateCounted(body, from, to, settings)
  return translated
}

/**
 * As `translateResponse`, with the usage and the error of the response, so that the caller need not
 * decode it again.
 */
export function translateCounted(
  body: unknown,
  from: Protocol,
  to: Protocol,
  settings: Settings & Exactness,
): TranslatedResponse & Outcome {
  const { strict, model } = settings
  if (from !== to || isChanged(body, from, settings))
    return translateForeign(body, from, to, settings)
  if (strict) from.decodeResponse(body, optionsFor(from, settings))
  return { body: model === undefined ? body : from.withModel(body, model), notes: [] }
}

/** Is the response changed? Else it passes between equal protocols as it is. */
export function isChanged(body: unknown, from: Protocol, settings: Settings): boolean {
  const { bridge, context } = settings
  if (!changesResponse(settings)) return false
  try {
    const { value } = from.decodeResponse(body, optionsFor(from, settings))
    const memory = context?.bridge
    const whole = bridge && memory !== undefined ? bridge.response(value, memory, []) : value
    return restoreResponse(whole, [], context, from) !== value
  } catch (error) {
    if (TranslationError.is(error)) return false
    throw error
  }
}

/** The same between different protocols. */
export function translateForeign(
  body: unknown,
  from: UpstreamHalf,
  to: ClientHalf,
  settings: Settings & Exactness,
): TranslatedResponse & Outcome {
  const { strict, model, renewId, context, bridge, keepsDigits = false } = settings
  const { value, notes, fieldNames } = readBody(from.name, body, () =>
    from.decodeResponse(body, optionsFor(from, settings)),
  )
  const { request } = context ?? {}
  const memory = context?.bridge
  const whole = bridge && memory !== undefined ? bridge.response(value, memory, notes) : value
  const { id, ...nameless } = restoreResponse(withTrueEnds(withCallIds(whole)), notes, context, to)
  const restored: CanonicalResponse = Object.assign(nameless, keptId(id, renewId))
  const named = model ?? restored.model ?? request?.model
  const encoding = Object.assign({}, optionsFor(to, settings), {
    fieldNames: placesIn(fieldNames, from),
  })
  const encoded = restored.error
    ? encodeFailure(restored.error, to, encoding)
    : to.encodeResponse(named === undefined ? restored : { ...restored, model: named }, encoding)
  const report = createReport(to.name, translateNotes, encoding.fieldNames)
  if (restored.error) reportDroppedContent(restored, report)
  const isRenewed = id !== undefined && restored.id === undefined
  const all = withDigits(
    [...notes, ...(isRenewed ? ofRenewedId(encoded.notes) : encoded.notes), ...report.notes],
    keepsDigits,
  )
  refuseIfStrict(all, strict, to.name)
  return {
    body: encoded.wire,
    notes: all,
    ...(encoded.signatures && { signatures: encoded.signatures }),
    ...outcomeOf(restored),
  }
}

function outcomeOf({
  usage,
  candidates,
  error = failedEnd(candidates[0]?.finish),
}: CanonicalResponse): Outcome {
  return { ...(usage && { usage }), ...(error && { error }) }
}

/**
 * An HTTP error of one protocol → the same error of another, with its status and retry headers.
 * @throws TranslationError `inexpressible` when `strict` forbids a note, and only then
 */
export function translateError(
  error: WireError,
  from: ProtocolFacts,
  to: ClientHalf,
  settings: Settings,
): WireError & { notes: Note[] } {
  if (from.name === to.name) return { ...error, notes: [] }
  const { value, notes } = from.decodeError(error, optionsFor(from, settings))
  const words = retryWords(error.headers)
  const hint = words['retry-after']
    ? undefined
    : (value.retryAfterMs ?? writtenHint(value, settings.now))
  const hinted = hint === undefined ? value : { ...value, retryAfterMs: hint }
  const encoded = to.encodeError(hinted, {
    ...optionsFor(to, settings),
    fieldNames: from.fieldNames,
  })
  const all = [...notes, ...encoded.notes]
  refuseIfStrict(all, settings.strict, to.name)
  return {
    ...encoded.wire,
    headers: { ...words, ...encoded.wire.headers },
    notes: all,
  }
}

/** An HTTP error response. `headers`: as an object, or as the `Headers` of `fetch`. */
export type ErrorResponse = {
  status: number
  headers?: Readonly<Record<string, string>> | Headers
  body: unknown
}

/**
 * The error of a caller, with headers, and without a body that is no JSON value.
 * @throws TypeError with the path of what is no error
 */
export function checkedError(error: ErrorResponse): WireError {
  const { status, headers = {}, body }: ErrorResponse = Object(error)
  if (!Number.isFinite(status)) throw new TypeError('error.status: expected a number')
  if (!isObject(headers)) throw new TypeError('error.headers: expected an object or Headers')
  const entries: Iterable<[string, string]> =
    Symbol.iterator in headers ? (headers as Iterable<[string, string]>) : Object.entries(headers)
  return { status, headers: Object.fromEntries(entries), body: isJson(body) ? body : undefined }
}

/** False for a cyclic value, a bigint and a function. */
function isJson(body: unknown): boolean {
  try {
    return JSON.stringify(body) !== undefined
  } catch {
    return false
  }
}

/**
 * The error as the body of a response, which has no status and headers of its own: what the target
 * can express only there is dropped with a note.
 */
function encodeFailure(
  error: CanonicalError,
  to: ClientHalf,
  options: CodecOptions,
): Encoded<unknown> {
  const { wire, notes: ofError } = to.encodeError(error, options)
  // A changed status is noted where the source has it in its body.
  const notes = ofError.filter(({ code }) => code !== 'error.status')
  const report = createReport(to.name, translateNotes, options.fieldNames, notes)
  const shown = to.decodeError({ body: wire.body, status: 0, headers: {} }).value
  for (const field of ['requestId', 'retryAfterMs'] as const)
    if (shown[field] !== error[field]) report.add('field.unsupported', error.at ?? '/error', field)
  if (
    error.protocol !== undefined &&
    (shown.status !== wire.status || notes.length < ofError.length)
  )
    report.add('error.status', error.at ?? '/error', 'status')
  return { wire: wire.body, notes }
}
