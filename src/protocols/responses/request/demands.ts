import { mapCallId } from '../../../kit/conversation/ids.ts'
import type { Demands } from '../../../protocol.ts'
import { validCallId } from '../content/calls.ts'

/** Calls and results are items of their own, linked by the id alone. */
export function demands(): Demands {
  return { lateTools: 'parts', toolPairs: { callId: id => mapCallId(id, validCallId) } }
}
