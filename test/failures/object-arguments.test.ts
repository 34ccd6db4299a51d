import { expect, test } from 'vitest'
import { translateRequest } from '../../src/api.ts'
import { collect } from '../../src/canonical/collect.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import { decodeStream } from '../../src/testing/streams.ts'
import { covered } from '../support/covered.ts'
import { translateResponse } from '../support/untyped.ts'
import {
  callEvents,
  callItem,
  chatResponse,
  chunk,
  part,
  report,
  responsesResponse,
  responsesStream,
} from './support.ts'

/** Some servers send the arguments of a call as an object instead of its JSON text. */
const args = { q: 'x' }
// The types say that it is text.
const object = args as unknown as string
const item = callItem('call_1', 'look', object)
const announced = callEvents(0, item)
const code = 'tool-call.input-object'
const whole = {
  responses: responsesResponse([item]),
  'chat-completions': chatResponse(
    {
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'look', arguments: object } },
      ],
    },
    'tool_calls',
  ),
}
const streams: [string, 'responses' | 'chat-completions', object[]][] = [
  ['in its end', 'responses', responsesStream(announced, whole.responses)],
  [
    'in the end of its item',
    'responses',
    responsesStream([announced[0] ?? {}, announced[2] ?? {}], whole.responses),
  ],
  [
    'in its announcement',
    'responses',
    responsesStream(
      [{ type: 'response.output_item.added', output_index: 0, item }],
      responsesResponse([]),
    ),
  ],
  ['in the last event', 'responses', responsesStream([], whole.responses)],
  [
    'in a chunk',
    'chat-completions',
    [part(0, object, { id: 'call_1', name: 'look' }), chunk({}, 'tool_calls')],
  ],
]

function expectCall({ candidates }: CanonicalResponse): void {
  const parts = (candidates[0]?.messages ?? []).flatMap(message => message.parts)
  expect(parts).toMatchObject([{ type: 'tool-call', name: 'look' }])
  expect(parts.map(one => one.type === 'tool-call' && JSON.parse(one.input))).toEqual([args])
}

const from = ['responses', 'chat-completions'] as const
test.each(
  from.flatMap(one => protocolNames.flatMap(to => (one === to ? [] : [[one, to] as const]))),
)('arguments that are an object are read in a response %s → %s', (one, to) => {
  const { body, notes } = translateResponse(whole[one], { from: one, to })
  expectCall(protocols[to].decodeResponse(body).value)
  expect(notes.map(note => note.code)).toContain(code)
})

test.each(
  streams.flatMap(row => covered.flatMap(to => (row[1] === to ? [] : [[...row, to] as const]))),
)('arguments that are an object %s are read in a stream of %s', (_, one, wires, to) => {
  const { events, notes } = report(wires, { from: one, to })
  expectCall(collect(decodeStream(protocols[to], events)).response)
  expect(notes.filter(note => note.code === code)).toHaveLength(1)
})

test.each(protocolNames.filter(to => to !== 'responses'))(
  'and in the history of a client of responses → %s',
  to => {
    const history = {
      model: 'm',
      input: [item, { type: 'function_call_output', call_id: 'call_1', output: 'ok' }],
    }
    const { body, notes } = translateRequest(history, { from: 'responses', to })
    const { messages } = protocols[to].decodeRequest(body).value
    const call = messages.flatMap(({ parts }) => parts).find(({ type }) => type === 'tool-call')
    expect(JSON.parse((call as { input: string }).input)).toEqual(args)
    expect(notes.map(note => note.code)).toContain(code)
  },
)
