import type { Place } from '../../canonical/message.ts'
import type { Usage } from '../../canonical/response.ts'
import { type ObjectTable, objectTable } from '../fields/object-table.ts'
import { isObject, type JsonObject } from '../json/json.ts'

/** The value as a count. Undefined: it is not a non-negative integer, and must not be counted. */
export function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

/** `total`: of a wire that repeats the sum of input and output. */
export type Counts = Usage & { total?: number }

/** The table of the token counts of a protocol. `key`: the key of the response that holds them. */
export const createUsageTable = <Wire extends object>(key: string) =>
  objectTable<Counts, Wire>('usage', key, (value, before) =>
    before === undefined || value === before ? countOf(value) : undefined,
  )

/**
 * The usage without its total. One that is not the sum is put among the unknown keys, and not used.
 */
export function withoutTotal({ total, ...usage }: Counts, unknown: JsonObject, key: string): Usage {
  if (total !== undefined && total !== (usage.input ?? 0) + (usage.output ?? 0))
    unknown[key] = total
  return usage
}

/** Adds the cached tokens, which some wires count apart, to the input. Changes the usage. */
export function includeCached<Some extends Usage>(usage: Some): Some {
  if (usage.input !== undefined) usage.input += (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)
  return usage
}

/** The input without cached tokens. Notes cache counts that overlap, and then exceed the input. */
export function freshInput(
  { input, cacheRead = 0, cacheWrite = 0 }: Usage,
  report: { once(code: 'usage.overlap', at: undefined, field: 'usage.input'): void },
): number | undefined {
  if (input === undefined) return undefined
  const fresh = input - cacheRead - cacheWrite
  if (fresh < 0) report.once('usage.overlap', undefined, 'usage.input')
  return Math.max(0, fresh)
}

/** The tokens written to the cache by the nearest of two lifetimes. Notes other lifetimes. */
export function nearestTtls(
  byTtl: Record<string, number>,
  report: { once(code: 'usage.ttl', at: undefined, field: 'usage.cacheWriteByTtl'): void },
): { '5m'?: number; '1h'?: number } {
  const tokens: { '5m'?: number; '1h'?: number } = {}
  for (const [ttl, count] of Object.entries(byTtl)) {
    const nearest = ttl === '1h' || ttl === '12h' ? '1h' : '5m'
    if (ttl !== nearest) report.once('usage.ttl', undefined, 'usage.cacheWriteByTtl')
    tokens[nearest] = (tokens[nearest] ?? 0) + count
  }
  return tokens
}

/**
 * Notes the counts that have no row. `codeOf` returns undefined for what is written elsewhere.
 * Losing a count of 0 loses nothing.
 */
export function noteLost<Code extends string>(
  usage: Usage,
  { fields }: Pick<ObjectTable<Counts, object>, 'fields'>,
  codeOf: (name: string) => Code | 'usage.merged' | undefined,
  report: {
    add(code: Code, at: Place, field: string): void
    once(code: 'usage.merged', at: undefined, field: 'usage'): void
  },
): void {
  for (const name in usage) {
    if (name === 'ext' || fields[name] || isNothing(usage[name as keyof Usage])) continue
    const code = codeOf(name)
    if (code === 'usage.merged') report.once('usage.merged', undefined, 'usage')
    else if (code) report.add(code, '', `usage.${name}`)
  }
}

const isNothing = (counts: unknown): boolean =>
  counts === undefined ||
  counts === 0 ||
  (isObject(counts) && Object.values(counts).every(isNothing))
