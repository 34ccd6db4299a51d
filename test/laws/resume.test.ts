import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { checkGrammar } from '../../src/canonical/grammar.ts'
import type { Part } from '../../src/canonical/message.ts'
import { Mismatch, Seam } from '../../src/gateway/resume/seam.ts'
import type { Protocol } from '../../src/protocol.ts'
import { all } from '../../src/testing/bodies.ts'
import { cleanEvents } from '../../src/testing/events.ts'
import { encodeStream } from '../../src/testing/streams.ts'
import { createStreamReader } from '../../src/translate/stream-reader.ts'
import { runs } from '../support/runs.ts'

function read(protocol: Protocol, text: string, ends: boolean): CanonicalEvent[] {
  const events: CanonicalEvent[] = []
  const reader = createStreamReader(protocol, {}, event => void events.push(event))
  reader.push(text)
  if (ends) reader.end()
  return events
}

const isFailure = (event: CanonicalEvent) =>
  event.type === 'error' || (event.type === 'end' && !event.clean)

/** The events of a broken stream until its end, then those of the attempts that continue it. */
function joined(attempts: CanonicalEvent[][]): { out: CanonicalEvent[]; isGivenUp: boolean } {
  const seam = new Seam()
  const out: CanonicalEvent[] = []
  for (const [nth, attempt] of attempts.entries()) {
    if (seam.isFinished) break
    if (nth > 0) {
      if (seam.sent === undefined) return { out, isGivenUp: true }
      seam.spend({ input: 1 })
      seam.cut()
    }
    const before = collect(out)
    try {
      for (const event of attempt) if (!isFailure(event)) out.push(...seam.take(event))
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error
      return { out, isGivenUp: true }
    }
    // The client keeps what it had.
    expect(textOf(out).startsWith(textOfParts(partsOf(before)))).toBe(true)
  }
  return { out, isGivenUp: false }
}

const partsOf = ({ response }: ReturnType<typeof collect>): Part[] =>
  response.candidates.flatMap(({ messages }) => messages.flatMap(({ parts }) => parts))
const textOfParts = (parts: Part[]) =>
  parts.map(part => (part.type === 'text' ? part.text : '')).join('')
const textOf = (events: CanonicalEvent[]) => textOfParts(partsOf(collect(events)))
const callsOf = (events: CanonicalEvent[]) =>
  partsOf(collect(events)).flatMap(part =>
    part.type === 'tool-call' ? [{ name: part.name, input: part.input }] : [],
  )

/**
 * Of several candidates, of parts that are mixed, and with parts of other kinds a stream is not
 * continued.
 */
function isPlain(events: CanonicalEvent[]): boolean {
  let last = -1
  return events.every(event => {
    if ('candidate' in event && event.candidate > 0) return false
    if (event.type === 'part.start') last = event.part
    if (event.type === 'part.start')
      return ['text', 'reasoning', 'tool-call'].includes(event.head.type)
    return event.type !== 'part.delta' || !('text' in event.delta) || event.part === last
  })
}

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
