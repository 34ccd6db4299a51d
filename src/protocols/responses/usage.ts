import type { Usage } from '../../canonical/response.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../kit/fields/omit.ts'
import { merge } from '../../kit/json/json.ts'
import { lostOf } from '../../kit/response/usage.ts'
import { type Counts, createUsageTable, withoutTotal } from '../../kit/response/usage-table.ts'
import { asRead } from '../../kit/schema/written.ts'
import { fieldsOf, keep, type ResponsesReport } from './own.ts'
import type { ResponsesUsage } from './schema.ts'
import type { ResponsesWrittenUsage } from './written.ts'

export const usageTable = createUsageTable<ResponsesWrittenUsage>('usage', {
  input_tokens: 'input',
  input_tokens_details: {
    cached_tokens: 'cacheRead',
    cache_write_tokens: 'cacheWrite',
    cache_write_tokens_details: {
      ttl_30m_tokens: 'cacheWriteByTtl.30m',
      ttl_12h_tokens: 'cacheWriteByTtl.12h',
    },
  },
  output_tokens: 'output',
  output_tokens_details: { reasoning_tokens: 'reasoning' },
  total_tokens: 'total',
})

/** Totals are inclusive in this protocol, too: cached ⊂ input, reasoning ⊂ output. */
export function decodeUsage(wire: ResponsesUsage): Usage {
  const counts: Counts = {}
  const unknown = usageTable.read(wire, counts) ?? {}
  const usage = withoutTotal(counts, unknown, 'total_tokens')
  return keep(usage, omitUndefinedOrNone(unknown))
}

/** All counts are required here: a missing one is 0, as on a server that does not cache. */
const none: Counts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

/** Clients reject a response without counts. `mayLack`: undefined if all counts are missing. */
export function encodeUsage(
  usage: Usage = {},
  { mayLack }: { mayLack: boolean },
  report: ResponsesReport,
): ResponsesWrittenUsage | undefined {
  const { input, output, cacheWriteByTtl, ext } = usage
  report.ext(ext, report.placeOf('usage'))
  for (const name of lostOf(usage, usageTable))
    if (name === 'toolPrompt') report.once('usage.merged', undefined, 'usage')
    else if (name !== 'serviceTier') report.add('field.unsupported', '', `usage.${name}`)
  if (Object.keys(cacheWriteByTtl ?? {}).some(ttl => ttl !== '30m' && ttl !== '12h'))
    report.once('cache.ttl', '', 'usage.cacheWriteByTtl')
  const own = fieldsOf(ext)
  if (mayLack && !own && Object.keys(usageTable.write(usage)).length === 0) return undefined
  if (input === undefined || output === undefined) report.once('usage.missing', '/usage')
  const total = (input ?? 0) + (output ?? 0)
  const known = usageTable.write(Object.assign({ total }, none, omitUndefined(usage)))
  // Also known keys whose values are no counts.
  return merge<ResponsesWrittenUsage>(known, asRead(own ?? {}))
}
