import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import { listed, losesStatus } from '../../kit/errors/details.ts'
import { damagedStream } from '../../kit/errors/failed-response.ts'
import { isOverflowMessage } from '../../kit/errors/full-context.ts'
import { bodyOf, placeOf } from '../../kit/errors/place.ts'
import { errorHeaders, headerOf, isHeaderValue, retryHint } from '../../kit/errors/retry-hint.ts'
import { kindOfStatus } from '../../kit/errors/status.ts'
import { keysOf, unknownOf } from '../../kit/fields/keys.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../kit/json/json.ts'
import { pointerOf } from '../../kit/notes/path.ts'
import { asRead } from '../../kit/schema/written.ts'
import type { CodecOptions, Decoded, Encoded, WireError } from '../../protocol.ts'
import { type ConverseReport, createConverseReport } from './notes.ts'
import { keep, protocolName, withInner } from './own.ts'
import type { ConverseErrorBody, ConverseStreamException } from './schema.ts'

/** Exception and status of each kind, as they are written. The service has no other statuses. */
const exceptions: Readonly<Record<ErrorKind, { name: string; status: number }>> = {
  invalid_request: { name: 'ValidationException', status: 400 },
  unprocessable: { name: 'ValidationException', status: 400 },
  too_large: { name: 'ValidationException', status: 400 },
  unsupported: { name: 'ValidationException', status: 400 },
  conflict: { name: 'ValidationException', status: 400 },
  context_length: { name: 'ValidationException', status: 400 },
  content_policy: { name: 'ValidationException', status: 400 },
  quota: { name: 'ServiceQuotaExceededException', status: 400 },
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
const invalidModel = /provided model identifier is invalid/i

/** How the service reports a full context window; clients match such words. */
const tooLong =
  /input is too long|too many input tokens|prompt is too long|input tokens exceeded|exceeds? (?:the )?maximum (?:input )?length/i

/** Never throws: any body becomes an error that keeps its status. */
export function decodeError(
  { status, headers, body }: WireError,
  { now }: CodecOptions = {},
): Decoded<CanonicalError> {
  const { message, type, details, at, fields } = readBody(body)
  const name = headerOf(headers, 'x-amzn-errortype') ?? type
  const short = name === undefined ? undefined : shortName(name)
  const bare = name === undefined ? '' : bareName(name)
  const byName = kinds.get(bare)
  const known =
    status >= 400 ? status : (statuses.get(bare) ?? exceptions[byName ?? 'internal'].status)
  const value: CanonicalError = omitUndefined({
    status: known,
    kind: kindOf(known, byName, message ?? '', details),
    message: message || `the upstream responded with status ${status}`,
    type: short,
    requestId: headerOf(headers, 'x-amzn-requestid'),
    retryAfterMs: retryHint(headers, now),
    details,
    protocol: protocolName,
    raw: body,
    at,
  })
  return { value: keep(value, fields), notes: [] }
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
    return kind
  }
  const { originalStatusCode } = details ?? {}
  if (
    kind === 'internal' &&
    typeof originalStatusCode === 'number' &&
    originalStatusCode >= 400 &&
    originalStatusCode < 500
  )
    return 'invalid_request'
  return kind === 'unavailable' && overload.test(message) ? 'overloaded' : kind
}

type ReadError = {
  message?: string
  type?: string
  details?: JsonObject
  at?: string
  fields?: JsonObject | undefined
}

const known = [
  'message',
  'Message',
  '__type',
  'originalStatusCode',
  'originalMessage',
  'resourceName',
] as const
const knownKeys = keysOf<Record<(typeof known)[number] | 'error' | 'detail', unknown>>()
const bareKeys = knownKeys(...known, 'detail')
const outerKeys = knownKeys('error', 'message', 'detail')
const innerKeys = knownKeys(...known)

function readBody(body: unknown): ReadError {
  if (typeof body === 'string') return { message: body.slice(0, 2000), at: '' }
  const outer = Array.isArray(body) ? (body[0] as unknown) : body
  if (!isObject(outer)) return { at: '' }
  const { error, detail } = outer
  if (typeof error === 'string')
    return { message: error, fields: unknownOf(outer, outerKeys), at: '' }
  // Proxies send the shapes of others.
  const isNested = isObject(error)
  const inner = isNested ? error : outer
  const {
    message,
    Message,
    __type: type,
    originalStatusCode,
    originalMessage,
    resourceName,
  } = inner
  const text =
    asString(message) ??
    asString(Message) ??
    listed(message) ??
    asString(outer['message']) ??
    asString(detail) ??
    listed(detail)
  return omitUndefined({
    message: text,
    type: asString(type),
    details: omitUndefinedOrNone({ originalStatusCode, originalMessage, resourceName }),
    at: placeOf(body, isNested) ?? '/error',
    fields: isNested
      ? withInner(unknownOf(outer, outerKeys), 'error', unknownOf(inner, innerKeys))
      : unknownOf(inner, bareKeys),
  })
}

const asString = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** The HTTP status of an error in this protocol. */
export function statusOf({ status, kind, protocol }: CanonicalError): number {
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

/** Status, headers and body. The name of the exception is in a header. */
export function encodeError(
  error: CanonicalError,
  options: CodecOptions = {},
): Encoded<WireError<ConverseErrorBody>> {
  const report = createConverseReport(options.fieldNames)
  const { protocol, type, kind, status, raw } = error
  const isOwn = protocol === protocolName
  if (!isOwn && statusOf(error) !== status && status >= 400)
    report.add('error.status', undefined, 'status')
  noteError(error, report)
  const headers = errorHeaders(error, 'x-amzn-requestid')
  headers['x-amzn-errortype'] =
    isOwn && type !== undefined && isHeaderValue(type) ? type : exceptions[kind].name
  const body =
    isOwn && raw !== undefined && (isObject(raw) || Array.isArray(raw))
      ? asRead<ConverseErrorBody>(raw)
      : encodeErrorBody(error)
  return { wire: { status: statusOf(error), headers, body }, notes: report.notes }
}

/**
 * The body of an error in a stream or a response, which has no status of its own: one that the kind
 * does not imply is dropped with a note. `name`: of the exception, where it is written.
 */
export function encodeBareError(
  error: CanonicalError,
  report: ConverseReport,
  name?: string,
): ConverseErrorBody {
  noteError(error, report)
  const body = encodeErrorBody(error)
  const headers: Record<string, string> = name === undefined ? {} : { 'x-amzn-errortype': name }
  if (losesStatus(error, decodeError({ status: 0, headers, body }).value))
    report.add('error.status', error.at ?? '/error', 'status')
  return body
}

/** Kinds that have the exception and the status of another one. */
const sharing: ReadonlySet<ErrorKind> = new Set(['conflict', 'billing'])

/** Notes what a body of this protocol cannot hold of an error. */
function noteError(
  { kind, type, message, code, param, details, protocol, at = '/error', ext }: CanonicalError,
  report: ConverseReport,
): void {
  report.ext(ext, bodyOf(pointerOf(at)))
  if (protocol === protocolName) return
  if (details !== undefined) report.addKeys('error.details', at, 'details', details)
  if (type !== undefined && sharing.has(kind)) report.add('field.unsupported', at, 'type')
  if (kind === 'context_length' && !tooLong.test(message))
    report.add('error.reworded', at, 'message')
  if (param !== undefined && param !== null) report.add('field.unsupported', at, 'param')
  if (code !== undefined && code !== null) report.add('field.unsupported', at, 'code')
}
