import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import type { Place } from '../../canonical/message.ts'
import { impliesType, listed, losesStatus } from '../../kit/errors/details.ts'
import { countsIn, outputOverflowIn } from '../../kit/errors/full-context.ts'
import { bodyOf, placeOf } from '../../kit/errors/place.ts'
import { errorHeaders, headerOf, retryHint } from '../../kit/errors/retry-hint.ts'
import { kindOfStatus, statusOfKind } from '../../kit/errors/status.ts'
import { keysOf, unknownOf } from '../../kit/fields/keys.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../kit/json/json.ts'
import { pointerOf } from '../../kit/notes/path.ts'
import { asRead } from '../../kit/schema/written.ts'
import type { CodecOptions, Decoded, Encoded, WireError } from '../../protocol.ts'
import { createMessagesReport, type MessagesReport } from './notes.ts'
import { keep, protocolName, withInner } from './own.ts'
import type { MessagesErrorBody } from './schema.ts'

/** Overload has a status of its own in this protocol. */
const statuses: Readonly<Record<ErrorKind, number>> = { ...statusOfKind, overloaded: 529 }

/** `error.type` of every kind. A type is decoded by the first kind that has it. */
const types: Readonly<Record<ErrorKind, string>> = {
  invalid_request: 'invalid_request_error',
  authentication: 'authentication_error',
  billing: 'billing_error',
  permission: 'permission_error',
  not_found: 'not_found_error',
  conflict: 'conflict_error',
  too_large: 'request_too_large',
  rate_limit: 'rate_limit_error',
  internal: 'api_error',
  timeout: 'timeout_error',
  overloaded: 'overloaded_error',
  context_length: 'invalid_request_error',
  content_policy: 'invalid_request_error',
  unsupported: 'invalid_request_error',
  unprocessable: 'invalid_request_error',
  quota: 'rate_limit_error',
  cancelled: 'api_error',
  unavailable: 'api_error',
}

const byType = new Map<unknown, ErrorKind>(
  Object.entries(types)
    .map(([kind, type]) => [type, kind as ErrorKind] as const)
    .reverse(),
)

/** How the vendor's own servers report a full context window; clients match this text. */
const tooLong = /prompt is too long|input length and `max_tokens` exceed context limit/i

/**
 * With this code clients of server-held threads know that they have to send the whole conversation.
 */
const threadCode = 'thread_unsupported_request'

/** Never throws: any body becomes an error that keeps its status. */
export function decodeError(
  { status, headers, body }: WireError,
  { now }: CodecOptions = {},
): Decoded<CanonicalError> {
  const { type, message, details, requestId, outer = {}, at } = readBody(body)
  const code = isObject(details) ? asString(details['error_code']) : undefined
  const byItsType = byType.get(type)
  const known = status >= 400 ? status : statuses[byItsType ?? 'internal']
  const kind = kindOf(known, byItsType, { message, code })
  const value: CanonicalError = omitUndefined({
    status: known,
    kind,
    message: message || `the upstream responded with status ${status}`,
    type,
    code,
    requestId: headerOf(headers, 'request-id') ?? requestId,
    retryAfterMs: retryHint(headers, now),
    details,
    protocol: protocolName,
    raw: body,
    at,
  })
  return { value: keep(value, unread(outer, kind)), notes: [] }
}

function kindOf(
  status: number,
  byItsType: ErrorKind | undefined,
  { message, code }: { message: string | undefined; code: string | undefined },
): ErrorKind {
  if (code === threadCode) return 'unsupported'
  const kind =
    byItsType === undefined || byItsType === 'internal' ? kindOfStatus(status) : byItsType
  if (kind === 'invalid_request' && message !== undefined && tooLong.test(message))
    return 'context_length'
  return kind === 'invalid_request' && status === 422 ? 'unprocessable' : kind
}

type ReadError = {
  type?: string
  message?: string
  details?: unknown
  requestId?: string
  outer?: JsonObject
  at?: Place
}

function readBody(body: unknown): ReadError {
  if (typeof body === 'string') return { message: body.slice(0, 2000) }
  const outer = Array.isArray(body) ? body[0] : body
  if (!isObject(outer)) return {}
  const requestId = asString(outer['request_id'])
  const error = outer['error']
  if (typeof error === 'string') return omitUndefined({ message: error, requestId, outer })
  const inner = isObject(error) ? error : outer
  const type = asString(inner['type'])
  const message =
    asString(inner['message']) ??
    listed(inner['message']) ??
    asString(outer['message']) ??
    asString(outer['detail']) ??
    listed(outer['detail'])
  return omitUndefined({
    type: type === 'error' ? undefined : type,
    message,
    details: inner['details'],
    requestId,
    outer,
    at: placeOf(body, inner === error),
  })
}

const outerKeys = keysOf<{
  type: string
  error: object
  request_id: string
  message: string
  detail: string
}>()('type', 'error', 'request_id', 'message', 'detail')
const bareKeys = keysOf<{
  type: string
  request_id: string
  message: string
  detail: string
  details: object
}>()('type', 'request_id', 'message', 'detail', 'details')
const innerKeys = keysOf<{ type: string; message: string; details: object }>()(
  'type',
  'message',
  'details',
)

/** The unknown keys of a body, and a `type` that the kind does not imply, at their paths. */
function unread(outer: JsonObject, kind: ErrorKind): JsonObject | undefined {
  const { type, error } = outer
  const isBare = !isObject(error) && typeof error !== 'string'
  const fields = withUnimpliedType(
    unknownOf(outer, isBare ? bareKeys : outerKeys),
    type === 'error' ? undefined : type,
    kind,
  )
  return isObject(error)
    ? withInner(
        fields,
        'error',
        withUnimpliedType(unknownOf(error, innerKeys), error['type'], kind),
      )
    : fields
}

function withUnimpliedType(
  fields: JsonObject | undefined,
  type: unknown,
  kind: ErrorKind,
): JsonObject | undefined {
  if (type == null) return fields
  const ofType = byType.get(type)
  return ofType && impliesType(ofType, kind, statuses[kind]) ? fields : { type, ...fields }
}

const asString = (value: unknown) => (typeof value === 'string' ? value : undefined)

/** The HTTP status of an error in this protocol. Overload has its own: 529. */
export function statusOf({ status, kind, code, type, message, protocol }: CanonicalError): number {
  // `unsupported` errors of this library keep their status: a response that `strict` refuses is no
  // fault of the request.
  if (
    protocol === protocolName ||
    (protocol === undefined && kind === 'unsupported' && status >= 400)
  )
    return status
  if (kind === 'overloaded') return 529
  if (status === 503 && /overload/i.test(`${code} ${type} ${message}`)) return 529
  return (kind === 'invalid_request' || kind === 'internal') && status >= 400
    ? status
    : statuses[kind]
}

/** The body of an error, which is also the error event of a stream. */
export function encodeErrorBody(error: CanonicalError): MessagesErrorBody {
  const { kind, message, code: given, param, details, requestId, protocol, raw } = error
  if (protocol === protocolName && isObject(raw) && isObject(raw['error']))
    return asRead(raw['type'] === 'error' ? raw : { type: 'error', ...raw })
  const own = isObject(details) && protocol === protocolName ? details : undefined
  // Clients of this protocol expect this code when `thread` is refused; an error from elsewhere may
  // not have it.
  const code = kind === 'unsupported' && param === 'thread' ? threadCode : given
  const made =
    code === threadCode || kind === 'quota'
      ? { error_code: code ?? 'insufficient_quota' }
      : undefined
  return omitUndefined<MessagesErrorBody>({
    type: 'error',
    error: omitUndefined<MessagesErrorBody['error']>({
      type: statusOf(error) === 529 ? 'overloaded_error' : types[kind],
      message: kind === 'context_length' && !tooLong.test(message) ? asTooLong(message) : message,
      details: own ?? made,
    }),
    request_id: requestId,
  })
}

/**
 * The message of a full context window in the wording that clients match, with both counts if the
 * message has them.
 */
function asTooLong(message: string): string {
  const sum = outputOverflowIn(message)
  if (sum) {
    const { input, output, limit } = sum
    return `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${limit}, decrease input length or \`max_tokens\` and try again`
  }
  const counts = countsIn(message)
  return `prompt is too long: ${counts ? `${counts.count} tokens > ${counts.limit} maximum: ` : ''}${message}`
}

/** The body of an error, with its status and headers. */
export function encodeError(
  error: CanonicalError,
  options: CodecOptions = {},
): Encoded<WireError<MessagesErrorBody>> {
  const report = createMessagesReport(options.fieldNames)
  const headers = errorHeaders(error, 'request-id')
  if (error.protocol !== protocolName && statusOf(error) !== error.status && error.status >= 400)
    report.add('error.status', undefined, 'status')
  noteError(error, report)
  const { raw } = error
  const wasBare = error.protocol === protocolName && isObject(raw) && isObject(raw['error'])
  return {
    wire: {
      status: statusOf(error),
      headers,
      body: wasBare ? asRead(raw) : encodeErrorBody(error),
    },
    notes: report.notes,
  }
}

/**
 * The body of an error in a stream or a response, which has no status of its own: a status that the
 * type does not imply is dropped with a note.
 */
export function encodeBareError(error: CanonicalError, report: MessagesReport): MessagesErrorBody {
  noteError(error, report)
  const body = encodeErrorBody(error)
  if (losesStatus(error, decodeError({ status: 0, headers: {}, body }).value))
    report.add('error.status', error.at ?? '/error', 'status')
  return body
}

/** Notes what a body of this protocol cannot hold of an error. */
function noteError(
  { kind, message, code, param, details, protocol, at = '/error', ext }: CanonicalError,
  report: MessagesReport,
): void {
  report.ext(ext, bodyOf(pointerOf(at)))
  if (protocol === protocolName) return
  if (details !== undefined) report.addKeys('error.details', at, 'details', details)
  if (kind === 'context_length' && !tooLong.test(message))
    report.add('error.reworded', at, 'message')
  if (param !== undefined && param !== null && !(kind === 'unsupported' && param === 'thread'))
    report.add('field.unsupported', at, 'param')
  if (code !== undefined && code !== null && code !== threadCode && kind !== 'quota')
    report.add('field.unsupported', at, 'code')
}
