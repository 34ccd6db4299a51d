import type { CanonicalResponse } from '../canonical/response.ts'
import type { commonNotes, Report } from './report.ts'

/** Of a reply that failed, the error is all that is written: what else it told is noted. */
export function noteUntold(response: Omit<CanonicalResponse, 'error'>, report: Pick<Report<typeof commonNotes>, 'add' | 'ext' | 'rest'>): void {
  const { candidates, ext, ...beside } = { ...response, error: undefined }
  report.rest(beside, '')
  report.ext(ext, '')
  for (const { messages } of candidates) for (const { at, parts } of messages) if (parts.length > 0) report.add('field.unsupported', at)
}
