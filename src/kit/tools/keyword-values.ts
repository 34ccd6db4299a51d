import { isObject, type JsonObject, setOwn } from '../json/json.ts'

/**
 * What the keywords of a schema may have as values. Programs write others, such as `"false"` for
 * `additionalProperties` and a word in place of a schema, and servers that check schemas refuse the
 * request for it.
 */

/** Keywords that count something. */
export const counts: ReadonlySet<string> = new Set([
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minContains',
  'maxContains',
  'minProperties',
  'maxProperties',
])

export const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0

const isText = (value: unknown) => typeof value === 'string'
const isFlag = (value: unknown) => typeof value === 'boolean'
const isNumber = (value: unknown) => typeof value === 'number'
const isSchema = (value: unknown) => isObject(value) || isFlag(value)
/** A limit of draft 4 is a flag, and the items of older drafts may be a list. */
const isLimit = (value: unknown) => isNumber(value) || isFlag(value)
const isItems = (value: unknown) => isSchema(value) || Array.isArray(value)

const forms = new Map<string, (value: unknown) => boolean>([
  ...[...counts].map(key => [key, isCount] as const),
  ...['title', 'description', '$comment', 'format', 'pattern', '$ref'].map(
    key => [key, isText] as const,
  ),
  ...['uniqueItems', 'deprecated', 'readOnly', 'writeOnly'].map(key => [key, isFlag] as const),
  ...['minimum', 'maximum'].map(key => [key, isNumber] as const),
  ...['exclusiveMinimum', 'exclusiveMaximum'].map(key => [key, isLimit] as const),
  ...[
    'additionalProperties',
    'additionalItems',
    'contains',
    'propertyNames',
    'not',
    'if',
    'then',
    'else',
    'unevaluatedItems',
    'unevaluatedProperties',
  ].map(key => [key, isSchema] as const),
  ['items', isItems],
  ['multipleOf', value => isNumber(value) && Number(value) > 0],
  ['enum', value => Array.isArray(value) && value.length > 0],
  ['examples', value => Array.isArray(value)],
])

/** Keywords whose value is a list of schemas, or an object of them. */
const lists = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const maps = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])

/**
 * The value that the keyword may have: the same if it is one. `undefined`: none is meant.
 */
export function validValue(key: string, value: unknown): unknown {
  if (lists.has(key)) return schemasIn(value)
  if (maps.has(key)) return isObject(value) ? namedSchemas(value) : value
  const isValid = forms.get(key)
  return isValid === undefined || isValid(value) ? value : undefined
}

function schemasIn(value: unknown): unknown {
  if (!Array.isArray(value)) return undefined
  const schemas = value.filter(isSchema)
  if (schemas.length === 0) return undefined
  return schemas.length === value.length ? value : schemas
}

/** A word in place of a schema is its type. */
function namedSchemas(value: JsonObject): JsonObject {
  let valid = value
  for (const name in value) {
    const schema = value[name]
    if (isSchema(schema)) continue
    if (valid === value) valid = { ...value }
    setOwn(valid, name, isText(schema) ? { type: schema } : {})
  }
  return valid
}
