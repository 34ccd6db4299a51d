import type { SchemaDialect } from '../../protocol.ts'
import { isObject, type JsonObject, merge, setOwn, without } from '../json/json.ts'
import { mapSchemas } from './schema-subset.ts'

/**
 * How much longer a schema may become: definitions that use each other can be resolved nearly
 * endlessly, and a long one can be named often.
 */
const growth = 10
/** In letters of JSON: so much may be written in place of references in any schema. */
const least = 10_000

/**
 * The schema for servers that take a reference only into `$defs`, and nothing next to it, or none at
 * all: any other is replaced by what it names. The same object if nothing changed. `isLess`: a reference names
 * nothing or itself, so that any value is allowed there, or words next to it are lost.
 */
export function resolveReferences(
  root: JsonObject,
  kept: NonNullable<SchemaDialect['references']>,
): { schema: JsonObject; isLess: boolean } {
  let isLess = false
  let left: number | undefined
  const resolve = (schema: JsonObject, open: readonly string[], depth: number): JsonObject =>
    mapSchemas(
      schema,
      (one, at) => (Object.hasOwn(one, '$ref') ? inPlace(one, open, at) : one),
      depth,
    )
  const inPlace = (schema: JsonObject, open: readonly string[], depth: number): JsonObject => {
    const { $ref, ...beside } = schema
    const name = String($ref)
    const found = schemaAt(root, name)
    const isDefined = kept === 'bare' && found !== undefined && /^#\/\$defs\/[^/]+$/.test(name)
    const isBare = Object.keys(beside).length === 0
    if (isDefined && isBare) return schema
    left ??= least + growth * JSON.stringify(root).length
    if (found === undefined || open.includes(name) || left <= 0) {
      isLess = true
      return isDefined ? { $ref } : beside
    }
    left -= JSON.stringify(found).length
    const named = resolve(found, [...open, name], depth + 1)
    if (isBare) return named
    // It is a reference itself, which takes nothing next to it either.
    if (Object.hasOwn(named, '$ref'))
      return inPlace({ ...beside, $ref: named['$ref'] }, [...open, name], depth + 1)
    return both(named, beside)
  }
  const resolved = resolve(root, ['#'], 0)
  // Nothing refers to them any more.
  const unused = kept === 'none' ? ['$defs', 'definitions'] : ['definitions']
  const schema =
    resolved !== root && unused.some(key => isObject(root[key]))
      ? without(resolved, unused)
      : resolved
  return { schema, isLess }
}

/**
 * The schema with all that its references name: definitions that stand deeper in it become those of
 * the whole, as programs put schemas with definitions into others. A reference to nothing allows
 * any value, which is `isLess`. The same object if each finds its schema.
 */
export function withDefinitions(root: JsonObject): { schema: JsonObject; isLess: boolean } {
  let isLess = false
  let nested: Map<string, JsonObject> | undefined
  const added = new Map<string, JsonObject>()
  const settled = (schema: JsonObject): JsonObject =>
    mapSchemas(schema, one => {
      const { $ref, ...beside } = one
      if (typeof $ref !== 'string' || schemaAt(root, $ref)) return one
      const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec($ref)?.[1]
      nested ??= definitionsIn(root)
      const found = name === undefined ? undefined : nested.get(keyOfPointer(name))
      if (name === undefined || !found) {
        isLess = true
        return beside
      }
      added.set(keyOfPointer(name), found)
      return { ...beside, $ref: `#/$defs/${name}` }
    })
  const schema = settled(root)
  if (added.size === 0) return { schema, isLess }
  const definitions: JsonObject = isObject(schema['$defs']) ? { ...schema['$defs'] } : {}
  // One may lead to further ones, which are added while this reads the map.
  for (const [name, found] of added) setOwn(definitions, name, settled(found))
  return { schema: { ...schema, $defs: definitions }, isLess }
}

/** The definitions anywhere in the schema, the first of each name. */
function definitionsIn(root: JsonObject): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>()
  mapSchemas(root, one => {
    for (const key of ['$defs', 'definitions']) {
      const list = one[key]
      if (!isObject(list)) continue
      for (const name in list) {
        const schema = list[name]
        if (isObject(schema) && !found.has(name)) found.set(name, schema)
      }
    }
    return one
  })
  return found
}

/** What a schema says next to a reference holds together with what the reference says. */
function both(named: JsonObject, beside: JsonObject): JsonObject {
  const lists = [named['required'], beside['required']].filter(Array.isArray)
  const words = [beside['description'], named['description']].filter(
    (one, i, all) => typeof one === 'string' && one !== '' && all.indexOf(one) === i,
  )
  return {
    ...merge(named, beside),
    ...(lists.length > 0 && { required: [...new Set(lists.flat())] }),
    ...(words.length > 0 && { description: words.join(' ') }),
  }
}

/**
 * `pointer`: a JSON pointer in a fragment of a URI, or the name of an anchor. Undefined: it names
 * no schema.
 */
export function schemaAt(root: JsonObject, pointer: string): JsonObject | undefined {
  const [start = '', ...keys] = pointer.split('/')
  if (start !== '#') return start.startsWith('#') ? anchoredIn(root, start.slice(1)) : undefined
  let found: unknown = root
  for (const key of keys) {
    const name = keyOfPointer(key)
    const isThere = typeof found === 'object' && found !== null && Object.hasOwn(found, name)
    found = isThere ? (found as JsonObject)[name] : undefined
  }
  return isObject(found) ? found : undefined
}

/** By schema: its anchors, which many references may name. */
const anchors = new WeakMap<JsonObject, Map<unknown, JsonObject>>()

function anchoredIn(root: JsonObject, name: string): JsonObject | undefined {
  let known = anchors.get(root)
  if (!known) {
    const found = new Map<unknown, JsonObject>()
    mapSchemas(root, one => {
      if (!found.has(one['$anchor'])) found.set(one['$anchor'], one)
      return one
    })
    anchors.set(root, found)
    known = found
  }
  return known.get(name)
}

/** The key that a step of a pointer in a URI names. */
export function keyOfPointer(key: string): string {
  try {
    return unescaped(decodeURIComponent(key))
  } catch {
    return unescaped(key)
  }
}

const unescaped = (key: string) => key.replaceAll('~1', '/').replaceAll('~0', '~')

/**
 * The schema with a definition for each schema that a reference names by its place, as
 * `#/properties/a`. The same object if there is none.
 */
export function withPlacesDefined(root: JsonObject): JsonObject {
  const places = new Map<string, JsonObject>()
  const defined = isObject(root['$defs']) ? root['$defs'] : {}
  const nameOf = (place: string) => {
    const name = place.replace(/[^\w.-]+/g, '_')
    return Object.hasOwn(defined, name) ? `${name}_place` : name
  }
  const rewritten = (schema: JsonObject) =>
    mapSchemas(schema, one => {
      const { $ref } = one
      if (typeof $ref !== 'string' || !/^#\/(?!(?:\$defs|definitions)\/[^/]+$)/.test($ref))
        return one
      const found = schemaAt(root, $ref)
      if (!found) return one
      places.set($ref, found)
      return { ...one, $ref: `#/$defs/${nameOf($ref)}` }
    })
  const whole = rewritten(root)
  if (places.size === 0) return root
  const definitions: JsonObject = { ...(isObject(whole['$defs']) ? whole['$defs'] : {}) }
  // A place may lead to further ones, which are added while this reads the map.
  for (const [place, schema] of places) setOwn(definitions, nameOf(place), rewritten(schema))
  return { ...whole, $defs: definitions }
}
