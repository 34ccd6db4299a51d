import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import { type ErrorWriting, writeBareError, writeError } from '../../kit/errors/encode-error.ts'
import { createErrorTable, textOf, unknownAt } from '../../kit/errors/error-table.ts'
import { damagedStream } from '../../kit/errors/failed-response.ts'
import { isOverflowMessage } from '../../kit/errors/full-context.ts'
import { headerOf, isHeaderValue, retryHint } from '../../kit/errors/retry-hint.ts'
import { orSpent } from '../../kit/errors/spent.ts'
import { kindOfStatus } from '../../kit/errors/status.ts'
import { omitNullishOrNone, omitUndefined } from '../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../kit/json/json.ts'
import { asRead } from '../../kit/schema/written.ts'
import type { CodecOptions, Decoded, Encoded, WireError } from '../../protocol.ts'
import { type ConverseReport, createConverseReport, keep, protocolName } from './own.ts'
import type { ConverseErrorBody, ConverseStreamException } from './written.ts'

/**
 * Exception and status of each kind, as they are written. The service has no other statuses. A
 * spent quota is 429 here, not the 400 of the service, which says that the request is at fault: its
 * official client goes by the name.
 */
const exceptions: Readonly<Record<ErrorKind, { name: string; status: number }>> = {
  invalid_request: { name: 'ValidationException', status: 400 },
  unprocessable: { name: 'ValidationException', status: 400 },
  too_large: { name: 'ValidationException', status: 400 },
  unsupported: { name: 'ValidationException', status: 400 },
  conflict: { name: 'ValidationException', status: 400 },
  context_length: { name: 'ValidationException', status: 400 },
  content_policy: { name: 'ValidationException', status: 400 },
  quota: { name: 'ServiceQuotaExceededException', status: 429 },
  authentication: { name: 'UnrecognizedClientException', status: 403 },
  permission: { name: 'AccessDeniedException', status: 403 },
  billing: { name: 'AccessDeniedException', status: 403 },
  not_found: { name: 'ResourceNotFoundException', status: 404 },
  timeout: { name: 'ModelTimeoutException', status: 408 },
  rate_limit: { name: 'ThrottlingException', status: 429 },
  internal: { name: 'InternalServerException', status: 500 },
  cancelled: { name: 'InternalServerException', status: 500 },
  unavailable: { name: 'ServiceUnavailableException', status: 503 },
  overloaded: { name: 'ServiceUnavailableException', status: 503 },
}

/** The kind of each exception, by its name without `Exception`, in lower case. */
const kinds = new Map<string, ErrorKind>([
  ['validation', 'invalid_request'],
  ['servicequotaexceeded', 'quota'],
  ['unrecognizedclient', 'authentication'],
  ['invalidsignature', 'authentication'],
  ['expiredtoken', 'authentication'],
  ['missingauthenticationtoken', 'authentication'],
  ['incompletesignature', 'authentication'],
  ['accessdenied', 'permission'],
  ['resourcenotfound', 'not_found'],
  ['modeltimeout', 'timeout'],
  ['throttling', 'rate_limit'],
  ['toomanyrequests', 'rate_limit'],
  ['modelnotready', 'unavailable'],
  ['internalserver', 'internal'],
  ['modelerror', 'internal'],
  ['modelstreamerror', 'internal'],
  ['serviceunavailable', 'unavailable'],
  ['conflict', 'conflict'],
  ['damagedstream', 'internal'],
])

/** `com.amazon#ThrottlingException:http://…` → `throttling`. */
const bareName = (name: string): string =>
  shortName(name)
    .replace(/Exception$/i, '')
    .toLowerCase()

const shortName = (name: string): string =>
  name.slice(name.lastIndexOf('#') + 1).replace(/:.*$/s, '')

/** Statuses of exceptions that are read only. */
const statuses = new Map<string, number>([
  ['modelerror', 424],
  ['modelstreamerror', 424],
  ['modelnotready', 429],
  // The service has not said this.
  [bareName(damagedStream), 502],
])

/** The exceptions that a stream may end with. */
const inStreams: Partial<Record<ErrorKind, ConverseStreamException>> = {
  invalid_request: 'validationException',
  unprocessable: 'validationException',
  too_large: 'validationException',
  unsupported: 'validationException',
  conflict: 'validationException',
  context_length: 'validationException',
  content_policy: 'validationException',
  rate_limit: 'throttlingException',
  unavailable: 'serviceUnavailableException',
  overloaded: 'serviceUnavailableException',
}

/** The exception that ends a stream for this kind of error; clients recognize only these five. */
export const exceptionOf = (kind: ErrorKind): ConverseStreamException =>
  inStreams[kind] ?? 'internalServerException'

const overload = /overload/i
const unpaid = /INVALID_PAYMENT_INSTRUMENT|payment instrument/
const invalidModel = /provided model identifier is invalid/i

/** How the service reports a full context window; clients match such words. */
const tooLong =
  /input is too long|too many input tokens|prompt is too long|input tokens exceeded|exceeds? (?:the )?maximum (?:input )?length/i

export const errorTable = createErrorTable({
  message: ['message'],
  Message: ['message'],
  __type: ['type', 'status'],
  originalStatusCode: ['details'],
  originalMessage: ['details'],
  resourceName: ['details'],
})

/** Never throws: any body becomes an error that keeps its status. */
export function decodeError(
  { status, headers, body }: WireError,
  { now }: CodecOptions = {},
): Decoded<CanonicalError> {
  const read = errorTable.read(body)
  const { error, message, at } = read
  const { __type: type, originalStatusCode, originalMessage, resourceName } = error
  const details = omitNullishOrNone({ originalStatusCode, originalMessage, resourceName })
  const name = headerOf(headers, 'x-amzn-errortype') ?? textOf(type)
  const bare = name === undefined ? '' : bareName(name)
  const byName = kinds.get(bare)
  const known =
    status >= 400 ? status : (statuses.get(bare) ?? exceptions[byName ?? 'internal'].status)
  const value: CanonicalError = omitUndefined({
    status: known,
    kind: kindOf(known, byName, message, details),
    message: message || `the upstream responded with status ${status}`,
    type: name === undefined ? undefined : shortName(name),
    requestId: headerOf(headers, 'x-amzn-requestid'),
    retryAfterMs: retryHint(headers, now),
    details,
    protocol: protocolName,
    raw: body,
    at,
  })
  const isKnown = kinds.has(bareName(textOf(type) ?? ''))
  return { value: keep(value, unknownAt(read, read.unknown(isKnown ? [] : ['__type']))), notes: [] }
}

function kindOf(
  status: number,
  byName: ErrorKind | undefined,
  message: string,
  details: JsonObject | undefined,
): ErrorKind {
  const kind = byName ?? kindOfStatus(status)
  if (kind === 'invalid_request') {
    if (tooLong.test(message) || isOverflowMessage(message)) return 'context_length'
    if (invalidModel.test(message)) return 'not_found'
    if (status === 413) return 'too_large'
    if (status === 422) return 'unprocessable'
    return orSpent(kind, message)
  }
  const { originalStatusCode } = details ?? {}
  if (
    kind === 'internal' &&
    typeof originalStatusCode === 'number' &&
    originalStatusCode >= 400 &&
    originalStatusCode < 500
  )
    return 'invalid_request'
  if (unpaid.test(message) && kind === 'permission') return 'billing'
  return kind === 'unavailable' && overload.test(message) ? 'overloaded' : orSpent(kind, message)
}

/** The HTTP status of an error in this protocol. */
function statusOf({ status, kind, protocol }: CanonicalError): number {
  // `unsupported` errors of this library keep their status: a response that `strict` refuses is no
  // fault of the request.
  if (
    protocol === protocolName ||
    (protocol === undefined && kind === 'unsupported' && status >= 400)
  )
    return status
  return (kind === 'invalid_request' || kind === 'internal') && status >= 400
    ? status
    : exceptions[kind].status
}

/** The body of an error. */
export function encodeErrorBody(error: CanonicalError): ConverseErrorBody {
  const { kind, message, protocol, raw } = error
  if (protocol === protocolName && isObject(raw) && typeof raw['message'] === 'string')
    return asRead(raw)
  if (protocol === protocolName && isObject(raw) && typeof raw['Message'] === 'string') {
    const { Message, ...others } = raw
    return asRead({ message: Message, ...others })
  }
  return {
    message:
      kind === 'context_length' && !tooLong.test(message)
        ? `Input is too long for requested model. ${message}`
        : message,
  }
}

const writing: ErrorWriting<ConverseErrorBody, ConverseReport> = {
  createReport: createConverseReport,
  requestId: 'x-amzn-requestid',
  decodeError,
  statusOf,
  encodeErrorBody,
  isReturned: raw => isObject(raw) || Array.isArray(raw),
  headersOf: ({ kind, type, protocol }) => ({
    'x-amzn-errortype':
      protocol === protocolName && type !== undefined && isHeaderValue(type)
        ? type
        : exceptions[kind].name,
  }),
  noteMore: noteType,
}

/** Status, headers and body. The name of the exception is in a header. */
export const encodeError = (
  error: CanonicalError,
  options?: CodecOptions,
): Encoded<WireError<ConverseErrorBody>> => writeError(writing, error, options)

/** The body of an error in a stream or a response. `name`: of the exception, where it is written. */
export const encodeBareError = (
  error: CanonicalError,
  report: ConverseReport,
  name?: string,
): ConverseErrorBody =>
  writeBareError(writing, error, report, name === undefined ? {} : { 'x-amzn-errortype': name })

/** Kinds that have the exception and the status of another one. */
const sharing: ReadonlySet<ErrorKind> = new Set(['conflict', 'billing'])

function noteType({ kind, type, at = '/error' }: CanonicalError, report: ConverseReport): void {
  if (type !== undefined && sharing.has(kind)) report.add('field.unsupported', at, 'type')
}
