import type { Ext, ExtMap } from '../canonical/message.ts'
import { defined } from './defined.ts'
import { isObject, type JsonObject, merge, setOwn } from './json.ts'

/** What was read of a wire where null stands for absence: which keys held one is only a matter of spelling. */
export type Told<T> = { [K in keyof T]: Exclude<T[K], null> }

/** The object without its nulls; `nothing`: these. */
export function told<T extends object>(wire: T): { told: Told<T>; nothing: JsonObject } {
  const nothing = nulls(wire)
  if (!hasKeys(nothing)) return { told: wire as Told<T>, nothing }
  const said: JsonObject = {}
  for (const key in wire) if (wire[key] !== null) setOwn(said, key, wire[key])
  return { told: said as Told<T>, nothing }
}

/** Those keys that are spelled out as `null`. */
export function nulls(wire: object): JsonObject {
  const kept: JsonObject = {}
  for (const key in wire) if (wire[key as never] === null) setOwn(kept, key, null)
  return kept
}

/** `{ key: value }`, or `{}` where the value holds nothing. */
export function under(key: string, value: JsonObject | null | undefined): JsonObject {
  return value && hasKeys(value) ? { [key]: value } : {}
}

function hasKeys(object: JsonObject): boolean {
  for (const _ in object) return true
  return false
}

/**
 * What a node keeps in `ext` for one protocol alone, so that it is written as it came. `fields`: keys that the model does not
 * know. `form`: which of several spellings was used. Two words of it are read here: `nothing`, known keys whose value says
 * nothing (null, an empty text or list, an object of such keys), as they were spelled; `absent`, keys that are written even
 * when they say nothing, and were left out.
 */
export function createOwn(protocol: string) {
  /** `ext` of a node that was read. With a `form`, be it empty, the node has one in any case, and is known as this protocol's own. */
  function keep(fields: JsonObject, nothing: JsonObject, form?: JsonObject): { ext?: ExtMap } {
    const told = form && defined(form)
    const spelled = hasKeys(nothing) ? { nothing, ...told } : told
    const hasFields = hasKeys(fields)
    if (!spelled && !hasFields) return {}
    // In a literal, a key of four names would be slow.
    const ext: ExtMap = {}
    ext[protocol] = !spelled ? { fields } : hasFields ? { fields, form: spelled } : { form: spelled }
    return { ext }
  }

  /** What this protocol kept of a node; undefined where the node comes from elsewhere, or had nothing to keep. */
  const ownOf = (ext: ExtMap | undefined): Ext | undefined => ext?.[protocol]

  const ownForm = (ext: ExtMap | undefined): JsonObject | undefined => ext?.[protocol]?.form

  /** All keys that are kept, to write under the known ones. */
  function ownKeys(ext: ExtMap | undefined): JsonObject {
    const { fields = {}, form } = ext?.[protocol] ?? {}
    const nothing = form?.['nothing']
    return isObject(nothing) ? merge(nothing, fields) : { ...fields }
  }

  /** What is kept of an object inside a node, under that object's key. Undefined: nothing. */
  function ownUnder(ext: ExtMap | undefined, key: string): JsonObject | undefined {
    const kept = ext?.[protocol] && ownKeys(ext)[key]
    return isObject(kept) ? kept : undefined
  }

  /** A wire object: the known keys over the kept ones. What says nothing is spelled as it was. */
  function wireOf<T extends JsonObject>(known: T, ext: ExtMap | undefined): T & JsonObject {
    const { fields, form } = ext?.[protocol] ?? {}
    const { nothing, absent } = form ?? {}
    // So it is with whatever another protocol told.
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
