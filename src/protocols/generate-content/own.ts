import type { ExtMap } from '../../canonical/message.ts'
import type { JsonObject } from '../../kit/json.ts'
import { createOwn, splitNulls } from '../../kit/own.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'generate-content'

export { nulls, splitNulls, under } from '../../kit/own.ts'

const own = createOwn(protocolName)
export const { ownForm, ownKeys, ownUnder } = own

/** Keeps unknown `fields` and empty values (`nothing`). `fields` is gathered from several objects here, so its nulls are moved only now. */
export function keep(fields: JsonObject, nothing: JsonObject, form?: JsonObject): { ext?: ExtMap } {
  const unknown = splitNulls(fields)
  return own.keep(unknown.present, { ...nothing, ...unknown.nothing }, form)
}

/** The empty strings among these: they mean absence, as null does, and are kept in the same way. */
export function emptyTexts(texts: JsonObject): JsonObject {
  const empty: JsonObject = {}
  for (const key in texts) if (texts[key] === '') empty[key] = ''
  return empty
}
