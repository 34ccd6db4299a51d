import { addDelta } from '../../../canonical/collect.ts'
import type { Delta, PlacedSignature } from '../../../canonical/event.ts'
import type { EmitEvent } from '../../../protocol.ts'
import { type Attachment, accepts, noteOrphan, ordinalOf } from '../content/reasoning.ts'
import {
  type Carried,
  type DecoderState,
  type Ending,
  type OpenItem,
  reportOf,
} from './decoder-state.ts'

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
