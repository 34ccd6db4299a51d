import type { FunctionTool } from '../../canonical/tool.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { wrapped } from '../response/wrapped-output.ts'
import { schemaAt } from './schema-references.ts'

/** Types of JSON other than an object. */
const others: ReadonlySet<unknown> = new Set([
  'array',
  'string',
  'number',
  'integer',
  'boolean',
  'null',
])

/** Combinations of schemas in each other are read this deep. */
const deepest = 20

/** Can a value of this schema be an object? */
export const allowsObject = (root: JsonObject): boolean =>
  // Nearly all parameters say no more.
  (root['type'] === 'object' && root['$ref'] === undefined && isObject(root['properties'])) ||
  allows(root, root, new Map(), 0)

/** `known`: of schemas that were read, which definitions that use each other name again and again. */
function allows(
  schema: JsonObject,
  root: JsonObject,
  known: Map<JsonObject, boolean>,
  depth: number,
): boolean {
  let found = known.get(schema)
  if (found === undefined) {
    known.set(schema, true)
    found = isReadAsObject(schema, root, known, depth)
    known.set(schema, found)
  }
  return found
}

function isReadAsObject(
  schema: JsonObject,
  root: JsonObject,
  known: Map<JsonObject, boolean>,
  depth: number,
): boolean {
  const { type, $ref, enum: words } = schema
  const types: unknown[] = Array.isArray(type) ? type : [type]
  if (types.length > 0 && types.every(isOther)) return false
  if (depth > deepest) return true
  const inner = (one: unknown) => !isObject(one) || allows(one, root, known, depth + 1)
  if (typeof $ref === 'string' && !inner(schemaAt(root, $ref))) return false
  if (isObject(schema['properties'])) return true
  if (Array.isArray(words) && words.length > 0 && !words.some(isObject)) return false
  if ('const' in schema && !isObject(schema['const'])) return false
  const { allOf } = schema
  if (Array.isArray(allOf) && !allOf.every(inner)) return false
  return [schema['anyOf'], schema['oneOf']].every(
    list => !Array.isArray(list) || list.length === 0 || list.some(inner),
  )
}

const isOther = (word: unknown) => typeof word === 'string' && others.has(word.toLowerCase())

type Reporting = {
  add(code: 'tool.arguments-wrapped', at: FunctionTool['at'], field: string): void
}

/** Every server requires an object as arguments: any other value is put into one. */
export function withObjectArguments(tool: FunctionTool, report: Reporting): FunctionTool {
  const { parameters, examples } = tool
  if (!isObject(parameters) || allowsObject(parameters)) return tool
  report.add('tool.arguments-wrapped', tool.at, 'parameters')
  return {
    ...tool,
    parameters: wrapped(parameters),
    wrapped: true,
    ...(examples && { examples: examples.map(value => ({ value })) }),
  }
}

/** The parameters as they are written where they are required. */
export function objectSchema(parameters: FunctionTool['parameters']): JsonObject {
  if (!parameters) return { type: 'object', properties: {} }
  return parameters['type'] === undefined ? { type: 'object', ...parameters } : parameters
}
