import type { SchemaDialect } from '../../protocol.ts'
import { writeMember } from '../json/digits.ts'
import { isObject, type JsonObject, setOwn, without } from '../json/json.ts'
import { resolveReferences } from './schema-references.ts'
import { mapSchemas } from './schema-subset.ts'

/**
 * The schema as servers take it: an object with properties at the root, and items in each array.
 * The same object if nothing changed. `isLess`: a part of it is only in the description now.
 * `isOpen`: a reference became a schema that allows any value.
 */
export function toolSchema(
  schema: JsonObject,
  { plainRoot = false, newest = false, references }: SchemaDialect,
): { schema: JsonObject; isLess: boolean; isOpen: boolean } {
  const inner = mapSchemas(schema, one => withItems(newest ? inNewest(one) : one))
  const rooted = asObject(inner)
  const folded = plainRoot && rooted['type'] === 'object' ? foldRoot(rooted) : rooted
  const { schema: whole, isLess: isOpen } =
    references === 'bare' ? resolveReferences(folded) : { schema: folded, isLess: false }
  return { schema: whole, isLess: folded !== rooted, isOpen }
}

const hasType = ({ type }: JsonObject, word: string) =>
  type === word || (Array.isArray(type) && type.includes(word))

/** Some languages write an empty object as a list. */
function withItems(schema: JsonObject): JsonObject {
  const { properties } = schema
  const isEmptyList = Array.isArray(properties) && properties.length === 0
  const whole = isEmptyList ? { ...schema, properties: {} } : schema
  return hasType(whole, 'array') && whole['items'] === undefined && !('prefixItems' in whole)
    ? { ...whole, items: {} }
    : whole
}

const bounds = { exclusiveMinimum: 'minimum', exclusiveMaximum: 'maximum' } as const

/** Keywords of earlier drafts in the words of 2020-12. */
function inNewest(schema: JsonObject): JsonObject {
  let newer = schema
  for (const [exclusive, inclusive] of Object.entries(bounds)) {
    const { [exclusive]: flag, [inclusive]: bound } = newer
    if (typeof flag !== 'boolean') continue
    newer = without(newer, [exclusive])
    if (flag && typeof bound === 'number')
      newer = { ...without(newer, [inclusive]), [exclusive]: bound }
  }
  const { items, additionalItems } = newer
  if (!Array.isArray(items)) return newer
  return {
    ...without(newer, ['items', 'additionalItems']),
    prefixItems: items,
    ...(additionalItems !== undefined && { items: additionalItems }),
  }
}

/** Arguments are always an object, whatever else the schema allows, and wherever it is defined. */
function asObject(given: JsonObject): JsonObject {
  const named = definitionOf(given, given)
  const schema = named ? { ...named, ...without(given, ['$ref']) } : given
  const { type, properties } = schema
  const isNamed = type === 'object'
  if (!isNamed && type !== undefined && !hasType(schema, 'object')) return schema
  if (isNamed && properties != null) return schema
  // What is no list of properties stays: the server says what is wrong with it.
  return { ...schema, type: 'object', properties: properties ?? {} }
}

const unions = ['anyOf', 'oneOf', 'allOf'] as const
const combining = [...unions, 'not', 'enum'] as const

/**
 * The schema without combinations at its root: it has the properties of all branches, requires
 * what every branch requires, and has the combination in its description. The same object if there
 * is none.
 */
export function foldRoot(schema: JsonObject): JsonObject {
  const found = combining.filter(key => key in schema)
  if (found.length === 0) return schema
  const properties: JsonObject = isObject(schema['properties']) ? { ...schema['properties'] } : {}
  const required = new Set<unknown>(namesIn(schema))
  for (const key of unions) {
    const branches = branchesOf(schema, key)
    for (const branch of branches)
      for (const [name, property] of Object.entries(
        isObject(branch['properties']) ? branch['properties'] : {},
      ))
        if (!Object.hasOwn(properties, name)) setOwn(properties, name, property)
    for (const name of branches.flatMap(namesIn))
      if (key === 'allOf' || branches.every(branch => namesIn(branch).includes(name)))
        required.add(name)
  }
  const omitted = found.map(key => `${key}: ${writeMember(schema, key)}`).join(', ')
  const description = [schema['description'], `(${omitted})`]
    .filter(text => typeof text === 'string' && text !== '')
    .join(' ')
  return {
    ...without(schema, [...found]),
    type: 'object',
    properties,
    ...(required.size > 0 && { required: [...required] }),
    description,
  }
}

const namesIn = ({ required }: JsonObject): unknown[] => (Array.isArray(required) ? required : [])

/** The alternatives, also those that are defined elsewhere in the schema. */
function branchesOf(schema: JsonObject, key: (typeof unions)[number]): JsonObject[] {
  const list = schema[key]
  if (!Array.isArray(list)) return []
  return list.filter(isObject).map(branch => definitionOf(schema, branch) ?? branch)
}

function definitionOf(schema: JsonObject, { $ref }: JsonObject): JsonObject | undefined {
  if ($ref === undefined) return undefined
  const [, at, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String($ref)) ?? []
  const all = at === undefined ? undefined : schema[at]
  const found = isObject(all) && name !== undefined && Object.hasOwn(all, name) ? all[name] : {}
  return isObject(found) && Object.keys(found).length > 0 ? found : undefined
}
