import type { Note } from '../../canonical/note.ts'
import { createReport, type Report } from '../../kit/notes/report.ts'
import { type commonNotes, sharedNotes } from '../../kit/notes/shared.ts'
import type { FieldNames, NoteTable } from '../../protocol.ts'
import { protocolName } from './own.ts'

/** Every note that the codecs of this protocol make, apart from `commonNotes`. */
export const notes = {
  'message.leading-user': sharedNotes['message.leading-user'],
  'message.separator': {
    kind: 'synthesized',
    meaning: 'The model takes tool results only alone; a message separates them from what follows.',
  },
  'text.blank': sharedNotes['text.blank'],
  'text.trimmed': {
    kind: 'approximated',
    meaning: 'The last text of the assistant must not end with white space, so that is cut off.',
  },
  'refusal.as-text': sharedNotes['refusal.as-text'],
  'media.unsupported': sharedNotes['media.unsupported'],
  'media.converted': sharedNotes['media.converted'],
  'media.transcript': sharedNotes['media.transcript'],
  'media.file-as-document': sharedNotes['media.file-as-document'],
  'media.detail-dropped': sharedNotes['media.detail-dropped'],
  'media.filename-as-title': sharedNotes['media.filename-as-title'],
  'media.document-name': {
    kind: 'approximated',
    meaning: 'The server refuses this document name, or the request has it twice; a similar one is written.',
  },
  'media.document-text': {
    kind: 'synthesized',
    meaning: 'A message with a document requires a text; one is inserted.',
  },
  'citation.approximated': sharedNotes['citation.approximated'],
  'citation.foreign': sharedNotes['citation.foreign'],
  'citation.span': sharedNotes['citation.span'],
  'reasoning.foreign-signature': sharedNotes['reasoning.foreign-signature'],
  'reasoning.unsigned': sharedNotes['reasoning.unsigned'],
  'reasoning.as-text': sharedNotes['reasoning.as-text'],
  'reasoning.disabled-unsigned-loop': sharedNotes['reasoning.disabled-unsigned-loop'],
  'reasoning.joined': sharedNotes['reasoning.joined'],
  'reasoning.signature-orphaned': sharedNotes['reasoning.signature-orphaned'],
  'reasoning.other-model': sharedNotes['reasoning.other-model'],
  'reasoning.effort': sharedNotes['reasoning.effort'],
  'reasoning.no-effort': sharedNotes['reasoning.no-effort'],
  'reasoning.off': sharedNotes['reasoning.off'],
  'reasoning.effort-as-budget': sharedNotes['reasoning.effort-as-budget'],
  'reasoning.budget-as-effort': sharedNotes['reasoning.budget-as-effort'],
  'reasoning.budget-raised': sharedNotes['reasoning.budget-raised'],
  'reasoning.budget-room': sharedNotes['reasoning.budget-room'],
  'reasoning.mode-as-effort': sharedNotes['reasoning.mode-as-effort'],
  'reasoning.always-on': sharedNotes['reasoning.always-on'],
  'reasoning.summary': sharedNotes['reasoning.summary'],
  'tool-call.number': sharedNotes['tool-call.number'],
  'tool-call.cut': sharedNotes['tool-call.cut'],
  'tool-call.input': sharedNotes['tool-call.input'],
  'tool-call.input-text': sharedNotes['tool-call.input-text'],
  'tool-result.empty-error': {
    kind: 'synthesized',
    meaning: 'A failed tool result requires content; a text is inserted.',
  },
  'tool.loaded': sharedNotes['tool.loaded'],
  'tool.strict': sharedNotes['tool.strict'],
  'tool.expanded': sharedNotes['tool.expanded'],
  'tool.server': sharedNotes['tool.server'],
  'tool.server-mapped': sharedNotes['tool.server-mapped'],
  'tool.from-history': {
    kind: 'synthesized',
    meaning: 'A conversation with tool calls requires tools; those that it names are declared.',
  },
  'server-tool.dropped': sharedNotes['server-tool.dropped'],
  'server-tool.as-text': sharedNotes['server-tool.as-text'],
  'tool-choice.subset-filtered': sharedNotes['tool-choice.subset-filtered'],
  'tool-choice.subset-not-enforced': sharedNotes['tool-choice.subset-not-enforced'],
  'tool-choice.not-forced': sharedNotes['tool-choice.not-forced'],
  'tool-choice.none': {
    kind: 'approximated',
    meaning: 'The target has no tool choice `none`; the tools are not offered.',
  },
  'tool-choice.none-not-enforced': {
    kind: 'approximated',
    meaning: 'The target has no tool choice `none`, and the history requires the tools; the model may call them.',
  },
  'tool-choice.without-tools': sharedNotes['tool-choice.without-tools'],
  'output.enum': sharedNotes['output.enum'],
  'output.strict': sharedNotes['output.strict'],
  'output.closed': sharedNotes['output.closed'],
  'output.wrapped': sharedNotes['output.wrapped'],
  'output.json-instructed': sharedNotes['output.json-instructed'],
  'stop.blank': sharedNotes['stop.blank'],
  'sampling.temperature-clamped': sharedNotes['sampling.temperature-clamped'],
  'sampling.with-thinking': sharedNotes['sampling.with-thinking'],
  'sampling.model': sharedNotes['sampling.model'],
  'cache.ttl': sharedNotes['cache.ttl'],
  'cache.ttl-order': sharedNotes['cache.ttl-order'],
  'cache.too-many': sharedNotes['cache.too-many'],
  'cache.unsupported': sharedNotes['cache.unsupported'],
  'tier.nearest': sharedNotes['tier.nearest'],
  'tier.unsupported': sharedNotes['tier.unsupported'],
  'finish.approximated': sharedNotes['finish.approximated'],
  'finish.tool-use': sharedNotes['finish.tool-use'],
  'stop.no-call': sharedNotes['stop.no-call'],
  'usage.missing': sharedNotes['usage.missing'],
  'usage.merged': sharedNotes['usage.merged'],
  'usage.overlap': sharedNotes['usage.overlap'],
  'usage.ttl': sharedNotes['usage.ttl'],
  'error.reworded': sharedNotes['error.reworded'],
  'stream.trailing-arguments': sharedNotes['stream.trailing-arguments'],
  'stream.stray-delta': sharedNotes['stream.stray-delta'],
  'stream.repeated-start': sharedNotes['stream.repeated-start'],
  'response.unnamed': {
    kind: 'approximated',
    meaning: 'The body of a response has no field for its id and model.',
  },
  'finish.truncated-as-length': sharedNotes['finish.truncated-as-length'],
} as const satisfies NoteTable

/** By code: what the reader of a note can do. */
export const advice: Record<Exclude<keyof typeof notes, keyof typeof sharedNotes>, string> = {
  'message.separator': 'Nothing to do.',
  'text.trimmed': 'Cut it off yourself.',
  'media.document-name': 'Use letters, digits, spaces, hyphens and brackets, and a name for each document.',
  'media.document-text': 'Send a text with the document.',
  'tool-result.empty-error': 'Send the error as text.',
  'tool.from-history': 'Send the tools with each request.',
  'tool-choice.none': 'Nothing to do.',
  'tool-choice.none-not-enforced': 'Nothing to do.',
  'response.unnamed': 'Take the model from your request.',
}

export type ConverseReport = Report<typeof notes & typeof commonNotes>

export function createConverseReport(fieldNames?: FieldNames, into?: Note[]): ConverseReport {
  return createReport(protocolName, notes, fieldNames, into)
}
