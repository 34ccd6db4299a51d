import type { ReasoningSegment } from '../../canonical/message.ts'

/** Between joined segments. */
export const between = '\n\n'

/** Kind of a segment, and its length in UTF-16 code units. */
export type SegmentLength = { kind: ReasoningSegment['kind']; length: number }

export const lengthOf = ({ kind, text }: ReasoningSegment): SegmentLength => ({
  kind,
  length: text.length,
})

/** Splits a joined text into its segments. `lengths` absent or wrong: it is one. */
export function cutSegments(text: string, lengths: readonly number[] | undefined): string[] {
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
