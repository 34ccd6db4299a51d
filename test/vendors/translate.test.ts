import { describe, expect, test } from 'vitest'
import type { ProtocolName } from '../../src/protocols/index.ts'
import type { VendorName } from '../../src/vendors/index.ts'
import { translateRequest, translateResponse } from '../support/untyped.ts'

const weather = {
  type: 'function',
  name: 'weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const

describe('a request for DeepSeek', () => {
  const codex = {
    model: 'deepseek-chat',
    instructions: 'You are a coding agent.',
    max_output_tokens: 500,
    tools: [weather],
    input: [
      {
        type: 'message',
        role: 'developer',
        content: [{ type: 'input_text', text: 'Follow the rules.' }],
      },
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'How is the weather in Oslo?' }],
      },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'rain' },
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
    ],
  }
  const { body } = translateRequest(codex, {
    from: 'responses',
    to: 'chat-completions',
    vendor: 'deepseek',
  })
  const messages = (
    body as { messages: { role: string; reasoning_content?: string; tool_calls?: unknown }[] }
  ).messages

  test('has no role that it refuses, and keeps system messages where they are', () => {
    expect(messages.map(({ role }) => role)).toEqual([
      'system',
      'system',
      'user',
      'assistant',
      'tool',
      'system',
    ])
  })

  test('has the token limit in the field that it reads', () => {
    expect(body).toMatchObject({ max_tokens: 500 })
    expect(body).not.toHaveProperty('max_completion_tokens')
  })

  test('has reasoning in every message with a tool call', () => {
    for (const message of messages)
      if (message.tool_calls) expect(message.reasoning_content).toBe(' ')
  })

  test('is written for any server without a vendor', () => {
    expect(
      translateRequest(codex, { from: 'responses', to: 'chat-completions' }).body,
    ).toHaveProperty('max_completion_tokens', 500)
  })
})

test('fields that the vendor refuses are dropped, with a note for each', () => {
  const request = {
    model: 'llama',
    messages: [{ role: 'user', content: 'hi' }],
    max_tokens: 10,
    parallel_tool_calls: false,
    service_tier: 'flex',
  }
  const plain = {
    model: 'llama',
    max_output_tokens: 16,
    input: 'hi',
    service_tier: 'flex',
    frequency_penalty: 0.5,
  }
  const { body, notes } = translateRequest(plain, {
    from: 'responses',
    to: 'chat-completions',
    vendor: 'cerebras',
  })
  expect(body).not.toHaveProperty('service_tier')
  expect(body).not.toHaveProperty('frequency_penalty')
  expect(notes.filter(({ code }) => code === 'model.unsupported').map(({ path }) => path)).toEqual([
    '/frequency_penalty',
    '/service_tier',
  ])
  const same = translateRequest(request, {
    from: 'chat-completions',
    to: 'chat-completions',
    vendor: 'cerebras',
  })
  expect(same.body).toEqual({
    model: 'llama',
    messages: request.messages,
    max_completion_tokens: 10,
  })
  expect(same.notes.map(({ path }) => path).toSorted()).toEqual([
    '/max_tokens',
    '/parallel_tool_calls',
    '/service_tier',
  ])
})

test('prefers an option of the user over the profile', () => {
  const request = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
  const { body } = translateRequest(request, {
    from: 'messages',
    to: 'chat-completions',
    vendor: 'deepseek',
    chatCompletions: { maxTokensField: 'max_completion_tokens' },
  })
  expect(body).toHaveProperty('max_completion_tokens', 10)
})

test('reasoning that a vendor puts between tags becomes reasoning', () => {
  const response = {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'MiniMax-M2',
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        message: { role: 'assistant', content: '<think>Let me see.</think>Hello' },
      },
    ],
  }
  const { body } = translateResponse(response, {
    from: 'chat-completions',
    to: 'messages',
    vendor: 'minimax',
  })
  expect(body).toMatchObject({
    content: [
      { type: 'thinking', thinking: 'Let me see.' },
      { type: 'text', text: 'Hello' },
    ],
  })
})

test('an unknown vendor is refused with the known names', () => {
  const request = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
  expect(() =>
    translateRequest(request, {
      from: 'messages',
      to: 'chat-completions',
      vendor: 'deepsek' as 'deepseek',
    }),
  ).toThrow(/option vendor: expected one of .*; did you mean deepseek\?/)
})

test.each([
  [
    'chat-completions',
    { model: 'mistral-small-latest', seed: 7, messages: [{ role: 'user', content: 'hi' }] },
    '/seed',
  ],
  [
    'generate-content',
    { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], generationConfig: { seed: 7 } },
    '/generationConfig/seed',
  ],
] as const)(
  'the seed of a request of %s is in the field that Mistral reads',
  (from, received, place) => {
    const { body, notes } = translateRequest(received, {
      from,
      to: 'chat-completions',
      vendor: 'mistral',
      model: 'mistral-small-latest',
    })
    expect(body).toMatchObject({ random_seed: 7 })
    expect(body).not.toHaveProperty('seed')
    // How it is spelled concerns nobody who has not spelled it.
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual(
      from === 'chat-completions' ? [`sampling.seed-field ${place}`] : [],
    )
  },
)

test('a request of the same protocol is what the server of its vendor takes', () => {
  const user = { role: 'user', content: 'hi' }
  const own = (name: ProtocolName, vendor: VendorName, request: object) =>
    translateRequest(request, { from: name, to: name, vendor })
  const limited = own('chat-completions', 'azure', {
    model: 'gpt-5.6',
    max_tokens: 5,
    messages: [user],
  })
  expect(limited.body).toEqual({ model: 'gpt-5.6', max_completion_tokens: 5, messages: [user] })
  expect(limited.notes.map(({ code }) => code)).toEqual(['max-tokens.field'])
  const older = { model: 'gpt-4o', max_tokens: 5, messages: [user] }
  expect(own('chat-completions', 'azure', older).body).toBe(older)
  const later = own('messages', 'vllm', {
    model: 'qwen',
    max_tokens: 5,
    messages: [
      user,
      { role: 'assistant', content: 'Hello' },
      { role: 'system', content: 'Be brief.' },
    ],
  })
  expect(later.body).toMatchObject({
    messages: [
      user,
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: [{ type: 'text', text: '<system>Be brief.</system>' }] },
    ],
  })
  expect(later.notes.map(({ code }) => code)).toEqual(['system.mid-conversation-as-user'])
})

test.each(['chat-completions', 'messages'] as const)(
  'a call without text has an empty one for llama-cpp, whose server for Python refuses null: %s',
  client => {
    const chat = {
      model: 'm',
      messages: [
        { role: 'user' as const, content: 'go' },
        {
          role: 'assistant' as const,
          content: null,
          tool_calls: [
            { id: 'a', type: 'function' as const, function: { name: 'look', arguments: '{}' } },
          ],
        },
        { role: 'tool' as const, tool_call_id: 'a', content: 'ok' },
      ],
    }
    const asked = translateRequest(chat, { from: 'chat-completions', to: client }).body
    const contentFor = (vendor: VendorName) => {
      const options = { from: client, to: 'chat-completions', vendor } as const
      const { body, notes } = translateRequest(asked as object, options)
      const { messages } = body as { messages: { content: unknown }[] }
      return [messages[1]?.content, notes]
    }
    expect(contentFor('llama-cpp')).toEqual(['', []])
    expect(contentFor('vllm')).toEqual([null, []])
  },
)

describe('a call of the history whose arguments were cut off', () => {
  const user = { role: 'user', content: 'go' }
  const request = (args: string) => ({
    model: 'm',
    messages: [
      user,
      {
        role: 'assistant',
        content: 'Looking',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: args } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'bad' },
    ],
  })
  const own = (args: string, vendor?: VendorName) =>
    translateRequest(request(args), {
      from: 'chat-completions',
      to: 'chat-completions',
      ...(vendor && { vendor }),
    })

  test.each<VendorName>(['llama-cpp', 'vllm', 'sglang', 'ollama', 'lm-studio', 'minimax'])(
    'is an object for %s, which parses them',
    vendor => {
      const { body, notes } = own('{"q": "ls', vendor)
      expect(body).toMatchObject(request(JSON.stringify({ __raw: '{"q": "ls' })))
      expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
        'tool-call.input /messages/1/tool_calls/0/function/arguments',
      )
      expect(own('', vendor).body).toMatchObject(request('{}'))
      expect(own('{"q": 1.0}', vendor).body).toMatchObject(request('{"q": 1.0}'))
    },
  )

  test('stays as it is for other servers', () => {
    expect(own('{"q": "ls').body).toEqual(request('{"q": "ls'))
    expect(own('{"q": "ls', 'deepseek').body).toMatchObject(request('{"q": "ls'))
  })
})

test('Moonshot gets strict functions as they are, since it enforces open schemas, too', () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  for (const strict of [true, false]) {
    const named = { name: 'find', parameters, strict }
    const bodies = {
      'chat-completions': {
        model: 'kimi-k3',
        messages: [{ role: 'user', content: 'hi' }],
        tools: [{ type: 'function', function: named }],
      },
      responses: { model: 'kimi-k3', input: 'hi', tools: [{ type: 'function', ...named }] },
    }
    for (const from of ['chat-completions', 'responses'] as const)
      for (const to of ['chat-completions', 'responses'] as const) {
        const { body, notes } = translateRequest(bodies[from], { from, to, vendor: 'moonshot' })
        expect(JSON.stringify(body)).toContain(`"strict":${strict}`)
        expect(notes.filter(({ code }) => code.startsWith('tool.'))).toEqual([])
      }
  }
})
