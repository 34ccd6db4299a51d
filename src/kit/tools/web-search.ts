import type { ServerTool } from '../../canonical/tool.ts'
import { omitUndefined } from '../fields/omit.ts'
import { isObject } from '../json/json.ts'

type Settings = NonNullable<ServerTool['common']>

/** Where the user is, by the settings of a web search. Undefined: they do not say it. */
export function userLocationIn(place: unknown): Settings['userLocation'] {
  if (!isObject(place)) return undefined
  const word = (key: string) => (typeof place[key] === 'string' ? place[key] : undefined)
  return omitUndefined({
    city: word('city'),
    country: word('country'),
    region: word('region'),
    timezone: word('timezone'),
  })
}

/** A known `search_context_size`. */
export const contextSizeIn = (size: unknown): Settings['contextSize'] =>
  size === 'low' || size === 'medium' || size === 'high' ? size : undefined
