import type { PlacedSignature } from '../../../canonical/event.ts'
import type { Place, ReasoningPart, Signature, TextPart } from '../../../canonical/message.ts'
import { phaseSignature } from '../../../kit/conversation/phases.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { writtenReasoning } from '../../../kit/fields/written.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { type Carried, carriedIn } from '../../../kit/signatures/carried.ts'
import { unwrapSignature, wrapSignature } from '../../../kit/signatures/envelope.ts'
import {
  decodeJoined,
  lengthOf,
  type SegmentLength,
  textIn,
} from '../../../kit/signatures/segments.ts'
import { isOtherFamily } from '../../../models/claude.ts'
import type { MessagesReport } from '../notes.ts'
import { keep, protocolName, wireOf } from '../own.ts'
import type {
  MessagesBlockOf,
  MessagesRawBlock,
  MessagesWrittenBlock,
  MessagesWrittenBlockOf,
} from '../schema.ts'
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

export function encodeReasoning(part: ReasoningPart, writing: Writing): MessagesWrittenBlock[] {
  const { report, to, opens } = writing
  report.node(part, writtenReasoning)
  return to === 'provider' && !(opens && part.signature)
    ? encodeForProvider(part, writing)
    : encodeSealed(part, report)
}

/** For a server that reads only signatures of its own. */
function encodeForProvider(part: ReasoningPart, writing: Writing): MessagesWrittenBlock[] {
  const { report } = writing
  const { id, signature, at, ext } = part
  if (signature?.issuer === protocolName) return [encodeOwn(part, signature, writing)]
  const text = textIn(part)
  if (!signature && writing.native && !writing.mixed)
    return [wireOf<Thinking>({ type: 'thinking', thinking: text }, ext)]
  if (!signature && !text && id !== undefined) {
    report.onceEach('message.envelope', at, { itemId: id })
    return []
  }
  report.add(signature ? 'reasoning.foreign-signature' : 'reasoning.unsigned', at)
  return []
}

function encodeOwn(
  part: ReasoningPart,
  signature: Signature,
  { report, model }: Writing,
): Thinking {
  const { segments, redacted, id, at, ext } = part
  report.onceEach('message.envelope', at, { itemId: id })
  if (isOtherFamily(signature.model, model)) report.add('reasoning.other-model', at)
  if (segments.length > 1) report.add('reasoning.joined', at)
  const text = textIn(part)
  return redacted && !text
    ? wireOf<Thinking>({ type: 'redacted_thinking', data: signature.value }, ext)
    : wireOf<Thinking>({ type: 'thinking', thinking: text, signature: signature.value }, ext)
}

/** For clients, which send every signature back, and for servers that open envelopes. */
function encodeSealed(part: ReasoningPart, report: MessagesReport): Thinking[] {
  const { segments, redacted, id, signature, at, ext } = part
  const text = textIn(part)
  if (!signature && !text) {
    report.onceEach('message.envelope', at, { itemId: id })
    return []
  }
  const value = signature && seal(signature, id, segments.map(lengthOf))
  if (redacted && !text && value !== undefined)
    return [wireOf<Thinking>({ type: 'redacted_thinking', data: value }, ext)]
  if (value === undefined) {
    report.onceEach('message.envelope', at, { itemId: id })
    if (segments.length > 1) report.add('reasoning.joined', at)
  }
  return [wireOf<Thinking>({ type: 'thinking', thinking: text, signature: value ?? '' }, ext)]
}

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
