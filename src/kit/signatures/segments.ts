import type { ReasoningPart, ReasoningSegment, Signature } from '../../canonical/message.ts'
import { omitUndefined } from '../fields/omit.ts'
import { unwrapSignature } from './envelope.ts'

/** Between joined segments. */
const between = '\n\n'

/** Kind of a segment, and its length in UTF-16 code units. */
export type SegmentLength = { kind: ReasoningSegment['kind']; length: number }

export const lengthOf = ({ kind, text }: ReasoningSegment): SegmentLength => ({
  kind,
  length: text.length,
})

/** Splits a joined text into its segments. `lengths` absent or wrong: it is one. */
function cutSegments(text: string, lengths: readonly number[] | undefined): string[] {
  if (!text) return []
  if (
    !lengths ||
    lengths.reduce((sum, length) => sum + length, 0) + between.length * (lengths.length - 1) !==
      text.length
  )
    return [text]
  let start = 0
  return lengths.map(length => {
    const segment = text.slice(start, start + length)
    start += length + between.length
    return segment
  })
}

export const textIn = ({ segments }: ReasoningPart): string =>
  segments.map(({ text }) => text).join(between)

/**
 * Reasoning with its text and signature as a block has them. An envelope around the signature has
 * the lengths to split joined segments again. `own`: what such a block is without one.
 */
export function decodeJoined(
  joined: string,
  value: string,
  own: { kind: ReasoningSegment['kind']; issuer: string },
): ReasoningPart {
  const envelope = value ? unwrapSignature(value) : undefined
  const segments = cutSegments(joined, envelope?.lengths).map((text, nth) => ({
    kind: envelope?.kinds?.[nth] ?? own.kind,
    text,
  }))
  const signature: Signature | undefined =
    envelope?.signature ?? (value ? { value, issuer: own.issuer, form: 'thinking' } : undefined)
  return { type: 'reasoning', segments, ...omitUndefined({ signature, id: envelope?.id }) }
}
