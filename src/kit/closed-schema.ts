import { isObject, type JsonObject, setOwn } from './json.ts'

/** Each value of them is a schema. */
const maps = new Set(['properties', '$defs', 'definitions'])
const lists = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])

/**
 * The schema, whose objects all say that no keys beyond their properties may come; the same one, if they said so. What
 * says otherwise, or names no properties at all, means other keys and stays.
 */
export function closeObjects(schema: JsonObject): JsonObject {
  const closed: JsonObject = {}
  let changed = false
  for (const [key, value] of Object.entries(schema)) {
    const now = closeIn(key, value)
    changed ||= now !== value
    setOwn(closed, key, now)
  }
  if (isObject(schema['properties']) && schema['additionalProperties'] === undefined) return { ...closed, additionalProperties: false }
  return changed ? closed : schema
}

function closeIn(key: string, value: unknown): unknown {
  if (maps.has(key) && isObject(value)) return closeAll(value)
  if (lists.has(key) && Array.isArray(value)) {
    const closed = value.map(closeOne)
    return closed.some((one, i) => one !== value[i]) ? closed : value
  }
  return key === 'items' ? closeOne(value) : value
}

function closeAll(schemas: JsonObject): JsonObject {
  const closed: JsonObject = {}
  for (const [key, value] of Object.entries(schemas)) setOwn(closed, key, closeOne(value))
  return Object.keys(schemas).some(key => closed[key] !== schemas[key]) ? closed : schemas
}

const closeOne = (value: unknown): unknown => (isObject(value) ? closeObjects(value) : value)
