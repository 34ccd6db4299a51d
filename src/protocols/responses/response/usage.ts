import type { Usage } from '../../../canonical/response.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { countOf } from '../../../kit/response/usage.ts'
import type { ResponsesReport } from '../notes.ts'
import { fieldsOf, keep } from '../own.ts'
import type { ResponsesUsage, ResponsesWrittenUsage } from '../schema.ts'

/**
 * The counts under these keys, and the other fields; a number below 0 or with a fraction is no
 * count and stays among the others.
 */
function takeCounts<Key extends string>(
  wire: { [key in Key]?: number | null | undefined },
  keys: readonly Key[],
): [{ [key in Key]?: number }, JsonObject] {
  const counts: { [key in Key]?: number } = {}
  const rest: JsonObject = { ...wire }
  for (const key of keys) {
    const value = wire[key]
    const count = countOf(value)
    if (value != null && count === undefined) continue
    if (count !== undefined) counts[key] = count
    // Deleting the key would be slow.
    rest[key] = undefined
  }
  return [counts, omitUndefined(rest)]
}

/** Totals are inclusive in this protocol, too: cached ⊂ input, reasoning ⊂ output. */
export function decodeUsage(wire: ResponsesUsage): Usage {
  const {
    input_tokens_details: inDetails,
    output_tokens_details: outDetails,
    total_tokens: total,
    ...counts
  } = wire
  const { cache_write_tokens_details, ...inCounts } = inDetails ?? {}
  const [{ input_tokens: input, output_tokens: output }, rest] = takeCounts(counts, [
    'input_tokens',
    'output_tokens',
  ])
  const [{ cached_tokens: cacheRead, cache_write_tokens: cacheWrite }, inRest] = takeCounts(
    inCounts,
    ['cached_tokens', 'cache_write_tokens'],
  )
  const [{ reasoning_tokens: reasoning }, outRest] = takeCounts(outDetails ?? {}, [
    'reasoning_tokens',
  ])
  const [{ ttl_30m_tokens, ttl_12h_tokens }, ttlRest] = takeCounts(
    cache_write_tokens_details ?? {},
    ['ttl_30m_tokens', 'ttl_12h_tokens'],
  )
  const byTtl = omitUndefined({ '30m': ttl_30m_tokens, '12h': ttl_12h_tokens })
  if (Object.keys(ttlRest).length > 0)
    Object.assign(inRest, { cache_write_tokens_details: ttlRest })
  const fields: JsonObject = {
    ...rest,
    // A total that is not the sum is kept as an unknown key, and not used.
    ...(total != null && total !== (input ?? 0) + (output ?? 0) && { total_tokens: total }),
    ...(Object.keys(inRest).length > 0 && { input_tokens_details: inRest }),
    ...(Object.keys(outRest).length > 0 && { output_tokens_details: outRest }),
  }
  const usage: Usage = omitUndefined({
    input,
    output,
    cacheRead,
    cacheWrite,
    reasoning,
    cacheWriteByTtl: omitUndefinedOrNone(byTtl),
  })
  return keep(usage, omitUndefinedOrNone(fields))
}

/**
 * All counts are required here: a missing one is 0, as on a server that does not cache. Clients
 * reject a response without counts. `mayLack`: undefined if all counts are missing.
 */
export function encodeUsage(
  usage: Usage = {},
  { mayLack }: { mayLack: boolean },
  report: ResponsesReport,
): ResponsesWrittenUsage | undefined {
  const {
    input,
    output,
    cacheRead,
    cacheWrite,
    cacheWriteByTtl,
    reasoning,
    toolPrompt,
    ext,
    serviceTier: _,
    ...rest
  } = usage
  report.ext(ext, report.placeOf('usage'))
  if (toolPrompt) report.once('usage.merged', undefined, 'usage')
  report.rest(
    Object.fromEntries(Object.entries(rest).filter(([, count]) => count !== 0)),
    '',
    'usage.',
  )
  const ttl = encodeTtl(cacheWriteByTtl, report)
  const own = fieldsOf(ext) ?? {}
  const hasCounts =
    [input, output, cacheRead, cacheWrite, reasoning].some(count => count !== undefined) ||
    omitUndefinedOrNone({ ...own, ...ttl }) !== undefined
  if (!hasCounts && mayLack) return undefined
  if (input === undefined || output === undefined) report.once('usage.missing', '/usage')
  const { input_tokens_details: inDetails, output_tokens_details: outDetails, ...fields } = own
  return {
    input_tokens: input ?? 0,
    input_tokens_details: {
      cached_tokens: cacheRead ?? 0,
      cache_write_tokens: cacheWrite ?? 0,
      ...ttl,
      ...(isObject(inDetails) && inDetails),
    },
    output_tokens: output ?? 0,
    output_tokens_details: {
      reasoning_tokens: reasoning ?? 0,
      ...(isObject(outDetails) && outDetails),
    },
    total_tokens: (input ?? 0) + (output ?? 0),
    // Also known keys whose values are no counts.
    ...fields,
  }
}

function encodeTtl(
  byTtl: Usage['cacheWriteByTtl'],
  report: ResponsesReport,
): Pick<ResponsesWrittenUsage['input_tokens_details'], 'cache_write_tokens_details'> {
  if (!byTtl) return {}
  const known = omitUndefined({ ttl_30m_tokens: byTtl['30m'], ttl_12h_tokens: byTtl['12h'] })
  if (Object.keys(byTtl).length > Object.keys(known).length)
    report.once('cache.ttl', '', 'usage.cacheWriteByTtl')
  return Object.keys(known).length > 0 ? { cache_write_tokens_details: known } : {}
}
