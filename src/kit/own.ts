import type { Ext, ExtMap } from '../canonical/message.ts'
import { defined } from './defined.ts'
import { isObject, type JsonObject, merge, setOwn } from './json.ts'

/** An object on a wire where null means the same as absence, without its nulls. */
export type Present<T> = { [K in keyof T]: Exclude<T[K], null> }

/** Splits an object into its keys that are not null (`present`) and those that are (`nothing`). */
export function splitNulls<T extends object>(wire: T): { present: Present<T>; nothing: JsonObject } {
  const nothing = nulls(wire)
  if (!hasKeys(nothing)) return { present: wire as Present<T>, nothing }
  const present: JsonObject = {}
  for (const key in wire) if (wire[key] !== null) setOwn(present, key, wire[key])
  return { present: present as Present<T>, nothing }
}

/** The keys whose value is null. */
export function nulls(wire: object): JsonObject {
  const kept: JsonObject = {}
  for (const key in wire) if (wire[key as never] === null) setOwn(kept, key, null)
  return kept
}

/** `{ key: value }`, or `{}` if the value has no keys. */
export function under(key: string, value: JsonObject | null | undefined): JsonObject {
  return value && hasKeys(value) ? { [key]: value } : {}
}

function hasKeys(object: JsonObject): boolean {
  for (const _ in object) return true
  return false
}

/**
 * Access to what a node keeps in `ext` for one protocol, so that the same protocol writes it back unchanged. `fields`: unknown keys.
 * `form`: which of several equivalent spellings was used. Two of its keys are read here: `nothing`, known keys with an empty value (null,
 * an empty string or list, an object of such keys), as they were; `absent`, keys that are written even when they are empty, but were
 * absent.
 */
export function createOwn(protocol: string) {
  /** `ext` for a node that was read. With a `form`, even an empty one, the node always gets an `ext`, which marks it as read from this protocol. */
  function keep(fields: JsonObject, nothing: JsonObject, form?: JsonObject): { ext?: ExtMap } {
    const formEntries = form && defined(form)
    const spelled = hasKeys(nothing) ? { nothing, ...formEntries } : formEntries
    const hasFields = hasKeys(fields)
    if (!spelled && !hasFields) return {}
    // A computed key in a literal is slow in V8 when its value varies.
    const ext: ExtMap = {}
    ext[protocol] = !spelled ? { fields } : hasFields ? { fields, form: spelled } : { form: spelled }
    return { ext }
  }

  /** What this protocol kept of a node. Undefined: nothing, or the node was read from another protocol. */
  const ownOf = (ext: ExtMap | undefined): Ext | undefined => ext?.[protocol]

  const ownForm = (ext: ExtMap | undefined): JsonObject | undefined => ext?.[protocol]?.form

  /** All kept keys, for merging with the known ones. */
  function ownKeys(ext: ExtMap | undefined): JsonObject {
    const { fields = {}, form } = ext?.[protocol] ?? {}
    const nothing = form?.['nothing']
    return isObject(nothing) ? merge(nothing, fields) : { ...fields }
  }

  /** The kept keys of a nested object, by its key in the node. Undefined: none. */
  function ownUnder(ext: ExtMap | undefined, key: string): JsonObject | undefined {
    const kept = ext?.[protocol] && ownKeys(ext)[key]
    return isObject(kept) ? kept : undefined
  }

  /** A wire object: the kept keys, overridden by the known ones. Empty values are spelled as they were. */
  function wireOf<T extends JsonObject>(known: T, ext: ExtMap | undefined): T & JsonObject {
    const { fields, form } = ext?.[protocol] ?? {}
    const { nothing, absent } = form ?? {}
    // Always so for nodes of other protocols.
    if (!fields && !nothing && !absent) return defined(known) as T
    const wire = merge(ownKeys(ext), known)
    if (isObject(nothing)) for (const key in nothing) if (isEmpty(wire[key])) setOwn(wire, key, nothing[key])
    if (Array.isArray(absent)) for (const key of absent) if (isEmpty(wire[key])) delete wire[key]
    return wire as T & JsonObject
  }

  return { keep, ownOf, ownForm, ownKeys, ownUnder, wireOf }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}
