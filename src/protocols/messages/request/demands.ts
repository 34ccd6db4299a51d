import { mapCallId } from '../../../kit/conversation/ids.ts'
import type { Demands } from '../../../protocol.ts'
import type { Options } from '../options.ts'

const validCallId = /^[a-zA-Z0-9_-]{1,64}$/

/** The server refuses a turn with calls that the results of all of them do not follow, and an id that occurs twice. */
export function demands({ amToolAddition }: Options): Demands {
  const lateTools = amToolAddition === 'block' ? 'controls' : 'list'
  return { lateTools, toolPairs: { resultsFollowCalls: true, callId: id => mapCallId(id, validCallId), uniqueCallIds: true } }
}
