import type { Usage } from '../canonical/response.ts'

/** The value as a count. Undefined: it is not a non-negative integer, and must not be counted. */
export function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

/** Are all counts equal? */
export function sameCounts(one: Usage, other: Usage): boolean {
  return spelled(one) === spelled(other)
}

const spelled = ({ ext: _, ...counts }: Usage) => JSON.stringify(Object.entries(counts).sort())
