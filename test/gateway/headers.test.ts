import { describe, expect, test } from 'vitest'
import { ConfigError, createGateway } from '../../src/gateway/gateway.ts'
import { forwardedHeaders, keptHeaders } from '../../src/gateway/headers.ts'
import {
  asking,
  hostsOf,
  one,
  paths,
  post,
  requests,
  responses,
  sendJson,
  upstream,
} from './support.ts'

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each([
    [
      'chat-completions',
      {
        'openai-organization': 'org',
        'openai-project': 'proj',
        'idempotency-key': 'once',
        'x-client-request-id': 'mine',
      },
    ],
    [
      'responses',
      {
        'openai-beta': 'b',
        'session-id': 's',
        originator: 'cli',
        'x-codex-beta-features': 'f',
        'x-openai-internal-codex-responses-lite': 'true',
      },
    ],
    [
      'messages',
      {
        'anthropic-beta': 'a,b',
        'anthropic-version': '2023-06-01',
        'anthropic-user-profile-id': 'p',
        'anthropic-workspace-id': 'w',
        'idempotency-key': 'once',
      },
    ],
    [
      'generate-content',
      { 'x-goog-user-project': 'p', 'x-goog-api-client': 'google-genai-sdk/3.1.0' },
    ],
  ] as const)(
    'forwards protocol headers of a client of %s to its own protocol only',
    async (protocol, message) => {
      const seen = await upstream(sendJson(200, responses[protocol]))
      const ask = await start(one(seen.url, protocol))
      expect((await ask(...asking(protocol, {}, message))).status).toBe(200)
      expect(seen.calls[0]?.headers).toMatchObject(message)
      const other = protocol === 'messages' ? 'chat-completions' : 'messages'
      const foreign = await upstream(sendJson(200, responses[other]))
      const askOther = await start(one(foreign.url, other))
      expect((await askOther(...asking(protocol, {}, message))).status).toBe(200)
      for (const name of Object.keys(message))
        if (name !== 'anthropic-version') expect(foreign.calls[0]?.headers).not.toHaveProperty(name)
    },
  )

  test('an idempotency key means the same only in the requests of one client', async () => {
    const seen = await upstream(sendJson(200, responses.messages))
    const keys = ['alice', 'bob'].map(name => ({ name, key: `secret-of-${name}` }))
    const { auth: _, ...config } = one(seen.url, 'messages')
    const ask = await start({ ...config, keys })
    for (const key of ['alice', 'alice', 'bob'])
      await ask(
        ...asking(
          'messages',
          {},
          { authorization: `Bearer secret-of-${key}`, 'idempotency-key': 'once' },
        ),
      )
    const sent = seen.calls.map(({ headers }) => headers['idempotency-key'])
    expect(sent[0]).toBe(sent[1])
    expect(new Set([...sent, 'once']).size).toBe(3)
  })

  test('forwards trace headers to upstreams of any protocol', async () => {
    const seen = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(seen.url, 'messages'))
    const traced = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'a=1',
    }
    await ask(paths.responses, post(requests.responses, traced))
    expect(seen.calls[0]?.headers).toMatchObject(traced)
  })

  test('forwards configured headers both ways', async () => {
    const seen = await upstream(
      sendJson(200, responses.messages, { 'x-served-by': 'node-1', 'x-other': 'no' }),
    )
    const ask = await start(
      one(
        seen.url,
        'messages',
        {},
        {},
        { forwardHeaders: ['X-Team', 'x-vendor-*'], returnHeaders: ['x-served-by'] },
      ),
    )
    const response = await ask(
      paths.responses,
      post(requests.responses, { 'x-team': 'blue', 'x-vendor-mode': 'fast', 'x-unnamed': 'no' }),
    )
    expect(seen.calls[0]?.headers).toMatchObject({ 'x-team': 'blue', 'x-vendor-mode': 'fast' })
    expect(seen.calls[0]?.headers).not.toHaveProperty('x-unnamed')
    expect([response.headers.get('x-served-by'), response.headers.get('x-other')]).toEqual([
      'node-1',
      null,
    ])
  })

  test('forwards no credentials with a star', async () => {
    const seen = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(seen.url, 'messages', {}, {}, { forwardHeaders: ['*'] }))
    await ask(
      paths.messages,
      post(requests.messages, {
        authorization: 'Bearer planted',
        cookie: 'planted',
        'x-goog-api-key': 'planted',
        'x-odd': 'yes',
      }),
    )
    expect(JSON.stringify(seen.calls[0]?.headers)).not.toContain('planted')
    expect(seen.calls[0]?.headers).toMatchObject({ 'x-odd': 'yes', 'x-api-key': 'upstream-secret' })
  })

  test('returns rate limit headers and the request id of the upstream', async () => {
    const limits = {
      'anthropic-ratelimit-requests-remaining': '7',
      'x-ratelimit-limit-tokens': '100',
    }
    const { url } = await upstream(
      sendJson(200, responses.messages, {
        ...limits,
        'set-cookie': 'a=b',
        server: 'x',
        'request-id': 'req_theirs',
      }),
    )
    const ask = await start(one(url, 'messages'))
    const { headers } = await ask(paths.messages, post(requests.messages))
    for (const [name, value] of Object.entries(limits)) expect(headers.get(name)).toBe(value)
    expect(headers.get('request-id')).toBe(headers.get('x-request-id'))
    expect(headers.get('request-id')).toMatch(/^req_/)
    expect([headers.get('set-cookie'), headers.get('server')]).toEqual([null, null])
  })
})

test.each([
  'authorization',
  'X-Api-Key',
  'cookie',
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
])('refuses to forward %s', header => {
  const make = (more: object) => () =>
    createGateway(one('http://up.test', 'messages', {}, {}, more))
  expect(make({ forwardHeaders: [header] })).toThrow(ConfigError)
  expect(make({ returnHeaders: [header] })).toThrow(/channels\[0\]\.returnHeaders\[0\]/)
})

test.each([keptHeaders, forwardedHeaders])(
  'forwards a header named like a built-in property',
  passedOn => {
    const headers = JSON.parse('{"__proto__":"x"}') as Record<string, string>
    expect(Object.entries(passedOn(headers, ['*']))).toEqual([['__proto__', 'x']])
  },
)
