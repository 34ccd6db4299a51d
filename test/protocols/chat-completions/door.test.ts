import { describe, expect, test } from 'vitest'
import { explode } from '../../../src/canonical/explode.ts'
import { chatCompletions } from '../../../src/protocols/chat-completions/index.ts'
import { chunk, codes, decodeStream, encodeStream, type Options } from './run.ts'

const { address, detect, frames, withModel, wantsStream } = chatCompletions

test('matches its path, target and headers', () => {
  expect(address.match('/v1/chat/completions')).toEqual({ operation: 'generate' })
  expect(address.match('/v1/messages')).toBeUndefined()
  const none = new URLSearchParams()
  expect(address.target({ operation: 'generate', model: 'm', stream: true })).toBe(
    '/v1/chat/completions',
  )
  expect(address.target({ operation: 'count-tokens', model: 'm', stream: false })).toBeUndefined()
  expect(
    address.upstreamHeaders('sk-2', {
      'openai-project': 'p',
      authorization: 'Bearer sk-1',
      cookie: 'c',
    }),
  ).toEqual({
    authorization: 'Bearer sk-2',
    'openai-project': 'p',
  })
  expect(address.listingClaim('/v1/models', {}, none)).toBe(1)
  expect(address.listingClaim('/v1beta/models', {}, none)).toBe(0)
  expect(address.list([{ id: 'a', createdAt: 5, owner: 'o' }])).toEqual({
    object: 'list',
    data: [{ id: 'a', object: 'model', created: 5, owned_by: 'o' }],
  })
  expect(address.list([{ id: 'a' }])).toEqual({
    object: 'list',
    data: [{ id: 'a', object: 'model', created: 0, owned_by: 'unknown' }],
  })
})

test.each<[string, unknown, 'request' | 'response' | 'event' | undefined]>([
  [
    'a tool message',
    {
      messages: [
        { role: 'user', content: 'q' },
        { role: 'tool', tool_call_id: 'x', content: '' },
      ],
    },
    'request',
  ],
  [
    'nested functions',
    { messages: [], tools: [{ type: 'function', function: { name: 'f' } }] },
    'request',
  ],
  ['a response', { object: 'chat.completion', choices: [] }, 'response'],
  ['a chunk', chunk({ content: 'a' }), 'event'],
  [
    'what other protocols could say too',
    { model: 'm', messages: [{ role: 'user', content: 'q' }] },
    undefined,
  ],
  ['text', 'x', undefined],
])('%s is recognised as %3$s', (_, body, kind) => {
  const found = detect(body)
  expect((['request', 'response', 'event'] as const).filter(one => found[one].length > 0)).toEqual(
    kind ? [kind] : [],
  )
})

test('replaces the model name and reads the `stream` flag', () => {
  expect(withModel({ model: 'a', x: 1 }, 'b')).toEqual({ model: 'b', x: 1 })
  expect(withModel('[DONE]', 'b')).toBe('[DONE]')
  expect([{ stream: true }, { stream: false }, {}].map(wantsStream)).toEqual([true, false, false])
})

test('writes frames', () => {
  expect(frames.write('[DONE]')).toBe('data: [DONE]\n\n')
  expect(frames.write({ a: '\n' })).toBe('data: {"a":"\\n"}\n\n')
})

describe('usage at the end of a stream', () => {
  const events = explode({
    id: 'r',
    model: 'm',
    candidates: [{ index: 0, messages: [], finish: { reason: 'stop' } }],
    usage: { input: 1, output: 2 },
  })
  const received = (includeUsage?: boolean): Options => ({
    context: {
      from: 'chat-completions',
      to: 'messages',
      request: {
        messages: [],
        stream: { enabled: true, ...(includeUsage !== undefined && { includeUsage }) },
      },
    },
  })
  const shown = (options?: Options) =>
    encodeStream(events, options).frames.some(frame =>
      JSON.stringify(frame).includes('"prompt_tokens":1'),
    )

  test.each<[string, Options | undefined, boolean]>([
    ['without a request that could ask', undefined, true],
    ['requested', received(true), true],
    ['not requested', received(), false],
    ['refused', received(false), false],
  ])('%s', (_, options, expected) => {
    expect(shown(options)).toBe(expected)
  })

  test('is in its own chunk, and null in every other', () => {
    const { frames: written } = encodeStream(events, received(true))
    expect(written.slice(0, -2)).toSatisfy((chunks: { usage: unknown }[]) =>
      chunks.every(({ usage }) => usage === null),
    )
    expect(written.at(-2)).toMatchObject({ id: 'r', choices: [], usage: { prompt_tokens: 1 } })
  })
})

test('keeps unknown fields of a stream', () => {
  const source = [
    chunk({ role: 'assistant', content: '' }, null, { provider: 'P' }),
    chunk({ content: 'a', images: [{ x: 1 }] }),
    chunk({}, 'stop', { citations: ['u'] }),
    '[DONE]',
  ]
  const { frames: written, notes } = encodeStream(decodeStream(source).events)
  const text = JSON.stringify(written)
  for (const kept of ['"provider":"P"', '"images":[{"x":1}]', '"citations":["u"]'])
    expect(text).toContain(kept)
  expect(codes(notes)).toEqual([])
})

test('lists every emitted note in the table', () => {
  for (const [code, { kind, meaning }] of Object.entries(chatCompletions.notes)) {
    expect(code).toMatch(/^[a-z-]+\.[a-z-]+$/)
    expect(['dropped', 'approximated', 'synthesized']).toContain(kind)
    expect(meaning).toBeTruthy()
  }
})
