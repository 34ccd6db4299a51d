import type { Note } from '../../canonical/note.ts'
import { type commonNotes, createReport, type Report } from '../../kit/report.ts'
import type { FieldNames, NoteTable } from '../../protocol.ts'
import { protocolName } from './own.ts'

/** Every note that the codecs of this folder make; `source` names the row of the protocol map. */
export const notes = {
  'tool.renamed': {
    kind: 'approximated',
    reason: 'the name is longer than 64 characters or has others than letters, digits, _ and -; answers get it back',
    source: '2.7',
  },
  'tool.namespace': {
    kind: 'approximated',
    reason: 'tools have no namespace here; it became part of the name, and answers get it back',
    source: '2.4',
  },
  'tool.added-late': { kind: 'approximated', reason: 'a tool added in mid-conversation stands in the list of all tools', source: '2.1' },
  'tools.two-lists': { kind: 'approximated', reason: 'tools stand in two lists, an older and a newer one; they are read as one', source: '13.12' },
  'tool.server': { kind: 'dropped', reason: 'a tool that runs at its own provider cannot run here', source: '2.5' },
  'tool.server-mapped': { kind: 'approximated', reason: 'the provider searches the web its own way', source: '2.5' },
  'tool_choice.unsupported': { kind: 'dropped', reason: 'the target protocol cannot force this tool', source: '2.6' },
  'tool_choice.without-tools': { kind: 'dropped', reason: 'a choice of tools needs tools', source: '2.6' },
  'tool-call.id': { kind: 'approximated', reason: 'the id is longer than 40 characters; call and result get the same shorter one', source: '2.7' },
  'tool-call.empty-input': { kind: 'synthesized', reason: 'a function call without arguments needs an empty object here', source: '3.9' },
  'tool-call.dangling': { kind: 'dropped', reason: 'no result answers this call, and the target demands one', source: '2.2' },
  'tool-call.nameless': { kind: 'dropped', reason: 'a call that never got a name cannot be run', source: '3.2' },
  'tool-call.input-object': { kind: 'approximated', reason: 'arguments came as an object instead of JSON text', source: '9.5' },
  'tool-result.error-flag': { kind: 'approximated', reason: 'results have no error flag here; the text is unchanged', source: '2.7' },
  'tool-result.media-moved': { kind: 'approximated', reason: 'tool messages hold text only; this stands in a user message after them', source: '2.7' },
  'tool-result.media-dropped': { kind: 'dropped', reason: 'tool messages hold text only', source: '2.7' },
  'tool-result.moved': { kind: 'approximated', reason: 'the result was moved next to its call, where the target demands it', source: '2.2' },
  'tool-result.synthesized': { kind: 'synthesized', reason: 'no result answered this call, and the target demands one', source: '2.2' },
  'tool-result.orphan': { kind: 'dropped', reason: 'the call that this result answers is not in the conversation', source: '2.2' },
  'tool-result.call-id': { kind: 'approximated', reason: 'the message names no call; taken as the answer to the oldest open one', source: '13.6' },
  'text.boundary-lost': { kind: 'approximated', reason: 'the parts of an answer are joined into one text here', source: '2.3' },
  'parts.order-lost': { kind: 'approximated', reason: 'reasoning, text and calls stand in separate fields here, so their order is lost', source: '2.8' },
  'parts.layout-stale': { kind: 'approximated', reason: 'the recorded order of parts fits them no longer', source: '2.8' },
  'document.flattened': { kind: 'approximated', reason: 'documents of parts, plain-text documents and search results are written as text', source: '2.3' },
  'media.title-as-filename': { kind: 'approximated', reason: 'media have a file name here, but no title', source: '2.3' },
  'media.mime': { kind: 'synthesized', reason: 'the type of the data was not told and is demanded', source: '2.3' },
  'citation.unsupported': { kind: 'dropped', reason: 'only citations of URLs have a place here', source: '2.15' },
  'citation.whole-part': { kind: 'approximated', reason: 'the citation covers a whole part; its offsets are those of the part', source: '2.15' },
  'cache.place': { kind: 'dropped', reason: 'no cache breakpoint can stand here', source: '2.11' },
  'cache.ttl': { kind: 'approximated', reason: 'the lifetime has no word here', source: '2.11' },
  'cache.too-many': { kind: 'dropped', reason: 'more than four cache breakpoints', source: '2.11' },
  'reasoning.dialect-field': {
    kind: 'approximated',
    reason: 'the protocol has no field for reasoning; it stands in one that many servers and clients know',
    source: '2.8',
  },
  'reasoning.dropped': { kind: 'dropped', reason: 'reasoning of the history is not sent to this server', source: '2.8' },
  'reasoning.foreign-signature': { kind: 'dropped', reason: 'a signature means something only to its issuer', source: '2.8 rule 1' },
  'reasoning.signature-dropped': { kind: 'dropped', reason: 'signatures are not written', source: '2.8 rule 3' },
  'reasoning.budget-as-effort': { kind: 'approximated', reason: 'a token budget became the nearest effort', source: '2.8' },
  'reasoning.mode-as-effort': { kind: 'approximated', reason: 'the mode of thinking became the nearest effort', source: '2.8' },
  'schema.name': { kind: 'synthesized', reason: 'a schema needs a name here', source: '2.9' },
  'stop.too-many': { kind: 'approximated', reason: 'only the first four stop sequences', source: '2.10' },
  'limit.raised': { kind: 'approximated', reason: 'at least one token has to be asked for', source: '2.10' },
  'user.hashed': { kind: 'approximated', reason: 'the id is longer than 64 characters; its hash is as stable', source: '2.12' },
  'tier.speed': { kind: 'approximated', reason: 'a faster mode of another provider became the fast tier', source: '2.12' },
  'tier.unsupported': { kind: 'dropped', reason: 'the target protocol has no such service tier', source: '2.12' },
  'state.unresolvable': { kind: 'dropped', reason: 'it refers to memory of another provider; the caller asked for a note instead of an error', source: '2.14' },
  'file.foreign-id': {
    kind: 'dropped',
    reason: 'a file id means something only to its issuer; the caller asked for a note instead of an error',
    source: '2.3',
  },
  'message.ids': { kind: 'dropped', reason: 'messages, calls and results have no item id and no status here', source: '6.3' },
  'message.phase': { kind: 'dropped', reason: 'messages have no phase here', source: '6.3' },
  'finish.approximated': { kind: 'approximated', reason: 'no finish reason says exactly this', source: '2.17' },
  'finish.missing': { kind: 'approximated', reason: 'the answer ended without a finish reason', source: '2.17' },
  'finish.truncated-as-length': { kind: 'approximated', reason: 'the source stopped early; written as if the length limit was reached', source: '3.8' },
  'finish.details': { kind: 'dropped', reason: 'the matched sequence, message or category of an ending has no place here', source: '2.17' },
  'refusal.synthesized': { kind: 'synthesized', reason: 'a refusal without a text', source: '2.16' },
  'prompt.blocked': { kind: 'approximated', reason: 'a refused prompt is written as a filtered answer', source: '2.16' },
  'response.id': { kind: 'synthesized', reason: 'the source gave no id', source: '6.2' },
  'response.created': { kind: 'synthesized', reason: 'the source gave no time', source: '6.2' },
  'response.model': { kind: 'synthesized', reason: 'the source gave no model name', source: '2.13' },
  'usage.unknown': { kind: 'dropped', reason: 'a count that has no place here', source: '2.18' },
  'usage.repaired': { kind: 'approximated', reason: 'the counts did not add up, or were text; the total is trusted', source: '2.18' },
  'logprobs.unattached': { kind: 'dropped', reason: 'token probabilities of something other than text', source: '3.2' },
  'error.status': { kind: 'approximated', reason: 'the status exists only in the source protocol', source: '2.19' },
  'error.details': { kind: 'dropped', reason: 'details of an error have no place here', source: '2.19' },
  'stream.trailing-arguments': { kind: 'dropped', reason: 'text after the end of the arguments of a call', source: '3.4' },
  'stream.final-differs': { kind: 'approximated', reason: 'the source corrected what had been sent already', source: '3.2' },
  'stream.event': { kind: 'dropped', reason: 'an event that only its own protocol knows', source: '3.2' },
} as const satisfies NoteTable

export type ChatReport = Report<typeof notes & typeof commonNotes>

export function createChatReport(fieldNames: FieldNames | undefined, into: Note[] = []): ChatReport {
  return createReport(protocolName, notes, fieldNames, into)
}
