import type { Place } from '../../canonical/message.ts'
import type { JsonObject } from '../json/json.ts'
import { closeObjects, fitSchema, type SchemaSubset } from './schema-subset.ts'

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
  closeObjects(fitSchema(schema, refusedKeywords)) === schema
