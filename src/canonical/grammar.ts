import type { CanonicalEvent } from './event.ts'

/** What a candidate has had so far. Messages and parts are counted; `openParts`: with their message. */
type Candidate = {
  messages: number
  parts: number
  openMessages: Set<number>
  openParts: Map<number, number>
  finished: boolean
}

/**
 * Violations of the stream grammar in `event.ts`, as sentences. Empty: the stream is legal.
 * @example
 * import { checkGrammar } from 'wireglot/testing'
 *
 * console.log(checkGrammar([{ type: 'start' }, { type: 'end', clean: true }]).length) // 0
 */
export function checkGrammar(events: Iterable<CanonicalEvent>): string[] {
  const faults: string[] = []
  const candidates = new Map<number, Candidate>()
  const of = (index: number) => {
    const known = candidates.get(index) ?? newCandidate()
    candidates.set(index, known)
    return known
  }
  let place = -1
  let phase: 'before' | 'inside' | 'failed' | 'ended' = 'before'
  let cleanly = false
  for (const event of events) {
    place++
    const fault = (what: string) => faults.push(`event ${place} (${event.type}): ${what}`)
    if (phase === 'ended') fault('nothing follows the end')
    if (phase === 'failed' && event.type !== 'end') fault('only the end follows an error')
    if (phase === 'before' && event.type !== 'start') fault('the first event is start')
    if ('candidate' in event) {
      checkCandidate(of(event.candidate), event, fault)
      continue
    }
    switch (event.type) {
      case 'start':
        if (phase !== 'before') fault('start comes once')
        else phase = 'inside'
        break
      case 'error':
        phase = 'failed'
        break
      case 'end':
        cleanly = event.clean
        if (event.clean && phase === 'failed') fault('an error is no clean end')
        phase = 'ended'
        break
      case 'usage':
      case 'update':
      case 'ping':
      case 'opaque':
        break
      default:
        event satisfies never
    }
  }
  if (place < 0) return faults
  if (phase !== 'ended') faults.push('the stream has no end')
  if (cleanly)
    for (const [index, { finished }] of candidates)
      if (!finished) faults.push(`candidate ${index} has no finish in a clean stream`)
  return faults
}

const newCandidate = (): Candidate => ({
  messages: 0,
  parts: 0,
  openMessages: new Set(),
  openParts: new Map(),
  finished: false,
})

type CandidateEvent = Extract<CanonicalEvent, { candidate: number }>

/** Checks an event of a candidate, and counts it. */
function checkCandidate(
  known: Candidate,
  event: CandidateEvent,
  fault: (what: string) => void,
): void {
  if (known.finished) fault('nothing of a candidate follows its finish')
  switch (event.type) {
    case 'message.start':
      if (event.message !== known.messages)
        fault(`messages are counted from 0 without gaps: expected ${known.messages}`)
      known.messages++
      known.openMessages.add(event.message)
      break
    case 'part.start':
      if (!known.openMessages.has(event.message)) fault('its message is not open')
      if (event.part !== known.parts)
        fault(`parts are counted from 0 without gaps: expected ${known.parts}`)
      known.parts++
      known.openParts.set(event.part, event.message)
      break
    case 'part.delta': {
      const isLateSignature = event.delta.kind === 'signature' && event.part < known.parts
      if (!known.openParts.has(event.part) && !isLateSignature) fault('its part is not open')
      break
    }
    case 'part.end':
      if (!known.openParts.delete(event.part)) fault('its part is not open')
      break
    case 'message.end':
      if ([...known.openParts.values()].includes(event.message))
        fault('a part of the message is still open')
      if (!known.openMessages.delete(event.message)) fault('its message is not open')
      break
    case 'finish':
      if (known.openMessages.size > 0) fault('a message is still open')
      known.finished = true
      break
    default:
      event satisfies never
  }
}
