import { wordsAt } from './guard.ts'
import * as z from './plain.ts'

// What the schemas of all protocols share: to create a schema takes longer than to check a value with it. All objects are loose, because
// a new field must never break an old client.

export const string = z.string()
export const boolean = z.boolean()
export const number = z.number()
/** A whole number of any size. `z.int` refuses numbers beyond 2^53. */
export const wholeNumber = z.refined(number, Number.isInteger, { message: 'expected a whole number' })
export const unknown = z.unknown()

// Fields that may be missing. Null counts as absence in all protocols.

export const text = z.nullish(string)
export const texts = z.nullish(z.array(string))
export const flag = z.nullish(boolean)
export const count = z.nullish(number)
export const whole = z.nullish(wholeNumber)
export const anyObject = z.nullish(z.record(unknown))
export const anything = z.optional(unknown)

/** For the shape of unknown kinds in a union: `isOther` refuses the known kinds, so that a fault in one of them is reported for its own shape. */
/* @__NO_SIDE_EFFECTS__ */
export function others<P extends z.Plain>(schema: P, isOther: (value: z.infer<P>) => boolean): P {
  return z.refined(schema, isOther, { isForOthers: true })
}

/**
 * A union of shapes with the discriminator `type`, open to unknown types: a kind that a vendor adds later is accepted, a known kind with
 * a fault is refused.
 */
/* @__NO_SIDE_EFFECTS__ */
export function open<const Known extends readonly [z.Plain, ...z.Plain[]]>(known: Known) {
  const kinds = z.discriminatedUnion('type', known)
  let words: ReadonlySet<unknown> | undefined
  const isOther = (type: unknown) => {
    words ??= wordsAt(kinds, 'type')
    return !words?.has(type)
  }
  return z.union([kinds, z.looseObject({ type: others(string, isOther) })])
}
