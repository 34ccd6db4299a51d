import type { CanonicalError } from '../../../canonical/error.ts'
import type { CanonicalEvent } from '../../../canonical/event.ts'
import type { Message, Part, Place, Signature } from '../../../canonical/message.ts'
import { TranslationError } from '../../../errors.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import type { MachineState } from '../../../protocol.ts'
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
  /** By place: `c0` is the first content part, the empty string the item itself where it is a single part. */
  parts: Record<string, OpenPart>
  /** Indexes of reasoning segments, by place: `s0` is the first of the summary, `c0` the first of the content. */
  segments: Record<string, number>
  /** Place of the raw reasoning that is being streamed. */
  raw?: string
  /** The arguments from its announcement, if they were complete: used only if no others come. */
  begun?: string
  done: boolean
  /** The message without its parts; at the end in its final form. */
  whole: Message
  /** The item as in its own `done` event. */
  final?: JsonObject
  /** The announced item, if it had no text and no event about it has followed: it may only carry a neighbour's signature. */
  waiting?: JsonObject
  /** It only carried a neighbour's signature. */
  carrier?: boolean
  /** The signature of its first part, which has not begun yet. */
  carried?: Carried
}

/** A signature that is not on its part yet. `index`: of the item that it came in. */
export type Carried = { signature: Signature; index: number }

export type DecoderState = MachineState & {
  phase: 'before' | 'inside' | 'ended'
  items: Record<number, OpenItem>
  /** `output_index` → own index of the item that began last under it, where an earlier item already has that index. */
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
  /** Ends of parts, emitted with the next event: until then their signature may follow in an item of its own. */
  ending: CanonicalEvent[]
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

/** Index of the item that an event is about: by `output_index`, else by id, else the one that was opened last. */
export function indexOf(state: DecoderState, event: JsonObject): number | undefined {
  const { output_index: index, item_id, item } = event
  const id = item_id ?? (isObject(item) ? item['id'] : undefined)
  if (index === undefined || index === null)
    return (
      openOf(state, one => one.id === id) ??
      (id === undefined ? openOf(state, () => true) : undefined)
    )
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0)
    throw malformed('/output_index', 'expected a place in the output')
  const moved = state.moved[index]
  return moved === undefined
    ? index
    : (openOf(state, one => one.id !== undefined && one.id === id) ?? moved)
}

/** Index of the last open item that matches. */
export function openOf(
  { items }: DecoderState,
  isMeant: (item: OpenItem) => boolean,
): number | undefined {
  const found = Object.entries(items).findLast(([, item]) => !item.done && isMeant(item))
  return found && Number(found[0])
}

const differ = (one: unknown, other: unknown) =>
  typeof one === 'string' && typeof other === 'string' && one !== other

/** Is this another item than the one at its index? Some servers give all items the same index, others change ids within a stream. */
export function isAnother({ type, id, call, done }: OpenItem, wire: JsonObject): boolean {
  const isOther = type !== wire['type']
  return (
    differ(call, wire['call_id']) ||
    (done ? isOther || differ(id, wire['id']) : isOther && differ(id, wire['id']))
  )
}

export function nextIndex({ items }: DecoderState): number {
  return Object.keys(items).reduce((next, index) => Math.max(next, Number(index) + 1), 0)
}

export function placeOf(event: JsonObject, key: 'content_index' | 'summary_index'): number {
  const index = event[key] ?? 0
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0)
    throw malformed(`/${key}`, 'expected a place')
  return index
}

export const reportOf = ({ notes }: MachineState): ResponsesReport =>
  createResponsesReport(undefined, notes)
