import type { Usage } from '../../canonical/response.ts'
import { defined, some } from '../../kit/defined.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { countOf } from '../../kit/usage.ts'
import type { MessagesReport } from './notes.ts'
import { keep, ownForm, ownOf, splitNulls, wireOf } from './own.ts'
import { replyTier } from './vocabulary.ts'

/** Reads the counts with these names. `unknown`: the object with the keys that were read set to undefined, because deleting a key is slow. */
function takeCounts<Key extends string>(
  wire: JsonObject,
  keys: readonly Key[],
): { counts: Partial<Record<Key, number>>; nothing: JsonObject; unknown: JsonObject } {
  const counts: Partial<Record<Key, number>> = {}
  const nothing: JsonObject = {}
  const unknown: JsonObject = { ...wire }
  for (const key of keys) {
    const count = countOf(wire[key])
    if (wire[key] === null) nothing[key] = null
    else if (count !== undefined) counts[key] = count
    else continue
    unknown[key] = undefined
  }
  return { counts, nothing, unknown }
}

const totals = ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'] as const

/**
 * Input counts exclude cached tokens on this wire and include them in the canonical model. The service tier belongs to the reply and
 * is not returned here. Never throws: counts that cannot be read are kept as unknown keys.
 */
export function decodeUsage(given: JsonObject): Usage {
  const { present: wire, nothing } = splitNulls(given)
  const { counts, unknown } = takeCounts(wire, totals)
  const { input_tokens: fresh, output_tokens: output, cache_creation_input_tokens: cacheWrite, cache_read_input_tokens: cacheRead } = counts
  const inside = <Key extends string>(key: string, keys: readonly Key[]): Partial<Record<Key, number>> | undefined => {
    const value = wire[key]
    if (!isObject(value)) return undefined
    const taken = takeCounts(value, keys)
    nothing[key] = taken.nothing
    unknown[key] = some(taken.unknown)
    return taken.counts
  }
  const byTtl = inside('cache_creation', ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'])
  const cacheWriteByTtl = defined({ '5m': byTtl?.ephemeral_5m_input_tokens, '1h': byTtl?.ephemeral_1h_input_tokens }) as Record<string, number>
  const reasoning = inside('output_tokens_details', ['thinking_tokens'])?.thinking_tokens
  const { service_tier: tier, server_tool_use: calls } = wire
  if (typeof tier === 'string') unknown['service_tier'] = undefined
  return defined({
    input: fresh === undefined ? undefined : fresh + (cacheWrite ?? 0) + (cacheRead ?? 0),
    output,
    cacheRead,
    cacheWrite,
    cacheWriteByTtl: Object.keys(cacheWriteByTtl).length > 0 ? cacheWriteByTtl : undefined,
    reasoning,
    ...(isObject(calls) && decodeCalls(calls, unknown)),
    // A tier of another vendor that equals a canonical tier name.
    ...keep(defined(unknown), nothing, typeof tier === 'string' && replyTier.toOurs(tier) === undefined && replyTier.toWire(tier) ? { tier } : undefined),
  })
}

const suffix = '_requests'

function decodeCalls(calls: JsonObject, unknown: JsonObject): { serverTools: Record<string, number> } {
  const serverTools: Record<string, number> = {}
  const rest: JsonObject = {}
  for (const [key, value] of Object.entries(calls)) {
    const count = countOf(value)
    if (count !== undefined && key.endsWith(suffix) && key !== '__proto__') serverTools[key.slice(0, -suffix.length)] = count
    else rest[key] = value
  }
  unknown['server_tool_use'] = some(rest)
  return { serverTools }
}

const counted = new Set(['web_search', 'web_fetch'])

/** Keys that every reply has today; null: unknown. */
const untold: JsonObject = { cache_creation: null, output_tokens_details: null, server_tool_use: null, service_tier: null, inference_geo: null, speed: null }

/**
 * `usage` undefined: no count is known. `whole`: all keys that a reply has today are written; unknown counts are 0.
 */
export function encodeUsage(
  usage: Usage | undefined,
  serviceTier: string | undefined,
  { report, whole }: { report: MessagesReport; whole: boolean },
): JsonObject {
  const { input, output, cacheRead, cacheWrite, cacheWriteByTtl, reasoning, toolPrompt, serverTools, serviceTier: counting, ext, ...rest } = usage ?? {}
  if (toolPrompt) report.once('usage.merged', undefined, 'usage')
  // Losing a count of 0 loses nothing.
  report.rest(Object.fromEntries(Object.entries(rest).filter(([, count]) => count !== 0)), undefined, 'usage.')
  report.ext(ext, report.placeOf('usage'))
  const foreign = !ownOf(ext) && whole
  if (whole && (input === undefined || output === undefined) && ownForm(ext) === undefined) report.add('usage.unknown', '/usage')
  if (foreign && input !== undefined && (cacheRead ?? 0) + (cacheWrite ?? 0) > input) report.once('usage.overlap', undefined, 'usage.input')
  const least = foreign ? 0 : undefined
  const known: JsonObject = {
    input_tokens: input === undefined ? least : fresh(input, cacheRead, cacheWrite, foreign),
    cache_creation_input_tokens: cacheWrite ?? least,
    cache_read_input_tokens: cacheRead ?? least,
    cache_creation: cacheWriteByTtl && { ...(foreign && noBuckets), ...buckets(cacheWriteByTtl, report) },
    output_tokens: output ?? least,
    output_tokens_details: some({ thinking_tokens: reasoning }),
  }
  if (serverTools) {
    const calls: JsonObject = {}
    for (const [tool, times] of Object.entries(serverTools))
      if (counted.has(tool) || ownOf(ext)) calls[tool + suffix] = times
      else report.add('field.unsupported', undefined, `usage.serverTools.${tool}`)
    if (Object.keys(calls).length > 0 || ownOf(ext) || !whole) known['server_tool_use'] = calls
  }
  const tier = serviceTier ?? counting
  if (tier !== undefined) {
    const word = ownForm(ext)?.['tier'] === tier ? tier : (replyTier.toWire(tier) ?? (tier === 'batch' || !whole ? tier : undefined))
    if (word === undefined) report.add('tier.nearest', undefined, 'serviceTier')
    known['service_tier'] = word ?? 'standard'
  }
  return foreign ? Object.assign({}, untold, defined(known)) : wireOf(known, ext)
}

/** Input tokens without the cached ones. In other protocols the cache counts may overlap, and then exceed the input. */
function fresh(input: number, cacheRead = 0, cacheWrite = 0, foreign = true): number {
  const left = input - cacheRead - cacheWrite
  return foreign ? Math.max(0, left) : left
}

const noBuckets = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 }

function buckets(byTtl: Record<string, number>, report: MessagesReport): JsonObject {
  const wire: JsonObject = {}
  for (const [ttl, tokens] of Object.entries(byTtl)) {
    const bucket = ttl === '1h' || ttl === '12h' ? 'ephemeral_1h_input_tokens' : 'ephemeral_5m_input_tokens'
    if (ttl !== '1h' && ttl !== '5m') report.once('usage.ttl', undefined, 'usage.cacheWriteByTtl')
    wire[bucket] = ((wire[bucket] as number | undefined) ?? 0) + tokens
  }
  return wire
}
