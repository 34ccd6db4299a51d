import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import { impliesType, sharedDetails } from '../../kit/errors/details.ts'
import {
  type ErrorWriting,
  losesStatus,
  noteLost,
  writeError,
} from '../../kit/errors/encode-error.ts'
import { createErrorTable, type ReadError } from '../../kit/errors/error-table.ts'
import { isOverflowMessage } from '../../kit/errors/full-context.ts'
import { headerOf, retryHint } from '../../kit/errors/retry-hint.ts'
import {
  kindsByWord,
  otherCode,
  sharedStatus,
  errorWords as sharedWords,
} from '../../kit/errors/shared-words.ts'
import { orSpent } from '../../kit/errors/spent.ts'
import { kindOfStatus, statusOfKind } from '../../kit/errors/status.ts'
import { omitNullishOrNone, omitUndefined } from '../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../kit/json/json.ts'
import type { CodecOptions, Decoded, Encoded, WireError } from '../../protocol.ts'
import { createResponsesReport, fieldsOf, keep, protocolName, type ResponsesReport } from './own.ts'
import type { ResponsesErrorBody, ResponsesErrorObject, ResponsesFailure } from './written.ts'

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
  const error = readError(body, status >= 400 ? status : undefined)
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

export const errorTable = createErrorTable(
  {
    message: ['message'],
    type: ['type'],
    param: ['param'],
    code: ['code', 'status'],
    '*': ['details'],
  },
  { type: [], error_type: ['type'], sequence_number: [] },
)

/**
 * The `error` of a body, of a failed response or of a stream's event, nested or flat → canonical
 * error.
 */
export function readError(body: unknown, status?: number): CanonicalError {
  const read = errorTable.read(body)
  const { error, outer, message } = read
  const { type = outer['error_type'], param } = error
  const isText = typeof outer['error'] === 'string'
  const code = error['code'] ?? (isText ? outer['code'] : undefined)
  const httpStatus = typeof code === 'number' && code >= 400 && code < 600 ? code : undefined
  const word = kindOf(code, type, status ?? httpStatus)
  const isFull = word === 'invalid_request' && isOverflowMessage(message)
  const kind = isFull ? 'context_length' : orSpent(word, message)
  const { details, ext, retryAfterMs } = restOf(read, kind)
  const value: CanonicalError = omitUndefined({
    status: status ?? httpStatus ?? statusOfKind[kind],
    kind,
    message: message || 'the upstream failed without a message',
    type: typeof type === 'string' ? type : undefined,
    code: readCode(code),
    param: typeof param === 'string' || param === null ? param : undefined,
    details,
    retryAfterMs,
    protocol: protocolName,
    raw: body,
    at: read.at,
  })
  return keep(value, ext)
}

/**
 * What has no field of its own. Only keys inside `error` are its details: those of a flat error
 * belong to the event.
 */
function restOf(read: ReadError, kind: ErrorKind) {
  const { error, outer, isNested } = read
  const { type, code, param } = error
  const unread = [
    ...((type !== undefined && typeof type !== 'string') || isStrange(type, kind) ? ['type'] : []),
    ...(readCode(code) === undefined ? ['code'] : []),
    ...(typeof param === 'string' ? [] : ['param']),
  ]
  const { inside, around } = read.unknown(unread)
  // In a stream, the error object has the headers that the same error has over HTTP.
  const headers = isObject(error['headers']) ? error['headers'] : undefined
  const beside: JsonObject = { ...(isNested ? around : inside) }
  if (typeof outer['error'] === 'string' && readCode(outer['code'])) beside['code'] = undefined
  if (!isNested) beside['headers'] = undefined
  beside['error_type'] = kindOfWord(outer['error_type']) ? undefined : outer['error_type']
  return {
    details: isNested ? inside : undefined,
    ext: omitNullishOrNone(beside),
    retryAfterMs: headers && retryHint(textsOf(headers), undefined),
  }
}

function readCode(code: unknown): string | null | undefined {
  if (code === null) return null
  return typeof code === 'string' || typeof code === 'number' ? String(code) : undefined
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

/** The `error` of a failed response. */
export const readFailure = (error: unknown): CanonicalError => readError({ error })

/** The error of a stream's event. Its `raw` is the body that the same error has over HTTP. */
export const readEvent = (event: JsonObject): CanonicalError => ({
  ...readError(event),
  raw: { error: event['error'] ?? event },
})

const textsOf = (headers: JsonObject) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

const writing: ErrorWriting<ResponsesErrorBody, ResponsesReport> = {
  createReport: createResponsesReport,
  requestId: 'x-request-id',
  decodeError,
  statusOf,
  encodeErrorBody: error => ({ error: errorObject(error) }),
  isReturned: raw => raw !== undefined,
}

/** Notes: a status that exists only in the source protocol, details that have no place here. */
export const encodeError = (
  error: CanonicalError,
  options?: CodecOptions,
): Encoded<WireError<ResponsesErrorBody>> => writeError(writing, error, options)

/** Clients tell an overload from other failures by this code or `slow_down`, and ask less often. */
const overloaded = 'server_is_overloaded'
const errorWords: typeof sharedWords = {
  ...sharedWords,
  overloaded: { ...sharedWords.overloaded, code: overloaded },
}

/** A code of another protocol is written if it means the same here. */
function codeOf(kind: ErrorKind, code: CanonicalError['code']): string | null {
  if (kind === 'overloaded') return code === 'slow_down' ? code : overloaded
  return typeof code === 'string' && kindOfWord(code) === kind ? code : errorWords[kind].code
}

/**
 * Notes what an error inside a response or a stream loses. `only`: it is only in the failed
 * response, which has only code and message.
 */
export function noteFailure(error: CanonicalError, only: boolean, report: ResponsesReport): void {
  const read = readError(only ? failureOf(error) : streamError(error))
  const { kind, code, protocol, at = '/error' } = error
  const isOther = only && read.kind !== kind
  noteLost(error, only ? { ...read, code: codeOf(kind, code) } : read, report)
  if (isOther && protocol !== protocolName) report.add('error.code', at)
  else if (losesStatus(error, read)) report.add('error.status', at, 'status')
}

function statusOf(error: CanonicalError): number {
  const { kind, status, protocol } = error
  if (protocol === protocolName) return status
  return kind === 'overloaded' ? statusOfKind[kind] : sharedStatus(error)
}

/** `{message, type, param, code}` as in an HTTP body. */
function errorObject(error: CanonicalError): ResponsesErrorObject {
  const { kind, message, type, code, param, details, protocol: of } = error
  const row = errorWords[kind]
  const own = of === protocolName
  return {
    message,
    type: (own ? type : undefined) ?? row.type,
    param: param ?? null,
    code: own && code !== undefined ? code : (codeOf(kind, code) ?? otherCode(error)),
    ...sharedDetails(details),
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
  const more = { message, ...(own && isObject(details) ? details : sharedDetails(details)) }
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
