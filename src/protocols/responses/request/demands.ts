import { mapCallId, mapName } from '../../../kit/conversation/ids.ts'
import type { Demands, SchemaDialect } from '../../../protocol.ts'
import { validCallId } from '../content/calls.ts'

const longest = 128

export const schemaDialect: SchemaDialect = { strict: 'closed', patterns: 'python' }

/** Calls and results are items of their own, linked by the id alone. */
export function demands(): Demands {
  return {
    lateTools: 'parts',
    schemas: schemaDialect,
    toolNames: { spell: name => mapName(name, longest), longest, namespaces: true },
    toolPairs: { wireCallId: id => mapCallId(id, validCallId) },
  }
}
