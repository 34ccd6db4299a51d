import { isObject, type JsonObject, setOwn } from '../json/json.ts'
import { mapSchemas } from './schema-subset.ts'

const typing = ['type', '$ref', 'anyOf', 'enum', 'const'] as const

/** All that JSON has. */
const anyValue = ['string', 'number', 'boolean', 'object', 'array', 'null'].map(type => ({ type }))

/**
 * The schema with a type in each of its schemas, for servers that require one. Where any value is
 * allowed the types are alternatives. The same object if nothing changed. `isLess`: other types
 * were allowed before.
 */
export function typed(given: JsonObject): { schema: JsonObject; isLess: boolean } {
  let isLess = false
  const schema = mapSchemas(given, given => {
    const one = withRequired(given)
    if (typing.some(key => one[key] !== undefined)) return one
    const type = typeOf(one)
    if (type === undefined) return { ...one, anyOf: anyValue }
    isLess = true
    return { type, ...one }
  })
  return { schema, isLess }
}

/** Each required property is among the properties. */
function withRequired(schema: JsonObject): JsonObject {
  const { required, properties } = schema
  if (!Array.isArray(required) || !isObject(properties)) return schema
  const missing = required.filter(name => !Object.hasOwn(properties, String(name)))
  if (missing.length === 0) return schema
  const all = { ...properties }
  for (const name of missing) setOwn(all, String(name), { anyOf: anyValue })
  return { ...schema, properties: all }
}

/** What the keywords of a schema are about. */
function typeOf(schema: JsonObject): string | undefined {
  if (isObject(schema['properties'])) return 'object'
  return schema['items'] === undefined ? undefined : 'array'
}
