import fc from 'fast-check'
import { expect, test } from 'vitest'
import { responses } from '../../../src/protocols/responses/index.ts'
import { attempt, wiresOf } from '../../../src/testing/bodies.ts'
import { referencesOf } from '../../../src/translate/history.ts'
import { runs } from '../../support/runs.ts'

const mayRefer = (request: unknown) => responses.address.stored?.mayRefer(request)

/** What the gateway looks up before it translates. */
const historyIn = (request: unknown) =>
  referencesOf(request, responses, {}).filter(
    ({ kind }) => kind === 'previous' || kind === 'conversation' || kind === 'item',
  )

const item = fc.record(
  {
    type: fc.constantFrom(
      'item_reference',
      'message',
      'function_call',
      'reasoning',
      'novel',
      null,
      7,
    ),
    role: fc.constantFrom('user', 'assistant', null, 7),
    id: fc.constantFrom('msg_1', '', null),
    content: fc.constantFrom('hi', [], null),
  },
  { requiredKeys: [] },
)
const request = fc.record(
  {
    input: fc.oneof(fc.constant('hi'), fc.array(item, { maxLength: 3 })),
    previous_response_id: fc.constantFrom('resp_1', '', null),
    conversation: fc.constantFrom('conv_1', { id: 'conv_1' }, {}, '', null),
  },
  { requiredKeys: [] },
)

test.each([
  ['anything that the schema takes', wiresOf(responses).request],
  ['items of all kinds and of none', request],
])('finds the reference to stored content: %s', (_, requests) => {
  fc.assert(
    fc.property(requests, wire => {
      const found = attempt(() => historyIn(wire)) ?? []
      if (found.length > 0) expect(mayRefer(wire)).toBe(true)
    }),
    runs(1000),
  )
})

test.each<[string, object]>([
  ['an earlier response', { input: 'hi', previous_response_id: 'resp_1' }],
  ['a conversation', { input: 'hi', conversation: { id: 'conv_1' } }],
  ['an item', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
  [
    'an item without its type',
    {
      input: [
        { role: 'user', content: 'hi' },
        { type: null, id: 'msg_1' },
      ],
    },
  ],
])('%s is a reference', (_, body) => {
  expect(historyIn(body)).toHaveLength(1)
  expect(mayRefer(body)).toBe(true)
})

test.each<[string, object]>([
  ['a text', { input: 'hi' }],
  [
    'messages, calls and results',
    {
      input: [
        { role: 'user', content: 'hi' },
        { type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' },
      ],
    },
  ],
  ['an invalid earlier response', { input: 'hi', previous_response_id: null }],
])('%s is not read for references', (_, body) => {
  expect(historyIn(body)).toEqual([])
  expect(mayRefer(body)).toBe(false)
})
