import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { keepsNumbers } from '../../src/kit/json/digits.ts'
import { advanceJson, parseObject, startJson } from '../../src/kit/json/json.ts'

describe('JSON text as it arrives', () => {
  const wholeAfter = (chunks: string[]) => {
    const progress = startJson()
    return chunks.map(chunk => {
      advanceJson(progress, chunk)
      return progress.whole
    })
  }
  test.each([
    [
      ['{"a":', '"}"', '}'],
      [false, false, true],
    ],
    [
      ['["\\"', ']"', ']'],
      [false, false, true],
    ],
    [
      ['"a\\', '"b', '"'],
      [false, false, true],
    ],
    [
      ['1', '2'],
      [false, false],
    ],
    [
      ['tr', 'ue'],
      [false, false],
    ],
    [
      ['', '{}'],
      [false, true],
    ],
  ])('%j is whole at %j', (chunks, expected) => expect(wholeAfter(chunks)).toEqual(expected))

  test('any object is whole at its last character and not before', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), value => {
        const text = JSON.stringify(value)
        const whole = wholeAfter([...text])
        expect(whole.indexOf(true)).toBe([...text].length - 1)
      }),
    )
  })
  test.each(['', '[]', '1', 'null', '{"a"'])('%j is no object', text =>
    expect(parseObject(text)).toBeUndefined(),
  )
})

describe('numbers of JSON text', () => {
  test.each([
    '{"id":1234567890123456789}',
    '[-9007199254740993]',
    '{"pi":3.14159265358979323846}',
    '[1e400]',
    '[0.1e-400]',
    '{"a\\"":"x","b":12345678901234567890}',
  ])('%s says more than a number can hold', text => {
    expect(keepsNumbers(text)).toBe(false)
  })

  test.each([
    '{}',
    '[1.0, -0, 10e2, 1E-7]',
    '{"id":"1234567890123456789"}',
    '{"1234567890123456789":1}',
    '[9007199254740993000000]',
    '[0.1, 0.30000000000000004]',
  ])('%s keeps them all', text => {
    expect(keepsNumbers(text)).toBe(true)
  })

  test.each(['x', '\\n3e'])(
    'finds numbers before and after a text of many megabytes: %j',
    chunk => {
      const text = `"${chunk.repeat(8_000_000)}"`
      expect([
        keepsNumbers(`[${text},1e5]`),
        keepsNumbers(`[1e400,${text}]`),
        keepsNumbers(`[${text},1e400]`),
      ]).toEqual([true, false, false])
    },
  )

  test('any number that was written by its shortest digits is kept', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), value =>
        keepsNumbers(JSON.stringify([value])),
      ),
    )
  })
})
