import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonFault } from '../../src/kit/json/fault.ts'

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('what JSON.parse takes has no fault, however it is laid out', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2, '\t'), (text, indent) => {
      expect(jsonFault(JSON.stringify(JSON.parse(text), null, indent))).toBeUndefined()
    }),
  )
})

test('with one character less or another one it has a fault where JSON.parse has one', () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', ',', '"', '}', ']', '\\', '0', 'x', '\n'),
      (text, where, sign) => {
        const at = where % text.length
        const broken = text.slice(0, at) + sign + text.slice(at + 1)
        const fault = jsonFault(broken)
        expect(fault === undefined).toBe(isJson(broken))
        if (fault !== undefined) expect(fault).toBeLessThanOrEqual(broken.length)
      },
    ),
  )
})

test('a text of any depth is checked', () => {
  const deep = 100_000
  expect(jsonFault('['.repeat(deep) + ']'.repeat(deep))).toBeUndefined()
  expect(jsonFault('['.repeat(deep))).toBe(deep)
})

test.each([
  ['{,}', 1],
  ['{"a":1,}', 7],
  ['[1 2]', 3],
  ['[1,,2]', 3],
  ['{"a" "b"}', 5],
  ['{"a":1} , ', 8],
  ['{"a":"b\nc"}', 7],
  ['{"a":01}', 6],
  ['', 0],
  [' x', 1],
])('the fault of %j is at %i', (text, at) => expect(jsonFault(text)).toBe(at))
