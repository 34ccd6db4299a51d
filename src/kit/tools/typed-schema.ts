import { isObject, type JsonObject } from '../json/json.ts'
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
  const schema = mapSchemas(given, one => {
    if (typing.some(key => one[key] !== undefined)) return one
    const type = typeOf(one)
    if (type === undefined) return { ...one, anyOf: anyValue }
    isLess = true
    return { type, ...one }
  })
  return { schema, isLess }
}

/** What the keywords of a schema are about. */
function typeOf(schema: JsonObject): string | undefined {
  if (isObject(schema['properties'])) return 'object'
  return schema['items'] === undefined ? undefined : 'array'
}
