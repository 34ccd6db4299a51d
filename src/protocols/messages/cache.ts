import type { CacheTtl } from '../../canonical/message.ts'
import { flatMap } from '../../kit/flat-map.ts'
import type { JsonObject } from '../../kit/json.ts'
import type { MessagesReport } from './notes.ts'
import { isTtl, ttlWords } from './vocabulary.ts'

/** Most nodes have no mark. Shared, and never changed. */
const unmarked: ReturnType<typeof decodeCache> = { known: {}, nothing: {}, fields: {} }

/** A cache mark; what is unknown of it stands under its name. */
export function decodeCache(wire: JsonObject | null | undefined): { known: { cache?: { ttl?: CacheTtl } }; nothing: JsonObject; fields: JsonObject } {
  if (wire === undefined) return unmarked
  if (wire === null) return { known: {}, nothing: { cache_control: null }, fields: {} }
  const { type, ttl, ...rest } = wire
  const odd = { ...rest, ...(type !== 'ephemeral' && { type }), ...(ttl !== undefined && ttl !== null && !isTtl(ttl) && { ttl }) }
  return {
    known: { cache: isTtl(ttl) ? { ttl } : {} },
    nothing: ttl === null ? { cache_control: { ttl } } : {},
    fields: Object.keys(odd).length > 0 ? { cache_control: odd } : {},
  }
}

/** A cache mark that was written, so that marks beyond the limit can be taken back. */
export type Mark = { wire: JsonObject; at: string | undefined; place: 'tools' | 'system' | 'messages' }

/** `own`: what the same protocol keeps of the mark. */
export function encodeCache({ ttl }: { ttl?: CacheTtl | (string & {}) }, own: JsonObject | undefined, approximated: () => void): JsonObject {
  if (ttl === undefined) return { type: 'ephemeral', ...own }
  const word = Object.hasOwn(ttlWords, ttl) ? ttlWords[ttl as CacheTtl] : '1h'
  if (word !== ttl) approximated()
  return { type: 'ephemeral', ...own, ttl: word }
}

/** The most marks a request may hold. */
const limit = 4

/**
 * Holds the marks of a request to what the server takes: a longer one may not follow a shorter one in the order tools,
 * system, messages; of more than four, those on tools and system stay and the last ones on messages. Gives back the marks
 * that have to go.
 */
export function settleMarks(marks: readonly Mark[], report: MessagesReport): Set<JsonObject> {
  const ordered = flatMap(['tools', 'system', 'messages'] as const, place => marks.filter(mark => mark.place === place))
  const fixed = ordered.filter(({ place }) => place !== 'messages')
  const moving = ordered.filter(({ place }) => place === 'messages')
  const kept = [...fixed.slice(0, limit), ...moving.slice(Math.max(0, moving.length - Math.max(0, limit - fixed.length)))]
  const surplus = ordered.length > limit ? ordered.filter(mark => !kept.includes(mark)) : []
  for (const { at } of surplus) report.add('cache.too-many', at, 'cache')
  let short = false
  for (const mark of ordered) {
    if (surplus.includes(mark)) continue
    const { wire, at } = mark
    if (wire['ttl'] !== '1h') short = true
    else if (short) {
      wire['ttl'] = '5m'
      report.add('cache.ttl-order', at, 'cache.ttl')
    }
  }
  return new Set(surplus.map(({ wire }) => wire))
}

/** Takes marks off their blocks. Changes `blocks`, which were made here. */
export function takeMarks(blocks: Iterable<JsonObject>, gone: ReadonlySet<JsonObject>): void {
  for (const block of blocks) {
    const mark = block['cache_control']
    if (gone.has(mark as JsonObject)) delete block['cache_control']
    const inner = block['content']
    if (Array.isArray(inner)) takeMarks(inner as JsonObject[], gone)
  }
}
