import type { EncodedPartEnd, EncoderEvent } from '../../canonical/event.ts'
import type { Candidate, Finish } from '../../canonical/response.ts'
import type { Emit } from '../../protocol.ts'
import { parseObject } from '../json/json.ts'

/**
 * A call whose arguments a token limit cut off. Clients must not run it, so its arguments are never
 * completed.
 */

/** Did a token limit end the response? */
export const isLimit = ({ reason }: Finish) => reason === 'length' || reason === 'context_window'

/** Are these the whole arguments of a function call? */
export const isWholeInput = (input: string): boolean => parseObject(input) !== undefined

/** The candidate with `cut` on its last part, if that is a call that a token limit cut off. */
export function markCut(candidate: Candidate): Candidate {
  const { finish, messages } = candidate
  if (!finish || !isLimit(finish)) return candidate
  const message = messages.at(-1)
  const part = message?.parts.at(-1)
  if (
    !message ||
    part?.type !== 'tool-call' ||
    part.kind !== 'function' ||
    isWholeInput(part.input)
  )
    return candidate
  return {
    ...candidate,
    messages: [
      ...messages.slice(0, -1),
      { ...message, parts: [...message.parts.slice(0, -1), { ...part, cut: true }] },
    ],
  }
}

/**
 * Plain data. `late`: by candidate, the end of a call without whole arguments and of its message.
 */
export type CutState = { late: Map<number, EncoderEvent[]> }

type Take<State, Out> = (state: State, event: EncoderEvent, emit: Emit<Out>) => void

/**
 * Holds back the end of a call without whole arguments until the next event of its candidate, which
 * shows whether a token limit cut it off. Then the end has `cut`.
 */
export function holdCutCalls<State extends CutState, Out>(
  isIncomplete: (state: State, end: EncodedPartEnd) => boolean,
  take: Take<State, Out>,
): Take<State, Out> {
  const release = (state: State, candidate: number, isCut: boolean, emit: Emit<Out>) => {
    const late = state.late.get(candidate) ?? []
    state.late.delete(candidate)
    for (const event of late)
      take(state, isCut && event.type === 'part.end' ? { ...event, cut: true } : event, emit)
  }
  return (state, event, emit) => {
    if ('candidate' in event) {
      const late = state.late.get(event.candidate)
      if (late && event.type === 'message.end') {
        late.push(event)
        return
      }
      if (late)
        release(state, event.candidate, event.type === 'finish' && isLimit(event.finish), emit)
      if (event.type === 'part.end') {
        const isOpen = isIncomplete(state, event)
        if (isOpen && event.cut === undefined) {
          state.late.set(event.candidate, [event])
          return
        }
        const { cut: _, ...end } = event
        take(state, isOpen ? event : end, emit)
        return
      }
    } else if (event.type === 'end' || event.type === 'error')
      for (const candidate of state.late.keys())
        release(state, candidate, event.type === 'end' && !event.clean, emit)
    take(state, event, emit)
  }
}
