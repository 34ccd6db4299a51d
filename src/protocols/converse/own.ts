import type { ExtMap } from '../../canonical/message.ts'
import type { Note } from '../../canonical/note.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { createOwn } from '../../kit/fields/own.ts'
import { type JsonObject, merge } from '../../kit/json/json.ts'
import { createReport, type Report } from '../../kit/notes/report.ts'
import type { SharedNotes } from '../../kit/notes/shared.ts'
import type { FieldNames, NoteTable } from '../../protocol.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'converse'

/** The path of its main endpoint. */
export const path = '/model/{modelId}/converse'

export { withInner } from '../../kit/fields/own.ts'
export const { keep, ownOf, ownUnder, wireOf } = createOwn(protocolName)

// A block is an object in an object, `{ image: { format } }`: its node is the inner one.

/**
 * Keeps the unknown keys of a block in its node: those inside, and those next to its kind, under
 * `../`. Changes the node.
 */
export function keepBoth<T extends object>(
  node: T & { ext?: ExtMap },
  inside: JsonObject | undefined,
  around: JsonObject | undefined,
): T {
  if (!inside && !around) return node
  const fields: JsonObject = {}
  for (const key in inside) fields[/^\.{1,2}\//.test(key) ? `./${key}` : key] = inside[key]
  for (const key in around) fields[`../${key}`] = around[key]
  return keep(node, fields)
}

/** A block of this kind, with the unknown keys that `keepBoth` has kept. */
export function blockOf<Block extends object, Kind extends keyof Block & string>(
  kind: Kind,
  known: NoInfer<Block[Kind]> & object,
  ext: ExtMap | undefined,
): Block {
  const kept = ownOf(ext)
  const block: JsonObject = {}
  if (!kept) block[kind] = omitUndefined(known)
  else {
    const inside: JsonObject = {}
    for (const key in kept)
      if (key.startsWith('../')) block[key.slice(3)] = kept[key]
      else inside[key.startsWith('./') ? key.slice(2) : key] = kept[key]
    block[kind] = merge<object>(inside, known)
  }
  // It has the key of its kind, and those that were read.
  return block as Block
}

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
