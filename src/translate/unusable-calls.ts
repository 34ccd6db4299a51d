import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Part } from '../canonical/message.ts'
import type { CanonicalResponse, Finish } from '../canonical/response.ts'

/**
 * A turn that ended in tool calls of which the client can run none: there is no call, or none has a
 * name. Without other content it failed.
 */

const message = 'the upstream ended its turn with tool calls, but none of them can be used'

export const unusableCalls: CanonicalError = { status: 502, kind: 'internal', message }

/** Does the part have content for the user, or is it a call with a name? */
function isUsable(part: Part): boolean {
  if (part.type === 'text' || part.type === 'refusal') return part.text !== ''
  return part.type === 'tool-call'
    ? part.name !== ''
    : part.type !== 'reasoning' && part.type !== 'opaque'
}

/** The response with an error in place of the finish reason of such a response. */
export function failUnusable(response: CanonicalResponse): CanonicalResponse {
  const fails = ({ finish, messages }: CanonicalResponse['candidates'][number]) =>
    finish?.reason === 'tool_calls' && !messages.some(({ parts }) => parts.some(isUsable))
  if (!response.candidates.some(fails)) return response
  const finish: Finish = { reason: 'error', message }
  return {
    ...response,
    candidates: response.candidates.map(candidate =>
      fails(candidate) ? { ...candidate, finish } : candidate,
    ),
  }
}

/** The candidates of a stream with usable content so far. Plain data. */
export type UsableState = { usable: Record<number, true> }

/** Watches the events of a stream. True: this one ends such a response. */
export function endsUnusable({ usable }: UsableState, event: CanonicalEvent): boolean {
  switch (event.type) {
    case 'part.start':
      if (isUsable(event.head)) usable[event.candidate] = true
      return false
    case 'part.delta':
      if (event.delta.kind === 'text' && event.delta.text !== '') usable[event.candidate] = true
      return false
    case 'part.end':
      if (event.final && isUsable(event.final)) usable[event.candidate] = true
      return false
    case 'finish':
      return event.finish.reason === 'tool_calls' && !usable[event.candidate]
    default:
      return false
  }
}
