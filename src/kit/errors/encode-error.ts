import type { CanonicalError } from '../../canonical/error.ts'
import type { CodecOptions, Decoded, Encoded, FieldNames, WireError } from '../../protocol.ts'
import { isObject, same } from '../json/json.ts'
import { pointerOf } from '../notes/path.ts'
import type { Report } from '../notes/report.ts'
import type { SharedNotes } from '../notes/shared.ts'
import { asRead } from '../schema/written.ts'
import { errorHeaders } from './retry-hint.ts'

type ErrorReport = Pick<Report<SharedNotes>, 'add' | 'addKeys' | 'ext' | 'notes'>

/** What the encoders of errors differ in. */
type Parts<Body, Some extends ErrorReport> = {
  createReport(names: FieldNames | undefined): Some
  /** The header with the id of the request. */
  requestId: string
  decodeError(wire: WireError): Decoded<CanonicalError>
  statusOf(error: CanonicalError): number
  encodeErrorBody(error: CanonicalError): Body
  /** Is a body of this protocol returned as it came? */
  isReturned(raw: unknown): boolean
  /** More headers. */
  headersOf?(error: CanonicalError): Record<string, string>
  /** Notes what reading does not show, of an error of another protocol. */
  noteMore?(error: CanonicalError, report: Some): void
}

/** The two ways in which a protocol writes errors. Both note what reading them again would miss. */
export function createErrorEncoder<Body, Some extends ErrorReport>({
  createReport,
  requestId,
  decodeError,
  statusOf,
  encodeErrorBody,
  isReturned,
  headersOf = () => ({}),
  noteMore,
}: Parts<Body, Some>): {
  encodeError(error: CanonicalError, options?: CodecOptions): Encoded<WireError<Body>>
  /**
   * The body of an error in a stream or a response, which has no status. `headers`: what the frame
   * says.
   */
  encodeBareError(error: CanonicalError, report: Some, headers?: Record<string, string>): Body
} {
  function noteAll(error: CanonicalError, shown: CanonicalError, report: Some): void {
    noteLost(error, shown, report)
    if (error.protocol !== shown.protocol) noteMore?.(error, report)
  }
  return {
    encodeError(error, options = {}) {
      const report = createReport(options.fieldNames)
      const status = statusOf(error)
      const headers = { ...errorHeaders(error, requestId), ...headersOf(error) }
      const body = encodeErrorBody(error)
      const shown = decodeError({ status, headers, body }).value
      if (status !== error.status && error.status >= 400)
        report.add('error.status', undefined, 'status')
      noteAll(error, shown, report)
      const isOwn = error.protocol === shown.protocol && isReturned(error.raw)
      return {
        wire: { status, headers, body: isOwn ? asRead(error.raw) : body },
        notes: report.notes,
      }
    },
    encodeBareError(error, report, headers = {}) {
      const body = encodeErrorBody(error)
      const shown = decodeError({ status: 0, headers, body }).value
      noteAll(error, shown, report)
      if (losesStatus(error, shown)) report.add('error.status', error.at ?? '/error', 'status')
      return body
    },
  }
}

/** Notes what the error does not have where it is written. `shown`: the written error, read again. */
export function noteLost(
  { message, details, requestId, protocol, at = '/error', ext, ...error }: CanonicalError,
  shown: CanonicalError,
  report: Omit<ErrorReport, 'notes'>,
): void {
  report.ext(ext, bodyOf(pointerOf(at)))
  if (protocol === shown.protocol) return
  const others = lostDetails(details, shown.details)
  if (others !== undefined) report.addKeys('error.details', at, 'details', others)
  // A long message is cut.
  if (!message.startsWith(shown.message) && message !== '')
    report.add('error.reworded', at, 'message')
  for (const field of ['param', 'code'] as const) {
    const value = error[field]
    if (value !== undefined && value !== null && value !== shown[field])
      report.add('field.unsupported', at, field)
  }
  if (requestId !== undefined && requestId !== shown.requestId)
    report.add('field.unsupported', at, 'requestId')
}

function lostDetails(details: unknown, shown: unknown): unknown {
  if (!isObject(details) || !isObject(shown)) return same(details, shown) ? undefined : details
  const lost = Object.entries(details).filter(([key, value]) => !same(value, shown[key]))
  return lost.length > 0 ? Object.fromEntries(lost) : undefined
}

/**
 * Does the body of an error of another protocol lose its status? Overload has two. Errors that are
 * synthesized here have no path in the source.
 */
export const losesStatus = (error: CanonicalError, shown: CanonicalError): boolean =>
  error.protocol !== undefined &&
  error.protocol !== shown.protocol &&
  error.status !== shown.status &&
  error.kind !== 'overloaded'

/** JSON pointer to the body, from the one to its error object. */
const bodyOf = (at: string): string => at.replace(/\/(error|detail)$/, '')
