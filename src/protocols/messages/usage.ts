import type { Usage } from '../../canonical/response.ts'
import { omitUndefinedOrNone } from '../../kit/fields/omit.ts'
import { isObject, type JsonObject, setOwn } from '../../kit/json/json.ts'
import {
  countOf,
  freshInput,
  includeCached,
  lostOf,
  nearestTtls,
  type PlacedTier,
  tierIn,
} from '../../kit/response/usage.ts'
import { createUsageTable } from '../../kit/response/usage-table.ts'
import { keep, type MessagesReport, wireOf } from './own.ts'
import { responseTier } from './vocabulary.ts'
import type { MessagesWrittenUsage } from './written.ts'

export const usageTable = createUsageTable<MessagesWrittenUsage>('usage', {
  input_tokens: 'input',
  output_tokens: 'output',
  cache_creation_input_tokens: 'cacheWrite',
  cache_read_input_tokens: 'cacheRead',
  cache_creation: {
    ephemeral_5m_input_tokens: 'cacheWriteByTtl.5m',
    ephemeral_1h_input_tokens: 'cacheWriteByTtl.1h',
  },
  output_tokens_details: { thinking_tokens: 'reasoning' },
  // Read by key, so that other keys are kept.
  server_tool_use: ['serverTools'],
  // It belongs to the response.
  service_tier: ['serviceTier'],
  inference_geo: [],
  speed: [],
})

/**
 * Input counts exclude cached tokens on this wire and include them in the canonical model. The
 * service tier belongs to the response and is not returned here. Never throws: counts that cannot
 * be read are kept as unknown keys.
 */
export function decodeUsage(wire: JsonObject): Usage {
  const usage: Usage = {}
  const unknown = usageTable.read(wire, usage) ?? {}
  const { service_tier: tier, server_tool_use: calls } = wire
  if (typeof tier === 'string') unknown['service_tier'] = undefined
  if (isObject(calls)) usage.serverTools = decodeCalls(calls, unknown)
  return keep(includeCached(usage), omitUndefinedOrNone(unknown))
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

/** `usage` undefined: no count is known. */
export function encodeUsage(
  usage: Usage = {},
  serviceTier: string | undefined,
  report: MessagesReport,
): MessagesWrittenUsage {
  const { input, output, cacheWriteByTtl, serverTools, ext } = usage
  for (const name of lostOf(usage, usageTable))
    if (name === 'toolPrompt') report.once('usage.merged', undefined, 'usage')
    else report.add('field.unsupported', '', `usage.${name}`)
  report.ext(ext, report.placeOf('usage'))
  if (input === undefined || output === undefined) report.add('usage.missing', '/usage')
  let calls: JsonObject | undefined
  for (const tool in serverTools) calls = { ...calls, [tool + suffix]: serverTools[tool] }
  // Not with spreads, which take ten times as long when more keys follow.
  const known = Object.assign(
    usageTable.write(
      Object.assign({}, usage, {
        input: freshInput(usage, report),
        cacheWriteByTtl: cacheWriteByTtl && {
          ...noBuckets,
          ...nearestTtls(cacheWriteByTtl, report),
        },
      }),
    ),
    {
      server_tool_use: calls,
      service_tier: encodeTier(tierIn(serviceTier, usage), report),
    },
  )
  return { ...unknownCounts, ...wireOf<MessagesWrittenUsage>(known, ext) }
}

function encodeTier({ tier, field }: PlacedTier, report: MessagesReport): string | undefined {
  if (tier === undefined) return undefined
  const word = responseTier.toWire(tier) ?? (tier === 'batch' ? tier : undefined)
  if (word === undefined) report.add('tier.nearest', undefined, field)
  return word ?? 'standard'
}

const noBuckets = { '5m': 0, '1h': 0 }
