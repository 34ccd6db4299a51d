import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalResponse, Finish } from '../canonical/response.ts'
import type { commonNotes, Report } from './report.ts'

/** Notes everything in a failed reply except its error, since only the error is written. */
export function noteUntold(response: Omit<CanonicalResponse, 'error'>, report: Pick<Report<typeof commonNotes>, 'add' | 'ext' | 'rest'>): void {
  const { candidates, ext, ...beside } = { ...response, error: undefined }
  report.rest(beside, '')
  report.ext(ext, '')
  for (const { messages } of candidates) for (const { at, parts } of messages) if (parts.length > 0) report.add('field.unsupported', at)
}

/** The error of an answer whose finish reason is `error`. Undefined: it did not fail. */
export function failedEnd(finish: Finish | undefined): CanonicalError | undefined {
  return finish?.reason === 'error' ? { status: 502, kind: 'internal', message: finish.message ?? 'the model did not finish its answer' } : undefined
}
