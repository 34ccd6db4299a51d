import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as s from '../../src/kit/schema.ts'
import { all } from '../../src/testing/bodies.ts'
import { fromSchema, json } from '../../src/testing/from-schema.ts'
import { runs } from '../support/runs.ts'
import { toZod } from '../support/zod.ts'

const schemas = await Promise.all(
  all.map(async ({ name }) => {
    const file = fileURLToPath(new URL(`../../src/protocols/${name}/schema.ts`, import.meta.url))
    const exported = Object.entries((await import(file)) as Record<string, unknown>)
    return exported.flatMap(([key, schema]) => (schema instanceof s.Schema ? [{ name: `${name}: ${key}`, schema: schema as s.AnySchema }] : []))
  }),
)

const combined: { name: string; schema: s.AnySchema }[] = [
  { name: 'an optional key that may be null', schema: s.object({ key: s.string().optional().nullable() }) },
  {
    name: 'an optional key with a rule',
    schema: s.object({
      key: s
        .string()
        .optional()
        .refine(text => text !== 'x'),
    }),
  },
]

const parse = (text: string): unknown => JSON.parse(text)
const written = (value: unknown) => parse(JSON.stringify(value))

describe.each([...combined, ...schemas.flat()])('a schema, $name', ({ schema }) => {
  const right = fromSchema(schema)
  const zod = toZod(schema)

  test('takes what is made from it', () => {
    fc.assert(
      fc.property(right, wire => schema.accepts(parse(JSON.stringify(wire)))),
      runs(300),
    )
  })

  test('takes what zod takes and would give back whole, and nothing else', () => {
    fc.assert(
      fc.property(fc.oneof(right, damaged(right), json), wire => {
        const { success, data } = zod.safeParse(wire)
        expect(schema.accepts(wire)).toBe(success && isDeepStrictEqual(written(data), written(wire)))
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
