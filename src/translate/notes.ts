import type { Note } from '../canonical/note.ts'
import type { commonNotes, Report } from '../kit/notes/report.ts'
import type { NoteTable } from '../protocol.ts'

/** Notes that belong to neither of the two protocols. */
export const translateNotes = {
  'stream.unreadable-frame': { kind: 'dropped', reason: 'a frame of the stream that is not JSON', source: '3.11' },
  'stream.trailing-arguments': {
    kind: 'approximated',
    reason: 'the arguments of a tool call end before this text, which is left out',
    source: '3.4',
  },
  'stream.final-differs': { kind: 'approximated', reason: 'the end of a part differs from what was already streamed', source: '3.2' },
  'stream.stray-delta': { kind: 'dropped', reason: 'a delta of a part that has not started or has ended', source: '3.2' },
  'stream.repeated-start': { kind: 'dropped', reason: 'a part or a message of the stream starts a second time', source: '3.2' },
  'freeform.unwrap-failed': {
    kind: 'approximated',
    reason: 'the model did not answer with the one string that a wrapped tool takes, so its arguments are given as they are',
    source: '2.4',
  },
  'freeform.beside-input': {
    kind: 'dropped',
    reason: 'arguments behind the one string that a wrapped tool takes, whose text was told already',
    source: '2.4',
  },
  'freeform.as-function': {
    kind: 'approximated',
    reason: 'the server called a tool that takes text as if it were a function; the text was taken out of the arguments',
    source: '2.4',
  },
  'output.unwrap-failed': {
    kind: 'approximated',
    reason: 'the text of the reply is not the object that was asked for, so it is given as it is',
    source: '2.9',
  },
  'system.not-text': { kind: 'dropped', reason: 'instructions can only hold text', source: '2.1' },
  'tool-result.orphan-as-text': { kind: 'approximated', reason: 'the call that this result answers is not in the conversation', source: '2.2' },
  'tool-result.duplicate': { kind: 'dropped', reason: 'a later result of the same call replaces this one', source: '2.2' },
  'tool-result.moved': { kind: 'approximated', reason: 'the result moves to its call, where the server requires it', source: '2.2' },
  'tool.added-late': { kind: 'approximated', reason: 'a tool that was added in mid-conversation is in the list of all tools', source: '2.1' },
  'tool_choice.strict-tools': {
    kind: 'approximated',
    reason: 'the choice that requires valid arguments becomes `strict` on each function that allows it',
    source: '2.6',
  },
  'tool-call.nameless': { kind: 'approximated', reason: 'the model called a tool by an empty name, which no protocol allows', source: '3.2' },
  'response.id-renewed': {
    kind: 'synthesized',
    reason: 'the upstream repeats its ids, or the response is stored under an id of its own, so it gets a new one',
    source: '6.2',
  },
} as const satisfies NoteTable

/** What the passes over a conversation write their notes to. */
export type PassReport = Report<typeof translateNotes & typeof commonNotes>

/** The notes of an encoder that was not shown the id: it reports that there was none. */
export function ofRenewedId(notes: readonly Note[]): Note[] {
  const code = 'response.id-renewed'
  return notes.map(note => (note.code === 'response.id' ? { ...note, code, reason: translateNotes[code].reason } : note))
}
