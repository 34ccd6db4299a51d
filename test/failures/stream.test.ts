import { describe, expect, test } from 'vitest'
import { clientOf } from '../support/clients/index.ts'
import type { Covered } from '../support/covered.ts'
import { translateResponse } from '../support/untyped.ts'
import {
  begun,
  block,
  callEvents,
  callItem,
  chunk,
  done,
  ended,
  frame,
  messageItem,
  others,
  pairs,
  part,
  report,
  responsesResponse,
  responsesStream,
  shown,
  textBlock,
  textEvents,
  toolBlock,
  typesOf,
  usageChunk,
} from './support.ts'

const opening = chunk({ role: 'assistant', content: '' })

/** A response with this text and nothing else, as each protocol's client shows it. */
const says: Record<Covered, (text: string) => object> = {
  'chat-completions': content => ({
    choices: [
      expect.objectContaining({
        finish_reason: 'stop',
        message: expect.objectContaining({ content }),
      }),
    ],
  }),
  responses: text => ({
    status: 'completed',
    output: [
      expect.objectContaining({
        type: 'message',
        content: [expect.objectContaining({ type: 'output_text', text })],
      }),
    ],
  }),
  messages: text => ({
    stop_reason: 'end_turn',
    content: [expect.objectContaining({ type: 'text', text })],
  }),
  'generate-content': text => ({
    candidates: [
      expect.objectContaining({
        finishReason: 'STOP',
        content: { role: 'model', parts: [expect.objectContaining({ text })] },
      }),
    ],
  }),
}

/** A response with these calls, after any text. */
const calls: Record<Covered, (...calls: [id: string, name: string, input: object][]) => object> = {
  'chat-completions': (...list) => ({
    choices: [
      expect.objectContaining({
        finish_reason: 'tool_calls',
        message: expect.objectContaining({
          tool_calls: list.map(([id, name, input]) =>
            expect.objectContaining({
              id,
              type: 'function',
              function: expect.objectContaining({ name, arguments: JSON.stringify(input) }),
            }),
          ),
        }),
      }),
    ],
  }),
  responses: (...list) => ({
    status: 'completed',
    output: expect.arrayContaining(
      list.map(([call_id, name, input]) =>
        expect.objectContaining({
          type: 'function_call',
          call_id,
          name,
          arguments: JSON.stringify(input),
        }),
      ),
    ),
  }),
  messages: (...list) => ({
    stop_reason: 'tool_use',
    content: expect.arrayContaining(
      list.map(([id, name, input]) =>
        expect.objectContaining({ type: 'tool_use', id, name, input }),
      ),
    ),
  }),
  'generate-content': (...list) => ({
    candidates: [
      expect.objectContaining({
        finishReason: 'STOP',
        content: {
          role: 'model',
          parts: expect.arrayContaining(
            list.map(([id, name, args]) =>
              expect.objectContaining({
                functionCall: { id, name, ...(Object.keys(args).length > 0 && { args }) },
              }),
            ),
          ),
        },
      }),
    ],
  }),
}

describe('what servers of chat completions do', () => {
  describe.each(others('chat-completions'))('for a client of %s', to => {
    const received = (...wires: unknown[]) => report(wires, { from: 'chat-completions', to })

    test('ignores an empty list of calls next to text', async () => {
      const { response, events, notes } = received(
        chunk({ role: 'assistant', content: '', tool_calls: [] }),
        chunk({ content: 'Good ', tool_calls: [] }),
        chunk({ content: 'day', tool_calls: [] }),
        chunk({ tool_calls: [] }, 'stop'),
        done,
      )
      expect(await response()).toMatchObject(says[to]('Good day'))
      expect(JSON.stringify(events)).not.toMatch(/input_json_delta|function_call/)
      expect(shown(notes).filter(note => note.includes('tool'))).toEqual([])
    })

    test('separates interleaved calls with their own arguments', async () => {
      const { response, notes } = received(
        opening,
        part(0, '', { id: 'call_n', name: 'north' }),
        part(1, '', { id: 'call_s', name: 'south' }),
        part(0, '{"km"'),
        part(1, '{"km":'),
        part(0, ':1}'),
        part(1, '22}'),
        chunk({}, 'tool_calls'),
        done,
      )
      expect(await response()).toMatchObject(
        calls[to](['call_n', 'north', { km: 1 }], ['call_s', 'south', { km: 22 }]),
      )
      expect(shown(notes.filter(({ kind }) => kind !== 'synthesized'))).toEqual(
        to === 'messages' ? ['dropped /created field.unsupported'] : [],
      )
    })

    test.each<[what: string, ...wires: object[]]>([
      [
        'have no index',
        chunk({
          tool_calls: [
            { id: 'call_a', type: 'function', function: { name: 'find', arguments: '{"q":' } },
          ],
        }),
        chunk({ tool_calls: [{ function: { arguments: '"x"}' } }] }),
        chunk({
          tool_calls: [
            { id: 'call_b', type: 'function', function: { name: 'open', arguments: '{"n":2}' } },
          ],
        }),
      ],
      [
        'begin at a later index',
        part(3, '', { id: 'call_a', name: 'find' }),
        part(3, '{"q":"x"}'),
        part(7, '', { id: 'call_b', name: 'open' }),
        part(7, '{"n":2}'),
      ],
      [
        'all have the same index',
        part(0, '{"q":"x"}', { id: 'call_a', name: 'find' }),
        part(0, '{"n":2}', { id: 'call_b', name: 'open' }),
      ],
      [
        'get their names after their arguments have begun',
        chunk({ tool_calls: [{ index: 0, id: 'call_a', function: { arguments: '{"q"' } }] }),
        chunk({
          tool_calls: [
            { index: 0, type: 'function', function: { name: 'find', arguments: ':"x"}' } },
          ],
        }),
        part(1, '{"n":2}', { id: 'call_b', name: 'open' }),
      ],
      [
        'repeat their name and id in every chunk',
        part(0, '{"q":', { id: 'call_a', name: 'find' }),
        part(0, '"x"}', { id: 'call_a', name: 'find' }),
        part(1, '', { id: 'call_b', name: 'open' }),
        part(1, '{"n":2}', { id: 'call_b', name: 'open' }),
      ],
      [
        'have null for a type and an empty id after the first chunk',
        chunk({
          tool_calls: [
            { index: 0, id: 'call_a', type: null, function: { name: 'find', arguments: '{"q"' } },
          ],
        }),
        chunk({
          tool_calls: [
            { index: 0, id: '', type: null, function: { name: '', arguments: ':"x"}' } },
          ],
        }),
        chunk({
          tool_calls: [
            {
              index: 1,
              id: 'call_b',
              type: null,
              function: { name: 'open', arguments: '{"n":2}' },
            },
          ],
        }),
      ],
      [
        'continue after the finish reason',
        part(0, '{"q":"x"}', { id: 'call_a', name: 'find' }),
        part(1, '{"n":', { id: 'call_b', name: 'open' }),
        chunk({}, 'tool_calls'),
        part(1, '2}'),
      ],
      [
        'end with "stop"',
        part(0, '{"q":"x"}', { id: 'call_a', name: 'find' }),
        part(1, '{"n":2}', { id: 'call_b', name: 'open' }),
        chunk({}, 'stop'),
      ],
    ])('completes calls that %s', async (_, ...wires) => {
      const finished = JSON.stringify(wires).includes('"finish_reason":"')
      const { response } = received(
        opening,
        ...wires,
        ...(finished ? [] : [chunk({}, 'tool_calls')]),
        done,
      )
      expect(await response()).toMatchObject(
        calls[to](['call_a', 'find', { q: 'x' }], ['call_b', 'open', { n: 2 }]),
      )
    })

    test('ignores what is sent after the end, and ends once', async () => {
      const { response, events } = received(
        opening,
        chunk({ content: 'All.' }),
        chunk({}, 'stop'),
        done,
        chunk({ content: ' GHOST' }),
        chunk({}, 'stop'),
        done,
      )
      expect(await response()).toMatchObject(says[to]('All.'))
      expect(JSON.stringify(events)).not.toContain('GHOST')
      expect(
        events.filter(event =>
          /message_stop|response\.completed|finishReason/.test(JSON.stringify(event)),
        ),
      ).toHaveLength(1)
    })

    test('starts with the next chunk when the first one has no choice', async () => {
      const filter = [{ prompt_index: 0, content_filter_results: {} }]
      const { response, events } = received(
        { ...chunk({}), id: '', created: 0, model: '', choices: [], prompt_filter_results: filter },
        opening,
        chunk({ content: 'Hi' }),
        chunk({}, 'stop'),
        done,
      )
      expect(await response()).toMatchObject({
        ...says[to]('Hi'),
        [to === 'generate-content' ? 'modelVersion' : 'model']: 'm-7',
      })
      if (to === 'messages')
        expect(events[0]).toMatchObject({
          type: 'message_start',
          message: {
            id: expect.stringMatching(/./),
            type: 'message',
            role: 'assistant',
            content: [],
            stop_reason: null,
            stop_sequence: null,
          },
        })
    })

    test('does not add up the counts of every chunk', async () => {
      const count = (completion: number) => ({
        usage: { prompt_tokens: 9, completion_tokens: completion, total_tokens: 9 + completion },
      })
      const { response } = received(
        chunk({ role: 'assistant', content: 'One' }, null, count(1)),
        chunk({ content: ' two' }, null, count(2)),
        chunk({}, 'stop', count(3)),
        done,
      )
      expect(await response()).toMatchObject(
        to === 'generate-content'
          ? { usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 } }
          : { usage: { input_tokens: 9, output_tokens: 3 } },
      )
    })

    test('separates reasoning, text and a call in one chunk', async () => {
      const { response } = received(
        chunk({
          role: 'assistant',
          reasoning_content: 'plan',
          content: 'Now.',
          tool_calls: [
            {
              index: 0,
              id: 'call_w',
              type: 'function',
              function: { name: 'w', arguments: '{"q":1}' },
            },
          ],
        }),
        chunk({}, 'tool_calls'),
        done,
      )
      const result = await response()
      expect(result).toMatchObject(calls[to](['call_w', 'w', { q: 1 }]))
      if (to === 'generate-content') {
        const [{ content }] = result['candidates'] as [
          {
            content: {
              parts: { text?: string; thought?: boolean; functionCall?: { id: string } }[]
            }
          },
        ]
        const parts = content.parts.map(({ text, thought, functionCall }) => [
          text ?? functionCall?.id,
          thought === true,
        ])
        // The end of the response is an empty text of its own.
        expect(parts).toEqual([
          ['plan', true],
          ['Now.', false],
          ['call_w', false],
          ['', false],
        ])
        return
      }
      const items = (result['output'] ?? result['content']) as { type: string }[]
      expect(items.map(({ type }) => type)).toEqual(
        to === 'responses'
          ? ['reasoning', 'message', 'function_call']
          : ['thinking', 'text', 'tool_use'],
      )
      expect(JSON.stringify(items[1])).not.toContain('plan')
    })
  })
})

describe('what servers of messages do', () => {
  describe.each(others('messages'))('for a client of %s', to => {
    const received = (...wires: unknown[]) => report(wires, { from: 'messages', to })

    test('a ping and an unknown event do not break the response; the event is noted', async () => {
      const { response, notes, text } = received(
        begun(),
        { type: 'ping' },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'weather_event', sky: 'blue' },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
        { type: 'ping' },
        { type: 'content_block_stop', index: 0 },
        ...ended('end_turn'),
      )
      expect(await response()).toMatchObject(says[to]('Hi'))
      expect(notes.filter(({ kind }) => kind !== 'synthesized').map(({ code }) => code)).toEqual([
        'event.unknown',
      ])
      // Keeps the connection of a client alive; before any output it would fix the status. Clients
      // of generate-content read comments as JSON.
      expect(
        text.match(to === 'generate-content' ? /(?<=\r\n\r\n)\r\n\r\n/g : /(?<=\n\n): ping\n\n/g),
      ).toHaveLength(1)
      expect(text.includes(':ping') || text.includes(': ping')).toBe(to !== 'generate-content')
    })

    test('a second response spliced into the first is an error, and none of it is emitted', async () => {
      const { response, events, outcome } = received(
        begun(),
        ...textBlock(0, 'First'),
        begun({ input_tokens: 12, output_tokens: 1 }, 'msg_8'),
        ...textBlock(0, 'SECOND'),
        ...ended('end_turn'),
      )
      expect(outcome).toBe('failed')
      expect(JSON.stringify(events)).not.toContain('SECOND')
      await expect(response()).rejects.toThrow()
    })

    test('the same start sent twice is emitted once', async () => {
      const { response, events } = received(
        begun(),
        begun(),
        ...textBlock(0, 'Hi'),
        ...ended('end_turn'),
      )
      expect(await response()).toMatchObject(says[to]('Hi'))
      // Here every event is a beginning of its own.
      if (to === 'generate-content') return
      expect(
        events.filter(
          event =>
            JSON.stringify(event).includes('response.created') ||
            JSON.stringify(event).includes('"role"'),
        ),
      ).toHaveLength(
        to === 'responses'
          ? events.filter(event => JSON.stringify(event).includes('"role"')).length + 1
          : 1,
      )
    })

    test('a tool that the provider runs does not break the response, and is noted', async () => {
      const result = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
      const { response, notes } = received(
        begun(),
        ...block(
          0,
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
          { type: 'input_json_delta', partial_json: '{"query":"tides"}' },
        ),
        ...block(1, result),
        ...textBlock(2, 'High at noon.'),
        ...ended('end_turn'),
      )
      expect(await response()).toMatchObject(says[to]('High at noon.'))
      expect(shown(notes).filter(note => /server-tool|part\.unsupported/.test(note))).toHaveLength(
        2,
      )
    })

    test('arguments of a block that never began are ignored with a note, and the response continues', async () => {
      const { response, notes } = received(
        begun(),
        {
          type: 'content_block_delta',
          index: 4,
          delta: { type: 'input_json_delta', partial_json: '{"query":' },
        },
        ...textBlock(0, 'Still here.'),
        ...ended('end_turn'),
      )
      expect(await response()).toMatchObject(says[to]('Still here.'))
      expect(shown(notes)).toContainEqual(
        expect.stringMatching(/^dropped \S* stream\.stray-delta$/),
      )
    })
  })

  test.each<[what: string, ...blocks: object[][]]>([
    [
      'after text',
      textBlock(0, 'Looking.'),
      toolBlock(1, 'toolu_a', 'find', '', '{"q":', '"x"}'),
      toolBlock(2, 'toolu_b', 'open', '{"n":2}'),
    ],
    [
      'after thinking and text',
      block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'hm' },
      ),
      textBlock(1, 'Looking.'),
      toolBlock(2, 'toolu_a', 'find', '{"q":"x"}'),
      toolBlock(3, 'toolu_b', 'open', '{"n":2}'),
    ],
    [
      'at once',
      toolBlock(0, 'toolu_a', 'find', '{"q":"x"}'),
      toolBlock(1, 'toolu_b', 'open', '{"n":2}'),
    ],
  ])('calls %s are counted from 0, without gaps', async (_, ...blocks) => {
    const { response, events } = report([begun(), ...blocks.flat(), ...ended('tool_use')], {
      from: 'messages',
      to: 'chat-completions',
    })
    const indices = events.flatMap(
      event =>
        (
          (event as ReturnType<typeof chunk>).choices?.[0]?.delta as {
            tool_calls?: { index: number }[]
          }
        )?.tool_calls ?? [],
    )
    expect([...new Set(indices.map(({ index }) => index))]).toEqual([0, 1])
    expect(await response()).toMatchObject(
      calls['chat-completions'](['toolu_a', 'find', { q: 'x' }], ['toolu_b', 'open', { n: 2 }]),
    )
  })
})

describe('what servers of responses do', () => {
  const call = callItem('call_q', 'find', '{"q":"x"}')

  describe.each(others('responses'))('for a client of %s', to => {
    const received = (...wires: unknown[]) => report(wires, { from: 'responses', to })

    test('emits arguments that come only in the done event', async () => {
      const { response, notes } = received(
        ...responsesStream(callEvents(0, call), responsesResponse([call])),
      )
      expect(await response()).toMatchObject(calls[to](['call_q', 'find', { q: 'x' }]))
      const lost = notes.filter(({ kind }) => kind !== 'synthesized').map(({ code }) => code)
      // What has no place there is named; neither the call nor its arguments are among it.
      expect(lost).toEqual(
        {
          messages: ['field.unsupported', 'message.envelope'],
          'chat-completions': ['message.ids'],
          'generate-content': ['message.envelope'],
          responses: [],
        }[to],
      )
    })

    test('emits an item that comes only in its done event', async () => {
      const { response } = received(
        ...responsesStream(callEvents(0, call).slice(-1), responsesResponse([call])),
      )
      expect(await response()).toMatchObject(calls[to](['call_q', 'find', { q: 'x' }]))
    })

    test('emits items that come only with the complete response', async () => {
      const { response } = received(...responsesStream([], responsesResponse([call])))
      expect(await response()).toMatchObject(calls[to](['call_q', 'find', { q: 'x' }]))
    })

    test('treats an item whose id changes with every event as one call', async () => {
      const rotating = callEvents(0, call, '{"q":', '"x"}').map((event, i) =>
        'item_id' in event
          ? { ...event, item_id: `fc_x${i}` }
          : { ...event, item: { ...event.item, id: `fc_x${i}` } },
      )
      const { response } = received(
        ...responsesStream(rotating, responsesResponse([{ ...call, id: 'fc_last' }])),
      )
      const result = await response()
      expect(result).toMatchObject(calls[to](['call_q', 'find', { q: 'x' }]))
      expect(JSON.stringify(result).match(/call_q/g)).toHaveLength(1)
    })

    test.each<[what: string, index: (event: { output_index?: number }) => number]>([
      ['the same for all', () => 0],
      ['counted from 1', ({ output_index = 0 }) => output_index + 1],
      ['with gaps', ({ output_index = 0 }) => 3 * output_index],
    ])('emits items whose indices are %s once each', async (_, index) => {
      const other = callItem('call_o', 'open', '{"n":2}')
      const events = [
        ...textEvents(0, 'Fine.'),
        ...callEvents(1, call, '{"q":', '"x"}'),
        ...callEvents(2, other, '{"n":2}'),
      ]
      for (const listed of [
        [],
        [messageItem('Fine.', { id: 'msg_last' }), { ...call, id: 'fc_last' }, other],
      ]) {
        const { response } = received(
          ...responsesStream(
            events.map(event => ({ ...event, output_index: index(event) })),
            responsesResponse(listed),
          ),
        )
        const result = await response()
        expect(result).toMatchObject(
          calls[to](['call_q', 'find', { q: 'x' }], ['call_o', 'open', { n: 2 }]),
        )
        expect(JSON.stringify(result).match(/Fine\./g)).toHaveLength(1)
      }
    })

    test('calls side by side under one index have each their own arguments', async () => {
      const other = callItem('call_o', 'open', '{"n":2}')
      const [begins, ...more] = callEvents(0, call, '{"q":"x"}')
      const [alsoBegins, ...alsoMore] = callEvents(0, other, '{"n":2}')
      const { response } = received(
        ...responsesStream(
          [begins, alsoBegins, ...more, ...alsoMore].flatMap(event => event ?? []),
          responsesResponse([]),
        ),
      )
      expect(await response()).toMatchObject(
        calls[to](['call_q', 'find', { q: 'x' }], ['call_o', 'open', { n: 2 }]),
      )
    })

    test('keeps reasoning under the index of the message, and emits the text once', async () => {
      const [added, part, ...message] = textEvents(0, 'Fine.')
      const thought = (delta: string) => ({
        type: 'response.reasoning_summary_text.delta',
        output_index: 0,
        item_id: `rs_${delta.length}`,
        delta,
      })
      const listed = [
        { type: 'reasoning', id: 'rs_last', summary: [{ type: 'summary_text', text: 'Well now' }] },
        messageItem('Fine.', { id: 'msg_last' }),
      ]
      const events = [added, part, thought('Well '), thought('now'), ...message].flatMap(
        event => event ?? [],
      )
      const { text, response } = received(...responsesStream(events, responsesResponse(listed)))
      expect((await clientOf(to).readStream(text)).text).toBe('Fine.')
      expect(JSON.stringify(await response())).toContain('Well now')
    })

    test('joins deltas whose index increases each time into one text and one reasoning', async () => {
      const item_id = 'rs_7'
      const thought = {
        type: 'reasoning',
        id: item_id,
        summary: [],
        content: [{ type: 'reasoning_text', text: 'Well now' }],
      }
      const [added, part, , ...message] = textEvents(1, 'Fine.')
      const events = [
        { type: 'response.output_item.added', output_index: 0, item: { ...thought, content: [] } },
        ...['Well', ' ', 'now'].map((delta, content_index) => ({
          type: 'response.reasoning_text.delta',
          output_index: 0,
          content_index,
          item_id,
          delta,
        })),
        {
          type: 'response.reasoning_text.done',
          output_index: 0,
          content_index: 3,
          item_id,
          text: 'Well now',
        },
        { type: 'response.output_item.done', output_index: 0, item: thought },
        added,
        { ...part, content_index: 3 },
        ...['Fi', 'ne', '.'].map((delta, i) => ({
          type: 'response.output_text.delta',
          output_index: 1,
          content_index: 3 + i,
          item_id: 'msg_7',
          delta,
        })),
        ...message.map(event => ({
          ...event,
          ...('content_index' in event && { content_index: 6 }),
        })),
      ].flatMap(event => event ?? [])
      const { text, response } = received(
        ...responsesStream(events, responsesResponse([thought, messageItem('Fine.')])),
      )
      expect((await clientOf(to).readStream(text)).text).toBe('Fine.')
      expect(JSON.stringify(await response()).match(/Well now/g)).not.toBeNull()
    })

    test.each([
      ['twice', '{"q":"x"}'],
      ['as an empty object first', '{}'],
    ])('emits arguments sent %s once', async (_, first) => {
      const [added, ...rest] = callEvents(0, call, '{"q":"x"}')
      const { response } = received(
        ...responsesStream(
          [{ ...added, item: { ...call, arguments: first } }, ...rest],
          responsesResponse([call]),
        ),
      )
      expect(await response()).toMatchObject(calls[to](['call_q', 'find', { q: 'x' }]))
    })

    test('emits arguments that come only with the call', async () => {
      const [added] = callEvents(0, call)
      const { response } = received(
        ...responsesStream([{ ...added, item: call }], responsesResponse([])),
      )
      expect(await response()).toMatchObject(calls[to](['call_q', 'find', { q: 'x' }]))
    })

    test('emitted parts stay when the events of the end are empty', async () => {
      const item_id = 'rs_7'
      const thought = { type: 'reasoning', id: item_id, summary: [] }
      const events = [
        { type: 'response.output_item.added', output_index: 0, item: thought },
        {
          type: 'response.reasoning_summary_text.delta',
          output_index: 0,
          summary_index: 0,
          item_id,
          delta: 'Well now',
        },
        { type: 'response.output_item.done', output_index: 0, item: thought },
        ...callEvents(1, call, '{"q":"x"}').slice(0, 2),
        {
          type: 'response.function_call_arguments.done',
          output_index: 1,
          item_id: call.id,
          arguments: '',
        },
        { type: 'response.output_item.done', output_index: 1, item: { ...call, arguments: '' } },
      ]
      const { response } = received(...responsesStream(events, responsesResponse([])))
      const result = await response()
      expect(result).toMatchObject(calls[to](['call_q', 'find', { q: 'x' }]))
      expect(JSON.stringify(result)).toContain('Well now')
    })

    test('events without numbers and without an end marker are still a response', async () => {
      const wires = responsesStream(
        textEvents(0, 'Fine.'),
        responsesResponse([messageItem('Fine.')]),
      ).map(({ sequence_number: _, ...event }) => event)
      expect(await received(...wires).response()).toMatchObject(says[to]('Fine.'))
    })
  })
})

test('rounds a time to whole seconds for clients of chat-completions', () => {
  const response = responsesResponse([messageItem('Fine.')], { created_at: 1_760_000_000.5 })
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...textEvents(0, 'Fine.'),
    { type: 'response.completed', response },
  ]
  const received = report(events, { from: 'responses', to: 'chat-completions' })
  for (const event of received.events)
    if (event !== '[DONE]') expect(event).toMatchObject({ created: 1_760_000_000 })
  expect(
    translateResponse(response, { from: 'responses', to: 'chat-completions' }).body,
  ).toMatchObject({ created: 1_760_000_000 })
})

describe('what a client of responses must receive', () => {
  test('all numbered events of a text in order, and the complete response at the end', async () => {
    const { events, response } = report(
      [
        opening,
        chunk({ content: 'Bon' }),
        chunk({ content: 'jour' }),
        chunk({}, 'stop'),
        usageChunk({ prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }),
        done,
      ],
      { from: 'chat-completions', to: 'responses' },
    )
    expect(typesOf(events)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
      done,
    ])
    const numbered = events.filter(event => event !== done) as { sequence_number: number }[]
    expect(numbered.map(event => event.sequence_number)).toEqual(numbered.map((_, i) => i))
    expect(numbered.at(-1)).toMatchObject({
      response: {
        status: 'completed',
        output: [{ type: 'message', content: [{ text: 'Bonjour' }] }],
        usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
      },
    })
    expect(await response()).toMatchObject(says.responses('Bonjour'))
  })

  test('every event of a call, with the name and the arguments where clients look for them', () => {
    const { events } = report(
      [begun(), ...toolBlock(0, 'toolu_a', 'find', '{"q":', '"x"}'), ...ended('tool_use')],
      { from: 'messages', to: 'responses' },
    )
    expect(typesOf(events)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
      done,
    ])
    const item = {
      type: 'function_call',
      id: expect.stringMatching(/^fc_/),
      call_id: 'toolu_a',
      name: 'find',
    }
    expect(events[2]).toMatchObject({
      output_index: 0,
      item: { ...item, arguments: '', status: 'in_progress' },
    })
    expect(events.at(-3)).toMatchObject({
      output_index: 0,
      item: { ...item, arguments: '{"q":"x"}', status: 'completed' },
    })
    expect(events.at(-2)).toMatchObject({
      response: { output: [{ ...item, arguments: '{"q":"x"}', status: 'completed' }] },
    })
  })
})

function wiresOf(from: Covered) {
  if (from === 'responses')
    return responsesStream(textEvents(0, 'Hi'), responsesResponse([messageItem('Hi')]))
  return from === 'generate-content'
    ? [frame([{ text: 'Hi' }]), frame([{ text: '' }], 'STOP')]
    : [opening, chunk({ content: 'Hi' }), chunk({}, 'stop'), done]
}

describe.each(pairs.filter(({ to }) => to === 'messages'))(
  'what a client of messages must receive of $from',
  ({ from }) => {
    const wires = wiresOf(from)

    test('each event once and in order, with message_stop as the last one', async () => {
      const { events, text, response } = report(wires, { from, to: 'messages' })
      expect(typesOf(events)).toEqual([
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ])
      expect(text).not.toContain('[DONE]')
      expect(await response()).toMatchObject(says.messages('Hi'))
    })

    test('a start that clients can read: empty content, no stop reason yet, counts that are numbers', () => {
      const { events } = report(wires, { from, to: 'messages' })
      expect(events[0]).toMatchObject({
        type: 'message_start',
        message: {
          type: 'message',
          role: 'assistant',
          model: 'm-7',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
        },
      })
    })
  },
)
