import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { strictJson } from '../../src/bridge/loose-json.ts'

const read = (text: string): unknown => {
  const json = strictJson(text)
  return json === undefined ? undefined : JSON.parse(json)
}

describe('what models write for JSON', () => {
  test.each<[string, string, unknown]>([
    ['single quotes', "{'a': 'it\\'s', 'b': 'it's'}", { a: "it's", b: "it's" }],
    ['quotes of print', '{“a”: “b”}', { a: 'b' }],
    ['keys and words without quotes', '{a: New York, b-c: x}', { a: 'New York', 'b-c': 'x' }],
    ['literals of Python', '{"a": True, "b": None, "c": False}', { a: true, b: null, c: false }],
    ['commas too many', '{"a": "b",, "c": [1,,2,],}', { a: 'b', c: [1, 2] }],
    ['a missing comma', '{"a": "x" "b": "y"\n"c": 1}', { a: 'x', b: 'y', c: 1 }],
    ['a missing value', '{"a": , "b":}', { a: null, b: null }],
    ['comments', '{"a": 1 /* x */, // y\n "b": "c" , /* z */ "d": 2}', { a: 1, b: 'c', d: 2 }],
    ['a fence', '```json\n{"a": 1,}\n```', { a: 1 }],
    ['ends of lines in a text', '{"a": "x\ny\tz"}', { a: 'x\ny\tz' }],
    ['quotes in a text', '{"a": "say "hi", or not", "b": 1}', { a: 'say "hi", or not', b: 1 }],
    ['quotes at the end of a text', '{"a": "say "hi""}', { a: 'say "hi"' }],
    [
      'an escape of the whole',
      String.raw`{\"a\": \"b\", \"c\": [\"say \\\"hi\\\"\"]}`,
      { a: 'b', c: ['say "hi"'] },
    ],
    ['code in a text', '{"a": "f("x", 1)\ng("y")", "b": 2}', { a: 'f("x", 1)\ng("y")', b: 2 }],
    ['paths of Windows', '{"a": "C:\\dir\\.x"}', { a: 'C:\\dir\\.x' }],
    [
      'an address without quotes',
      '{"a": https://x.y/z?b=1, "c": 2}',
      { a: 'https://x.y/z?b=1', c: 2 },
    ],
    ['wrong brackets', '{"a": [1, 2}', { a: [1, 2] }],
    ['brackets too many', '{"a": 1}}]', { a: 1 }],
    ['an end in a text', '{"a": {"b": ["c', { a: { b: ['c'] } }],
    ['an end in an escape', '{"a": "b\\u00', { a: 'b' }],
    ['an end in a number', '{"a": 12.', { a: 12 }],
    ['a text without its last quote', '{"a": {"b": "x}}}', { a: { b: 'x}' } }],
    ['an end in a key', '{"a": "b", "c', { a: 'b' }],
    ['an end in a key without quotes', '{"a": "b", c', { a: 'b' }],
  ])('%s', (_, text, value) => {
    expect(read(text)).toEqual(value)
  })

  test('digits stay', () => {
    expect(strictJson('{"a": 12345678901234567890,}')).toBe('{"a":12345678901234567890}')
  })

  test.each([
    ['no brackets', '"a": 1'],
    ['words behind it', '{"a": 1} and more'],
    ['two of them', '{"a": 1}{"b": 2}'],
    ['a key without a value', '{"a", "b": 1}'],
    ['levels without end', `{"a":${'['.repeat(600)}`],
  ])('nobody knows what is meant by %s', (_, text) => {
    expect(strictJson(text)).toBeUndefined()
  })
})

test('JSON stays what it is, and the beginning of it is read', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(200), (value, length) => {
      const text = JSON.stringify(value)
      expect(read(text)).toEqual(JSON.parse(text))
      const cut = strictJson(text.slice(0, length))
      if (cut !== undefined) JSON.parse(cut)
    }),
  )
})

test.each([
  ['texts without an end', '["', "null\n'$"],
  ['quotes without an end', '{"a":', '\'s "'],
  ['keys that are none', '{"a": "', '", "b'],
  ['white space behind quotes', '{"a": "', `" ${' '.repeat(60)}`],
  ['comments', '{', '/* '],
  ['escapes', '{"a": "', '\\u12"'],
  ['fences', '{"a":', '```)'],
])('the work for %s is proportional to the length', (_, begin, again) => {
  const timeOf = (length: number) => {
    const text = begin + again.repeat(length / again.length)
    const { user } = process.cpuUsage()
    strictJson(text)
    return (process.cpuUsage().user - user) / 1000
  }
  // A pause of the machine may fall into one measurement, but not into each.
  const isShort = () => timeOf(400_000) < 1000
  expect([1, 2, 3].some(isShort)).toBe(true)
})
