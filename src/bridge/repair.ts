import type { JsonSchema } from '../canonical/tool.ts'
import { isObject, type JsonObject, parseJson } from '../kit/json/json.ts'
import { strictJson } from './loose-json.ts'

/** A longer text is not repaired. In UTF-16 units. */
const longest = 4 * 1024 * 1024

/** An object or list that is not quite JSON, as JSON. Undefined: it cannot be known what it means. */
export const repaired = (text: string): string | undefined =>
  text.length > longest ? undefined : strictJson(text)

/**
 * Arguments of a finished call that are no JSON object, as one. Undefined: they are one, or no
 * object is in them.
 */
export function repairedArguments(
  text: string,
  schema: JsonSchema | null | undefined,
): string | undefined {
  if (isObject(parseJson(text))) return undefined
  if (text.trim() === '') return '{}'
  const inner = parseJson(text)
  const fixed = repaired(typeof inner === 'string' ? inner : text)
  const value = fixed === undefined ? undefined : parseJson(fixed)
  return isObject(value) ? JSON.stringify(withTypes(value, schema)) : undefined
}

/** The members with the types that the schema wants, where only one value can be meant. */
function withTypes(value: JsonObject, schema: JsonSchema | null | undefined): JsonObject {
  const properties = schema?.['properties']
  if (!isObject(properties)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const wanted = Object.hasOwn(properties, key) ? typesOf(properties[key]) : []
      return [key, typeof one === 'string' ? typed(one, wanted) : one]
    }),
  )
}

/** The types that a schema allows; none: any. */
export function typesOf(schema: unknown): readonly unknown[] {
  if (!isObject(schema)) return []
  const { type, anyOf, oneOf, enum: values } = schema
  if (type !== undefined) return Array.isArray(type) ? type : [type]
  const branches = Array.isArray(anyOf) ? anyOf : oneOf
  if (Array.isArray(branches)) {
    const all = branches.map(typesOf)
    return all.some(types => types.length === 0) ? [] : all.flat()
  }
  return Array.isArray(values) && values.every(one => typeof one === 'string') ? ['string'] : []
}

const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const words: Record<string, boolean | null> = {
  true: true,
  True: true,
  false: false,
  False: false,
  null: null,
  None: null,
}

/** A text as one of these types; the text itself, if it can be one or none of them fits. */
export function typed(text: string, types: readonly unknown[]): unknown {
  if (types.length === 0 || types.includes('string')) return text
  const plain = text.trim()
  const word = Object.hasOwn(words, plain) ? words[plain] : undefined
  if (typeof word === 'boolean') return types.includes('boolean') ? word : text
  if (word === null) return types.includes('null') ? null : text
  if (number.test(plain)) {
    const isWanted =
      types.includes('number') || (types.includes('integer') && Number.isInteger(Number(plain)))
    return isWanted ? Number(plain) : text
  }
  const value = /^[[{]/.test(plain)
    ? (parseJson(plain) ?? parseJson(repaired(plain) ?? ''))
    : undefined
  const kind = Array.isArray(value) ? 'array' : 'object'
  return typeof value === 'object' && types.includes(kind) ? value : text
}
