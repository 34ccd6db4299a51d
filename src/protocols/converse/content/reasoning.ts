import type { PlacedSignature } from '../../../canonical/event.ts'
import type {
  Part,
  Place,
  ReasoningPart,
  ReasoningSegment,
  Signature,
  TextPart,
} from '../../../canonical/message.ts'
import { phaseSignature } from '../../../kit/conversation/phases.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { toBase64 } from '../../../kit/media/base64.ts'
import { type Carried, carriedIn } from '../../../kit/signatures/carried.ts'
import {
  unwrapSignature,
  wrapSignature,
  wrapSignatureInBase64,
} from '../../../kit/signatures/envelope.ts'
import { reasoningEncoder } from '../../../kit/signatures/reasoning-blocks.ts'
import { decodeJoined, type SegmentLength } from '../../../kit/signatures/segments.ts'
import { isOtherFamily } from '../../../models/claude.ts'
import { familyOf } from '../models.ts'
import { blockOf, keepBoth, ownUnder, protocolName, withInner } from '../own.ts'
import { type ConverseBlock, type ConverseBlockOf, isBlockOf } from '../schema.ts'
import { type ConverseFamily, signatureIssuers } from '../vocabulary.ts'
import type { ConverseWrittenBlock } from '../written.ts'
import type { Writing } from './writing.ts'

/** Blocks of reasoning, and carriers: such blocks that only hold the signature of another part. */

/** Who makes the signatures of a family. */
export const issuerOf = (family: ConverseFamily): string => signatureIssuers[family] ?? protocolName

// ---- wire → canonical

type Inside = ConverseBlockOf<'reasoningContent'>['reasoningContent']

const blockKeys = keysOf<ConverseBlockOf<'reasoningContent'>>()('reasoningContent')
const textKeys = keysOf<Inside>()('reasoningText')
const redactedKeys = keysOf<Inside>()('redactedContent')
const innerKeys = keysOf<NonNullable<Inside['reasoningText']>>()('text signature')

/** Undefined: it holds neither text nor redacted content. */
export function decodeReasoningBlock(
  block: ConverseBlockOf<'reasoningContent'>,
  at: Place,
  family: ConverseFamily,
): ReasoningPart | undefined {
  const { reasoningText, redactedContent } = block.reasoningContent
  const around = unknownOf(block, blockKeys)
  if (reasoningText) {
    const part = decodeReasoning(reasoningText.text ?? '', reasoningText.signature ?? '', family)
    part.at = at
    return keepBoth(
      part,
      withInner(
        unknownOf(block.reasoningContent, textKeys),
        'reasoningText',
        unknownOf(reasoningText, innerKeys),
      ),
      around,
    )
  }
  if (redactedContent == null) return undefined
  const part = decodeRedacted(redactedContent, family)
  part.at = at
  return keepBoth(part, unknownOf(block.reasoningContent, redactedKeys), around)
}

export const decodeReasoning = (
  text: string,
  signature: string,
  family: ConverseFamily,
): ReasoningPart =>
  decodeJoined(text, signature, { kind: kindOf(family), issuer: issuerOf(family) })

/** Models of these families show their reasoning as they wrote it; the others a summary. */
const raw: ReadonlySet<ConverseFamily> = new Set([
  'gpt-oss',
  'qwen',
  'deepseek',
  'kimi',
  'glm',
  'minimax',
])
export const kindOf = (family: ConverseFamily): ReasoningSegment['kind'] =>
  raw.has(family) ? 'raw' : 'summary'

/** `data`: the blob, in base64. */
export function decodeRedacted(data: string, family: ConverseFamily): ReasoningPart {
  const envelope = unwrapSignature(data)
  const signature: Signature = envelope?.signature ?? {
    ...ofBlob(data, issuerOf(family)),
    form: 'redacted',
  }
  return {
    type: 'reasoning',
    segments: [],
    redacted: true,
    signature,
    ...omitUndefined({ id: envelope?.id }),
  }
}

/**
 * Another issuer writes the same signature as plain text, which is in the blob. Where that is no
 * text, the blob is a signature of this protocol.
 */
function ofBlob(data: string, issuer: string): Pick<Signature, 'value' | 'issuer'> {
  const text = issuer === protocolName ? undefined : fromBase64(data)
  return text !== undefined && toBase64(text) === data
    ? { value: text, issuer }
    : { value: data, issuer: protocolName }
}

function fromBase64(data: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(atob(data), char => char.charCodeAt(0)),
    )
  } catch {
    return undefined
  }
}

/** The signature in a carrier block. Undefined: the block is no carrier. */
export const carrierOf = (block: ConverseBlock): Carried | undefined =>
  isBlockOf(block, 'reasoningContent')
    ? carriedIn(block.reasoningContent.redactedContent)
    : undefined

// ---- canonical → wire

export const encodeReasoning = reasoningEncoder<ConverseWrittenBlock, Writing>({
  text: encodeText,
  redacted: (redactedContent, ext) =>
    blockOf<ConverseWrittenBlock, 'reasoningContent'>('reasoningContent', { redactedContent }, ext),
  unsigned: undefined,
  accepts: (signature, { family }) => isAccepted(signature, family),
  isOtherFamily,
  blobOf,
  seal: (signature, id, segments, { family }) => seal(signature, id, segments, family),
  sealBlob: (signature, id, { family }) => sealBlob(signature, id, family),
})

/** Does the model that the request is for accept the signature? */
function isAccepted({ issuer, model }: Signature, family: ConverseFamily): boolean {
  if (issuer === issuerOf(family)) return issuer !== protocolName || isOfFamily(model, family)
  // Made by a model of an unknown family.
  return issuer === protocolName && isOfFamily(model, family)
}

function isOfFamily(model: string | undefined, family: ConverseFamily): boolean {
  const made = familyOf(model)
  return made === family || made === 'unknown' || family === 'unknown'
}

function blobOf({ issuer, value }: Signature): string {
  return issuer === protocolName ? value : toBase64(value)
}

function encodeText(
  text: string,
  signature: string | undefined,
  ext: Part['ext'],
): ConverseWrittenBlock {
  return blockOf<ConverseWrittenBlock, 'reasoningContent'>(
    'reasoningContent',
    {
      reasoningText: {
        ...ownUnder(ext, 'reasoningText'),
        text,
        ...(signature !== undefined && { signature }),
      },
    },
    ext,
  )
}

/**
 * A signature as it is sent to a client: in an envelope with all that its block has no field for,
 * bare if there is none of that.
 */
function seal(
  signature: Signature,
  id: string | undefined,
  segments: readonly SegmentLength[],
  family: ConverseFamily,
): string {
  const lengths = segments.length > 1 ? segments.map(({ length }) => length) : undefined
  const common = kindOf(family)
  // A single empty segment has no kind.
  const kinds = segments.some(({ kind, length }) => kind !== common && (lengths || length > 0))
    ? segments.map(({ kind }) => kind)
    : undefined
  if (isBare(signature, id, family) && !lengths && !kinds) return signature.value
  return wrapSignature({ signature, ...omitUndefined({ id, lengths, kinds }) })
}

/** The same for a blob, which is base64. */
function sealBlob(signature: Signature, id: string | undefined, family: ConverseFamily): string {
  return isBare(signature, id, family)
    ? blobOf(signature)
    : wrapSignatureInBase64({ signature, ...omitUndefined({ id }) })
}

/** Does the client's next request, for a model of this family, show who made the signature? */
const isBare = ({ issuer }: Signature, id: string | undefined, family: ConverseFamily): boolean =>
  issuer === issuerOf(family) && id === undefined

export function encodeCarrier(
  { signature, id, kinds }: PlacedSignature,
  attach?: string,
): ConverseWrittenBlock {
  return {
    reasoningContent: {
      redactedContent: wrapSignatureInBase64({
        signature,
        ...omitUndefined({ attach, id, kinds }),
      }),
    },
  }
}

/** The block that shows a client the phase of the text behind it. */
export function phaseBlock(phase: NonNullable<TextPart['phase']>): ConverseWrittenBlock {
  return encodeCarrier({ signature: phaseSignature(phase) })
}
