/** The value as a count. Undefined: it is not a non-negative integer, and must not be counted. */
export function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}
