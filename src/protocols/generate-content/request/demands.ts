import type { Demands } from '../../../protocol.ts'

/** The server matches results to calls by their names and their order, and refuses an id that occurs twice. */
export function demands(): Demands {
  return { lateTools: 'list', validatedChoice: true, toolPairs: { resultsFollowCalls: true, namesInResults: true, uniqueCallIds: true } }
}
