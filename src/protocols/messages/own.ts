import type { Note } from '../../canonical/note.ts'
import { createFault } from '../../kit/errors/fault.ts'
import { createOwn } from '../../kit/fields/own.ts'
import { createReport, type Report } from '../../kit/notes/report.ts'
import type { SharedNotes } from '../../kit/notes/shared.ts'
import type { FieldNames, NoteTable } from '../../protocol.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'messages'

/** The path of its main endpoint. */
export const path = '/v1/messages'

export { withInner } from '../../kit/fields/own.ts'
export const { keep, ownOf, ownUnder, wireOf } = createOwn(protocolName)
export const fault = createFault(protocolName)

/** The notes that the codecs of this protocol alone make. */
export const notes = {
  'system.billing-line': {
    kind: 'dropped',
    meaning:
      "The billing line of the client changes in every request; `messages.billingLine: 'drop'` drops it.",
    advice: 'See `messages.billingLine`.',
  },
  'citation.encrypted-index': {
    kind: 'synthesized',
    meaning: 'A web citation requires an encrypted index; an empty one is written.',
  },
  'reasoning.signature-empty': {
    kind: 'synthesized',
    meaning: 'A thinking block requires a signature; an empty one is written.',
  },
  'reasoning.trailing-signature': {
    kind: 'dropped',
    meaning:
      'The signature after the last text is dropped, because some clients expect the response to end with its text.',
    advice: 'See `messages.lastSignature`.',
  },
  'reasoning.no-room': {
    kind: 'dropped',
    meaning: '`max_tokens` leaves no room for the minimum reasoning budget, so reasoning is off.',
    advice: 'Raise `max_tokens`.',
  },
  'reasoning.prefix-mismatch': {
    kind: 'approximated',
    meaning: 'The provider accepted reasoning that does not fit the messages before it.',
  },
  'tool.no-approval': {
    kind: 'approximated',
    meaning: 'The target calls tools of a remote server without asking the client.',
  },
  'tool.max-uses': {
    kind: 'approximated',
    meaning: 'The limit of tool calls applies to the one tool that the provider runs.',
  },
  'server-tool.search': {
    kind: 'approximated',
    meaning:
      'A web search of another provider has no encrypted content; a result without a title gets its URL as title.',
  },
  'max-tokens.default': {
    kind: 'synthesized',
    meaning: 'The target requires a token limit; the default is written.',
    advice: 'Set a limit in the request, or `messages.defaultMaxTokens`.',
  },
  'finish.refusal': {
    kind: 'approximated',
    meaning: 'A blocked or refused response ends with the stop reason for refusals.',
  },
  'usage.late': {
    kind: 'synthesized',
    meaning: 'Token counts are not known at the start; the end has them.',
  },
} as const satisfies NoteTable

export type MessagesReport = Report<typeof notes & SharedNotes>

export function createMessagesReport(fieldNames?: FieldNames, into?: Note[]): MessagesReport {
  return createReport(protocolName, notes, fieldNames, into)
}
