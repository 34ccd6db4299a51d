import { addDelta } from '../../../canonical/collect.ts'
import type { CanonicalError } from '../../../canonical/error.ts'
import type { CanonicalEvent, Delta, PartDelta, PlacedSignature } from '../../../canonical/event.ts'
import type { Message, Part, Place, Signature } from '../../../canonical/message.ts'
import { TranslationError } from '../../../errors.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import type { EmitEvent, MachineState, Shortcut } from '../../../protocol.ts'
import { type Attachment, accepts, noteOrphan, ordinalOf } from '../content/reasoning.ts'
import { createResponsesReport, protocolName, type ResponsesReport } from '../own.ts'

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

/**
 * Emits ends of parts one event later, so that a signature after its part can still be added to it.
 */
export function patient(state: DecoderState, emit: EmitEvent): EmitEvent {
  return event => {
    if (event.type === 'part.end' || (event.type === 'message.end' && state.ending.length > 0)) {
      const ending: Ending = { before: [], end: event }
      state.ending.push(ending)
      if (event.type === 'part.end') state.endings.set(event.part, ending)
      return
    }
    if (state.ending.length > 0 && event.type !== 'ping' && event.type !== 'opaque') {
      const { ending } = state
      state.ending = []
      state.endings.clear()
      for (const { before, end } of ending) {
        for (const event of before) emit(event)
        emit(end)
      }
    }
    emit(event)
  }
}

/** Adds a signature from an item of its own to the part before or after that item. */
export function carry(state: DecoderState, attach: Attachment, carried: Carried): void {
  if (attach === 'next') {
    orphan(state, state.carried)
    state.carried = carried
  } else if (attach !== 'prev' || !restoreSignature(state, carried)) orphan(state, carried)
}

/**
 * Adds a signature to earlier reasoning. False: it belongs to something else, or there is no such
 * reasoning.
 */
export function prove(
  { items, thoughts }: DecoderState,
  attach: Attachment,
  signature: PlacedSignature,
  emit: EmitEvent,
): boolean {
  const nth = ordinalOf(attach)
  const part = nth === undefined ? undefined : items[thoughts[nth] ?? -1]?.parts['']
  if (part)
    emit({
      type: 'part.delta',
      candidate: 0,
      part: part.part,
      delta: { kind: 'signature', ...signature },
    })
  return part !== undefined
}

/**
 * Adds a signature to the part before it. False: that part cannot have one, or its end was emitted
 * already.
 */
function restoreSignature({ items, endings }: DecoderState, carried: Carried): boolean {
  const { signature, index } = carried
  const before = items[index - 1]
  const last = items[before?.carrier ? (before.behind ?? -1) : index - 1]?.order.at(-1)
  const ending = last && endings.get(last.part)
  if (!last || !accepts(last.value) || ending?.end.type !== 'part.end') return false
  const delta: Delta = { kind: 'signature', signature }
  addDelta(last.value, delta)
  const { end } = ending
  ending.before.push({ type: 'part.delta', candidate: 0, part: last.part, delta })
  if (end.final) ending.end = { ...end, final: { ...end.final, signature } }
  return true
}

/**
 * Takes the signature kept for the first part of an item. Undefined: there is none, or the part
 * cannot have one, which is noted.
 */
export function arrived(
  state: DecoderState,
  item: OpenItem,
  accepted: boolean,
): Carried | undefined {
  const { carried } = item
  delete item.carried
  if (accepted) return carried
  orphan(state, carried)
  return undefined
}

/** Notes: the part that a signature belongs to never came. */
export function orphan(state: DecoderState, carried: Carried | undefined): void {
  if (carried) noteOrphan(`/output/${carried.index}`, reportOf(state))
}

/** The items that none of a list was taken for yet. */
export class LeftItems {
  readonly #places = new Map<string, { indexes: number[]; next: number }>()
  readonly #taken = new Set<number>()

  constructor(items: Readonly<Record<number, OpenItem>>) {
    for (const [key, { type, id, call }] of Object.entries(items)) {
      const index = Number(key)
      this.#add(`type ${type}`, index)
      if (id !== undefined) this.#add(`id ${id}`, index)
      if (call !== undefined) this.#add(`call ${call}`, index)
    }
  }

  /** Takes the first item with this id or this id of a call. */
  named(id: unknown, call: unknown): number | undefined {
    const byId = isText(id) ? this.#next(`id ${id}`) : undefined
    const byCall = isText(call) ? this.#next(`call ${call}`) : undefined
    const isBoth = byId !== undefined && byCall !== undefined
    return this.#take(isBoth ? Math.min(byId, byCall) : (byId ?? byCall))
  }

  /** Takes the first item of a type. */
  typed(type: string): number | undefined {
    return this.#take(this.#next(`type ${type}`))
  }

  #add(name: string, index: number): void {
    const place = this.#places.get(name)
    if (place) place.indexes.push(index)
    else this.#places.set(name, { indexes: [index], next: 0 })
  }

  #next(name: string): number | undefined {
    const place = this.#places.get(name)
    if (!place) return undefined
    let index = place.indexes[place.next]
    while (index !== undefined && this.#taken.has(index)) index = place.indexes[++place.next]
    return index
  }

  #take(index: number | undefined): number | undefined {
    if (index !== undefined) this.#taken.add(index)
    return index
  }
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''
