import type { Place } from '../../canonical/message.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { schemaAt } from './schema-references.ts'
import { closeObjects, everySchema, fitSchema, type SchemaSubset } from './schema-subset.ts'
import { hasLookaround } from './strict-subset.ts'

type Reporting = {
  add(code: 'schema.keywords' | 'output.closed', at: Place | undefined, field: string): void
}

const formats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
])

/** Keywords that servers of Claude refuse in the schema of a response and of a strict tool. */
const refusedKeywords: SchemaSubset = {
  oneOf: 'anyOf',
  minimum: true,
  maximum: true,
  exclusiveMinimum: true,
  exclusiveMaximum: true,
  multipleOf: true,
  minLength: true,
  maxLength: true,
  format: value => !formats.has(value),
  minItems: value => value !== 0 && value !== 1,
  maxItems: true,
  uniqueItems: true,
  contains: true,
  minContains: true,
  maxContains: true,
  minProperties: true,
  maxProperties: true,
  patternProperties: true,
  propertyNames: true,
  dependentRequired: true,
  dependentSchemas: true,
  dependencies: true,
  not: true,
  if: true,
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword
  then: true,
  else: true,
  unevaluatedItems: true,
  unevaluatedProperties: true,
  pattern: value => typeof value !== 'string' || hasLookaround(value) || /\\[1-9bB]/.test(value),
  enum: value => !Array.isArray(value) || value.some(word => typeof word === 'object' && word),
}

/**
 * The schema in the form that servers of Claude take where they enforce one: objects exclude
 * additional properties, and some keywords are refused. `all`: the server takes all keywords.
 */
export function enforceable(
  schema: JsonObject,
  { at, field, all = false }: { at: Place | undefined; field: string; all?: boolean },
  report: Reporting,
): JsonObject {
  const fitting = all ? schema : fitSchema(schema, refusedKeywords)
  if (fitting !== schema) report.add('schema.keywords', at, field)
  const closed = closeObjects(fitting)
  if (closed !== fitting) report.add('output.closed', at, field)
  return closed
}

export const isEnforceable = (schema: JsonObject): boolean =>
  closeObjects(fitSchema(schema, refusedKeywords)) === schema && isClosable(schema)

/**
 * Can a grammar be made of the schema when its objects are closed? Not of one that contains itself,
 * not of one with properties that only a part of the conditions for the object describes, and not of
 * an object with any properties, which would have none.
 */
export const isClosable = (root: JsonObject): boolean =>
  everySchema(root, one => !isSpread(one) && !hasAnyProperties(one)) && endsSomewhere(root)

/** An object that names no properties and allows them. With an empty list alone it has none. */
function hasAnyProperties({ type, properties, additionalProperties: more, ...others }: JsonObject) {
  if (type !== 'object' || more === false || referring.some(key => others[key] !== undefined))
    return false
  if (!isObject(properties)) return true
  const isOpen = more !== undefined || others['patternProperties'] !== undefined
  return isOpen && Object.keys(properties).length === 0
}

/** Keywords that say which object is meant. */
const referring = ['$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const'] as const

/** Are properties of the object described elsewhere, where it would exclude the others? */
function isSpread({ allOf, then, else: other }: JsonObject): boolean {
  const parts = [then, other, ...(Array.isArray(allOf) ? allOf : [])]
  return parts.some(one => isObject(one) && ('properties' in one || '$ref' in one || isSpread(one)))
}

/** Does each reference lead to a place that does not contain itself? Grammars have no recursion. */
function endsSomewhere(root: JsonObject): boolean {
  const isOpen = new Map<JsonObject, boolean>()
  // A chain of references may be longer than the stack of calls is deep.
  const path: { from: JsonObject; left: (JsonObject | undefined)[] }[] = []
  const follow = (from: JsonObject) => {
    isOpen.set(from, true)
    path.push({ from, left: namedIn(from, root) })
  }
  follow(root)
  for (let last = path.at(-1); last; last = path.at(-1)) {
    if (last.left.length === 0) {
      isOpen.set(last.from, false)
      path.pop()
      continue
    }
    const next = last.left.pop()
    if (!next || isOpen.get(next)) return false
    if (!isOpen.has(next)) follow(next)
  }
  return true
}

/** What the references in a schema name, as far as they are places in `root`. */
function namedIn(schema: JsonObject, root: JsonObject): (JsonObject | undefined)[] {
  const named: (JsonObject | undefined)[] = []
  everySchema(schema, ({ $ref }) => {
    if ($ref !== undefined)
      named.push(String($ref).startsWith('#/') ? schemaAt(root, String($ref)) : undefined)
    return true
  })
  return named
}
