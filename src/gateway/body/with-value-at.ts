import { isObject, type JsonObject, setOwn } from '../../kit/json/json.ts'

/** A copy with this value at these keys; an existing value stays unless `isForced`. */
export function withValueAt(
  body: unknown,
  [key = '', ...rest]: readonly string[],
  value: unknown,
  isForced: boolean,
): unknown {
  const object: JsonObject = isObject(body) ? body : {}
  const present = Object.hasOwn(object, key) ? object[key] : undefined
  const isLeaf = rest.length === 0
  if (!isForced && present !== undefined && (isLeaf || !isObject(present))) return body
  const next = isLeaf ? value : withValueAt(present, rest, value, isForced)
  if (next === present) return body
  const copy = { ...object }
  setOwn(copy, key, next)
  return copy
}
