import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFrameParser, type Frame } from '../../src/sse/parse.ts'

function frames(chunks: (string | Uint8Array)[], maxLength?: number) {
  const found: Frame[] = []
  const parser = createFrameParser(frame => found.push(frame), maxLength === undefined ? {} : { maxLength })
  for (const chunk of chunks) parser.push(chunk)
  parser.end()
  return found
}

describe('text/event-stream', () => {
  test.each([
    ['LF', 'event: a\ndata: 1\n\n'],
    ['CRLF', 'event: a\r\ndata: 1\r\n\r\n'],
    ['CR', 'event: a\rdata: 1\r\r'],
    ['no space after the colon', 'event:a\ndata:1\n\n'],
    ['a byte order mark', '\uFEFFevent: a\ndata: 1\n\n'],
    ['comments, ids and retry hints', ': hi\nid: 5\nretry: 10\nevent: a\n: there\ndata: 1\n\n'],
    ['no blank line at the end', 'event: a\ndata: 1'],
  ])('%s', (_, text) => expect(frames([text])).toEqual([{ event: 'a', data: '1' }]))

  test('several data lines are one', () => expect(frames(['data: a\ndata: b\n\n'])).toEqual([{ data: 'a\nb' }]))
  test('an error in a field of its own is a frame', () =>
    expect(frames(['error: {"code":500}\n\n'])).toEqual([{ event: 'error', data: '{"error":{"code":500}}' }]))

  test('any split of the bytes gives the same frames', () => {
    const bytes = new TextEncoder().encode('event: x\r\ndata: {"t":"häß🎉"}\r\n\r\n: c\r\ndata: 2\n\ndata: [DONE]\n\n')
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), cuts => {
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length]
        const chunks = places.slice(1).map((to, i) => bytes.subarray(places[i], to))
        expect(frames(chunks)).toEqual([{ event: 'x', data: '{"t":"häß🎉"}' }, { data: '2' }, { data: '[DONE]' }])
      }),
    )
  })

  test('a frame without end is refused before it fills the memory', () => {
    expect(() => frames(['data: ', 'x'.repeat(60), 'x'.repeat(60)], 100)).toThrow(RangeError)
  })
})
