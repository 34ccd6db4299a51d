import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Message, Part, Signature } from '../../canonical/message.ts'
import { TranslationError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import type { MachineState } from '../../protocol.ts'
import { createResponsesReport, type ResponsesReport } from './notes.ts'
import { protocolName } from './own.ts'

/** A part that has begun. `value`: what has been told of it so far. */
export type OpenPart = {
  part: number
  value: Part
  ended: boolean
  /** Its text was told to the end. */
  told?: boolean
}

export type OpenItem = {
  message: number
  /** The item's `type` on the wire. */
  type: string
  id: string | undefined
  /** Of a call. */
  call: string | undefined
  /** By place: `c0` is the first content part, `` the item itself where it is one part. */
  parts: Record<string, OpenPart>
  /** Where segments of reasoning stand, by place: `s0` the first of the summary, `c0` the first of the content. */
  segments: Record<string, number>
  /** Where the raw reasoning stands that is being told. */
  raw?: string
  /** The arguments it began with, where they were whole: meant only when no others come. */
  begun?: string
  done: boolean
  /** Without its parts; at the end, whole. */
  whole: Message
  /** Announced without a word, and not told of yet: it may be nothing but the signature of a neighbour. */
  waiting?: JsonObject
  /** It was the signature of a neighbour, and nothing else. */
  carrier?: boolean
  /** The signature of its first part, which has not begun. */
  carried?: Carried
}

/** A signature on its way to the part it belongs to. `index`, `id`: of the item that it came in. */
export type Carried = { signature: Signature; index: number; id?: string }

export type DecoderState = MachineState & {
  phase: 'before' | 'inside' | 'ended'
  items: Record<number, OpenItem>
  /** Index on the wire → the item that began last under it, where an earlier one has that index already. */
  moved: Record<number, number>
  messages: number
  parts: number
  /** Of the reply, as its start told it. */
  id: string | undefined
  model: string | undefined
  /** What the last delta was of. */
  latest: OpenPart | undefined
  /** Held back until `response.failed` has added what it knows. */
  error: CanonicalError | undefined
  /** Ends of parts, told with the next event: until then their signature may follow in an item of its own. */
  ending: CanonicalEvent[]
  /** What belongs to the item that comes next. */
  carried: Carried | undefined
}

export function malformed(path: string, message: string, code: 'malformed' | 'out-of-order' = 'malformed'): TranslationError {
  return new TranslationError({ code, protocol: protocolName, path }, message)
}

/** The text of a field that an event cannot do without. */
export function textOf(event: JsonObject, key: string): string {
  const value = event[key]
  if (typeof value !== 'string') throw malformed(`/${key}`, 'expected a string')
  return value
}

/** Which item an event is about: by `output_index`, else by id, else the one that was opened last. */
export function indexOf(state: DecoderState, event: JsonObject): number | undefined {
  const { output_index: index, item_id, item } = event
  const id = item_id ?? (isObject(item) ? item['id'] : undefined)
  if (index === undefined || index === null) return openOf(state, one => one.id === id) ?? (id === undefined ? openOf(state, () => true) : undefined)
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0) throw malformed('/output_index', 'expected a place in the output')
  const moved = state.moved[index]
  return moved === undefined ? index : (openOf(state, one => one.id !== undefined && one.id === id) ?? moved)
}

/** The last item of those that are open. */
export function openOf({ items }: DecoderState, isMeant: (item: OpenItem) => boolean): number | undefined {
  const found = Object.entries(items).findLast(([, item]) => !item.done && isMeant(item))
  return found && Number(found[0])
}

const differ = (one: unknown, other: unknown) => typeof one === 'string' && typeof other === 'string' && one !== other

/** Is this item another one than the one at its index? Some servers give all items the same, others change ids under way. */
export function isAnother({ type, id, call, done }: OpenItem, wire: JsonObject): boolean {
  const isOther = type !== wire['type']
  return differ(call, wire['call_id']) || (done ? isOther || differ(id, wire['id']) : isOther && differ(id, wire['id']))
}

export function nextIndex({ items }: DecoderState): number {
  return Object.keys(items).reduce((next, index) => Math.max(next, Number(index) + 1), 0)
}

export function placeOf(event: JsonObject, key: 'content_index' | 'summary_index'): number {
  const index = event[key] ?? 0
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0) throw malformed(`/${key}`, 'expected a place')
  return index
}

export const reportOf = ({ notes }: MachineState): ResponsesReport => createResponsesReport(undefined, notes)
