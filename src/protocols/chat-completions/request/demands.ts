import type { CanonicalRequest } from '../../../canonical/request.ts'
import { hashId, mapCallId, mapName } from '../../../kit/conversation/ids.ts'
import type { Demands, InstructionDemands, SchemaDialect } from '../../../protocol.ts'
import { validCallId } from '../content/calls.ts'
import { defaults, type Options } from '../options.ts'

const longest = 64

export const schemaDialect: SchemaDialect = { strict: 'closed', patterns: 'python' }

const later = {
  auto: 'user',
  user: 'user',
  hoist: 'front',
  keep: 'keep',
} as const satisfies Record<string, InstructionDemands['later']>

/**
 * Servers refuse a result that does not follow its call; many refuse more than one system message,
 * and one inside the conversation.
 */
export function demands(
  _request: CanonicalRequest,
  {
    shortIds,
    namesByLetter,
    systemPlacement = defaults.systemPlacement,
    instructionsRole,
    customTools,
  }: Options,
): Demands {
  return {
    lateTools: 'list',
    schemas: schemaDialect,
    instructions: {
      later: later[systemPlacement],
      joined: true,
      developer: instructionsRole === 'developer',
    },
    toolNames: {
      spell: namesByLetter ? byLetter : name => mapName(name, longest),
      longest,
      freeform: customTools === 'write' ? 'freeform' : 'wrapped',
    },
    toolPairs: {
      resultsFollowCalls: true,
      wireCallId: shortIds ? shortId : id => mapCallId(id, validCallId),
    },
  }
}

const byLetter = (name: string): string => {
  const mapped = mapName(name, longest)
  return /^[A-Za-z_]/.test(mapped) ? mapped : `_${mapped.slice(0, longest - 1)}`
}

/** An id of nine letters and digits. */
export const shortId = (id: string): string => (/^[A-Za-z0-9]{9}$/.test(id) ? id : hashId(id, 9))
