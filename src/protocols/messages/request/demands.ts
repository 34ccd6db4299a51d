import type { CanonicalRequest } from '../../../canonical/request.ts'
import { mapCallId, mapName, mapProperty } from '../../../kit/conversation/ids.ts'
import { takesMidSystem } from '../../../models/claude.ts'
import type { Demands, InstructionDemands, SchemaDialect } from '../../../protocol.ts'
import { validCallId } from '../content/calls.ts'
import { defaults, type Options } from '../options.ts'

const longest = 128

export const schemaDialect: SchemaDialect = { plainRoot: true, strict: 'grammar' }

const later = { user: 'user', hoist: 'front', keep: 'behind-user' } as const satisfies Record<
  string,
  InstructionDemands['later']
>

/**
 * The server refuses a turn with calls that the results of all of them do not follow, and an id
 * that occurs twice.
 */
export function demands(
  { model }: CanonicalRequest,
  { systemPlacement = defaults.systemPlacement }: Options,
): Demands {
  const automatic = takesMidSystem(model) ? 'keep' : 'user'
  const placement = systemPlacement === 'auto' ? automatic : systemPlacement
  return {
    lateTools: 'list',
    instructions: { later: later[placement] },
    schemas: schemaDialect,
    toolNames: {
      spell: name => mapName(name, longest),
      spellProperty: mapProperty,
      longest,
      freeform: 'wrapped',
    },
    toolPairs: {
      resultsFollowCalls: true,
      wireCallId: id => mapCallId(id, validCallId),
      uniqueCallIds: true,
    },
  }
}
