import type { ExtMap } from '../../canonical/message.ts'
import type { Note } from '../../canonical/note.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { createOwn } from '../../kit/fields/own.ts'
import { isObject, type JsonObject, setOwn } from '../../kit/json/json.ts'
import { createReport, type Report } from '../../kit/notes/report.ts'
import type { SharedNotes } from '../../kit/notes/shared.ts'
import type { FieldNames, NoteTable } from '../../protocol.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'chat-completions'

/** The path of its main endpoint. */
export const path = '/v1/chat/completions'

export { withInner } from '../../kit/fields/own.ts'
export const { keep, ownOf } = createOwn(protocolName)

/** A wire object: the unknown keys, overridden by the known ones. */
export function wireOf<T extends object>(known: NoInfer<T>, ext: ExtMap | undefined): T {
  const fields = ownOf(ext)
  // Only keys without a value are left out, which are optional ones.
  return fields ? withUnknown<T>(known, fields) : (omitUndefined(known) as T)
}

/**
 * The known keys over the unknown ones, at all levels. A list of unknown keys belongs to a list of
 * as many entries.
 */
export function withUnknown<T extends object>(known: NoInfer<T>, unknown: JsonObject): T {
  const wire = { ...unknown }
  for (const key in known) {
    const value = known[key]
    if (value !== undefined)
      setOwn(wire, key, over(Object.hasOwn(unknown, key) ? unknown[key] : undefined, value))
  }
  // All known keys are in it.
  return wire as T
}

function over(unknown: unknown, value: unknown): unknown {
  if (isObject(unknown) && isObject(value)) return withUnknown<JsonObject>(value, unknown)
  if (!Array.isArray(unknown) || !Array.isArray(value) || unknown.length !== value.length)
    return value
  return value.map((one, i) => over(unknown[i], one))
}

/** The notes that the codecs of this protocol alone make. */
export const notes = {
  'tools.two-lists': {
    kind: 'approximated',
    meaning: 'The request has an older and a newer list of tools; both are read as one.',
    advice: 'Use `tools`.',
  },
  'tool-call.nameless': { kind: 'dropped', meaning: 'A tool call without a name cannot run.' },
  'tool-call.single': {
    kind: 'dropped',
    meaning:
      'A client that declares functions takes one call at a time; the further calls are dropped.',
    advice: 'Declare tools instead of functions.',
  },
  'media.images-field': {
    kind: 'approximated',
    meaning:
      'Images of a response are written in the field `images`, which only some clients read.',
  },
  'text.boundary-lost': {
    kind: 'approximated',
    meaning: 'Several text parts are joined into one text.',
  },
  'parts.order-lost': {
    kind: 'approximated',
    meaning:
      'The target has separate fields for reasoning, text and calls; their order is dropped.',
  },
  'parts.layout-stale': {
    kind: 'approximated',
    meaning: 'The recorded order of parts no longer fits the message; the default order is used.',
  },
  'document.flattened': {
    kind: 'approximated',
    meaning:
      'Documents of several parts, plain-text documents and search results are written as text.',
  },
  'audio.type': {
    kind: 'approximated',
    meaning: 'The response does not state its audio format; the requested format is assumed.',
    advice: 'Set the format in the request.',
  },
  'citation.whole-part': {
    kind: 'approximated',
    meaning: 'The citation covers a whole part; its offsets are those of the part.',
  },
  'field.optional': {
    kind: 'dropped',
    meaning: 'Many servers refuse this field.',
    advice: "Set `chatCompletions.optionalFields: 'write'` for servers that accept it.",
  },
  'reasoning.dialect-field': {
    kind: 'approximated',
    meaning:
      'The protocol has no field for reasoning; it is written in a field that many servers and clients read.',
    advice: 'See `chatCompletions.reasoningField`.',
  },
  'reasoning.think-tags': {
    kind: 'approximated',
    meaning: 'Reasoning between tags is taken out of the text.',
    advice: 'See `chatCompletions.extractThinkTags`.',
  },
  'reasoning.placeholder': {
    kind: 'synthesized',
    meaning: 'The server requires reasoning before tool calls; a placeholder is written.',
    advice: 'See `chatCompletions.missingReasoning`.',
  },
  'reasoning.dropped': {
    kind: 'dropped',
    meaning: 'This server receives no reasoning of the history.',
    advice: 'See `chatCompletions.reasoningInHistory`.',
  },
  'reasoning.signature-dropped': {
    kind: 'dropped',
    meaning: 'Reasoning signatures are not written.',
    advice: 'See `chatCompletions.signatures`.',
  },
  'output.modality': {
    kind: 'approximated',
    meaning: 'The target has text and audio; only some servers accept other modalities.',
  },
  'output.audio-format': {
    kind: 'synthesized',
    meaning: 'The target requires an audio format; a default is written.',
    advice: 'Set the format.',
  },
  'max-tokens.field': {
    kind: 'approximated',
    meaning: 'The token limit is written in the field that this server reads.',
    advice: 'See `chatCompletions.maxTokensField`.',
  },
  'sampling.seed-field': {
    kind: 'approximated',
    meaning: 'The seed is written in the field that this server reads.',
    advice: 'See `chatCompletions.seedField`.',
  },
  'tool-choice.tools-left-out': {
    kind: 'approximated',
    meaning: 'The server cannot forbid tool calls, so the tools are not offered.',
    advice: 'See `chatCompletions.toolChoice`.',
  },
  'tool-choice.only-chosen': {
    kind: 'approximated',
    meaning: 'The server cannot force a tool by name, so only this tool is offered.',
    advice: 'See `chatCompletions.toolChoice`.',
  },
  'tool-choice.serial-calls': {
    kind: 'approximated',
    meaning: 'The server makes one tool call at a time; parallel calls are turned off.',
    advice: 'See `chatCompletions.parallelCalls`.',
  },
  'output.format': {
    kind: 'approximated',
    meaning: 'The server does not support this response format; the nearest one is requested.',
    advice: 'See `chatCompletions.formats`.',
  },
  'reasoning.with-tools': {
    kind: 'approximated',
    meaning: 'This model takes tools here only without reasoning; reasoning is turned off.',
    advice: 'Use the responses protocol.',
  },
  'media.url-as-text': {
    kind: 'approximated',
    meaning: 'The server does not fetch images; the URL is written as text.',
    advice: 'Send the image as base64.',
  },
  'message.assistant-between': {
    kind: 'synthesized',
    meaning:
      'The server refuses a user message directly after a tool result; an assistant message is inserted.',
    advice: "Set `chatCompletions.afterResults: 'keep'` to avoid it.",
  },
  'message.ids': {
    kind: 'dropped',
    meaning: 'The target has no item ids and no status for messages, calls and results.',
  },
  'message.phase': { kind: 'dropped', meaning: 'The target has no phase for messages.' },
  'finish.repaired': {
    kind: 'approximated',
    meaning: 'The finish reason contradicts the tool calls of the response; it is corrected.',
  },
  'finish.missing': {
    kind: 'approximated',
    meaning: 'The response ended without a finish reason; a normal end is assumed.',
  },
  'prompt.blocked': {
    kind: 'approximated',
    meaning: 'A blocked prompt is written as a filtered response.',
  },
  'response.late': {
    kind: 'dropped',
    meaning: 'The field arrived after the first chunk had been written.',
  },
  'usage.unsupported': { kind: 'dropped', meaning: 'The target has no field for this count.' },
  'usage.repaired': {
    kind: 'approximated',
    meaning: 'The token counts did not add up, were strings or were negative; the total is kept.',
  },
  'logprobs.unattached': {
    kind: 'dropped',
    meaning: 'The target has log probabilities for text only.',
  },
} as const satisfies NoteTable

export type ChatCompletionsReport = Report<typeof notes & SharedNotes>

export function createChatReport(fieldNames?: FieldNames, into?: Note[]): ChatCompletionsReport {
  return createReport(protocolName, notes, fieldNames, into)
}
