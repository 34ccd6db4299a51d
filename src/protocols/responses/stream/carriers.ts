import { addDelta } from '../../../canonical/collect.ts'
import type { CanonicalEvent, Delta, PlacedSignature } from '../../../canonical/event.ts'
import type { EmitEvent } from '../../../protocol.ts'
import { type Attachment, accepts, ordinalOf } from '../content/reasoning.ts'
import { type Carried, type DecoderState, type OpenItem, reportOf } from './decoder-state.ts'

/** Emits ends of parts one event later, so that a signature after its part can still be added to it. */
export function patient(state: DecoderState, emit: EmitEvent): EmitEvent {
  return event => {
    if (event.type === 'part.end' || (event.type === 'message.end' && state.ending.length > 0)) {
      state.ending.push(event)
      return
    }
    if (state.ending.length > 0 && event.type !== 'ping' && event.type !== 'opaque') {
      const { ending } = state
      state.ending = []
      for (const end of ending) emit(end)
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

/** Adds a signature to earlier reasoning. False: it belongs to something else, or there is no such reasoning. */
export function prove(
  { items }: DecoderState,
  attach: Attachment,
  signature: PlacedSignature,
  emit: EmitEvent,
): boolean {
  const nth = ordinalOf(attach)
  const reasoning = Object.values(items).filter(
    ({ type, carrier }) => type === 'reasoning' && !carrier,
  )
  const part = nth === undefined ? undefined : reasoning[nth]?.parts['']
  if (part)
    emit({
      type: 'part.delta',
      candidate: 0,
      part: part.part,
      delta: { kind: 'signature', ...signature },
    })
  return part !== undefined
}

/** Adds a signature to the part before it. False: that part cannot have one, or its end was emitted already. */
function restoreSignature({ items, ending }: DecoderState, carried: Carried): boolean {
  const { signature, index } = carried
  let before = index - 1
  while (items[before]?.carrier) before--
  const last = Object.values(items[before]?.parts ?? {}).at(-1)
  const place = ending.findLastIndex(
    event => event.type === 'part.end' && event.part === last?.part,
  )
  const end = ending[place]
  if (!last || !accepts(last.value) || end?.type !== 'part.end') return false
  const delta: Delta = { kind: 'signature', signature }
  addDelta(last.value, delta)
  const events: CanonicalEvent[] = [{ type: 'part.delta', candidate: 0, part: last.part, delta }]
  ending.splice(
    place,
    1,
    ...events,
    end.final ? { ...end, final: { ...end.final, signature } } : end,
  )
  return true
}

/** Takes the signature kept for the first part of an item. Undefined: there is none, or the part cannot have one, which is noted. */
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
  if (carried) reportOf(state).add('reasoning.signature-orphaned', `/output/${carried.index}`)
}
