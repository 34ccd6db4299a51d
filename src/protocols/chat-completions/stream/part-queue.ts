import { lengthOf } from '../../../kit/text/text.ts'
import { type Choice, type EmitWire, type EncoderState, isLaned, type Laned } from './encoder-state.ts'
import { addToPart, correct } from './part-deltas.ts'

/** Runs `settle` for every kind, because waiting parts may begin when a message has ended. */
export function settleAll(state: EncoderState, choice: Choice, emit: EmitWire): void {
  for (const kind of ['text', 'refusal', 'reasoning'] as const) settle(state, choice, { kind, emit })
}

/** Closes the open part of a kind if it has ended, then writes the waiting parts up to the first that has not ended. */
export function settle(state: EncoderState, choice: Choice, { kind, emit }: { kind: Laned['kind']; emit: EmitWire }): void {
  const lane = choice.lanes[kind]
  for (;;) {
    const open = lane.open === undefined ? undefined : choice.parts.get(lane.open)
    if (lane.open !== undefined && open && isLaned(open)) {
      if (!open.ended) return
      if (open.final) correct(state, { candidate: choice.index, part: lane.open, out: open, final: open.final }, emit)
      if (open.kind === 'text') {
        choice.length += lengthOf(open.text)
        open.end = choice.length
      }
      lane.open = undefined
    }
    const [waiting] = lane.queue
    const next = waiting && choice.parts.get(waiting.part)
    if (!waiting || !next || !isLaned(next) || choice.openMessages.some(message => message < waiting.message)) return
    lane.queue.shift()
    lane.open = waiting.part
    if (next.kind === 'text') next.start = choice.length
    const { held } = next
    next.held = []
    for (const delta of held) addToPart(state, { type: 'part.delta', candidate: choice.index, part: waiting.part, delta }, emit)
  }
}
