import { describe, expect, test } from 'vitest'
import type { Hooks } from '../../src/gateway/gateway.ts'
import {
  dataOf,
  hostsOf,
  one,
  paths,
  post,
  responses,
  sendJson,
  sendStream,
  upstream,
} from './support.ts'

type Json = Record<string, unknown>

const path = paths['chat-completions']
const thinking = { type: 'thinking', thinking: 'Look it up.', signature: 'c2lnbmVk' }
const call = { type: 'tool_use', id: 'toolu_1', name: 'lookup', input: { q: 'x' } }
const wantsTool = { ...responses.messages, content: [thinking, call], stop_reason: 'tool_use' }
const tools = [
  {
    type: 'function',
    function: {
      name: 'lookup',
      parameters: { type: 'object', properties: { q: { type: 'string' } } },
    },
  },
]
const received = {
  model: 'm',
  reasoning_effort: 'low',
  tools,
  messages: [{ role: 'user', content: 'Hi' }],
}

/** The next request of a client that builds the assistant's message anew from what it knows. */
const loop = {
  ...received,
  messages: [
    ...received.messages,
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'toolu_1', type: 'function', function: { name: 'lookup', arguments: '{"q":"x"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'toolu_1', content: 'found' },
  ],
}

const event = (data: Json) => `event: ${data['type']}\ndata: ${JSON.stringify(data)}\n\n`
const { content: _, ...empty } = responses.messages
const streamed = [
  { type: 'message_start', message: { ...empty, content: [], stop_reason: null } },
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'thinking', thinking: '', signature: '' },
  },
  {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'thinking_delta', thinking: 'Look it up.' },
  },
  {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'signature_delta', signature: 'c2lnbmVk' },
  },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { ...call, input: {} } },
  {
    type: 'content_block_delta',
    index: 1,
    delta: { type: 'input_json_delta', partial_json: '{"q":"x"}' },
  },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 2 },
  },
  { type: 'message_stop' },
].map(event)

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  const signed = { store: { memory: true, signatures: true } } as const

  test.each<[boolean, string, Hooks]>([
    [false, 'no hook', {}],
    [true, 'no hook', {}],
    [false, 'onResponse', { onResponse: () => undefined }],
    [true, 'onResponse', { onResponse: () => undefined }],
    [true, 'onStream', { onStream: events => events }],
  ])(
    'signed reasoning comes back for a chat client that forgets it, streamed: %s, with %s',
    async (stream, _, hooks) => {
      const seen = await upstream(
        stream ? sendStream(streamed) : sendJson(200, wantsTool),
        sendJson(200, responses.messages),
      )
      const ask = await start(one(seen.url, 'messages', signed), hooks)
      const text = await (await ask(path, post({ ...received, stream }))).text()
      expect(text).not.toContain('reasoning_details')
      if (stream) expect(dataOf(text).at(-1)).toBe('[DONE]')
      expect((await ask(path, post(loop))).status).toBe(200)
      expect(seen.calls[1]?.json['messages']).toMatchObject([
        { role: 'user' },
        { role: 'assistant', content: [thinking, call] },
        { role: 'user' },
      ])
    },
  )

  test('returns the signature in the response and stores nothing unless configured', async () => {
    const kept = new Map<string, string>()
    const seen = await upstream(sendJson(200, wantsTool), sendJson(200, responses.messages))
    const ask = await start(one(seen.url, 'messages'), { store: kept })
    expect(await (await ask(path, post(received))).text()).toContain('reasoning_details')
    expect(kept.size).toBe(0)
    await ask(path, post(loop))
    expect(JSON.stringify(seen.calls[1]?.json)).not.toContain('c2lnbmVk')
  })

  test('keeps the signatures of each key separate', async () => {
    const seen = await upstream(sendJson(200, wantsTool), sendJson(200, responses.messages))
    const { auth: _, ...config } = one(seen.url, 'messages', signed)
    const ask = await start({
      ...config,
      keys: [
        { name: 'ann', key: 'ann-key' },
        { name: 'bob', key: 'bob-key' },
      ],
    })
    await ask(path, post(received, { authorization: 'Bearer ann-key' }))
    await ask(path, post(loop, { authorization: 'Bearer bob-key' }))
    expect(JSON.stringify(seen.calls[1]?.json)).not.toContain('c2lnbmVk')
  })

  test('fails the request when the store cannot be read', async () => {
    const store = {
      get: () => Promise.reject(new Error('away')),
      set: () => undefined,
      delete: () => undefined,
    }
    const ask = await start(
      one((await upstream(sendJson(200, responses.messages))).url, 'messages', {
        store: { signatures: true },
      }),
      { store },
    )
    expect((await ask(path, post(loop))).status).toBe(503)
  })
})
