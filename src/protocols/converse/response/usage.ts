import type { Usage } from '../../../canonical/response.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, setOwn } from '../../../kit/json/json.ts'
import { countOf } from '../../../kit/response/usage.ts'
import type { ConverseReport } from '../notes.ts'
import { keep, ownOf, wireOf } from '../own.ts'
import type { ConverseWrittenUsage } from '../schema.ts'

/**
 * Names of the counts; the second one is an older name, which servers still send along with the
 * same number.
 */
const names = {
  input: ['inputTokens'],
  output: ['outputTokens'],
  cacheRead: ['cacheReadInputTokens', 'cacheReadInputTokenCount'],
  cacheWrite: ['cacheWriteInputTokens', 'cacheWriteInputTokenCount'],
} as const

/**
 * Input counts exclude cached tokens on this wire and include them in the canonical model. Never
 * throws: counts that cannot be read are kept as unknown keys.
 */
export function decodeUsage(wire: JsonObject): Usage {
  const read: Record<string, true> = Object.create(null)
  const counts: Partial<Record<keyof typeof names, number>> = {}
  for (const name in names)
    for (const key of names[name as keyof typeof names]) {
      const count = countOf(wire[key])
      if (count === undefined || (counts[name as keyof typeof names] ?? count) !== count) continue
      counts[name as keyof typeof names] = count
      read[key] = true
    }
  const { input: fresh, output, cacheRead, cacheWrite } = counts
  const input = fresh === undefined ? undefined : fresh + (cacheRead ?? 0) + (cacheWrite ?? 0)
  // A total that is not the sum is kept as an unknown key.
  if (wire['totalTokens'] === (input ?? 0) + (output ?? 0)) read['totalTokens'] = true
  const cacheWriteByTtl = byTtl(wire['cacheDetails'])
  if (cacheWriteByTtl) read['cacheDetails'] = true
  const serverTools = callsIn(wire['serverToolUsage'])
  if (serverTools) read['serverToolUsage'] = true
  return keep<Usage>(
    omitUndefined({
      input,
      output,
      cacheRead,
      cacheWrite,
      cacheWriteByTtl,
      serverTools: omitUndefinedOrNone(serverTools ?? {}),
    }),
    unknownOf(wire, read),
  )
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

/** Undefined: it holds something other than counts. */
function callsIn(calls: unknown): Record<string, number> | undefined {
  if (!isObject(calls)) return undefined
  const counts: Record<string, number> = {}
  for (const tool in calls) {
    const count = countOf(calls[tool])
    if (count === undefined) return undefined
    setOwn(counts, tool, count)
  }
  return counts
}

const written = keysOf<Usage>()(
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWriteByTtl',
  'serverTools',
  'serviceTier',
  'ext',
)

/** `usage` undefined: no count is known. */
export function encodeUsage(usage: Usage = {}, report: ConverseReport): ConverseWrittenUsage {
  const { input, output, cacheRead, cacheWrite, cacheWriteByTtl, serverTools, ext } = usage
  // A lost count of 0 needs no note.
  for (const key in usage)
    if (!written[key] && usage[key as keyof Usage]) report.once('usage.merged', undefined, 'usage')
  report.ext(ext, report.placeOf('usage'))
  if (input === undefined || output === undefined) report.add('usage.missing', '/usage')
  // In other protocols the cache counts may overlap, and then exceed the input.
  const fresh = (input ?? 0) - (cacheRead ?? 0) - (cacheWrite ?? 0)
  if (input !== undefined && fresh < 0) report.once('usage.overlap', undefined, 'usage.input')
  const inputTokens = Math.max(0, fresh)
  const total = ownOf(ext)?.['totalTokens']
  const known: ConverseWrittenUsage = {
    inputTokens,
    outputTokens: output ?? 0,
    totalTokens:
      countOf(total) ?? inputTokens + (cacheRead ?? 0) + (cacheWrite ?? 0) + (output ?? 0),
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
    cacheDetails: cacheWriteByTtl && detailsOf(cacheWriteByTtl, report),
    serverToolUsage: serverTools && omitUndefinedOrNone(serverTools),
  }
  return wireOf<ConverseWrittenUsage>(known, ext)
}

/** The longer lifetime comes first. */
function detailsOf(
  counts: Record<string, number>,
  report: ConverseReport,
): ConverseWrittenUsage['cacheDetails'] {
  const tokens: Partial<Record<'1h' | '5m', number>> = {}
  for (const [ttl, count] of Object.entries(counts)) {
    const nearest = ttl === '1h' || ttl === '12h' ? '1h' : '5m'
    if (ttl !== nearest) report.once('usage.ttl', undefined, 'usage.cacheWriteByTtl')
    tokens[nearest] = (tokens[nearest] ?? 0) + count
  }
  return (['1h', '5m'] as const).flatMap(ttl =>
    tokens[ttl] === undefined ? [] : [{ ttl, inputTokens: tokens[ttl] }],
  )
}
