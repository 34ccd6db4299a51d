import type { z } from 'zod'
import { isObject } from './json.ts'

/** True: the schema takes the value and would give back an equal one. False: it refuses it. Undefined: it has to be asked. */
export type Guard = (value: unknown) => boolean | undefined

/**
 * What a schema says, as a question that copies nothing: zod makes every object anew that it looks into, which was half of
 * the time of a request. What is not understood here is never sure, so a new kind of schema costs time and nothing else.
 */
export function guardOf(schema: z.core.$ZodType): Guard {
  const known = guards.get(schema)
  if (known) return known
  const made = refined(schema)
  guards.set(schema, made)
  return made
}

/** What a schema says never changes. */
const guards = new WeakMap<z.core.$ZodType, Guard>()

function refined(schema: z.core.$ZodType): Guard {
  const plain = plainGuardOf(schema)
  const rules = schema._zod.def.checks ?? []
  if (rules.length === 0) return plain
  if (!rules.every(isFunction)) return unsure
  return value => {
    const answer = plain(value)
    return answer === true ? rules.every(({ _zod: { def } }) => def.fn(value)) : answer
  }
}

const unsure: Guard = () => undefined

/** A rule that is one question: others make their own words of a fault, or ask only at times. */
const isFunction = (rule: z.core.$ZodCheck): rule is z.core.$ZodCustom => {
  const { def } = rule._zod
  return def.check === 'custom' && 'fn' in def && typeof def.fn === 'function' && def.when === undefined
}

function plainGuardOf(schema: z.core.$ZodType): Guard {
  const { def } = (schema as z.core.$ZodTypes)._zod
  // Formats are types with a rule of their own.
  if ('check' in def || 'coerce' in def) return unsure
  switch (def.type) {
    case 'unknown':
      return () => true
    case 'string':
      return value => typeof value === 'string'
    case 'boolean':
      return value => typeof value === 'boolean'
    case 'number':
      return value => Number.isFinite(value)
    case 'null':
      return value => value === null
    case 'undefined':
      return value => value === undefined
    case 'literal':
    case 'enum': {
      const words = new Set<unknown>(def.type === 'enum' ? Object.values(def.entries) : def.values)
      return value => words.has(value)
    }
    case 'optional': {
      const inner = guardOf(def.innerType)
      return value => value === undefined || inner(value)
    }
    case 'nullable': {
      const inner = guardOf(def.innerType)
      return value => value === null || inner(value)
    }
    case 'lazy':
      return value => guardOf(def.getter())(value)
    case 'array':
      return listGuard(guardOf(def.element))
    case 'union':
      return 'discriminator' in def ? kindGuard(def as z.core.$ZodDiscriminatedUnionDef) : firstOf(def.options.map(guardOf))
    case 'record':
      return def.keyType._zod.def.type === 'string' && !def.keyType._zod.def.checks?.length ? recordGuard(guardOf(def.valueType)) : unsure
    case 'object':
      return def.catchall?._zod.def.type === 'unknown' ? looseGuard(def.shape) : unsure
    default:
      return unsure
  }
}

function listGuard(member: Guard): Guard {
  return value => {
    if (!Array.isArray(value)) return false
    for (const one of value) {
      const answer = member(one)
      if (answer !== true) return answer
    }
    return true
  }
}

/** A branch that is not sure might be the one that takes it. */
function firstOf(branches: readonly Guard[]): Guard {
  return value => {
    for (const branch of branches) {
      const answer = branch(value)
      if (answer !== false) return answer
    }
    return false
  }
}

function kindGuard({ discriminator, options }: z.core.$ZodDiscriminatedUnionDef): Guard {
  const kinds = new Map<unknown, Guard>()
  for (const option of options) for (const word of option._zod.propValues?.[discriminator] ?? []) kinds.set(word, guardOf(option))
  return value => isObject(value) && (kinds.get(value[discriminator]) ?? refuses)(value)
}

const refuses: Guard = () => false

function recordGuard(member: Guard): Guard {
  return value => {
    if (!isObject(value)) return false
    if (value.constructor !== Object) return undefined
    for (const key in value) {
      const answer = key === leftOut ? undefined : member(value[key])
      if (answer !== true) return answer
    }
    return true
  }
}

/** By the keys that are there: most of a shape's are not. */
function looseGuard(shape: z.core.$ZodLooseShape): Guard {
  if (Object.values(shape).some(field => field._zod.optin === 'defaulted')) return unsure
  const fields = new Map<string, { guard: Guard; isDemanded: boolean }>()
  for (const [key, field] of Object.entries(shape)) fields.set(key, { guard: guardOf(field), isDemanded: field._zod.optin === undefined })
  const demanded = [...fields.values()].filter(({ isDemanded }) => isDemanded).length
  return value => {
    if (!isObject(value)) return false
    let found = 0
    for (const key in value) {
      if (key === leftOut) return undefined
      const field = fields.get(key)
      const answer = field === undefined || field.guard(value[key])
      if (answer !== true) return answer
      if (field?.isDemanded) found++
    }
    return found === demanded
  }
}

/** Of all keys, the one that zod does not copy. */
const leftOut = '__proto__'
