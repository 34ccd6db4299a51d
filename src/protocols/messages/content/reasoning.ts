import type { PlacedSignature } from '../../../canonical/event.ts'
import type { Place, ReasoningPart, Signature, TextPart } from '../../../canonical/message.ts'
import { phaseSignature } from '../../../kit/conversation/phases.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { type Carried, carriedIn } from '../../../kit/signatures/carried.ts'
import { unwrapSignature, wrapSignature } from '../../../kit/signatures/envelope.ts'
import { reasoningEncoder } from '../../../kit/signatures/reasoning-blocks.ts'
import { decodeJoined, type SegmentLength } from '../../../kit/signatures/segments.ts'
import { isOtherFamily } from '../../../models/claude.ts'
import { keep, type MessagesReport, protocolName, wireOf } from '../own.ts'
import type { MessagesBlockOf, MessagesRawBlock } from '../schema.ts'
import type { MessagesWrittenBlockOf } from '../written.ts'
import type { Writing } from './writing.ts'

/**
 * Thinking blocks, and carriers: `redacted_thinking` blocks that only hold the signature of another
 * part.
 */

// ---- wire → canonical

const thinkingKeys = keysOf<MessagesBlockOf<'thinking'>>()('type thinking signature')
const redactedKeys = keysOf<MessagesBlockOf<'redacted_thinking'>>()('type data')

export function decodeThinking(block: MessagesBlockOf<'thinking'>, at: Place): ReasoningPart {
  const part = decodeReasoning(block.thinking, block.signature ?? '')
  part.at = at
  return keep(part, unknownOf(block, thinkingKeys))
}

export function decodeRedacted(
  block: MessagesBlockOf<'redacted_thinking'>,
  at: Place,
): ReasoningPart {
  const { data } = block
  const envelope = unwrapSignature(data)
  const signature: Signature = envelope?.signature ?? {
    value: data,
    issuer: protocolName,
    form: 'redacted',
  }
  const part: ReasoningPart = omitUndefined({
    type: 'reasoning' as const,
    segments: [],
    redacted: true,
    signature,
    id: envelope?.id,
    at,
  })
  return keep(part, unknownOf(block, redactedKeys))
}

export const decodeReasoning = (thinking: string, signature: string): ReasoningPart =>
  decodeJoined(thinking, signature, { kind: 'summary', issuer: protocolName })

/**
 * Makes notes of `input_transformations`: what the provider did to the thinking in the request.
 * `thinking_dropped`: it was left out; any other type: it was accepted although it did not fit the
 * conversation before it. `strange`: a value that is no such list, to be kept as unknown.
 */
export function decodeTransformations(
  value: unknown,
  report: MessagesReport,
): { list?: unknown; strange?: unknown } {
  if (value == null) return {}
  if (
    !Array.isArray(value) ||
    value.length === 0 ||
    !value.every(entry => isObject(entry) && typeof entry['type'] === 'string')
  )
    return { strange: value }
  for (const [index, { type }] of (value as JsonObject[]).entries())
    report.add(
      type === 'thinking_dropped' ? 'reasoning.dropped-upstream' : 'reasoning.prefix-mismatch',
      below('/input_transformations', index),
    )
  return { list: value }
}

/** The signature in a carrier block. Undefined: the block is no carrier. */
export const carrierOf = (block: MessagesRawBlock): Carried | undefined =>
  block.type === 'redacted_thinking' ? carriedIn(block['data']) : undefined

// ---- canonical → wire

type Redacted = MessagesWrittenBlockOf<'redacted_thinking'>
type Thinking = MessagesWrittenBlockOf<'thinking'> | Redacted

export const encodeReasoning = reasoningEncoder<Thinking, Writing>({
  text: (thinking, signature, ext) =>
    wireOf<Thinking>({ type: 'thinking', thinking, signature }, ext),
  redacted: (data, ext) => wireOf<Thinking>({ type: 'redacted_thinking', data }, ext),
  unsigned: '',
  accepts: ({ issuer }) => issuer === protocolName,
  isOtherFamily,
  blobOf: ({ value }) => value,
  seal,
  sealBlob: (signature, id) => seal(signature, id, []),
})

/**
 * A signature as it is sent to a client: in an envelope with all that its block has no field for,
 * bare if there is none of that.
 */
function seal(
  signature: Signature,
  id: string | undefined,
  segments: readonly SegmentLength[],
): string {
  const lengths = segments.length > 1 ? segments.map(({ length }) => length) : undefined
  const own = signature.issuer === protocolName
  if (own && !lengths && id === undefined) return signature.value
  // Thinking of this protocol is a summary, and a single empty segment has no kind: neither needs
  // `kinds`.
  const kinds =
    !own && segments.some(({ kind, length }) => kind === 'raw' && (lengths || length > 0))
      ? segments.map(({ kind }) => kind)
      : undefined
  return wrapSignature({ signature, ...omitUndefined({ id, lengths, kinds }) })
}

export function encodeCarrier(
  { signature, id, kinds }: PlacedSignature,
  attach?: string,
): Redacted {
  return {
    type: 'redacted_thinking',
    data: wrapSignature({ signature, ...omitUndefined({ attach, id, kinds }) }),
  }
}

/** The block that gives a client the phase of the text after it. */
export function phaseBlock(phase: NonNullable<TextPart['phase']>): Redacted {
  return { type: 'redacted_thinking', data: wrapSignature({ signature: phaseSignature(phase) }) }
}
