import { describe, expect, test } from 'vitest'
import { translateRequest } from '../../support/untyped.ts'

const mark = { cache_control: { type: 'ephemeral' } }
const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } }
const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
const marked = {
  model: 'm',
  messages: [
    { role: 'system', content: 'rules', ...mark },
    { role: 'user', content: 'hi', ...mark },
    { role: 'assistant', content: null, tool_calls: [call], ...mark },
    { role: 'tool', tool_call_id: 'c1', content: 'ok', ...mark },
  ],
  tools: [{ ...tool, function: { ...tool.function, ...mark } }],
  ...mark,
}

describe('cache_control beside content', () => {
  test('marks the last part of its message when the target is messages', () => {
    const [system, received, called, responded] = marked.messages
    const ask = (body: object) =>
      translateRequest({ ...marked, ...body }, { from: 'chat-completions', to: 'messages' })
    const bare = { cache_control: undefined, tools: [tool] }
    // No more than four of them at once: the target refuses others.
    const one = ask({ ...bare, messages: [system, received, called, responded] })
    expect(one.body).toMatchObject({
      system: [{ text: 'rules', ...mark }],
      messages: [
        { role: 'user', content: [{ text: 'hi', ...mark }] },
        { role: 'assistant', content: [{ type: 'tool_use', ...mark }] },
        { role: 'user', content: [{ type: 'tool_result', ...mark }] },
      ],
    })
    const two = ask({ messages: [{ role: 'user', content: 'hi', ...mark }] })
    expect(two.body).toMatchObject({
      ...mark,
      messages: [{ content: [{ text: 'hi', ...mark }] }],
      tools: [{ name: 'look', ...mark }],
    })
    expect(two.notes.map(({ code }) => code)).toEqual(['max-tokens.default'])
  })

  test('comes back unchanged when the target is chat-completions', () => {
    const { body, notes } = translateRequest(marked, {
      from: 'chat-completions',
      to: 'chat-completions',
      model: 'other',
    })
    expect(body).toEqual({ ...marked, model: 'other' })
    expect(notes).toEqual([])
  })

  test('is noted at its path when the target has no such mark', () => {
    const { notes } = translateRequest(marked, { from: 'chat-completions', to: 'generate-content' })
    const paths = notes.filter(({ path }) => path.includes('cache_control')).map(({ path }) => path)
    for (const place of [
      '/messages/0',
      '/messages/1',
      '/messages/2',
      '/messages/3',
      '/tools/0/function',
      '',
    ])
      expect(paths.some(path => path.startsWith(`${place}/cache_control`))).toBe(true)
  })

  test('stays an unknown field when it holds more than a mark', () => {
    const messages = [
      { role: 'user', content: 'hi', cache_control: { type: 'ephemeral', scope: 'global' } },
    ]
    const { notes } = translateRequest(
      { model: 'm', messages },
      { from: 'chat-completions', to: 'messages' },
    )
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
      'field.unknown /messages/0/cache_control/scope',
    )
  })
})

describe('cache marks of messages with `cacheMarks: cache_control`', () => {
  const wire = {
    model: 'm',
    max_tokens: 9,
    ...mark,
    system: [{ type: 'text', text: 'rules', ...hour }],
    tools: [{ name: 'look', input_schema: { type: 'object' }, ...mark }],
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'ok', ...mark }],
      },
    ],
  }
  test('are written in that field, also on tools and tool messages', () => {
    const { body, notes } = translateRequest(wire, {
      from: 'messages',
      to: 'chat-completions',
      chatCompletions: { cacheMarks: 'cache_control' },
    })
    expect(body).toMatchObject({
      ...mark,
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'rules', ...hour }] },
        { role: 'user', content: 'hi' },
        { role: 'assistant' },
        { role: 'tool', content: [{ type: 'text', text: 'ok', ...mark }] },
      ],
      tools: [{ type: 'function', ...mark }],
    })
    expect(notes).toEqual([])
  })

  test('lose a lifetime that the field does not have', () => {
    const input = [
      {
        role: 'user',
        content: [
          {
            type: 'input_text',
            text: 'a',
            prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' },
          },
        ],
      },
    ]
    const { body, notes } = translateRequest(
      { model: 'm', input, store: false },
      {
        from: 'responses',
        to: 'chat-completions',
        chatCompletions: { cacheMarks: 'cache_control' },
      },
    )
    expect(body).toMatchObject({ messages: [{ content: [{ type: 'text', text: 'a', ...mark }] }] })
    expect(notes.map(({ code }) => code)).toContain('cache.ttl')
  })
})

test('counts the mark of the body among the four that messages allows', () => {
  const marked = (role: string, text: string) => ({
    role,
    content: [{ type: 'text', text, cache_control: { type: 'ephemeral' } }],
  })
  const wire = {
    model: 'm',
    cache_control: { type: 'ephemeral' },
    messages: [
      marked('system', 's'),
      marked('user', 'a'),
      { role: 'assistant', content: 'b' },
      marked('user', 'c'),
      { role: 'assistant', content: 'd' },
      marked('user', 'e'),
    ],
  }
  const { body, notes } = translateRequest(wire, { from: 'chat-completions', to: 'messages' })
  expect(body).toMatchObject({ cache_control: { type: 'ephemeral' } })
  expect(JSON.stringify(body).match(/"cache_control"/g)).toHaveLength(4)
  expect(notes).toContainEqual(
    expect.objectContaining({
      code: 'cache.too-many',
      path: '/messages/1/content/0/cache_control',
    }),
  )
})
