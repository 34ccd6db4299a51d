import type { Ext, ExtMap } from '../../canonical/message.ts'
import { defined, some } from '../../kit/defined.ts'
import { isObject, type JsonObject, setOwn } from '../../kit/json.ts'

export const protocolName = 'chat-completions'

/** On this wire null stands for absence wherever it is allowed; which keys held one is only a matter of spelling. */
export type Told<T> = { [K in keyof T]: Exclude<T[K], null> }

/** The object without its nulls, and the keys that held one. */
export function told<T extends object>(wire: T): { told: Told<T>; nulls: string[] } {
  const nulls: string[] = []
  for (const key in wire) if (wire[key] === null) nulls.push(key)
  if (nulls.length === 0) return { told: wire as Told<T>, nulls }
  return { told: Object.fromEntries(Object.entries(wire).filter(([, value]) => value !== null)) as Told<T>, nulls }
}

/** `ext` of a node made from this wire: keys nobody modelled, and how the known ones were spelled. */
export function kept(fields: JsonObject, form: JsonObject): { ext?: ExtMap } {
  const spelling = some(form)
  const hasFields = Object.keys(fields).length > 0
  if (spelling) return { ext: { [protocolName]: hasFields ? { fields, form: spelling } : { form: spelling } } }
  return hasFields ? { ext: { [protocolName]: { fields } } } : {}
}

/** What this protocol kept on a node; undefined when the node comes from elsewhere, or had nothing to keep. */
export function own(ext: ExtMap | undefined): Ext | undefined {
  return ext && Object.hasOwn(ext, protocolName) ? ext[protocolName] : undefined
}

/** The spelling that this protocol kept on a node. */
export function formOf(ext: ExtMap | undefined): JsonObject {
  return own(ext)?.form ?? {}
}

/** A wire object: the known keys over the kept ones, undefined left out, kept nulls where nothing is said. */
export function spell(known: JsonObject, ext: ExtMap | undefined): JsonObject {
  const kept = own(ext)
  // Whatever another protocol told has nothing kept.
  if (!kept) return defined(known)
  const nulls = kept.form?.['nulls']
  const base = Array.isArray(nulls) ? Object.fromEntries(nulls.map(key => [String(key), null])) : {}
  return merge({ ...base, ...kept.fields }, known)
}

/** `over` wins; objects on both sides are merged. */
export function merge(under: JsonObject, over: JsonObject): JsonObject {
  const merged = { ...under }
  for (const key in over) {
    const value = over[key]
    if (value === undefined) continue
    const below = Object.hasOwn(merged, key) ? merged[key] : undefined
    setOwn(merged, key, isObject(below) && isObject(value) ? merge(below, value) : value)
  }
  return merged
}

/** Equal as JSON, key order aside; a key that holds undefined counts as absent. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]))
  if (!isObject(a) || !isObject(b)) return false
  for (const key of Object.keys(a)) if (a[key] !== undefined && !(Object.hasOwn(b, key) && same(a[key], b[key]))) return false
  for (const key of Object.keys(b)) if (b[key] !== undefined && !(Object.hasOwn(a, key) && a[key] !== undefined)) return false
  return true
}
