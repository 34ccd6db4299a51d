import type { CanonicalError } from '../../canonical/error.ts'
import type { Message, Place } from '../../canonical/message.ts'
import type { CanonicalResponse, Finish } from '../../canonical/response.ts'
import { pointerOf } from '../notes/path.ts'
import type { Report } from '../notes/report.ts'
import type { commonNotes } from '../notes/shared.ts'

/** Notes everything in a failed response except its error, since only the error is written. */
export function reportDroppedContent(
  response: Omit<CanonicalResponse, 'error'>,
  report: FailedResponseReport,
): void {
  const { candidates, ext, ...beside } = { ...response, error: undefined }
  report.rest(beside, '')
  report.ext(ext, '')
  for (const { messages, logprobs, finish, at, ext: own } of candidates) {
    report.rest({ logprobs }, at)
    report.ext(own, at)
    noteFinish(finish, at, report)
    for (const message of messages) noteMessage(message, report)
  }
}

/**
 * Notes the finish reason of a response in a failed response, unless it is the failure itself:
 * other candidates may have ended normally.
 */
export function noteFinish(
  finish: Finish | undefined,
  at: Place | undefined,
  report: Pick<FailedResponseReport, 'add'>,
): void {
  if (finish && finish.reason !== 'error') report.add('field.unsupported', at, 'finish.reason')
}

type FailedResponseReport = Pick<Report<typeof commonNotes>, 'add' | 'ext' | 'rest' | 'placeOf'>

/** A message, and its logprobs if they are in a field next to it. */
function noteMessage({ at, parts }: Message, report: FailedResponseReport): void {
  if (parts.length > 0) report.add('field.unsupported', at)
  for (const part of parts)
    if (
      'logprobs' in part &&
      part.logprobs &&
      !report.placeOf('logprobs', part.at).startsWith(`${pointerOf(at ?? '')}/`)
    )
      report.rest({ logprobs: part.logprobs }, part.at)
}

/** The error of a stream that ends before its response does. */
export const endedEarly: CanonicalError = {
  status: 502,
  kind: 'internal',
  message: 'upstream stream ended early',
}

/** How the message begins about a stream of an upstream that is damaged. */
export const unreadable = 'the upstream stream cannot be read'

/** The code of its error, where frames that are damaged are found before events are read. */
export const damagedStream = 'DamagedStreamException'

/** The error of a response whose finish reason is `error`. Undefined: it did not fail. */
export function failedEnd(finish: Finish | undefined): CanonicalError | undefined {
  return finish?.reason === 'error'
    ? {
        status: 502,
        kind: 'internal',
        message: finish.message ?? 'the model did not finish its response',
      }
    : undefined
}
