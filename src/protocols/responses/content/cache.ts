import type { CacheTtl, Message, Part } from '../../../canonical/message.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { fieldsOf } from '../own.ts'
import type { ResponsesMark } from '../schema.ts'
import type { Writing } from './writing.ts'

const ttls = new Map<unknown, CacheTtl>([
  ['5m', '5m'],
  ['30m', '30m'],
  ['1h', '1h'],
  ['12h', '12h'],
])

/** Reads a breakpoint into its part, which is not shared yet, and gives its unknown keys. */
export function decodeMark(
  part: Part,
  wire: JsonObject | null | undefined,
): JsonObject | undefined {
  if (!wire) return undefined
  const { mode, ttl: word, ...rest } = wire
  const ttl = ttls.get(word)
  part.cache = omitUndefined({ ttl })
  const odd = {
    ...(mode != null && mode !== 'explicit' && { mode }),
    ...(word != null && ttl === undefined && { ttl: word }),
    ...rest,
  }
  return Object.keys(odd).length > 0 ? { prompt_cache_breakpoint: odd } : undefined
}

/** Undefined: the part has no breakpoint, or it is one of too many, which is noted. */
export function encodeMark(
  part: Part,
  { report, moved, uncached, native }: Writing,
): ResponsesMark | undefined {
  const { cache } = part
  const at = moved.has(part) ? moved.get(part) : part.at
  if (!cache) return undefined
  if (uncached.has(part)) {
    report.add('cache.too-many', at, 'cache')
    return undefined
  }
  const odd = fieldsOf(part.ext)?.['prompt_cache_breakpoint']
  const ttl = native || (cache.ttl !== '5m' && cache.ttl !== '1h') ? cache.ttl : undefined
  if (ttl !== cache.ttl) report.add('cache.ttl', at, 'cache.ttl')
  return { mode: 'explicit', ...omitUndefined({ ttl }), ...(isObject(odd) && odd) }
}

/** Moves the cache breakpoint of a whole tool result to its last part, if that can have one. */
export function withMarksInside(message: Message, { moved, report }: Writing): Message {
  if (!message.parts.some(part => part.type === 'tool-result' && part.cache)) return message
  const parts = message.parts.map((part): Part => {
    const inner = part.type === 'tool-result' ? part.content.at(-1) : undefined
    if (part.type !== 'tool-result' || !part.cache || !inner || inner.cache || !takesMark(inner))
      return part
    const { cache, ...result } = part
    const marked = { ...inner, cache }
    moved.set(marked, part.at)
    report.add('cache.moved', part.at, 'cache')
    return { ...result, content: [...part.content.slice(0, -1), marked] }
  })
  return { ...message, parts }
}

const takesMark = (part: Part) =>
  part.type === 'text' ||
  (part.type === 'media' && (part.kind === 'image' || part.kind === 'document'))

/** Most breakpoints in a request. */
const limit = 4

/** Of too many breakpoints, those of the instructions are kept first, then the last ones. */
export function limitMarks(messages: readonly Message[], { uncached }: Writing): void {
  const markedIn = (roles: readonly Message['role'][]) =>
    flatMap(messages, ({ role, parts }) =>
      roles.includes(role) ? flatMap(parts, part => (isWritten(part) ? marksOf(part) : [])) : [],
    )
  const byWorth = [...markedIn(['system', 'developer']), ...markedIn(['user', 'tool']).reverse()]
  for (const part of byWorth.slice(limit)) uncached.add(part)
}

/** An empty text of a message is left out, with its breakpoint. */
const isWritten = (part: Part) => part.type !== 'text' || part.text !== ''

function marksOf(part: Part): Part[] {
  if (part.type === 'tool-result') return flatMap(part.content, marksOf)
  return part.cache &&
    (part.type === 'text' || part.type === 'media' || part.type === 'search-result')
    ? [part]
    : []
}
