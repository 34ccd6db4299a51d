import type { CanonicalRequest } from '../../canonical/request.ts'
import type { ToolChoice } from '../../canonical/tool.ts'
import { isObject } from '../../kit/json/json.ts'
import type { PassReport } from '../notes.ts'

/**
 * For wires without the tool choice `validated`: sets `strict` on each function instead. Only on
 * functions with a closed schema, since providers refuse a request with `strict` on any other.
 */
export function withStrictTools(request: CanonicalRequest, report: PassReport): CanonicalRequest {
  const { toolChoice: choice } = request
  if (choice?.mode !== 'validated') return request
  report.add('tool-choice.strict-tools', '', 'toolChoice')
  const plain: ToolChoice = choice.tools
    ? {
        mode: 'allowed',
        require: false,
        tools: choice.tools.map(name => ({ kind: 'function', name })),
      }
    : { mode: 'auto' }
  const tools = request.tools?.map(tool =>
    tool.type === 'function' && isClosedObject(tool.parameters) ? { ...tool, strict: true } : tool,
  )
  return { ...request, ...(tools && { tools }), toolChoice: plain }
}

/** A function's arguments are always an object. */
function isClosedObject(schema: unknown): boolean {
  return isObject(schema) && schema['type'] === 'object' && isClosed(schema)
}

/** Keywords that may allow more than the rest of the schema. */
const opening = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'patternProperties',
  'dependentSchemas',
  'unevaluatedProperties',
] as const

/** Is every property required and no other allowed, at all levels? */
function isClosed(schema: unknown): boolean {
  if (!isObject(schema)) return schema === undefined || schema === false
  if (opening.some(key => key in schema)) return false
  const {
    type,
    $ref,
    properties,
    required,
    additionalProperties,
    items,
    anyOf,
    $defs,
    definitions,
  } = schema
  // A schema without any of these accepts any value.
  if (type === undefined && $ref === undefined && anyOf === undefined) return false
  const parts = [
    items,
    ...(Array.isArray(anyOf) ? anyOf : []),
    ...valuesOf($defs),
    ...valuesOf(definitions),
  ]
  if (!parts.every(isClosed)) return false
  const isOfObjects =
    type === 'object' || (Array.isArray(type) && type.includes('object')) || isObject(properties)
  if (!isOfObjects) return true
  const all = Object.entries(isObject(properties) ? properties : {})
  const wanted = new Set<unknown>(Array.isArray(required) ? required : [])
  return (
    additionalProperties === false &&
    all.every(([key, value]) => wanted.has(key) && isClosed(value))
  )
}

const valuesOf = (value: unknown): unknown[] => (isObject(value) ? Object.values(value) : [])
