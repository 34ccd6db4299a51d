import type { z } from 'zod'

/** A schema of zod or of `zod/mini`. */
export type AnySchema = z.core.$ZodType

/** The definition of a schema, as far as it matters here. */
export type Def = {
  type: string
  shape?: Record<string, AnySchema>
  catchall?: AnySchema
  innerType?: AnySchema
  element?: AnySchema
  options?: AnySchema[]
  values?: unknown[]
  entries?: Record<string, unknown>
  valueType?: AnySchema
  in?: AnySchema
  out?: AnySchema
  left?: AnySchema
  right?: AnySchema
  keyType?: AnySchema
  items?: AnySchema[]
  rest?: AnySchema | null
  checks?: z.core.$ZodCheck[]
  format?: string
  hostname?: RegExp
  protocol?: RegExp
  alg?: string
}

/** The limits that all checks of a schema set together. */
export type Bag = {
  minimum?: number | bigint | Date
  maximum?: number | bigint | Date
  exclusiveMinimum?: number | bigint
  exclusiveMaximum?: number | bigint
  multipleOf?: number | bigint
  format?: string
  pattern?: RegExp
}

/** The definitions of all checks, as far as they matter here. */
type Check = {
  check?: string
  value?: number | bigint | Date
  inclusive?: boolean
  minimum?: number
  maximum?: number
  length?: number
  size?: number
  format?: string
  pattern?: RegExp
}

export const isSchema = (value: unknown): value is AnySchema =>
  typeof value === 'object' && value !== null && '_zod' in value

export function defOf(schema: AnySchema): Def {
  return schema._zod.def as unknown as Def
}

export function bagOf(schema: AnySchema): Bag {
  const bag: Bag = {}
  const checks = [
    schema._zod.def as Check,
    ...(schema._zod.def.checks ?? []).map(({ _zod }) => _zod.def as Check),
  ]
  for (const {
    check,
    value,
    inclusive,
    minimum,
    maximum,
    length,
    size,
    format,
    pattern,
  } of checks) {
    const isUnsigned = format?.startsWith('uint')
    const least =
      check === 'greater_than' ? value : (minimum ?? length ?? size ?? (isUnsigned ? 0 : undefined))
    const most = check === 'less_than' ? value : (maximum ?? length ?? size)
    const [from, to] = [
      inclusive === false ? 'exclusiveMinimum' : 'minimum',
      inclusive === false ? 'exclusiveMaximum' : 'maximum',
    ] as const
    if (least !== undefined && !((bag[from] ?? Number.NEGATIVE_INFINITY) > least))
      bag[from] = least as number
    if (most !== undefined && !((bag[to] ?? Number.POSITIVE_INFINITY) < most))
      bag[to] = most as number
    if (check === 'multiple_of') bag.multipleOf = value as number
    if (format) bag.format = format
    if (pattern) bag.pattern = pattern
  }
  return bag
}

/** The values that a schema lists. Undefined: it lists none. */
export const valuesOf = (schema: AnySchema): unknown[] | undefined =>
  schema._zod.values ? [...schema._zod.values] : undefined

/**
 * Is undefined accepted, or replaced by a default? Transforms, as those of `preprocess`, take it
 * but may lead to a value that is not accepted.
 */
export function isOptional(schema: AnySchema): boolean {
  const { optin, def } = schema._zod
  if (optin !== 'optional' && optin !== 'defaulted') return false
  return def.type !== 'pipe' || issuesOf(schema, undefined).length === 0
}

/** Rules are predicates, as of `refine`, of which nothing but the result is known. */
export const isRule = (check: z.core.$ZodCheck) => check._zod.def.check === 'custom'

/** The predicate of a rule. Undefined: a function of `superRefine` or `check`. */
export const ruleIn = (check: z.core.$ZodCheck) => (check._zod.def as { fn?: unknown }).fn

/** An error that names what cannot be generated. `key`: of the value; empty: none. */
export const refusal = (why: string, key = '', cause?: unknown) =>
  new Error(
    `fromSchema: ${why}${key && ` at key "${key}"`}`,
    cause === undefined ? undefined : { cause },
  )

export function inner(def: Def): AnySchema {
  if (!def.innerType) throw refusal(`the zod kind "${def.type}" without an inner type`)
  return def.innerType
}

/**
 * The issues of a value. Empty: it is accepted. An exception in a transform or check counts as an
 * issue.
 * @throws Error for asynchronous checks
 */
export function issuesOf(schema: AnySchema, value: unknown): string[] {
  const result = run(schema, value)
  if (result instanceof Promise) {
    result.catch(() => {})
    throw refusal(
      `a check of the zod kind "${defOf(schema).type}" is asynchronous. Leave it out of the schema, and filter the generated values`,
    )
  }
  return result.issues.map(
    issue => issue.message ?? [issue.code, issue.path?.join('.')].filter(Boolean).join(' at '),
  )
}

/** The values that the issues of this value list as accepted. */
export function listedIn(schema: AnySchema, value: unknown): unknown[] {
  const result = run(schema, value)
  return result instanceof Promise
    ? []
    : result.issues.flatMap(issue => (issue.code === 'invalid_value' ? issue.values : []))
}

function run(schema: AnySchema, value: unknown): ReturnType<AnySchema['_zod']['run']> {
  try {
    return schema._zod.run({ value, issues: [] }, {})
  } catch (thrown) {
    return {
      value,
      issues: [
        { code: 'custom', input: value, message: `the check throws ${String(thrown)}`, path: [] },
      ],
    }
  }
}

/** The schema behind `lazy`. @throws Error if there is none */
export function behind(schema: AnySchema): AnySchema {
  const found = attempt(() => (schema as z.core.$ZodLazy)._zod.innerType)
  if (!isSchema(found))
    throw refusal(
      `the function of a lazy schema returns no schema${found instanceof Error ? `, but throws ${found}` : ''}`,
    )
  return found
}

function attempt(make: () => unknown): unknown {
  try {
    return make()
  } catch (fault) {
    return fault instanceof Error ? fault : new Error(String(fault))
  }
}

/** The schema of a value that is there, behind `optional`, `nonoptional` and `lazy`. */
export function present(schema: AnySchema): AnySchema {
  const { type, innerType } = defOf(schema)
  if (type === 'lazy') return present(behind(schema))
  return innerType && (type === 'optional' || type === 'nonoptional') ? present(innerType) : schema
}

/**
 * The side of a pipe whose values are generated. What `preprocess` accepts is unknown, but it
 * leaves alone most of what the schema behind it accepts.
 */
export const sourceOf = (def: Def): AnySchema | undefined =>
  def.in && defOf(def.in).type === 'transform' ? def.out : def.in
