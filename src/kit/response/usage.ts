import type { Usage } from '../../canonical/response.ts'
import type { FieldNames } from '../../protocol.ts'
import { isObject } from '../json/json.ts'

/** The value as a count. Undefined: it is not a non-negative integer, and must not be counted. */
export function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

type UsageReport = { once(code: 'usage.overlap' | 'usage.ttl', at: undefined, field: string): void }

/** Adds the cached tokens, which some wires count apart, to the input. Changes the usage. */
export function includeCached<Some extends Usage>(usage: Some): Some {
  if (usage.input !== undefined) usage.input += (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)
  return usage
}

/** The input without cached tokens. Notes cache counts that overlap, and then exceed the input. */
export function freshInput(
  { input, cacheRead = 0, cacheWrite = 0 }: Usage,
  report: UsageReport,
): number | undefined {
  if (input === undefined) return undefined
  const fresh = input - cacheRead - cacheWrite
  if (fresh < 0) report.once('usage.overlap', undefined, 'usage.input')
  return Math.max(0, fresh)
}

/** The tokens written to the cache by the nearest of two lifetimes. Notes other lifetimes. */
export function nearestTtls(
  byTtl: Record<string, number>,
  report: UsageReport,
): { '5m'?: number; '1h'?: number } {
  const tokens: { '5m'?: number; '1h'?: number } = {}
  for (const [ttl, count] of Object.entries(byTtl)) {
    const nearest = ttl === '1h' || ttl === '12h' ? '1h' : '5m'
    if (ttl !== nearest) report.once('usage.ttl', undefined, 'usage.cacheWriteByTtl')
    tokens[nearest] = (tokens[nearest] ?? 0) + count
  }
  return tokens
}

/** The counts that have no row. Losing a count of 0 loses nothing. */
export const lostOf = (usage: Usage, { names }: { names: FieldNames }): string[] =>
  Object.entries(usage).flatMap(([name, count]) =>
    name === 'ext' || names[`usage.${name}`] || isNothing(count) ? [] : [name],
  )

const isNothing = (counts: unknown): boolean =>
  counts === undefined ||
  counts === 0 ||
  (isObject(counts) && Object.values(counts).every(isNothing))

/** The tier of a response with its field, for notes. */
export type PlacedTier = {
  tier: string | undefined
  field: 'serviceTier' | 'usage.serviceTier'
}

/** Some servers tell the tier in the counts alone. */
export const tierIn = (serviceTier: string | undefined, usage: Usage | undefined): PlacedTier =>
  serviceTier === undefined
    ? { tier: usage?.serviceTier, field: 'usage.serviceTier' }
    : { tier: serviceTier, field: 'serviceTier' }
