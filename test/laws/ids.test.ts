import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Message, Part } from '../../src/canonical/message.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { all } from '../../src/testing/bodies.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { pathOf } from '../support/cross.ts'
import { runs } from '../support/runs.ts'
import { written } from '../support/written.ts'

/** Calls under ids of any form, some of them nearly alike; each result says which call it is of. */
const ids = fc.uniqueArray(
  fc.oneof(
    fc.string({ minLength: 1 }),
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.constantFrom(
      'call_a',
      'call.a',
      'call_a_2',
      'call a',
      'x'.repeat(64),
      'x'.repeat(65),
      'x'.repeat(200),
    ),
  ),
  { minLength: 1, maxLength: 6 },
)

const history = fc
  .tuple(ids, fc.integer({ min: 1, max: 3 }))
  .map(([names, each]): CanonicalRequest => {
    const messages: Message[] = [
      { role: 'user', origin: 'message', parts: [{ type: 'text', text: 'go' }] },
    ]
    for (let at = 0; at < names.length; at += each) {
      const group = names.slice(at, at + each)
      const calls = group.map(
        (id, index): Part => ({
          type: 'tool-call',
          id,
          name: 'run',
          kind: 'function',
          input: `{"number":${at + index}}`,
        }),
      )
      messages.push({ role: 'assistant', origin: 'message', parts: calls })
      for (const [index, callId] of group.entries())
        messages.push({
          role: 'tool',
          origin: 'message',
          parts: [
            {
              type: 'tool-result',
              callId,
              kind: 'function',
              content: [{ type: 'text', text: `{"number":${at + index}}` }],
            },
          ],
        })
    }
    return {
      model: 'some-model',
      maxOutputTokens: 2000,
      messages,
      tools: [{ type: 'function', name: 'run', parameters: { type: 'object', properties: {} } }],
    }
  })

const chains = all.flatMap(first =>
  all.map(second => ({ name: `${first.name} and ${second.name}`, first, second })),
)

describe.each(chains)('tool calls through $name', ({ first, second }) => {
  test('keep their results, whatever their ids are', () => {
    fc.assert(
      fc.property(history, request => {
        const there = written(request, first)
        expect(strictOf(first.name).checkRequest(there.wire)).toEqual([])
        const then = written(first.decodeRequest(there.wire, pathOf(there)).value, second).wire
        expect(strictOf(second.name).checkRequest(then)).toEqual([])
        const parts = second.decodeRequest(then).value.messages.flatMap(message => message.parts)
        const calls = parts.filter(part => part.type === 'tool-call')
        const results = parts.filter(part => part.type === 'tool-result')
        expect(new Set(calls.map(({ id }) => id)).size).toBe(
          request.messages.filter(({ role }) => role === 'tool').length,
        )
        expect(results.length).toBe(calls.length)
        for (const { callId, content } of results) {
          const call = calls.find(({ id }) => id === callId)
          expect(
            content.map(part => (part.type === 'text' ? JSON.parse(part.text) : part)),
          ).toEqual([JSON.parse(call?.input ?? 'null')])
        }
      }),
      runs(1000),
    )
  })
})
