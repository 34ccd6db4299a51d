import type { CodecOptions } from '../../protocol.ts'
import { countOf } from './usage.ts'

/** The index of a candidate. Servers omit 0, and some omit all: then it is the position in the list. `written`: the index on the wire; `taken`: indexes used in the list; changed. */
export function indexOf(written: unknown, place: number, taken: Set<number>): number {
  const count = countOf(written)
  let index = count === undefined || taken.has(count) ? place : count
  while (taken.has(index)) index++
  taken.add(index)
  return index
}

/** Did the request ask for one answer? Then the first one that a stream tells is answer 0, whatever its index. */
export const asksForOne = ({ context }: CodecOptions): boolean => context?.request !== undefined && (context.request.candidateCount ?? 1) === 1

/** The index of an answer where the one with the index `first` is answer 0. */
export const countedFrom = (first: number, index: number): number => (index === first ? 0 : index === 0 ? first : index)
