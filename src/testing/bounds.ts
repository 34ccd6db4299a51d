import fc, { type Arbitrary } from 'fast-check'
import { type Bag, type Def, refusal, ruleIn } from './definition.ts'

const someNumber = fc.oneof(fc.integer({ min: 0, max: 5000 }), fc.constantFrom(0.5, 1.25, -1, 1e15))

/** Numbers of a schema without bounds. `known`: typical values that the schema accepts. */
export function freeNumber(
  key: string,
  { format, checks = [] }: Def,
  known: readonly number[],
): Arbitrary<unknown> {
  const isWhole = format === 'safeint' || checks.some(check => ruleIn(check) === Number.isInteger)
  if (known.length > 0) return fc.constantFrom(...known)
  return isWhole || key.includes('tokens') || key.endsWith('_requests')
    ? fc.integer({ min: 0, max: 5000 })
    : someNumber
}

export const hasBounds = (bag: Bag) => Object.keys(bag).length > 0

const textOf = (bag: Bag) =>
  JSON.stringify(bag, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))

const nothingWithin = (bag: Bag, key: string) =>
  refusal(`no value lies within the checks ${textOf(bag)}`, key)

/**
 * `known`: typical values that the schema accepts.
 * @throws Error if no number lies within the bounds
 */
export function boundedNumber(bag: Bag, key: string, known: readonly number[]): Arbitrary<unknown> {
  const isWhole = /int/.test(bag.format ?? '')
  const step = bag.multipleOf === undefined ? 1 : Math.abs(Number(bag.multipleOf))
  const lowest = Math.max(
    Number(bag.minimum ?? Number.NEGATIVE_INFINITY),
    Number(bag.exclusiveMinimum ?? Number.NEGATIVE_INFINITY),
  )
  const highest = Math.min(
    Number(bag.maximum ?? Number.POSITIVE_INFINITY),
    Number(bag.exclusiveMaximum ?? Number.POSITIVE_INFINITY),
  )
  // Where only one side is bounded, numbers stay near it.
  const from = lowest > Number.NEGATIVE_INFINITY ? lowest : near(Math.min(-1, highest), -1)
  const to = highest < Number.POSITIVE_INFINITY ? highest : near(Math.max(0, from), 1)
  const first =
    Math.ceil(from / step) + (bag.exclusiveMinimum === Math.ceil(from / step) * step ? 1 : 0)
  const last = Math.min(
    Number.MAX_SAFE_INTEGER,
    Math.floor(to / step) - (bag.exclusiveMaximum === Math.floor(to / step) * step ? 1 : 0),
  )
  const steps =
    first <= last && Number.isSafeInteger(first)
      ? [fc.integer({ min: first, max: last }).map(count => count * step)]
      : []
  const isFree = !isWhole && bag.multipleOf === undefined && from <= to
  const isOpen = from < to || (bag.exclusiveMinimum !== from && bag.exclusiveMaximum !== to)
  const between =
    isFree && isOpen ? [fc.double({ min: from, max: to, noNaN: true }).map(value => value + 0)] : []
  const ways = [...(known.length > 0 ? [fc.constantFrom(...known)] : []), ...steps, ...between]
  if (ways.length === 0) throw nothingWithin(bag, key)
  return fc.oneof(...ways)
}

/** A number on this side of a bound that is finite and differs from it. */
function near(bound: number, side: -1 | 1): number {
  const end = bound + side * Math.max(5000, Math.abs(bound) / 2)
  return Number.isFinite(end) ? end : side * Number.MAX_VALUE
}

/** @throws Error if no number lies within the bounds */
export function boundedBigint(bag: Bag, key: string): Arbitrary<unknown> {
  const big = (end: Bag['minimum']) => (end === undefined ? undefined : BigInt(end as bigint))
  const magnitude = big(bag.multipleOf) ?? 1n
  const step = magnitude < 0n ? -magnitude : magnitude
  if (step === 0n) throw nothingWithin(bag, key)
  const least = largest(big(bag.minimum), plus(big(bag.exclusiveMinimum), 1n))
  const most = negated(
    largest(negated(big(bag.maximum)), negated(plus(big(bag.exclusiveMaximum), -1n))),
  )
  const from = least ?? (most ?? 0n) - 5000n * step
  const to = most ?? from + 10_000n * step
  const [first, last] = [-floorOf(-from, step), floorOf(to, step)]
  if (first > last) throw nothingWithin(bag, key)
  return fc.bigInt({ min: first, max: last }).map(count => count * step)
}

const plus = (value: bigint | undefined, more: bigint) =>
  value === undefined ? undefined : value + more
const negated = (value: bigint | undefined) => (value === undefined ? undefined : -value)
const largest = (a: bigint | undefined, b: bigint | undefined) =>
  a === undefined || (b !== undefined && b > a) ? b : a
const floorOf = (value: bigint, step: bigint) => value / step - (value % step < 0n ? 1n : 0n)

/** @throws Error if no date lies within the bounds */
export function boundedDate(bag: Bag, key: string): Arbitrary<Date> {
  const { minimum: min, maximum: max } = bag
  if (
    [min, max].some(end => end instanceof Date && Number.isNaN(end.getTime())) ||
    (min instanceof Date && max instanceof Date && min > max)
  )
    throw nothingWithin(bag, key)
  return fc.date({
    noInvalidDate: true,
    ...(min instanceof Date && { min }),
    ...(max instanceof Date && { max }),
  })
}

/**
 * The lengths of a text or list: at most `longest` more than required.
 * @throws Error if there are none
 */
export function lengths(
  bag: Bag,
  longest: number,
  key = '',
): { minLength: number; maxLength: number } {
  const minLength = Number(bag.minimum ?? 0)
  const maxLength = Math.min(Number(bag.maximum ?? Number.POSITIVE_INFINITY), minLength + longest)
  if (minLength > maxLength) throw nothingWithin(bag, key)
  return { minLength, maxLength }
}
