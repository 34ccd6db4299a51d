import type { Message, Part, TextPart } from '../../canonical/message.ts'
import type { CacheSpec } from '../../canonical/request.ts'
import { defined } from '../../kit/defined.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { isObject, type JsonObject, same } from '../../kit/json.ts'
import type { ChatReport } from './notes.ts'
import type { Options } from './options.ts'
import { keep, ownForm, ownOf, protocolName, under } from './own.ts'
import type { PartWriting } from './writing.ts'

type Marks = { prompt_cache_breakpoint?: unknown; cache_control?: unknown }
type Spelled = { nothing: JsonObject; form?: JsonObject }

/** Reads a cache breakpoint, as the protocol's own field or as `cache_control` of the messages protocol, and keeps the unknown keys of its block. */
export function decodeMark(marks: Marks, unknown: JsonObject, { nothing, form }: Spelled): Pick<TextPart, 'cache' | 'ext'> {
  const { prompt_cache_breakpoint: breakpoint, cache_control: control } = marks
  const mark = breakpoint ?? control
  const cache = cacheIn(marks)
  if (!cache || !isObject(mark)) return keep(mark === undefined ? unknown : { ...unknown, ...defined(marks) }, nothing, form)
  const key = breakpoint === undefined || breakpoint === null ? 'cache_control' : 'prompt_cache_breakpoint'
  return { cache, ...keep({ ...unknown, ...under(key, beside(mark, cache)) }, nothing, { ...form, mark: defined(marks) }) }
}

export function cacheIn({ prompt_cache_breakpoint: breakpoint, cache_control: control }: Marks): TextPart['cache'] {
  const mark = breakpoint ?? control
  if (!isObject(mark)) return undefined
  const { ttl } = mark
  return ttl === '5m' || ttl === '30m' || ttl === '1h' || ttl === '12h' ? { ttl } : {}
}

/** The keys of a cache mark that have no canonical field. */
function beside(mark: JsonObject, { ttl }: NonNullable<TextPart['cache']>): JsonObject {
  const { ttl: told, mode, type, ...rest } = mark
  return defined({
    ...rest,
    ttl: told === null || told === ttl ? undefined : told,
    mode: mode === 'explicit' ? undefined : mode,
    type: type === 'ephemeral' ? undefined : type,
  })
}

/** The cache breakpoint in an object's `cache_control`, if that holds nothing else. */
function plainMark(fields: JsonObject): TextPart['cache'] {
  const { cache_control: control } = fields
  const cache = cacheIn({ cache_control: control })
  return cache && isObject(control) && Object.keys(beside(control, cache)).length === 0 ? cache : undefined
}

/** The `cache_control` that some clients put beside `content` marks the last part of the message. Changes the message. */
export function takeMessageMark(message: Message): Message {
  const own = ownOf(message.ext)
  const last = message.parts.at(-1)
  const cache = plainMark(own?.fields ?? {})
  if (!own || !cache || !last || last.cache || last.type === 'reasoning') return message
  const { cache_control: mark, ...fields } = own.fields ?? {}
  const form = { ...own.form, mark: { cache_control: mark } }
  const parts = [...message.parts.slice(0, -1), { ...last, cache }]
  return { ...message, parts, ext: { ...message.ext, [protocolName]: { ...own, fields, form } } }
}

/** The message as it came: without the mark of its last part, and the fields to write beside it. */
export function splitMessageMark(message: Message): { message: Message; mark: JsonObject } {
  const mark = ownForm(message.ext)?.['mark']
  const last = message.parts.at(-1)
  if (!isObject(mark) || !last?.cache || !same(cacheIn(mark), last.cache)) return { message, mark: {} }
  const { cache: _, ...bare } = last
  return { message: { ...message, parts: [...message.parts.slice(0, -1), bare as Part] }, mark }
}

/** `cache_control` inside `function` marks the tool, as it does beside it. */
export function takeToolMark(fields: JsonObject): { cache?: TextPart['cache']; left: JsonObject } {
  const cache = plainMark(fields)
  if (!cache) return { left: fields }
  const { cache_control: _, ...left } = fields
  return { cache, left }
}

/** The body's `cache_control`: the server chooses what to cache. */
export function takeBodyMark(fields: JsonObject): CacheSpec['auto'] {
  const cache = plainMark(fields)
  if (cache) delete fields['cache_control']
  return cache
}

/** The cache breakpoint of a part as wire fields. */
export function encodeMark(part: Pick<Part, 'cache' | 'at' | 'ext'>, { report, options, native }: PartWriting): JsonObject {
  if (!part.cache) return {}
  const { mark } = ownForm(part.ext) ?? {}
  if (isObject(mark) && same(cacheIn(mark), part.cache)) return mark
  const { ccCacheMarks: how = 'drop' } = options
  if (how === 'drop' && !native) {
    report.add('cache.place', part.at, 'cache')
    return {}
  }
  if (how === 'cache_control' && !native) return controlMark(part.cache, () => report.add('cache.ttl', part.at, 'cache.ttl'))
  return {
    prompt_cache_breakpoint: defined({
      mode: 'explicit',
      ttl: encodeTtl(part.cache.ttl, () => report.add('cache.ttl', part.at, 'cache.ttl'), options),
    }),
  }
}

/** A breakpoint in the field of the messages protocol, whose lifetimes are `5m` and `1h`. */
export function controlMark({ ttl }: NonNullable<Part['cache']>, approximated: () => void): JsonObject {
  const isKnown = ttl === undefined || ttl === '5m' || ttl === '1h'
  if (!isKnown) approximated()
  return { cache_control: defined({ type: 'ephemeral', ttl: isKnown ? ttl : undefined }) }
}

/** `30m` and `12h` are the lifetimes of this provider. Others become its default; with `cacheTtlRound: 'up'`, `1h` becomes `12h`. */
function encodeTtl(ttl: string | undefined, approximated: () => void, { cacheTtlRound }: Options): string | undefined {
  if (ttl === undefined || ttl === '30m' || ttl === '12h') return ttl
  approximated()
  return ttl === '1h' && cacheTtlRound === 'up' ? '12h' : undefined
}

/** Puts a mark on the last block. The block is changed, not copied, because `report.addMade` finds blocks by identity. */
export function withMark(blocks: JsonObject[], mark: JsonObject): JsonObject[] {
  const last = blocks.at(-1)
  if (last) Object.assign(last, mark)
  return blocks
}

/** The most marks that a request may hold. */
const limit = 4

/** If there are too many marks, those of instructions are kept first, then the last of the others. */
export function limitMarks(messages: readonly Message[], report: ChatReport): readonly Message[] {
  const canStand = (message: Message, part: Part) =>
    part.cache && (message.role === 'user' || message.role === 'system' || message.role === 'developer') && part.type !== 'tool-result'
  if (!messages.some(({ parts }) => parts.some(({ cache }) => cache))) return messages
  const marked = flatMap(messages, message => message.parts.filter(part => canStand(message, part)).map(part => ({ part, first: message.role !== 'user' })))
  if (marked.length <= limit) return messages
  const first = marked.filter(mark => mark.first).slice(0, limit)
  const room = limit - first.length
  const last = room > 0 ? marked.filter(mark => !mark.first).slice(-room) : []
  const allowed = new Set([...first, ...last].map(({ part }) => part))
  for (const { part } of marked) if (!allowed.has(part)) report.add('cache.too-many', part.at, 'cache')
  return messages.map(message => ({
    ...message,
    parts: message.parts.map(part => {
      if (!canStand(message, part) || allowed.has(part)) return part
      const { cache: _, ...rest } = part
      return rest as Part
    }),
  }))
}
