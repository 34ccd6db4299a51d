import type { PartDelta } from '../../../canonical/event.ts'
import type { MachineState, Shortcut } from '../../../protocol.ts'
import type { DecoderState } from './decoder.ts'
import { type EncoderState, headOf } from './encoder-state.ts'
import { addText } from './part-reader.ts'

export const shortcut: Shortcut = {
  text: new Set(['text']),
  padding: new Set(),
  read: (state, delta) => read(state as DecoderState, delta),
}

function read({ candidates }: DecoderState, { candidate, part, delta }: PartDelta): boolean {
  const open = Object.hasOwn(candidates, candidate) ? candidates[candidate]?.open : undefined
  if (open?.part !== part || open.signed || (delta.kind !== 'text' && delta.kind !== 'reasoning'))
    return false
  const last = open.chunks.length - 1
  if (delta.kind === 'reasoning' && delta.segment !== last) return false
  addText(open, delta.text)
  return true
}

/** See `ClientHalf`. */
export function writeDelta(
  given: MachineState,
  { candidate, part, delta }: PartDelta,
  literal: string,
): string | undefined {
  const state = given as EncoderState
  const lane = Object.hasOwn(state.lanes, candidate) ? state.lanes[candidate] : undefined
  const { open } = lane ?? {}
  // The first chunk of a part is written with the part's other fields.
  if (state.done || !lane || lane.pending || open?.key !== String(part) || open.sent === 0)
    return undefined
  const { part: whole } = open
  if (delta.kind === 'text' && whole.type === 'text') whole.text += delta.text
  else if (delta.kind === 'reasoning' && whole.type === 'reasoning') {
    const segment = whole.segments[delta.segment]
    if (!segment?.text || delta.segment !== whole.segments.length - 1) return undefined
    segment.text += delta.text
  } else return undefined
  open.sent += delta.text.length
  const fields = delta.kind === 'reasoning' ? `${literal},"thought":true` : literal
  return `data: {"candidates":[{"index":${candidate},"content":{"role":"model","parts":[{"text":${fields}}]}}]${headText(state)}\r\n\r\n`
}

/** The JSON that ends every event, cached. */
function headText(state: EncoderState): string {
  if (state.written?.start !== state.start) {
    const text = JSON.stringify(headOf(state)).slice(1)
    state.written = { start: state.start, text: text === '}' ? text : `,${text}` }
  }
  return state.written.text
}
