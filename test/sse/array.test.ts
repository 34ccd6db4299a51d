import { expect, test } from 'vitest'
import { framesOfList, listOfFrames } from '../../src/sse/list.ts'
import { createFrameParser } from '../../src/sse/parse.ts'

const items = [{ a: '[{"x\\" 🙂' }, { b: [1, { c: '}' }] }, []]
const text = `\n[${items.map(item => JSON.stringify(item, null, 1)).join('\n,\r\n')}\n]\n`

function read(chunks: (string | Uint8Array)[]): unknown[] {
  const found: unknown[] = []
  const parser = createFrameParser(({ data }) => found.push(JSON.parse(data)))
  for (const chunk of chunks) parser.push(chunk)
  parser.end()
  return found
}

test('decodes a list to one frame for each item', () => {
  expect(read([text])).toEqual(items)
})

test('decodes a list at any split of its bytes', () => {
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at <= bytes.length; at++)
    expect(read([bytes.slice(0, at), bytes.slice(at)])).toEqual(items)
  expect(read([...bytes].map(byte => Uint8Array.of(byte)))).toEqual(items)
})

test('ignores an item that is cut off', () => {
  expect(read([text.slice(0, text.lastIndexOf('}'))])).toEqual(items.slice(0, 1))
})

test('skips a byte order mark', () => {
  expect(read([`\uFEFF${text}`])).toEqual(items)
})

test('an item longer than the limit is refused', () => {
  const parser = createFrameParser(() => {}, { maxLength: 100 })
  expect(() => parser.push(`[{"a":"${'x'.repeat(200)}"}]`)).toThrow(RangeError)
})

test('accepts many small items at once', () => {
  const found: string[] = []
  const parser = createFrameParser(({ data }) => found.push(data), { maxLength: 10 })
  parser.push(`[${'{"a":1},'.repeat(20)}`)
  parser.push(' '.repeat(50))
  parser.push('{"a":2}]')
  expect(found).toHaveLength(21)
})

test('frames become a list, and a list becomes frames', async () => {
  const frames = items.map(item => `data: ${JSON.stringify(item)}\r\n\r\n`).join('')
  const half = Math.floor(frames.length / 2)
  const list = await joined(listOfFrames(chunks([frames.slice(0, half), frames.slice(half)])))
  expect(JSON.parse(list)).toEqual(items)
  expect(
    read([await joined(framesOfList(chunks([list.slice(0, half), list.slice(half)])))]),
  ).toEqual(items)
  expect(read([await joined(framesOfList(chunks([text])))])).toEqual(items)
})

test('ignores keep-alives', async () => {
  const list = await joined(listOfFrames(chunks([': ping\n\n', 'data: {"a":1}\n\n', ': ping\n\n'])))
  expect(JSON.parse(list)).toEqual([{ a: 1 }])
  expect(JSON.parse(await joined(listOfFrames(chunks([': ping\n\n']))))).toEqual([])
})

async function* chunks(texts: string[]): AsyncGenerator<string> {
  yield* texts
}

async function joined(texts: AsyncIterable<string>): Promise<string> {
  let all = ''
  for await (const one of texts) all += one
  return all
}
