import type * as z from 'zod/mini'
import { isObject } from '../json/json.ts'

/** A schema of any kind, for values of this type. */
export type Schema<T = unknown> = z.core.$ZodType<T>
type Shape = z.core.$ZodShape

/**
 * Does the schema accept the value? Copies nothing, where zod copies every object that it reads.
 */
export type Guard = (value: unknown) => boolean

/**
 * A key that is refused everywhere: assigning it would set the prototype of the copy, so that it
 * would be lost silently.
 */
export const lostKey = '__proto__'

/**
 * Thrown by guards for an object with that key, so that no other shape of a union accepts the
 * value.
 */
const lost = new RangeError(`no protocol has a key ${lostKey}`)

export function accepts<S extends Schema>(schema: S, value: unknown): value is z.output<S> {
  try {
    return guardOf(schema)(value)
  } catch (error) {
    if (error === lost) return false
    throw error
  }
}

const made = new WeakMap<Schema, Guard>()

/** The guard of a schema, created on first use: most programs need few of the schemas. */
export function guardOf(schema: Schema): Guard {
  const known = made.get(schema)
  if (known) return known
  const guard = rulesOf(schema).reduce<Guard>(
    (inner, { fn }) =>
      value =>
        inner(value) && Boolean(fn(value)),
    guardOfKind(schema),
  )
  made.set(schema, guard)
  return guard
}

/** The rules that a schema adds to its kind. */
export function rulesOf({ _zod: { def } }: Schema): z.core.$ZodCustomDef[] {
  return (def.checks ?? []).map(({ _zod: { def } }) => {
    if (!isRule(def)) throw new Error(`no guard for the zod check "${def.check}"`)
    return def
  })
}

const isRule = (def: z.core.$ZodCheckDef): def is z.core.$ZodCustomDef => 'fn' in def

/** The definition of a schema, by its kind. */
export const defOf = (schema: Schema) => (schema as z.core.$ZodTypes)._zod.def

function guardOfKind(schema: Schema): Guard {
  const def = defOf(schema)
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
      if (others.length === 0) return value => value === only
      const words = new Set<unknown>(def.values)
      return value => words.has(value)
    }
    case 'optional': {
      const inside = defOf(def.innerType)
      // Most fields may be null or absent: one guard for both saves a call.
      const mayBeNull = inside.type === 'nullable' && !inside.checks
      const inner = guardOf(mayBeNull ? inside.innerType : def.innerType)
      return mayBeNull
        ? value => value === undefined || value === null || inner(value)
        : value => value === undefined || inner(value)
    }
    case 'nullable': {
      const inner = guardOf(def.innerType)
      return value => value === null || inner(value)
    }
    case 'lazy': {
      let inner: Guard | undefined
      return value => {
        inner ??= guardOf(def.getter())
        return inner(value)
      }
    }
    case 'array':
      return listGuard(guardOf(def.element))
    case 'record':
      return recordGuard(guardOf(def.valueType))
    case 'object':
      return looseGuard(def.shape)
    case 'union': {
      const discriminator = discriminatorOf(def)
      return discriminator === undefined
        ? firstOf(def.options.map(guardOf))
        : kindGuard(discriminator, def.options)
    }
    default:
      throw new Error(`no guard for the zod kind "${def.type}"`)
  }
}

/** The key whose literal value identifies the shape, if the union has one. */
export function discriminatorOf(
  def: z.core.$ZodUnionDef | z.core.$ZodDiscriminatedUnionDef,
): string | undefined {
  return 'discriminator' in def ? def.discriminator : undefined
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

function kindGuard(discriminator: string, options: readonly Schema[]): Guard {
  const kinds = new Map(
    [...kindsOf(discriminator, options)].map(([word, option]) => [word, guardOf(option)]),
  )
  return value => isObject(value) && kinds.get(value[discriminator])?.(value) === true
}

/** The shapes of a union by the value of their discriminator. */
export function kindsOf(discriminator: string, options: readonly Schema[]): Map<unknown, Schema> {
  return new Map(
    options.flatMap(option =>
      [...(wordsAt(option, discriminator) ?? [])].map(word => [word, option] as const),
    ),
  )
}

/**
 * The literal values that a shape, or each shape of a union, accepts at a key. Undefined: other
 * values are accepted, too. Slow; call it once.
 */
export function wordsAt(schema: Schema, key: string): ReadonlySet<unknown> | undefined {
  const def = defOf(schema)
  if (def.type === 'union') return merged(def.options.map(option => wordsAt(option, key)))
  const field = def.type === 'object' ? def.shape[key] : undefined
  return field && wordsOf(field)
}

function wordsOf(schema: Schema): ReadonlySet<unknown> | undefined {
  const def = defOf(schema)
  switch (def.type) {
    case 'literal':
      return new Set(def.values)
    case 'null':
      return new Set([null])
    case 'undefined':
      return new Set([undefined])
    case 'optional':
      return merged([wordsOf(def.innerType), new Set([undefined])])
    case 'nullable':
      return merged([wordsOf(def.innerType), new Set([null])])
    default:
      return undefined
  }
}

/** All values together. Undefined when one of the sets is. */
function merged(
  sets: readonly (ReadonlySet<unknown> | undefined)[],
): ReadonlySet<unknown> | undefined {
  const known = sets.filter(set => set !== undefined)
  return known.length === sets.length ? new Set(known.flatMap(set => [...set])) : undefined
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

/**
 * Iterates over the keys of the value and not of the shape, because most keys of a shape are
 * absent.
 */
function looseGuard(shape: Shape): Guard {
  const fields = new Map(
    Object.entries(shape).map(([key, field]) => [
      key,
      { guard: guardOf(field), isRequired: isRequired(field) },
    ]),
  )
  const required = [...fields.values()].filter(({ isRequired }) => isRequired).length
  return value => {
    if (!isObject(value)) return false
    let found = 0
    for (const key in value) {
      if (key === lostKey) throw lost
      const field = fields.get(key)
      if (field === undefined) continue
      if (!field.guard(value[key])) return false
      if (field.isRequired) found++
    }
    return found === required
  }
}

/** Is a key with this schema required? */
export function isRequired(schema: Schema): boolean {
  const def = defOf(schema)
  switch (def.type) {
    case 'optional':
      return false
    case 'nullable':
      return isRequired(def.innerType)
    case 'lazy':
      return isRequired(def.getter())
    case 'union':
      return def.options.every(isRequired)
    default:
      return true
  }
}
