import type { CanonicalEvent } from '../canonical/event.ts'
import type { Part } from '../canonical/message.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import { hashId } from '../kit/conversation/ids.ts'

// Some servers send calls without an id. Each gets one of its own: with one id for all of them, one
// result would answer them all.

const lacksId = (part: Part) => part.type === 'tool-call' && part.id === ''

const identified = (part: Part, id: string): Part =>
  part.type === 'tool-call' ? { ...part, id, idOrigin: 'synthesized' } : part

const idOf = (response: string | undefined, candidate: number, nth: number) =>
  `call_${hashId(`${response ?? ''}/${candidate}/${nth}`)}`

/** The response with an id for each call; the same object if no call lacks one. */
export function withCallIds(response: CanonicalResponse): CanonicalResponse {
  const { id, candidates } = response
  const isComplete = candidates.every(({ messages }) =>
    messages.every(({ parts }) => !parts.some(lacksId)),
  )
  if (isComplete) return response
  return {
    ...response,
    candidates: candidates.map(candidate => {
      let nth = 0
      const messages = candidate.messages.map(message => ({
        ...message,
        parts: message.parts.map(part =>
          lacksId(part) ? identified(part, idOf(id, candidate.index, nth++)) : part,
        ),
      }))
      return { ...candidate, messages }
    }),
  }
}

/** `given`: the ids by candidate and part. Plain data. */
export type CallIds = {
  response?: string
  counts: Record<number, number>
  given: Record<string, string>
}

/** The same for the events of a stream. */
export function withCallId(ids: CallIds, event: CanonicalEvent): CanonicalEvent {
  if (event.type === 'part.start' && lacksId(event.head)) {
    const { candidate, part, head } = event
    const nth = ids.counts[candidate] ?? 0
    ids.counts[candidate] = nth + 1
    const id = idOf(ids.response, candidate, nth)
    ids.given[`${candidate}/${part}`] = id
    return { ...event, head: identified(head, id) }
  }
  if (event.type !== 'part.end' || !event.final || !lacksId(event.final)) return event
  const id = ids.given[`${event.candidate}/${event.part}`]
  return id === undefined ? event : { ...event, final: identified(event.final, id) }
}
