import type { CanonicalError } from '../../canonical/error.ts'
import type { CodecOptions, Decoded, Encoded, FieldNames, WireError } from '../../protocol.ts'
import { isObject, same } from '../json/json.ts'
import { pointerOf } from '../notes/path.ts'
import type { Report } from '../notes/report.ts'
import type { SharedNotes } from '../notes/shared.ts'
import { asRead } from '../schema/written.ts'
import { errorHeaders } from './retry-hint.ts'

type ErrorReport = Pick<Report<SharedNotes>, 'add' | 'addKeys' | 'ext' | 'notes'>

/** What protocols write differently. */
export type ErrorWriting<Body, Some extends ErrorReport> = {
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

// Two functions, not one that makes both: bundles of the half that reads leave them out.

/** Status, headers and body. Notes what reading them again would miss. */
export function writeError<Body, Some extends ErrorReport>(
  writing: ErrorWriting<Body, Some>,
  error: CanonicalError,
  options: CodecOptions = {},
): Encoded<WireError<Body>> {
  const report = writing.createReport(options.fieldNames)
  const status = writing.statusOf(error)
  const headers = { ...errorHeaders(error, writing.requestId), ...writing.headersOf?.(error) }
  const body = writing.encodeErrorBody(error)
  if (status !== error.status && error.status >= 400)
    report.add('error.status', undefined, 'status')
  const shown = noteAll(writing, error, { wire: { status, headers, body }, report })
  const isOwn = error.protocol === shown.protocol && writing.isReturned(error.raw)
  return {
    wire: { status, headers, body: isOwn ? asRead(error.raw) : body },
    notes: report.notes,
  }
}

/**
 * The body of an error in a stream or a response, which has no status. `headers`: what the frame
 * says.
 */
export function writeBareError<Body, Some extends ErrorReport>(
  writing: ErrorWriting<Body, Some>,
  error: CanonicalError,
  report: Some,
  headers: Record<string, string> = {},
): Body {
  const body = writing.encodeErrorBody(error)
  const shown = noteAll(writing, error, { wire: { status: 0, headers, body }, report })
  if (losesStatus(error, shown)) report.add('error.status', error.at ?? '/error', 'status')
  return body
}

/** Returns the written error, read again. */
function noteAll<Body, Some extends ErrorReport>(
  { decodeError, noteMore }: ErrorWriting<Body, Some>,
  error: CanonicalError,
  { wire, report }: { wire: WireError; report: Some },
): CanonicalError {
  const shown = decodeError(wire).value
  noteLost(error, shown, report)
  if (error.protocol !== shown.protocol) noteMore?.(error, report)
  return shown
}

/** Notes what the error does not have where it is written. `shown`: the written error, read again. */
export function noteLost(
  { message, details, protocol, at = '/error', ext, ...error }: CanonicalError,
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
  for (const field of ['requestId', 'retryAfterMs'] as const)
    if (error[field] !== undefined && error[field] !== shown[field])
      report.add('field.unsupported', at, field)
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
