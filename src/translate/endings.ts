import { isContent } from '../canonical/content.ts'
import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Part } from '../canonical/message.ts'
import type { CanonicalResponse, Finish } from '../canonical/response.ts'

/**
 * What the end of a turn means by what the turn holds. One that ended in tool calls of which the
 * client can run none, or for no known reason, has failed if it has no other content. One with
 * calls that ended for no known reason waits for their results.
 */

type Held = { usable: boolean; calls: boolean }

/** The end as it is. `error`: the turn has failed. */
function endOf(finish: Finish, { usable, calls }: Held): Finish {
  const { reason, raw } = finish
  if (!usable && reason === 'tool_calls')
    return {
      reason: 'error',
      message: 'the upstream ended its turn with tool calls, but none of them can be used',
    }
  if (!usable && (reason === 'malformed_tool_call' || reason === 'other'))
    return {
      reason: 'error',
      message: `the model ended without a response${raw === undefined ? '' : `: ${raw}`}`,
    }
  return calls && reason === 'other'
    ? { ...finish, reason: 'tool_calls', approximate: true }
    : finish
}

const isCall = ({ type }: Part) => type === 'tool-call'

/** The response with the end of each turn as it is. */
export function withTrueEnds(response: CanonicalResponse): CanonicalResponse {
  const candidates = response.candidates.map(candidate => {
    const { finish, messages } = candidate
    if (!finish) return candidate
    const holds = (is: (part: Part) => boolean) => messages.some(({ parts }) => parts.some(is))
    const end = endOf(finish, { usable: holds(isContent), calls: holds(isCall) })
    return end === finish ? candidate : { ...candidate, finish: end }
  })
  return candidates.every((candidate, i) => candidate === response.candidates[i])
    ? response
    : { ...response, candidates }
}

/** What the candidates of a stream hold so far. Plain data. */
export type EndingState = { usable: Record<number, true>; calls: Record<number, true> }

/** Watches the events of a stream. The event with the end as it is, or the error that it is. */
export function withTrueEnd(
  { usable, calls }: EndingState,
  event: CanonicalEvent,
): CanonicalEvent | { failure: CanonicalError } {
  const see = (candidate: number, part: Part) => {
    if (isContent(part)) usable[candidate] = true
    if (isCall(part)) calls[candidate] = true
  }
  switch (event.type) {
    case 'part.start':
      see(event.candidate, event.head)
      return event
    case 'part.delta':
      if (event.delta.kind === 'text' && event.delta.text !== '') usable[event.candidate] = true
      return event
    case 'part.end':
      if (event.final) see(event.candidate, event.final)
      return event
    case 'finish': {
      const { candidate, finish } = event
      const end = endOf(finish, { usable: candidate in usable, calls: candidate in calls })
      if (end === finish) return event
      return end.reason === 'error'
        ? { failure: { status: 502, kind: 'internal', message: end.message ?? '' } }
        : { ...event, finish: end }
    }
    default:
      return event
  }
}
