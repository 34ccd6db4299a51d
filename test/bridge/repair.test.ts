import { describe, expect, test } from 'vitest'
import { createBridge } from '../../src/bridge/index.ts'
import { collect } from '../../src/canonical/collect.ts'
import { checkGrammar } from '../../src/canonical/grammar.ts'
import { toolCallsOf } from '../../src/canonical/read.ts'
import type { CanonicalEvent } from '../../src/index.ts'
import { all } from '../../src/testing/bodies.ts'
import { explodeResponse } from '../../src/translate/fold.ts'
import { translateResponse } from '../../src/translate/response.ts'
import { createStreamTranslator } from '../../src/translate/stream.ts'
import { createStreamReader } from '../../src/translate/stream-reader.ts'

const bridge = createBridge({ capabilities: { leaksToolCalls: true } })
const parameters = {
  type: 'object',
  properties: { path: { type: 'string' }, line: { type: 'integer' } },
}
const asked = bridge.request(
  {
    messages: [{ role: 'user', origin: 'message', parts: [{ type: 'text', text: 'Open it.' }] }],
    tools: [{ type: 'function', name: 'open', parameters }],
  },
  undefined,
)

/** Protocols whose calls have text for arguments, which alone can be broken. */
const withText = all.filter(({ name }) => name === 'chat-completions' || name === 'responses')

const pairs = withText.flatMap(from => all.map(to => ({ from, to })))

function translated(input: string, { from, to }: (typeof pairs)[number], reason = 'tool_calls') {
  const { wire } = from.encodeResponse({
    id: 'resp_1',
    model: 'm',
    createdAt: 1_700_000_000,
    candidates: [
      {
        index: 0,
        messages: [
          {
            role: 'assistant',
            origin: from.name === 'responses' ? 'item' : 'message',
            parts: [
              { type: 'tool-call', id: 'call_1', name: 'open', kind: 'function', input: '{"a":1}' },
            ],
          },
        ],
        finish: { reason: reason as 'tool_calls' },
      },
    ],
  })
  const body = JSON.parse(
    JSON.stringify(wire).replaceAll('{\\"a\\":1}', JSON.stringify(input).slice(1, -1)),
  ) as unknown
  const settings = {
    bridge,
    context: { from: to.name, to: from.name, bridge: asked.memory },
  }
  const whole = translateResponse(body, from, to, settings)
  const translator = createStreamTranslator(from, to, settings)
  const frames = translator.push(explodeResponse(body, from, {}).text) + translator.end()
  const events: CanonicalEvent[] = []
  const reader = createStreamReader(to, {}, event => void events.push(event))
  reader.push(frames)
  reader.end()
  expect(checkGrammar(events)).toEqual([])
  return [
    { calls: toolCallsOf(to.decodeResponse(whole.body).value), notes: whole.notes },
    { calls: toolCallsOf(collect(events).response), notes: translator.notes },
  ]
}

const codes = (notes: readonly { code: string }[]) =>
  notes.map(({ code }) => code).filter(code => code === 'tool-call.repaired')

describe.each(pairs)('$from.name → $to.name', pair => {
  test.each([
    ['a bracket that is missing', '{"path": "a.ts", "line": 3', { path: 'a.ts', line: 3 }],
    ['quotes of another language', "{'path': 'a.ts'}", { path: 'a.ts' }],
    ['a comma too many', '{"path": "a.ts",}', { path: 'a.ts' }],
    ['JSON in JSON', '"{\\"path\\": \\"a.ts\\"}"', { path: 'a.ts' }],
    ['a number as text', "{path: 'a.ts', line: '3'}", { path: 'a.ts', line: 3 }],
  ])('%s', (_, input, value) => {
    for (const { calls, notes } of translated(input, pair)) {
      expect(calls.map(call => call.input)).toEqual([value])
      expect(codes(notes)).toEqual(['tool-call.repaired'])
    }
  })

  test('arguments that are JSON, or none, stay', () => {
    for (const input of ['{"path":"a.ts","line":12345678901234567890}', '{}'])
      for (const { calls, notes } of translated(input, pair)) {
        expect(calls).toHaveLength(1)
        expect(codes(notes)).toEqual([])
      }
  })

  test('a call that a token limit has cut is not completed', () => {
    for (const { notes } of translated('{"path": "a.', pair, 'length'))
      expect(codes(notes)).toEqual([])
  })
})
