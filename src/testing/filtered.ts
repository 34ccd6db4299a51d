import fc, { type Arbitrary, type Random, type Stream, type Value } from 'fast-check'
import { type AnySchema, defOf, issuesOf, refusal } from './definition.ts'

const mostRejected = 10_000
/** Milliseconds, for checks that are slow and those within each other. */
const longestSearch = 3000
/** So many values are tried however long they take. */
const fewRejected = 100

/**
 * Only the values that the schema accepts, but with a bound: the filter of fast-check would never
 * end.
 */
export function onlyAccepted(
  made: Arbitrary<unknown>,
  schema: AnySchema,
  key: string,
): Arbitrary<unknown> {
  return new Filtered(made, schema, key)
}

class Filtered extends fc.Arbitrary<unknown> {
  readonly #made: Arbitrary<unknown>
  readonly #schema: AnySchema
  readonly #key: string

  constructor(made: Arbitrary<unknown>, schema: AnySchema, key: string) {
    super()
    this.#made = made
    this.#schema = schema
    this.#key = key
  }

  override generate(random: Random, biasFactor: number | undefined): Value<unknown> {
    let issues: string[] = []
    const end = Date.now() + longestSearch
    for (
      let rejected = 0;
      rejected < mostRejected && (rejected < fewRejected || Date.now() < end);
      rejected++
    ) {
      const generated = this.#made.generate(random, biasFactor)
      issues = issuesOf(this.#schema, generated.value_)
      if (issues.length === 0) return generated
    }
    throw refusal(
      `a check of a zod schema of kind "${defOf(this.#schema).type}" rejects every generated value (${issues.join('; ').slice(0, 200)}). Generate it yourself and combine it with fc.record`,
      this.#key,
    )
  }

  override canShrinkWithoutContext(value: unknown): value is unknown {
    return this.#made.canShrinkWithoutContext(value) && issuesOf(this.#schema, value).length === 0
  }

  override shrink(value: unknown, context: unknown): Stream<Value<unknown>> {
    return this.#made
      .shrink(value, context)
      .filter(smaller => issuesOf(this.#schema, smaller.value_).length === 0)
  }
}
