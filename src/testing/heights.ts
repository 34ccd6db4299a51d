import {
  type AnySchema,
  bagOf,
  behind,
  defOf,
  isOptional,
  present,
  refusal,
  sourceOf,
  valuesOf,
} from './definition.ts'

/**
 * How many levels the smallest value of each schema has, by schema. Infinity: it has none, because
 * it requires itself.
 */
export type Heights = (schema: AnySchema) => number

/**
 * The height of `never`, and of what requires one. Finite, so that the error names the key of the
 * `never`.
 */
export const forbidden = 1_000_000

/** No real schema is that large: a getter makes new schemas without end. */
const mostSchemas = 50_000

/** @throws Error for a schema of endlessly many schemas */
export function heightsIn(root: AnySchema): Heights {
  const reached = new Set([root])
  for (const schema of reached) {
    for (const part of partsOf(schema)) reached.add(part)
    if (reached.size > mostSchemas)
      throw refusal(
        'a getter of the schema makes new schemas without end. Let it return the same schema each time',
      )
  }
  refuseLoops(reached)
  const heights = new Map<AnySchema, number>()
  const heightOf: Heights = schema => heights.get(schema) ?? Number.POSITIVE_INFINITY
  const last = [...reached].reverse()
  for (let changes = true; changes; ) {
    changes = false
    for (const schema of last) {
      const height = smallest(schema, heightOf)
      if (height >= heightOf(schema)) continue
      heights.set(schema, height)
      changes = true
    }
  }
  return heightOf
}

/**
 * @throws Error for a schema that zod validates without end: one that leads to itself with no
 * object, list or the like between.
 */
function refuseLoops(schemas: Iterable<AnySchema>): void {
  const states = new Map<AnySchema, 'open' | 'done'>()
  const visit = (schema: AnySchema) => {
    if (states.get(schema) === 'done') return
    if (states.get(schema) === 'open')
      throw refusal('the schema leads to itself with nothing between, so no validation of it ends')
    states.set(schema, 'open')
    for (const part of sameValueOf(schema)) visit(part)
    states.set(schema, 'done')
  }
  for (const schema of schemas) visit(schema)
}

/** The schemas that validate the very value that this one does. */
function sameValueOf(schema: AnySchema): AnySchema[] {
  const def = defOf(schema)
  const parts = [
    ...(def.options ?? []),
    def.innerType,
    def.left,
    def.right,
    def.in,
    def.out,
    def.type === 'lazy' ? behind(schema) : undefined,
  ]
  return parts.filter(part => part != null)
}

function partsOf(schema: AnySchema): AnySchema[] {
  const def = defOf(schema)
  const parts = [
    ...Object.values(def.shape ?? {}),
    ...(def.options ?? []),
    ...(def.items ?? []),
    ...[
      def.catchall,
      def.innerType,
      def.element,
      def.valueType,
      def.keyType,
      def.rest,
      def.left,
      def.right,
      def.in,
      def.out,
    ],
    def.type === 'lazy' ? behind(schema) : undefined,
  ]
  return parts.filter(part => part != null)
}

function smallest(schema: AnySchema, heightOf: Heights): number {
  if (isOptional(schema)) return 0
  const def = defOf(schema)
  const of = (part: AnySchema | undefined) => (part ? heightOf(part) : 0)
  const required = (parts: readonly AnySchema[]) =>
    Math.max(-1, ...parts.filter(part => !isOptional(part)).map(heightOf))
  const isEmptyAllowed = Number(bagOf(schema).minimum ?? 0) === 0
  switch (def.type) {
    case 'object':
      return 1 + required(Object.values(def.shape ?? {}))
    case 'tuple':
      return 1 + required(def.items ?? [])
    case 'union':
      return def.options?.length ? Math.min(...def.options.map(heightOf)) : forbidden
    case 'intersection':
      return Math.max(of(def.left), of(def.right))
    case 'array':
      return isEmptyAllowed ? 0 : 1 + of(def.element)
    case 'set':
      return isEmptyAllowed ? 0 : 1 + of(def.valueType)
    case 'map':
      return isEmptyAllowed ? 0 : 1 + Math.max(of(def.keyType), of(def.valueType))
    case 'record':
      return def.keyType && valuesOf(def.keyType) ? 1 + of(def.valueType) : 0
    case 'nullable':
      return 0
    case 'nonoptional':
      return heightOf(present(schema))
    case 'lazy':
      return 1 + of(behind(schema))
    case 'pipe':
      return of(sourceOf(def))
    case 'never':
      return forbidden
    default:
      return of(def.innerType)
  }
}
