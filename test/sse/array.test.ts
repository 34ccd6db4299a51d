import { expect, test } from 'vitest'
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

test('a list is read as frames, one for each item', () => {
  expect(read([text])).toEqual(items)
})

test('wherever its bytes are cut', () => {
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at <= bytes.length; at++) expect(read([bytes.slice(0, at), bytes.slice(at)])).toEqual(items)
  expect(read([...bytes].map(byte => Uint8Array.of(byte)))).toEqual(items)
})

test('an item that is cut off is no item', () => {
  expect(read([text.slice(0, text.lastIndexOf('}'))])).toEqual(items.slice(0, 1))
})

test('a byte order mark is no beginning', () => {
  expect(read([`\uFEFF${text}`])).toEqual(items)
})

test('an item longer than the limit is refused', () => {
  const parser = createFrameParser(() => {}, { maxLength: 100 })
  expect(() => parser.push(`[{"a":"${'x'.repeat(200)}"}]`)).toThrow(RangeError)
})
