import type { CodecOptions } from '../../protocol.ts'
import { countOf } from './usage.ts'

/**
 * The index of a candidate. Servers omit 0, and some omit all: then it is the position in the list.
 * `written`: the index on the wire; `taken`: indexes used in the list; changed.
 */
export function indexOf(written: unknown, place: number, taken: Set<number>): number {
  const count = countOf(written)
  let index = count === undefined || taken.has(count) ? place : count
  while (taken.has(index)) index++
  taken.add(index)
  return index
}

/** True if one candidate was requested: then the first streamed index counts as 0. */
export const asksForOne = ({ context }: CodecOptions): boolean =>
  context?.request !== undefined && (context.request.candidateCount ?? 1) === 1

/** The index of a candidate if the one with the index `first` counts as 0. */
export const countedFrom = (first: number, index: number): number => {
  if (index === first) return 0
  if (index === 0) return first
  return index
}
