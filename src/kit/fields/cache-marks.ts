import type { Place } from '../../canonical/message.ts'
import { flatMap } from '../text/flat-map.ts'

/** A written cache mark, kept so that marks beyond the limit can be removed. */
export type CacheMark = {
  wire: { ttl?: unknown }
  at: Place | undefined
  place: 'tools' | 'system' | 'conversation'
}

type Reporting = {
  add(code: 'cache.too-many', at: Place | undefined, field: 'cache'): void
  add(code: 'cache.ttl-order', at: Place | undefined, field: 'cache.ttl'): void
}

/**
 * Returns the marks to remove: if there are too many, those on tools and system are kept, then the
 * last ones in the conversation. In the order tools, system, conversation no mark may have a longer
 * TTL than one before it: such a TTL is shortened.
 */
export function limitCacheMarks(
  marks: readonly CacheMark[],
  limit: number,
  report: Reporting,
): Set<object> {
  const ordered = flatMap(['tools', 'system', 'conversation'] as const, place =>
    marks.filter(mark => mark.place === place),
  )
  const fixed = ordered.filter(({ place }) => place !== 'conversation')
  const moving = ordered.filter(({ place }) => place === 'conversation')
  const kept = new Set([
    ...fixed.slice(0, limit),
    ...moving.slice(Math.max(0, moving.length - Math.max(0, limit - fixed.length))),
  ])
  const surplus = ordered.length > limit ? ordered.filter(mark => !kept.has(mark)) : []
  for (const { at } of surplus) report.add('cache.too-many', at, 'cache')
  let short = false
  for (const mark of ordered) {
    if (!kept.has(mark)) continue
    const { wire, at } = mark
    if (wire.ttl !== '1h') short = true
    else if (short) {
      wire.ttl = '5m'
      report.add('cache.ttl-order', at, 'cache.ttl')
    }
  }
  return new Set(surplus.map(({ wire }) => wire))
}
