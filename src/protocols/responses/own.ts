import type { ExtMap } from '../../canonical/message.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { type JsonObject, merge } from '../../kit/json/json.ts'

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

/** The unknown keys that a node has from this protocol. */
export const fieldsOf = (ext: ExtMap | undefined): JsonObject | undefined =>
  ext?.[protocolName]?.fields

/** A wire object: the known keys, and those that were kept. */
export function wireOf<T extends object>(known: NoInfer<T>, ext: ExtMap | undefined): T {
  const fields = fieldsOf(ext)
  // Only keys without a value are left out, which are optional ones.
  return fields ? merge<T>(fields, known) : (omitUndefined(known) as T)
}
