import { describe, expect, test } from 'vitest'
import { hostsOf, post, requests, responses, sendJson, upstream } from './support.ts'

const weather = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test('a channel of a vendor writes requests as the vendor requires, and sends the key as it reads it', async () => {
    const seen = await upstream(sendJson(200, responses['chat-completions']))
    const ask = await start({
      auth: 'none',
      channels: [
        {
          vendor: 'deepseek',
          baseUrl: seen.url,
          protocols: ['chat-completions'],
          apiKey: 'key-0123456789',
        },
      ],
    })
    const request = {
      model: 'deepseek-chat',
      max_output_tokens: 50,
      input: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
      ],
    }
    expect((await ask('/v1/responses', post(request))).status).toBe(200)
    const [call] = seen.calls
    expect(call?.headers['authorization']).toBe('Bearer key-0123456789')
    expect(call?.json).toMatchObject({
      max_tokens: 50,
      messages: [{ role: 'system' }, { role: 'user' }],
    })
  })

  test('a model that takes tools only in another protocol is sent requests with tools there', async () => {
    const seen = await upstream(
      sendJson(200, responses.responses),
      sendJson(200, responses['chat-completions']),
    )
    const ask = await start({
      auth: 'none',
      channels: [{ vendor: 'openai', baseUrl: `${seen.url}/v1`, apiKey: 'key-0123456789' }],
    })
    const plain = { model: 'gpt-5.6-sol', messages: [{ role: 'user', content: 'hi' }] }
    const tools = [{ type: 'function', function: { name: 'weather', parameters: weather } }]
    expect((await ask('/v1/chat/completions', post({ ...plain, tools }))).status).toBe(200)
    expect((await ask('/v1/chat/completions', post(plain))).status).toBe(200)
    expect(seen.calls.map(({ path }) => path)).toEqual(['/v1/responses', '/v1/chat/completions'])
  })

  test('fields that the vendor refuses are dropped with a note, also within one protocol', async () => {
    const seen = await upstream(sendJson(200, responses['chat-completions']))
    const ask = await start({
      auth: 'none',
      channels: [{ vendor: 'cerebras', baseUrl: `${seen.url}/v1`, apiKey: 'key-0123456789' }],
    })
    const response = await ask(
      '/v1/chat/completions',
      post({ ...requests['chat-completions'], store: true }),
    )
    expect(response.status).toBe(200)
    expect(response.headers.get('wireglot-notes')).toContain('model.unsupported')
    expect(seen.calls[0]?.json).not.toHaveProperty('store')
  })

  test('sends the key in the header of the vendor when it differs from the protocol', async () => {
    const seen = await upstream(sendJson(200, responses['chat-completions']))
    const ask = await start({
      auth: 'none',
      channels: [{ vendor: 'azure', baseUrl: `${seen.url}/openai/v1`, apiKey: 'key-0123456789' }],
    })
    expect((await ask('/v1/chat/completions', post(requests['chat-completions']))).status).toBe(200)
    expect(seen.calls[0]?.headers['api-key']).toBe('key-0123456789')
    expect(seen.calls[0]?.headers).not.toHaveProperty('authorization')
  })
})
