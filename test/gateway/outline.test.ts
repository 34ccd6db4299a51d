import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { membersOf, outlineOf, renamed, withMembers } from '../../src/gateway/body/outline.ts'
import { attempt } from '../../src/testing/bodies.ts'
import { runs } from '../support/runs.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

test.each([
  ['{"model":"a"}', '{"model":"b"}'],
  ['{"x":{"model":"a"},"model":"a"}', '{"x":{"model":"a"},"model":"b"}'],
  ['{"x":"model","model":"a"}', '{"x":"model","model":"b"}'],
  ['{"mo\\u0064el":"a"}', '{"mo\\u0064el":"b"}'],
  ['{"x":"\\\\","model":"\\""}', '{"x":"\\\\","model":"b"}'],
  ['\ufeff{"model":"a"}', '\ufeff{"model":"b"}'],
  ['\ufeff\ufeff{"model":"a"}', undefined],
  ['{"x":["model","a"],"y":1}', undefined],
  ['{"mod\nl":"a"}', undefined],
  ['{"model":1}', undefined],
  ['{"model":{"model":"a"}}', undefined],
  ['{"model":"a","model":"c"}', undefined],
  ['"model"', undefined],
])('replaces the model name of %s: %s', (text, expected) => {
  const bytes = renamed(new TextEncoder().encode(text), 'b')
  expect(bytes && new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)).toBe(expected)
})

test.each<[string, object | undefined]>([
  ['{}', {}],
  ['{ "a" : 1 , "b":[ ] }', { a: 1, b: [] }],
  [`{"long":"${'x'.repeat(5000)}","n":-0.5e+3}`, { long: '', n: -500 }],
  [`{"list":[${'1,'.repeat(50)}1],"t":true}`, { list: [null], t: true }],
  [`{"object":{"x":"${'y'.repeat(5000)}"},"z":null}`, { object: {}, z: null }],
  ['{"__proto__":{"x":1}}', JSON.parse('{"__proto__":{"x":1}}')],
  ['{"a":1,"a":2}', { a: 2 }],
  [`\ufeff{"a":1,"long":"${'x'.repeat(5000)}"}`, { a: 1, long: '' }],
  ['{"\\u0061":"\\ud83d\\ude00 😀"}', { a: '😀 😀' }],
  ...[
    '',
    ' ',
    '[]',
    '1',
    '"{}"',
    '{',
    '{}}',
    '{}{}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '{a:1}',
    '{"a":1 2}',
    '{"a":[1,]}',
    '{"a":[,1]}',
    '{"a":[1}}',
  ].map((text): [string, undefined] => [text, undefined]),
  ...[
    '{"a":{1}}',
    '{"a":tru}',
    '{"a":01}',
    '{"a":1.}',
    '{"a":+1}',
    '{"a":"x}',
    '{"a":"x\\"}',
    '{"a"::1}',
    '{"a":1:2}',
    '{:1}',
    '{"a":[[[[]]]]}',
  ].map((text): [string, undefined] => [text, undefined]),
])('returns the complete outline of %.40s', (text, expected) => {
  expect(outlineOf(bytesOf(text), membersOf(bytesOf(text), { deepest: 4 }))).toEqual(expected)
})

test.each([
  ['{}', '{"x":{"y":1}}'],
  [' { } ', ' {"x":{"y":1} } '],
  ['{"a":1}', '{"x":{"y":1},"a":1}'],
  ['\n{\n"a":1}', '\n{"x":{"y":1},\n"a":1}'],
])('adds a member to %j: %j', (text, expected) => {
  expect(textOf(withMembers(bytesOf(text), { x: { y: 1 } }))).toBe(expected)
})

test('does not delay clients for a number of sixteen megabytes', () => {
  const bytes = bytesOf(`{"n":1${'0'.repeat(16_000_000)}}`)
  // The square of that length would take days.
  expect(membersOf(bytes)).toMatchObject([{ start: 5, end: bytes.length - 1 }])
  expect(membersOf(bytesOf(`{"n":1${'0'.repeat(100)}x}`))).toBeUndefined()
})

/** Objects as somebody may write them, with spaces between everything. */
const written = fc
  .tuple(
    fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
    fc.constantFrom(undefined, 1, '\t'),
  )
  .map(([value, space]) => ({
    value,
    text: JSON.stringify(value, undefined, space),
  }))

describe('outline of any object', () => {
  test('has the same keys, and the same short values', () => {
    fc.assert(
      fc.property(written, ({ value, text }) => {
        const outline = outlineOf(bytesOf(text), membersOf(bytesOf(text)))
        expect(Object.keys(outline ?? {})).toEqual(Object.keys(value))
        for (const [key, short] of Object.entries(value))
          if (JSON.stringify(short, undefined, '\t').length < 20)
            expect(outline?.[key]).toEqual(short)
      }),
    )
  })

  test('detects invalid JSON outside of long texts', () => {
    fc.assert(
      fc.property(
        written,
        fc.nat(),
        fc.constantFrom('', '{', '}', '[', ']', ',', ':', '"', '1', 'x', '-'),
        ({ text }, place, put) => {
          const at = place % text.length
          // Half a letter becomes another one.
          const damaged = textOf(bytesOf(text.slice(0, at) + put + text.slice(at + 1)))
          const parsed = attempt(() => JSON.parse(damaged) as unknown)
          const outline = outlineOf(bytesOf(damaged), membersOf(bytesOf(damaged)))
          if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
            expect(Object.keys(outline ?? {})).toEqual(Object.keys(parsed))
          // What a text may not hold, a wrong escape or a line end, is not looked for.
          else if (!/[\\\t\n]/.test(damaged)) expect(outline).toBeUndefined()
        },
      ),
      runs(2000),
    )
  })
})
