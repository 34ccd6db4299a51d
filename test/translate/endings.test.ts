import { describe, expect, test } from 'vitest'
import { createStreamTranslator, type ProtocolName } from '../../src/index.ts'
import { protocolNames } from '../../src/protocols/index.ts'
import { explodeResponse, translateResponse } from '../support/untyped.ts'

/**
 * Responses that end in tool calls of which none can be used. `stream`: the same, as wire events.
 */
type Case = { from: ProtocolName; whole: object; stream: object[] }

const choice = (message: object, finish: string) => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    { index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish },
  ],
})
const chunk = (delta: object, finish: string | null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const chat = (message: object, finish: string): Case => {
  const { tool_calls: calls, ...rest } = message as { tool_calls?: object[] }
  const numbered = calls?.map((call, index) => ({ index, ...call }))
  return {
    from: 'chat-completions',
    whole: choice(message, finish),
    stream: [
      chunk({ role: 'assistant', ...rest, ...(numbered && { tool_calls: numbered }) }, null),
      chunk({}, finish),
    ],
  }
}
const blocks = (content: object[]): Case => {
  const head = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
  }
  const usage = { input_tokens: 1, output_tokens: 1 }
  return {
    from: 'messages',
    whole: { ...head, content, stop_reason: 'tool_use', usage },
    stream: [
      { type: 'message_start', message: { ...head, usage } },
      ...content.flatMap((content_block, index) => [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ],
  }
}
const gemini = (parts: object[]): Case => {
  const whole = {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    modelVersion: 'm',
    responseId: 'r1',
  }
  return { from: 'generate-content', whole, stream: [whole] }
}
const nameless = { id: 'a', type: 'function', function: { name: '', arguments: '{}' } }
const named = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }

const all: ProtocolName[] = ['chat-completions', 'responses', 'messages', 'generate-content']
const asFrames = (events: object[]) =>
  events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')
const text = 'none of them can be used'
const streamed = ({ from, stream }: Case, to: ProtocolName) => {
  const translator = createStreamTranslator({ from, to })
  return { out: translator.push(asFrames(stream)) + translator.end(), translator }
}

describe.each<[string, Case]>([
  ['chat-completions has calls without a name', chat({ tool_calls: [nameless] }, 'tool_calls')],
  ['chat-completions has calls without a name and stops', chat({ tool_calls: [nameless] }, 'stop')],
  [
    'chat-completions has reasoning and calls without a name',
    chat({ reasoning_content: 'hm', tool_calls: [nameless] }, 'tool_calls'),
  ],
  ['chat-completions has no calls', chat({}, 'tool_calls')],
  ['chat-completions has reasoning alone', chat({ reasoning_content: 'hm' }, 'tool_calls')],
  [
    'chat-completions has citations of no text',
    chat(
      {
        annotations: [
          {
            type: 'url_citation',
            url_citation: { start_index: 0, end_index: 1, title: 't', url: 'https://example.org' },
          },
        ],
      },
      'tool_calls',
    ),
  ],
  ['messages has no calls', blocks([])],
  [
    'messages has calls without a name',
    blocks([{ type: 'tool_use', id: 'a', name: '', input: {} }]),
  ],
  ['generate-content has calls without a name', gemini([{ functionCall: { args: {} } }])],
  [
    'generate-content has reasoning and a call without a name',
    gemini([{ text: 'hm', thought: true }, { functionCall: { args: {} } }]),
  ],
])('a turn of which %s', (_, one) => {
  const others = all.filter(to => to !== one.from)

  test.each(others)('is an error toward %s', to => {
    const { body } = translateResponse(one.whole, { from: one.from, to })
    expect(body).toMatchObject({ error: { message: expect.stringContaining(text) as string } })
    const { out, translator } = streamed(one, to)
    expect(out).toContain(text)
    expect(translator.finished).toBe(false)
    expect(translator.error).toMatchObject({ status: 502 })
  })
})

const talk = (content: object[], stopReason: string): Case => ({
  from: 'converse',
  whole: {
    output: { message: { role: 'assistant', content } },
    stopReason,
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  },
  stream: [],
})
const ending = (body: unknown) => {
  const { choices, stop_reason, stopReason, candidates, status } = body as {
    choices?: { finish_reason: string }[]
    stop_reason?: string
    stopReason?: string
    candidates?: { finishReason: string }[]
    status?: string
  }
  return (
    choices?.[0]?.finish_reason ??
    stop_reason ??
    stopReason ??
    candidates?.[0]?.finishReason ??
    status
  )
}
const every: ProtocolName[] = [...all, 'converse']

describe.each<[string, Case]>([
  ['chat-completions', chat({ content: '' }, 'odd')],
  ['messages', { ...blocks([]), whole: { ...blocks([]).whole, stop_reason: 'odd' } }],
  ['converse with a malformed call', talk([{ text: '' }], 'malformed_tool_use')],
  ['converse with malformed output', talk([{ text: '' }], 'malformed_model_output')],
  [
    'generate-content',
    {
      from: 'generate-content',
      whole: {
        candidates: [{ index: 0, content: { role: 'model', parts: [] }, finishReason: 'ODD' }],
      },
      stream: [],
    },
  ],
])('a turn of %s without content that ended for no known reason', (_, one) => {
  test.each(every.filter(to => to !== one.from))('is an error toward %s', to => {
    const { from } = one
    const { body } = translateResponse(one.whole, { from, to })
    expect(JSON.stringify(body)).toContain('the model ended without a response')
    const translator = createStreamTranslator({ from, to })
    const out = translator.push(explodeResponse(one.whole, { protocol: from })) + translator.end()
    expect(out).toContain('the model ended without a response')
    expect(translator.error).toMatchObject({ status: 502 })
  })
})

describe.each<[string, Case]>([
  ['chat-completions', chat({ tool_calls: [named] }, 'odd')],
  [
    'messages',
    {
      ...blocks([]),
      whole: {
        ...blocks([{ type: 'tool_use', id: 'a', name: 'look', input: {} }]).whole,
        stop_reason: 'odd',
      },
    },
  ],
  ['converse', talk([{ toolUse: { toolUseId: 'a', name: 'look', input: {} } }], 'odd')],
  [
    'generate-content',
    {
      from: 'generate-content',
      whole: {
        candidates: [
          {
            index: 0,
            content: { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] },
            finishReason: 'ODD',
          },
        ],
      },
      stream: [],
    },
  ],
])('a turn of %s with calls that ended for no known reason', (_, one) => {
  const words: Record<string, string> = {
    'chat-completions': 'tool_calls',
    messages: 'tool_use',
    responses: 'completed',
    'generate-content': 'STOP',
    converse: 'tool_use',
  }

  test.each(every.filter(to => to !== one.from))('waits for their results toward %s', to => {
    const { from } = one
    const { body, notes } = translateResponse(one.whole, { from, to })
    expect(ending(body)).toBe(words[to])
    expect(notes.map(({ code }) => code)).toContain('finish.approximated')
    const translator = createStreamTranslator({ from, to })
    const out = translator.push(explodeResponse(one.whole, { protocol: from })) + translator.end()
    expect(out).toContain(`"${words[to]}"`)
    expect(translator.finished).toBe(true)
  })
})

describe.each<[string, Case]>([
  ['text', chat({ content: 'hi', tool_calls: [nameless] }, 'tool_calls')],
  ['a call that has a name', chat({ tool_calls: [named] }, 'tool_calls')],
  ['text before a stray call', gemini([{ text: 'hi' }, { functionCall: { args: {} } }])],
])('a turn with %s', (_, one) => {
  test.each(all.filter(to => to !== one.from))('is no error toward %s', to => {
    expect(JSON.stringify(translateResponse(one.whole, { from: one.from, to }).body)).not.toContain(
      text,
    )
    const { out, translator } = streamed(one, to)
    expect(out).not.toContain(text)
    expect(translator.finished).toBe(true)
  })
})

describe('a call next to a normal end', () => {
  const usage = { input_tokens: 1, output_tokens: 1 }
  const tokens = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
  const item = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{}' }
  const ended: Record<ProtocolName, object> = {
    'chat-completions': {
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: null, tool_calls: [call] },
          finish_reason: 'stop',
        },
      ],
    },
    responses: {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: 'm',
      status: 'completed',
      output: [{ ...item, status: 'completed' }],
    },
    messages: {
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }],
      stop_reason: 'end_turn',
      usage,
    },
    'generate-content': {
      candidates: [
        {
          content: { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
          finishReason: 'STOP',
        },
      ],
    },
    converse: {
      output: {
        message: {
          role: 'assistant',
          content: [{ toolUse: { toolUseId: 'c1', name: 'f', input: {} } }],
        },
      },
      stopReason: 'end_turn',
      usage: tokens,
      metrics: { latencyMs: 1 },
    },
  }
  const said = {
    'chat-completions': '"finish_reason":"tool_calls"',
    messages: '"stop_reason":"tool_use"',
    converse: '"stopReason":"tool_use"',
  }

  test.each(
    protocolNames.flatMap(from =>
      (['chat-completions', 'messages', 'converse'] as const)
        .filter(to => to !== from)
        .map(to => [from, to] as const),
    ),
  )('is an end for calls, whole and streamed: %s → %s', (from, to) => {
    const whole = translateResponse(ended[from] as never, { from, to } as never)
    expect(JSON.stringify(whole.body)).toContain(said[to])
    const translator = createStreamTranslator({ from, to } as never)
    const stream = explodeResponse(ended[from] as never, { protocol: from } as never)
    expect(translator.push(stream) + translator.end()).toContain(said[to])
  })
})
