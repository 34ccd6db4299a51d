import type { Note } from '../canonical/note.ts'
import type { Report } from '../kit/notes/report.ts'
import type { SharedNotes } from '../kit/notes/shared.ts'
import type { NoteTable } from '../protocol.ts'

/** Notes that belong to neither of the two protocols. */
export const translateNotes = {
  'stream.unreadable-frame': { kind: 'dropped', meaning: 'A frame of the stream is not JSON.' },
  'freeform.unwrap-failed': {
    kind: 'approximated',
    meaning:
      'The model did not write the one string of a wrapped freeform tool; its arguments are returned unchanged.',
  },
  'freeform.extra-arguments': {
    kind: 'dropped',
    meaning: 'A wrapped freeform tool has one string; the arguments after it are dropped.',
  },
  'freeform.as-function': {
    kind: 'approximated',
    meaning:
      'The server called a freeform tool as a function; the text is taken from its arguments.',
  },
  'tool-call.unwrap-failed': {
    kind: 'approximated',
    meaning:
      'The arguments are not the object that the model was asked for in place of another value; they are returned unchanged.',
  },
  'output.unwrap-failed': {
    kind: 'approximated',
    meaning: 'The response is not the requested object; its text is returned unchanged.',
  },
  'system.not-text': {
    kind: 'dropped',
    meaning: 'Instructions can contain only text.',
    advice: 'Move the content into a user message.',
  },
  'tool-result.orphan-as-text': {
    kind: 'approximated',
    meaning:
      'The call of this tool result is not in the conversation; the result becomes user text.',
    advice: 'See `tools.repair`.',
  },
  'tool-result.duplicate': {
    kind: 'dropped',
    meaning: 'A later result of the same call replaces this one.',
    advice: 'Send one result per call.',
  },
  'tool-result.moved': {
    kind: 'approximated',
    meaning: 'The tool result moves directly behind its call, where the server requires it.',
    advice: 'Send results directly after calls.',
  },
  'tool.added-late': {
    kind: 'approximated',
    meaning: 'A tool that was added inside the conversation is written in the list of all tools.',
  },
  'tool.too-many': {
    kind: 'dropped',
    meaning:
      'The server takes no more tools; those that were called or are chosen stay, then the first ones.',
    advice: 'Send fewer tools, or set `tools.mostTools`.',
  },
  'tool.duplicate': {
    kind: 'dropped',
    meaning: 'An earlier tool has the same name; servers take only one of a name.',
    advice: 'Give each tool a name of its own.',
  },
  'tool.schema-root': {
    kind: 'approximated',
    meaning:
      'The target takes no combination of schemas at the root: the properties of all branches are written, and the combination moves into the description.',
  },
  'tool.arguments-wrapped': {
    kind: 'approximated',
    meaning:
      'Servers take only objects as arguments: the schema becomes the property `value` of one, and calls are restored.',
    advice: 'Describe an object.',
  },
  'tool.property-renamed': {
    kind: 'approximated',
    meaning:
      'The target does not accept the name of a property of this tool; another one is written and restored in calls.',
    advice: 'Use at most 64 letters, digits, underscores, dots and hyphens.',
  },
  'output.property-renamed': {
    kind: 'approximated',
    meaning:
      'The target does not accept the name of a property of the response; another one is written and restored in the text.',
    advice: 'Use at most 64 letters, digits, underscores, dots and hyphens.',
  },
  'schema.reference': {
    kind: 'approximated',
    meaning:
      'The target does not take this reference: the schema allows any value there, or words next to the reference are left out.',
    advice: 'Name the schema in `$defs`, and write nothing next to the reference.',
  },
  'schema.invalid': {
    kind: 'approximated',
    meaning:
      'The schema contains what JSON Schema does not have, such as a type of a programming language; it is left out.',
    advice: 'Write the schema in the words of JSON Schema.',
  },
  'tool-choice.strict-tools': {
    kind: 'approximated',
    meaning:
      'The choice that requires valid arguments is written as `strict` on each function that allows it.',
  },
  'tool-call.empty-name': {
    kind: 'approximated',
    meaning: 'The model called a tool with an empty name; a placeholder name is written.',
  },
  'response.id-renewed': {
    kind: 'synthesized',
    meaning: 'The response gets a new id, because the upstream repeats ids or a gateway stores it.',
  },
  'max-tokens.lowered': {
    kind: 'approximated',
    meaning: 'The token limit is above the maximum of this model; the maximum is written.',
    advice: 'Lower the limit.',
  },
  'reasoning.budget-lowered': {
    kind: 'approximated',
    meaning: 'The reasoning budget is above the maximum of this model; the maximum is written.',
    advice: 'Lower the budget.',
  },
  'model.unsupported': {
    kind: 'dropped',
    meaning: 'The model or its vendor refuses this field.',
    advice: 'Remove it, or correct `unsupported` of the model.',
  },
} as const satisfies NoteTable

/** What the passes over a conversation write their notes to. */
export type PassReport = Report<typeof translateNotes & SharedNotes>

/** The notes of an encoder that was not shown the id: it reports that there was none. */
export function ofRenewedId(notes: readonly Note[]): Note[] {
  const code = 'response.id-renewed'
  return notes.map(note =>
    note.code === 'response.id' ? { ...note, code, reason: translateNotes[code].meaning } : note,
  )
}
