import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import { impliesType } from '../../kit/errors/details.ts'
import { type ErrorWriting, writeBareError, writeError } from '../../kit/errors/encode-error.ts'
import { createErrorTable, textOf, unknownAt } from '../../kit/errors/error-table.ts'
import { countsIn, outputOverflowIn } from '../../kit/errors/full-context.ts'
import { headerOf, retryHint } from '../../kit/errors/retry-hint.ts'
import { orSpent } from '../../kit/errors/spent.ts'
import { kindOfStatus, statusOfKind } from '../../kit/errors/status.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { isObject } from '../../kit/json/json.ts'
import { asRead } from '../../kit/schema/written.ts'
import type { CodecOptions, Decoded, Encoded, WireError } from '../../protocol.ts'
import { createMessagesReport, keep, type MessagesReport, protocolName } from './own.ts'
import type { MessagesErrorBody } from './written.ts'

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

/** Codes of a quota that is spent: how it is written here, and that of the vendor. */
const quotaCodes: ReadonlySet<unknown> = new Set([
  'insufficient_quota',
  'contract_spend_limit_reached',
])

export const errorTable = createErrorTable(
  {
    type: ['type', 'status'],
    message: ['message'],
    details: ['details'],
    // Clients of threads that a server holds know by one code that `thread` is refused.
    'details/error_code': ['code', 'param'],
  },
  { type: 'error', request_id: ['requestId'] },
)

/** Never throws: any body becomes an error that keeps its status. */
export function decodeError(
  { status, headers, body }: WireError,
  { now }: CodecOptions = {},
): Decoded<CanonicalError> {
  const read = errorTable.read(body)
  const { error, outer, isNested, message, at } = read
  const isEvent = !isNested && error['type'] === 'error'
  const type = isEvent ? undefined : textOf(error['type'])
  const details = error['details'] ?? undefined
  const code = isObject(details) ? textOf(details['error_code']) : undefined
  const byItsType = byType.get(type)
  const known = status >= 400 ? status : statuses[byItsType ?? 'internal']
  const kind = kindOf(known, byItsType, { message, code })
  const value: CanonicalError = omitUndefined({
    status: known,
    kind,
    message: message || `the upstream responded with status ${status}`,
    type,
    code,
    param: code === threadCode ? 'thread' : undefined,
    requestId: headerOf(headers, 'request-id') ?? textOf(outer['request_id']),
    retryAfterMs: retryHint(headers, now),
    details,
    protocol: protocolName,
    raw: body,
    at,
  })
  const isImplied =
    byItsType && (type === types[kind] || impliesType(byItsType, kind, statuses[kind]))
  const unread = isImplied || isEvent ? [] : ['type']
  return { value: keep(value, unknownAt(read, read.unknown(unread))), notes: [] }
}

function kindOf(
  status: number,
  byItsType: ErrorKind | undefined,
  { message, code }: { message: string; code: string | undefined },
): ErrorKind {
  if (code === threadCode) return 'unsupported'
  if (quotaCodes.has(code)) return 'quota'
  const kind =
    byItsType === undefined || byItsType === 'internal' ? kindOfStatus(status) : byItsType
  if (kind === 'invalid_request' && tooLong.test(message)) return 'context_length'
  return kind === 'invalid_request' && status === 422 ? 'unprocessable' : orSpent(kind, message)
}

/** The HTTP status of an error in this protocol. Overload has its own: 529. */
function statusOf({ status, kind, code, type, message, protocol }: CanonicalError): number {
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

const writing: ErrorWriting<MessagesErrorBody, MessagesReport> = {
  createReport: createMessagesReport,
  requestId: 'request-id',
  decodeError,
  statusOf,
  encodeErrorBody,
  isReturned: raw => isObject(raw) && isObject(raw['error']),
}

export const encodeError = (
  error: CanonicalError,
  options?: CodecOptions,
): Encoded<WireError<MessagesErrorBody>> => writeError(writing, error, options)

export const encodeBareError = (error: CanonicalError, report: MessagesReport): MessagesErrorBody =>
  writeBareError(writing, error, report)
