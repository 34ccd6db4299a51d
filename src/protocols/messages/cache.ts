import type { CacheTtl, Place } from '../../canonical/message.ts'
import { flatMap } from '../../kit/flat-map.ts'
import type { JsonObject } from '../../kit/json.ts'
import type { MessagesReport } from './notes.ts'
import type { MessagesRawBlock } from './schema.ts'
import { isTtl, ttlWords } from './vocabulary.ts'

/** The result without a mark, the usual case. Shared, and never changed. */
const unmarked: ReturnType<typeof decodeMark> = { known: {}, nothing: {}, fields: {} }

/** Decodes `cache_control`. Its unknown keys are in `fields`, under `cache_control`. */
export function decodeMark(wire: JsonObject | null | undefined): { known: { cache?: { ttl?: CacheTtl } }; nothing: JsonObject; fields: JsonObject } {
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

/** A written cache mark, kept so that marks beyond the limit can be removed. */
export type Mark = { wire: JsonObject; at: Place | undefined; place: 'tools' | 'system' | 'messages' }

/** `own`: unknown keys of a mark that came from this protocol. */
export function encodeMark({ ttl }: { ttl?: CacheTtl | (string & {}) }, own: JsonObject | undefined, approximated: () => void): JsonObject {
  if (ttl === undefined) return { type: 'ephemeral', ...own }
  const word = Object.hasOwn(ttlWords, ttl) ? ttlWords[ttl as CacheTtl] : '1h'
  if (word !== ttl) approximated()
  return { type: 'ephemeral', ...own, ttl: word }
}

/** The most marks that a request may have. */
const limit = 4

/** Removes the cache marks that the server would refuse. Changes the written objects. `auto`: the body has a mark, too, which counts. */
export function limitMarks(
  tools: readonly JsonObject[] | undefined,
  { system, messages }: { system?: string | MessagesRawBlock[]; messages: JsonObject[] },
  { marks, report, auto }: { marks: readonly Mark[]; report: MessagesReport; auto: boolean },
): void {
  if (marks.length === 0) return
  const gone = settleMarks(marks, auto ? limit - 1 : limit, report)
  if (gone.size === 0) return
  takeMarks(tools ?? [], gone)
  if (Array.isArray(system)) takeMarks(system, gone)
  takeMarks(messages, gone)
}

/**
 * Returns the marks to remove: if there are too many, those on tools and system are kept, then the last ones on messages. In the
 * order tools, system, messages no mark may have a longer TTL than one before it: such a TTL is shortened.
 */
function settleMarks(marks: readonly Mark[], limit: number, report: MessagesReport): Set<JsonObject> {
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

/** Removes the marks in `gone`. Changes `blocks`, which the encoder has made. */
function takeMarks(blocks: Iterable<JsonObject>, gone: ReadonlySet<JsonObject>): void {
  for (const block of blocks) {
    const mark = block['cache_control']
    if (gone.has(mark as JsonObject)) delete block['cache_control']
    const inner = block['content']
    if (Array.isArray(inner)) takeMarks(inner as JsonObject[], gone)
  }
}
