import type { Note } from '../../canonical/note.ts'
import { createReport, type Report } from '../../kit/notes/report.ts'
import type { SharedNotes } from '../../kit/notes/shared.ts'
import type { FieldNames, NoteTable } from '../../protocol.ts'
import { protocolName } from './own.ts'

/** The notes that the codecs of this protocol alone make. */
export const notes = {
  'text.empty': { kind: 'dropped', meaning: 'A part without text is dropped.' },
  'media.url': {
    kind: 'approximated',
    meaning: 'Only newer models fetch this URL.',
    advice: 'Send the media as base64.',
  },
  'media.flattened': {
    kind: 'approximated',
    meaning: 'A document of several parts is written as these parts.',
  },
  'search-result.as-text': { kind: 'approximated', meaning: 'A search result is written as text.' },
  'reasoning.placeholder-signature': {
    kind: 'synthesized',
    meaning:
      'The first call of a step requires a signature; the documented placeholder is written.',
  },
  'reasoning.mode': {
    kind: 'approximated',
    meaning: 'The target cannot limit reasoning to the time between tool calls.',
  },
  'reasoning.least-budget': {
    kind: 'approximated',
    meaning: 'The reasoning budget is below the minimum of this model; the minimum is written.',
    advice: 'Raise the budget.',
  },
  'tool.invocations': {
    kind: 'synthesized',
    meaning:
      "Functions next to a provider tool require that the response may report the tool's use.",
    advice: 'See `generateContent.toolInvocations`.',
  },
  'tool-choice.validated': {
    kind: 'approximated',
    meaning: 'A choice among some functions also requires valid arguments.',
  },
  'sampling.penalty-clamped': {
    kind: 'approximated',
    meaning: 'Penalties of the target are below 2; the largest value is written.',
    advice: 'Use a smaller penalty.',
  },
  'sampling.seed': {
    kind: 'dropped',
    meaning: 'A seed of the target has 32 bits.',
    advice: 'Use a smaller seed.',
  },
  'tool-result.name': {
    kind: 'synthesized',
    meaning:
      'A tool result requires the function name, and no call has it; a placeholder is written.',
  },
  'citation.rounded': {
    kind: 'approximated',
    meaning:
      "A citation begins or ends inside a character; it is extended to the character's beginning.",
  },
  'logprobs.bytes': {
    kind: 'dropped',
    meaning: 'The log probabilities of the target have no bytes.',
  },
  'stream.partial-path': {
    kind: 'dropped',
    meaning: 'An argument delta has a path that is invalid or already used.',
  },
} as const satisfies NoteTable

export type GenerateContentReport = Report<typeof notes & SharedNotes>

export function createGeminiReport(fieldNames?: FieldNames, into?: Note[]): GenerateContentReport {
  return createReport(protocolName, notes, fieldNames, into)
}
