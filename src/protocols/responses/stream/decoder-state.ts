import { addDelta } from '../../../canonical/collect.ts'
import type { CanonicalError } from '../../../canonical/error.ts'
import type { CanonicalEvent, PartDelta } from '../../../canonical/event.ts'
import type { Message, Part, Place, Signature } from '../../../canonical/message.ts'
import { TranslationError } from '../../../errors.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import type { MachineState, Shortcut } from '../../../protocol.ts'
import { createResponsesReport, type ResponsesReport } from '../notes.ts'
import { protocolName } from '../own.ts'

/** A part that has begun. `value`: its content so far. */
export type OpenPart = {
  part: number
  value: Part
  ended: boolean
  /** Its text is complete. */
  isReported?: boolean
}

export type OpenItem = {
  message: number
  /** The item's `type` on the wire. */
  type: string
  id: string | undefined
  /** `call_id`, if it is a call. */
  call: string | undefined
  /**
   * By place: `c0` is the first content part, the empty string the item itself where it is a single
   * part. `order`: as they began.
   */
  parts: Record<string, OpenPart>
  order: OpenPart[]
  /**
   * Indexes of reasoning segments, by place: `s0` is the first of the summary, `c0` the first of
   * the content.
   */
  segments: Record<string, number>
  segmentCount: number
  /** Place of the raw reasoning that is being streamed. */
  raw?: string
  /** The arguments from its announcement, if they were complete: used only if no others come. */
  begun?: string
  done: boolean
  /** The message without its parts; at the end in its final form. */
  whole: Message
  /** The item as in its own `done` event. */
  final?: JsonObject
  /**
   * The announced item, if it had no text and no event about it has followed: it may only carry a
   * neighbour's signature.
   */
  waiting?: JsonObject
  /** It only carried a neighbour's signature. */
  carrier?: boolean
  /** Of such an item: the index of the last one before it that is none. */
  behind?: number
  /** The signature of its first part, which has not begun yet. */
  carried?: Carried
}

/** A signature that is not on its part yet. `index`: of the item that it came in. */
export type Carried = { signature: Signature; index: number }

/** An end of a part or message, and what is emitted before it. */
export type Ending = { before: CanonicalEvent[]; end: CanonicalEvent }

export type DecoderState = MachineState & {
  phase: 'before' | 'inside' | 'ended'
  items: Record<number, OpenItem>
  /** The index behind all items. */
  next: number
  /** Indexes of the items that wait to be opened. */
  waiting: Set<number>
  /** Indexes of reasoning items without carriers, in their order. */
  thoughts: number[]
  /**
   * By what an event can name them: the indexes of items, the last one opened last. Some may have
   * ended.
   */
  named: Map<string, number[]>
  /** By type: how many items have not ended. */
  open: Map<string, number>
  /**
   * `output_index` → own index of the item that began last under it, where an earlier item already
   * has that index.
   */
  moved: Record<number, number>
  messages: number
  parts: number
  /** Of the response, from its start. */
  id: string | undefined
  model: string | undefined
  /** The part of the last delta. */
  latest: OpenPart | undefined
  /** Held back until the last event, such as `response.failed`, whose usage is emitted first. */
  error: CanonicalError | undefined
  /**
   * Ends of parts, emitted with the next event: until then their signature may follow in an item of
   * its own. `endings`: by part.
   */
  ending: Ending[]
  endings: Map<number, Ending>
  /** The signature of the next item. */
  carried: Carried | undefined
}

export function malformed(
  path: Place,
  message: string,
  code: 'malformed' | 'out-of-order' = 'malformed',
): TranslationError {
  return new TranslationError({ code, protocol: protocolName, path }, message)
}

/** A required string field of an event. */
export function textOf(event: JsonObject, key: string): string {
  const value = event[key]
  if (typeof value !== 'string') throw malformed(`/${key}`, 'expected a string')
  return value
}

/**
 * Index of the item that an event is about: by `output_index`, else by id, else the one that was
 * opened last.
 */
export function indexOf(state: DecoderState, event: JsonObject): number | undefined {
  const { output_index: index, item_id, item } = event
  const id = item_id ?? (isObject(item) ? item['id'] : undefined)
  if (index === undefined || index === null)
    return typeof id === 'string' ? lastOpen(state, `id ${id}`) : lastUnnamed(state, id)
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0)
    throw malformed('/output_index', 'expected a place in the output')
  const moved = state.moved[index]
  return moved === undefined
    ? index
    : ((typeof id === 'string' ? lastOpen(state, `id ${id}`) : undefined) ?? moved)
}

const lastUnnamed = (state: DecoderState, id: unknown) =>
  id === undefined ? (lastOpen(state, 'no id') ?? lastOpen(state, 'any')) : undefined

/** What events can name an item by. */
function namesOfItem({ type, id, call }: OpenItem): string[] {
  const names = ['any', id === undefined ? 'no id' : `id ${id}`, `type ${type}`]
  if (id !== undefined) names.push(`${type} id ${id}`)
  if (call !== undefined) names.push(`${type} call ${call}`)
  return names
}

/** Index of the item of a name that was opened last, and has not ended. */
export function lastOpen({ items, named }: DecoderState, name: string): number | undefined {
  const indexes = named.get(name)
  for (let index = indexes?.at(-1); index !== undefined; index = indexes?.at(-1)) {
    const item = items[index]
    if (item && !item.done && namesOfItem(item).includes(name)) return index
    indexes?.pop()
  }
  return undefined
}

/** Index of the only open item of its type. */
export const onlyOpenOf = (state: DecoderState, type: string): number | undefined =>
  state.open.get(type) === 1 ? lastOpen(state, `type ${type}`) : undefined

/** Puts an item at an index, in place of the one that is there. */
export function putItem(state: DecoderState, index: number, item: OpenItem): void {
  const before = state.items[index]
  if (before && !before.done) countOpen(state, before, -1)
  state.items[index] = item
  state.next = Math.max(state.next, index + 1)
  if (item.waiting) state.waiting.add(index)
  else state.waiting.delete(index)
  if (item.type === 'reasoning' && !item.carrier && !isThought(before)) state.thoughts.push(index)
  else if (item.carrier && isThought(before)) forgetThought(state, index)
  if (item.done) return
  countOpen(state, item, 1)
  for (const name of namesOfItem(item)) {
    const indexes = state.named.get(name)
    if (indexes) indexes.push(index)
    else state.named.set(name, [index])
  }
}

const isThought = (item: OpenItem | undefined) => item?.type === 'reasoning' && !item.carrier

function forgetThought(state: DecoderState, index: number): void {
  if (state.thoughts.at(-1) === index) state.thoughts.pop()
  else state.thoughts = state.thoughts.filter(one => one !== index)
}

export function endItem(state: DecoderState, item: OpenItem): void {
  item.done = true
  countOpen(state, item, -1)
}

function countOpen({ open }: DecoderState, { type }: OpenItem, more: number): void {
  open.set(type, (open.get(type) ?? 0) + more)
}

const differ = (one: unknown, other: unknown) =>
  typeof one === 'string' && typeof other === 'string' && one !== other

/**
 * Is this another item than the one at its index? Some servers give all items the same index,
 * others change ids within a stream.
 */
export function isAnother({ type, id, call, done }: OpenItem, wire: JsonObject): boolean {
  const isOther = type !== wire['type']
  return (
    differ(call, wire['call_id']) ||
    (done ? isOther || differ(id, wire['id']) : isOther && differ(id, wire['id']))
  )
}

export function placeOf(event: JsonObject, key: 'content_index' | 'summary_index'): number {
  const index = event[key] ?? 0
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0)
    throw malformed(`/${key}`, 'expected a place')
  return index
}

export const reportOf = ({ notes }: MachineState): ResponsesReport =>
  createResponsesReport(undefined, notes)

/** See `UpstreamHalf`. */
export const shortcut: Shortcut = {
  text: new Set(['delta']),
  // `sequence_number` is counted anew; `obfuscation` only hides the length of a delta.
  padding: new Set(['sequence_number', 'obfuscation']),
  read: (state, delta) => takeAlike(state as DecoderState, delta),
}

function takeAlike({ latest, ending }: DecoderState, { part, delta }: PartDelta): boolean {
  // The ends that are held back must be emitted first.
  if (!latest || latest.part !== part || latest.ended || ending.length > 0) return false
  addDelta(latest.value, delta)
  return true
}
