import type { ExtMap } from '../../canonical/message.ts'
import { createOwn } from '../../kit/fields/own.ts'
import type { JsonObject } from '../../kit/json/json.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'responses'

/** The path of its main endpoint. */
export const path = '/v1/responses'

/** Keeps unknown keys in the node, which is not shared yet. */
export function keep<T extends { ext?: ExtMap }>(
  node: T,
  fields: JsonObject | undefined,
  more?: JsonObject,
): T {
  const kept = fields && more ? { ...fields, ...more } : (fields ?? more)
  if (kept) node.ext = { [protocolName]: { fields: kept } }
  return node
}

export const { ownOf: fieldsOf, wireOf } = createOwn(protocolName)
