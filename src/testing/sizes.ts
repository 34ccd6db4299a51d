import { lengths } from './bounds.ts'
import {
  type AnySchema,
  bagOf,
  behind,
  type Def,
  defOf,
  isOptional,
  present,
  refusal,
  sourceOf,
  valuesOf,
} from './definition.ts'
import { forbidden, type Heights } from './heights.ts'

/** Values have fewer parts on average, if their schema allows it. */
const wanted = 20_000
/** Schemas whose smallest values have more parts are refused. */
const most = 200_000

/**
 * The depth beyond which values are as small as their schema allows. It is less for a schema whose
 * values would become too large. -1: all values are.
 * @throws Error for a schema without small values, such as one of a million items
 */
export function depthFor(schema: AnySchema, heightOf: Heights, greatest: number): number {
  for (let deepest = greatest; deepest >= 0; deepest--)
    if (sizesFor(heightOf, deepest)(schema, 0) <= wanted) return deepest
  const size = sizesFor(heightOf, -1)(schema, 0)
  if (size > most)
    throw refusal(
      `the smallest value of the schema has about ${Number(size.toPrecision(2))} parts, which is too many`,
    )
  return -1
}

/** How many parts the values of a schema have on average, from this depth on. */
function sizesFor(
  heightOf: Heights,
  deepest: number,
): (schema: AnySchema, depth: number) => number {
  const known = new Map<AnySchema, number[]>()
  const sizeOf = (schema: AnySchema, at: number): number => {
    const depth = Math.min(at, deepest + 1)
    const sizes = known.get(schema) ?? []
    known.set(schema, sizes)
    sizes[depth + 1] ??= depth > deepest && isOptional(schema) ? 1 : counted(schema, depth)
    return sizes[depth + 1] ?? 1
  }
  const items = (schema: AnySchema, item: number, isDeep: boolean) => {
    const { minLength, maxLength } = lengths(bagOf(schema), isDeep ? 0 : 3)
    return maxLength === 0 ? 1 : 1 + ((minLength + maxLength) / 2) * item
  }
  const of = (schema: AnySchema | undefined | null, depth: number) =>
    schema ? sizeOf(schema, depth) : 1
  const sum = (schemas: readonly AnySchema[], depth: number, isDeep: boolean) =>
    schemas.reduce((total, one) => {
      if (!isOptional(one)) return total + sizeOf(one, depth)
      return isDeep ? total : total + sizeOf(one, depth) / 2
    }, 1)
  const counted = (schema: AnySchema, depth: number): number => {
    const def: Def = defOf(schema)
    const isDeep = depth > deepest
    switch (def.type) {
      case 'object':
        return sum(Object.values(def.shape ?? {}), depth + 1, isDeep)
      case 'tuple':
        return sum(def.items ?? [], depth + 1, isDeep) + (isDeep ? 0 : of(def.rest, depth + 1))
      case 'array':
      case 'set':
        return items(
          schema,
          isDeep && !bagOf(schema).minimum ? 0 : of(def.element ?? def.valueType, depth + 1),
          isDeep,
        )
      case 'map':
        return items(
          schema,
          isDeep && !bagOf(schema).minimum
            ? 0
            : of(def.keyType, depth + 1) + of(def.valueType, depth + 1),
          isDeep,
        )
      case 'record': {
        const listed = def.keyType && valuesOf(def.keyType)?.length
        return (
          1 + (listed ?? (isDeep ? 0 : 2)) * (listed || !isDeep ? of(def.valueType, depth + 1) : 0)
        )
      }
      case 'union': {
        const possible = (def.options ?? []).filter(option => heightOf(option) < forbidden)
        const least = Math.min(...possible.map(heightOf))
        const chosen = isDeep ? possible.filter(option => heightOf(option) === least) : possible
        return (
          chosen.reduce((total, one) => total + sizeOf(one, depth), 0) / Math.max(1, chosen.length)
        )
      }
      case 'intersection':
        return of(def.left, depth) + of(def.right, depth)
      case 'nullable':
        return isDeep ? 1 : of(def.innerType, depth)
      case 'nonoptional':
        return sizeOf(present(schema), depth)
      case 'lazy':
        return sizeOf(behind(schema), depth + 2)
      case 'pipe':
        return of(sourceOf(def), depth)
      default:
        return of(def.innerType, depth)
    }
  }
  return sizeOf
}
