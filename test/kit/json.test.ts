import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { advanceJson, parseObject, startJson } from '../../src/kit/json.ts'

describe('JSON text as it arrives', () => {
  const wholeAfter = (pieces: string[]) => {
    const progress = startJson()
    return pieces.map(piece => {
      advanceJson(progress, piece)
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
  ])('%j is whole at %j', (pieces, expected) => expect(wholeAfter(pieces)).toEqual(expected))

  test('any object is whole at its last character and not before', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), value => {
        const text = JSON.stringify(value)
        const whole = wholeAfter([...text])
        expect(whole.indexOf(true)).toBe([...text].length - 1)
      }),
    )
  })
  test.each(['', '[]', '1', 'null', '{"a"'])('%j is no object', text => expect(parseObject(text)).toBeUndefined())
})
