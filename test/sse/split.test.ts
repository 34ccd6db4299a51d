import { expect, test } from 'vitest'
import { endOfFrames, FrameSplitter, framesIn } from '../../src/sse/split.ts'

/** The ends of frames in the whole text, however it is cut. */
function endsIn(chunks: (Uint8Array | string)[]): number[] {
  const splitter = new FrameSplitter()
  const ends: number[] = []
  let before = 0
  for (const chunk of chunks) {
    for (let end = splitter.next(chunk, 0); end >= 0; end = splitter.next(chunk, end))
      ends.push(before + end)
    before += chunk.length
  }
  return ends
}

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  )
}

test.each<[string, string[]]>([
  ['a: 1\n\nb: 2\n\n\nc', ['a: 1\n\n', 'b: 2\n\n', '\n', 'c']],
  ['a: 1\r\n\r\nb: 2\r\n\r\n', ['a: 1\r\n\r\n', 'b: 2\r\n\r\n']],
  ['a: 1\r\rb: 2\r\r\nc', ['a: 1\r\r', 'b: 2\r\r\n', 'c']],
  ['a\r\nb\n\r\nc\n\rd', ['a\r\nb\n\r\n', 'c\n\r', 'd']],
  ['\n: ping\n\n', ['\n: ping\n\n']],
  ['\ufeffä: 1\n\n', ['\ufeffä: 1\n\n']],
  [' \n[{}, {"a":"}\\"]"}\n,[[]]]\n', [' \n[{}', ', {"a":"}\\"]"}', '\n,[[]]', ']', '\n']],
  ['', []],
])('%j consists of the frames %j', (text, frames) => {
  const bytes = new TextEncoder().encode(text)
  expect(
    [...framesIn(bytes)].map(frame => new TextDecoder('utf-8', { ignoreBOM: true }).decode(frame)),
  ).toEqual(frames)
  const whole = endsIn([bytes])
  const lengthOf = (end: number) => new TextEncoder().encode(text.slice(0, end)).length
  expect(endsIn([text]).map(lengthOf)).toEqual(whole)
  expect(endOfFrames(bytes)).toBe(whole.at(-1) ?? 0)
  // Cut between a CR and its LF, the frame ends before the LF, which counts as one more.
  const isCutCrlf = (end: number) => bytes[end - 1] === 0x0d && bytes[end] === 0x0a
  for (let size = 1; size <= text.length; size++)
    expect([
      ...new Set(endsIn(cut(bytes, size)).map(end => (isCutCrlf(end) ? end + 1 : end))),
    ]).toEqual(whole)
})

test('accepts the same chunk twice', () => {
  const bytes = new TextEncoder().encode('a\r\rb')
  expect(endsIn([bytes, bytes])).toEqual([3, 7])
})

test('scans a frame in many chunks once', () => {
  const splitter = new FrameSplitter()
  const chunk = new Uint8Array(8 * 1024).fill(0x78)
  const before = process.cpuUsage()
  for (let count = 0; count < 4_000; count++) expect(splitter.next(chunk, 0)).toBe(-1)
  expect(splitter.next(new TextEncoder().encode('\n\n'), 0)).toBe(2)
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(1_500)
})

test('takes blank lines in a row as one frame', () => {
  expect(endsIn(['a: 1\n\n', '\n'.repeat(1000), '\r\n\r\n', 'b: 2\n\n'])).toEqual([
    6, 1006, 1010, 1016,
  ])
})

/** The steps of a splitter with a stream of this many lines. */
function timeOf(line: string, length: number): number {
  const chunk = line.repeat(length)
  const before = process.cpuUsage()
  const splitter = new FrameSplitter()
  for (let end = splitter.next(chunk, 0); end >= 0; ) end = splitter.next(chunk, end)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

test.each(['\n', '\r', '\r\n', 'a\r', ' \n', '\ufeff\n'])(
  'reads a megabyte of the line %j, also at the very beginning',
  line => {
    expect(timeOf(line, 1_000_000 / line.length)).toBeLessThan(1_000)
  },
)
