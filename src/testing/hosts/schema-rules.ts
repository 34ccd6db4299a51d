import {
  any,
  type Check,
  either,
  flag,
  int,
  isObject,
  type JsonObject,
  list,
  map,
  number,
  one,
  text,
} from '../strict/faults.ts'

/**
 * What a rule is asked about. `at`: where the schema stands in the parameters. `root`: the whole
 * schema, the same object as `schema` at the top. `depth`: levels of objects above it.
 */
export type Visited = { schema: JsonObject; at: string; root: JsonObject; depth: number }

/** One demand on each schema inside of the parameters. */
export type SchemaRule = (visited: Visited, faults: string[]) => void

const inOne = [
  'items',
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
] as const
const inList = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'] as const
const inMap = [
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
] as const

/** The faults of a schema and of all schemas in it. */
export function checkSchema(root: JsonObject, rules: readonly SchemaRule[], at: string): string[] {
  const faults: string[] = []
  const visit = (schema: unknown, path: string, depth: number): void => {
    if (!isObject(schema)) return
    for (const rule of rules) rule({ schema, at: path, root, depth }, faults)
    for (const key of inOne) visit(schema[key], `${path}/${key}`, depth + (key === 'items' ? 1 : 0))
    for (const key of inList)
      listIn(schema[key]).forEach((inner, i) => {
        visit(inner, `${path}/${key}/${i}`, depth)
      })
    for (const key of inMap)
      for (const [name, inner] of entriesIn(schema[key]))
        visit(inner, `${path}/${key}/${name}`, depth + (key === 'properties' ? 1 : 0))
  }
  visit(root, at, 0)
  return faults
}

export const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const entriesIn = (value: unknown): [string, unknown][] =>
  isObject(value) ? Object.entries(value) : []
export const isOf = ({ type }: JsonObject, word: string): boolean =>
  type === word || listIn(type).includes(word)

/** The schema that a reference names. Undefined: there is none in this document. */
export function named(root: JsonObject, reference: string): unknown {
  const [start, ...steps] = reference.split('/')
  if (start !== '#') return undefined
  let found: unknown = root
  for (const step of steps) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, key)
        ? (found as JsonObject)[key]
        : undefined
  }
  return found
}

const schema: Check = (value, at, faults) => {
  if (!isObject(value) && typeof value !== 'boolean') faults.push(`${at}: expected a schema`)
}
const unique =
  (check: Check): Check =>
  (value, at, faults) => {
    check(value, at, faults)
    const words = listIn(value)
    if (new Set(words).size < words.length) faults.push(`${at}: the same word twice`)
  }
const word = one('array', 'boolean', 'integer', 'null', 'number', 'object', 'string')
const words = unique(list(text()))
const bound = int(0)
const schemas = list(schema, { min: 1 })
const anchor = text({ pattern: /^[A-Za-z_][-A-Za-z0-9._]*$/ })
/** No spaces and the like. Source: RFC 3986. */
const reference = text({ pattern: /^[^\s<>"{}|\\^`]*$/ })
const regex: Check = (value, at, faults) => {
  try {
    if (typeof value === 'string') new RegExp(value, 'u')
    else faults.push(`${at}: expected a string`)
  } catch {
    faults.push(`${at}: is no regular expression`)
  }
}

/**
 * The values of all keywords in the 2020-12 draft. Unknown keywords may have any value.
 * Source: https://json-schema.org/draft/2020-12/schema
 */
const keywords: Record<string, Check> = {
  ...Object.fromEntries([...inOne, 'contentSchema'].map(key => [key, schema])),
  additionalItems: any,
  $schema: reference,
  $id: text({ pattern: /^[^\s<>"{}|\\^`#]*#?$/ }),
  $ref: reference,
  $anchor: anchor,
  $dynamicRef: reference,
  $dynamicAnchor: anchor,
  $recursiveRef: reference,
  $recursiveAnchor: anchor,
  $vocabulary: map(flag),
  $comment: text(),
  $defs: map(schema),
  definitions: map(schema),
  prefixItems: schemas,
  properties: map(schema),
  patternProperties: map(schema),
  dependentSchemas: map(schema),
  dependentRequired: map(words),
  dependencies: map(either(schema, words)),
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  type: either(word, unique(list(word, { min: 1 }))),
  const: any,
  enum: list(any),
  multipleOf: (value, at, faults) => {
    number()(value, at, faults)
    if (typeof value === 'number' && value <= 0) faults.push(`${at}: not above 0`)
  },
  maximum: number(),
  exclusiveMaximum: number(),
  minimum: number(),
  exclusiveMinimum: number(),
  maxLength: bound,
  minLength: bound,
  pattern: regex,
  maxItems: bound,
  minItems: bound,
  uniqueItems: flag,
  maxContains: bound,
  minContains: bound,
  maxProperties: bound,
  minProperties: bound,
  required: words,
  title: text(),
  description: text(),
  default: any,
  deprecated: flag,
  readOnly: flag,
  writeOnly: flag,
  examples: list(any),
  format: text(),
  contentEncoding: text(),
  contentMediaType: text(),
}

/** It is a schema of the 2020-12 draft. */
export const newestDraft: SchemaRule = ({ schema, at }, faults) => {
  for (const [key, value] of Object.entries(schema))
    if (Object.hasOwn(keywords, key)) keywords[key]?.(value, `${at}/${key}`, faults)
}

export const refuses =
  (taken: (key: string, value: unknown, schema: JsonObject) => boolean): SchemaRule =>
  ({ schema, at }, faults) => {
    for (const [key, value] of Object.entries(schema))
      if (taken(key, value, schema)) faults.push(`${at}/${key}: is not permitted`)
  }

/** The same at the top alone. */
export const atRoot =
  (rule: SchemaRule): SchemaRule =>
  (visited, faults) => {
    if (visited.schema === visited.root) rule(visited, faults)
  }

export const isObjectSchema = (schema: JsonObject): boolean =>
  isOf(schema, 'object') || isObject(schema['properties'])
