import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import { listed } from '../../kit/errors/details.ts'
import { countsIn, outputOverflowIn } from '../../kit/errors/full-context.ts'
import { bodyOf, placeOf } from '../../kit/errors/place.ts'
import { errorHeaders, headerOf, retryHint } from '../../kit/errors/retry-hint.ts'
import { kindOfStatus, statusOfKind } from '../../kit/errors/status.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { isObject, type JsonObject, merge } from '../../kit/json/json.ts'
import { pointerOf } from '../../kit/notes/path.ts'
import { asRead } from '../../kit/schema/written.ts'
import type { CodecOptions, Decoded, Encoded, WireError } from '../../protocol.ts'
import { createGeminiReport, type GenerateContentReport } from './notes.ts'
import { extOf, ownFields, protocolName, under } from './own.ts'
import type { GenerateContentErrorBody, GenerateContentErrorDetail } from './schema.ts'

/** What this protocol does not have is not implemented. */
const statuses: Readonly<Record<ErrorKind, number>> = { ...statusOfKind, unsupported: 501 }

/** The `status` string of every kind. A string is decoded by the first kind that has it. */
const words: Readonly<Record<ErrorKind, string>> = {
  invalid_request: 'INVALID_ARGUMENT',
  authentication: 'UNAUTHENTICATED',
  permission: 'PERMISSION_DENIED',
  not_found: 'NOT_FOUND',
  conflict: 'ABORTED',
  rate_limit: 'RESOURCE_EXHAUSTED',
  cancelled: 'CANCELLED',
  internal: 'INTERNAL',
  unsupported: 'UNIMPLEMENTED',
  unavailable: 'UNAVAILABLE',
  timeout: 'DEADLINE_EXCEEDED',
  billing: 'FAILED_PRECONDITION',
  too_large: 'INVALID_ARGUMENT',
  unprocessable: 'INVALID_ARGUMENT',
  quota: 'RESOURCE_EXHAUSTED',
  overloaded: 'UNAVAILABLE',
  context_length: 'INVALID_ARGUMENT',
  content_policy: 'INVALID_ARGUMENT',
}

/** More `status` strings for reading; they win. */
const otherWords: readonly (readonly [word: string, kind: ErrorKind])[] = [
  ['FAILED_PRECONDITION', 'invalid_request'],
  ['OUT_OF_RANGE', 'invalid_request'],
  ['ALREADY_EXISTS', 'conflict'],
  ['UNKNOWN', 'internal'],
  ['DATA_LOSS', 'internal'],
]

const byWord = new Map<unknown, ErrorKind>([
  ...Object.entries(words)
    .map(([kind, word]) => [word, kind as ErrorKind] as const)
    .reverse(),
  ...otherWords,
])

/**
 * Messages of this protocol's own servers for a full context, an overloaded server and a missing
 * payment.
 */
const tooLong = /input token count.{0,80}exceeds the maximum/i
const overload = /overload/i
const unpaid = /\bbilling\b/i

const types = 'type.googleapis.com/google.rpc.'

/**
 * An error body, alone or in the array that is a stream without frames. Some intermediaries send
 * `error` as a string.
 */
export function isErrorBody(wire: unknown): boolean {
  const outer = Array.isArray(wire) ? wire[0] : wire
  const error = isObject(outer) ? outer['error'] : undefined
  return isObject(error) || (typeof error === 'string' && error !== '')
}

/** Never throws: any body becomes an error that keeps its status. */
export function decodeError(
  { status, headers, body }: WireError,
  { now }: CodecOptions = {},
): Decoded<CanonicalError> {
  const { code, message, word, details, at, isNested, fields = {} } = readBody(body)
  const codeAsStatus =
    typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600
      ? code
      : undefined
  const kindOfWord = word === undefined ? undefined : byWord.get(word)
  const known = status >= 400 ? status : (codeAsStatus ?? statuses[kindOfWord ?? 'internal'])
  const list = Array.isArray(details) ? details.filter(isObject) : []
  const value: CanonicalError = omitUndefined({
    status: known,
    kind: kindOf(known, kindOfWord, message ?? '', list),
    message: message || `the upstream responded with status ${status}`,
    type: word,
    code: asString(ofType(list, 'ErrorInfo')?.['reason']),
    param: fieldOf(list),
    requestId:
      headerOf(headers, 'x-request-id') ?? asString(ofType(list, 'RequestInfo')?.['requestId']),
    retryAfterMs: retryAfter(list) ?? retryHint(headers, now),
    details: Array.isArray(details) && details.length === 0 ? undefined : (details ?? undefined),
    protocol: protocolName,
    raw: body,
    at,
    ext: extOf(
      code == null || code === known
        ? fields
        : merge(fields, isNested ? { error: { code } } : { code }),
    ),
  })
  return { value, notes: [] }
}

/** An error inside a response. */
export const decodeErrorInside = (body: unknown): CanonicalError =>
  decodeError({ status: 0, headers: {}, body }).value

function kindOf(
  status: number,
  byItsWord: ErrorKind | undefined,
  message: string,
  details: readonly JsonObject[],
): ErrorKind {
  if (ofType(details, 'ErrorInfo')?.['reason'] === 'API_KEY_INVALID') return 'authentication'
  const kind = byItsWord ?? kindOfStatus(status)
  if (kind === 'invalid_request') {
    if (tooLong.test(message)) return 'context_length'
    if (status === 402 || unpaid.test(message)) return 'billing'
    if (status === 413) return 'too_large'
    if (status === 422) return 'unprocessable'
    return kind
  }
  // A daily quota that is used up cannot be solved by a short wait.
  if (kind === 'rate_limit')
    return JSON.stringify(ofType(details, 'QuotaFailure') ?? '').includes('PerDay') ? 'quota' : kind
  return kind === 'unavailable' && overload.test(message) ? 'overloaded' : kind
}

type ReadError = {
  code?: unknown
  message?: string
  word?: string
  details?: unknown
  /** JSON pointer to the error, when it was not under `error`. */
  at?: string
  isNested?: boolean
  /** Unknown fields. */
  fields?: JsonObject
}

function readBody(body: unknown): ReadError {
  if (typeof body === 'string') return { message: body.slice(0, 2000) }
  const outer = Array.isArray(body) ? (body[0] as unknown) : body
  if (!isObject(outer)) return {}
  const { error, ...beside } = outer
  if (typeof error === 'string') return { message: error, fields: beside }
  const inner = isObject(error) ? error : outer
  const { code, details, message, status, ...more } = inner
  const { detail } = outer
  // A status that belongs to no kind of error is kept as an unknown field.
  const unknowns = byWord.has(status) ? more : { ...more, status }
  const left = Object.fromEntries(
    Object.entries(unknowns).filter(
      ([key, value]) => value != null && (inner === error || key !== 'detail'),
    ),
  )
  const unknown: JsonObject = inner === error ? { ...beside, ...under('error', left) } : left
  return omitUndefined({
    code,
    message:
      asString(message) ??
      listed(message) ??
      asString(outer['message']) ??
      asString(detail) ??
      listed(detail),
    word: asString(status),
    details,
    at: placeOf(body, inner === error),
    isNested: inner === error,
    fields: unknown,
  })
}

const asString = (value: unknown) => (typeof value === 'string' ? value : undefined)

const ofType = (details: readonly JsonObject[], type: string): JsonObject | undefined =>
  details.find(detail => detail['@type'] === types + type)

function fieldOf(details: readonly JsonObject[]): string | undefined {
  const violations = ofType(details, 'BadRequest')?.['fieldViolations']
  const first: unknown = Array.isArray(violations) ? violations[0] : undefined
  return isObject(first) ? asString(first['field']) : undefined
}

function retryAfter(details: readonly JsonObject[]): number | undefined {
  const delay = /^(\d+(?:\.\d+)?)s$/.exec(
    asString(ofType(details, 'RetryInfo')?.['retryDelay']) ?? '',
  )
  return delay ? Math.round(Number(delay[1]) * 1000) : undefined
}

/** The HTTP status of an error in this protocol. */
export function statusOf({ status, kind, protocol }: CanonicalError): number {
  if (protocol === protocolName) return status
  // Refusals by this library keep their own status, because clients retry a 501.
  if (protocol === undefined && kind === 'unsupported' && status >= 400) return status
  const known =
    (kind === 'invalid_request' || kind === 'internal') && status >= 400 ? status : statuses[kind]
  return known > 599 ? 500 : known
}

/**
 * The body of an error, also used as the event of a failed stream. Clients recognize an error only
 * with a number in `code`.
 */
export function encodeErrorBody(error: CanonicalError): GenerateContentErrorBody {
  const { kind, message: text, type, param, requestId, retryAfterMs, protocol, raw, ext } = error
  const original: unknown = Array.isArray(raw) ? raw[0] : raw
  if (
    protocol === protocolName &&
    isObject(original) &&
    isObject(original['error']) &&
    Number.isInteger(original['error']['code'])
  )
    return asRead(original)
  const message = isReworded(error) ? asTooLong(text) : text
  const details: GenerateContentErrorDetail[] = []
  if (param)
    details.push({
      '@type': `${types}BadRequest`,
      fieldViolations: [{ field: param, description: message }],
    })
  if (retryAfterMs !== undefined)
    details.push({ '@type': `${types}RetryInfo`, retryDelay: `${retryAfterMs / 1000}s` })
  if (requestId !== undefined) details.push({ '@type': `${types}RequestInfo`, requestId })
  const own = protocol === protocolName
  const word = own && type !== undefined ? type : words[kind]
  const fields = ownFields(ext)
  const shown: GenerateContentErrorDetail[] =
    own && Array.isArray(error.details) ? asRead(error.details) : details
  const known: GenerateContentErrorBody['error'] = {
    code: statusOf(error),
    message,
    status: word,
    ...(shown.length > 0 && { details: shown }),
  }
  return {
    ...fields,
    error: { ...(isObject(fields?.['error']) && fields['error']), ...known },
  }
}

/**
 * A full context has no `status` of its own: clients recognize the server's wording, which is put
 * before the message, unless the prompt fits.
 */
const isReworded = ({ kind, message }: CanonicalError) =>
  kind === 'context_length' && !tooLong.test(message) && !outputOverflowIn(message)

function asTooLong(message: string): string {
  const counts = countsIn(message)
  if (!counts)
    return `The input token count exceeds the maximum number of tokens allowed. ${message}`
  return `The input token count (${counts.count}) exceeds the maximum number of tokens allowed (${counts.limit}). ${message}`
}

/** An error as status, headers and body. */
export function encodeError(
  error: CanonicalError,
  options: CodecOptions = {},
): Encoded<WireError<GenerateContentErrorBody>> {
  const report = createGeminiReport(options.fieldNames)
  const { protocol } = error
  const headers = errorHeaders(error, 'x-request-id')
  if (protocol !== protocolName && statusOf(error) !== error.status && error.status >= 400)
    report.add('error.status', undefined, 'status')
  noteError(error, report)
  const isReceived = protocol === protocolName && isErrorBody(error.raw)
  return {
    wire: {
      status: statusOf(error),
      headers,
      body: isReceived ? asRead(error.raw) : encodeErrorBody(error),
    },
    notes: report.notes,
  }
}

/** Notes what a body of this protocol cannot hold of an error. */
export function noteError(error: CanonicalError, report: GenerateContentReport): void {
  const { code, details, protocol, at = '/error', ext } = error
  report.ext(ext, bodyOf(pointerOf(at)))
  if (protocol === protocolName) return
  if (isReworded(error)) report.add('error.reworded', at, 'message')
  if (details !== undefined) report.addKeys('error.details', at, 'details', details)
  if (code !== undefined && code !== null) report.add('field.unsupported', at, 'code')
}
