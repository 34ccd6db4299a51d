import type { ExtMap } from '../../canonical/message.ts'
import type { JsonObject } from '../../kit/json.ts'
import { createOwn, told } from '../../kit/own.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'generate-content'

export { nulls, told, under } from '../../kit/own.ts'

const own = createOwn(protocolName)
export const { ownForm, ownKeys, ownUnder } = own

/** What is unknown of a node stands in several objects here: nulls are told apart when it is gathered. */
export function keep(fields: JsonObject, nothing: JsonObject, form?: JsonObject): { ext?: ExtMap } {
  const unknown = told(fields)
  return own.keep(unknown.told, { ...nothing, ...unknown.nothing }, form)
}

/** The texts that are empty: they say as little as a null, and are kept as one is. */
export function emptyTexts(texts: JsonObject): JsonObject {
  const empty: JsonObject = {}
  for (const key in texts) if (texts[key] === '') empty[key] = ''
  return empty
}
