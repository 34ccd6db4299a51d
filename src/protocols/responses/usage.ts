import type { Usage } from '../../canonical/response.ts'
import { defined } from '../../kit/defined.ts'
import type { JsonObject } from '../../kit/json.ts'
import { keep, ownFields, ownForm, spelling, wireOf } from './own.ts'
import type { ResponsesUsage } from './schema.ts'
import type { ResponsesReport } from './writing.ts'

/** Totals are inclusive on this wire, too: cached ⊂ input, reasoning ⊂ output. */
export function decodeUsage(wire: ResponsesUsage): Usage {
  const { input_tokens: input, input_tokens_details: inDetails, output_tokens: output, output_tokens_details: outDetails, total_tokens: total, ...rest } = wire
  const { cached_tokens, cache_write_tokens, cache_write_tokens_details, ...inRest } = inDetails ?? {}
  const { reasoning_tokens, ...outRest } = outDetails ?? {}
  const { ttl_30m_tokens, ttl_12h_tokens } = cache_write_tokens_details ?? {}
  const byTtl = defined({ '30m': ttl_30m_tokens ?? undefined, '12h': ttl_12h_tokens ?? undefined })
  const fields: JsonObject = {
    ...rest,
    ...(Object.keys(inRest).length > 0 && { input_tokens_details: inRest }),
    ...(Object.keys(outRest).length > 0 && { output_tokens_details: outRest }),
  }
  const given = [
    ...Object.keys(inDetails ?? {}).map(key => `in.${key}`),
    ...Object.keys(outDetails ?? {}).map(key => `out.${key}`),
    ...(inDetails ? ['in'] : []),
    ...(outDetails ? ['out'] : []),
  ]
  const told = total !== undefined && total !== null && total !== (input ?? 0) + (output ?? 0) ? { total } : {}
  return {
    ...defined({
      input: input ?? undefined,
      output: output ?? undefined,
      cacheRead: cached_tokens ?? undefined,
      cacheWrite: cache_write_tokens ?? undefined,
      reasoning: reasoning_tokens ?? undefined,
    }),
    ...(Object.keys(byTtl).length > 0 && { cacheWriteByTtl: byTtl }),
    ...keep(fields, { ...spelling(wire, ['input_tokens', 'output_tokens', 'total_tokens']), ...told, given }),
  }
}

/** All details are required here: what nobody told is 0, as on a server that does not cache. */
export function encodeUsage(usage: Usage, report: ResponsesReport): JsonObject {
  const { input, output, cacheRead, cacheWrite, cacheWriteByTtl, reasoning, ext, serviceTier: _, ...rest } = usage
  const form = ownForm(usage)
  const given = form && Array.isArray(form['given']) ? form['given'] : undefined
  const fields = ownFields(usage)
  const details = (key: 'in' | 'out', known: JsonObject, extra: unknown) => {
    const kept = given ? Object.fromEntries(Object.entries(known).filter(([name]) => given.includes(`${key}.${name}`))) : known
    return given && !given.includes(key) ? undefined : { ...(extra as JsonObject | undefined), ...kept }
  }
  const ttl = cacheWriteByTtl && defined({ ttl_30m_tokens: cacheWriteByTtl['30m'], ttl_12h_tokens: cacheWriteByTtl['12h'] })
  const own = ttl && Object.keys(ttl).length > 0 ? { cache_write_tokens_details: ttl } : {}
  report.ext(ext, '/usage')
  report.rest(rest, '/usage')
  if (cacheWriteByTtl) for (const key of Object.keys(cacheWriteByTtl)) if (key !== '30m' && key !== '12h') report.once('cache.ttl', '/usage', 'cacheWriteByTtl')
  const known = {
    input_tokens: form ? input : (input ?? 0),
    input_tokens_details: details('in', { cached_tokens: cacheRead ?? 0, cache_write_tokens: cacheWrite ?? 0, ...own }, fields['input_tokens_details']),
    output_tokens: form ? output : (output ?? 0),
    output_tokens_details: details('out', { reasoning_tokens: reasoning ?? 0 }, fields['output_tokens_details']),
    total_tokens: typeof form?.['total'] === 'number' ? form['total'] : (input ?? 0) + (output ?? 0),
  }
  const wire = wireOf(known, usage)
  if (Array.isArray(form?.['absent']) && form['absent'].includes('total_tokens')) delete wire['total_tokens']
  return wire
}
