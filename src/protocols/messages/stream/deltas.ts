import type { Delta } from '../../../canonical/event.ts'
import { type Keys, keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { unknownNoter } from '../../../kit/notes/unknown-keys.ts'
import { signedBy } from '../../../kit/signatures/carried.ts'
import type { MachineState } from '../../../protocol.ts'
import { decodeCitation } from '../content/citations.ts'
import { decodeReasoning } from '../content/reasoning.ts'
import { createMessagesReport, fault, type MessagesReport, protocolName } from '../own.ts'
import type { MessagesRawBlock } from '../schema.ts'

/** Reads the deltas of a stream, and finds the unknown keys of events and deltas. */

const ofEvent = keysOf<{
  type: string
  index: number
  message: object
  content_block: object
  delta: object
}>()
const ofDelta = keysOf<{
  type: string
  text: string
  partial_json: string
  thinking: string
  signature: string
  citation: object
}>()

/** Known keys of events whose unknown keys have no place in a response. */
export const eventKeys = new Map<unknown, Keys>([
  ['content_block_delta', ofEvent('type', 'index', 'delta')],
  ['content_block_start', ofEvent('type', 'index', 'content_block')],
  ['content_block_stop', ofEvent('type', 'index')],
  ['message_start', ofEvent('type', 'message')],
  ['ping', ofEvent('type')],
])

export const deltaKeys = new Map<unknown, Keys>([
  ['text_delta', ofDelta('type', 'text')],
  ['input_json_delta', ofDelta('type', 'partial_json')],
  ['thinking_delta', ofDelta('type', 'thinking')],
  ['signature_delta', ofDelta('type', 'signature')],
  ['citations_delta', ofDelta('type', 'citation')],
])

/** The unknown keys of a delta. Undefined: there are none. */
export function unknownOfDelta(delta: JsonObject): JsonObject | undefined {
  const known = deltaKeys.get(delta['type'])
  return known && unknownOf(delta, known)
}

export const reportOf = ({ notes }: MachineState): MessagesReport =>
  createMessagesReport(undefined, notes)

export const noteUnknown = unknownNoter(reportOf)

export type OpenBlock = {
  part: number
  type: string
  /** The block of `content_block_start`, for types that are decoded in full only at their end. */
  raw: MessagesRawBlock
  /** Streamed JSON text. For `tool_use` only a marker: not empty once text has come. */
  json: string
  thinking: string
  signature: string
}

/** Undefined: there is nothing to emit yet. Null: the delta does not fit the block. */
export function readDelta(
  open: OpenBlock,
  delta: JsonObject,
  model: string | undefined,
): Delta | undefined | null {
  const { type } = open
  switch (delta['type']) {
    case 'text_delta': {
      const text = textIn(delta, 'text')
      if (type !== 'text') return null
      return hasContent(text, delta) ? { kind: 'text', text } : undefined
    }
    case 'input_json_delta': {
      const text = textIn(delta, 'partial_json')
      if (type === 'tool_use') {
        open.json ||= text.trim() && 'reported'
        return hasContent(text, delta) ? { kind: 'input', text } : undefined
      }
      if (!type.endsWith('_use')) return null
      open.json += text
      return undefined
    }
    case 'thinking_delta': {
      const text = textIn(delta, 'thinking')
      if (type !== 'thinking') return null
      open.thinking += text
      return hasContent(text, delta)
        ? { kind: 'reasoning', segment: 0, of: 'summary', text }
        : undefined
    }
    case 'signature_delta': {
      const value = textIn(delta, 'signature')
      if (type !== 'thinking') return null
      open.signature = value
      const { signature } = decodeReasoning('', value)
      return signature && { kind: 'signature', signature: signedBy(model, protocolName, signature) }
    }
    case 'citations_delta': {
      const { citation } = delta
      if (!isObject(citation) || typeof citation['type'] !== 'string')
        throw fault('/delta/citation', 'expected a citation')
      return type === 'text'
        ? { kind: 'citation', citation: decodeCitation(citation as MessagesRawBlock) }
        : null
    }
    case 'compaction_delta': {
      const { type: _, ...more } = delta
      if (type !== 'compaction') return null
      const earlier = open.raw['content']
      const content =
        typeof earlier === 'string' && typeof more['content'] === 'string'
          ? earlier + more['content']
          : (more['content'] ?? earlier)
      open.raw = { ...open.raw, ...more, content }
      return undefined
    }
    default:
      return null
  }
}

/** Should the delta be emitted? An empty one only if it has unknown keys. */
const hasContent = (text: string, delta: JsonObject) =>
  text !== '' || unknownOfDelta(delta) !== undefined

function textIn(delta: JsonObject, key: string): string {
  const text = delta[key]
  if (typeof text !== 'string') throw fault(below('/delta', key), 'expected text')
  return text
}
