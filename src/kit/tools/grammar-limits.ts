import type { GrammarLimits } from '../../protocol.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { isClosable } from './enforceable.ts'
import { everySchema } from './schema-subset.ts'

type Size = { optional: number; unions: number }

/** Does the server make one grammar of all of these? `format`: of the response, or undefined. */
export function fitGrammar(
  [format, ...functions]: readonly unknown[],
  most: GrammarLimits,
): boolean {
  if (functions.length > most.functions) return false
  if (functions.length === 0 && format === undefined) return true
  const all = [format, ...functions].map(sizeOf)
  const sum = {
    optional: all.reduce((sum, { optional }) => sum + optional, 0),
    unions: all.reduce((sum, { unions }) => sum + unions, 0),
  }
  return isWithin(sum, most)
}

/** Does it make a grammar of the schema of the response alone? */
export const fitsAsFormat = (format: JsonObject, most: GrammarLimits): boolean =>
  isClosable(format) && isWithin(sizeOf(format), most)

/** Takes schemas of functions as long as they fit with those before. */
export function grammarBudget(
  format: unknown,
  most: GrammarLimits,
): { takes(schema: unknown): boolean } {
  const used = sizeOf(format)
  let functions = 0
  return {
    takes(schema) {
      const { optional, unions } = sizeOf(schema)
      const next = { optional: used.optional + optional, unions: used.unions + unions }
      if (functions === most.functions || !isWithin(next, most)) return false
      functions++
      Object.assign(used, next)
      return true
    },
  }
}

const isWithin = ({ optional, unions }: Size, most: GrammarLimits) =>
  optional <= most.optional && unions <= most.unions

function sizeOf(schema: unknown): Size {
  const size = { optional: 0, unions: 0 }
  if (!isObject(schema)) return size
  everySchema(schema, one => {
    size.optional += optionalIn(one)
    if (isUnion(one)) size.unions++
    return true
  })
  return size
}

function optionalIn({ properties, required }: JsonObject): number {
  if (!isObject(properties)) return 0
  const names = new Set<unknown>(Array.isArray(required) ? required : [])
  return Object.keys(properties).filter(name => !names.has(name)).length
}

const isUnion = ({ type, anyOf, oneOf }: JsonObject) =>
  Array.isArray(anyOf) || Array.isArray(oneOf) || (Array.isArray(type) && type.length > 1)
