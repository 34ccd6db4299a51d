import type { Usage } from '../../canonical/response.ts'
import { omitUndefinedOrNone } from '../../kit/fields/omit.ts'
import { isObject, type JsonObject, setOwn } from '../../kit/json/json.ts'
import {
  countOf,
  freshInput,
  includeCached,
  lostOf,
  nearestTtls,
} from '../../kit/response/usage.ts'
import { type Counts, createUsageTable, withoutTotal } from '../../kit/response/usage-table.ts'
import { type ConverseReport, keep, ownOf, wireOf } from './own.ts'
import type { ConverseWrittenUsage } from './written.ts'

export const usageTable = createUsageTable<ConverseWrittenUsage>('usage', {
  inputTokens: 'input',
  outputTokens: 'output',
  totalTokens: 'total',
  cacheReadInputTokens: 'cacheRead',
  cacheWriteInputTokens: 'cacheWrite',
  cacheDetails: { field: 'cacheWriteByTtl', read: byTtl, write: detailsOf },
  serverToolUsage: { field: 'serverTools', read: callsIn, write: omitUndefinedOrNone },
  // Older names, which servers still send along with the same number.
  cacheReadInputTokenCount: { field: 'cacheRead', write: false },
  cacheWriteInputTokenCount: { field: 'cacheWrite', write: false },
})

/**
 * Input counts exclude cached tokens on this wire and include them in the canonical model. Never
 * throws: counts that cannot be read are kept as unknown keys.
 */
export function decodeUsage(wire: JsonObject): Usage {
  const counts: Counts = {}
  const unknown = usageTable.read(wire, counts) ?? {}
  const usage = withoutTotal(includeCached(counts), unknown, 'totalTokens')
  return keep(usage, omitUndefinedOrNone(unknown))
}

/** Undefined: it is another kind of list. */
function byTtl(details: unknown): Record<string, number> | undefined {
  if (!Array.isArray(details) || details.length === 0) return undefined
  const counts: Record<string, number> = {}
  for (const entry of details as unknown[]) {
    const count = isObject(entry) ? countOf(entry['inputTokens']) : undefined
    if (
      !isObject(entry) ||
      count === undefined ||
      typeof entry['ttl'] !== 'string' ||
      Object.keys(entry).length > 2
    )
      return undefined
    if (Object.hasOwn(counts, entry['ttl'])) return undefined
    setOwn(counts, entry['ttl'], count)
  }
  return counts
}

/** Null: there are none. Undefined: it holds something other than counts. */
function callsIn(calls: unknown): Record<string, number> | null | undefined {
  if (!isObject(calls)) return undefined
  const counts: Record<string, number> = {}
  for (const tool in calls) {
    const count = countOf(calls[tool])
    if (count === undefined) return undefined
    setOwn(counts, tool, count)
  }
  return omitUndefinedOrNone(counts) ?? null
}

/** `usage` undefined: no count is known. */
export function encodeUsage(usage: Usage = {}, report: ConverseReport): ConverseWrittenUsage {
  const { input, output, cacheRead, cacheWrite, cacheWriteByTtl, ext } = usage
  if (lostOf(usage, usageTable).some(name => name !== 'serviceTier'))
    report.once('usage.merged', undefined, 'usage')
  report.ext(ext, report.placeOf('usage'))
  if (input === undefined || output === undefined) report.add('usage.missing', '/usage')
  const fresh = freshInput(usage, report) ?? 0
  const total = countOf(ownOf(ext)?.['totalTokens'])
  const known = usageTable.write(
    Object.assign({}, usage, {
      input: fresh,
      output: output ?? 0,
      total: total ?? fresh + (cacheRead ?? 0) + (cacheWrite ?? 0) + (output ?? 0),
      cacheWriteByTtl: cacheWriteByTtl && nearestTtls(cacheWriteByTtl, report),
    }),
  )
  return wireOf<ConverseWrittenUsage>(known, ext)
}

/** The longer lifetime comes first. */
function detailsOf(tokens: Record<string, number>): ConverseWrittenUsage['cacheDetails'] {
  return ['1h', '5m'].flatMap(ttl =>
    tokens[ttl] === undefined ? [] : [{ ttl, inputTokens: tokens[ttl] }],
  )
}
