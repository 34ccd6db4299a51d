import type { JsonSchema } from '../../../canonical/tool.ts'
import { withDigitsOf } from '../../../kit/json/digits.ts'
import { isObject, type JsonObject, setOwn } from '../../../kit/json/json.ts'

/** The schema dialect of this protocol: types in upper case, `nullable`, and counts as strings. */

const types = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'])
const counts = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])
/** Keys that hold a map whose values are schemas. */
const maps = new Set(['properties', 'defs', '$defs', 'definitions', 'patternProperties'])
const lists = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const inner = new Set(['items', 'additionalProperties', 'not'])

/** Schema of this protocol → JSON Schema. What is JSON Schema already stays as it is. */
export function decodeSchema(schema: JsonObject): JsonSchema {
  const written: JsonObject = withDigitsOf({}, schema)
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'nullable' && typeof value === 'boolean') continue
    // Redundant next to the list in `enum`.
    if (key === 'format' && value === 'enum') continue
    if (key === 'type' && value === 'TYPE_UNSPECIFIED') continue
    setOwn(written, key, decodeValue(key, value))
  }
  if (isObject(written['properties']) && Array.isArray(schema['propertyOrdering'])) {
    // In other protocols the order is that of the keys.
    written['properties'] = ordered(written['properties'], schema['propertyOrdering'])
    delete written['propertyOrdering']
  }
  if (schema['nullable'] !== true) return written
  const { type, anyOf, enum: words } = written
  if (Array.isArray(words) && !words.includes(null)) written['enum'] = [...words, null]
  if (typeof type === 'string') written['type'] = type === 'null' ? type : [type, 'null']
  else if (Array.isArray(anyOf)) written['anyOf'] = [...anyOf, { type: 'null' }]
  return written
}

function decodeValue(key: string, value: unknown): unknown {
  if (key === 'type') return Array.isArray(value) ? value.map(typeOf) : typeOf(value)
  if (counts.has(key))
    return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (maps.has(key) && isObject(value)) return mapped(value)
  if (lists.has(key) && Array.isArray(value))
    return value.map(one => (isObject(one) ? decodeSchema(one) : (one as unknown)))
  return inner.has(key) && isObject(value) ? decodeSchema(value) : value
}

function mapped(schemas: JsonObject): JsonObject {
  const written: JsonObject = {}
  for (const [key, schema] of Object.entries(schemas))
    setOwn(written, key, isObject(schema) ? decodeSchema(schema) : schema)
  return written
}

function ordered(properties: JsonObject, order: readonly unknown[]): JsonObject {
  const place = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length)
  const written: JsonObject = {}
  for (const [key, schema] of Object.entries(properties).sort(
    ([one], [other]) => place(one) - place(other),
  ))
    setOwn(written, key, schema)
  return written
}

const typeOf = (word: unknown): unknown =>
  typeof word === 'string' && types.has(word) ? word.toLowerCase() : word
