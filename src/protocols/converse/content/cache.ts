import type { CacheTtl, Part, Place } from '../../../canonical/message.ts'
import { limitCacheMarks } from '../../../kit/fields/cache-marks.ts'
import { isObject } from '../../../kit/json/json.ts'
import type { FieldNames } from '../../../protocol.ts'
import type { ConverseReport } from '../own.ts'
import { type ConverseFamily, isTtl, ttlWords } from '../vocabulary.ts'
import type { ConversePoint, ConverseWrittenBlock, ConverseWrittenTool } from '../written.ts'

/** Cache points: entries of a list of blocks or tools, which mark what is before them. */

type Marked = { cache?: { ttl?: CacheTtl }; at?: Place }

// ---- wire → canonical

/** The mark of a cache point. Undefined: the point has more fields than a mark. */
function decodePoint(entry: object): { ttl?: CacheTtl } | undefined {
  const [key, ...others] = Object.keys(entry)
  const point: unknown =
    key === 'cachePoint' && others.length === 0 ? entry[key as never] : undefined
  if (!isObject(point) || !Object.keys(point).every(name => name === 'type' || name === 'ttl'))
    return undefined
  const { type, ttl } = point
  if (type !== 'default' || (ttl != null && !isTtl(ttl))) return undefined
  return ttl == null ? {} : { ttl }
}

/**
 * Puts the mark of a cache point on the node before it. Changes the node, and `names`, where it
 * finds the point. `list`: the key of the list. False: the point marks nothing, or says more.
 */
export function markBefore(
  node: Marked | undefined,
  entry: object,
  { pointer, list, index }: { pointer: string; list: string; index: number },
  names: FieldNames,
): boolean {
  const mark = decodePoint(entry)
  if (!mark || !node || node.cache) return false
  node.cache = mark
  // The node may be an object inside of its entry.
  const up = /\/\d+$/.test(pointer) ? '../' : '../../'
  names[`${pointer}:cache`] = `${up}${list}/${index}/cachePoint`
  names[`${pointer}:cache.ttl`] = `${up}${list}/${index}/cachePoint/ttl`
  return true
}

// ---- canonical → wire

/** A written cache point. `entry`: the element of the list. */
export type Mark = {
  wire: ConversePoint
  at: Place | undefined
  place: 'tools' | 'system' | 'conversation'
}

/** Models that cache, and those whose family is unknown. */
const caching: ReadonlySet<ConverseFamily> = new Set(['claude', 'nova', 'nova2', 'unknown'])

/** Is the model known to cache? */
export const caches = (family: ConverseFamily): boolean =>
  family !== 'unknown' && caching.has(family)

export const canCache = (family: ConverseFamily, place: Mark['place']): boolean =>
  caching.has(family) && (place !== 'tools' || family === 'claude' || family === 'unknown')

export function encodePoint(
  { ttl }: { ttl?: CacheTtl | (string & {}) },
  approximated: () => void,
): ConversePoint {
  if (ttl === undefined) return { type: 'default' }
  const word = Object.hasOwn(ttlWords, ttl) ? ttlWords[ttl as CacheTtl] : '1h'
  if (word !== ttl) approximated()
  return { type: 'default', ttl: word }
}

/** The most points that a request may have. */
const limit = 4

/**
 * Removes the points that the server would refuse, from the lists that hold them. Changes the
 * lists.
 */
export function limitPoints(
  marks: readonly Mark[],
  lists: readonly (ConverseWrittenBlock | ConverseWrittenTool)[][],
  report: ConverseReport,
): void {
  if (marks.length === 0) return
  const gone: ReadonlySet<unknown> = limitCacheMarks(marks, limit, report)
  if (gone.size === 0) return
  for (const list of lists) {
    let kept = 0
    for (const entry of list) if (!gone.has(entry.cachePoint)) list[kept++] = entry
    list.length = kept
  }
}

/**
 * Adds the cache point of a part behind its blocks. No point may be first, behind another, or
 * behind reasoning and media that the server caches only with what follows.
 */
export function addPoint(
  part: Part,
  blocks: ConverseWrittenBlock[],
  place: Mark['place'],
  { report, marks, family, native }: Pointing,
): void {
  const { cache, at } = part
  if (!cache) return
  // The blocks before have their point, or can have none: to go back to the first one for each mark
  // would take quadratic time.
  const first = native ? 0 : (seen.get(blocks) ?? 0)
  let end = blocks.length
  if (!native) while (end > first && isUnmarkable(blocks[end - 1])) end--
  const isMarked = end === 0 || (end === first && !native) || blocks[end - 1]?.cachePoint
  if (!native) seen.set(blocks, blocks.length)
  if ((!native && !canCache(family, place)) || isMarked) {
    noteCache(part, report)
    return
  }
  const wire = encodePoint(cache, () => report.add('cache.ttl', at, 'cache.ttl'))
  marks.push({ wire, at, place })
  blocks.splice(end, 0, { cachePoint: wire })
  if (!native) seen.set(blocks, blocks.length)
}

/** Notes a mark that is written nowhere. */
export function noteCache({ cache, at }: Part, report: ConverseReport): void {
  if (cache) report.add('cache.unsupported', at, 'cache')
}

/** How many blocks a list had when a point was last wanted behind them. */
const seen = new WeakMap<readonly ConverseWrittenBlock[], number>()

type Pointing = { report: ConverseReport; marks: Mark[]; family: ConverseFamily; native: boolean }

function isUnmarkable(block: ConverseWrittenBlock | undefined): boolean {
  return (
    block?.reasoningContent !== undefined ||
    block?.video !== undefined ||
    (block?.document !== undefined && block.document.format !== 'pdf')
  )
}
