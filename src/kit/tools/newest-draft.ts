import { isObject, type JsonObject, setOwn, without } from '../json/json.ts'
import { validValue } from './keyword-values.ts'

const bounds = { exclusiveMinimum: 'minimum', exclusiveMaximum: 'maximum' } as const
const types = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])
/** Keywords that a program may write without a value. */
const nullable = new Set(['const', 'default', 'examples', 'enum'])

type Newest = { schema: JsonObject; isLess: boolean }

/**
 * One schema in the words of the 2020-12 draft, of whatever draft it is. `isLess`: it contains
 * something that no draft has, which is left out. `isIncomplete`: arrays need no items. The same
 * object if nothing changed.
 */
export function inNewest(given: JsonObject, isIncomplete = false): Newest {
  let isLess = false
  let schema = given
  for (const key in given) {
    const value = given[key]
    if (value === null && !nullable.has(key)) schema = without(schema, [key])
    if (value === null) continue
    const valid = validValue(key, value)
    if (valid !== value) {
      isLess = true
      schema = valid === undefined ? without(schema, [key]) : withValue(schema, key, valid)
      if (valid === undefined) continue
    }
    const edit = edits.get(key)
    if (!edit) continue
    const next = edit(schema)
    schema = next.schema
    isLess ||= next.isLess
  }
  return { schema: isIncomplete ? schema : withItems(schema), isLess }
}

function withValue(schema: JsonObject, key: string, value: unknown): JsonObject {
  const copy = { ...schema }
  setOwn(copy, key, value)
  return copy
}

const kept = (schema: JsonObject): Newest => ({ schema, isLess: false })

/** `exclusiveMinimum: true` makes the limit next to it an exclusive one. */
const bound = (exclusive: keyof typeof bounds) => (schema: JsonObject) => {
  const { [exclusive]: flag, [bounds[exclusive]]: value } = schema
  if (typeof flag !== 'boolean') return kept(schema)
  if (!flag || typeof value !== 'number') return kept(without(schema, [exclusive]))
  return kept({ ...without(schema, [exclusive, bounds[exclusive]]), [exclusive]: value })
}

/** What differs between drafts, and what programs write that is in none of them. */
const odd = {
  exclusiveMinimum: bound('exclusiveMinimum'),
  exclusiveMaximum: bound('exclusiveMaximum'),
  items(schema: JsonObject): Newest {
    const { items, additionalItems } = schema
    if (!Array.isArray(items)) return kept(schema)
    return kept({
      ...without(schema, ['items', 'additionalItems']),
      ...(items.length > 0 && { prefixItems: items }),
      ...(additionalItems !== undefined && { items: additionalItems }),
    })
  },
  dependencies(schema: JsonObject): Newest {
    const { dependencies, dependentRequired, dependentSchemas } = schema
    if (!isObject(dependencies)) return kept(schema)
    const all = Object.entries(dependencies)
    const names = all.filter(([, needed]) => Array.isArray(needed))
    const schemas = all.filter(([, needed]) => !Array.isArray(needed))
    const under = (value: unknown) => (isObject(value) ? value : {})
    return kept({
      ...without(schema, ['dependencies']),
      ...(names.length > 0 && {
        dependentRequired: { ...Object.fromEntries(names), ...under(dependentRequired) },
      }),
      ...(schemas.length > 0 && {
        dependentSchemas: { ...Object.fromEntries(schemas), ...under(dependentSchemas) },
      }),
    })
  },
  /** Some languages write an empty object as a list. */
  properties: (schema: JsonObject): Newest =>
    Array.isArray(schema['properties']) && schema['properties'].length === 0
      ? kept({ ...schema, properties: {} })
      : kept(schema),
  required(schema: JsonObject): Newest {
    const { required } = schema
    if (!Array.isArray(required)) return { schema: without(schema, ['required']), isLess: true }
    // Some servers leave out an empty list of properties, and refuse what is left.
    if (required.length === 0 && hasNoProperties(schema)) return kept(without(schema, ['required']))
    const names = new Set(required)
    return kept(names.size < required.length ? { ...schema, required: [...names] } : schema)
  },
  type(schema: JsonObject): Newest {
    const { type } = schema
    // Nearly all are single words.
    if (typeof type === 'string' && types.has(type)) return kept(schema)
    const given: unknown[] = Array.isArray(type) ? type : [type]
    const words = given.map(word => (typeof word === 'string' ? word.toLowerCase() : word))
    const known = [...new Set(words)].filter(word => types.has(String(word)))
    const isValid = words.every((word, i) => word === given[i] && types.has(String(word)))
    if (isValid && known.length === words.length && words.length > 0) return kept(schema)
    const isLess = words.some(word => !types.has(String(word)) && word !== 'any')
    const rest = without(schema, ['type'])
    // Any value is allowed where one of the types is any.
    if (known.length === 0 || words.includes('any')) return { schema: rest, isLess }
    return { schema: { ...schema, type: known.length === 1 ? known[0] : known }, isLess }
  },
  /** Before 2019-09 it also names places inside of a schema. */
  $id(schema: JsonObject): Newest {
    const { $id, $anchor } = schema
    const id = String($id)
    if (/^#[A-Za-z_][-A-Za-z0-9._]*$/.test(id) && $anchor === undefined)
      return kept({ ...without(schema, ['$id']), $anchor: id.slice(1) })
    return kept(/^[^\s<>"{}|\\^`#]*#?$/.test(id) ? schema : without(schema, ['$id']))
  },
  $recursiveAnchor: (schema: JsonObject): Newest => kept(without(schema, ['$recursiveAnchor'])),
  $recursiveRef(schema: JsonObject): Newest {
    const { $recursiveRef, $ref } = schema
    return kept({ ...without(schema, ['$recursiveRef']), $ref: $ref ?? $recursiveRef })
  },
}

const edits = new Map<string, (schema: JsonObject) => Newest>(Object.entries(odd))

export const hasNoProperties = ({ properties }: JsonObject): boolean =>
  Object.keys(properties ?? {}).length === 0

/** An array of any items says so. */
export function withItems(schema: JsonObject): JsonObject {
  const { type, items } = schema
  const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'))
  return isArray && items === undefined ? { ...schema, items: {} } : schema
}
