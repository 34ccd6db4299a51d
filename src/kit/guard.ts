import type { z } from 'zod'
import { isObject } from './json.ts'

/** True: the schema takes the value, and would give back an equal one. False: the schema has to be asked. */
export type Guard = (value: unknown) => boolean

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
  const rules = (schema._zod.def.checks ?? []).map(check => (check as z.core.$ZodChecks)._zod.def)
  if (rules.length === 0) return plain
  return value => plain(value) && rules.every(rule => rule.check === 'custom' && rule.type === 'custom' && rule.fn(value as never) === true)
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
    case 'literal': {
      const [only, ...others] = def.values
      return others.length === 0 ? value => value === only : value => def.values.includes(value as never)
    }
    case 'enum': {
      const words = new Set<unknown>(Object.values(def.entries))
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
    case 'array': {
      const member = guardOf(def.element)
      return value => Array.isArray(value) && value.every(member)
    }
    case 'union': {
      if ('discriminator' in def) return byKind(def as z.core.$ZodDiscriminatedUnionDef)
      const branches = def.options.map(guardOf)
      return value => branches.some(branch => branch(value))
    }
    case 'record': {
      const { keyType } = def
      if (keyType._zod.def.type !== 'string' || keyType._zod.def.checks?.length) return unsure
      const member = guardOf(def.valueType)
      return value => {
        if (!isObject(value) || value.constructor !== Object) return false
        for (const key in value) if (key === leftOut || !member(value[key])) return false
        return true
      }
    }
    case 'object':
      return def.catchall?._zod.def.type === 'unknown' ? looseGuard(def.shape) : unsure
    default:
      return unsure
  }
}

const unsure: Guard = () => false

function byKind({ discriminator, options }: z.core.$ZodDiscriminatedUnionDef): Guard {
  const kinds = new Map<unknown, Guard>()
  for (const option of options) for (const word of option._zod.propValues?.[discriminator] ?? []) kinds.set(word, guardOf(option))
  return value => isObject(value) && kinds.get(value[discriminator])?.(value) === true
}

/** By the keys that are there: most of a shape's are not. */
function looseGuard(shape: z.core.$ZodLooseShape): Guard {
  const fields = new Map<string, { guard: Guard; isDemanded: boolean }>()
  for (const [key, field] of Object.entries(shape)) fields.set(key, { guard: guardOf(field), isDemanded: field._zod.optin === undefined })
  const demanded = [...fields.values()].filter(({ isDemanded }) => isDemanded).length
  return value => {
    if (!isObject(value)) return false
    let found = 0
    for (const key in value) {
      const field = fields.get(key)
      if (field === undefined ? key === leftOut : !field.guard(value[key])) return false
      if (field?.isDemanded) found++
    }
    return found === demanded
  }
}

/** Of all keys, the one that zod does not copy. */
const leftOut = '__proto__'
