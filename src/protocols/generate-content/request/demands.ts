import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { Demands } from '../../../protocol.ts'
import type { Options } from '../options.ts'

/** The server matches results to calls by their names and their order, and refuses an id that occurs twice. Its contents have no system role. */
export function demands(_request: CanonicalRequest, { systemPlacement }: Options): Demands {
  return {
    lateTools: 'list',
    validatedChoice: true,
    instructions: { later: systemPlacement === 'hoist' ? 'front' : 'user' },
    toolPairs: { resultsFollowCalls: true, namesInResults: true, uniqueCallIds: true },
  }
}
