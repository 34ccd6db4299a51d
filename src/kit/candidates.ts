import { countOf } from './usage.ts'

/** The index of a candidate. Servers omit 0, and some omit all: then it is the position in the list. `written`: the index on the wire; `taken`: indexes used in the list; changed. */
export function indexOf(written: unknown, place: number, taken: Set<number>): number {
  const count = countOf(written)
  let index = count === undefined || taken.has(count) ? place : count
  while (taken.has(index)) index++
  taken.add(index)
  return index
}
