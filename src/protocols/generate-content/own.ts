import type { ExtMap } from '../../canonical/message.ts'
import type { JsonObject } from '../../kit/json.ts'
import { createOwn, told } from '../../kit/own.ts'
import { name } from './vocabulary.ts'

export { nulls, under } from '../../kit/own.ts'
export const { ownForm, ownKeys, ownUnder, wireOf } = createOwn(name)

const { keep: keepTold } = createOwn(name)

/** What is unknown of a node stands in several objects here: nulls are told apart when it is gathered. */
export function keep(fields: JsonObject, nothing: JsonObject, form?: JsonObject): { ext?: ExtMap } {
  const unknown = told(fields)
  return keepTold(unknown.told, { ...nothing, ...unknown.nothing }, form)
}
