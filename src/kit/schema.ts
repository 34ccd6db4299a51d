import { asked, type Guard, guardOf, wordsAt } from './guard.ts'

/**
 * The schema of a wire value, from which types, guards and error messages are derived. Names and meaning are those of zod, which itself
 * is not used here: loading it takes longer than everything else, and it copies every object that it reads.
 * All objects are loose: a new field must never break an old client.
 */
export class Schema<out T, out IsOptional extends boolean = false> {
  declare readonly type: T
  declare readonly isOptional: IsOptional
  readonly def: Def
  #guard: Guard | undefined

  constructor(def: Def) {
    this.def = def
  }

  /** Created on first use: most programs need few of the schemas. */
  get guard(): Guard {
    this.#guard ??= guardOf(this.def)
    return this.#guard
  }

  accepts(value: unknown): value is T {
    return asked(this.guard, value)
  }

  optional(): Schema<T | undefined, true> {
    return new Schema({ type: 'optional', innerType: this })
  }

  nullable(): Schema<T | null, IsOptional> {
    return new Schema({ type: 'nullable', innerType: this })
  }

  nullish(): Schema<T | null | undefined, true> {
    return this.nullable().optional()
  }

  refine(holds: (value: T) => boolean): Schema<T, IsOptional> {
    return new Schema({ type: 'refined', innerType: this, holds: holds as (value: unknown) => boolean, isForOthers: false })
  }

  /** For the shape of unknown kinds in a union: `isOther` refuses the known kinds, so that a fault in one of them is reported for its own shape. */
  forOthers(isOther: (value: T) => boolean): Schema<T, IsOptional> {
    return new Schema({ type: 'refined', innerType: this, holds: isOther as (value: unknown) => boolean, isForOthers: true })
  }
}

export type AnySchema = Schema<unknown, boolean>

export type Def =
  | { type: 'unknown' | 'string' | 'boolean' | 'number' | 'int' | 'undefined' | 'null' }
  | { type: 'literal'; values: readonly unknown[] }
  | { type: 'optional' | 'nullable'; innerType: AnySchema }
  | { type: 'refined'; innerType: AnySchema; holds: (value: unknown) => boolean; isForOthers: boolean }
  | { type: 'lazy'; getter: () => AnySchema }
  | { type: 'array'; element: AnySchema }
  | { type: 'record'; valueType: AnySchema }
  | { type: 'object'; shape: Shape }
  | { type: 'union'; options: readonly AnySchema[]; discriminator?: string }

export type Shape = Readonly<Record<string, AnySchema>>

/** What a schema accepts. */
export type Infer<S extends AnySchema> = S['type']

type IfOptional<S extends AnySchema, Yes, No> = S extends Schema<unknown, true> ? Yes : No
type Fields<S extends Shape> = Flat<
  { -readonly [Key in keyof S as IfOptional<S[Key], never, Key>]: S[Key]['type'] } & {
    -readonly [Key in keyof S as IfOptional<S[Key], Key, never>]?: S[Key]['type']
  } & { [key: string]: unknown }
>
type Flat<T> = { [Key in keyof T]: T[Key] } & {}

class ObjectSchema<S extends Shape> extends Schema<Fields<S>> {
  readonly shape: S

  constructor(shape: S) {
    super({ type: 'object', shape })
    this.shape = shape
  }
}

type Word = string | number | boolean

export const unknown = (): Schema<unknown> => new Schema({ type: 'unknown' })
export const string = (): Schema<string> => new Schema({ type: 'string' })
export const boolean = (): Schema<boolean> => new Schema({ type: 'boolean' })
export const number = (): Schema<number> => new Schema({ type: 'number' })
export const int = (): Schema<number> => new Schema({ type: 'int' })
export const nothing = (): Schema<null> => new Schema({ type: 'null' })
export const absent = (): Schema<undefined> => new Schema({ type: 'undefined' })
export const literal = <const T extends Word>(...values: readonly [T, ...T[]]): Schema<T> => new Schema({ type: 'literal', values })
export const lazy = <T>(getter: () => Schema<T, boolean>): Schema<T> => new Schema({ type: 'lazy', getter })
export const array = <S extends AnySchema>(element: S): Schema<S['type'][]> => new Schema({ type: 'array', element })
/** An object with any keys, whose values have this schema. */
export const record = <S extends AnySchema>(valueType: S): Schema<Record<string, S['type']>> => new Schema({ type: 'record', valueType })
export const object = <const S extends Shape>(shape: S): ObjectSchema<S> => new ObjectSchema(shape)
export const union = <const S extends readonly AnySchema[]>(options: S): Schema<S[number]['type']> => new Schema({ type: 'union', options })

/** A union of shapes with a discriminator: the key whose literal value identifies the shape. */
export const oneOf = <const S extends readonly ObjectSchema<Shape>[]>(discriminator: string, options: S): Schema<S[number]['type']> =>
  new Schema({ type: 'union', options, discriminator })

/**
 * A union of shapes with the discriminator `type`, open to unknown types: a kind that a vendor adds later is accepted, a known kind with
 * a fault is refused.
 */
export function open<const S extends readonly ObjectSchema<Shape>[]>(known: S) {
  const types = new Set(known.flatMap(shape => wordsAt(shape, 'type')))
  return union([oneOf('type', known), object({ type: string().forOthers(type => !types.has(type)) })])
}
