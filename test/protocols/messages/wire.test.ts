import { describe, expect, test } from 'vitest'
import type { TranslateOptions } from '../../../src/index.ts'
import type { ProtocolName } from '../../../src/protocols/index.ts'
import { messages } from '../../../src/protocols/messages/index.ts'
import { translateRequest } from '../../support/untyped.ts'
import { written } from '../../support/written.ts'

type Wire = { [key: string]: unknown; messages: { role: string; content: unknown }[] }

/** A request of chat completions, as it is written here. */
function write(body: object, options: Partial<TranslateOptions> = {}) {
  const received = {
    model: 'claude-opus-5',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'u' }],
    ...body,
  }
  const { body: wire, notes } = translateRequest(received, {
    from: 'chat-completions',
    to: 'messages',
    ...options,
  })
  return { wire: wire as Wire, notes: notes.map(({ code, path }) => `${code} ${path}`) }
}

const user = { role: 'user', content: 'u' }
const calls = (...calls: [id: string, args: string][]) => ({
  role: 'assistant',
  content: null,
  tool_calls: calls.map(([id, args]) => ({
    id,
    type: 'function',
    function: { name: 'w', arguments: args },
  })),
})
const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })

describe('bodies that the newest types allow', () => {
  const base = { model: 'm', max_tokens: 1 }
  test.each<[string, object]>([
    [
      'a system message that only steers its turn',
      { messages: [user, { role: 'system', output_config: { effort: 'low' } }] },
    ],
    [
      'a system message whose content is null',
      { messages: [user, { role: 'system', content: null, clear_at: 'next_user_message' }] },
    ],
    [
      'a source that names its type where none is required',
      {
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'image',
                source: { type: 'url', url: 'https://a.org/b.png', media_type: 'image/png' },
              },
            ],
          },
        ],
      },
    ],
    [
      'how thinking is shown, in a word of tomorrow',
      { thinking: { type: 'adaptive', display: 'updates' }, messages: [user] },
    ],
    [
      'a call by the model itself with more fields',
      {
        messages: [
          {
            role: 'assistant',
            content: [
              {
                type: 'tool_use',
                id: 't',
                name: 'w',
                input: {},
                caller: { type: 'direct', since: 1 },
              },
            ],
          },
        ],
      },
    ],
  ])('%s', (_, more) => {
    const body = { ...base, ...more }
    const { value, notes } = messages.decodeRequest(body)
    expect(messages.encodeRequest(value)).toMatchObject({ wire: body, notes: [] })
    expect(messages.encodeRequest(value).wire).toEqual(body)
    expect(notes).toEqual([])
  })

  test('refuses a user message without content', () => {
    expect(() => messages.decodeRequest({ ...base, messages: [{ role: 'user' }] })).toThrow(
      '/messages/0',
    )
  })
})

describe('requests without what the server refuses', () => {
  test.each<[string, object, object, string[]]>([
    [
      'stop sequences of white space',
      { stop: ['\n', 'x', ''] },
      { stop_sequences: ['x'] },
      ['stop.blank /stop/0', 'stop.blank /stop/2'],
    ],
    [
      'nothing but such stop sequences',
      { stop: [' '] },
      { stop_sequences: undefined },
      ['stop.blank /stop/0'],
    ],
    ['one that is no list', { stop: ' ' }, { stop_sequences: undefined }, ['stop.blank /stop']],
    [
      'an empty text that bears a cache mark',
      {
        messages: [
          user,
          {
            role: 'user',
            content: [{ type: 'text', text: '', prompt_cache_breakpoint: { mode: 'explicit' } }],
          },
        ],
      },
      {},
      ['text.blank /messages/1/content/0'],
    ],
    [
      'empty instructions',
      { messages: [{ role: 'system', content: '' }, user] },
      { system: undefined },
      ['text.blank /messages/0/content'],
    ],
  ])('%s', (_, body, expected, noted) => {
    const { wire, notes } = write(body)
    expect(Object.fromEntries(Object.keys(expected).map(key => [key, wire[key]]))).toEqual(expected)
    expect(notes).toEqual(noted)
  })
})

describe('a conversation of another client that ends with the assistant', () => {
  const model = 'claude-sonnet-4-5'
  const half = 'The answer is: \n'
  const received: [ProtocolName, Record<string, unknown>][] = [
    ['chat-completions', { messages: [user, { role: 'assistant', content: half }] }],
    ['responses', { input: [user, { role: 'assistant', content: half }] }],
    [
      'generate-content',
      {
        contents: [
          { role: 'user', parts: [{ text: 'x' }] },
          { role: 'model', parts: [{ text: half }] },
        ],
      },
    ],
    [
      'converse',
      {
        messages: [
          { role: 'user', content: [{ text: 'x' }] },
          { role: 'assistant', content: [{ text: half }] },
        ],
      },
    ],
  ]

  test.each(received)('is continued only if %s has that, without white space', (from, body) => {
    for (const vendor of [undefined, 'anthropic'] as const) {
      const { body: wire, notes } = translateRequest(
        { ...body, ...(from !== 'generate-content' && from !== 'converse' && { model }) },
        { from, to: 'messages', model, ...(vendor && { vendor }) },
      )
      const codes = notes.map(({ code }) => code)
      const { messages } = wire as { messages: { role: string; content: unknown }[] }
      const isChat = from === 'chat-completions'
      expect(messages.at(-1)).toEqual(
        isChat
          ? { role: 'assistant', content: 'The answer is:' }
          : { role: 'user', content: 'Continue.' },
      )
      expect(codes).toContain(isChat ? 'text.trimmed' : 'message.trailing-user')
    }
  })
})

describe('a conversation that ends with the assistant', () => {
  const list = [user, { role: 'assistant', content: 'So far' }]
  const received = { role: 'user', content: 'Continue.' }

  test.each(['claude-opus-4-6', 'claude-sonnet-5', 'anthropic/claude-sonnet-4.6'])(
    'gets a user message when the model refuses prefill: %s',
    model => {
      const { wire, notes } = write({ model, messages: list })
      expect(wire.messages).toMatchObject([
        { role: 'user' },
        { role: 'assistant', content: 'So far' },
        received,
      ])
      expect(notes).toEqual(['message.trailing-user /messages/2'])
    },
  )

  test.each(['claude-sonnet-4-5', 'some-model'])(
    'stays when the model may continue it: %s',
    model => {
      expect(write({ model, messages: list })).toMatchObject({
        wire: { messages: [{ role: 'user' }, { role: 'assistant' }] },
        notes: [],
      })
    },
  )

  test('gets no user message when the assistant waits for a tool result', () => {
    const call = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
    }
    expect(
      write({ model: 'claude-opus-4-6', messages: [user, call] }, { tools: { repair: 'keep' } })
        .wire.messages,
    ).toHaveLength(2)
  })
})

describe('a conversation that an assistant begins', () => {
  const list = [{ role: 'assistant', content: 'a' }, user]

  test('is left to the server', () => {
    expect(write({ messages: list })).toMatchObject({
      wire: { messages: [{ role: 'assistant' }, { role: 'user' }] },
      notes: [],
    })
  })

  test('gets a user message before it on request', () => {
    const { wire, notes } = write({ messages: list }, { messages: { leadingUser: 'synthesize' } })
    expect(wire.messages).toMatchObject([
      { role: 'user', content: '.' },
      { role: 'assistant' },
      { role: 'user' },
    ])
    expect(notes).toEqual(['message.leading-user /messages/0'])
    expect(write({}, { messages: { leadingUser: 'synthesize' } }).notes).toEqual([])
    const alone = write(
      { messages: [{ role: 'system', content: 'be brief' }] },
      { messages: { leadingUser: 'synthesize' } },
    )
    expect(alone).toMatchObject({
      wire: { system: 'be brief', messages: [{ role: 'user', content: '.' }] },
      notes: ['message.leading-user /messages/0'],
    })
  })
})

describe('fields of a message next to its blocks', () => {
  const responded = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: id })
  test.each<[string, unknown[]]>([
    ['one result', [responded('a')]],
    ['two results', [responded('a'), responded('b')]],
    ['two results of one call', [responded('a'), responded('a')]],
    ['a result and text', [responded('a'), { type: 'text', text: 'x' }]],
    [
      'a file for a container',
      [
        { type: 'container_upload', file_id: 'f' },
        { type: 'text', text: 'x' },
      ],
    ],
  ])('with %s is noted once, by its encoder', (_, content) => {
    const body = { model: 'm', max_tokens: 50, messages: [{ role: 'user', x_vendor: 1, content }] }
    for (const to of ['chat-completions', 'responses'] as const) {
      const { notes } = translateRequest(body, { from: 'messages', to })
      expect(notes.filter(({ path }) => path === '/messages/0/x_vendor').length, to).toBe(1)
    }
  })
})

test('a mark on instructions that are hoisted is in the order of the field', () => {
  const text = (of: string, ttl: string) => [
    { type: 'text', text: of, cache_control: { type: 'ephemeral', ttl } },
  ]
  const received = {
    messages: [
      {
        role: 'user' as const,
        origin: 'message' as const,
        parts: [{ type: 'text' as const, text: 'u', cache: { ttl: '5m' as const } }],
      },
      {
        role: 'system' as const,
        origin: 'message' as const,
        parts: [{ type: 'text' as const, text: 's', cache: { ttl: '1h' as const } }],
      },
    ],
  }
  const { wire } = written({ model: 'm', maxOutputTokens: 1, ...received }, messages, {
    systemPlacement: 'hoist',
  })
  expect(wire).toMatchObject({ system: text('s', '1h'), messages: [{ content: text('u', '5m') }] })
})

describe('calls that share an id', () => {
  test('of one turn have their results in the order of the calls', () => {
    const { wire, notes } = write({
      messages: [user, calls(['c', '{}'], ['c', '{"a":1}']), result('c', 'r1'), result('c', 'r2')],
    })
    expect(wire.messages.slice(1)).toMatchObject([
      { content: [{ id: 'c' }, { id: 'c_2' }] },
      {
        content: [
          { tool_use_id: 'c', content: 'r1' },
          { tool_use_id: 'c_2', content: 'r2' },
        ],
      },
    ])
    expect(notes).toEqual(['tool-call.id /messages/1/tool_calls/1/id'])
  })

  test('of two turns have the result that follows each', () => {
    const { wire } = write({
      messages: [
        user,
        calls(['c', '{}']),
        result('c', 'r1'),
        calls(['c', '{"a":1}']),
        result('c', 'r2'),
      ],
    })
    expect(wire.messages.slice(1)).toMatchObject([
      { content: [{ id: 'c' }] },
      { content: [{ tool_use_id: 'c', content: 'r1' }] },
      { content: [{ id: 'c_2' }] },
      { content: [{ tool_use_id: 'c_2', content: 'r2' }] },
    ])
  })

  test('of two turns, of which the first never got a response', () => {
    const { wire } = write({
      messages: [user, calls(['c', '{}']), user, calls(['c', '{"a":1}']), result('c', 'r2')],
    })
    expect(wire.messages.at(-1)).toMatchObject({ content: [{ tool_use_id: 'c_2', content: 'r2' }] })
  })
})

describe('lenient input of clients', () => {
  const ask = (more: object) => ({
    model: 'm',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'x' }],
    ...more,
  })
  const received = (content: object[]) =>
    ask({
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content },
      ],
    })
  const reported = (body: object, to: 'responses' | 'chat-completions') => {
    const { body: wire, notes } = translateRequest(body, { from: 'messages', to })
    return { text: JSON.stringify(wire), notes: notes.map(({ code, path }) => `${code} ${path}`) }
  }
  const calling = received([{ type: 'tool_use', id: 't', name: 'n', input: '{"a":1}' }])

  test.each(['responses', 'chat-completions'] as const)(
    'parses arguments that are text, with a note, toward %s',
    to => {
      const { text, notes } = reported(calling, to)
      expect(text).toContain('"arguments":"{\\"a\\":1}"')
      expect(notes).toContain('tool-call.input-text /messages/1/content/0/input')
    },
  )

  test('restores arguments that are text', () => {
    expect(messages.encodeRequest(messages.decodeRequest(calling).value)).toMatchObject({
      wire: calling,
      notes: [],
    })
  })

  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }
  const system = [image, { type: 'text', text: 'S' }, { type: 'newest', x: 1 }]

  test.each(['responses', 'chat-completions'] as const)(
    'notes instructions that are not text, toward %s',
    to => {
      const { text, notes } = reported(ask({ system }), to)
      expect(text).not.toContain('aGk=')
      expect(notes.filter(note => note.includes('/system'))).toEqual([
        'part.unknown /system/0',
        'part.unknown /system/2',
      ])
    },
  )

  test('restores instructions that are not text', () => {
    expect(messages.encodeRequest(messages.decodeRequest(ask({ system })).value)).toMatchObject({
      wire: ask({ system }),
      notes: [],
    })
  })
})
