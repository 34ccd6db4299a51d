import { expect, test } from 'vitest'
import { createFrameRewriter } from '../../src/sse/rewrite.ts'

const marked = () => createFrameRewriter(frame => `<${frame}>`)

test.each(['a: 1\n\nb: 2\n\n\nc', 'a: 1\r\n\r\nb: 2\r\n\r\n', 'a: 1\r\rb: 2\r\r\nc', '\n\n\n\n', 'a\r\r\r\rb\n\r\n\n', ''])(
  'any cut of %j gives the same frames',
  text => {
    const whole = marked()
    const expected = whole.push(text) + whole.end()
    expect(expected.replaceAll(/[<>]/g, '')).toBe(text)
    for (let size = 1; size < text.length; size++) {
      const rewriter = marked()
      let out = ''
      for (let at = 0; at < text.length; at += size) out += rewriter.push(text.slice(at, at + size))
      expect(out + rewriter.end()).toBe(expected)
    }
  },
)

test('a frame that comes in many pieces is looked at once', () => {
  const rewriter = marked()
  const piece = 'x'.repeat(8 * 1024)
  const before = process.cpuUsage()
  for (let count = 0; count < 4_000; count++) expect(rewriter.push(piece)).toBe('')
  expect(rewriter.push('\n\n').length).toBe(4_000 * piece.length + 4)
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(1_500)
})
