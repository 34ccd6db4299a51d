import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import {
  impliesType,
  listed,
  losesStatus,
  splitDetails,
  unreadOf,
} from '../../kit/errors/details.ts'
import { isOverflowMessage } from '../../kit/errors/full-context.ts'
import { bodyOf, placeOf } from '../../kit/errors/place.ts'
import { errorHeaders, headerOf, isHeaderValue, retryHint } from '../../kit/errors/retry-hint.ts'
import { kindsByWord, errorWords as sharedWords } from '../../kit/errors/shared-words.ts'
import { kindOfStatus, statusOfKind } from '../../kit/errors/status.ts'
import { omitNullishOrNone, omitUndefined, omitUndefinedOrNone } from '../../kit/fields/omit.ts'
import { isObject, type JsonObject, parseObject } from '../../kit/json/json.ts'
import { pointerOf } from '../../kit/notes/path.ts'
import { asRead } from '../../kit/schema/written.ts'
import { signatureErrorCode } from '../../kit/signatures/signature-errors.ts'
import type { CodecOptions, Decoded, Encoded, WireError } from '../../protocol.ts'
import { createResponsesReport, type ResponsesReport } from './notes.ts'
import type { ResponsesOptions } from './options.ts'
import { fieldsOf, keep, protocolName } from './own.ts'
import type { ResponsesErrorBody, ResponsesErrorObject, ResponsesFailure } from './schema.ts'

/** Values of `code` or `type` that say only whose fault it is: the status may say more. */
const generalWords: ReadonlyMap<string, ErrorKind> = new Map<string, ErrorKind>([
  ['model_error', 'internal'],
  ['server_error', 'internal'],
  ['internal_error', 'internal'],
  ['invalid_prompt', 'invalid_request'],
  ['invalid_request', 'invalid_request'],
  ['invalid_request_error', 'invalid_request'],
  ['invalid_encrypted_content', 'invalid_request'],
  ['invalid_value', 'invalid_request'],
  ['string_above_max_length', 'invalid_request'],
  ['data_residency_mismatch', 'invalid_request'],
  ['invalid_image', 'invalid_request'],
  ['invalid_image_format', 'invalid_request'],
  ['invalid_base64_image', 'invalid_request'],
  ['invalid_image_url', 'invalid_request'],
  ['invalid_image_mode', 'invalid_request'],
  ['image_too_large', 'invalid_request'],
  ['image_too_small', 'invalid_request'],
  ['image_parse_error', 'invalid_request'],
  ['image_file_too_large', 'invalid_request'],
  ['image_file_not_found', 'invalid_request'],
  ['unsupported_image_media_type', 'invalid_request'],
  ['empty_image_file', 'invalid_request'],
  ['failed_to_download_image', 'invalid_request'],
])

const kindOfWord = (word: unknown): ErrorKind | undefined =>
  typeof word === 'string' ? (kindsByWord.get(word) ?? generalWords.get(word)) : undefined

const generic = new Set<ErrorKind>(['invalid_request', 'internal'])

function kindOf(code: unknown, type: unknown, status: number | undefined): ErrorKind {
  const byCode = kindOfWord(code)
  if (byCode === 'quota' && status === 402) return 'billing'
  if (byCode && !generic.has(byCode)) return byCode
  const byType = kindOfWord(type)
  if (byType && !generic.has(byType)) return byType
  const byStatus = status === undefined || status < 400 ? undefined : kindOfStatus(status)
  return byStatus ?? byCode ?? byType ?? 'internal'
}

/** Never throws: any body becomes an error that keeps its status. */
export function decodeError(
  { status, headers, body }: WireError,
  { now }: CodecOptions = {},
): Decoded<CanonicalError> {
  const parsed = typeof body === 'string' ? (parseObject(body) ?? body) : body
  const error = readError(parsed, status >= 400 ? status : undefined)
  const requestId = headerOf(headers, 'x-request-id')
  const retryAfterMs = retryHint(headers, now)
  const more = omitUndefined({ requestId, retryAfterMs })
  return {
    value: omitUndefined({
      ...error,
      ...more,
      status: status >= 400 ? status : error.status,
      raw: body,
    }),
    notes: [],
  }
}

/**
 * The `error` of a body, of a failed response or of a stream's event, nested or flat → canonical
 * error.
 */
export function readError(body: unknown, status?: number): CanonicalError {
  const holder = Array.isArray(body) ? body[0] : body
  const inner =
    isObject(holder) && holder['error'] !== undefined && holder['error'] !== null
      ? holder['error']
      : holder
  const beside = isObject(holder) ? holder : {}
  const error: JsonObject = isObject(inner) ? inner : {}
  const { message, type = beside['error_type'], code: ownCode, param, ...more } = error
  // In a stream, the error object has the headers that the same error has over HTTP.
  const headers = isObject(error['headers']) ? error['headers'] : undefined
  // Only keys inside `error` are its details: keys next to it, such as `sequence_number`, belong to
  // the event.
  const isNested = inner !== holder
  const hasDetails = isObject(inner) && isNested
  const code = ownCode ?? (isObject(inner) ? undefined : beside['code'])
  const unread: JsonObject = unreadOf(
    { type: error['type'], code, param },
    value => typeof value === 'number',
  )
  const httpStatus = typeof code === 'number' && code >= 400 && code < 600 ? code : undefined
  const text = messageIn(message, inner, beside)
  const word = kindOf(code, type, status ?? httpStatus)
  const kind = word === 'invalid_request' && isOverflowMessage(text) ? 'context_length' : word
  if (isStrange(error['type'], kind)) unread['type'] = error['type']
  const read: CanonicalError = omitUndefined({
    status: status ?? httpStatus ?? statusOfKind[kind],
    kind,
    message: text,
    ...wordsOf(type, code, param),
    details: hasDetails ? omitUndefinedOrNone({ ...more, ...unread }) : undefined,
    retryAfterMs: headers && retryHint(textsOf(headers), undefined),
    protocol: protocolName,
    raw: body,
    at: placeOf(body, isNested),
  })
  return keep(
    read,
    omitNullishOrNone({ ...besideOf(beside, isNested), ...(!hasDetails && unread) }),
  )
}

/** Type, code and parameter where they are of a kind that they can be. */
function wordsOf(
  type: unknown,
  code: unknown,
  param: unknown,
): Pick<CanonicalError, 'type' | 'code' | 'param'> {
  return omitUndefined({
    type: typeof type === 'string' ? type : undefined,
    code: readCode(code),
    param: typeof param === 'string' || param === null ? param : undefined,
  })
}

function readCode(code: unknown): string | null | undefined {
  if (code === null) return null
  return typeof code === 'string' || typeof code === 'number' ? String(code) : undefined
}

/** The message of an error object, or of what is around it. */
function messageIn(
  message: unknown,
  inner: unknown,
  { message: outer, detail }: JsonObject,
): string {
  const inside = textOf(message) ?? listed(message) ?? textOf(inner)
  return (
    inside ??
    textOf(outer) ??
    textOf(detail) ??
    listed(detail) ??
    'the upstream failed without a message'
  )
}

/**
 * A type that the kind does not imply, which all other protocols drop. `error` is that of the
 * event.
 */
function isStrange(type: unknown, kind: ErrorKind): boolean {
  if (typeof type !== 'string' || type === '' || type === 'error' || type === errorWords[kind].type)
    return false
  const ofType = kindOfWord(type)
  return !ofType || !impliesType(ofType, kind, statusOfKind[kind])
}

/** Unknown keys next to the known ones of an error; those of the event around it are known. */
function besideOf(
  { error, type: _t, sequence_number: _n, ...beside }: JsonObject,
  isNested: boolean,
): JsonObject {
  if (kindOfWord(beside['error_type'])) beside['error_type'] = undefined
  // An `error` object has its own code and message, so any next to it are unknown keys.
  if (isNested && isObject(error)) return omitUndefined(beside)
  const { code: _c, message: _m, detail: _d, ...others } = omitUndefined(beside)
  if (isNested) return others
  const { param: _p, headers: _h, ...more } = others
  return more
}

/** The `error` of a failed response. */
export const readFailure = (error: unknown): CanonicalError => readError({ error })

/** The error of a stream's event. Its `raw` is the body that the same error has over HTTP. */
export const readEvent = (event: JsonObject): CanonicalError => ({
  ...readError(event),
  raw: { error: event['error'] ?? event },
})

const textsOf = (headers: JsonObject) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** Notes: a status that exists only in the source protocol, details that have no place here. */
export function encodeError(
  value: CanonicalError,
  options: CodecOptions & ResponsesOptions = {},
): Encoded<WireError<ResponsesErrorBody>> {
  const report = createResponsesReport(options.fieldNames)
  const own = value.protocol === protocolName
  const status = own ? value.status : statusOf(value)
  if (status !== value.status && value.status >= 400)
    report.add('error.status', undefined, 'status')
  noteError(value, report)
  const body: ResponsesErrorBody =
    own && value.raw !== undefined ? asRead(value.raw) : { error: errorObject(value) }
  const { requestId } = value
  if (requestId !== undefined && !isHeaderValue(requestId))
    report.add('field.unsupported', value.at ?? '/error', 'requestId')
  return {
    wire: { status, headers: errorHeaders(value, 'x-request-id'), body },
    notes: report.notes,
  }
}

/** Notes what `{message, type, param, code}` cannot hold of an error. */
function noteError(
  { kind, code, details, protocol: of, at = '/error', ext }: CanonicalError,
  report: ResponsesReport,
): void {
  report.ext(ext, bodyOf(pointerOf(at)))
  if (of === protocolName) return
  const { others } = splitDetails(details)
  if (others !== undefined) report.addKeys('error.details', at, 'details', others)
  if (typeof code === 'string' && code !== codeOf(kind, code))
    report.add('field.unsupported', at, 'code')
}

/** Other protocols share many codes with this one: a code is written if it means the same here. */
/** Clients tell an overload from other failures by this code or `slow_down`, and ask less often. */
const overloaded = 'server_is_overloaded'
const errorWords: typeof sharedWords = {
  ...sharedWords,
  overloaded: { ...sharedWords.overloaded, code: overloaded },
}

function codeOf(kind: ErrorKind, code: CanonicalError['code']): string | null {
  if (kind === 'overloaded') return code === 'slow_down' ? code : overloaded
  return typeof code === 'string' && kindOfWord(code) === kind ? code : errorWords[kind].code
}

/**
 * As `noteError`, for an error inside a response or a stream. `only`: it is only in the failed
 * response, which has only code and message.
 */
export function noteFailure(error: CanonicalError, only: boolean, report: ResponsesReport): void {
  noteError(error, report)
  if (error.protocol === protocolName) return
  const { at = '/error', requestId, param } = error
  if (requestId !== undefined) report.add('field.unsupported', at, 'requestId')
  const read = readError(only ? failureOf(error) : streamError(error))
  if (only && param !== undefined && param !== null) report.add('field.unsupported', at, 'param')
  if (only && read.kind !== error.kind) report.add('error.code', at)
  else if (losesStatus(error, read)) report.add('error.status', at, 'status')
}

/**
 * The upstream's HTTP status, or the table's where clients would misread it: for `overloaded`, and
 * for a wrong key with status 400.
 */
function statusOf({ kind, status }: CanonicalError): number {
  if (kind === 'overloaded' || (kind === 'authentication' && status === 400))
    return statusOfKind[kind]
  return status >= 400 && status < 600 ? status : statusOfKind[kind]
}

/** `{message, type, param, code}` as in an HTTP body. */
function errorObject({
  kind,
  message,
  type,
  code,
  param,
  details,
  protocol: of,
}: CanonicalError): ResponsesErrorObject {
  const row = errorWords[kind]
  const own = of === protocolName
  return {
    message,
    type: (own ? type : undefined) ?? row.type,
    param: param ?? null,
    code: own && code !== undefined ? code : (codeOf(kind, code) ?? signatureErrorCode(message)),
    ...splitDetails(details).shared,
  }
}

/**
 * The payload of an `error` event. The provider always sends a string as code, and some clients
 * ignore an event without one.
 */
export function streamError(error: CanonicalError): ResponsesErrorBody {
  const { code, ...body } = errorObject(error)
  const own = error.protocol === protocolName
  const hasOwnCode = own && error.code !== undefined
  const more = own && isObject(error.details) ? error.details : {}
  return {
    ...fieldsOf(error.ext),
    error: { ...more, ...body, code: hasOwnCode ? code : (code ?? body.type) },
  }
}

/**
 * The closed list of the reference for `response.error.code`, and one more value that servers send.
 */
const failureCodes = new Set([
  'server_error',
  'rate_limit_exceeded',
  'invalid_prompt',
  'data_residency_mismatch',
  'bio_policy',
  'misalignment_policy_violation',
  'vector_store_timeout',
  'insufficient_quota',
])

/** `response.error` of a failed response. */
export function failureOf({
  kind,
  code,
  message,
  details,
  protocol: of,
}: CanonicalError): ResponsesFailure {
  const own = of === protocolName
  const more = { message, ...(own && isObject(details) ? details : splitDetails(details).shared) }
  if (own && typeof code === 'string') return { code, ...more }
  const wireCode = codeOf(kind, code)
  const word = wireCode !== null && failureCodes.has(wireCode) ? wireCode : errorWords[kind].code
  return {
    code:
      word !== null &&
      (failureCodes.has(word) || kind === 'context_length' || kind === 'overloaded')
        ? word
        : 'server_error',
    ...more,
  }
}
