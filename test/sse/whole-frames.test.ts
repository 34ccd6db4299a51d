import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { WholeFrames } from '../../src/sse/whole-frames.ts'

const texts = () => new WholeFrames<string>(all => all.join(''))

test.each<[string[], string[], string]>([
  [['a\n\n', 'b\n\n'], ['a\n\n', 'b\n\n'], ''],
  [['a\n\nb', 'c\n\n'], ['a\n\n', 'bc\n\n'], ''],
  [['a', '\n', '\n', 'b'], ['a\n\n'], 'b'],
  [['a\r\n', '\r\nb'], ['a\r\n\r\n'], 'b'],
  [['a\r', 'b\r\r', 'c'], ['a\rb\r\r'], 'c'],
  [['a\n\nb\n\nc\nd'], ['a\n\nb\n\n'], 'c\nd'],
  [['\n', ': ping\n\n'], ['\n: ping\n\n'], ''],
  [[' \n[{},', '{"a":"}"', '}]\n'], [' \n[{}', ',{"a":"}"}]'], '\n'],
  [['\ufeff[{}', ',{'], ['\ufeff[{}'], ',{'],
  [['\ufeffdata: 1\n\n'], ['\ufeffdata: 1\n\n'], ''],
])('%j passes as %j, with %j left', (chunks, passed, rest) => {
  const frames = texts()
  expect(chunks.flatMap(chunk => frames.push(chunk) ?? [])).toEqual(passed)
  expect(frames.rest()).toBe(rest)
})

test('what is far longer than any event passes as it comes, and is not kept in memory', () => {
  const frames = new WholeFrames<string>(all => all.join(''), { maxEventLength: 2 })
  expect(['1234', '5678', '9', '0'].map(chunk => frames.push(chunk))).toEqual([undefined, undefined, '123456789', '0'])
  expect(frames.rest()).toBe('')
  expect(frames.isBetween).toBe(false)
})

describe('any text in any pieces', () => {
  const chunks = fc.array(fc.string({ unit: fc.constantFrom('\n', '\r', 'a', 'ü', ': '), maxLength: 5 }))
  const boundary = /(\r\n|\n|\r)(\r\n|\n|\r)$/

  test('passes unchanged, and what is left has no blank line', () => {
    fc.assert(
      fc.property(chunks, chunks => {
        const frames = texts()
        const passed = chunks.flatMap(chunk => frames.push(chunk) ?? [])
        for (const [i] of passed.entries()) expect(passed.slice(0, i + 1).join('')).toMatch(boundary)
        const rest = frames.rest()
        expect(passed.join('') + rest).toBe(chunks.join(''))
        expect(rest).not.toMatch(/\n\n|\r\r|\n\r./)
      }),
    )
  })

  test('passes as bytes as it does as text', () => {
    fc.assert(
      fc.property(chunks, chunks => {
        const frames = texts()
        const bytes = new WholeFrames<Uint8Array>(all => Buffer.concat(all))
        for (const chunk of chunks) expect(String(bytes.push(Buffer.from(chunk)) ?? '')).toBe(frames.push(chunk) ?? '')
        expect(String(bytes.rest())).toBe(frames.rest())
      }),
    )
  })
})
