import { describe, expect, test } from 'vitest'
import { addDelta, collect } from '../../src/canonical/collect.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { explode } from '../../src/canonical/explode.ts'
import { checkGrammar } from '../../src/canonical/grammar.ts'
import type { Part } from '../../src/canonical/message.ts'
import { reasoningOf, textOf, toolCallsOf, usageOf } from '../../src/canonical/read.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'

const body: CanonicalResponse = {
  id: 'r',
  model: 'm',
  createdAt: 5,
  serviceTier: 'default',
  candidates: [
    {
      index: 0,
      messages: [
        {
          role: 'assistant',
          origin: 'message',
          status: 'completed',
          parts: [
            {
              type: 'reasoning',
              segments: [
                { kind: 'summary', text: 'a' },
                { kind: 'raw', text: 'b' },
              ],
              signature: { value: 's', issuer: 'p' },
            },
            {
              type: 'text',
              text: 'Hi',
              citations: [{ kind: 'url', url: 'u', protocol: 'p', raw: {} }],
              logprobs: [{ token: 'Hi', logprob: -1 }],
            },
            { type: 'refusal', text: 'no' },
            { type: 'tool-call', id: 'c', kind: 'function', name: 'f', input: '{}' },
            { type: 'opaque', protocol: 'p', raw: { x: 1 } },
          ],
        },
        { role: 'assistant', origin: 'message', parts: [{ type: 'text', text: ' there' }] },
      ],
      finish: { reason: 'tool_calls' },
    },
    {
      index: 1,
      messages: [{ role: 'assistant', origin: 'message', parts: [] }],
      finish: { reason: 'stop' },
    },
  ],
  usage: { input: 1, output: 2 },
}

describe('explode and collect', () => {
  test('keep the indexes of candidates in any order of arrival', () => {
    const first = { index: 0, messages: [], finish: { reason: 'stop' as const } }
    const second = { index: 1, messages: [], finish: { reason: 'length' as const } }
    expect(collect(explode({ candidates: [second, first] })).response.candidates).toEqual([
      first,
      second,
    ])
  })

  test('restore the response, and produce a legal stream', () => {
    const events = explode(body)
    expect(checkGrammar(events)).toEqual([])
    expect(collect(events)).toEqual({ response: body, clean: true })
  })

  test('write early counts at the start, and the rest at the end', () => {
    const events = explode({
      ...body,
      completedAt: 9,
      usage: { input: 5, cacheRead: 3, output: 2 },
    })
    expect(events.slice(0, 2)).toEqual([
      expect.objectContaining({ type: 'start' }),
      { type: 'usage', usage: { input: 5, cacheRead: 3 } },
    ])
    const first = events.findIndex(({ type }) => type === 'finish')
    expect(
      events.findIndex(event => event.type === 'update' && event.completedAt === 9),
    ).toBeGreaterThan(events.findLastIndex(({ type }) => type === 'part.end'))
    expect(first).toBeGreaterThan(0)
    expect(collect(events).response).toEqual({
      ...body,
      completedAt: 9,
      usage: { input: 5, cacheRead: 3, output: 2 },
    })
  })

  test.each([
    ['a candidate without a finish reason', { candidates: [{ index: 0, messages: [] }] }],
    ['no candidate at all', { candidates: [] }],
    [
      'an error',
      { candidates: [], error: { status: 500, kind: 'internal' as const, message: 'x' } },
    ],
  ])('%s makes the stream end unclean', (_, response) => {
    const events = explode(response)
    expect(checkGrammar(events)).toEqual([])
    expect(events.at(-1)).toEqual({ type: 'end', clean: false })
  })

  test('prefer the final part of the wire over its deltas', () => {
    const final: Part = { type: 'text', text: 'whole' }
    const events: CanonicalEvent[] = [
      { type: 'start' },
      { type: 'message.start', candidate: 0, message: 0, role: 'assistant' },
      { type: 'part.start', candidate: 0, message: 0, part: 0, head: { type: 'text', text: '' } },
      { type: 'part.delta', candidate: 0, part: 0, delta: { kind: 'text', text: 'wh' } },
      { type: 'part.end', candidate: 0, part: 0, final },
      { type: 'message.end', candidate: 0, message: 0 },
    ]
    expect(textOf(collect(events).response)).toBe('whole')
  })

  test('replace earlier counts by later ones, field by field', () => {
    const { response } = collect([
      { type: 'start' },
      { type: 'usage', usage: { input: 10, cacheRead: 4, output: 1 } },
      { type: 'usage', usage: { output: 9 } },
      { type: 'end', clean: false },
    ])
    expect(usageOf(response)).toEqual({ input: 10, cacheRead: 4, output: 9 })
  })

  test.each([
    [
      'text',
      { type: 'tool-call', id: 'c', kind: 'function', name: 'f', input: '' },
      { kind: 'text', text: 'x' },
    ],
    ['input', { type: 'text', text: '' }, { kind: 'input', text: 'x' }],
    [
      'reasoning',
      { type: 'text', text: '' },
      { kind: 'reasoning', segment: 0, of: 'raw', text: 'x' },
    ],
  ] as const)('a delta of %s changes no part that it does not fit', (_, part, delta) => {
    const changed = structuredClone(part) as Part
    addDelta(changed, delta)
    expect(changed).toEqual(part)
  })

  test('textOf reads the first candidate', () => {
    expect([textOf(body), reasoningOf(body), toolCallsOf(body).map(({ id }) => id)]).toEqual([
      'Hi there',
      'a\n\nb',
      ['c'],
    ])
  })
})

describe('the grammar of a stream names', () => {
  const start: CanonicalEvent = { type: 'start' }
  const message: CanonicalEvent = {
    type: 'message.start',
    candidate: 0,
    message: 0,
    role: 'assistant',
  }
  const part: CanonicalEvent = {
    type: 'part.start',
    candidate: 0,
    message: 0,
    part: 0,
    head: { type: 'text', text: '' },
  }
  const end: CanonicalEvent = { type: 'end', clean: true }
  const cut: CanonicalEvent = { type: 'end', clean: false }
  const error: CanonicalEvent = {
    type: 'error',
    error: { status: 500, kind: 'internal', message: 'x' },
  }
  const finish: CanonicalEvent = { type: 'finish', candidate: 0, finish: { reason: 'stop' } }
  test.each<[string, CanonicalEvent[], string]>([
    ['a missing start', [message, cut], 'the first event is start'],
    ['a second start', [start, start, cut], 'start comes once'],
    ['a missing end', [start], 'the stream has no end'],
    ['something after the end', [start, cut, { type: 'ping' }], 'nothing follows the end'],
    [
      'something after an error',
      [start, error, { type: 'ping' }, cut],
      'only the end follows an error',
    ],
    ['a clean end after an error', [start, error, end], 'an error is no clean end'],
    ['a part without its message', [start, part, cut], 'its message is not open'],
    [
      'a delta without its part',
      [
        start,
        { type: 'part.delta', candidate: 0, part: 0, delta: { kind: 'text', text: 'x' } },
        cut,
      ],
      'its part is not open',
    ],
    [
      'a part that ends twice',
      [
        start,
        message,
        part,
        { type: 'part.end', candidate: 0, part: 0 },
        { type: 'part.end', candidate: 0, part: 0 },
        cut,
      ],
      'its part is not open',
    ],
    [
      'a message that ends before its part',
      [start, message, part, { type: 'message.end', candidate: 0, message: 0 }, cut],
      'a part of the message is still open',
    ],
    [
      'a finish before its messages ended',
      [start, message, finish, cut],
      'a message is still open',
    ],
    [
      'something after a finish',
      [start, finish, message, cut],
      'nothing of a candidate follows its finish',
    ],
    [
      'a gap in the count of parts',
      [start, message, { ...part, part: 1 }, cut],
      'parts are counted from 0',
    ],
    [
      'a gap in the count of messages',
      [start, { ...message, message: 1 }, cut],
      'messages are counted from 0',
    ],
    [
      'a clean end without a finish',
      [start, message, { type: 'message.end', candidate: 0, message: 0 }, end],
      'candidate 0 has no finish',
    ],
  ])('%s', (_, events, fault) => expect(checkGrammar(events).join('\n')).toContain(fault))

  test('nothing in a legal stream, also with parts open at the same time', () => {
    const second: CanonicalEvent = { ...part, part: 1 }
    const close = (index: number): CanonicalEvent => ({
      type: 'part.end',
      candidate: 0,
      part: index,
    })
    expect(
      checkGrammar([
        start,
        message,
        part,
        second,
        close(0),
        close(1),
        { type: 'message.end', candidate: 0, message: 0 },
        finish,
        end,
      ]),
    ).toEqual([])
  })
})
