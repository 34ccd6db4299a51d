import type { Usage } from '../../../canonical/response.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, setOwn } from '../../../kit/json/json.ts'
import { countOf } from '../../../kit/response/usage.ts'
import type { MessagesReport } from '../notes.ts'
import { keep, wireOf } from '../own.ts'
import type { MessagesWrittenUsage } from '../schema.ts'
import { responseTier } from '../vocabulary.ts'

/** Reads the counts with these names. `unknown`: the other keys, and those with another value. */
function takeCounts<Key extends string>(
  wire: JsonObject,
  keys: readonly Key[],
): { counts: Partial<Record<Key, number>>; unknown: JsonObject | undefined } {
  const counts: Partial<Record<Key, number>> = {}
  const read: Record<string, true> = Object.create(null)
  for (const key of keys) {
    const count = countOf(wire[key])
    if (count === undefined) continue
    counts[key] = count
    read[key] = true
  }
  return { counts, unknown: unknownOf(wire, read) }
}

const totals = [
  'input_tokens',
  'output_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
] as const

/**
 * Input counts exclude cached tokens on this wire and include them in the canonical model. The
 * service tier belongs to the response and is not returned here. Never throws: counts that cannot
 * be read are kept as unknown keys.
 */
export function decodeUsage(wire: JsonObject): Usage {
  const { counts, unknown = {} } = takeCounts(wire, totals)
  const {
    input_tokens: fresh,
    output_tokens: output,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
  } = counts
  const inside = <Key extends string>(
    key: string,
    keys: readonly Key[],
  ): Partial<Record<Key, number>> | undefined => {
    const value = wire[key]
    if (!isObject(value)) return undefined
    const taken = takeCounts(value, keys)
    unknown[key] = taken.unknown
    return taken.counts
  }
  const byTtl = inside('cache_creation', ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'])
  const reasoning = inside('output_tokens_details', ['thinking_tokens'])?.thinking_tokens
  const { service_tier: tier, server_tool_use: calls } = wire
  if (typeof tier === 'string') unknown['service_tier'] = undefined
  const serverTools = isObject(calls) ? decodeCalls(calls, unknown) : undefined
  const usage: Usage = omitUndefined({
    input: fresh === undefined ? undefined : fresh + (cacheWrite ?? 0) + (cacheRead ?? 0),
    output,
    cacheRead,
    cacheWrite,
    cacheWriteByTtl: omitUndefinedOrNone({
      '5m': byTtl?.ephemeral_5m_input_tokens,
      '1h': byTtl?.ephemeral_1h_input_tokens,
    }) as Record<string, number> | undefined,
    reasoning,
    serverTools,
  })
  return keep(usage, omitUndefinedOrNone(unknown))
}

const suffix = '_requests'

function decodeCalls(calls: JsonObject, unknown: JsonObject): Record<string, number> {
  const serverTools: Record<string, number> = {}
  const rest: JsonObject = {}
  for (const [key, value] of Object.entries(calls)) {
    const count = countOf(value)
    if (count !== undefined && key.endsWith(suffix) && key !== '__proto__')
      serverTools[key.slice(0, -suffix.length)] = count
    else if (value !== null) setOwn(rest, key, value)
  }
  unknown['server_tool_use'] = omitUndefinedOrNone(rest)
  return serverTools
}

/** The values of unknown counts. A response has all of these keys today. */
const unknownCounts: MessagesWrittenUsage = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: null,
  output_tokens: 0,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: null,
  inference_geo: null,
  speed: null,
}

const written = keysOf<Usage>()(
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWriteByTtl',
  'reasoning',
  'toolPrompt',
  'serverTools',
  'serviceTier',
  'ext',
)

/** `usage` undefined: no count is known. */
export function encodeUsage(
  usage: Usage = {},
  serviceTier: string | undefined,
  report: MessagesReport,
): MessagesWrittenUsage {
  const {
    input,
    output,
    cacheRead,
    cacheWrite,
    cacheWriteByTtl,
    reasoning,
    toolPrompt,
    serverTools,
    serviceTier: counting,
    ext,
  } = usage
  if (toolPrompt) report.once('usage.merged', undefined, 'usage')
  for (const key in usage) {
    const count = usage[key as keyof Usage]
    // Losing a count of 0 loses nothing.
    if (!written[key] && count !== 0) report.rest({ [key]: count }, undefined, 'usage.')
  }
  report.ext(ext, report.placeOf('usage'))
  if (input === undefined || output === undefined) report.add('usage.missing', '/usage')
  // In other protocols the cache counts may overlap, and then exceed the input.
  const fresh = input === undefined ? undefined : input - (cacheRead ?? 0) - (cacheWrite ?? 0)
  if (fresh !== undefined && fresh < 0) report.once('usage.overlap', undefined, 'usage.input')
  let calls: JsonObject | undefined
  for (const tool in serverTools) calls = { ...calls, [tool + suffix]: serverTools[tool] }
  const known: MessagesWrittenUsage = {
    input_tokens: fresh === undefined ? undefined : Math.max(0, fresh),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation: cacheWriteByTtl && { ...noBuckets, ...buckets(cacheWriteByTtl, report) },
    output_tokens: output,
    output_tokens_details: omitUndefinedOrNone({ thinking_tokens: reasoning }),
    server_tool_use: calls,
    service_tier: encodeTier(serviceTier ?? counting, report),
  }
  return { ...unknownCounts, ...wireOf<MessagesWrittenUsage>(known, ext) }
}

function encodeTier(tier: string | undefined, report: MessagesReport): string | undefined {
  if (tier === undefined) return undefined
  const word = responseTier.toWire(tier) ?? (tier === 'batch' ? tier : undefined)
  if (word === undefined) report.add('tier.nearest', undefined, 'serviceTier')
  return word ?? 'standard'
}

const noBuckets = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 }

function buckets(byTtl: Record<string, number>, report: MessagesReport): Partial<typeof noBuckets> {
  const wire: Partial<typeof noBuckets> = {}
  for (const [ttl, tokens] of Object.entries(byTtl)) {
    const bucket =
      ttl === '1h' || ttl === '12h' ? 'ephemeral_1h_input_tokens' : 'ephemeral_5m_input_tokens'
    if (ttl !== '1h' && ttl !== '5m') report.once('usage.ttl', undefined, 'usage.cacheWriteByTtl')
    wire[bucket] = (wire[bucket] ?? 0) + tokens
  }
  return wire
}
