import { describe, expect, test } from 'vitest'
import { strictOf } from '../../src/testing/strict/index.ts'
import { wireOf } from '../support/upstreams/index.ts'
import {
  hostsOf,
  one,
  type Protocol,
  paths,
  post,
  requests,
  responses,
  sendJson,
  upstream,
} from './support.ts'

/**
 * Calls that only a provider of responses can handle: to stop a response in progress, and to
 * compact a conversation.
 */

const path = paths.responses
const background = {
  ...responses.responses,
  id: 'resp_1',
  status: 'queued',
  output: [],
  background: true,
}

describe.each(hostsOf(import.meta.url))(
  'through %s, POST /v1/responses/{id}/cancel',
  (_, start) => {
    test.each([[{}], [{ store: { memory: true as const } }]])(
      'goes to the channel whose provider generates the response: %o',
      async more => {
        const seen = await upstream(
          sendJson(200, background),
          sendJson(200, { ...background, status: 'cancelled' }),
        )
        const ask = await start(one(seen.url, 'responses', more))
        await ask(path, post({ ...requests.responses, background: true }))
        const response = await ask(`${path}/resp_1/cancel`, { method: 'POST' })
        expect(await response.json()).toMatchObject({ id: 'resp_1', status: 'cancelled' })
        expect(seen.calls[1]).toMatchObject({
          method: 'POST',
          path: '/v1/responses/resp_1/cancel',
          text: '',
        })
      },
    )

    test('is refused for a complete response as the provider refuses it', async () => {
      const ask = await start(
        one((await upstream(sendJson(200, responses.messages))).url, 'messages', {
          store: { memory: true },
        }),
      )
      const { id } = (await (await ask(path, post(requests.responses))).json()) as { id: string }
      const response = await ask(`${path}/${id}/cancel`, { method: 'POST' })
      expect(response.status).toBe(400)
      expect(await response.json()).toEqual({
        error: {
          message: 'Cannot cancel a synchronous response.',
          type: 'invalid_request_error',
          param: null,
          code: null,
        },
      })
      expect((await ask(`${path}/${id}`)).status).toBe(200)
    })

    test.each([[{}], [{ store: { memory: true as const } }]])(
      'is 404 for an unknown id: %o',
      async more => {
        const seen = await upstream()
        const ask = await start(one(seen.url, 'messages', more))
        const response = await ask(`${path}/resp_9/cancel`, { method: 'POST' })
        expect(response.status).toBe(404)
        expect(await response.json()).toMatchObject({
          error: {
            message: expect.stringContaining("Response with id 'resp_9' not found."),
            type: 'invalid_request_error',
          },
        })
        expect(seen.calls).toEqual([])
      },
    )

    test('returns 405 for another method', async () => {
      const ask = await start(one('http://127.0.0.1:9', 'responses'))
      const response = await ask(`${path}/resp_1/cancel`)
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    })
  },
)

describe.each(hostsOf(import.meta.url))('through %s, POST /v1/responses/compact', (_, start) => {
  const compacted =
    '{ "id":"cmp_1", "object":"response.compaction", "output":[{"type":"compaction","id":"c_1","encrypted_content":"c2VhbGVk"}], "big":12345678901234567890 }'

  test('goes to a provider of the protocol, under its own name of the model, and its bytes come back', async () => {
    const seen = await upstream(sendJson(200, compacted))
    const ask = await start(
      one(seen.url, 'responses', {}, { id: 'nick', channels: [{ name: 'up', model: 'real' }] }),
    )
    const body =
      '{"model":"nick","input":[{"role":"user","content":"Hi"}],"odd":12345678901234567890}'
    const response = await ask(`${path}/compact`, post(body, { 'session-id': 's' }))
    expect(await response.text()).toBe(compacted)
    expect(seen.calls[0]).toMatchObject({
      path: '/v1/responses/compact',
      text: body.replace('nick', 'real'),
      headers: { 'session-id': 's', authorization: 'Bearer upstream-secret' },
    })
  })

  test('chooses the channel that speaks the protocol among others', async () => {
    const [chat, own] = [await upstream(), await upstream(sendJson(200, compacted))]
    const channel = (name: string, baseUrl: string, protocol: 'messages' | 'responses') => ({
      name,
      baseUrl,
      protocols: [protocol],
    })
    const ask = await start({
      auth: 'none',
      channels: [channel('chat', chat.url, 'messages'), channel('own', own.url, 'responses')],
      models: [{ id: 'm', channels: [{ name: 'chat' }, { name: 'own', priority: 1 }] }],
    })
    expect((await ask(`${path}/compact`, post(requests.responses))).status).toBe(200)
    expect(chat.calls).toEqual([])
  })

  test.each(['messages', 'chat-completions'] as const)(
    'is refused with an explanation when %s serves the model',
    async served => {
      const seen = await upstream()
      const ask = await start(one(seen.url, served))
      const response = await ask(`${path}/compact`, post(requests.responses))
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({
        error: { type: 'invalid_request_error', message: expect.stringContaining('compact') },
      })
      expect(seen.calls).toEqual([])
    },
  )

  test('passes an error of the provider unchanged', async () => {
    const failure = {
      error: {
        message: 'Nothing to compact',
        type: 'invalid_request_error',
        param: 'input',
        code: null,
      },
    }
    const ask = await start(one((await upstream(sendJson(400, failure))).url, 'responses'))
    const response = await ask(`${path}/compact`, post(requests.responses))
    expect([response.status, await response.json()]).toEqual([400, failure])
  })

  test('continues from a response that the gateway stores, with its history written out', async () => {
    const [chat, own] = [
      await upstream(sendJson(200, responses.messages)),
      await upstream(sendJson(200, compacted)),
    ]
    const ask = await start({
      auth: 'none',
      store: { memory: true },
      channels: [
        { name: 'chat', baseUrl: chat.url, protocols: ['messages'] },
        { name: 'own', baseUrl: own.url, protocols: ['responses'] },
      ],
      models: ['chat', 'own'].map(name => ({ id: name, channels: [{ name }] })),
    })
    const { id } = (await (await ask(path, post({ model: 'chat', input: 'Hi' }))).json()) as {
      id: string
    }
    expect(
      (await ask(`${path}/compact`, post({ model: 'own', previous_response_id: id }))).status,
    ).toBe(200)
    expect(own.calls[0]?.json).not.toHaveProperty('previous_response_id')
    expect(own.calls[0]?.text).toContain('Hello')
  })

  test('requires a key, a model and a body', async () => {
    const { auth: _auth, ...config } = one('http://127.0.0.1:9', 'responses')
    const ask = await start({ ...config, keys: [{ name: 'alice', key: 'client-secret' }] })
    const known = { authorization: 'Bearer client-secret' }
    expect((await ask(`${path}/compact`, post(requests.responses))).status).toBe(401)
    expect((await ask(`${path}/compact`, post({ input: 'Hi' }, known))).status).toBe(400)
    expect(
      (await ask(`${path}/compact`, post({ model: 'other', input: 'Hi' }, known))).status,
    ).toBe(404)
    expect((await ask(`${path}/compact`, { headers: known })).status).toBe(405)
  })
})

describe.each(hostsOf(import.meta.url))(
  'through %s, an upstream that handles such a call',
  (_, start) => {
    const calls: [protocol: Protocol, path: string, method: string][] = [
      ['messages', '/v1/messages/count_tokens', 'POST'],
      ['responses', '/v1/responses/input_tokens', 'POST'],
      ['responses', '/v1/responses/compact', 'POST'],
      ['generate-content', '/v1beta/models/m:countTokens', 'POST'],
      ['responses', '/v1/responses/resp_1', 'GET'],
      ['responses', '/v1/responses/resp_1/input_items', 'GET'],
      ['responses', '/v1/responses/resp_1/cancel', 'POST'],
    ]
    describe.each(calls)('of %s: %s', (protocol, place, method) => {
      const init = () => (method === 'GET' ? {} : post(requests[protocol]))

      test.each([
        ['words', 'application/json', 'Welcome!'],
        ['a web page', 'text/html', '<html>Welcome!</html>'],
        ['a web page that calls itself JSON', 'application/json', '<html>Welcome!</html>'],
        ['a list', 'application/json', '[]'],
        [
          'an error',
          'application/json',
          JSON.stringify(
            wireOf(protocol).failure({ status: 500, type: 'api_error', message: 'No more credit' }),
          ),
        ],
      ])('returns an error for status 200 with %s', async (_what, type, message) => {
        const seen = await upstream(sendJson(200, message, { 'content-type': type }))
        const ask = await start(one(seen.url, protocol))
        const response = await ask(place, init())
        expect(response.status).toBeGreaterThanOrEqual(500)
        expect(response.headers.get('content-type')).toBe('application/json')
        expect(strictOf(protocol).checkError(await response.json())).toEqual([])
      })

      test('returns the rate limit headers of the upstream', async () => {
        const seen = await upstream(
          sendJson(
            200,
            { input_tokens: 3, totalTokens: 3 },
            { 'x-ratelimit-remaining-requests': '4' },
          ),
        )
        const ask = await start(one(seen.url, protocol))
        expect((await ask(place, init())).headers.get('x-ratelimit-remaining-requests')).toBe('4')
      })
    })
  },
)
