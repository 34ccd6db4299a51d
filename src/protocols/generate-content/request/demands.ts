import type { CanonicalRequest } from '../../../canonical/request.ts'
import { mapName } from '../../../kit/conversation/ids.ts'
import type { Demands, SchemaDialect } from '../../../protocol.ts'
import type { Options } from '../options.ts'

/**
 * The server matches results to calls by their names and their order, and refuses an id that occurs
 * twice. Its contents have no system role.
 */
export function demands(_request: CanonicalRequest, { systemPlacement }: Options): Demands {
  return {
    lateTools: 'list',
    validatedChoice: true,
    schemas: schemaDialect,
    instructions: { later: systemPlacement === 'hoist' ? 'front' : 'user' },
    toolNames: { spell, longest, freeform: 'wrapped' },
    toolPairs: { resultsFollowCalls: true, namesInResults: true, uniqueCallIds: true },
  }
}

const longest = 128

export const schemaDialect: SchemaDialect = { references: 'bare' }

/** A name begins with a letter or an underscore, and may hold dots and colons. */
function spell(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/.test(name)) return name
  const mapped = mapName(name, longest)
  return /^[A-Za-z_]/.test(mapped) ? mapped : `_${mapped.slice(0, longest - 1)}`
}
