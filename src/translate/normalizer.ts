import type { CanonicalEvent, PartEnd } from '../canonical/event.ts'
import { isLimit } from '../kit/tools/cut-calls.ts'
import type { StreamParts } from '../protocol.ts'

/** Between a stream decoder and a stream encoder: orders the events of a candidate as the target protocol requires. Plain data. */
export type NormalizerState = { parts: StreamParts; candidates: Record<number, CandidateOrder> }

/**
 * `open`: the part that may be written. `isCall`: it is a tool call. `ended`: its end, held back until the next event of the source shows
 * whether a token limit cut it off. `started`: the parts that have started. `waiting`: the events for after its end, in their order.
 */
type CandidateOrder = {
  open: number | undefined
  isCall: boolean
  ended: PartEnd | undefined
  started: Record<number, true>
  waiting: CanonicalEvent[]
}

type Pass = (event: CanonicalEvent) => void

export function startNormalizing(parts: StreamParts = 'any'): NormalizerState {
  return { parts, candidates: {} }
}

/** Passes on the event, and those that waited for it. An event that may be written at once is passed on at once. */
export function normalizeEvent(state: NormalizerState, event: CanonicalEvent, pass: Pass): void {
  if (state.parts === 'any') pass(event)
  else if ('candidate' in event) {
    const candidate = orderOf(state, event.candidate)
    if (event.type !== 'message.end') release(candidate, event.type === 'finish' && isLimit(event.finish), pass)
    order(candidate, event, pass)
  } else {
    if (event.type === 'end')
      for (const candidate of Object.values(state.candidates)) {
        release(candidate, !event.clean, pass)
        flush(candidate, pass)
      }
    pass(event)
  }
}

/** May a delta of this part be written at once? */
export function isUnordered({ parts, candidates }: NormalizerState, candidate: number, part: number): boolean {
  return parts === 'any' || candidates[candidate]?.open === part
}

function orderOf({ candidates }: NormalizerState, index: number): CandidateOrder {
  const known = candidates[index]
  if (known) return known
  const candidate: CandidateOrder = { open: undefined, isCall: false, ended: undefined, started: {}, waiting: [] }
  candidates[index] = candidate
  return candidate
}

function order(candidate: CandidateOrder, event: CanonicalEvent, pass: Pass): void {
  if (mustWait(candidate, event)) {
    // Its call is not the last one, so no token limit cut it off.
    candidate.waiting.push(event.type === 'part.end' ? { ...event, cut: false } : event)
    return
  }
  if (event.type === 'part.start') {
    // A repeated start is ignored.
    if (candidate.started[event.part]) return
    candidate.started[event.part] = true
    candidate.open = event.part
    candidate.isCall = event.head.type === 'tool-call'
  }
  // The next event that the encoder receives is not the next one of the source.
  if (event.type === 'part.end' && event.part === candidate.open && candidate.isCall && event.cut === undefined && candidate.waiting.length > 0) {
    candidate.ended = event
    return
  }
  pass(event)
  if (event.type !== 'part.end' || event.part !== candidate.open) return
  candidate.open = undefined
  resume(candidate, pass)
}

/** Passes on the end that was held back, and what waited for it. */
function release(candidate: CandidateOrder, cut: boolean, pass: Pass): void {
  const { ended } = candidate
  if (!ended) return
  candidate.ended = undefined
  order(candidate, { ...ended, cut }, pass)
}

function mustWait({ open, started, waiting }: CandidateOrder, event: CanonicalEvent): boolean {
  if (open === undefined) return false
  switch (event.type) {
    case 'part.start':
    case 'message.start':
    case 'message.end':
      return true
    case 'part.delta':
    case 'part.end':
      // A signature may come after the end of its part: it waits for nothing.
      return event.part !== open && (!started[event.part] || waiting.some(other => 'part' in other && other.part === event.part))
    default:
      return false
  }
}

/** Goes through the waiting events until a part opens; then through those of this part. */
function resume(candidate: CandidateOrder, pass: Pass): void {
  const { waiting } = candidate
  candidate.waiting = []
  for (const event of waiting) order(candidate, event, pass)
}

/** The source was cut off while events waited: passes them on, one part after the other, without ends that the source did not send. */
function flush(candidate: CandidateOrder, pass: Pass): void {
  while (candidate.waiting.length > 0) {
    candidate.open = undefined
    resume(candidate, pass)
  }
}
