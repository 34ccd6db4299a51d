import { isObject, type JsonObject } from '../json/json.ts'
import { everySchema } from './schema-subset.ts'

/**
 * How much a server takes that makes one grammar of all schemas that it enforces in a request:
 * strict functions, properties that are not required, and schemas of several types.
 * Sources: https://platform.claude.com/docs/en/build-with-claude/structured-outputs (2026-11-30),
 * https://github.com/elie222/inbox-zero/issues/2323 (2026-04-20)
 */
const most = { functions: 20, optional: 24, unions: 16 }

type Size = { optional: number; unions: number }

/** Does the server take all of these? `format`: the schema of the response, or undefined. */
export function fitGrammar([format, ...functions]: readonly unknown[]): boolean {
  if (functions.length === 0) return true
  if (functions.length > most.functions) return false
  const all = [format, ...functions].map(sizeOf)
  return isWithin({
    optional: all.reduce((sum, { optional }) => sum + optional, 0),
    unions: all.reduce((sum, { unions }) => sum + unions, 0),
  })
}

/** Takes schemas of functions as long as they fit with those before. */
export function grammarBudget(format: unknown): { takes(schema: unknown): boolean } {
  const used = sizeOf(format)
  let functions = 0
  return {
    takes(schema) {
      const { optional, unions } = sizeOf(schema)
      const next = { optional: used.optional + optional, unions: used.unions + unions }
      if (functions === most.functions || !isWithin(next)) return false
      functions++
      Object.assign(used, next)
      return true
    },
  }
}

const isWithin = ({ optional, unions }: Size) => optional <= most.optional && unions <= most.unions

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
