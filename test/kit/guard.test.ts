import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { accepts, type Schema } from '../../src/kit/schema/guard.ts'
import { wholeNumber } from '../../src/kit/schema/wire.ts'
import { all } from '../../src/testing/bodies.ts'
import { isSchema } from '../../src/testing/definition.ts'
import { fromSchema } from '../../src/testing/from-schema.ts'
import { json } from '../../src/testing/texts.ts'
import { runs } from '../support/runs.ts'

type Named = { name: string; schema: Schema }

const schemas = await Promise.all(
  all.map(async ({ name }) => {
    const file = fileURLToPath(new URL(`../../src/protocols/${name}/schema.ts`, import.meta.url))
    const exported = Object.entries((await import(file)) as Record<string, unknown>)
    return exported.flatMap(([key, schema]): Named[] =>
      isSchema(schema) ? [{ name: `${name}: ${key}`, schema }] : [],
    )
  }),
)

const combined: Named[] = [
  {
    name: 'an optional key that may be null',
    schema: z.looseObject({ key: z.nullable(z.optional(z.string())) }),
  },
  {
    name: 'an optional key with a rule',
    schema: z.looseObject({ key: z.optional(z.string()).check(z.refine(text => text !== 'x')) }),
  },
  {
    name: 'a whole number with a rule',
    schema: wholeNumber.check(z.refine(number => number !== 0)),
  },
]

const parse = (text: string): unknown => JSON.parse(text)
const written = (value: unknown) => parse(JSON.stringify(value))

describe.each([...combined, ...schemas.flat()])('the guard of a schema, $name', ({ schema }) => {
  const right = fromSchema(schema)

  test('takes what is made from it', () => {
    fc.assert(
      fc.property(right, wire => accepts(schema, parse(JSON.stringify(wire)))),
      runs(300),
    )
  })

  test('accepts what zod accepts and returns unchanged, and nothing else', () => {
    fc.assert(
      fc.property(fc.oneof(right, damaged(right), json), wire => {
        const { success, data } = z.safeParse(schema, wire)
        expect(accepts(schema, wire)).toBe(
          success && isDeepStrictEqual(written(data), written(wire)),
        )
      }),
      runs(1000),
    )
  })
})

describe('a guard', () => {
  test('copies nothing', () => {
    const read: PropertyKey[] = []
    const get = (target: object, key: PropertyKey) => {
      read.push(key)
      return Reflect.get(target, key) as unknown
    }
    const wire = new Proxy({ type: 'text', text: 'a', more: {} }, { get })
    expect(accepts(z.looseObject({ type: z.literal('text'), text: z.string() }), wire)).toBe(true)
    expect(read).toEqual(['type', 'text'])
  })

  test.each([
    ['a kind', z.looseObject({ at: z.date() })],
    ['a check', z.looseObject({ text: z.string().check(z.minLength(3)) })],
  ])('is not made up for %s that no schema here has', (_, schema) => {
    expect(() => accepts(schema, { at: new Date(0), text: 'abc' })).toThrow(
      /^no guard for the zod /,
    )
  })
})

/** A value in which one place holds something else, or a key that zod leaves out. */
function damaged(right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const other = fc.oneof(
    json,
    fc.constantFrom(null, 0, '', true, [], {}, [null], 'text', { type: 'text' }),
  )
  return fc
    .tuple(right, fc.nat(), fc.constantFrom('other', 'gone', '__proto__'), other)
    .map(([value, place, how, instead]) => {
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
      else
        Object.defineProperty(holder, key, {
          value: instead,
          enumerable: true,
          configurable: true,
          writable: true,
        })
      return copy
    })
}
