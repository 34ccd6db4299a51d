import type { ExtMap } from '../../canonical/message.ts'
import { omitNullish } from '../../kit/fields/omit.ts'
import { createOwn } from '../../kit/fields/own.ts'
import { isObject, type JsonObject, setOwn } from '../../kit/json/json.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'generate-content'

/** The path of its main endpoint. */
export const path = '/v1beta/models/{model}:generateContent'

export const { ownOf: ownFields, ownUnder: ownObject } = createOwn(protocolName)

/** `ext` for the unknown keys of a node, where null means absence. Undefined: there are none. */
export function extOf(fields: JsonObject | undefined): ExtMap | undefined {
  if (!fields) return undefined
  const known = omitNullish(fields)
  for (const _ in known) return { [protocolName]: { fields: known } }
  return undefined
}

/**
 * What is written anew, with what was left of the original: objects are joined by key, lists of the
 * same length by index. `lost`: another list is left out.
 */
export function withLeft(left: unknown, written: unknown, lost: () => void): unknown {
  if (Array.isArray(left) && Array.isArray(written)) {
    if (left.length === written.length)
      return written.map((one: unknown, index) => withLeft(left[index], one, lost))
    lost()
    return written
  }
  if (!isObject(left) || !isObject(written)) return written ?? left
  const both = { ...left }
  for (const key in written) setOwn(both, key, withLeft(left[key], written[key], lost))
  return both
}

/** `{ key: value }`, or `{}` if the value has no keys. */
export function under(key: string, value: JsonObject | null | undefined): JsonObject {
  for (const _ in value) return { [key]: value }
  return {}
}
