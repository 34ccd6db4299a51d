import { describe, expect, test } from 'vitest'
import { protocols } from '../../src/protocols/index.ts'
import { translateResponse } from '../support/untyped.ts'
import { others, report } from './support.ts'

const response = {
  id: 'r1',
  model: 'm',
  candidates: [
    {
      index: 0,
      finish: { reason: 'tool_calls' },
      messages: [
        {
          role: 'assistant',
          origin: 'message',
          parts: [
            { type: 'text', text: 'Look' },
            {
              type: 'tool-call',
              id: 'call_1',
              idOrigin: 'wire',
              name: 'find',
              kind: 'function',
              input: '{"q":"x"}',
            },
          ],
        },
      ],
    },
  ],
  usage: { inputTokens: 5, outputTokens: 2 },
}

// A Converse stream has binary frames, so that no server sends a response in its place.
const sources = ['chat-completions', 'responses', 'messages', 'generate-content'] as const
const pairs = sources.flatMap(from => others(from).map(to => ({ from, to })))

test('a whole refusal of messages keeps its details', () => {
  const wire = {
    ...(protocols.messages.encodeResponse(response as never).wire as object),
    content: [],
    stop_reason: 'refusal',
    stop_details: { type: 'refusal', category: 'cyber', explanation: 'Not this.' },
  }
  const { events } = report([wire], { from: 'messages', to: 'responses' })
  expect(JSON.stringify(events)).toContain('Not this.')
})

describe.each(pairs)('a whole response where a stream is expected, $from → $to', ({ from, to }) => {
  const wire = protocols[from].encodeResponse(response as never).wire

  test.each(['a frame of its own', 'a body without frames'])('is read in %s', async form => {
    const given = form === 'a frame of its own' ? [wire] : JSON.stringify(wire)
    const { outcome, events, notes } = report(given, { from, to })
    expect(outcome).toBe('success')
    const text = JSON.stringify(events)
    for (const part of ['Look', 'find', 'call_1']) expect(text).toContain(part)
    expect(notes.filter(({ kind }) => kind === 'dropped')).toEqual(
      translateResponse(wire, { from, to }).notes.filter(({ kind }) => kind === 'dropped'),
    )
  })
})
