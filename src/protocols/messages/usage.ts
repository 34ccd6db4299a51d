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
    cacheWriteByTtl = defined({ '5m': short ?? undefined, '1h': long ?? undefined }) as Record<string, number>
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
    ...keep(unknown, nothing),
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
  write('input_tokens', input === undefined ? (foreign ? 0 : undefined) : Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)))
  write('cache_creation_input_tokens', cacheWrite ?? (foreign ? 0 : undefined))
  write('cache_read_input_tokens', cacheRead ?? (foreign ? 0 : undefined))
  if (cacheWriteByTtl) write('cache_creation', { ...ownUnder(node, 'cache_creation'), ...buckets(cacheWriteByTtl, report) })
  write('output_tokens', output ?? (foreign ? 0 : undefined))
  if (reasoning !== undefined) write('output_tokens_details', { ...ownUnder(node, 'output_tokens_details'), thinking_tokens: reasoning })
  if (serverTools) {
    const calls: JsonObject = { ...ownUnder(node, 'server_tool_use') }
    for (const [tool, times] of Object.entries(serverTools))
      if (counted.has(tool) || ext?.[name]) calls[tool + suffix] = times
      else report.add('field.unsupported', undefined, `usage.serverTools.${tool}`)
    if (Object.keys(calls).length > 0 || ext?.[name] || !whole) write('server_tool_use', calls)
  }
  const tier = serviceTier ?? counting
  if (tier !== undefined) {
    const word = replyTier.toWire(tier)
    if (word === undefined && tier !== 'batch' && !ext?.[name]) report.add('tier.nearest', undefined, 'serviceTier')
    write('service_tier', word ?? (tier === 'batch' || ext?.[name] ? tier : 'standard'))
  }
  return wire
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
