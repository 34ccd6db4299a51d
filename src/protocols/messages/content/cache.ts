import type { CacheTtl } from '../../../canonical/message.ts'
import { type CacheMark, limitCacheMarks } from '../../../kit/fields/cache-marks.ts'
import { type Keys, unknownOf } from '../../../kit/fields/keys.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { keep, type MessagesReport, withInner } from '../own.ts'
import { isTtl, ttlWords } from '../vocabulary.ts'
import type {
  MessagesMark,
  MessagesWrittenBlock,
  MessagesWrittenMessage,
  MessagesWrittenTool,
} from '../written.ts'

type CacheTime = { ttl?: CacheTtl }

/** Decodes `cache_control`. Undefined: there is none. */
export function decodeMark(wire: JsonObject | null | undefined): CacheTime | undefined {
  if (!wire) return undefined
  const { ttl } = wire
  return isTtl(ttl) ? { ttl } : {}
}

/** Keys of a mark that `decodeMark` does not read, or whose value it does not know. */
export function unknownOfMark(wire: JsonObject | null | undefined): JsonObject | undefined {
  let unknown: JsonObject | undefined
  for (const key in wire) {
    const value = wire[key]
    if (value === null || (key === 'type' ? value === 'ephemeral' : key === 'ttl' && isTtl(value)))
      continue
    unknown = { ...unknown, [key]: value }
  }
  return unknown
}

/**
 * Adds the cache mark of a wire object to its node, and the unknown keys of both, with those of the
 * object `inner` under its key.
 */
export function keepMarked<T extends object>(
  node: T,
  wire: { cache_control?: JsonObject | null | undefined },
  known: Keys,
  inner?: JsonObject,
): T {
  let fields = unknownOf(wire, known)
  if (inner) fields = { ...fields, ...inner }
  const mark = wire.cache_control
  const cache = decodeMark(mark)
  if (!cache) return keep(node, fields)
  const marked: { cache?: CacheTime } = node
  marked.cache = cache
  return keep(node, withInner(fields, 'cache_control', unknownOfMark(mark)))
}

/** A written cache mark, kept so that marks beyond the limit can be removed. */
export type Mark = CacheMark & { wire: MessagesMark }

/** `own`: unknown keys of a mark that came from this protocol. */
export function encodeMark(
  { ttl }: { ttl?: CacheTtl | (string & {}) },
  own: JsonObject | undefined,
  approximated: () => void,
): MessagesMark {
  if (ttl === undefined) return { type: 'ephemeral', ...own }
  const word = Object.hasOwn(ttlWords, ttl) ? ttlWords[ttl as CacheTtl] : '1h'
  if (word !== ttl) approximated()
  return { type: 'ephemeral', ...own, ttl: word }
}

/** The most marks that a request may have. */
const limit = 4

/**
 * Removes the cache marks that the server would refuse. Changes the written objects. `auto`: the
 * body has a mark, too, which counts.
 */
export function limitMarks(
  tools: readonly MessagesWrittenTool[] | undefined,
  {
    system,
    messages,
  }: { system?: string | MessagesWrittenBlock[]; messages: MessagesWrittenMessage[] },
  { marks, report, auto }: { marks: readonly Mark[]; report: MessagesReport; auto: boolean },
): void {
  if (marks.length === 0) return
  const gone = limitCacheMarks(marks, auto ? limit - 1 : limit, report)
  if (gone.size === 0) return
  takeMarks(tools ?? [], gone)
  if (Array.isArray(system)) takeMarks(system, gone)
  takeMarks(messages, gone)
}

/** Removes the marks in `gone`. Changes `blocks`, which the encoder has made. */
function takeMarks(blocks: Iterable<JsonObject>, gone: ReadonlySet<unknown>): void {
  for (const block of blocks) {
    const mark = block['cache_control']
    if (gone.has(mark)) delete block['cache_control']
    const inner = block['content']
    if (Array.isArray(inner)) takeMarks(inner as JsonObject[], gone)
  }
}
