import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { check } from '../../src/kit/check.ts'
import { guardOf } from '../../src/kit/guard.ts'
import { all } from '../../src/testing/bodies.ts'
import { fromSchema, json } from '../../src/testing/from-schema.ts'
import { runs } from '../support/runs.ts'

const schemas = await Promise.all(
  all.map(async ({ name }) => {
    const file = fileURLToPath(new URL(`../../src/protocols/${name}/schema.ts`, import.meta.url))
    const exported = Object.entries((await import(file)) as Record<string, unknown>)
    return exported.flatMap(([key, schema]) => (schema instanceof z.core.$ZodType ? [{ name: `${name}: ${key}`, schema: schema as z.ZodType }] : []))
  }),
)

const parse = (text: string): unknown => JSON.parse(text)

describe.each(schemas.flat())('a guard, $name', ({ schema }) => {
  const right = fromSchema(schema)

  test('knows everything that the schema takes', () => {
    // Numbers that JSON cannot hold, and keys that are lost, are asked about.
    const wires = right.map(wire => parse(JSON.stringify(wire)))
    fc.assert(
      fc.property(wires, wire => {
        if (schema.safeParse(wire).success) expect(guardOf(schema)(wire)).toBe(true)
      }),
      runs(300),
    )
  })

  test('says of other values what zod says, unless it is not sure', () => {
    fc.assert(
      fc.property(fc.oneof(damaged(right), json), wire => {
        const answer = guardOf(schema)(wire)
        const { success, data } = schema.safeParse(wire)
        if (answer !== undefined) expect(success).toBe(answer)
        if (answer) expect(data).toEqual(wire)
      }),
      runs(1000),
    )
  })
})

/** A value in which one place holds something else, or a key that zod leaves out. */
function damaged(right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const other = fc.oneof(json, fc.constantFrom(null, 0, '', true, [], {}, [null], 'text', { type: 'text' }))
  return fc.tuple(right, fc.nat(), fc.constantFrom('other', 'gone', '__proto__'), other).map(([value, place, how, instead]) => {
    const copy = parse(JSON.stringify(value))
    const holders: object[] = []
    const gather = (one: unknown) => {
      if (typeof one !== 'object' || one === null) return
      holders.push(one)
      Object.values(one).forEach(gather)
    }
    gather(copy)
    const objects = how === '__proto__' ? holders.filter(one => !Array.isArray(one)) : holders
    const holder = objects[place % Math.max(1, objects.length)]
    if (!holder) return instead
    const keys = Object.keys(holder)
    const key = how === '__proto__' ? how : keys[place % Math.max(1, keys.length)]
    if (key === undefined) return instead
    if (how === 'gone') Reflect.deleteProperty(holder, key)
    else Object.defineProperty(holder, key, { value: instead, enumerable: true, configurable: true, writable: true })
    return copy
  })
}

describe('what a guard is not sure of, zod decides', () => {
  test.each([
    ['a default', z.looseObject({ a: z.string().default('x') }), {}, { a: 'x' }],
    ['a length', z.looseObject({ a: z.string().min(2) }), { a: 'ab' }, { a: 'ab' }],
    ['an object that takes no other keys', z.object({ a: z.string() }), { a: 'b', c: 1 }, undefined],
    ['another type of text', z.looseObject({ a: z.email() }), { a: 'a@b.cd' }, { a: 'a@b.cd' }],
  ])('%s', (_, schema: z.ZodType, wire, expected) => {
    expect(guardOf(schema)(wire)).toBeUndefined()
    if (expected) expect(check('p', schema, wire)).toEqual(expected)
  })
})

test.each<[string, z.ZodType, unknown, boolean | undefined]>([
  ['a rule that says yes', z.string().refine(text => text !== ''), 'a', true],
  ['a rule that says no', z.string().refine(text => text !== ''), '', false],
  ['a rule that says yes in another word', z.string().refine(text => text.length), 'a', true],
  ['a rule that says no in another word', z.string().refine(text => text.length), '', false],
  ['a rule with words of its own', z.string().check(({ issues, value }) => void issues.push({ code: 'custom', input: value })), 'a', undefined],
  ['a rule that is asked only at times', z.string().refine(() => false, { when: () => false }), 'a', undefined],
])('%s', (_, schema, value, answer) => {
  expect(guardOf(schema)(value)).toBe(answer)
})
