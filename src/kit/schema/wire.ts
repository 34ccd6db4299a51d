import * as z from 'zod/mini'
import { wordsAt } from './guard.ts'

// What the schemas of all protocols share: to create a schema takes longer than to check a value
// with it. All objects are loose, because a new field must never break an old client.

export const string = z.string()
export const boolean = z.boolean()
export const number = z.number()
/** A whole number of any size. `z.int` refuses numbers beyond 2^53. */
export const wholeNumber = number.check(z.refine(Number.isInteger, 'expected a whole number'))
export const unknown = z.unknown()

// Fields that may be missing. Null counts as absence in all protocols.

export const text = z.nullish(string)
export const texts = z.nullish(z.array(string))
export const flag = z.nullish(boolean)
export const count = z.nullish(number)
export const whole = z.nullish(wholeNumber)
export const anyObject = z.nullish(z.record(string, unknown))
export const anything = z.optional(unknown)

/**
 * For the shape of unknown kinds in a union: `isOther` refuses the known kinds, so that a fault in
 * one of them is reported for its own shape.
 */
export const others = <T>(isOther: (value: T) => boolean): z.core.$ZodCheck<T> =>
  z.refine<T>(isOther, { params: { isForOthers: true } })

/**
 * A union of shapes with the discriminator `type`, open to unknown types: a kind that a vendor adds
 * later is accepted, a known kind with a fault is refused.
 */
export function open<const Known extends readonly [z.ZodMiniObject, ...z.ZodMiniObject[]]>(
  known: Known,
) {
  const kinds = z.discriminatedUnion('type', known)
  const words = wordsAt(kinds, 'type')
  return z.union([kinds, z.looseObject({ type: string.check(others(type => !words?.has(type))) })])
}
