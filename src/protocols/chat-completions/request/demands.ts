import { hashId, mapCallId } from '../../../kit/conversation/ids.ts'
import type { Demands } from '../../../protocol.ts'
import { validCallId } from '../content/calls.ts'
import type { Options } from '../options.ts'

/** Servers refuse a result that does not follow its call. */
export function demands({ mistralIds }: Options): Demands {
  return { lateTools: 'list', toolPairs: { resultsFollowCalls: true, callId: mistralIds ? mistralId : id => mapCallId(id, validCallId) } }
}

const mistralId = (id: string): string => (/^[A-Za-z0-9]{9}$/.test(id) ? id : hashId(id, 9))
