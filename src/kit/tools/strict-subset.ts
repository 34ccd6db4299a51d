import { isObject, type JsonObject } from '../json/json.ts'
import { schemaAt } from './schema-references.ts'
import { mapSchemas } from './schema-subset.ts'

/**
 * What servers enforce that take closed objects alone, with all of their properties required.
 * Source: https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas
 */
const refused = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
  'prefixItems',
  'contains',
  'minContains',
  'maxContains',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
] as const

const formats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
])

const mostProperties = 5000
const mostEnums = 1000
const mostLetters = 120_000
const mostLevels = 10
/** An enum of more words has a limit of letters of its own. */
const longEnum = { words: 250, letters: 15_000 }

/** Would such a server take this schema for a strict function? */
export function isInStrictSubset(root: JsonObject): boolean {
  if (['anyOf', 'enum', 'const'].some(key => key in root) || depthOf(root) > mostLevels)
    return false
  const size = { properties: 0, enums: 0, letters: 0 }
  let fits = true
  mapSchemas(root, schema => {
    fits &&= takes(schema, root)
    const words = [...(Array.isArray(schema['enum']) ? schema['enum'] : [])]
    const letters = lettersOf([...words, schema['const']])
    fits &&= words.length <= longEnum.words || letters <= longEnum.letters
    const names = isObject(schema['properties']) ? Object.keys(schema['properties']) : []
    size.properties += names.length
    size.enums += words.length
    size.letters += letters + lettersOf(names)
    return schema
  })
  return (
    fits &&
    size.properties <= mostProperties &&
    size.enums <= mostEnums &&
    size.letters <= mostLetters
  )
}

const lettersOf = (words: readonly unknown[]): number =>
  words.reduce<number>((sum, word) => sum + (typeof word === 'string' ? word.length : 0), 0)

function takes(schema: JsonObject, root: JsonObject): boolean {
  const { $ref, type, properties, required, additionalProperties, format, pattern, items } = schema
  if (refused.some(key => key in schema)) return false
  if ($ref !== undefined)
    return (
      schemaAt(root, String($ref)) !== undefined &&
      Object.keys(schema).every(key => key === '$ref' || key === '$defs' || key === 'definitions')
    )
  const isTyped = type !== undefined || ['anyOf', 'enum', 'const'].some(key => key in schema)
  if (!isTyped || (format !== undefined && !formats.has(format))) return false
  if (typeof pattern === 'string' && hasLookaround(pattern)) return false
  // They become items of any type, which is none.
  if (items === undefined && (type === 'array' || (Array.isArray(type) && type.includes('array'))))
    return false
  const isOfObjects =
    type === 'object' || (Array.isArray(type) && type.includes('object')) || isObject(properties)
  if (!isOfObjects) return true
  const wanted = new Set<unknown>(Array.isArray(required) ? required : [])
  return (
    additionalProperties === false &&
    (!isObject(properties) || Object.keys(properties).every(name => wanted.has(name)))
  )
}

/** No server that enforces schemas takes them. */
export const hasLookaround = (pattern: string): boolean => /\(\?<?[=!]/.test(pattern)

/** The levels of objects and arrays. */
function depthOf(schema: unknown): number {
  let deepest = 0
  const open: [unknown, number][] = [[schema, 0]]
  for (let next = open.pop(); next; next = open.pop()) {
    const [one, depth] = next
    if (typeof one !== 'object' || one === null) continue
    deepest = Math.max(deepest, depth)
    for (const [key, value] of Object.entries(one))
      open.push([value, depth + (key === 'properties' || key === 'items' ? 1 : 0)])
  }
  return deepest
}
