import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import { type ProtocolName, protocols } from '../../../src/protocols/index.ts'
import { decodeStream, encodeStream, run } from '../../../src/testing/streams.ts'

const { messages } = protocols
const start = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
}
const block = (content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index: 0, content_block },
  ...deltas.map(delta => ({ type: 'content_block_delta', index: 0, delta })),
  { type: 'content_block_stop', index: 0 },
]
const ending = (delta: object, beside: object = {}) => [
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null, ...delta },
    usage: { output_tokens: 2 },
    ...beside,
  },
  { type: 'message_stop' },
]
const text = { type: 'text', text: '' }
const says = { type: 'text_delta', text: 'yes' }
const location = {
  type: 'char_location',
  cited_text: 'a',
  document_index: 0,
  document_title: null,
  start_char_index: 0,
  end_char_index: 1,
}

/** Unknown keys, and their places in the events. */
type Case = [
  string,
  object[],
  (event: Record<string, Record<string, unknown> | undefined>) => unknown,
  string,
]
const cases: Case[] = [
  [
    'a text',
    [start, ...block(text, { ...says, odd: 1 }), ...ending({})],
    event => event['delta']?.['odd'],
    '/content/0/odd',
  ],
  [
    'thinking',
    [
      start,
      ...block(
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'hm', odd: 1 },
      ),
      ...ending({}),
    ],
    event => event['delta']?.['odd'],
    '/content/0/odd',
  ],
  ...(
    [
      ['text without content', text, { type: 'text_delta', text: '', odd: 1 }],
      [
        'thinking without content',
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: '', odd: 1 },
      ],
      [
        'input without content',
        { type: 'tool_use', id: 't1', name: 'look', input: {} },
        { type: 'input_json_delta', partial_json: '', odd: 1 },
      ],
    ] as const
  ).map(
    ([name, content, delta]): Case => [
      name,
      [start, ...block(content, delta), ...ending({})],
      event => event['delta']?.['odd'],
      '/content/0/odd',
    ],
  ),
  [
    'a signature',
    [
      start,
      ...block(
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'hm' },
        { type: 'signature_delta', signature: 'c2VhbA==', odd: 1 },
      ),
      ...ending({}),
    ],
    event => event['delta']?.['odd'],
    '/content/0/odd',
  ],
  [
    'the input of a call',
    [
      start,
      ...block(
        { type: 'tool_use', id: 't1', name: 'look', input: {} },
        { type: 'input_json_delta', partial_json: '{}', odd: 1 },
      ),
      ...ending({}),
    ],
    event => event['delta']?.['odd'],
    '/content/0/odd',
  ],
  [
    'a citation',
    [
      start,
      ...block(text, { type: 'citations_delta', citation: location, odd: 1 }, says),
      ...ending({}),
    ],
    event => event['delta']?.['odd'],
    '/content/0/odd',
  ],
  [
    'a block that begins',
    [start, ...block({ ...text, odd: 1 }, says), ...ending({})],
    event => event['content_block']?.['odd'],
    '/content/0/odd',
  ],
  [
    'how the message changes',
    [start, ...block(text, says), ...ending({ odd: 1 })],
    event => event['odd'],
    '/odd',
  ],
  [
    'fields next to that',
    [start, ...block(text, says), ...ending({}, { odd: 1 })],
    event => event['odd'],
    '/odd',
  ],
]

describe('unknown keys in the events of a stream', () => {
  test.each(cases)('are restored for %s', (_, events, oddOf) => {
    const { out, notes } = run(messages.streamDecoder, events)
    const { wires, notes: written } = encodeStream(messages, out)
    const odd = (wires as Parameters<typeof oddOf>[0][]).map(oddOf).filter(one => one !== undefined)
    expect(odd).toEqual([1])
    expect([...notes, ...written].filter(({ code }) => code === 'field.unknown')).toEqual([])
  })

  test.each(
    cases.flatMap(([name, events, , path]) =>
      (['chat-completions', 'responses'] as ProtocolName[]).map(to => ({ name, events, path, to })),
    ),
  )('are noted once for $name toward $to', ({ events, path, to }) => {
    const { notes } = encodeStream(protocols[to], decodeStream(messages, events), {
      fieldNames: messages.fieldNames,
    })
    expect(notes.filter(({ code }) => code === 'field.unknown').map(one => one.path)).toEqual([
      path,
    ])
  })

  test('however many deltas have one, it is noted once, and the complete response has it', () => {
    const events = decodeStream(messages, [
      start,
      ...block(text, { ...says, odd: 1 }, { ...says, odd: 2 }),
      ...ending({}),
    ])
    const { notes } = encodeStream(protocols.responses, events, { fieldNames: messages.fieldNames })
    expect(notes.filter(({ code }) => code === 'field.unknown')).toHaveLength(1)
    expect(messages.encodeResponse(collect(events).response).wire).toMatchObject({
      content: [{ type: 'text', text: 'yesyes', odd: 2 }],
    })
  })
})
