import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import type { Place } from '../../canonical/message.ts'
import { losesStatus, splitDetails, unreadOf } from '../../kit/errors/details.ts'
import { isOverflowMessage } from '../../kit/errors/full-context.ts'
import { bodyOf } from '../../kit/errors/place.ts'
import { errorHeaders, headerOf, isHeaderValue, retryHint } from '../../kit/errors/retry-hint.ts'
import { errorWords, kindsByWord } from '../../kit/errors/shared-words.ts'
import { kindOfStatus, statusOfKind } from '../../kit/errors/status.ts'
import { omitNullishOrNone, omitUndefined, omitUndefinedOrNone } from '../../kit/fields/omit.ts'
import { isObject, type JsonObject, same } from '../../kit/json/json.ts'
import { pointerOf } from '../../kit/notes/path.ts'
import { asRead } from '../../kit/schema/written.ts'
import { signatureErrorCode } from '../../kit/signatures/signature-errors.ts'
import type { Decoded, Encoded, WireError } from '../../protocol.ts'
import { type ChatCompletionsReport, createChatReport } from './notes.ts'
import type { Options } from './options.ts'
import { keep, ownOf, protocolName } from './own.ts'
import type { ChatCompletionsErrorBody } from './schema.ts'
import { plainCodes } from './vocabulary.ts'

/** The longest error message, in UTF-16 units; longer ones are cut. */
const longestMessage = 2048
const noReason = 'the upstream gave no reason'

const filtered = /content (management|filter\w*) polic|content_policy|responsible ?ai policy/i

type ReadError = {
  message: string
  type?: string | undefined
  code?: string | null | undefined
  status?: number | undefined
  /** A code that is a number and was read as the status. */
  numeric?: number | undefined
  param?: string | null | undefined
  details?: unknown
  /** Its path, if it is not under `error`. */
  at?: Place
  /** The other keys of the body. */
  fields?: JsonObject
}

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
  const parsed = readBody(body)
  const outer = status !== undefined && status >= 400 && status <= 599 ? status : undefined
  const kind = kindOf(parsed, outer ?? parsed.status)
  const { message, type, code, param, at } = parsed
  const notImplied = omitUndefined({
    type: type === undefined || impliesKind(type, kind) ? undefined : type,
    code: outer === undefined || outer === parsed.status ? undefined : parsed.numeric,
  })
  const details =
    omitUndefinedOrNone({ ...(isObject(parsed.details) ? parsed.details : {}), ...notImplied }) ??
    parsed.details
  const error: CanonicalError = omitUndefined({
    status: outer ?? parsed.status ?? statusOfKind[kind],
    kind,
    message: message || noReason,
    type,
    code,
    param,
    details,
    protocol: protocolName,
    raw: body,
    at,
  })
  return keep(error, omitNullishOrNone(parsed.fields ?? {}))
}

function kindOf({ type, code, message }: ReadError, status: number | undefined): ErrorKind {
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

function readBody(body: unknown): ReadError {
  if (Array.isArray(body) && body.length > 0) {
    const known = readBody(body[0])
    return { ...known, at: `/0${known.at ?? '/error'}` }
  }
  if (typeof body === 'string') return readText(body)
  if (!isObject(body))
    return { message: body === undefined || body === null ? noReason : clip(JSON.stringify(body)) }
  const { error, ...fields } = body
  if (isObject(error)) return { ...readError(error), fields }
  if (typeof error === 'string' && error) return { message: clip(error), fields }
  const { detail, ...others } = body
  if (typeof detail === 'string') return { message: clip(detail), fields: others }
  if (Array.isArray(detail) || isObject(detail))
    return { message: clip(JSON.stringify(detail)), details: detail, at: '/detail', fields: others }
  if (typeof body['message'] === 'string') return { ...readError(body), at: '' }
  return { message: clip(JSON.stringify(body)) }
}

function readText(text: string): ReadError {
  const trimmed = text.trim()
  if (trimmed.startsWith('{') || trimmed.startsWith('[')) {
    try {
      return readBody(JSON.parse(trimmed))
    } catch {
      return { message: clip(trimmed) }
    }
  }
  if (!trimmed) return { message: noReason }
  const title = /^<(!doctype|html|head|body)/i.test(trimmed)
    ? /<(title|h1)[^<>]*>([^<]*)</i.exec(trimmed)?.[2]?.trim()
    : undefined
  return { message: clip(title || trimmed) }
}

/** Some servers write the status as the code, as a number or in digits. */
function numberIn(code: unknown): number | undefined {
  if (typeof code === 'number') return code
  return typeof code === 'string' && /^[45]\d\d$/.test(code) ? Number(code) : undefined
}

function readError(error: JsonObject): ReadError {
  const { message, type, code, param, ...rest } = error
  const { object: _, ...others } = rest
  const numeric = numberIn(code) ?? rest['status_code'] ?? rest['status']
  const isStatus = typeof numeric === 'number' && numeric >= 400 && numeric <= 599
  const unread = unreadOf(error, value => isStatus && value === numeric)
  return {
    message: clip(
      typeof message === 'string'
        ? message + messageBehind(rest['metadata'])
        : JSON.stringify(error),
    ),
    type: typeof type === 'string' ? type : undefined,
    code: typeof code === 'string' || code === null ? code : undefined,
    param: typeof param === 'string' || param === null ? param : undefined,
    status: isStatus ? numeric : undefined,
    numeric: isStatus && code === numeric ? numeric : undefined,
    details: omitUndefinedOrNone({ ...others, ...unread }),
  }
}

/**
 * Some gateways report only that their provider failed, and put the error of the provider into
 * `metadata.raw`.
 */
function messageBehind(metadata: unknown): string {
  const raw = isObject(metadata) ? metadata['raw'] : undefined
  return isObject(raw) || (typeof raw === 'string' && raw.trim())
    ? `: ${readBody(raw).message}`
    : ''
}

const clip = (text: string) => (text.length > longestMessage ? text.slice(0, longestMessage) : text)

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

/** Notes: a status that exists only in the source protocol, details that have no place here. */
export function encodeError(
  value: CanonicalError,
  options: Options = {},
): Encoded<WireError<ChatCompletionsErrorBody>> {
  const report = createChatReport(options.fieldNames)
  const status = statusOf(value)
  if (value.status !== status && value.status >= 400) report.add('error.status', '', 'status')
  const { requestId } = value
  if (requestId !== undefined && !isHeaderValue(requestId))
    report.add('field.unsupported', value.at ?? '/error', 'requestId')
  return {
    wire: {
      status,
      headers: errorHeaders(value, 'x-request-id'),
      body: encodeErrorBody(value, report),
    },
    notes: report.notes,
  }
}

function statusOf({ status, kind, protocol }: CanonicalError): number {
  // 529 means "overloaded" only in the messages protocol; clients of this one may not know that
  // they can retry.
  if (status === 529) return 503
  // Some providers return 400 for a wrong API key; clients of this protocol recognize it by its
  // default status.
  if (status === 400 && kind === 'authentication' && protocol !== protocolName)
    return statusOfKind.authentication
  return status >= 400 && status <= 599 ? status : statusOfKind[kind]
}

/** Fields that are not compared: those that come from headers, and the path. */
const apart = { requestId: undefined, retryAfterMs: undefined, at: undefined }

/** Only the body, as in a response or in an event of a stream. */
export function encodeErrorBody(
  value: CanonicalError,
  report: ChatCompletionsReport,
): ChatCompletionsErrorBody {
  const { kind, message, type, code, param, details, protocol, raw, at = '/error', ext } = value
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
    ours || (typeof code === 'string' && (kindsByWord.get(code) === kind || plainCodes.has(code)))
      ? (code ?? words.code)
      : (words.code ?? signatureErrorCode(message))
  report.ext(ext, bodyOf(pointerOf(at)))
  const { shared, others } = splitDetails(details)
  if (others !== undefined && !ours) report.addKeys('error.details', at, 'details', others)
  if (typeof code === 'string' && code !== shown) report.add('field.unsupported', at, 'code')
  const known: ChatCompletionsErrorBody['error'] = {
    message,
    type: (ours ? type : undefined) ?? words.type,
    param: param ?? null,
    code: shown,
    ...shared,
  }
  return {
    ...ownOf(ext),
    error: ours && isObject(details) ? { ...details, ...known } : known,
  }
}

/**
 * The body of an error in a stream or a response, which has no status and headers of its own: the
 * request id is lost, with a note, and a status that type and code do not imply.
 */
export function encodeBareError(
  value: CanonicalError,
  report: ChatCompletionsReport,
): ChatCompletionsErrorBody {
  if (value.requestId !== undefined)
    report.add('field.unsupported', value.at ?? '/error', 'requestId')
  const body = encodeErrorBody(value, report)
  if (losesStatus(value, decodeErrorBody(body)))
    report.add('error.status', value.at ?? '/error', 'status')
  return body
}
