import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FrameSplitter } from '../../src/sse/split.ts'
import { WholeFrames } from '../../src/sse/whole-frames.ts'

/** What passes of each chunk. */
function passing(settings?: ConstructorParameters<typeof WholeFrames>[2]) {
  const splitter = new FrameSplitter()
  const frames = new WholeFrames<Uint8Array>(splitter, all => Buffer.concat(all), settings)
  return {
    push(chunk: string): string | undefined {
      const bytes = Buffer.from(chunk)
      let last = 0
      for (let end = splitter.next(bytes, 0); end >= 0; end = splitter.next(bytes, end)) last = end
      const passed = frames.push(bytes, last)
      return passed && Buffer.from(passed).toString()
    },
    rest: () => Buffer.from(frames.rest()).toString(),
    isBetween: () => frames.isBetween,
  }
}

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
])('passes %j as %j, with %j left', (chunks, passed, rest) => {
  const frames = passing()
  expect(chunks.flatMap(chunk => frames.push(chunk) ?? [])).toEqual(passed)
  expect(frames.rest()).toBe(rest)
})

test('passes input over the event limit as it arrives', () => {
  const frames = passing({ maxEventLength: 2 })
  expect(['1234', '5678', '9', '0'].map(chunk => frames.push(chunk))).toEqual([
    undefined,
    undefined,
    '123456789',
    '0',
  ])
  expect(frames.rest()).toBe('')
  expect(frames.isBetween()).toBe(false)
})

describe('any text in any chunks', () => {
  const chunks = fc.array(
    fc.string({ unit: fc.constantFrom('\n', '\r', 'a', 'ü', ': '), maxLength: 5 }),
  )
  const boundary = /(\r\n|\n|\r)(\r\n|\n|\r)$/

  test('passes unchanged, and what is left has no blank line', () => {
    fc.assert(
      fc.property(chunks, chunks => {
        const frames = passing()
        const passed = chunks.flatMap(chunk => frames.push(chunk) ?? [])
        for (const [i] of passed.entries())
          expect(passed.slice(0, i + 1).join('')).toMatch(boundary)
        const rest = frames.rest()
        expect(passed.join('') + rest).toBe(chunks.join(''))
        expect(rest).not.toMatch(/\n\n|\r\r|\n\r./)
      }),
    )
  })
})
