import type { Usage } from '../canonical/response.ts'

/** A number of tokens or calls; whatever else stands where one is expected is kept as it came, and never counted. */
export function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

/** Nobody has changed a number since it was read. */
export function sameCounts(one: Usage, other: Usage): boolean {
  return spelled(one) === spelled(other)
}

const spelled = ({ ext: _, ...counts }: Usage) => JSON.stringify(Object.entries(counts).sort())
