import { withDigitsOf, writeMember } from '../json/digits.ts'
import { isObject, type JsonObject, setOwn } from '../json/json.ts'

type Holder = 'object' | 'list' | 'one'
/** Keywords that hold schemas: an object of them, a list, or one. `items` may also be a list. */
const holders = new Map<string, Holder>([
  ['properties', 'object'],
  ['$defs', 'object'],
  ['definitions', 'object'],
  ['patternProperties', 'object'],
  ['dependentSchemas', 'object'],
  ['dependencies', 'object'],
  ['anyOf', 'list'],
  ['oneOf', 'list'],
  ['allOf', 'list'],
  ['prefixItems', 'list'],
  ['items', 'one'],
  ['additionalItems', 'one'],
  ['additionalProperties', 'one'],
  ['contains', 'one'],
  ['propertyNames', 'one'],
  ['not', 'one'],
  ['if', 'one'],
  ['then', 'one'],
  ['else', 'one'],
  ['unevaluatedItems', 'one'],
  ['unevaluatedProperties', 'one'],
])

/**
 * Deeper levels stay as they are, because the recursion is limited by the stack. No server takes a
 * schema as deep as this.
 */
const deepest = 500

/**
 * The schema with each of its schemas replaced, inner ones first; the same object if nothing
 * changed. `depth`: of the schema in a larger one.
 */
export function mapSchemas(
  schema: JsonObject,
  change: (schema: JsonObject, depth: number) => JsonObject,
  depth = 0,
): JsonObject {
  if (depth > deepest) return schema
  const mapOne = (value: unknown): unknown =>
    isObject(value) ? mapSchemas(value, change, depth + 1) : value
  let mapped = schema
  for (const key in schema) {
    const value = schema[key]
    // Most values are words: they are passed by without a look at their key.
    const holder = typeof value === 'object' ? holders.get(key) : undefined
    if (holder) mapped = withKey(mapped, schema, key, mapHeld(holder, value, mapOne))
  }
  return change(mapped, depth)
}

/**
 * Does it hold for the schema and each of its schemas? Takes a fraction of the time of mapping them.
 */
export function everySchema(
  schema: JsonObject,
  holds: (schema: JsonObject) => boolean,
  depth = 0,
): boolean {
  if (depth > deepest) return true
  for (const key in schema) {
    const value = schema[key]
    // Most values are words, and most lists are of words.
    if (typeof value !== 'object' || value === null || wordLists.has(key)) continue
    const holder = holders.get(key)
    if (!holder || (holder === 'list' && !Array.isArray(value))) continue
    if (holder === 'one' && !Array.isArray(value)) {
      if (!everySchema(value as JsonObject, holds, depth + 1)) return false
      continue
    }
    const held = value as JsonObject
    for (const name in held) {
      const inner = held[name]
      if (isObject(inner) && !everySchema(inner, holds, depth + 1)) return false
    }
  }
  return holds(schema)
}

const wordLists = new Set(['required', 'enum', 'type'])

function mapHeld(holder: Holder, value: unknown, mapOne: (value: unknown) => unknown): unknown {
  if (holder !== 'object' && Array.isArray(value)) {
    const mapped = value.map(mapOne)
    return mapped.some((one, i) => one !== value[i]) ? mapped : value
  }
  if (holder === 'one') return mapOne(value)
  if (holder === 'list' || !isObject(value)) return value
  let mapped = value
  for (const key in value) mapped = withKey(mapped, value, key, mapOne(value[key]))
  return mapped
}

/** `mapped`: the same object as `given` until something changes. */
function withKey(mapped: JsonObject, given: JsonObject, key: string, value: unknown): JsonObject {
  if (value === given[key]) return mapped
  const copy = mapped === given ? { ...given } : mapped
  setOwn(copy, key, value)
  return copy
}

const isObjectSchema = ({ type, properties }: JsonObject) =>
  type === 'object' || (Array.isArray(type) && type.includes('object')) || isObject(properties)

/**
 * The schema with `additionalProperties: false` in all of its objects, also those that say
 * otherwise; the same object if nothing changed.
 */
export const closeObjects = (schema: JsonObject): JsonObject =>
  mapSchemas(schema, one =>
    isObjectSchema(one) && one['additionalProperties'] !== false
      ? { ...one, additionalProperties: false }
      : one,
  )

/**
 * Which keywords a server refuses where it enforces a schema: all values of them, those for which
 * the function is true, or all, with the keyword to write instead.
 */
export type SchemaSubset = Readonly<Record<string, true | string | ((value: unknown) => boolean)>>

/**
 * The schema without refused keywords; the same object if there are none. They become the keyword
 * that replaces them, or move into the description next to them, where the model reads them.
 */
export function fitSchema(schema: JsonObject, refused: SchemaSubset): JsonObject {
  const isRefused = (key: string, value: unknown) => {
    const rule = Object.hasOwn(refused, key) ? refused[key] : undefined
    return typeof rule === 'function' ? rule(value) : rule !== undefined
  }
  return mapSchemas(schema, one => {
    const moved = Object.entries(one).filter(([key, value]) => isRefused(key, value))
    if (moved.length === 0) return one
    const left = Object.entries(one).filter(([key, value]) => !isRefused(key, value))
    const { description, ...kept } = withDigitsOf(Object.fromEntries(left), one)
    const dropped: string[] = []
    for (const [key, value] of moved) {
      const instead = refused[key]
      if (typeof instead === 'string' && !Object.hasOwn(one, instead)) kept[instead] = value
      else dropped.push(`${key}: ${writeMember(one, key)}`)
    }
    const more = dropped.length > 0 ? [`(${dropped.join(', ')})`] : []
    const words = [
      ...(typeof description === 'string' && description ? [description] : []),
      ...more,
    ]
    return { ...kept, ...(words.length > 0 && { description: words.join(' ') }) }
  })
}
