import { describe, expect, test } from 'vitest'
import { strictOf } from '../../src/testing/strict/index.ts'
import type { Covered } from '../support/covered.ts'
import { translateRequest, translateResponse } from '../support/untyped.ts'
import {
  begun,
  callItem,
  chatResponse,
  chunk,
  done,
  ended,
  frame,
  messageItem,
  messagesResponse,
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
} from './support.ts'

type Body = Record<string, unknown>

const translate = (body: object, from: Covered, to: Covered) => {
  const { body: response, notes } = translateResponse(body, { from, to, now: 1_760_000_000 })
  expect(strictOf(to).checkResponse(response)).toEqual([])
  return { response: response as Body, notes: shown(notes) }
}

/** The finish reason of a response in each protocol. */
const endOf: Record<Covered, (result: Body) => unknown> = {
  'chat-completions': response => (response['choices'] as Body[])[0]?.['finish_reason'],
  responses: response =>
    (response['incomplete_details'] as { reason: string } | null)?.reason ?? response['status'],
  messages: response => response['stop_reason'],
  'generate-content': response => (response['candidates'] as Body[])[0]?.['finishReason'],
}

/** The note of an ending that has no exact word, by who writes it. */
const ending = (notes: string[]) => notes.filter(note => /finish|stop\./.test(note))

describe('the finish reason of a response', () => {
  const call = {
    id: 'call_1',
    type: 'function',
    function: { name: 'look', arguments: '{"q":"a"}' },
  }

  test('"stop" next to tool calls is a response that waits for the tools', async () => {
    const response = chatResponse({ content: 'Let me look.', tool_calls: [call] }, 'stop')
    expect(endOf.messages(translate(response, 'chat-completions', 'messages').response)).toBe(
      'tool_use',
    )
    expect(translate(response, 'chat-completions', 'responses').response).toMatchObject({
      status: 'completed',
      output: [{ type: 'message' }, { type: 'function_call', call_id: 'call_1' }],
    })
    const wires = [
      chunk({ role: 'assistant', content: 'Let me look.' }),
      part(0, '{"q":"a"}', { id: 'call_1', name: 'look' }),
      chunk({}, 'stop'),
      done,
    ]
    expect(
      await report(wires, { from: 'chat-completions', to: 'messages' }).response(),
    ).toMatchObject({ stop_reason: 'tool_use' })
  })

  test.each<
    [
      stop: string,
      content: object[],
      chat: string,
      responses: string,
      google: string,
      exact: Covered[],
    ]
  >([
    ['end_turn', [], 'stop', 'completed', 'STOP', others('messages')],
    ['stop_sequence', [], 'stop', 'completed', 'STOP', []],
    ['max_tokens', [], 'length', 'max_output_tokens', 'MAX_TOKENS', others('messages')],
    ['model_context_window_exceeded', [], 'length', 'max_output_tokens', 'MAX_TOKENS', []],
    [
      'tool_use',
      [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }],
      'tool_calls',
      'completed',
      'STOP',
      others('messages'),
    ],
    ['pause_turn', [], 'stop', 'pause_turn', 'OTHER', []],
    ['refusal', [], 'content_filter', 'completed', 'SAFETY', []],
    ['compaction', [], 'stop', 'completed', 'OTHER', []],
    ['sensitive', [], 'content_filter', 'content_filter', 'SAFETY', others('messages')],
    ['something_new', [], 'stop', 'completed', 'OTHER', []],
  ])(
    'maps the stop reason "%s" of messages to a known one, with a note where it differs',
    async (stop, content, chat, responses, google, exact) => {
      const message = [{ type: 'text', text: 'So far', citations: null }]
      const words: Record<string, string> = {
        'chat-completions': chat,
        responses,
        'generate-content': google,
      }
      for (const to of others('messages')) {
        const more = stop === 'stop_sequence' ? { stop_sequence: 'END' } : {}
        const { body, notes } = translateResponse(
          messagesResponse([...message, ...content], stop, more),
          { from: 'messages', to },
        )
        if (words[to] !== 'pause_turn') expect(strictOf(to).checkResponse(body)).toEqual([])
        expect(endOf[to](body as Body)).toBe(words[to])
        expect(ending(shown(notes)).some(note => note.startsWith('approximated'))).toBe(
          !exact.includes(to),
        )
        if (content.length > 0) continue
        const wires = [begun(), ...textBlock(0, 'So far'), ...ended(stop)]
        const streamed = report(wires, { from: 'messages', to })
        expect(streamed.outcome).toBe('success')
        expect(endOf[to](await streamed.response())).toBe(words[to])
        if (exact.includes(to)) expect(ending(shown(streamed.notes))).toEqual([])
      }
    },
  )

  test.each<
    [finish: string, messages: string, responses: string, google: string, noted: Covered[]]
  >([
    ['stop', 'end_turn', 'completed', 'STOP', []],
    ['length', 'max_tokens', 'max_output_tokens', 'MAX_TOKENS', []],
    ['content_filter', 'refusal', 'content_filter', 'SAFETY', ['messages']],
    ['eos', 'end_turn', 'completed', 'STOP', []],
    ['model_length', 'max_tokens', 'max_output_tokens', 'MAX_TOKENS', []],
    [
      'model_context_window_exceeded',
      'model_context_window_exceeded',
      'max_output_tokens',
      'MAX_TOKENS',
      ['responses', 'generate-content'],
    ],
    ['something_new', 'end_turn', 'completed', 'OTHER', others('chat-completions')],
  ])(
    'maps the finish reason "%s" of chat-completions to a known one, complete and streamed',
    async (finish, messages, responses, google, noted) => {
      const words: Record<string, string> = { messages, responses, 'generate-content': google }
      for (const to of others('chat-completions')) {
        const { response, notes } = translate(
          chatResponse({ content: 'So far' }, finish),
          'chat-completions',
          to,
        )
        expect(endOf[to](response)).toBe(words[to])
        expect(ending(notes).length > 0).toBe(noted.includes(to))
        const streamed = report(
          [chunk({ role: 'assistant', content: 'So far' }), chunk({}, finish), done],
          { from: 'chat-completions', to },
        )
        expect(endOf[to](await streamed.response())).toBe(words[to])
        expect(ending(shown(streamed.notes)).length > 0).toBe(noted.includes(to))
      }
    },
  )

  test('never reports a truncated response as completed', async () => {
    for (const finish of ['length', 'content_filter']) {
      const { events, response } = report(
        [chunk({ role: 'assistant', content: '*** a/file' }), chunk({}, finish), done],
        {
          from: 'chat-completions',
          to: 'responses',
        },
      )
      expect(typesOf(events)).not.toContain('response.completed')
      expect(typesOf(events).slice(-2)).toEqual(['response.incomplete', done])
      const reason = finish === 'length' ? 'max_output_tokens' : finish
      expect(await response()).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason },
        output: [{ status: 'incomplete' }],
      })
      const whole = translate(
        chatResponse({ content: '*** a/file' }, finish),
        'chat-completions',
        'responses',
      ).response
      expect(whole).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason },
        output: [{ status: 'incomplete' }],
      })
    }
  })

  test.each(['max_output_tokens', 'content_filter'])(
    'keeps an incomplete response (%s) incomplete for other clients',
    async reason => {
      const response = responsesResponse([messageItem('So far', { status: 'incomplete' })], {
        status: 'incomplete',
        incomplete_details: { reason },
      })
      const chat = reason === 'content_filter' ? reason : 'length'
      expect(
        endOf['chat-completions'](translate(response, 'responses', 'chat-completions').response),
      ).toBe(chat)
      expect(endOf.messages(translate(response, 'responses', 'messages').response)).toBe(
        reason === 'content_filter' ? 'refusal' : 'max_tokens',
      )
      const wires = responsesStream(textEvents(0, 'So far'), response, 'response.incomplete')
      expect(
        endOf['chat-completions'](
          await report(wires, { from: 'responses', to: 'chat-completions' }).response(),
        ),
      ).toBe(chat)
    },
  )
})

describe('a blocked response', () => {
  test.each(others('chat-completions'))(
    'without any text is a refusal for a client of %s, not an empty success',
    to => {
      const { response } = translate(
        chatResponse({ content: null }, 'content_filter'),
        'chat-completions',
        to,
      )
      expect(endOf[to](response)).toBe(
        {
          messages: 'refusal',
          'generate-content': 'SAFETY',
          responses: 'completed',
          'chat-completions': undefined,
        }[to],
      )
      if (to === 'responses')
        expect(response).toMatchObject({
          output: [{ content: [{ type: 'refusal', refusal: 'The request was refused.' }] }],
        })
    },
  )

  test.each<[what: string, body: object]>([
    ['choices that are null', { ...chatResponse({}, 'stop'), choices: null }],
    ['no choices', { ...chatResponse({}, 'stop'), choices: [] }],
    ['a choice that is null', { ...chatResponse({}, 'stop'), choices: [null] }],
  ])('returns an error, without a crash, for a block as %s', (_, body) => {
    for (const to of others('chat-completions')) {
      try {
        expect(
          strictOf(to).checkError(translateResponse(body, { from: 'chat-completions', to }).body),
        ).toEqual([])
      } catch (error) {
        expect(error).toMatchObject({
          name: 'TranslationError',
          code: expect.stringMatching(/malformed|truncated/),
        })
      }
    }
  })

  test('by a classifier, with its explanation, is written as a refusal where the target has one', () => {
    const response = messagesResponse([], 'refusal', {
      stop_details: { type: 'refusal', category: null, explanation: 'Not this.' },
    })
    expect(translate(response, 'messages', 'chat-completions').response).toMatchObject({
      choices: [
        { finish_reason: 'content_filter', message: { content: null, refusal: 'Not this.' } },
      ],
    })
    expect(translate(response, 'messages', 'responses').response).toMatchObject({
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'Not this.' }] }],
    })
  })

  test('by the model itself, in words, is text that clients see', () => {
    const chat = translate(
      chatResponse({ content: null, refusal: 'I will not.' }, 'stop'),
      'chat-completions',
      'messages',
    )
    expect(chat.response).toMatchObject({
      content: [{ type: 'text', text: 'I will not.' }],
      stop_reason: 'refusal',
    })
    expect(
      translate(
        chatResponse({ content: null, refusal: 'I will not.' }, 'stop'),
        'chat-completions',
        'responses',
      ).response,
    ).toMatchObject({
      status: 'completed',
      output: [{ content: [{ type: 'refusal', refusal: 'I will not.' }] }],
    })
  })
})

describe('a list of items', () => {
  const items = [
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'PRIVATE' }] },
    messageItem('I see. '),
    callItem('call_9', 'look', '{}', 'fc_8'),
    messageItem('More.', { id: 'msg_8' }),
    {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'tides' },
    },
    { type: 'novel_item', id: 'nv_1', glow: 7 },
  ]

  test.each(others('responses'))(
    'reaches a client of %s item by item: text, calls by their call ids, and a note for the rest',
    to => {
      const { response, notes } = translate(responsesResponse(items), 'responses', to)
      const text = JSON.stringify(response)
      expect(endOf[to](response)).toBe(
        {
          messages: 'tool_use',
          'chat-completions': 'tool_calls',
          'generate-content': 'STOP',
          responses: undefined,
        }[to],
      )
      expect(text).toContain('call_9')
      expect(text).not.toMatch(/fc_8|nv_1/)
      if (to === 'messages')
        expect(response).toMatchObject({
          content: [
            { type: 'thinking', thinking: 'PRIVATE' },
            { type: 'text', text: 'I see. ' },
            { type: 'tool_use', id: 'call_9' },
            { type: 'text', text: 'More.' },
            { type: 'server_tool_use', name: 'web_search', input: { query: 'tides' } },
            { type: 'web_search_tool_result', content: [] },
          ],
        })
      else if (to === 'generate-content')
        expect(response).toMatchObject({
          candidates: [
            {
              content: {
                parts: [
                  { text: 'PRIVATE', thought: true },
                  { text: 'I see. ' },
                  { functionCall: { id: 'call_9' } },
                  { text: 'More.' },
                ],
              },
            },
          ],
        })
      else
        expect(response).toMatchObject({
          choices: [
            {
              message: {
                content: 'I see. More.',
                reasoning_content: 'PRIVATE',
                tool_calls: [{ id: 'call_9' }],
              },
            },
          ],
        })
      const kinds = {
        '/output/4': to === 'messages' ? 'approximated' : 'dropped',
        '/output/5': 'dropped',
      }
      for (const [at, kind] of Object.entries(kinds))
        expect(notes.filter(note => note.startsWith(`${kind} ${at}`))).toHaveLength(1)
    },
  )

  test('with only reasoning is a response with reasoning, not an empty one', () => {
    const { response } = translate(responsesResponse(items.slice(0, 1)), 'responses', 'messages')
    expect(response).toMatchObject({
      content: [{ type: 'thinking', thinking: 'PRIVATE' }],
      stop_reason: 'end_turn',
    })
  })
})

describe.each(['chat-completions', 'messages'] as const)(
  'ids for a client of responses, from %s',
  from => {
    const response =
      from === 'messages'
        ? messagesResponse(
            [
              { type: 'text', text: 'a', citations: null },
              { type: 'tool_use', id: 'toolu_1', name: 'look', input: { q: 1 } },
            ],
            'tool_use',
          )
        : chatResponse(
            {
              content: 'a',
              tool_calls: [
                {
                  id: 'toolu_1',
                  type: 'function',
                  function: { name: 'look', arguments: '{"q":1}' },
                },
              ],
            },
            'tool_calls',
          )

    test('have the prefix of what they name, and times are whole seconds', () => {
      expect(translate(response, from, 'responses').response).toMatchObject({
        id: expect.stringMatching(/^resp_/),
        created_at: 1_760_000_000,
        model: 'm-7',
        output: [
          { type: 'message', id: expect.stringMatching(/^msg_/) },
          { type: 'function_call', id: expect.stringMatching(/^fc_/), call_id: 'toolu_1' },
        ],
      })
    })

    test('are the same in every event about the same thing', () => {
      const wires =
        from === 'messages'
          ? [begun(), ...textBlock(0, 'a'), ...ended('end_turn')]
          : [chunk({ role: 'assistant', content: 'a' }), chunk({}, 'stop'), done]
      const { events } = report(wires, { from, to: 'responses' })
      const idsOf = (pick: (event: Body) => unknown) => [
        ...new Set(events.map(event => pick(event as Body)).filter(Boolean)),
      ]
      expect(idsOf(event => (event['response'] as Body | undefined)?.['id'])).toHaveLength(1)
      expect(
        idsOf(event => event['item_id'] ?? (event['item'] as Body | undefined)?.['id']),
      ).toHaveLength(1)
    })

    test('may be sent back: the next request is legal on either side', () => {
      const { output } = translate(response, from, 'responses').response as { output: Body[] }
      const input = [
        { role: 'user', content: 'x' },
        ...output,
        { type: 'function_call_output', call_id: 'toolu_1', output: 'green' },
      ]
      expect(strictOf('responses').checkRequest({ model: 'm-7', input })).toEqual([])
      for (const to of others('responses')) {
        const { body } = translateRequest(
          { model: 'm-7', store: false, input },
          { from: 'responses', to },
        )
        expect(strictOf(to).checkRequest(body)).toEqual([])
        expect(JSON.stringify(body).match(/toolu_1/g)).toHaveLength(2)
      }
    })
  },
)

test.each(pairs)(
  'a response of $from without a finish reason is refused for a client of $to, not completed with a guess',
  ({ from, to }) => {
    const open: Record<Covered, object> = {
      'chat-completions': {
        ...chatResponse({ content: 'So' }, 'stop'),
        choices: [{ index: 0, message: { role: 'assistant', content: 'So' }, finish_reason: null }],
      },
      responses: responsesResponse([messageItem('So')], { status: 'in_progress' }),
      messages: {
        ...messagesResponse([{ type: 'text', text: 'So' }], 'end_turn'),
        stop_reason: null,
      },
      'generate-content': frame([{ text: 'So' }]),
    }
    let ended: unknown
    try {
      const { body, notes } = translateResponse(open[from], { from, to })
      ended = shown(notes).some(note => /finish/.test(note)) ? 'noted' : endOf[to](body as Body)
    } catch (error) {
      ended = (error as { code?: string }).code
    }
    expect(['truncated', 'noted']).toContain(ended)
  },
)

test.each([
  ['no span at all', { start_index: 0, end_index: 0 }],
  ['a span behind the text', { start_index: 900, end_index: 950 }],
])(
  'a source that a server cites with %s is still shown to a client of messages, for the whole text',
  (_, span) => {
    const annotations = [
      {
        type: 'url_citation',
        url_citation: { url: 'https://tides.test', title: 'Tides', ...span },
      },
    ]
    const { response, notes } = translate(
      chatResponse({ content: 'High at noon.', annotations }, 'stop'),
      'chat-completions',
      'messages',
    )
    const citation = {
      type: 'web_search_result_location',
      url: 'https://tides.test',
      title: 'Tides',
      cited_text: '',
      encrypted_index: '',
    }
    expect(response).toMatchObject({
      content: [{ type: 'text', text: 'High at noon.', citations: [citation] }],
    })
    expect(notes.filter(note => note.includes('citation')).sort()).toEqual([
      expect.stringMatching(/^approximated \S+ citation\.span$/),
      'synthesized /content citation.encrypted-index',
    ])
  },
)

test.each(others('messages'))(
  'a response that ended although it has a call is noted for a client of %s, which would run the call',
  async to => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }
    const { notes } = translate(messagesResponse([call], 'end_turn'), 'messages', to)
    expect(ending(notes)).toEqual([
      expect.stringMatching(/^approximated \S* finish\.approximated$/),
    ])
    const streamed = report(
      [begun(), ...toolBlock(0, 'toolu_1', 'look', '{}'), ...ended('end_turn')],
      { from: 'messages', to },
    )
    expect(ending(shown(streamed.notes))).toEqual([
      expect.stringMatching(/^approximated \S* finish\.approximated$/),
    ])
  },
)
