import type { Usage } from '../../canonical/response.ts'
import { defined } from '../../kit/defined.ts'
import type { JsonObject } from '../../kit/json.ts'
import type { MessagesReport } from './notes.ts'
import { keep, nulls, ownForm, ownKeys, ownUnder } from './own.ts'
import type { MessagesUsage } from './schema.ts'
import { name, replyTier } from './vocabulary.ts'

/** Input counts exclude the cache on this wire and include it in the model. The service tier is the reply's, not counted here. */
export function decodeUsage(wire: MessagesUsage): Usage {
  const {
    input_tokens: fresh,
    output_tokens: output,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation: byTtl,
    output_tokens_details: details,
    server_tool_use: calls,
    service_tier,
    ...fields
  } = wire
  const nothing: JsonObject = nulls({
    input_tokens: fresh,
    output_tokens: output,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation: byTtl,
    output_tokens_details: details,
    server_tool_use: calls,
    service_tier,
  })
  const unknown: JsonObject = { ...fields }
  let cacheWriteByTtl: Record<string, number> | undefined
  if (byTtl) {
    const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long, ...rest } = byTtl
    if (short != null || long != null) cacheWriteByTtl = defined({ '5m': short ?? undefined, '1h': long ?? undefined }) as Record<string, number>
    nothing['cache_creation'] = nulls({ ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long })
    if (Object.keys(rest).length > 0) unknown['cache_creation'] = rest
  }
  let reasoning: number | undefined
  if (details) {
    const { thinking_tokens, ...rest } = details
    reasoning = thinking_tokens ?? undefined
    nothing['output_tokens_details'] = nulls({ thinking_tokens })
    if (Object.keys(rest).length > 0) unknown['output_tokens_details'] = rest
  }
  return {
    ...defined({
      input: fresh === null || fresh === undefined ? undefined : fresh + (cacheWrite ?? 0) + (cacheRead ?? 0),
      output: output ?? undefined,
      cacheRead: cacheRead ?? undefined,
      cacheWrite: cacheWrite ?? undefined,
      cacheWriteByTtl,
      reasoning,
    }),
    ...(calls && decodeCalls(calls, unknown)),
    // A word of another vendor that is spelled as a word of the model.
    ...keep(unknown, nothing, service_tier && replyTier.toOurs(service_tier) === undefined && replyTier.toWire(service_tier) ? { tier: service_tier } : {}),
  }
}

const suffix = '_requests'

function decodeCalls(calls: JsonObject, unknown: JsonObject): { serverTools: Record<string, number> } {
  const serverTools: Record<string, number> = {}
  const rest: JsonObject = {}
  for (const [key, value] of Object.entries(calls))
    if (typeof value === 'number' && key.endsWith(suffix) && key !== '__proto__') serverTools[key.slice(0, -suffix.length)] = value
    else rest[key] = value
  if (Object.keys(rest).length > 0) unknown['server_tool_use'] = rest
  return { serverTools }
}

const counted = new Set(['web_search', 'web_fetch'])

/**
 * `usage` absent: nothing is known. `whole`: the keys that every reply of today has are written, with 0 where nobody told.
 */
export function encodeUsage(
  usage: Usage | undefined,
  serviceTier: string | undefined,
  { report, whole }: { report: MessagesReport; whole: boolean },
): JsonObject {
  const { input, output, cacheRead, cacheWrite, cacheWriteByTtl, reasoning, toolPrompt: _part, serverTools, serviceTier: counting, ext, ...rest } = usage ?? {}
  // A count of nothing is no loss.
  report.rest(Object.fromEntries(Object.entries(rest).filter(([, count]) => count !== 0)), undefined, 'usage.')
  report.ext(ext, '/usage')
  const node = ext ? { ext } : {}
  const own = ownKeys(node)
  const foreign = !ext?.[name] && whole
  const wire: JsonObject = { ...own }
  const write = (key: string, value: unknown) => {
    if (value !== undefined) wire[key] = value
  }
  if (whole && (input === undefined || output === undefined) && ownForm(node) === undefined) report.add('usage.unknown', '/usage')
  if (foreign && input !== undefined && (cacheRead ?? 0) + (cacheWrite ?? 0) > input) report.once('usage.overlap', undefined, 'usage.input')
  write('input_tokens', input === undefined ? (foreign ? 0 : undefined) : fresh(input, cacheRead, cacheWrite, foreign))
  write('cache_creation_input_tokens', cacheWrite ?? (foreign ? 0 : undefined))
  write('cache_read_input_tokens', cacheRead ?? (foreign ? 0 : undefined))
  const kept = ownUnder(node, 'cache_creation')
  if (cacheWriteByTtl || kept) write('cache_creation', { ...kept, ...buckets(cacheWriteByTtl ?? {}, report) })
  write('output_tokens', output ?? (foreign ? 0 : undefined))
  const details = ownUnder(node, 'output_tokens_details')
  if (reasoning !== undefined || details) write('output_tokens_details', { ...details, ...defined({ thinking_tokens: reasoning }) })
  if (serverTools) {
    const calls: JsonObject = { ...ownUnder(node, 'server_tool_use') }
    for (const [tool, times] of Object.entries(serverTools))
      if (counted.has(tool) || ext?.[name]) calls[tool + suffix] = times
      else report.add('field.unsupported', undefined, `usage.serverTools.${tool}`)
    if (Object.keys(calls).length > 0 || ext?.[name] || !whole) write('server_tool_use', calls)
  }
  const tier = serviceTier ?? counting
  if (tier !== undefined) {
    const word = ownForm(node)?.['tier'] === tier ? tier : (replyTier.toWire(tier) ?? (tier === 'batch' || !whole ? tier : undefined))
    if (word === undefined) report.add('tier.nearest', undefined, 'serviceTier')
    write('service_tier', word ?? 'standard')
  }
  return wire
}

/** Of other protocols the parts may exceed the whole, where they overlap. */
function fresh(input: number, cacheRead = 0, cacheWrite = 0, foreign = true): number {
  const left = input - cacheRead - cacheWrite
  return foreign ? Math.max(0, left) : left
}

function buckets(byTtl: Record<string, number>, report: MessagesReport): JsonObject {
  const wire: JsonObject = {}
  for (const [ttl, tokens] of Object.entries(byTtl)) {
    const bucket = ttl === '1h' || ttl === '12h' ? 'ephemeral_1h_input_tokens' : 'ephemeral_5m_input_tokens'
    if (ttl !== '1h' && ttl !== '5m') report.once('usage.ttl', undefined, 'usage.cacheWriteByTtl')
    wire[bucket] = ((wire[bucket] as number | undefined) ?? 0) + tokens
  }
  return wire
}
