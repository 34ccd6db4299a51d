import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { checkGrammar } from '../../src/canonical/grammar.ts'
import { all } from '../../src/testing/bodies.ts'
import { cleanEvents } from '../../src/testing/events.ts'
import { encodeStream } from '../../src/testing/streams.ts'
import { callsOf, isPlain, joined, read, textOf } from '../support/joined.ts'
import { runs } from '../support/runs.ts'

describe.each(all)('$name', protocol => {
  test('a stream that is cut anywhere and begun anew has the same content once', () => {
    fc.assert(
      fc.property(cleanEvents, fc.nat(), fc.nat(), fc.boolean(), (events, at, later, ends) => {
        const { text } = encodeStream(protocol, events)
        const whole = read(protocol, text, true)
        fc.pre(isPlain(whole))
        const first = read(protocol, text.slice(0, at % text.length), ends)
        const second = read(protocol, text.slice(0, later % text.length), ends)
        const { out, isGivenUp } = joined([first, second, whole])
        expect(isGivenUp).toBe(false)
        if (out.at(-1)?.type !== 'end') out.push({ type: 'end', clean: false })
        expect(checkGrammar(out)).toEqual([])
        expect(textOf(out)).toBe(textOf(whole))
        expect(callsOf(out)).toEqual(callsOf(whole))
      }),
      runs(500),
    )
  })
})

/** A stream of one message, a delta for each piece. */
function streamOf(pieces: (string | { name: string; input: string[] })[]): CanonicalEvent[] {
  const candidate = 0
  const parts = pieces.flatMap((piece, part): CanonicalEvent[] => {
    const isText = typeof piece === 'string'
    return [
      {
        type: 'part.start',
        candidate,
        message: 0,
        part,
        head: isText
          ? { type: 'text', text: '' }
          : {
              type: 'tool-call',
              id: `call_${part}`,
              name: piece.name,
              kind: 'function',
              input: '',
            },
      },
      ...(isText ? [piece] : piece.input).map(
        (text): CanonicalEvent => ({
          type: 'part.delta',
          candidate,
          part,
          delta: { kind: isText ? 'text' : 'input', text },
        }),
      ),
      { type: 'part.end', candidate, part },
    ]
  })
  return [
    { type: 'start' },
    { type: 'message.start', candidate, message: 0, role: 'assistant' },
    ...parts,
    { type: 'message.end', candidate, message: 0 },
    { type: 'finish', candidate, finish: { reason: 'stop' } },
    { type: 'end', clean: true },
  ]
}

const untilDelta = (events: CanonicalEvent[], count: number) => {
  const places = events.flatMap(({ type }, at) => (type === 'part.delta' ? [at] : []))
  return events.slice(0, (places[count - 1] ?? 0) + 1)
}

describe('what a further attempt repeats', () => {
  test.each([
    ['the rest alone', 'The quick brown fox', ' jumps', 'The quick brown fox jumps'],
    ['all of it', 'The quick', 'The quick brown fox', 'The quick brown fox'],
    [
      'its end',
      'See the quick brown fox',
      'quick brown fox jumps',
      'See the quick brown fox jumps',
    ],
    ['a few letters by chance', 'He said no', 'nobody', 'He said nonobody'],
    ['white space that providers do not take', 'Hello ', ' world', 'Hello world'],
    ['what looks like it at first', 'The quick', 'The queen', 'The quickThe queen'],
  ])('%s', (_, before, after, whole) => {
    const { out } = joined([untilDelta(streamOf([before]), 1), streamOf([after])])
    expect(checkGrammar(out)).toEqual([])
    expect(textOf(out)).toBe(whole)
  })

  const call = { name: 'look', input: ['{"a":', '1}'] }

  test('a call goes on only where the next attempt makes the same one', () => {
    const cut = untilDelta(streamOf(['Let me look.', call]), 2)
    const same = joined([cut, streamOf(['Looking.', { name: 'look', input: ['{"a":1', '2}'] }])])
    expect(same.isGivenUp).toBe(false)
    expect(checkGrammar(same.out)).toEqual([])
    expect([textOf(same.out), callsOf(same.out)]).toEqual([
      'Let me look.',
      [{ name: 'look', input: '{"a":12}' }],
    ])
    for (const other of [
      streamOf([{ name: 'look', input: ['{"b":1}'] }]),
      streamOf([{ name: 'see', input: ['{"a":1}'] }]),
      streamOf(['I did not look.']),
      streamOf([{ name: 'look', input: ['{"a'] }]),
    ])
      expect(joined([cut, other]).isGivenUp).toBe(true)
  })

  test('a stream with a picture, or of two candidates, is not continued', () => {
    const [start, message] = streamOf(['a'])
    const picture: CanonicalEvent = {
      type: 'part.start',
      candidate: 0,
      message: 0,
      part: 0,
      head: { type: 'media', kind: 'image', source: { type: 'base64', data: 'AAAA' } },
    }
    const begun = [start, message].flatMap(event => event ?? [])
    expect(joined([[...begun, picture], streamOf(['a'])]).isGivenUp).toBe(true)
    const other: CanonicalEvent = {
      type: 'message.start',
      candidate: 1,
      message: 0,
      role: 'assistant',
    }
    expect(joined([[...begun, other], streamOf(['a'])]).isGivenUp).toBe(true)
  })
})
