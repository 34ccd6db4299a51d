import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import {
  asking,
  hosts,
  hostsOf,
  listen,
  mounted,
  type Protocol,
  paths,
  post,
  requests,
} from './support.ts'

const config: GatewayConfig = {
  keys: [
    { name: 'alice', key: 'key-of-alice', group: 'few' },
    { name: 'bob', key: 'key-of-bob' },
    { name: 'carol', key: 'key-of-carol', disabled: true },
  ],
  groups: { few: { models: ['demo', 'open-*'] } },
  channels: [{ name: 'demo', embedded: 'demo' }],
  models: ['demo', 'secret', 'open-1'].map(id => ({ id, channels: [{ name: 'demo' }] })),
}

const chat = (model: string, headers: Record<string, string>) =>
  post({ ...requests['chat-completions'], model }, headers)

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each<[string, Record<string, string>]>([
    ['bearer', { authorization: 'Bearer key-of-bob' }],
    ['bearer in lower case', { authorization: 'bearer key-of-bob' }],
    ['x-api-key', { 'x-api-key': 'key-of-bob' }],
    ['x-goog-api-key', { 'x-goog-api-key': 'key-of-bob' }],
    [
      'bearer, beside a key of somebody else where keys of the protocol stand',
      { authorization: 'Bearer key-of-bob', 'x-api-key': 'sk-of-another-service' },
    ],
  ])('a key is taken as %s on every path', async (_, headers) => {
    const ask = await start(config)
    for (const protocol of Object.keys(paths) as Protocol[])
      expect((await ask(...asking(protocol, { model: 'demo' }, headers))).status).toBe(200)
    expect((await ask('/v1/models', { headers })).status).toBe(200)
  })

  test.each<[string, Record<string, string>]>([
    ['no key', {}],
    ['a wrong key', { authorization: 'Bearer key-of-mallory' }],
    ['the beginning of a key', { authorization: 'Bearer key-of-bo' }],
    ['a disabled key', { authorization: 'Bearer key-of-carol' }],
    ['a header that is no key', { authorization: 'Basic a2V5' }],
    ['an empty key', { authorization: 'Bearer ' }],
  ])('returns 401 for %s in the dialect of the path', async (_, headers) => {
    const ask = await start(config)
    const messages = await ask(
      '/v1/messages',
      post({ ...requests.messages, model: 'demo' }, headers),
    )
    expect(messages.status).toBe(401)
    expect(await messages.json()).toMatchObject({
      type: 'error',
      error: { type: 'authentication_error' },
    })
    const listing = await ask('/v1/models', { headers })
    expect(listing.status).toBe(401)
    expect(JSON.stringify(await listing.json())).not.toContain('mallory')
  })

  test('checks the key before the body', async () => {
    const ask = await start(config)
    expect((await ask('/v1/messages', post('{ not json'))).status).toBe(401)
  })

  test('checks the path before the key', async () => {
    const ask = await start(config)
    expect((await ask('/v1/v1/messages', post({}))).status).toBe(404)
    expect((await ask('/v1/messages')).status).toBe(405)
  })

  test('shows a group only its own models', async () => {
    const ask = await start(config)
    const headers = { authorization: 'Bearer key-of-alice' }
    const { data } = (await (await ask('/v1/models', { headers })).json()) as {
      data: { id: string }[]
    }
    expect(data.map(({ id }) => id)).toEqual(['demo', 'open-1'])
    expect((await ask('/v1/chat/completions', chat('open-1', headers))).status).toBe(200)
    expect((await ask('/v1/chat/completions', chat('secret', headers))).status).toBe(404)
    expect((await ask('/v1/models/secret', { headers })).status).toBe(404)
    expect(
      (await ask('/v1/chat/completions', chat('secret', { authorization: 'Bearer key-of-bob' })))
        .status,
    ).toBe(200)
  })

  test('accepts aliases of a permitted model, and no other models through a wildcard alias', async () => {
    const [demo, secret, open] = config.models ?? []
    const models = [
      { ...demo, aliases: ['also-demo', 'de*'] },
      { ...secret, aliases: ['also-secret'] },
      open,
    ] as NonNullable<typeof config.models>
    const ask = await start({ ...config, models })
    const statusOf = async (model: string) =>
      (await ask('/v1/chat/completions', chat(model, { authorization: 'Bearer key-of-alice' })))
        .status
    expect(await statusOf('also-demo')).toBe(200)
    expect(await statusOf('demolition')).toBe(404)
    expect(await statusOf('also-secret')).toBe(404)
  })

  test('returns the retry time to a group above its rate limit', async () => {
    const ask = await start({ ...config, groups: { few: { requestsPerMinute: 2 } } })
    const headers = { authorization: 'Bearer key-of-alice' }
    const responses = []
    for (let i = 0; i < 5; i++)
      responses.push(await ask('/v1/chat/completions', chat('demo', headers)))
    const last = responses.at(-1)
    expect(last?.status).toBe(429)
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(
      (await ask('/v1/chat/completions', chat('demo', { authorization: 'Bearer key-of-bob' })))
        .status,
    ).toBe(200)
  })

  test('authenticates through a hook', async () => {
    const ask = await start(
      { ...config, keys: [] },
      {
        authenticate(credential) {
          if (credential === 'boom') throw new Error('the directory is down')
          return credential === 'token' ? { name: 'dave', group: 'few' } : null
        },
      },
    )
    expect(
      (await ask('/v1/chat/completions', chat('demo', { authorization: 'Bearer token' }))).status,
    ).toBe(200)
    expect(
      (await ask('/v1/chat/completions', chat('secret', { authorization: 'Bearer token' }))).status,
    ).toBe(404)
    expect(
      (await ask('/v1/chat/completions', chat('demo', { authorization: 'Bearer other' }))).status,
    ).toBe(401)
    const failed = await ask('/v1/chat/completions', chat('demo', { authorization: 'Bearer boom' }))
    expect(failed.status).toBe(500)
    expect(await failed.text()).not.toContain('directory')
  })
})

const [[, connect]] = hosts as [(typeof hosts)[number]]

test('serves only local clients without keys', async () => {
  const { keys: _, ...open } = config
  const ask = await connect(open)
  expect((await ask('/v1/chat/completions', chat('demo', {}))).status).toBe(200)
  for (const sign of [
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'forwarded',
    'x-real-ip',
    'via',
  ]) {
    const forwarded = await ask('/v1/chat/completions', chat('demo', { [sign]: '203.0.113.9' }))
    expect([sign, forwarded.status]).toEqual([sign, 401])
    expect(await forwarded.text()).toContain('keys')
  }
})

test.each([
  ['127.0.0.1:4000', 200],
  ['localhost', 200],
  ['app.localhost:80', 200],
  ['[::1]:4000', 200],
  ['rebound.example', 401],
  ['127.0.0.1.example', 401],
])('a gateway without keys returns %i when called by the name %s', async (host, status) => {
  const { keys: _, ...open } = config
  const handler = mounted(open)
  const { port } = new URL(await listen(handler))
  const result = await new Promise<number | undefined>((resolve, reject) => {
    request({ port, host: '127.0.0.1', path: '/v1/models', headers: { host } }, response =>
      resolve(response.resume().statusCode),
    )
      .on('error', reject)
      .end()
  })
  expect(result).toBe(status)
})

test('serves every client with `auth: none`', async () => {
  const { keys: _, ...open } = config
  const ask = await connect({ ...open, auth: 'none' })
  expect(
    (await ask('/v1/chat/completions', chat('demo', { 'x-forwarded-for': '203.0.113.9' }))).status,
  ).toBe(200)
})

test('refuses to start without keys where clients cannot be identified', async () => {
  const [, [, start]] = hosts as [(typeof hosts)[number], (typeof hosts)[number]]
  const { keys: _, ...open } = config
  await expect(start(open)).rejects.toThrow('"auth": "none"')
})
