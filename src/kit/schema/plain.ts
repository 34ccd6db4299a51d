import type * as zod from 'zod/mini'

// Schemas as plain data, in the words of `zod/mini`. What translates bodies needs only these: zod itself is 8 kB of a bundle, and creates
// each schema in some 5 µs. `toZod` makes real ones of them, for `wireglot/schemas`. A bundler leaves out those that nothing uses.

/** A schema. `Of`: the one of zod with the same meaning. */
export type Plain<Of extends zod.core.$ZodType = zod.core.$ZodType> = {
  readonly def: Def
  /** What a value must fulfil besides. */
  readonly rules: readonly Rule[]
  /** For types only; never set. */
  readonly of?: Of
}

/** A schema of values of this type. */
export type PlainOf<T> = Plain<zod.ZodMiniType<T>>

/** `message`: what an error says. `isForOthers`: values that fail belong to another shape of the union. */
export type Rule = { accepts(value: unknown): boolean; message?: string; isForOthers?: true }

/** Is this exported value a schema? */
export const isPlain = (value: unknown): value is Plain => typeof value === 'object' && value !== null && 'def' in value && 'rules' in value

export type Shape = Readonly<Record<string, Plain>>

/** `lazy`: for a schema that contains itself. `discriminator`: the key whose literal value identifies the option. */
export type Def =
  | { readonly type: 'string' | 'boolean' | 'number' | 'unknown' | 'null' | 'undefined' }
  | { readonly type: 'literal'; readonly values: readonly Literal[] }
  | { readonly type: 'optional' | 'nullable'; readonly innerType: Plain }
  | { readonly type: 'lazy'; readonly getter: () => Plain }
  | { readonly type: 'array'; readonly element: Plain }
  | { readonly type: 'record'; readonly valueType: Plain }
  | ObjectDef
  | UnionDef
export type ObjectDef = { readonly type: 'object'; readonly shape: Shape }
export type UnionDef = { readonly type: 'union'; readonly options: readonly Plain[]; readonly discriminator?: string }
type Literal = string | number | boolean

type Zod<P> = P extends Plain<infer Of> ? Of : never
type ZodShape<S extends Shape> = { -readonly [Key in keyof S]: Zod<S[Key]> }
type ZodList<List extends readonly Plain[]> = { [Index in keyof List]: Zod<List[Index]> }

/** The type of the values of a schema. */
export type Infer<P extends Plain> = zod.output<Zod<P>>
export type { Infer as infer }

/* @__NO_SIDE_EFFECTS__ */
function make<Of extends zod.core.$ZodType>(def: Def): Plain<Of> {
  return { def, rules: [] }
}

/* @__NO_SIDE_EFFECTS__ */
export function string(): Plain<zod.ZodMiniString> {
  return make({ type: 'string' })
}

/* @__NO_SIDE_EFFECTS__ */
export function boolean(): Plain<zod.ZodMiniBoolean> {
  return make({ type: 'boolean' })
}

/* @__NO_SIDE_EFFECTS__ */
export function number(): Plain<zod.ZodMiniNumber> {
  return make({ type: 'number' })
}

/* @__NO_SIDE_EFFECTS__ */
export function unknown(): Plain<zod.ZodMiniUnknown> {
  return make({ type: 'unknown' })
}

/* @__NO_SIDE_EFFECTS__ */
function nothing(): Plain<zod.ZodMiniNull> {
  return make({ type: 'null' })
}

/* @__NO_SIDE_EFFECTS__ */
function absent(): Plain<zod.ZodMiniUndefined> {
  return make({ type: 'undefined' })
}

export { absent as undefined, nothing as null }

/* @__NO_SIDE_EFFECTS__ */
export function literal<const Value extends Literal | readonly Literal[]>(
  value: Value,
): Plain<zod.ZodMiniLiteral<Value extends readonly Literal[] ? Value[number] : Value extends Literal ? Value : never>> {
  return make({ type: 'literal', values: typeof value === 'object' ? value : [value as Literal] })
}

/* @__NO_SIDE_EFFECTS__ */
export function optional<P extends Plain>(innerType: P): Plain<zod.ZodMiniOptional<Zod<P>>> {
  return make({ type: 'optional', innerType })
}

/* @__NO_SIDE_EFFECTS__ */
export function nullable<P extends Plain>(innerType: P): Plain<zod.ZodMiniNullable<Zod<P>>> {
  return make({ type: 'nullable', innerType })
}

/* @__NO_SIDE_EFFECTS__ */
export function nullish<P extends Plain>(innerType: P): Plain<zod.ZodMiniOptional<zod.ZodMiniNullable<Zod<P>>>> {
  return make({ type: 'optional', innerType: nullable(innerType) })
}

/* @__NO_SIDE_EFFECTS__ */
export function lazy<P extends Plain>(getter: () => P): Plain<zod.ZodMiniLazy<Zod<P>>> {
  return make({ type: 'lazy', getter })
}

/* @__NO_SIDE_EFFECTS__ */
export function array<P extends Plain>(element: P): Plain<zod.ZodMiniArray<Zod<P>>> {
  return make({ type: 'array', element })
}

/** An object whose keys are all of any name. */
/* @__NO_SIDE_EFFECTS__ */
export function record<P extends Plain>(valueType: P): Plain<zod.ZodMiniRecord<zod.ZodMiniString, Zod<P>>> {
  return make({ type: 'record', valueType })
}

/** An object with these keys and any others. */
/* @__NO_SIDE_EFFECTS__ */
export function looseObject<const S extends Shape>(shape: S): Plain<zod.ZodMiniObject<ZodShape<S>, zod.core.$loose>> & { readonly shape: S } {
  return { def: { type: 'object', shape }, rules: [], shape }
}

/* @__NO_SIDE_EFFECTS__ */
export function union<const Options extends readonly Plain[]>(options: Options): Plain<zod.ZodMiniUnion<ZodList<Options>>> & { readonly options: Options } {
  return { def: { type: 'union', options }, rules: [], options }
}

/* @__NO_SIDE_EFFECTS__ */
export function discriminatedUnion<const Key extends string, const Options extends readonly [Plain, ...Plain[]]>(
  discriminator: Key,
  options: Options,
): Plain<zod.ZodMiniUnion<ZodList<Options>>> & { readonly options: Options } {
  return { def: { type: 'union', options, discriminator }, rules: [], options }
}

/** The schema with one more rule. */
/* @__NO_SIDE_EFFECTS__ */
export function refined<P extends Plain>(schema: P, accepts: (value: Infer<P>) => boolean, more: Omit<Rule, 'accepts'> = {}): P {
  // A rule is asked only about values of the type of the schema.
  return { ...schema, rules: [...schema.rules, { ...more, accepts: accepts as Rule['accepts'] }] }
}
