import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  endOfLiteral,
  type JsonText,
  nesting,
  nextToken,
  startScan,
  word,
} from '../../src/kit/json/scan.ts'
import { attempt } from '../../src/testing/bodies.ts'

/**
 * The tokens with their separators and depths. Words can be cut, so their number does not count.
 */
function tokensOf(chunks: readonly JsonText[]): string[] {
  const scan = startScan()
  const found: string[] = []
  for (const chunk of chunks)
    for (let at = nextToken(scan, chunk, 0); at >= 0; at = nextToken(scan, chunk, at)) {
      const { token, separator, depth } = scan
      const reported = `${separator ? String.fromCharCode(separator) : ''}${token === word ? 'word' : String.fromCharCode(token)}${depth}`
      if (token !== word || separator || !found.at(-1)?.includes('word')) found.push(reported)
    }
  return found
}

const unit = fc.constantFrom(
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  ' ',
  '\n',
  'a',
  '1',
  'ü',
  '😀',
  '\\"',
  '":"',
  'x'.repeat(20),
)

describe('tokens of JSON', () => {
  test('come with the separator before them and the depth after them', () => {
    expect(tokensOf(['{"a" :[1, true,"x\\"]",{}]}'])).toEqual([
      '{1',
      '"1',
      ':[2',
      'word2',
      ',word2',
      ',"2',
      ',{3',
      '}2',
      ']1',
      '}0',
    ])
    expect(tokensOf(['[1,,2]'])).toEqual(['[1', 'word1', ',,1', 'word1', ']0'])
  })

  test('are the same in any chunks of any text, as text and as bytes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit, maxLength: 40 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        (text, cuts) => {
          const bytes = Buffer.from(text)
          const places = [
            0,
            ...cuts.map(cut => cut % (bytes.length + 1)).sort((a, b) => a - b),
            bytes.length,
          ]
          const chunks = places.slice(1).map((to, i) => bytes.subarray(places[i], to))
          const whole = tokensOf([text])
          expect(tokensOf([bytes])).toEqual(whole)
          expect(tokensOf(chunks)).toEqual(whole)
          expect(tokensOf(text.split(''))).toEqual(whole)
        },
      ),
    )
  })

  test('return how deep any value is nested', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
        : 0
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        expect(nesting(JSON.stringify(value, null, 1))).toBe(depthOf(value))
      }),
    )
    expect(nesting('['.repeat(100_000))).toBe(100_000)
    expect(nesting('['.repeat(100_000), 5)).toBe(6)
  })
})

test('a string literal ends where JSON.parse ends it, and is wrong where JSON.parse refuses it', () => {
  const chunk = fc.constantFrom(
    'a',
    'ü',
    '\\',
    '"',
    'u',
    '12aF',
    '\n',
    '\u001f',
    '\\u00e9',
    '\\n',
    '/',
    '😀',
  )
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 12 }), chunks => {
      const text = `"${chunks.join('')}`
      const end = endOfLiteral(text, 0)
      const isString = (part: string) =>
        typeof attempt(() => JSON.parse(part) as unknown) === 'string'
      if (end >= 0) expect(isString(text.slice(0, end))).toBe(true)
      else for (let at = 0; at <= text.length; at++) expect(isString(text.slice(0, at))).toBe(false)
      const bytes = Buffer.from(text)
      const place = endOfLiteral(bytes, 0)
      expect(bytes.subarray(0, place < 0 ? ~place : place).toString()).toBe(
        text.slice(0, end < 0 ? ~end : end),
      )
      expect(place < 0).toBe(end < 0)
    }),
  )
})
