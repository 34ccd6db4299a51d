import type { ExtMap } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { isObject, type JsonObject, merge } from '../../kit/json.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'messages'

/** Keeps unknown keys in the node. Changes the node. */
export function keep<T extends object>(node: T, fields: JsonObject | undefined): T {
  if (!fields) return node
  const kept: { ext?: ExtMap } = node
  kept.ext = {}
  kept.ext[protocolName] = { fields }
  return node
}

/** The unknown keys of a node that was read from this protocol. */
export const ownOf = (ext: ExtMap | undefined): JsonObject | undefined => ext?.[protocolName]?.fields

/** Those of an object inside of the node, by its key. */
export function ownUnder(ext: ExtMap | undefined, key: string): JsonObject | undefined {
  const inner = ownOf(ext)?.[key]
  return isObject(inner) ? inner : undefined
}

/** The fields with those of an object under a key. Undefined: none. */
export function withInner(fields: JsonObject | undefined, key: string, inner: JsonObject | undefined): JsonObject | undefined {
  return inner ? { ...fields, [key]: inner } : fields
}

/** A wire object: the unknown keys, overridden by the known ones. */
export function wireOf<T extends JsonObject>(known: T, ext: ExtMap | undefined): T & JsonObject {
  const fields = ownOf(ext)
  return (fields ? merge(fields, known) : defined(known)) as T & JsonObject
}
