import { asked, type Guard, guardOf, wordsAt } from './guard.ts'

/**
 * What may stand on a wire, said once: the types, the guards and the words of a fault are made of it. The vocabulary and its
 * meaning are zod's, but to load zod took longer than to load everything else, and it makes every object anew that it reads.
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

  /** Made when it is first asked: of most schemas a program needs few. */
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

  /** For the shape that takes unknown kinds: `isOther` refuses the known ones, so that a fault in one of them is told as its own. */
  forOthers(isOther: (value: T) => boolean): Schema<T, IsOptional> {
    return new Schema({ type: 'refined', innerType: this, holds: isOther as (value: unknown) => boolean, isForOthers: true })
  }
}

export type AnySchema = Schema<unknown, boolean>

export type Def =
  | { type: 'unknown' | 'string' | 'boolean' | 'number' | 'undefined' | 'null' }
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
export const nothing = (): Schema<null> => new Schema({ type: 'null' })
export const absent = (): Schema<undefined> => new Schema({ type: 'undefined' })
export const literal = <const T extends Word>(...values: readonly [T, ...T[]]): Schema<T> => new Schema({ type: 'literal', values })
export const lazy = <T>(getter: () => Schema<T, boolean>): Schema<T> => new Schema({ type: 'lazy', getter })
export const array = <S extends AnySchema>(element: S): Schema<S['type'][]> => new Schema({ type: 'array', element })
/** Any keys, and a value of this kind at each. */
export const record = <S extends AnySchema>(valueType: S): Schema<Record<string, S['type']>> => new Schema({ type: 'record', valueType })
export const object = <const S extends Shape>(shape: S): ObjectSchema<S> => new ObjectSchema(shape)
export const union = <const S extends readonly AnySchema[]>(options: S): Schema<S[number]['type']> => new Schema({ type: 'union', options })

/** One of several shapes, told apart by a word that each of them has at this key. */
export const oneOf = <const S extends readonly ObjectSchema<Shape>[]>(discriminator: string, options: S): Schema<S[number]['type']> =>
  new Schema({ type: 'union', options, discriminator })

/**
 * One of several shapes told apart by their `type`, or anything else that has another `type`: a kind that a vendor added
 * after this was written is read, a known kind with a fault in it is refused.
 */
export function open<const S extends readonly ObjectSchema<Shape>[]>(known: S) {
  const types = new Set(known.flatMap(shape => wordsAt(shape, 'type')))
  return union([oneOf('type', known), object({ type: string().forOthers(type => !types.has(type)) })])
}
