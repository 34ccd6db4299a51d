import type { CacheTtl, Message, Part, Place } from '../../../canonical/message.ts'
import { type Keys, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import type { EncodingContext } from '../../../protocol.ts'
import type { Options } from '../options.ts'
import { createResponsesReport, fieldsOf, keep, type ResponsesReport } from '../own.ts'
import type { ResponsesMark, ResponsesWrittenItem } from '../written.ts'

/** The context that all encoders of a request or a response share. */
export type Writing = {
  report: ResponsesReport
  options: Options
  /** Target of the items: a request, or a response, whose items must have ids. */
  target: 'input' | 'output'
  /**
   * The request or response was decoded from this protocol: names, ids and limits are written as
   * they are.
   */
  native: boolean
  /**
   * Gives an item of a response its id: the wanted one, if it may be used. `native`: the wanted id
   * is of this protocol; absent: it is if the response was decoded from this protocol.
   */
  itemId?: (wanted: string | undefined, prefix: string, native?: boolean) => string | undefined
  /** Deferred tools are loaded from the start, because no tool search is written. */
  loads?: boolean
  /** Parts that got the cache breakpoint of the part around them → path of that part. */
  moved: Map<Part, Place | undefined>
  /** Parts with a cache breakpoint beyond the allowed number. */
  uncached: Set<Part>
  /** Written reasoning item → its part. */
  reasoning: Map<ResponsesWrittenItem, Part>
  /**
   * The names of functions that are built-in tools of the client, see `client-tools.ts`: calls of
   * them are written as calls of these.
   */
  expanded: ReadonlySet<string>
  /** How the response's text is wrapped, see `EncodingContext`. */
  output?: EncodingContext['output']
}

export function startWriting(
  target: Writing['target'],
  native: boolean,
  options: Options = {},
  notes?: ResponsesReport['notes'],
): Writing {
  return {
    report: createResponsesReport(options.fieldNames, notes),
    options,
    target,
    native,
    moved: new Map(),
    uncached: new Set(),
    reasoning: new Map(),
    expanded: none,
  }
}

const none: ReadonlySet<string> = new Set()

/**
 * Does the receiver keep or open envelopes? Every client does, and a provider that is a gateway
 * itself.
 */
export const opensEnvelopes = ({ target, options }: Pick<Writing, 'target' | 'options'>): boolean =>
  target === 'output' || options.foreignSignatures === 'wrap'

/** Notes or refuses what only another provider can resolve; in a response nothing is refused. */
export function unresolvable(
  at: Place | undefined,
  field: string | undefined,
  { report, options, target }: Writing,
): void {
  report.unresolvable(at, field, target === 'input' ? options : { onUnresolvable: 'note' })
}

/** The type of an item. Messages and references may leave it out. */
export function typeOf({ type, role }: JsonObject): string {
  if (typeof type === 'string') return type
  return typeof role === 'string' ? 'message' : 'item_reference'
}

/**
 * Reads id, status and unknown keys of an item into its message, which is not shared yet. An
 * unknown status counts as an unknown key.
 */
export function withHead(
  message: Message,
  wire: JsonObject,
  known: Keys,
  more?: JsonObject,
): Message {
  const { id, status } = wire
  if (typeof id === 'string') message.id = id
  const isKnown = status === 'completed' || status === 'in_progress' || status === 'incomplete'
  if (isKnown) message.status = status
  const unknown = unknownOf(wire, known)
  return keep(
    message,
    !isKnown && typeof status === 'string' ? { ...unknown, status } : unknown,
    more,
  )
}

/** An item as its message. */
export const itemOf = (
  role: Message['role'],
  part: Message['parts'][number],
  at: Place,
): Message => ({ role, parts: [part], origin: 'item', at })

/** The status to write: items of a response must have one. */
export function statusOf(
  { status, ext }: Message,
  { target }: Writing,
  ofPart?: string,
): string | undefined {
  return (
    status ??
    ofPart ??
    (target === 'output' && fieldsOf(ext)?.['status'] === undefined ? 'completed' : undefined)
  )
}

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
