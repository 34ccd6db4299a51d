import { isObject, type JsonObject, without } from '../json/json.ts'
import { mapSchemas } from './schema-subset.ts'
import { foldRoot } from './tool-schema.ts'

/**
 * The schema of a function's parameters as servers with a small subset of JSON Schema take it: a
 * plain object at the root, no `$schema`, no lists under `items`, no type next to a union. The
 * description contains what is left out. The same object if nothing changed.
 */
export function plainSchema(schema: JsonObject): JsonObject {
  const inner = mapSchemas(schema, one => {
    let plain = one
    if (Array.isArray(plain['items']))
      plain = { ...without(plain, ['items']), prefixItems: plain['items'] }
    if (
      Array.isArray(plain['anyOf']) &&
      'type' in plain &&
      plain['anyOf'].every(
        option => isObject(option) && ('type' in option || '$ref' in option || 'anyOf' in option),
      )
    )
      plain = without(plain, ['type'])
    return plain
  })
  const rooted = '$schema' in inner ? without(inner, ['$schema']) : inner
  return foldRoot(rooted)
}
