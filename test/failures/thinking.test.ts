import { describe, expect, test } from 'vitest'
import { strictOf } from '../../src/testing/strict/index.ts'
import type { Covered } from '../support/covered.ts'
import { translateRequest, translateResponse } from '../support/untyped.ts'
import {
  begun,
  block,
  callItem,
  chatResponse,
  chunk,
  done,
  ended,
  generatedResponse,
  messageItem,
  messagesResponse,
  others,
  pairs,
  report,
  responsesResponse,
  shown,
  textBlock,
  toolBlock,
} from './support.ts'

type Body = Record<string, unknown>

/**
 * A conversation whose response has hidden reasoning, as a client of each protocol sends it back.
 */
const history: Record<Covered, Body> = {
  'chat-completions': {
    model: 'm-7',
    messages: [
      { role: 'user', content: 'Which?' },
      { role: 'assistant', content: 'Left.', reasoning_content: 'PRIVATE' },
      { role: 'user', content: 'Why?' },
    ],
  },
  responses: {
    model: 'm-7',
    store: false,
    input: [
      { role: 'user', content: 'Which?' },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'PRIVATE' }],
        encrypted_content: 'SEALED',
      },
      messageItem('Left.'),
      { role: 'user', content: 'Why?' },
    ],
  },
  messages: {
    model: 'm-7',
    max_tokens: 2000,
    messages: [
      { role: 'user', content: 'Which?' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'PRIVATE', signature: 'SEALED' },
          { type: 'text', text: 'Left.' },
        ],
      },
      { role: 'user', content: 'Why?' },
    ],
  },
  'generate-content': {
    contents: [
      { role: 'user', parts: [{ text: 'Which?' }] },
      {
        role: 'model',
        parts: [{ text: 'PRIVATE', thought: true, thoughtSignature: 'SEALED' }, { text: 'Left.' }],
      },
      { role: 'user', parts: [{ text: 'Why?' }] },
    ],
  },
}

/** Where the model is named, on the wire that has it there. */
const path = '/v1beta/models/m-7:generateContent'

const placeOfReasoning: Record<Covered, string> = {
  'chat-completions': '/messages/1/reasoning_content',
  responses: '/input/1',
  messages: '/messages/1/content/0',
  'generate-content': '/contents/1/parts/0',
}

describe.each(pairs)('a conversation of $from continued with $to', ({ from, to }) => {
  test('shows the reasoning to no client and sends it to no other model as text, and notes the loss', () => {
    const { body, notes } = translateRequest(history[from], { from, to, path })
    expect(strictOf(to).checkRequest(body)).toEqual([])
    expect(JSON.stringify(body)).not.toContain('SEALED')
    expect(JSON.stringify(body)).toContain('Left.')
    if (to === 'generate-content') {
      // It takes reasoning without a signature as reasoning: only the signature is dropped, where
      // there was one.
      expect(body).toMatchObject({
        contents: [{}, { parts: [{ text: 'PRIVATE', thought: true }, { text: 'Left.' }] }, {}],
      })
      expect(shown(notes).filter(note => note.includes('foreign-signature'))).toHaveLength(
        from === 'chat-completions' ? 0 : 1,
      )
      return
    }
    expect(JSON.stringify(body)).not.toContain('PRIVATE')
    expect(
      shown(notes).filter(note => note.includes(' reasoning.') && note.startsWith('dropped')),
    ).toEqual([
      expect.stringMatching(
        new RegExp(
          `^dropped ${placeOfReasoning[from]} reasoning\\.(dropped|foreign-signature|unsigned)$`,
        ),
      ),
    ])
  })

  test('never sends a signature that another provider made', () => {
    const { body } = translateRequest(history[from], {
      from,
      to,
      chatCompletions: { reasoningInHistory: 'always' },
    })
    expect(JSON.stringify(body)).not.toContain('"signature":"SEALED"')
    expect(JSON.stringify(body)).not.toMatch(/"(encrypted_content|thoughtSignature)":"SEALED"/)
  })
})

test.each(['messages', 'responses'] as const)(
  'servers that want the reasoning of %s in its own field get it there, and not in the text',
  from => {
    const { body } = translateRequest(history[from], {
      from,
      to: 'chat-completions',
      chatCompletions: { reasoningInHistory: 'always' },
    })
    expect(body).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', content: 'Left.', reasoning_content: 'PRIVATE' },
        { role: 'user' },
      ],
    })
  },
)

test.each(['messages', 'responses'] as const)(
  'in a loop of tools the reasoning of %s goes back to a server that thinks with them',
  from => {
    const loop = {
      messages: {
        ...history.messages,
        messages: [
          { role: 'user', content: 'Which?' },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'PRIVATE', signature: 'SEALED' },
              { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
            ],
          },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'green' }],
          },
        ],
      },
      responses: {
        ...history.responses,
        input: [
          { role: 'user', content: 'Which?' },
          {
            type: 'reasoning',
            id: 'rs_1',
            summary: [{ type: 'summary_text', text: 'PRIVATE' }],
            encrypted_content: 'SEALED',
          },
          callItem('toolu_1', 'look', '{}'),
          { type: 'function_call_output', call_id: 'toolu_1', output: 'green' },
        ],
      },
    }
    const { body } = translateRequest(loop[from], { from, to: 'chat-completions' })
    expect((body as { messages: Body[] }).messages[1]).toMatchObject({
      role: 'assistant',
      reasoning_content: 'PRIVATE',
      tool_calls: [{ id: 'toolu_1' }],
    })
  },
)

describe('reasoning effort', () => {
  const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
  const limits = [1, 1000, 1024, 1025, 4096, 64_000]

  test.each(efforts.flatMap(effort => limits.map(limit => [effort, limit] as const)))(
    'maps effort %s with %i tokens to a legal request for old and new models',
    (effort, limit) => {
      const request = {
        messages: [{ role: 'user', content: 'x' }],
        reasoning_effort: effort,
        max_completion_tokens: limit,
      }
      for (const model of ['claude-sonnet-4-5', 'claude-opus-4-8']) {
        const { body, notes } = translateRequest(
          { model, ...request },
          { from: 'chat-completions', to: 'messages' },
        )
        expect(strictOf('messages').checkRequest(body)).toEqual([])
        const { thinking, max_tokens, output_config } = body as {
          thinking?: { type: string; budget_tokens?: number }
          max_tokens: number
          output_config?: { effort?: string }
        }
        expect(max_tokens).toBe(limit)
        if (thinking?.type === 'enabled') {
          expect(thinking.budget_tokens).toBeGreaterThanOrEqual(1024)
          expect(thinking.budget_tokens).toBeLessThan(limit)
        }
        if (effort === 'none') expect(thinking).toEqual({ type: 'disabled' })
        else if (!thinking)
          expect(shown(notes)).toContain('dropped /reasoning_effort reasoning.no-room')
        else if (thinking.type === 'enabled')
          expect(shown(notes)).toContain(
            'approximated /reasoning_effort reasoning.effort-as-budget',
          )
        else {
          expect([thinking, output_config]).toEqual([
            { type: 'adaptive' },
            { effort: effort === 'minimal' ? 'low' : effort },
          ])
          expect(shown(notes)).toEqual(
            effort === 'minimal' ? ['approximated /reasoning_effort reasoning.effort'] : [],
          )
        }
      }
    },
  )

  test.each<
    [
      what: string,
      thinking: object,
      more: object,
      effort: string | undefined,
      code: string | undefined,
    ]
  >([
    [
      'a small budget',
      { type: 'enabled', budget_tokens: 1024 },
      {},
      'minimal',
      'reasoning.budget-as-effort',
    ],
    [
      'a budget',
      { type: 'enabled', budget_tokens: 8000 },
      {},
      'medium',
      'reasoning.budget-as-effort',
    ],
    [
      'a large budget',
      { type: 'enabled', budget_tokens: 31_999 },
      {},
      'xhigh',
      'reasoning.budget-as-effort',
    ],
    ['thinking off', { type: 'disabled' }, {}, 'none', undefined],
    [
      'adaptive thinking with an effort',
      { type: 'adaptive' },
      { output_config: { effort: 'max' } },
      'max',
      undefined,
    ],
    ['adaptive thinking alone', { type: 'adaptive' }, {}, undefined, undefined],
    [
      'thinking off with an effort',
      { type: 'disabled' },
      { output_config: { effort: 'high' } },
      'none',
      'reasoning.off',
    ],
  ])('maps %s to an effort that every server accepts', (_, thinking, more, effort, code) => {
    const request = {
      model: 'm-7',
      max_tokens: 40_000,
      messages: [{ role: 'user', content: 'x' }],
      thinking,
      ...more,
    }
    for (const to of others('messages')) {
      const { body, notes } = translateRequest(request, { from: 'messages', to })
      // There the provider's own budget applies, or a level: test/protocols/generate-content has
      // their table.
      if (to === 'generate-content') continue
      const { reasoning_effort, reasoning } = body as {
        reasoning_effort?: string
        reasoning?: { effort?: string; summary?: string }
      }
      expect(to === 'responses' ? reasoning?.effort : reasoning_effort).toBe(effort)
      const codes = notes.filter(({ kind }) => kind !== 'synthesized').map(note => note.code)
      // Thinking with a budget is shown by default, which responses needs a field for.
      const isShown = to === 'responses' && 'budget_tokens' in thinking
      expect(codes.toSorted()).toEqual([
        ...(code ? [code] : []),
        ...(isShown ? ['reasoning.shown'] : []),
      ])
      if (isShown) expect(reasoning).toMatchObject({ summary: 'auto' })
    }
  })

  test.each(['chat-completions', 'responses'] as const)(
    'a forced tool of %s is not combined with thinking that refuses it, and a note says so',
    from => {
      const parameters = { type: 'object', properties: {} }
      const request = {
        'chat-completions': {
          messages: [{ role: 'user', content: 'x' }],
          reasoning_effort: 'medium',
          max_completion_tokens: 9000,
          tools: [{ type: 'function', function: { name: 'look', parameters } }],
          tool_choice: 'required',
        },
        responses: {
          input: 'x',
          store: false,
          reasoning: { effort: 'medium' },
          max_output_tokens: 9000,
          tools: [{ type: 'function', name: 'look', parameters, strict: false }],
          tool_choice: { type: 'function', name: 'look' },
        },
      }
      // Manual thinking refuses forced tools and adaptive thinking does not; for an unknown name
      // either may apply.
      for (const [model, thinking] of [
        ['claude-sonnet-4-5'],
        ['m-1'],
        ['claude-opus-4-8', { type: 'adaptive' }],
      ] as const) {
        const { body, notes } = translateRequest(
          { model, ...request[from] },
          { from, to: 'messages' },
        )
        expect((body as { thinking?: unknown }).thinking).toEqual(thinking)
        expect(body).toMatchObject({
          tool_choice: from === 'responses' ? { type: 'tool', name: 'look' } : { type: 'any' },
        })
        expect(notes.some(({ code }) => code === 'reasoning.forced-tool')).toBe(
          thinking === undefined,
        )
      }
    },
  )
})

describe('reasoning of compatible servers', () => {
  const spellings: [what: string, fields: object][] = [
    ['reasoning_content', { reasoning_content: 'because' }],
    ['reasoning', { reasoning: 'because' }],
    [
      'reasoning_details',
      { reasoning_details: [{ type: 'reasoning.text', text: 'because', index: 0 }] },
    ],
    [
      'reasoning and the same again in reasoning_details',
      {
        reasoning: 'because',
        reasoning_details: [{ type: 'reasoning.text', text: 'because', index: 0 }],
      },
    ],
  ]

  test.each(spellings)('in %s becomes one thinking block', (_, fields) => {
    const response = chatResponse({ content: 'Left.', ...fields }, 'stop')
    const messages = translateResponse(response, { from: 'chat-completions', to: 'messages' })
    expect(messages.body).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'because', signature: '' },
        { type: 'text', text: 'Left.' },
      ],
    })
    const responses = translateResponse(response, { from: 'chat-completions', to: 'responses' })
      .body as { output: Body[] }
    expect(responses.output).toMatchObject([
      { type: 'reasoning' },
      { type: 'message', content: [{ type: 'output_text', text: 'Left.' }] },
    ])
    expect(JSON.stringify(responses).match(/because/g)).toHaveLength(1)
    expect(JSON.stringify(responses.output[0])).toContain('because')
  })

  test.each(spellings)(
    'streamed in %s becomes its own block before the text',
    async (_, fields) => {
      const wires = [
        chunk({ role: 'assistant', content: '' }),
        chunk(fields),
        chunk({ content: 'Left.' }),
        chunk({}, 'stop'),
        done,
      ]
      const messages = await report(wires, { from: 'chat-completions', to: 'messages' }).response()
      expect(messages).toMatchObject({
        content: [
          { type: 'thinking', thinking: 'because' },
          { type: 'text', text: 'Left.' },
        ],
      })
      const { response, events } = report(wires, { from: 'chat-completions', to: 'responses' })
      expect(await response()).toMatchObject({
        output: [{ type: 'reasoning' }, { type: 'message', content: [{ text: 'Left.' }] }],
      })
      expect(
        events.filter(event => JSON.stringify(event).includes('"delta":"because"')),
      ).toHaveLength(1)
    },
  )
})

describe('reasoning in a stream', () => {
  const wires = [
    begun(),
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'be' },
      { type: 'thinking_delta', thinking: 'cause' },
      { type: 'signature_delta', signature: 'SEALED' },
    ),
    ...textBlock(1, 'Left.'),
    ...ended('end_turn'),
  ]

  test('is its own item before the message, and its signature comes at its end', async () => {
    const { response, events } = report(wires, { from: 'messages', to: 'responses' })
    const added = events.filter(
      event => (event as Body)['type'] === 'response.output_item.added',
    ) as { output_index: number; item: Body }[]
    expect(added.map(({ output_index, item }) => [output_index, item['type']])).toEqual([
      [0, 'reasoning'],
      [1, 'message'],
    ])
    const result = (await response()) as { output: Body[] }
    expect(result.output[0]).toMatchObject({
      type: 'reasoning',
      encrypted_content: expect.stringMatching(/^xs1\./),
    })
    expect(JSON.stringify(result.output[0])).toContain('because')
    expect(JSON.stringify(result.output[1])).not.toContain('because')
  })

  test('becomes one thinking block when an item has several summaries', async () => {
    const at = { item_id: 'rs_1', output_index: 0 }
    const parts = ['First.', 'Second.']
    const item = {
      type: 'reasoning',
      id: 'rs_1',
      summary: parts.map(text => ({ type: 'summary_text', text })),
      encrypted_content: 'SEALED',
    }
    const summary = parts.flatMap((text, summary_index) => [
      {
        type: 'response.reasoning_summary_part.added',
        ...at,
        summary_index,
        part: { type: 'summary_text', text: '' },
      },
      { type: 'response.reasoning_summary_text.delta', ...at, summary_index, delta: text },
      { type: 'response.reasoning_summary_text.done', ...at, summary_index, text },
      {
        type: 'response.reasoning_summary_part.done',
        ...at,
        summary_index,
        part: { type: 'summary_text', text },
      },
    ])
    const events = [
      { type: 'response.created', response: responsesResponse([], { status: 'in_progress' }) },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, summary: [], encrypted_content: '' },
      },
      ...summary,
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: responsesResponse([item]) },
    ].map((event, sequence_number) => ({ ...event, sequence_number }))
    const { response, notes } = report(events, { from: 'responses', to: 'messages' })
    expect(await response()).toMatchObject({
      content: [
        {
          type: 'thinking',
          thinking: 'First.\n\nSecond.',
          signature: expect.stringMatching(/^xs1\./),
        },
      ],
    })
    // Where they are joined travels along, so that nothing is lost and nothing is noted.
    expect(notes.map(({ code }) => code)).not.toContain('reasoning.joined')
    const { content } = (await response()) as { content: Body[] }
    const back = translateRequest(
      {
        model: 'm-7',
        max_tokens: 9,
        messages: [
          { role: 'user', content: 'x' },
          // Reasoning is sent with what it led to alone.
          { role: 'assistant', content: [...content, { type: 'text', text: 'yes' }] },
        ],
      },
      { from: 'messages', to: 'responses' },
    )
    expect(back.body).toMatchObject({ input: [{}, { ...item }, {}] })
  })
})

describe('signatures of reasoning come back', () => {
  const responses: Record<Covered, { body: object; sealed: (request: unknown) => unknown }> = {
    'chat-completions': {
      body: chatResponse(
        {
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'look', arguments: '{}' },
              extra_content: { google: { thought_signature: 'SEALED' } },
            },
            {
              id: 'call_2',
              type: 'function',
              function: { name: 'look', arguments: '{"far":true}' },
            },
          ],
        },
        'tool_calls',
      ),
      sealed: request =>
        (request as { messages: { tool_calls?: Body[] }[] }).messages[1]?.tool_calls?.map(
          call => call['extra_content'],
        ),
    },
    responses: {
      body: responsesResponse([
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'hm' }],
          encrypted_content: 'SEALED',
        },
        callItem('call_1', 'look', '{}'),
        callItem('call_2', 'look', '{"far":true}'),
      ]),
      sealed: request =>
        (request as { input: Body[] }).input.map(item => item['encrypted_content']).filter(Boolean),
    },
    messages: {
      body: messagesResponse(
        [
          { type: 'thinking', thinking: 'hm', signature: 'SEALED' },
          { type: 'redacted_thinking', data: 'BLACK' },
          { type: 'tool_use', id: 'call_1', name: 'look', input: {} },
          { type: 'tool_use', id: 'call_2', name: 'look', input: { far: true } },
        ],
        'tool_use',
      ),
      sealed: request =>
        (request as { messages: { content: Body[] }[] }).messages[1]?.content
          .map(({ signature, data }) => signature ?? data)
          .filter(Boolean),
    },
    'generate-content': {
      body: generatedResponse([
        { functionCall: { id: 'call_1', name: 'look', args: {} }, thoughtSignature: 'SEALED' },
        { functionCall: { id: 'call_2', name: 'look', args: { far: true } } },
      ]),
      sealed: request =>
        (request as { contents: { parts: Body[] }[] }).contents[1]?.parts
          .filter(part => part['functionCall'])
          .map(part => part['thoughtSignature']),
    },
  }
  const expected: Record<Covered, unknown> = {
    'chat-completions': [{ google: { thought_signature: 'SEALED' } }, undefined],
    responses: ['SEALED'],
    messages: ['SEALED', 'BLACK'],
    'generate-content': ['SEALED', undefined],
  }

  /** The next request of a client that sends back what it got. */
  const next: Record<Covered, (response: Body) => Body> = {
    'chat-completions': response => ({
      model: 'm-7',
      messages: [
        { role: 'user', content: 'x' },
        (response['choices'] as { message: Body }[])[0]?.message,
        { role: 'tool', tool_call_id: 'call_1', content: 'a' },
        { role: 'tool', tool_call_id: 'call_2', content: 'b' },
      ],
    }),
    responses: response => ({
      model: 'm-7',
      store: false,
      input: [
        { role: 'user', content: 'x' },
        ...(response['output'] as Body[]),
        { type: 'function_call_output', call_id: 'call_1', output: 'a' },
        { type: 'function_call_output', call_id: 'call_2', output: 'b' },
      ],
    }),
    messages: response => ({
      model: 'm-7',
      max_tokens: 2000,
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: response['content'] },
        {
          role: 'user',
          content: ['call_1', 'call_2'].map(id => ({
            type: 'tool_result',
            tool_use_id: id,
            content: 'a',
          })),
        },
      ],
    }),
    'generate-content': response => ({
      contents: [
        { role: 'user', parts: [{ text: 'x' }] },
        (response['candidates'] as { content: Body }[])[0]?.content,
        {
          role: 'user',
          parts: ['call_1', 'call_2'].map(id => ({
            functionResponse: { id, name: 'look', response: { output: 'a' } },
          })),
        },
      ],
    }),
  }

  test.each(pairs)('to $from through a client of $to, at the same place', ({ from, to }) => {
    const { body } = translateResponse(responses[from].body, { from, to })
    const back = translateRequest(next[to](body as Body), { from: to, to: from })
    expect(responses[from].sealed(back.body)).toEqual(expected[from])
    expect(JSON.stringify(back.body)).not.toContain('xs1.')
  })

  test.each(others('messages'))('to messages through a streaming client of %s', async to => {
    const wires = [
      begun(),
      ...block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'hm' },
        { type: 'signature_delta', signature: 'SEALED' },
      ),
      ...block(1, { type: 'redacted_thinking', data: 'BLACK' }),
      ...toolBlock(2, 'call_1', 'look', '{}'),
      ...toolBlock(3, 'call_2', 'look', '{"far":true}'),
      ...ended('tool_use'),
    ]
    const response = await report(wires, { from: 'messages', to }).response()
    const back = translateRequest(next[to](response), { from: to, to: 'messages' })
    expect(responses.messages.sealed(back.body)).toEqual(expected.messages)
  })
})
