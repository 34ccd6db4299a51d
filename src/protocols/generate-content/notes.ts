import type { Note } from '../../canonical/note.ts'
import { type commonNotes, createReport, type Report } from '../../kit/notes/report.ts'
import type { FieldNames, NoteTable } from '../../protocol.ts'
import { protocolName } from './content/own.ts'

/** Every note that the codecs of this protocol may make, beside the common ones of `kit/notes/report.ts`. */
export const notes = {
  'message.leading-user': { kind: 'synthesized', reason: 'a conversation begins with a user', source: '2.2' },
  'text.empty': { kind: 'dropped', reason: 'a part that holds no text says nothing', source: '2.2' },
  'refusal.as-text': { kind: 'approximated', reason: 'a refusal is text here', source: '2.16' },
  'media.unsupported': { kind: 'dropped', reason: 'the target takes no media of this kind or format', source: '2.3' },
  'media.mime': { kind: 'synthesized', reason: 'the type of the data was not told; the usual one of its kind is written', source: '2.3' },
  'media.url': { kind: 'approximated', reason: 'only newer models fetch what a public address names', source: '2.3' },
  'media.transcript': { kind: 'approximated', reason: 'audio is written as its transcript', source: '2.3' },
  'media.flattened': { kind: 'approximated', reason: 'a document made of parts is written as these parts', source: '2.3' },
  'media.detail': { kind: 'approximated', reason: 'the nearest resolution is written', source: '2.3' },
  'search-result.as-text': { kind: 'approximated', reason: 'a search result is written as text', source: '2.3' },
  'citation.foreign': { kind: 'dropped', reason: 'parts of a conversation have no citations', source: '2.15' },
  'reasoning.foreign-signature': { kind: 'dropped', reason: 'a signature is valid only with the provider that made it', source: '2.8 rule 1' },
  'reasoning.placeholder-signature': {
    kind: 'synthesized',
    reason: 'the first call of a step demands a signature; this documented value stands for one that did not survive',
    source: '2.8 rule 4',
  },
  'reasoning.kind': { kind: 'approximated', reason: 'thoughts are summaries here, whatever they were elsewhere', source: '2.8' },
  'reasoning.other-model': { kind: 'approximated', reason: 'the reasoning was signed by another model, which this one may not read', source: '2.8.1' },
  'server-tool.dropped': {
    kind: 'dropped',
    reason: 'what became of a tool that only another provider knows; the text after it may hold its outcome',
    source: '2.5',
  },
  'server-tool.picture': { kind: 'approximated', reason: 'of a tool that drew a picture there is only the picture', source: '2.3' },
  'server-tool.as-text': { kind: 'approximated', reason: 'what became of a tool that only another provider knows is told in one line of text', source: '2.5' },
  'reasoning.effort': { kind: 'approximated', reason: 'the nearest level of thinking is written', source: '2.8' },
  'reasoning.effort-as-budget': { kind: 'approximated', reason: 'the effort is written as a budget of thinking tokens', source: '2.8' },
  'reasoning.budget-as-effort': { kind: 'approximated', reason: 'the effort beside it says how much to think', source: '2.8' },
  'reasoning.mode': { kind: 'approximated', reason: 'there is no thinking between calls alone', source: '2.8' },
  'reasoning.least-budget': { kind: 'approximated', reason: 'the least budget of thinking that this model takes is written', source: '2.8' },
  'reasoning.off': { kind: 'approximated', reason: 'there is no thinking, so there is no measure of it', source: '2.8' },
  'reasoning.shown': { kind: 'approximated', reason: 'the source protocol shows enabled reasoning by default; thoughts are requested here', source: '2.8' },
  'reasoning.summary': { kind: 'approximated', reason: 'a kind of summary is written as whether thoughts are shown', source: '2.8' },
  'tool.server': { kind: 'dropped', reason: 'a tool that only another provider knows', source: '2.5' },
  'tool.server-mapped': { kind: 'approximated', reason: 'a tool that only another provider knows is replaced by the nearest one here', source: '2.5' },
  'tool.invocations': {
    kind: 'synthesized',
    reason: 'functions beside tools of the provider are refused unless the reply may tell what the provider ran',
    source: '2.5',
  },
  'tool_choice.unsupported': { kind: 'dropped', reason: 'this choice of tools cannot be said here', source: '2.6' },
  'tool_choice.without-tools': { kind: 'dropped', reason: 'a choice of functions needs functions', source: '2.6' },
  'tool_choice.validated': { kind: 'approximated', reason: 'a choice among some functions also holds arguments to their schemas', source: '2.6' },
  'output.strict': { kind: 'approximated', reason: 'the target always holds the answer to the schema', source: '2.9' },
  'output.voice': { kind: 'approximated', reason: 'voices have other names at each provider', source: '2.9' },
  'sampling.penalty-clamped': { kind: 'approximated', reason: 'penalties end before 2', source: '2.10' },
  'sampling.seed': { kind: 'dropped', reason: 'a seed is a number of 32 bits', source: '2.10' },
  'stop.too-many': { kind: 'approximated', reason: 'only the first five stop sequences', source: '2.10' },
  'max_tokens.least': { kind: 'approximated', reason: 'an answer has at least one token', source: '2.10' },
  'tier.unsupported': { kind: 'dropped', reason: 'a service tier that is not offered here', source: '2.12' },
  'tool-call.cut': { kind: 'dropped', reason: 'the token limit cut off the arguments of the call, and every call here has whole arguments', source: '3.9' },
  'tool-call.input': { kind: 'approximated', reason: 'arguments that are not a JSON object are kept as text inside one', source: '3.9' },
  'stream.trailing-arguments': { kind: 'approximated', reason: 'the arguments of a tool call end before this text, which is left out', source: '3.4' },
  'tool-call.number': { kind: 'approximated', reason: 'a number of the arguments has more digits than one can have here', source: '5.11' },
  'tool-call.id-omitted': { kind: 'approximated', reason: '`ids` drops the ids of calls, so results match calls by their order', source: '2.7' },
  'tool-result.name': { kind: 'synthesized', reason: 'a result demands the name of its function, and no call tells it', source: '2.7' },
  'tool-result.media-moved': {
    kind: 'approximated',
    reason: 'models before Gemini 3 read no media inside a tool result; it follows the result',
    source: '2.7',
  },
  'finish.approximated': { kind: 'approximated', reason: 'the nearest finish reason is written', source: '2.17' },
  'finish.details': { kind: 'approximated', reason: 'a finish reason has no details beside a message', source: '2.17' },
  'finish.truncated-as-length': { kind: 'approximated', reason: 'the reply stopped early and is told as if it had reached its limit, as asked', source: '3.8' },
  'citation.rounded': { kind: 'approximated', reason: 'a cited span begins or ends inside a character, and is taken from its beginning', source: '2.15' },
  'citation.approximated': { kind: 'approximated', reason: 'grounding tells the source and the span of a citation, and nothing else of it', source: '2.15' },
  'citation.unsupported': { kind: 'dropped', reason: 'grounding has no sources of this kind', source: '2.15' },
  'logprobs.bytes': { kind: 'dropped', reason: 'tokens have no bytes beside their text here', source: '2.10' },
  'tier.nearest': { kind: 'approximated', reason: 'the nearest service tier is written', source: '2.12' },
  'usage.merged': { kind: 'approximated', reason: 'tokens of one kind are counted among the others, and not told apart', source: '2.18' },
  'usage.overlap': { kind: 'approximated', reason: 'a part of the tokens is told to be larger than the whole', source: '2.18' },
  'stream.stray-call': { kind: 'dropped', reason: 'arguments of a call that nobody has begun', source: '3.2' },
  'stream.partial-path': { kind: 'dropped', reason: 'a piece of arguments at a place that cannot be read, or that is taken', source: '3.2' },
  'error.reworded': { kind: 'approximated', reason: 'clients know a full context by its wording, which stands before the message', source: '2.19' },
} as const satisfies NoteTable

export type GeminiReport = Report<typeof notes & typeof commonNotes>

export function createGeminiReport(fieldNames?: FieldNames, into?: Note[]): GeminiReport {
  return createReport(protocolName, notes, fieldNames, into)
}
