import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { parseConfig } from '../../src/gateway/options.ts'
import { hosts, hostsOf, paths, post, requests, responses, streams } from '../gateway/support.ts'
import { json, listening, server } from './support.ts'

const tokenOf = (nth: number) => `ya29.token-of-the-test-${nth}-${'x'.repeat(60)}`

beforeEach(() => {
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', undefined)
  vi.stubEnv('HOME', mkdtempSync(join(tmpdir(), 'wireglot-')))
  vi.stubEnv('METADATA_SERVER_DETECTION', 'assume-present')
  vi.stubEnv('GOOGLE_CLOUD_PROJECT', 'p')
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.doUnmock('google-auth-library')
})

/**
 * The metadata server of a machine in the cloud: every response is another token, which lives for
 * so many seconds.
 */
async function metadata(seconds = 3_600) {
  const found = { tokens: 0 }
  const { url } = await server(({ path }, response) => {
    const flavor = { 'metadata-flavor': 'Google' }
    if (!path.includes('/token'))
      return response.writeHead(path.endsWith('project-id') ? 200 : 404, flavor).end('p')
    found.tokens++
    return json(
      response,
      200,
      { access_token: tokenOf(found.tokens), expires_in: seconds, token_type: 'Bearer' },
      flavor,
    )
  })
  vi.stubEnv('GCE_METADATA_HOST', url.slice('http://'.length))
  return found
}

/** Vertex AI, which accepts the tokens with these numbers. */
const vertex = (...valid: number[]) =>
  server(({ path, headers }, response) => {
    const isValid = valid.some(nth => headers['authorization'] === `Bearer ${tokenOf(nth)}`)
    if (!isValid)
      json(response, 401, {
        error: {
          code: 401,
          message: `Invalid: ${headers['authorization']}`,
          status: 'UNAUTHENTICATED',
        },
      })
    else if (path.includes('streamRawPredict'))
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(streams.messages.join(''))
    else
      json(
        response,
        200,
        path.includes('anthropic') ? responses.messages : responses['generate-content'],
      )
  })

const place = '/v1/projects/p/locations/europe-west1'
const gemini = (url: string, google: object = {}): GatewayConfig => ({
  auth: 'none',
  channels: [
    {
      vendor: 'vertex',
      baseUrl: `${url}${place}/publishers/google`,
      protocols: ['generate-content'],
      auth: { google },
    },
  ],
  defaults: { retries: 0 },
})
const claude = (url: string): GatewayConfig => ({
  auth: 'none',
  channels: [
    {
      vendor: 'vertex',
      baseUrl: `${url}${place}/publishers/anthropic`,
      protocols: ['messages'],
      auth: { google: {} },
    },
  ],
  defaults: { retries: 0 },
})

const ask = post(requests['generate-content'])
const model = 'claude-sonnet-4-5@20250929'

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test('gets a token from the metadata server once for concurrent calls', async () => {
    const tokens = await metadata()
    const upstream = await vertex(1)
    const send = await start(gemini(upstream.url))
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async () => (await send(paths['generate-content'], ask)).status),
    )
    expect(statuses).toEqual(statuses.map(() => 200))
    expect(tokens.tokens).toBe(1)
    expect(upstream.calls[0]?.path).toBe(`${place}/publishers/google/models/m:generateContent`)
    expect(upstream.calls[0]?.headers).not.toHaveProperty('x-goog-api-key')
  })

  test('renews a token that Vertex refuses, and sends the call once more', async () => {
    const tokens = await metadata()
    const upstream = await vertex(2)
    const send = await start(gemini(upstream.url))
    expect((await send(paths['generate-content'], ask)).status).toBe(200)
    expect([tokens.tokens, upstream.calls.length]).toEqual([2, 2])
  })

  test('gives up after the second refusal, without a token in response or log', async () => {
    await metadata()
    const upstream = await vertex()
    const logged = listening()
    const send = await start(gemini(upstream.url), logged.hooks)
    const response = await send(paths['generate-content'], ask)
    const text = `${await response.text()}${logged.text()}`
    expect([response.status, upstream.calls.length]).toEqual([502, 2])
    expect(text).toContain('***')
    expect(text).not.toMatch(/token-of-the-test/)
  })

  test('renews a token before it expires', async () => {
    const tokens = await metadata(2)
    const upstream = await vertex(1, 2, 3)
    const send = await start(gemini(upstream.url))
    expect((await send(paths['generate-content'], ask)).status).toBe(200)
    await new Promise(resolve => setTimeout(resolve, 1_300))
    expect((await send(paths['generate-content'], ask)).status).toBe(200)
    expect(tokens.tokens).toBeGreaterThan(1)
    expect(upstream.calls.at(-1)?.headers['authorization']).not.toBe(`Bearer ${tokenOf(1)}`)
  })

  test('sends Claude to rawPredict and streamRawPredict, with its version in the body', async () => {
    await metadata()
    const upstream = await vertex(1)
    const send = await start(claude(upstream.url))
    const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'context-1m-2025-08-07' }
    const whole = await send(
      '/v1/messages?beta=true',
      post({ ...requests.messages, model }, headers),
    )
    expect(await whole.json()).toEqual(responses.messages)
    const streamed = await send(
      '/v1/messages',
      post({ ...requests.messages, model, stream: true }, headers),
    )
    expect(await streamed.text()).toBe(streams.messages.join(''))
    expect(upstream.calls.map(({ path }) => path)).toEqual([
      `${place}/publishers/anthropic/models/${model}:rawPredict`,
      `${place}/publishers/anthropic/models/${model}:streamRawPredict`,
    ])
    const { model: _model, ...others } = requests.messages
    expect(JSON.parse(upstream.calls[0]?.text ?? '')).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      ...others,
    })
    expect(JSON.parse(upstream.calls[1]?.text ?? '')).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      stream: true,
      ...others,
    })
    expect(upstream.calls[0]?.headers['anthropic-beta']).toBe('context-1m-2025-08-07')
    expect(upstream.calls[0]?.headers).not.toHaveProperty('anthropic-version')
  })

  test('counts the tokens of Claude by the model count-tokens', async () => {
    await metadata()
    const upstream = await server((_received, response) => json(response, 200, { input_tokens: 7 }))
    const send = await start(claude(upstream.url))
    const response = await send(
      '/v1/messages/count_tokens',
      post({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    )
    expect(await response.json()).toEqual({ input_tokens: 7 })
    expect(upstream.calls[0]?.path).toBe(
      `${place}/publishers/anthropic/models/count-tokens:rawPredict`,
    )
    expect(JSON.parse(upstream.calls[0]?.text ?? '')).toMatchObject({
      model,
      anthropic_version: 'vertex-2023-10-16',
    })
  })

  test('writes an error of Google as one of the messages protocol', async () => {
    await metadata()
    const body = [
      { error: { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED' } },
    ]
    const upstream = await server((_received, response) => json(response, 429, body))
    const send = await start(claude(upstream.url))
    const response = await send('/v1/messages', post({ ...requests.messages, model }))
    expect([response.status, await response.json()]).toMatchObject([
      429,
      { type: 'error', error: { type: 'rate_limit_error', message: 'Quota exceeded.' } },
    ])
  })

  test('responds with 503 when the token endpoint fails', async () => {
    const tokens = await server((_received, response) =>
      json(response, 400, { error: 'invalid_grant' }, { 'metadata-flavor': 'Google' }),
    )
    vi.stubEnv('GCE_METADATA_HOST', tokens.url.slice('http://'.length))
    const upstream = await vertex(1)
    const logged = listening()
    const send = await start(gemini(upstream.url), logged.hooks)
    const response = await send(paths['generate-content'], ask)
    expect(response.status).toBe(503)
    expect(await response.text()).toContain('no credentials for the channel vertex')
    expect(logged.text()).toContain('no access token of Google')
    expect(upstream.calls).toHaveLength(0)
  })
})

const [[, start]] = hosts as [(typeof hosts)[number]]

test('a key file that is broken is named without its key', async () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const secret = privateKey.split('\n')[3] ?? ''
  const file = join(mkdtempSync(join(tmpdir(), 'wireglot-')), 'key.json')
  writeFileSync(file, `{"type":"service_account","private_key":${JSON.stringify(privateKey)}`)
  const upstream = await vertex(1)
  const logged = listening()
  for (const google of [
    { keyFile: file },
    { credentials: `{"private_key":${JSON.stringify(privateKey)}` },
  ]) {
    const send = await start(gemini(upstream.url, google), logged.hooks)
    expect((await send(paths['generate-content'], ask)).status).toBe(503)
  }
  expect(logged.text()).toContain('is no JSON')
  expect(logged.text()).not.toContain(secret)
})

test('passes the key of a service account to the library, also for a renewal', async () => {
  // The library calls one fixed address for such keys, so it is replaced here.
  const made: object[] = []
  vi.doMock('google-auth-library', () => ({
    GoogleAuth: class {
      constructor(options: object) {
        made.push(options)
      }
      async getClient() {
        return {
          getAccessToken: async () => ({ token: tokenOf(made.length) }),
          credentials: { expiry_date: Date.now() + 3_600_000 },
        }
      }
    },
  }))
  const upstream = await vertex(2)
  const credentials = JSON.stringify({
    type: 'service_account',
    client_email: 'a@p.iam',
    private_key: 'key-of-the-test',
  })
  const send = await start(gemini(upstream.url, { credentials }))
  expect((await send(paths['generate-content'], ask)).status).toBe(200)
  const scopes = ['https://www.googleapis.com/auth/cloud-platform']
  expect(made).toEqual(
    [1, 2].map(() => ({ scopes, credentials: JSON.parse(credentials) as object })),
  )
})

test('a missing package is named, with the command that installs it', async () => {
  vi.doMock('google-auth-library', () => {
    throw new Error('Cannot find package')
  })
  const logged = listening()
  const send = await start(gemini('http://127.0.0.1:9'), logged.hooks)
  expect((await send(paths['generate-content'], ask)).status).toBe(503)
  expect(logged.text()).toContain('npm install google-auth-library')
})

test('a channel is complete with project and region, and has the host of its location', () => {
  const basesIn = (region: string) =>
    Object.values(
      parseConfig(
        { channels: [{ vendor: 'vertex', region, project: 'p', auth: { google: {} } }] },
        {},
      ).channels[0]?.endpoints ?? {},
    ).map(({ baseUrl }) => baseUrl)
  expect(basesIn('europe-west1')[0]).toBe(
    'https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1/publishers/google',
  )
  expect(basesIn('global')[1]).toBe(
    'https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/anthropic',
  )
  expect(basesIn('eu')[2]).toBe(
    'https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/endpoints/openapi',
  )
})

test('each model is sent with the protocol that serves it', async () => {
  await metadata()
  const urls: string[] = []
  const transport = {
    async send({ url }: { url: string }) {
      urls.push(url.replace(/^.*publishers\//, ''))
      async function* body() {
        yield JSON.stringify(
          url.includes('anthropic') ? responses.messages : responses['generate-content'],
        )
      }
      return { status: 200, headers: { 'content-type': 'application/json' }, body: body() }
    },
  }
  const send = await start(
    {
      auth: 'none',
      channels: [{ vendor: 'vertex', region: 'global', project: 'p', auth: { google: {} } }],
    },
    { transport },
  )
  for (const name of ['claude-opus-5', 'gemini-3-pro']) {
    expect(
      (await send('/v1/chat/completions', post({ ...requests['chat-completions'], model: name })))
        .status,
    ).toBe(200)
    expect((await send('/v1/messages', post({ ...requests.messages, model: name }))).status).toBe(
      200,
    )
  }
  const [claudes, geminis] = [
    'anthropic/models/claude-opus-5:rawPredict',
    'google/models/gemini-3-pro:generateContent',
  ]
  expect(urls).toEqual([claudes, claudes, geminis, geminis])
})
