import { expect, test } from 'vitest'
import { quickText } from '../../src/sse/bytes.ts'
import { createTextReader } from '../../src/sse/text.ts'

/** Short and long chunks are decoded in two ways. */
const lengths = [1, 10, 997, 998, 999, 1000, 1001, 1002, 5000]
const plain = new TextDecoder('utf-8', { ignoreBOM: true })

test.each(lengths)('decodes %i bytes like TextDecoder, with the byte order mark', length => {
  for (const unit of ['a', 'ü', '€', '🙂', '\ufeffx', 'aü€🙂']) {
    const bytes = new TextEncoder().encode(unit.repeat(length)).subarray(0, length)
    const isWhole = Buffer.from(plain.decode(bytes)).equals(bytes)
    expect(quickText(bytes)).toBe(isWhole ? plain.decode(bytes) : undefined)
  }
})

test('joins a character that is split between chunks', () => {
  const text = 'aü€🙂'.repeat(400)
  const bytes = new TextEncoder().encode(text)
  for (const cut of [1, 2, 500, 501, 502, 503, 999, 1000, 1001, 1002, 1003]) {
    const reader = createTextReader()
    expect(
      reader.read(bytes.subarray(0, cut)) + reader.read(bytes.subarray(cut)) + reader.end(),
    ).toBe(text)
  }
})
