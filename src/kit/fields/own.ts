import type { ExtMap } from '../../canonical/message.ts'
import { isObject, type JsonObject, merge } from '../json/json.ts'
import { omitUndefined } from './omit.ts'

/** Access to the unknown keys that the nodes of one protocol keep in `ext`. */
export function createOwn(protocol: string) {
  /** Keeps unknown keys in the node. Changes the node. */
  function keep<T extends object>(node: T & { ext?: ExtMap }, fields: JsonObject | undefined): T {
    if (!fields) return node
    // A computed key in a literal is slow in V8 when its value varies.
    node.ext = {}
    node.ext[protocol] = { fields }
    return node
  }

  /** The unknown keys of a node that was read from this protocol. */
  const ownOf = (ext: ExtMap | undefined): JsonObject | undefined => ext?.[protocol]?.fields

  /** Those of an object inside the node, by its key. */
  function ownUnder(ext: ExtMap | undefined, key: string): JsonObject | undefined {
    const inner = ownOf(ext)?.[key]
    return isObject(inner) ? inner : undefined
  }

  /** A wire object: the unknown keys, overridden by the known ones. */
  function wireOf<T extends object>(known: NoInfer<T>, ext: ExtMap | undefined): T {
    const fields = ownOf(ext)
    // Only keys without a value are left out, which are optional ones.
    return fields ? merge<T>(fields, known) : (omitUndefined(known) as T)
  }

  return { keep, ownOf, ownUnder, wireOf }
}

/** The fields with those of an object under a key. Undefined: none. */
export function withInner(
  fields: JsonObject | undefined,
  key: string,
  inner: object | undefined,
): JsonObject | undefined {
  return inner ? { ...fields, [key]: inner } : fields
}
