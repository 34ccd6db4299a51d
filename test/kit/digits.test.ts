import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseExact, withDigitsOf, writeExact, writeMember } from '../../src/kit/json/digits.ts'

const rewritten = (text: string) => writeExact(parseExact(text))

test.each([
  '12',
  '{"a":12345678901234567890,"b":9007199254740992,"c":9007199254740993}',
  '[[9007199254740993],{"a\\"b":[-12345678901234567890,1]},12345678901234567890123]',
  '{"__proto__":{"toString":9007199254740993}}',
  '{"a":"~0~","b":"~1~0","c":12345678901234567891}',
  '{"text":"[12345678901234567890]"}',
  '{"a":1000000000000000000001,"b":[-1500000000000000000000000003],"c":"e+"}',
])('%s is written as it was read', text => {
  expect(rewritten(text)).toBe(text)
})

test('any integers are written as they were read', () => {
  const bound = 10n ** 40n
  const integer = fc.bigInt({ min: -bound, max: bound }).map(String)
  const { value } = fc.letrec<{ value: string }>(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      integer,
      fc.string().map(text => JSON.stringify(text)),
      fc.array(tie('value')).map(items => `[${items.join()}]`),
      fc
        .uniqueArray(fc.tuple(fc.string(), tie('value')), { selector: ([key]) => key })
        // Numbers as keys come first in every object.
        .map(all => all.map(([key, one]) => `${JSON.stringify(`k${key}`)}:${one}`))
        .map(members => `{${members.join()}}`),
    ),
  }))
  fc.assert(fc.property(value, text => rewritten(`[${text}]`) === `[${text}]`))
})

test('the values are numbers, as JSON.parse reads them', () => {
  const text = '{"a":[9007199254740993],"b":12345678901234567890}'
  expect(JSON.stringify(parseExact(text))).toBe(JSON.stringify(JSON.parse(text)))
})

test('of a key that comes twice, the last value counts', () => {
  expect(rewritten('{"a":9007199254740993,"a":9007199254740995}')).toBe('{"a":9007199254740995}')
  expect(rewritten('{"a":9007199254740993,"a":1}')).toBe('{"a":1}')
})

test('a number that was changed is written as it is', () => {
  const read = parseExact('{"a":9007199254740993,"b":12345678901234567890}') as { a: number }
  read.a = 7
  expect(writeExact({ ...read, c: 1 })).toBe('{"a":7,"b":12345678901234567890,"c":1}')
  expect(writeMember(read, 'b')).toBe('12345678901234567890')
})

test('a text with every mark is written without them', () => {
  const marks = '~0~1~2~3~4~5~6~7~'
  expect(rewritten(`["${marks}",9007199254740993]`)).toBe(`["${marks}",9007199254740992]`)
})

test('copies have the digits, too', () => {
  const read = parseExact('{"a":9007199254740993}') as object
  expect(writeExact({ x: { ...read } })).toBe('{"x":{"a":9007199254740993}}')
  expect(writeExact(withDigitsOf({ ...Object.entries(read) }, read))).not.toContain('993')
  expect(writeExact(withDigitsOf(Object.fromEntries(Object.entries(read)), read))).toBe(
    '{"a":9007199254740993}',
  )
})

test.each([
  ['many long numbers', `[${'12345678901234567890,'.repeat(100_000)}1]`],
  ['many lists', `[${'[9007199254740993],'.repeat(50_000)}1]`],
  ['deep lists', `${'[9007199254740993,'.repeat(900)}1${']'.repeat(900)}`],
  ['one number of a megabyte', `[${'1'.repeat(1_000_000)}]`],
  ['marks', `["${'~0~1~2~3~4~5~6'.repeat(100_000)}",9007199254740993]`],
])('takes linear time: %s', (_, text) => {
  const start = performance.now()
  expect(rewritten(text)).toBe(text)
  expect(performance.now() - start).toBeLessThan(3000)
})
