import type { ExtMap } from '../../canonical/message.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { createOwn } from '../../kit/fields/own.ts'
import { isObject, type JsonObject, setOwn } from '../../kit/json/json.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'chat-completions'

/** The path of its main endpoint. */
export const path = '/v1/chat/completions'

export { withInner } from '../../kit/fields/own.ts'
export const { keep, ownOf } = createOwn(protocolName)

/** A wire object: the unknown keys, overridden by the known ones. */
export function wireOf<T extends object>(known: NoInfer<T>, ext: ExtMap | undefined): T {
  const fields = ownOf(ext)
  // Only keys without a value are left out, which are optional ones.
  return fields ? withUnknown<T>(known, fields) : (omitUndefined(known) as T)
}

/**
 * The known keys over the unknown ones, at all levels. A list of unknown keys belongs to a list of
 * as many entries.
 */
export function withUnknown<T extends object>(known: NoInfer<T>, unknown: JsonObject): T {
  const wire = { ...unknown }
  for (const key in known) {
    const value = known[key]
    if (value !== undefined)
      setOwn(wire, key, over(Object.hasOwn(unknown, key) ? unknown[key] : undefined, value))
  }
  // All known keys are in it.
  return wire as T
}

function over(unknown: unknown, value: unknown): unknown {
  if (isObject(unknown) && isObject(value)) return withUnknown<JsonObject>(value, unknown)
  if (!Array.isArray(unknown) || !Array.isArray(value) || unknown.length !== value.length)
    return value
  return value.map((one, i) => over(unknown[i], one))
}
