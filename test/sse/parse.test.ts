import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFrameParser, type Frame } from '../../src/sse/parse.ts'
import { sampled } from '../support/sampled.ts'

function frames(chunks: (string | Uint8Array)[], maxLength?: number) {
  const found: Frame[] = []
  const parser = createFrameParser(
    frame => found.push(frame),
    maxLength === undefined ? {} : { maxLength },
  )
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
    ['comments and retry hints', ': hi\nretry: 10\nevent: a\n: there\ndata: 1\n\n'],
    ['no blank line at the end', 'event: a\ndata: 1'],
  ])('%s', (_, text) => expect(frames([text])).toEqual([{ event: 'a', data: '1' }]))

  test('keeps an id only for its frame', () =>
    expect(frames(['id: 5\ndata: a\n\ndata: b\n\n'])).toEqual([
      { data: 'a', id: '5' },
      { data: 'b' },
    ]))

  test('joins several data lines', () =>
    expect(frames(['data: a\ndata: b\n\n'])).toEqual([{ data: 'a\nb' }]))
  test('decodes an error in its own field', () =>
    expect(frames(['error: {"code":500}\n\n'])).toEqual([
      { event: 'error', data: '{"error":{"code":500}}' },
    ]))

  describe('bare JSON', () => {
    const error = { error: { code: 503, message: 'a } in { text', status: 'UNAVAILABLE' } }
    const bare = (data: string) => ({ data, bare: true })

    test.each([
      ['on one line', JSON.stringify(error)],
      ['on several lines', JSON.stringify(error, null, 2)],
      ['with CRLF', JSON.stringify(error, null, 2).replaceAll('\n', '\r\n')],
      ['alone in a list', JSON.stringify([error])],
      ['in a list on several lines', `[${JSON.stringify(error, null, 2)}\n]`],
      ['below the bracket of a list', JSON.stringify([error], null, 2)],
    ])('becomes a frame when an object is %s', (_, text) => {
      for (const end of ['', '\n', '\r\n\r\n']) {
        const found = frames([...`data: 1\n\n${text}${end}`])
        expect(
          found.map(({ data, ...more }) => ({ ...more, value: JSON.parse(data) as unknown })),
        ).toEqual([{ value: 1 }, { bare: true, value: error }])
      }
    })

    test('is ignored when it is no JSON or was cut', () => {
      expect(frames(['{what}\n{"a":\n\ndata: 2\n\n{"b":'])).toEqual([{ data: '2' }])
      expect(frames(['{"a":1}\n{"b":2}\n'])).toEqual([bare('{"a":1}'), bare('{"b":2}')])
    })

    test('is refused when it grows too long', () =>
      expect(() =>
        frames(['{"a":\n\n', ...Array<string>(20).fill(`"${'x'.repeat(20)}"\n\n`)], 100),
      ).toThrow(RangeError))
  })

  test('returns the same frames at any split of the bytes', () => {
    const bytes = new TextEncoder().encode(
      'event: x\r\ndata: {"t":"häß🎉"}\r\n\r\n: c\r\ndata: 2\n\ndata: [DONE]\n\n',
    )
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), cuts => {
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length]
        const chunks = places.slice(1).map((to, i) => bytes.subarray(places[i], to))
        expect(frames(chunks)).toEqual([
          { event: 'x', data: '{"t":"häß🎉"}' },
          { data: '2' },
          { data: '[DONE]' },
        ])
      }),
    )
  })

  test('a frame without end is refused before it fills the memory', () => {
    expect(() => frames(['data: ', 'x'.repeat(60), 'x'.repeat(60)], 100)).toThrow(RangeError)
  })

  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('accepts many small frames at once: %s', (_, end) => {
    const text = Array.from(
      { length: 20 },
      (_, i) => `event: a${end}data: ${i}${end}${end}: ping${end}${end}`,
    ).join('')
    const all = Array.from({ length: 20 }, (_, i) => ({ event: 'a', data: String(i) }))
    expect(frames([text], 25)).toEqual(all)
    expect(frames([...text], 25)).toEqual(all)
    for (let at = 0; at <= text.length; at++)
      expect(frames([text.slice(0, at), text.slice(at)], 25)).toEqual(all)
  })

  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('a long frame among small ones is refused wherever it is cut: %s', (_, end) => {
    const small = `data: 1${end}${end}`.repeat(5)
    const text = small + `data: 2${end}`.repeat(10) + end + small
    expect(() => frames([text], 40)).toThrow(RangeError)
    expect(() => frames(text.split(/(?<=\n|\r(?!\n))/), 40)).toThrow(RangeError)
    for (let size = 1; size < 30; size++) {
      const cut = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
        text.slice(i * size, (i + 1) * size),
      )
      expect(() => frames(cut, 40)).toThrow(RangeError)
    }
  })

  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('measures a frame without the frame before it in the same chunk: %s', (_, end) => {
    const small = `data: 1${end}${end}: ping${end}${end}`
    const line = (length: number) => `data: ${'x'.repeat(length - end.length - 6)}${end}`
    const text = (length: number) => `${small}${line(length)}${end}${small}`
    const places = Array.from({ length: text(41).length + 1 }, (_, at) => at)
    for (const at of sampled(places))
      for (let second = at; second <= text(41).length; second++) {
        const cut = (whole: string) => [
          whole.slice(0, at),
          whole.slice(at, second),
          whole.slice(second),
        ]
        expect(frames(cut(text(40)), 40)).toHaveLength(3)
        expect(() => frames(cut(text(41)), 40)).toThrow(RangeError)
      }
  })
})
