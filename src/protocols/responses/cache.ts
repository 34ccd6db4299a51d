import type { CacheTtl, Message, Part } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { ownForm } from './own.ts'
import type { Writing } from './writing.ts'

const ttls = new Map<unknown, CacheTtl>([
  ['5m', '5m'],
  ['30m', '30m'],
  ['1h', '1h'],
  ['12h', '12h'],
])

type Mark = { cache: { cache?: { ttl?: CacheTtl } }; form: JsonObject; unread: JsonObject }

export function decodeMark(wire: JsonObject | null | undefined): Mark {
  if (!wire) return { cache: {}, form: {}, unread: {} }
  const { mode, ttl: word, ...rest } = wire
  const ttl = ttls.get(word)
  const odd = { ...(mode !== 'explicit' && mode !== undefined && { mode }), ...(word != null && ttl === undefined && { ttl: word }), ...rest }
  const unread = Object.keys(odd).length > 0 ? { prompt_cache_breakpoint: odd } : {}
  return { cache: { cache: defined({ ttl }) }, form: { breakpoint: wire }, unread }
}

/** Undefined: the part has no breakpoint, or it is one of too many, which is noted. */
export function encodeMark(part: Part, { report, moved, uncached, options }: Writing): JsonObject | undefined {
  const { cache } = part
  const at = moved.has(part) ? moved.get(part) : part.at
  if (!cache) return undefined
  const raw = ownForm(part.ext)?.['breakpoint']
  if (isObject(raw) && ttls.get(raw['ttl']) === cache.ttl) return raw
  if (uncached.has(part)) {
    report.add('cache.too-many', at, 'cache')
    return undefined
  }
  const ttl = cache.ttl === '5m' || cache.ttl === '1h' ? (options.cacheTtlRound === 'up' && cache.ttl === '1h' ? '12h' : undefined) : cache.ttl
  if (ttl !== cache.ttl) report.add('cache.ttl', at, 'cache.ttl')
  return defined({ mode: 'explicit', ttl })
}

/** Moves the cache breakpoint of a whole tool result to its last part, if that can have one. */
export function withMarksInside(message: Message, { moved, report }: Writing): Message {
  if (!message.parts.some(part => part.type === 'tool-result' && part.cache)) return message
  const parts = message.parts.map((part): Part => {
    const inner = part.type === 'tool-result' ? part.content.at(-1) : undefined
    if (part.type !== 'tool-result' || !part.cache || !inner || inner.cache || !takesMark(inner)) return part
    const { cache, ...result } = part
    const marked = { ...inner, cache }
    moved.set(marked, part.at)
    report.add('cache.moved', part.at, 'cache')
    return { ...result, content: [...part.content.slice(0, -1), marked] }
  })
  return { ...message, parts }
}

const takesMark = (part: Part) => part.type === 'text' || (part.type === 'media' && (part.kind === 'image' || part.kind === 'document'))

/** Most breakpoints in a request. */
const limit = 4

/** Of too many breakpoints, those of the instructions are kept first, then the last ones. */
export function limitMarks(messages: readonly Message[], { uncached }: Writing): void {
  const markedIn = (roles: readonly Message['role'][]) =>
    flatMap(messages, ({ role, parts }) => (roles.includes(role) ? flatMap(parts, part => (isWritten(part) ? marksOf(part) : [])) : []))
  const byWorth = [...markedIn(['system', 'developer']), ...markedIn(['user', 'tool']).reverse()]
  for (const part of byWorth.slice(limit)) uncached.add(part)
}

/** An empty text of a message is left out, with its breakpoint. */
const isWritten = (part: Part) => part.type !== 'text' || part.text !== ''

function marksOf(part: Part): Part[] {
  if (part.type === 'tool-result') return flatMap(part.content, marksOf)
  return part.cache && (part.type === 'text' || part.type === 'media' || part.type === 'search-result') ? [part] : []
}
