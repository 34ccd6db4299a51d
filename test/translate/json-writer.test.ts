import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createJsonWriter } from '../../src/translate/json-writer.ts'
import { runs } from '../support/runs.ts'

const long = fc
  .integer({ min: 500, max: 530 })
  .chain(length =>
    fc
      .constantFrom('a', '"', '\\', '\n', '狐', '\ud83d', '\u2028', '😀')
      .map(unit => unit.repeat(length)),
  )
const text = fc.oneof({ weight: 2, arbitrary: long }, fc.string({ unit: 'binary' }))
const { wire } = fc.letrec(tie => ({
  wire: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    fc.constantFrom(null, undefined, 0, -0, 1.5, Number.NaN, true),
    fc.array(tie('wire'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('7', '__proto__', 'toString'), long),
      tie('wire'),
      { maxKeys: 5 },
    ),
  ),
}))

test('writes events with repeated long texts like JSON.stringify', () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.string(), wire, { maxKeys: 4 }), { maxLength: 6 }),
      events => {
        const write = createJsonWriter()
        for (const event of [...events, ...events]) expect(write(event)).toBe(JSON.stringify(event))
      },
    ),
    runs(1000),
  )
})

test('distinguishes texts that differ only in their last letter', () => {
  const write = createJsonWriter()
  const reported = Array.from({ length: 40 }, (_, i) => ({
    type: 'item',
    text: ['a'.repeat(600), 'a'.repeat(599) + i, 'b'.repeat(600 + i)],
  }))
  expect([...reported, ...reported].map(write)).toEqual(
    [...reported, ...reported].map(one => JSON.stringify(one)),
  )
})

test('writes a text at any depth', () => {
  let deep: unknown = 'x'.repeat(600)
  for (let i = 0; i < 40; i++) deep = i % 2 === 0 ? [deep] : { deep }
  expect(createJsonWriter()(deep)).toBe(JSON.stringify(deep))
})
