import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import { type ErrorWriting, writeBareError, writeError } from '../../kit/errors/encode-error.ts'
import { createErrorTable, textOf, unknownAt } from '../../kit/errors/error-table.ts'
import { countsIn, outputOverflowIn } from '../../kit/errors/full-context.ts'
import { headerOf, retryHint } from '../../kit/errors/retry-hint.ts'
import { orSpent } from '../../kit/errors/spent.ts'
import { kindOfStatus, statusOfKind } from '../../kit/errors/status.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../kit/json/json.ts'
import { asRead } from '../../kit/schema/written.ts'
import type { CodecOptions, Decoded, Encoded, WireError } from '../../protocol.ts'
import {
  createGeminiReport,
  extOf,
  type GenerateContentReport,
  ownFields,
  protocolName,
} from './own.ts'
import type { GenerateContentErrorBody, GenerateContentErrorDetail } from './written.ts'

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

export const errorTable = createErrorTable({
  code: ['status'],
  message: ['message'],
  status: ['type'],
  details: ['details', 'code', 'param', 'requestId', 'retryAfterMs'],
})

/** Never throws: any body becomes an error that keeps its status. */
export function decodeError(
  { status, headers, body }: WireError,
  { now }: CodecOptions = {},
): Decoded<CanonicalError> {
  const read = errorTable.read(body)
  const { message, at } = read
  const { code, status: word, details } = read.error
  const codeAsStatus =
    typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600
      ? code
      : undefined
  const kindOfWord = byWord.get(word)
  const known = status >= 400 ? status : (codeAsStatus ?? statuses[kindOfWord ?? 'internal'])
  const list = Array.isArray(details) ? details.filter(isObject) : []
  // A status that belongs to no kind of error is kept as an unknown field.
  const others = [...(kindOfWord ? [] : ['status']), ...(code === known ? [] : ['code'])]
  const value: CanonicalError = omitUndefined({
    status: known,
    kind: kindOf(known, kindOfWord, message, list),
    message: message || `the upstream responded with status ${status}`,
    type: textOf(word),
    code: textOf(ofType(list, 'ErrorInfo')?.['reason']),
    param: fieldOf(list),
    requestId:
      headerOf(headers, 'x-request-id') ?? textOf(ofType(list, 'RequestInfo')?.['requestId']),
    retryAfterMs: retryAfter(list) ?? retryHint(headers, now),
    details: Array.isArray(details) ? unread(details, message) : (details ?? undefined),
    protocol: protocolName,
    raw: body,
    at,
    ext: extOf(unknownAt(read, read.unknown(others))),
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
    return orSpent(kind, message)
  }
  // A daily quota that is used up cannot be solved by a short wait.
  if (kind === 'rate_limit')
    return JSON.stringify(ofType(details, 'QuotaFailure') ?? '').includes('PerDay')
      ? 'quota'
      : orSpent(kind, message)
  return kind === 'unavailable' && overload.test(message) ? 'overloaded' : orSpent(kind, message)
}

const ofType = (details: readonly JsonObject[], type: string): JsonObject | undefined =>
  details.find(detail => detail['@type'] === types + type)

/** The details that say more than the fields of the error that are read from them. */
function unread(details: readonly unknown[], message: string): unknown[] | undefined {
  const list = details.filter(isObject)
  const first = new Set(['BadRequest', 'RetryInfo', 'RequestInfo'].map(type => ofType(list, type)))
  const left = details.filter(
    detail => !isObject(detail) || !first.has(detail) || !isRead(detail, message),
  )
  return left.length > 0 ? left : undefined
}

function isRead({ '@type': type, ...detail }: JsonObject, message: string): boolean {
  if (type === `${types}RetryInfo`)
    return hasOnly(detail, ['retryDelay']) && retryIn(detail) !== undefined
  if (type === `${types}RequestInfo`)
    return hasOnly(detail, ['requestId']) && textOf(detail['requestId']) !== undefined
  const { fieldViolations, ...rest } = detail
  const [violation, ...others] = Array.isArray(fieldViolations) ? fieldViolations : []
  if (!isObject(violation) || !hasOnly(rest, []) || others.length > 0) return false
  const { field, description = '' } = violation
  // What the message says already is not lost.
  const isSaid = typeof description === 'string' && message.includes(description)
  return textOf(field) !== undefined && isSaid && hasOnly(violation, ['field', 'description'])
}

const hasOnly = (object: JsonObject, keys: readonly string[]): boolean =>
  Object.keys(object).every(key => keys.includes(key))

function fieldOf(details: readonly JsonObject[]): string | undefined {
  const violations = ofType(details, 'BadRequest')?.['fieldViolations']
  const first: unknown = Array.isArray(violations) ? violations[0] : undefined
  return isObject(first) ? textOf(first['field']) : undefined
}

const retryAfter = (details: readonly JsonObject[]): number | undefined =>
  retryIn(ofType(details, 'RetryInfo') ?? {})

function retryIn({ retryDelay }: JsonObject): number | undefined {
  const delay = /^(\d+(?:\.\d+)?)s$/.exec(textOf(retryDelay) ?? '')
  return delay ? Math.round(Number(delay[1]) * 1000) : undefined
}

/** The HTTP status of an error in this protocol. */
function statusOf({ status, kind, protocol }: CanonicalError): number {
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
  if (own && Array.isArray(error.details))
    details.push(...asRead<GenerateContentErrorDetail[]>(error.details))
  const known: GenerateContentErrorBody['error'] = {
    code: statusOf(error),
    message,
    status: word,
    ...(details.length > 0 && { details }),
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

const writing: ErrorWriting<GenerateContentErrorBody, GenerateContentReport> = {
  createReport: createGeminiReport,
  requestId: 'x-request-id',
  decodeError,
  statusOf,
  encodeErrorBody,
  isReturned: isErrorBody,
}

export const encodeError = (
  error: CanonicalError,
  options?: CodecOptions,
): Encoded<WireError<GenerateContentErrorBody>> => writeError(writing, error, options)

export const encodeBareError = (
  error: CanonicalError,
  report: GenerateContentReport,
): GenerateContentErrorBody => writeBareError(writing, error, report)
