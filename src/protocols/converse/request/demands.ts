import type { CanonicalRequest } from '../../../canonical/request.ts'
import { hashId, mapCallId, mapName, mapProperty } from '../../../kit/conversation/ids.ts'
import { dialectOf } from '../../../kit/tools/fit-tool.ts'
import type { Demands, SchemaDialect } from '../../../protocol.ts'
import { validCallId } from '../content/calls.ts'
import { familyOf } from '../models.ts'
import type { Options } from '../options.ts'

const longest = 64

export const schemaDialect: SchemaDialect = { plainRoot: true }

/**
 * The server refuses a turn with calls that the results of all of them do not follow, and takes
 * instructions inside the conversation of few models only.
 */
export function demands({ model }: CanonicalRequest, options: Options): Demands {
  const family = familyOf(model, options)
  const dialect = dialectOf(options.schemas, schemaDialect)
  return {
    lateTools: 'list',
    instructions: { later: options.systemPlacement === 'hoist' ? 'front' : 'user' },
    schemas: family === 'claude' ? { ...dialect, strict: 'grammar' } : dialect,
    toolNames: {
      spell: name => mapName(name, longest),
      spellProperty: mapProperty,
      longest,
      freeform: 'wrapped',
    },
    toolPairs: {
      resultsFollowCalls: true,
      wireCallId: family === 'mistral' ? shortId : id => mapCallId(id, validCallId),
      uniqueCallIds: true,
    },
  }
}

/** Models of Mistral take ids of nine letters and digits. */
const shortId = (id: string): string => (/^[A-Za-z0-9]{9}$/.test(id) ? id : hashId(id, 9))
