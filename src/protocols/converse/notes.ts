import type { Note } from '../../canonical/note.ts'
import { createReport, type Report } from '../../kit/notes/report.ts'
import type { SharedNotes } from '../../kit/notes/shared.ts'
import type { FieldNames, NoteTable } from '../../protocol.ts'
import { protocolName } from './own.ts'

/** The notes that the codecs of this protocol alone make. */
export const notes = {
  'message.separator': {
    kind: 'synthesized',
    meaning: 'The model takes tool results only alone; a message separates them from what follows.',
  },
  'media.document-name': {
    kind: 'approximated',
    meaning:
      'The server refuses this document name, or the request has it twice; a similar one is written.',
    advice: 'Use letters, digits, spaces, hyphens and brackets, and a name for each document.',
  },
  'media.document-text': {
    kind: 'synthesized',
    meaning: 'A message with a document requires a text; one is inserted.',
    advice: 'Send a text with the document.',
  },
  'tool-result.empty': {
    kind: 'synthesized',
    meaning: 'Many models refuse a tool result without content; a text is inserted.',
  },
  'tool.from-history': {
    kind: 'synthesized',
    meaning: 'A conversation with tool calls requires tools; those that it names are declared.',
    advice: 'Send the tools with each request.',
  },
  'tool-choice.none': {
    kind: 'approximated',
    meaning: 'The target has no tool choice `none`; the tools are not offered.',
  },
  'tool-choice.none-not-enforced': {
    kind: 'approximated',
    meaning:
      'The target has no tool choice `none`, and the history requires the tools; the model may call them.',
  },
  'response.unnamed': {
    kind: 'approximated',
    meaning: 'The body of a response has no field for its id and model.',
    advice: 'Take the model from your request.',
  },
} as const satisfies NoteTable

export type ConverseReport = Report<typeof notes & SharedNotes>

export function createConverseReport(fieldNames?: FieldNames, into?: Note[]): ConverseReport {
  return createReport(protocolName, notes, fieldNames, into)
}
