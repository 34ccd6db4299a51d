import { describe, expect, test } from 'vitest'
import { hostsOf, post, sendJson, sendStream, upstream } from './support.ts'

const tool = {
  name: 'list',
  input_schema: { type: 'object', properties: { $top: { type: 'integer' } } },
}
const request = {
  model: 'claude-opus-5',
  max_tokens: 9,
  messages: [{ role: 'user', content: 'hi' }],
}
const called = (input: object) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5',
  content: [{ type: 'tool_use', id: 'c1', name: 'list', input }],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
})

/** The name of the only property, as it is sent. */
const writtenIn = (text = '') =>
  Object.keys((JSON.parse(text) as { tools: [typeof tool] }).tools[0].input_schema.properties)[0] ??
  ''

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  const config = (url: string, vendor?: 'anthropic') => ({
    auth: 'none' as const,
    channels: [
      {
        name: 'up',
        ...(vendor && { vendor }),
        baseUrl: url,
        protocols: ['messages' as const],
        apiKey: 'k',
      },
    ],
  })

  test('a property that the vendor refuses has another name there, and its own in calls', async () => {
    const [name] = await namesFor(start, config)
    expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/)
    expect(name).not.toBe('$top')
    const seen = await upstream(sendJson(200, called({ [name]: 5 })))
    const ask = await start(config(seen.url, 'anthropic'))
    const response = await ask('/v1/messages', post({ ...request, tools: [tool] }))
    expect(await response.json()).toEqual(called({ $top: 5 }))
  })

  test('the same in a stream', async () => {
    const [name] = await namesFor(start, config)
    const events = [
      { type: 'message_start', message: { ...called({}), content: [], stop_reason: null } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'c1', name: 'list', input: {} },
      },
      ...['{"', name.slice(0, 3), `${name.slice(3)}"`, ':5}'].map(partial_json => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json },
      })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ]
    const frames = events.map(one => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`)
    const seen = await upstream(sendStream(frames))
    const ask = await start(config(seen.url, 'anthropic'))
    const response = await ask('/v1/messages', post({ ...request, tools: [tool], stream: true }))
    const text = await response.text()
    const parts = [...text.matchAll(/"partial_json":("(?:[^"\\]|\\.)*")/g)]
    expect(parts.map(([, part = '""']) => JSON.parse(part) as string).join('')).toBe('{"$top":5}')
    expect(text).toContain('message_stop')
  })

  test('an unknown server gets the bytes of its client', async () => {
    const seen = await upstream(sendJson(200, called({ $top: 5 })))
    const ask = await start({
      ...config(seen.url),
      models: [{ id: 'claude-opus-5', channels: [{ name: 'up' }] }],
    })
    const body = JSON.stringify({ ...request, tools: [tool] }, null, 1)
    await ask('/v1/messages', post(body))
    expect(seen.calls[0]?.text).toBe(body)
  })
})

type Start = typeof import('./support.ts')['hosts'][number][1]

/** The name that the gateway writes. */
async function namesFor(
  start: Start,
  config: (url: string, vendor?: 'anthropic') => Parameters<Start>[0],
): Promise<[string]> {
  const seen = await upstream(sendJson(200, called({})))
  const ask = await start(config(seen.url, 'anthropic'))
  await ask('/v1/messages', post({ ...request, tools: [tool] }))
  return [writtenIn(seen.calls[0]?.text)]
}
