import { describe, expect, test } from 'vitest'
import {
  hostsOf,
  one,
  type Protocol,
  pathOf,
  paths,
  post,
  requests,
  responses,
  sendJson,
  upstream,
} from './support.ts'

const parameters = { type: 'object', properties: {} }
const tools: Record<Protocol, object[]> = {
  'chat-completions': [{ type: 'function', function: { name: 'look', parameters } }],
  responses: [{ type: 'function', name: 'look', parameters, strict: false }],
  messages: [{ name: 'look', input_schema: parameters }],
  'generate-content': [{ functionDeclarations: [{ name: 'look', parameters }] }],
}
const foreign: Protocol[] = ['chat-completions', 'responses', 'generate-content']

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  async function received(
    client: Protocol,
    more: object,
    { channel = {}, model = {}, config = {} } = {},
  ) {
    const seen = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(seen.url, 'messages', config, model, channel))
    const response = await ask(pathOf(client), post({ ...requests[client], ...more }))
    expect(response.status).toBe(200)
    return { sent: seen.calls[0]?.json, notes: response.headers.get('wireglot-notes') ?? '' }
  }

  test.each(foreign)('adds a cache mark with a note to a request of an agent: %s', async client => {
    const { sent, notes } = await received(client, { tools: tools[client] })
    expect(sent?.['cache_control']).toEqual({ type: 'ephemeral' })
    expect(notes).toContain('cache.auto')
  })

  test.each(foreign)('adds no cache mark to a single question: %s', async client => {
    expect((await received(client, {})).sent).not.toHaveProperty('cache_control')
  })

  test('adds no cache mark for a client that can set them', async () => {
    expect((await received('messages', { tools: tools.messages })).sent).not.toHaveProperty(
      'cache_control',
    )
  })

  test('leaves a request with its own cache marks unchanged', async () => {
    const content = [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }]
    const { sent } = await received('chat-completions', {
      tools: tools['chat-completions'],
      messages: [{ role: 'user', content }],
    })
    expect(sent).not.toHaveProperty('cache_control')
    expect(JSON.stringify(sent)).toContain('"cache_control"')
  })

  test.each([
    ['channel', { channel: { options: { messages: { autoCache: false } } } }],
    ['model', { model: { options: { messages: { autoCache: false } } } }],
  ])('`autoCache: false` at the %s turns it off', async (_where, more) => {
    expect(
      (await received('chat-completions', { tools: tools['chat-completions'] }, more)).sent,
    ).not.toHaveProperty('cache_control')
  })

  test('stops sending cache marks to an upstream that refuses one', async () => {
    const refused = sendJson(400, {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'cache_control: Extra inputs are not permitted',
      },
    })
    const seen = await upstream(refused, sendJson(200, responses.messages))
    const ask = await start(one(seen.url, 'messages', { defaults: { retries: 0 } }), {
      logger: false,
    })
    const body = post({ ...requests['chat-completions'], tools: tools['chat-completions'] })
    for (let times = 0; times < 2; times++)
      expect((await ask(paths['chat-completions'], body)).status).toBe(200)
    expect(seen.calls.map(({ json }) => 'cache_control' in json)).toEqual([true, false, false])
  })
})
