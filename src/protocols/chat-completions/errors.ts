import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import type { Place } from '../../canonical/message.ts'
import { sharedDetails } from '../../kit/errors/details.ts'
import { type ErrorWriting, writeBareError, writeError } from '../../kit/errors/encode-error.ts'
import { createErrorTable, longestMessage, type ReadError } from '../../kit/errors/error-table.ts'
import { isOverflowMessage } from '../../kit/errors/full-context.ts'
import { headerOf, retryHint } from '../../kit/errors/retry-hint.ts'
import { errorWords, kindsByWord, otherCode, sharedStatus } from '../../kit/errors/shared-words.ts'
import { orSpent } from '../../kit/errors/spent.ts'
import { kindOfStatus, statusOfKind } from '../../kit/errors/status.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../kit/fields/omit.ts'
import { isObject, type JsonObject, same } from '../../kit/json/json.ts'
import { asRead } from '../../kit/schema/written.ts'
import type { CodecOptions, Decoded, Encoded, WireError } from '../../protocol.ts'
import type { Options } from './options.ts'
import { type ChatCompletionsReport, createChatReport, keep, ownOf, protocolName } from './own.ts'
import type { ChatCompletionsErrorBody } from './written.ts'

const noReason = 'the upstream gave no reason'

const filtered = /content (management|filter\w*) polic|content_policy|responsible ?ai policy/i

export const errorTable = createErrorTable({
  message: ['message'],
  type: ['type'],
  code: ['code', 'status'],
  param: ['param'],
  object: [],
  '*': ['details'],
})

/** Never throws: any body of any upstream becomes an error that keeps its status. */
export function decodeError(
  { status, headers, body }: WireError,
  options: Options = {},
): Decoded<CanonicalError> {
  const error = decodeErrorBody(body, status)
  const requestId = headerOf(headers, 'x-request-id') ?? headerOf(headers, 'request-id')
  const retryAfterMs = retryHint(headers, options.now)
  return { value: { ...error, ...omitUndefined({ requestId, retryAfterMs }) }, notes: [] }
}

/**
 * If `status` is absent or no error status (in a stream, or with an error in a 200), that of the
 * body is used, else the default one of its kind.
 */
export function decodeErrorBody(body: unknown, status?: number): CanonicalError {
  const read = errorTable.read(body)
  const { error } = read
  const inBody = statusIn(error)
  const outer = status !== undefined && status >= 400 && status <= 599 ? status : undefined
  const message = (read.message + messageBehind(error['metadata'])).slice(0, longestMessage)
  const type = typeof error['type'] === 'string' ? error['type'] : undefined
  const code = wordIn(error['code'])
  const kind = kindOf({ type, code, message }, outer ?? inBody)
  const { details, at, fields } = detailsOf(read, inBody)
  const notImplied = omitUndefinedOrNone({
    type: type === undefined || impliesKind(type, kind) ? undefined : type,
    code:
      outer === undefined || outer === inBody || numberIn(error['code']) !== inBody
        ? undefined
        : inBody,
  })
  const value: CanonicalError = omitUndefined({
    status: outer ?? inBody ?? statusOfKind[kind],
    kind,
    message: message || noReason,
    type,
    code,
    param: wordIn(error['param']),
    details: notImplied ? { ...(isObject(details) ? details : {}), ...notImplied } : details,
    protocol: protocolName,
    raw: body,
    at,
  })
  return keep(value, fields)
}

/** Everything of an error that has no field of its own. `fields`: what is around it. */
function detailsOf(
  read: ReadError,
  inBody: number | undefined,
): { details?: unknown; at: Place | undefined; fields?: JsonObject | undefined } {
  const { error, isNested, at } = read
  const { detail, message } = error
  const unread = ['type', 'code', 'param'].filter(
    key =>
      wordIn(error[key]) === undefined &&
      !(key === 'code' && inBody !== undefined && error[key] === inBody),
  )
  const { inside, around } = read.unknown(unread)
  // Some servers list the faults of a request.
  if (!isNested && typeof detail === 'object' && detail !== null && message === undefined)
    return { details: detail, at: '/detail', fields: inside }
  return { details: inside, at, fields: around }
}

const wordIn = (value: unknown) => (typeof value === 'string' || value === null ? value : undefined)

type Words = { type: string | undefined; code: string | null | undefined; message: string }

const kindOf = (words: Words, status: number | undefined): ErrorKind =>
  orSpent(kindOfWords(words, status), words.message)

function kindOfWords({ type, code, message }: Words, status: number | undefined): ErrorKind {
  const kind = kindsByWord.get(code ?? '') ?? kindsByWord.get(type ?? '')
  const client = status === undefined || (status >= 400 && status < 500)
  const vague = kind === undefined || kind === 'not_found'
  if (client && vague && status !== 401 && status !== 429 && isOverflowMessage(message))
    return 'context_length'
  if (kind === undefined && client && filtered.test(message)) return 'content_policy'
  if (kind === undefined && status === 503 && /overload/i.test(message)) return 'overloaded'
  if (kind !== undefined && (status === undefined || agrees(kind, status))) return kind
  if (status !== undefined) return kindOfStatus(status)
  return kind ?? (type === 'invalid_request_error' ? 'invalid_request' : 'internal')
}

/**
 * Can an error of this kind have this status? If not, the status decides the kind: a 500 with
 * `invalid_api_key` is a fault of the server.
 */
function agrees(kind: ErrorKind, status: number): boolean {
  const defaultStatus = statusOfKind[kind]
  if (kind === 'overloaded' || kind === 'rate_limit' || kind === 'quota' || kind === 'timeout')
    return true
  return defaultStatus >= 500 === status >= 500
}

/** Does the kind imply the type? */
function impliesKind(type: string, kind: ErrorKind): boolean {
  const { type: defaultType } = errorWords[kind]
  const status = statusOfKind[kind]
  return (
    type === defaultType ||
    kindsByWord.get(type) === kind ||
    (type === 'invalid_request_error' && status < 500) ||
    (type === 'server_error' && status >= 500)
  )
}

/** Some servers write the status as the code, as a number or in digits. */
function numberIn(code: unknown): number | undefined {
  if (typeof code === 'number') return code
  return typeof code === 'string' && /^[45]\d\d$/.test(code) ? Number(code) : undefined
}

function statusIn(error: JsonObject): number | undefined {
  const number = numberIn(error['code']) ?? error['status_code'] ?? error['status']
  return typeof number === 'number' && number >= 400 && number <= 599 ? number : undefined
}

/**
 * Some gateways report only that their provider failed, and put the error of the provider into
 * `metadata.raw`.
 */
function messageBehind(metadata: unknown): string {
  const raw = isObject(metadata) ? metadata['raw'] : undefined
  return isObject(raw) || (typeof raw === 'string' && raw.trim())
    ? `: ${errorTable.read(raw).message}`
    : ''
}

/** Does a body that came with a success status hold an error? */
export function isErrorBody(body: unknown): body is JsonObject {
  if (!isObject(body)) return false
  const { error, object, detail, message, choices } = body
  if (error) return isObject(error) || typeof error === 'string'
  return (
    choices === undefined &&
    ((object === 'error' && typeof message === 'string') || detail !== undefined)
  )
}

const writing: ErrorWriting<ChatCompletionsErrorBody, ChatCompletionsReport> = {
  createReport: createChatReport,
  requestId: 'x-request-id',
  decodeError,
  statusOf,
  encodeErrorBody,
  isReturned: () => false,
}

/** Notes: a status that exists only in the source protocol, details that have no place here. */
export const encodeError = (
  error: CanonicalError,
  options?: CodecOptions,
): Encoded<WireError<ChatCompletionsErrorBody>> => writeError(writing, error, options)

export const encodeBareError = (
  error: CanonicalError,
  report: ChatCompletionsReport,
): ChatCompletionsErrorBody => writeBareError(writing, error, report)

function statusOf(error: CanonicalError): number {
  const { status, kind, protocol } = error
  // 529 means "overloaded" only in the messages protocol; clients of this one may not know that
  // they can retry.
  if (status === 529) return 503
  if (protocol !== protocolName) return sharedStatus(error)
  return status >= 400 && status <= 599 ? status : statusOfKind[kind]
}

/** Fields that are not compared: those that come from headers, and the path. */
const apart = { requestId: undefined, retryAfterMs: undefined, at: undefined }

/** Only the body, as in a response or in an event of a stream. */
export function encodeErrorBody(value: CanonicalError): ChatCompletionsErrorBody {
  const { kind, message, type, code, param, details, protocol, raw, ext } = value
  if (
    protocol === protocolName &&
    isObject(raw) &&
    same({ ...decodeErrorBody(raw, value.status), ...apart }, { ...value, ...apart })
  )
    return asRead(raw)
  const words = errorWords[kind]
  const ours = protocol === protocolName
  // Codes of other protocols are kept if this protocol has them, too.
  const shown =
    ours || (typeof code === 'string' && kindsByWord.get(code) === kind)
      ? (code ?? words.code)
      : (words.code ?? otherCode(value))
  const known: ChatCompletionsErrorBody['error'] = {
    message,
    type: (ours ? type : undefined) ?? words.type,
    param: param ?? null,
    code: shown,
    ...sharedDetails(details),
  }
  return {
    ...ownOf(ext),
    error: ours && isObject(details) ? { ...details, ...known } : known,
  }
}
