import type { ExtMap } from '../../canonical/message.ts'
import type { Note } from '../../canonical/note.ts'
import { createOwn } from '../../kit/fields/own.ts'
import type { JsonObject } from '../../kit/json/json.ts'
import { createReport, type Report } from '../../kit/notes/report.ts'
import type { SharedNotes } from '../../kit/notes/shared.ts'
import type { FieldNames, NoteTable } from '../../protocol.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'responses'

/** The path of its main endpoint. */
export const path = '/v1/responses'

/** Keeps unknown keys in the node, which is not shared yet. */
export function keep<T extends { ext?: ExtMap }>(
  node: T,
  fields: JsonObject | undefined,
  more?: JsonObject,
): T {
  const kept = fields && more ? { ...fields, ...more } : (fields ?? more)
  if (kept) node.ext = { [protocolName]: { fields: kept } }
  return node
}

export const { ownOf: fieldsOf, wireOf } = createOwn(protocolName)

/** The notes that the codecs of this protocol alone make. */
export const notes = {
  'store.default': {
    kind: 'synthesized',
    meaning: 'The target stores responses by default; `store: false` is written.',
    advice: 'Set `store` in the request.',
  },
  'reasoning.older-summary': {
    kind: 'approximated',
    meaning: 'The older name of `summary` is read as `summary`.',
    advice: 'Rename the field.',
  },
  'reasoning.include-encrypted': {
    kind: 'synthesized',
    meaning: 'Encrypted reasoning is requested, because the response is not stored.',
  },
  'reasoning.loose': {
    kind: 'dropped',
    meaning: 'The server refuses reasoning without the item that follows it.',
    advice: 'Send the whole response back.',
  },
  'reasoning.repeated': {
    kind: 'dropped',
    meaning: 'Reasoning with this id and signature is already in the conversation.',
  },
  'reasoning.id-twice': {
    kind: 'approximated',
    meaning: 'Two reasoning items may not share an id; the later one is written without it.',
  },
  'reasoning.display-as-summary': {
    kind: 'approximated',
    meaning: 'A request to show reasoning is written as a request for its summary.',
  },
  'signature.unplaced': {
    kind: 'dropped',
    meaning: 'The target has no field for this reasoning signature.',
  },
  'client-call.as-function': {
    kind: 'approximated',
    meaning:
      "The arguments do not fit the client's tool, so the call is written as a function call.",
  },
  'tool.callers': {
    kind: 'dropped',
    meaning: 'The target does not have these callers of a tool.',
  },
  'tool.addition': {
    kind: 'approximated',
    meaning: 'Tools added inside the conversation are written as an item, whose rules differ.',
  },
  'tool.annotation': {
    kind: 'dropped',
    meaning: '`encrypted: true` in a schema is accepted by OpenAI only.',
  },
  'tool.schema-normalized': {
    kind: 'approximated',
    meaning:
      'The source rewrites schemas of strict tools by default; the target receives the schema unchanged.',
  },
  'tool.namespace-description': {
    kind: 'synthesized',
    meaning: 'A tool namespace requires a description; its name is written.',
  },
  'tool-result.stringified': {
    kind: 'approximated',
    meaning: 'A tool result that is an object is read as its JSON text.',
    advice: 'Send text.',
  },
  'tool-call.id-twice': {
    kind: 'approximated',
    meaning: 'Two calls of one response may not share an id; the second one gets another id.',
  },
  'media.guessed': {
    kind: 'approximated',
    meaning: 'The media type of the file is missing; a PDF is assumed.',
    advice: 'Send the media type.',
  },
  'media.as-image-call': {
    kind: 'approximated',
    meaning: 'An image in a response is written as the result of an image generation call.',
  },
  'content.as-text': { kind: 'approximated', meaning: 'Structured content is written as text.' },
  'content.input-by-assistant': {
    kind: 'approximated',
    meaning: 'Text of the assistant was marked as input; it is read as output.',
    advice: 'Send it as `output_text`.',
  },
  'cache.moved': {
    kind: 'approximated',
    meaning: 'The cache breakpoint of a whole tool result is written on its last part.',
  },
  'error.code': {
    kind: 'approximated',
    meaning: 'A failed response has one of a few error codes; the nearest one is written.',
  },
} as const satisfies NoteTable

export type ResponsesReport = Report<typeof notes & SharedNotes>

export function createResponsesReport(fieldNames?: FieldNames, into?: Note[]): ResponsesReport {
  return createReport(protocolName, notes, fieldNames, into)
}
