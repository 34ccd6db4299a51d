import type { commonNotes, Report } from '../../kit/report.ts'
import type { NoteTable } from '../../protocol.ts'

/** Every note that the codecs of this protocol may make, beside the common ones of `kit/report.ts`. */
export const notes = {
  'system.mid-conversation-as-user': { kind: 'approximated', reason: 'the target has no system message at this place of the conversation', source: '2.1' },
  'system.hoisted': { kind: 'approximated', reason: 'an instruction of mid-conversation now stands before the conversation', source: '2.1' },
  'system.developer-role': { kind: 'approximated', reason: 'the target knows no developer role, only system', source: '2.1' },
  'system.not-text': { kind: 'dropped', reason: 'instructions hold text only', source: '2.1' },
  'message.leading-user': { kind: 'synthesized', reason: 'a conversation begins with a user', source: '2.2' },
  'message.name': { kind: 'dropped', reason: 'contents have no participant names', source: '2.1' },
  'message.envelope': { kind: 'dropped', reason: 'what is inside a conversation has no id or status of its own', source: '6.3' },
  'text.empty': { kind: 'dropped', reason: 'a part that holds no text says nothing', source: '2.2' },
  'refusal.as-text': { kind: 'approximated', reason: 'a refusal is text here', source: '2.16' },
  'media.unsupported': { kind: 'dropped', reason: 'the target takes no media of this kind or format', source: '2.3' },
  'media.mime': { kind: 'synthesized', reason: 'the type of the data was not told; it is taken for a PDF', source: '2.3' },
  'media.url': { kind: 'approximated', reason: 'only newer models fetch what a public address names', source: '2.3' },
  'media.transcript': { kind: 'approximated', reason: 'audio is written as its transcript', source: '2.3' },
  'media.flattened': { kind: 'approximated', reason: 'a document made of parts is written as these parts', source: '2.3' },
  'media.detail': { kind: 'approximated', reason: 'the nearest resolution is written', source: '2.3' },
  'search-result.as-text': { kind: 'approximated', reason: 'a search result is written as text', source: '2.3' },
  'state.unresolvable': { kind: 'dropped', reason: 'refers to something that only its own provider can look up', source: '2.14' },
  'citation.foreign': { kind: 'dropped', reason: 'parts of a conversation have no citations', source: '2.15' },
  'reasoning.foreign-signature': { kind: 'dropped', reason: 'a signature is valid only with the provider that made it', source: '2.8 rule 1' },
  'reasoning.placeholder-signature': {
    kind: 'synthesized',
    reason: 'the first call of a step demands a signature; this documented value stands for one that did not survive',
    source: '2.8 rule 4',
  },
  'reasoning.kind': { kind: 'approximated', reason: 'thoughts are summaries here, whatever they were elsewhere', source: '2.8' },
  'reasoning.other-model': { kind: 'approximated', reason: 'the reasoning was signed by another model, which this one may not read', source: '2.8.1' },
  'server-tool.dropped': { kind: 'dropped', reason: 'a tool that another provider ran; the text after it holds its outcome', source: '2.5' },
  'server-tool.as-text': { kind: 'approximated', reason: 'a tool that another provider ran is told in one line of text', source: '2.5' },
  'freeform.wrapped': { kind: 'approximated', reason: 'a freeform tool is a function with one text argument here', source: '2.4' },
  'tool-call.input': { kind: 'approximated', reason: 'arguments that are not a JSON object are kept as text inside one', source: '3.9' },
  'tool-call.id': { kind: 'approximated', reason: 'the id of a call is left out, as asked, and pairs are told by their order', source: '2.7' },
  'tool-call.dangling': { kind: 'dropped', reason: 'a call without result is left out, as asked', source: '2.2' },
  'tool-result.name': { kind: 'synthesized', reason: 'a result demands the name of its function, and no call tells it', source: '2.7' },
  'tool-result.joined': { kind: 'approximated', reason: 'several texts of a result are one text here', source: '2.7' },
  'tool-result.moved': { kind: 'approximated', reason: 'results of calls stand right after them, in their order', source: '2.2' },
  'tool-result.duplicate': { kind: 'dropped', reason: 'a later result of the same call replaces this one', source: '2.2' },
  'tool-result.synthesized': { kind: 'synthesized', reason: 'a call demands a result, and the conversation has none', source: '2.2' },
  'tool-result.orphan': { kind: 'dropped', reason: 'a result without its call is left out, as asked', source: '2.2' },
} as const satisfies NoteTable

export type GeminiReport = Report<typeof notes & typeof commonNotes>
