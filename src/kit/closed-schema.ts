import { isObject, type JsonObject, setOwn } from './json.ts'

/** Keywords whose value is an object of schemas. */
const maps = new Set(['properties', '$defs', 'definitions'])
const lists = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])

/** Deeper levels stay as they are, because the recursion is limited by the stack. No server takes a schema as deep as this. */
const deepest = 500

/**
 * The schema with `additionalProperties: false` added to all objects that do not have the keyword; the same object if nothing changed.
 * Objects without `properties` stay as they are: they are meant to take any keys.
 */
export function closeObjects(schema: JsonObject, depth = 0): JsonObject {
  if (depth > deepest) return schema
  const closed: JsonObject = {}
  let changed = false
  for (const [key, value] of Object.entries(schema)) {
    const now = closeIn(key, value, depth + 1)
    changed ||= now !== value
    setOwn(closed, key, now)
  }
  if (isObject(schema['properties']) && schema['additionalProperties'] === undefined) return { ...closed, additionalProperties: false }
  return changed ? closed : schema
}

function closeIn(key: string, value: unknown, depth: number): unknown {
  if (maps.has(key) && isObject(value)) return closeAll(value, depth)
  if (lists.has(key) && Array.isArray(value)) {
    const closed = value.map(one => closeOne(one, depth))
    return closed.some((one, i) => one !== value[i]) ? closed : value
  }
  return key === 'items' ? closeOne(value, depth) : value
}

function closeAll(schemas: JsonObject, depth: number): JsonObject {
  const closed: JsonObject = {}
  for (const [key, value] of Object.entries(schemas)) setOwn(closed, key, closeOne(value, depth))
  return Object.keys(schemas).some(key => closed[key] !== schemas[key]) ? closed : schemas
}

const closeOne = (value: unknown, depth: number): unknown => (isObject(value) ? closeObjects(value, depth) : value)
