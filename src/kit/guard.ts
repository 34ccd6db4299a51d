import { isObject } from './json.ts'
import type { AnySchema, Def, Shape } from './schema.ts'

/** Does the schema accept the value? Copies nothing. */
export type Guard = (value: unknown) => boolean

/** A key that is refused everywhere: assigning it would set the prototype of the copy, so that it would be lost silently. */
export const lostKey = '__proto__'

/** Thrown by guards for an object with that key, so that no other shape of a union accepts the value. */
const lost = new RangeError(`no protocol has a key ${lostKey}`)

/** Does the guard accept the value? False also for `lost`. */
export function asked(guard: Guard, value: unknown): boolean {
  try {
    return guard(value)
  } catch (error) {
    if (error === lost) return false
    throw error
  }
}

/** The guard of a schema. */
export function guardOf(def: Def): Guard {
  switch (def.type) {
    case 'unknown':
      return () => true
    case 'string':
      return value => typeof value === 'string'
    case 'boolean':
      return value => typeof value === 'boolean'
    case 'number':
      return value => Number.isFinite(value)
    case 'int':
      return value => Number.isInteger(value)
    case 'null':
      return value => value === null
    case 'undefined':
      return value => value === undefined
    case 'literal': {
      const [only, ...others] = def.values
      if (others.length === 0) return value => value === only
      const words = new Set(def.values)
      return value => words.has(value)
    }
    case 'optional': {
      const inner = def.innerType.guard
      return value => value === undefined || inner(value)
    }
    case 'nullable': {
      const inner = def.innerType.guard
      return value => value === null || inner(value)
    }
    case 'refined': {
      const { holds } = def
      const inner = def.innerType.guard
      return value => inner(value) && holds(value)
    }
    case 'lazy':
      return value => def.getter().guard(value)
    case 'array':
      return listGuard(def.element.guard)
    case 'record':
      return recordGuard(def.valueType.guard)
    case 'object':
      return looseGuard(def.shape)
    case 'union':
      return def.discriminator === undefined ? firstOf(def.options.map(({ guard }) => guard)) : kindGuard(def.discriminator, def.options)
    default:
      return def satisfies never
  }
}

function listGuard(member: Guard): Guard {
  return value => {
    if (!Array.isArray(value)) return false
    for (const one of value) if (!member(one)) return false
    return true
  }
}

function firstOf(branches: readonly Guard[]): Guard {
  return value => {
    for (const branch of branches) if (branch(value)) return true
    return false
  }
}

function kindGuard(discriminator: string, options: readonly AnySchema[]): Guard {
  const kinds = kindsOf(discriminator, options)
  return value => isObject(value) && kinds.get(value[discriminator])?.guard(value) === true
}

/** The shapes of a union by the value of their discriminator. */
export function kindsOf(discriminator: string, options: readonly AnySchema[]): Map<unknown, AnySchema> {
  return new Map(options.flatMap(option => (option.def.type === 'object' ? wordsAt(option.def, discriminator).map(word => [word, option] as const) : [])))
}

/** The literal values that a shape accepts at a key. */
export function wordsAt({ shape }: { shape: Shape }, key: string): readonly unknown[] {
  const field = shape[key]
  return field ? wordsOf(field) : []
}

function wordsOf({ def }: AnySchema): readonly unknown[] {
  switch (def.type) {
    case 'literal':
      return def.values
    case 'null':
      return [null]
    case 'optional':
      return [...wordsOf(def.innerType), undefined]
    case 'nullable':
      return [...wordsOf(def.innerType), null]
    default:
      return []
  }
}

function recordGuard(member: Guard): Guard {
  return value => {
    if (!isObject(value)) return false
    for (const key in value) {
      if (key === lostKey) throw lost
      if (!member(value[key])) return false
    }
    return true
  }
}

/** Iterates over the keys of the value and not of the shape, because most keys of a shape are absent. */
function looseGuard(shape: Shape): Guard {
  const fields = new Map(Object.entries(shape).map(([key, field]) => [key, { guard: field.guard, isDemanded: isDemanded(field) }]))
  const demanded = [...fields.values()].filter(({ isDemanded }) => isDemanded).length
  return value => {
    if (!isObject(value)) return false
    let found = 0
    for (const key in value) {
      if (key === lostKey) throw lost
      const field = fields.get(key)
      if (field === undefined) continue
      if (!field.guard(value[key])) return false
      if (field.isDemanded) found++
    }
    return found === demanded
  }
}

/** Is a key with this schema required? */
export function isDemanded({ def }: AnySchema): boolean {
  if (def.type === 'nullable' || def.type === 'refined') return isDemanded(def.innerType)
  return def.type !== 'optional'
}
