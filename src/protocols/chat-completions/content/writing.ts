import type { Message, Part, Place, TextPart } from '../../../canonical/message.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import {
  omitNullish,
  omitNullishOrNone,
  omitUndefined,
  omitUndefinedOrNone,
} from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import type { EncodingContext } from '../../../protocol.ts'
import { defaults, type Options } from '../options.ts'
import { type ChatCompletionsReport, keep, ownOf, withInner } from '../own.ts'
import type {
  ChatCompletionsBlock,
  ChatCompletionsControlMark,
  ChatCompletionsMark,
} from '../written.ts'

/** The state of encoding one request or response. */
export type Writing = {
  report: ChatCompletionsReport
  options: Options
  /**
   * The request or response was read from this protocol, so it is written without limits and
   * repairs.
   */
  native: boolean
  /** Is the tool of this name one that cannot be declared here? */
  isLost?(name: string): boolean
  /** How the response's text is wrapped, see `EncodingContext`. */
  output?: EncodingContext['output']
}

export type RequestWriting = Writing & { request: CanonicalRequest }

/** What writing media and calls needs of it, in streams as well. */
export type PartWriting = Pick<Writing, 'report' | 'options' | 'native'>

/**
 * Does the receiver keep or open envelopes? Every client does, and a server that is a gateway
 * itself.
 */
export const opensEnvelopes = (
  recipient: 'client' | 'server',
  { foreignSignatures }: Options,
): boolean => recipient === 'client' || foreignSignatures === 'wrap'

/**
 * The input for an assistant message on the wire. `reasoning`: whether reasoning parts are written.
 */
export type AssistantToWrite = {
  parts: readonly Part[]
  reasoning: 'all' | 'none'
  /**
   * The receiver. A client gets foreign signatures in envelopes, a server gets only those of
   * servers of this protocol.
   */
  recipient: 'client' | 'server'
  name?: string | undefined
  at?: Place | undefined
  ext?: Message['ext']
}

/** The context for decoding an assistant message. */
export type Reading = {
  /** The sender of the message. */
  from: 'client' | 'server'
  /** Reasoning between tags in the text becomes reasoning parts, see `extractThinkTags`. */
  thinkTags?: boolean | undefined
  /** Unsigned reasoning gets an empty signature, see `emptySignature`. */
  seals?: boolean | undefined
  report: ChatCompletionsReport
  /** For calls without an id: `ordinal` counts the calls of the message. */
  idOf(ordinal: number): string
  /** The same for the older single function call. */
  legacyId(): string
}

/**
 * A cache breakpoint, as the protocol's own field or as `cache_control` of the messages protocol.
 */
export type Marks = { prompt_cache_breakpoint?: unknown; cache_control?: unknown }

/**
 * Reads the cache breakpoint of a wire object into its node, which keeps the unknown keys of both.
 * Changes the node.
 */
export function readMark<T extends Pick<TextPart, 'cache' | 'ext'>>(
  node: T,
  wire: Marks,
  unknown: JsonObject | undefined,
): T {
  const { prompt_cache_breakpoint: breakpoint, cache_control: control } = wire
  const mark = breakpoint ?? control
  if (mark === undefined || mark === null) return keep(node, unknown)
  if (!isObject(mark))
    return keep(node, {
      ...unknown,
      ...omitNullish({ prompt_cache_breakpoint: breakpoint, cache_control: control }),
    })
  const cache = cacheIn(mark)
  node.cache = cache
  const isOwn = mark === breakpoint
  const fields =
    isOwn && control !== undefined && control !== null
      ? { ...unknown, cache_control: control }
      : unknown
  return keep(
    node,
    withInner(fields, isOwn ? 'prompt_cache_breakpoint' : 'cache_control', beside(mark, cache)),
  )
}

function cacheIn({ ttl }: JsonObject): NonNullable<TextPart['cache']> {
  return ttl === '5m' || ttl === '30m' || ttl === '1h' || ttl === '12h' ? { ttl } : {}
}

/** The keys of a cache mark that have no canonical field. Undefined: none. */
function beside(mark: JsonObject, { ttl }: NonNullable<TextPart['cache']>): JsonObject | undefined {
  const { ttl: wireTtl, mode, type, ...rest } = mark
  return omitNullishOrNone({
    ...rest,
    ttl: wireTtl === ttl ? undefined : wireTtl,
    mode: mode === 'explicit' ? undefined : mode,
    type: type === 'ephemeral' ? undefined : type,
  })
}

/** Takes the cache breakpoint out of an object's `cache_control`, if that holds nothing else. */
export function takeMark(fields: JsonObject | undefined): {
  cache?: TextPart['cache']
  left: JsonObject | undefined
} {
  const control = fields?.['cache_control']
  const cache = isObject(control) ? cacheIn(control) : undefined
  if (!fields || !cache || beside(control as JsonObject, cache)) return { left: fields }
  const { cache_control: _, ...left } = fields
  return { cache, left: omitUndefinedOrNone(left) }
}

/**
 * The `cache_control` that some clients put next to `content` marks the last part of the message.
 * Changes the message.
 */
export function takeMessageMark(message: Message): Message {
  const fields = ownOf(message.ext)
  const last = message.parts.at(-1)
  if (!fields || !last || last.cache || last.type === 'reasoning') return message
  const { cache, left } = takeMark(fields)
  if (!cache) return message
  last.cache = cache
  delete message.ext
  return keep(message, left)
}

/**
 * The same for writing: blocks and calls of the own protocol that cannot hold the mark of the last
 * part. Absent: they can.
 */
export function encodeMessageMark(
  { parts }: Message,
  { report, native }: PartWriting,
): ChatCompletionsControlMark | undefined {
  const last = parts.at(-1)
  if (
    !native ||
    !last?.cache ||
    (last.type !== 'tool-result' && last.type !== 'tool-call' && last.type !== 'refusal')
  )
    return undefined
  return controlMark(last.cache, () => report.add('cache.ttl', last.at, 'cache.ttl'))
}

/** The cache breakpoint of a part as wire fields. */
export function encodeMark(
  { cache, at }: Pick<Part, 'cache' | 'at'>,
  { report, options, native }: PartWriting,
): ChatCompletionsMark {
  if (!cache) return {}
  const { cacheMarks: how = defaults.cacheMarks } = options
  if (how === 'drop' && !native) {
    report.add('cache.unsupported', at, 'cache')
    return {}
  }
  const approximated = () => report.add('cache.ttl', at, 'cache.ttl')
  // Each field has lifetimes of its own.
  if (native ? cache.ttl === '5m' || cache.ttl === '1h' : how === 'cache_control')
    return controlMark(cache, approximated)
  return {
    prompt_cache_breakpoint: omitUndefined<{ mode: string; ttl: string | undefined }>({
      mode: 'explicit',
      ttl: encodeTtl(cache.ttl, approximated),
    }),
  }
}

/** A breakpoint in the field of the messages protocol, whose lifetimes are `5m` and `1h`. */
export function controlMark(
  { ttl }: NonNullable<Part['cache']>,
  approximated: () => void,
): ChatCompletionsControlMark {
  const isKnown = ttl === undefined || ttl === '5m' || ttl === '1h'
  if (!isKnown) approximated()
  return {
    cache_control: omitUndefined<{ type: string; ttl: string | undefined }>({
      type: 'ephemeral',
      ttl: isKnown ? ttl : undefined,
    }),
  }
}

/** `30m` and `12h` are the lifetimes of this provider. Others become its default. */
function encodeTtl(ttl: string | undefined, approximated: () => void): string | undefined {
  if (ttl === undefined || ttl === '30m' || ttl === '12h') return ttl
  approximated()
  return undefined
}

/**
 * Puts a mark on the last block. The block is changed, not copied, because `report.addMade` finds
 * blocks by identity.
 */
export function withMark(
  blocks: ChatCompletionsBlock[],
  mark: ChatCompletionsMark,
): ChatCompletionsBlock[] {
  const last = blocks.at(-1)
  if (last) Object.assign(last, mark)
  return blocks
}

/** The most marks that a request may hold. */
const limit = 4

/**
 * If there are too many marks, those of instructions are kept first, then the last of the others.
 */
export function limitMarks(
  messages: readonly Message[],
  report: ChatCompletionsReport,
): readonly Message[] {
  const canStand = (message: Message, part: Part) =>
    part.cache &&
    (message.role === 'user' || message.role === 'system' || message.role === 'developer') &&
    part.type !== 'tool-result'
  if (!messages.some(({ parts }) => parts.some(({ cache }) => cache))) return messages
  const marked = flatMap(messages, message =>
    message.parts
      .filter(part => canStand(message, part))
      .map(part => ({ part, first: message.role !== 'user' })),
  )
  if (marked.length <= limit) return messages
  const first = marked.filter(mark => mark.first).slice(0, limit)
  const room = limit - first.length
  const last = room > 0 ? marked.filter(mark => !mark.first).slice(-room) : []
  const allowed = new Set([...first, ...last].map(({ part }) => part))
  for (const { part } of marked)
    if (!allowed.has(part)) report.add('cache.too-many', part.at, 'cache')
  return messages.map(message => ({
    ...message,
    parts: message.parts.map(part => {
      if (!canStand(message, part) || allowed.has(part)) return part
      const { cache: _, ...rest } = part
      return rest as Part
    }),
  }))
}
