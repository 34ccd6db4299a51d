import { isObject, type JsonObject, setOwn } from '../json/json.ts'

/** Keywords whose value is an object of schemas. */
const maps = new Set(['properties', '$defs', 'definitions'])
const lists = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])

/**
 * Deeper levels stay as they are, because the recursion is limited by the stack. No server takes a
 * schema as deep as this.
 */
const deepest = 500

/**
 * The schema with each of its schemas replaced, inner ones first; the same object if nothing
 * changed.
 */
export function mapSchemas(
  schema: JsonObject,
  change: (schema: JsonObject) => JsonObject,
  depth = 0,
): JsonObject {
  if (depth > deepest) return schema
  const mapOne = (value: unknown): unknown =>
    isObject(value) ? mapSchemas(value, change, depth + 1) : value
  return change(mapValues(schema, (value, key) => mapIn(key, value, mapOne)))
}

/** The object with each value replaced; the same object, without a copy, if nothing changed. */
function mapValues(
  object: JsonObject,
  change: (value: unknown, key: string) => unknown,
): JsonObject {
  let mapped: JsonObject | undefined
  for (const key in object) {
    const now = change(object[key], key)
    if (now === object[key]) continue
    mapped ??= { ...object }
    setOwn(mapped, key, now)
  }
  return mapped ?? object
}

function mapIn(key: string, value: unknown, mapOne: (value: unknown) => unknown): unknown {
  if (maps.has(key) && isObject(value)) return mapValues(value, mapOne)
  if (lists.has(key) && Array.isArray(value)) {
    const mapped = value.map(mapOne)
    return mapped.some((one, i) => one !== value[i]) ? mapped : value
  }
  return key === 'items' ? mapOne(value) : value
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
    const { description, ...kept } = Object.fromEntries(
      Object.entries(one).filter(([key, value]) => !isRefused(key, value)),
    )
    const dropped: string[] = []
    for (const [key, value] of moved) {
      const instead = refused[key]
      if (typeof instead === 'string' && !Object.hasOwn(one, instead)) kept[instead] = value
      else dropped.push(`${key}: ${JSON.stringify(value)}`)
    }
    const more = dropped.length > 0 ? [`(${dropped.join(', ')})`] : []
    const words = [
      ...(typeof description === 'string' && description ? [description] : []),
      ...more,
    ]
    return { ...kept, ...(words.length > 0 && { description: words.join(' ') }) }
  })
}
