import { isObject, type JsonObject, without } from '../json/json.ts'
import { mapSchemas } from './schema-subset.ts'

const unions = ['anyOf', 'oneOf', 'allOf'] as const

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
  const found = unions.filter(key => key in rooted)
  if (found.length === 0) return rooted
  const omitted = found.map(key => `${key}: ${JSON.stringify(rooted[key])}`).join(', ')
  const description = [rooted['description'], `(${omitted})`]
    .filter(text => typeof text === 'string' && text !== '')
    .join(' ')
  return {
    type: 'object',
    ...without(rooted, found),
    properties: { ...propertiesOf(rooted, found) },
    description,
  }
}

/** The properties of all alternatives, none of which is required. */
function propertiesOf(schema: JsonObject, found: readonly string[]): JsonObject {
  const all: JsonObject = isObject(schema['properties']) ? { ...schema['properties'] } : {}
  for (const key of found)
    for (const option of Array.isArray(schema[key]) ? schema[key] : [])
      if (isObject(option) && isObject(option['properties']))
        for (const [name, property] of Object.entries(option['properties']))
          if (!Object.hasOwn(all, name)) all[name] = property
  return all
}
