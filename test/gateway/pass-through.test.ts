import type { IncomingMessage } from 'node:http'
import connect from 'connect'
import { describe, expect, test } from 'vitest'
import {
  ConfigError,
  createGateway,
  type GatewayConfig,
  type Hooks,
  type UsageRecord,
} from '../../src/gateway/gateway.ts'
import { hostsOf, listen, mounted, post, sendJson, sendStream, until, upstream } from './support.ts'

const embeddings = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }],
  model: 'up-e',
  usage: { prompt_tokens: 7, total_tokens: 7 },
}

const config = (url: string, more: Partial<GatewayConfig> = {}): GatewayConfig => ({
  auth: 'none',
  channels: [
    { name: 'plain', protocols: ['chat-completions'], baseUrl: 'http://127.0.0.1:1' },
    {
      name: 'up',
      protocols: ['chat-completions'],
      baseUrl: `${url}/v1`,
      apiKey: 'upstream-secret',
      passThrough: ['/v1/embeddings', '/v1/rerank', '/v1/images/*', '/v1/audio/*', '/v1/files/*'],
    },
  ],
  models: [
    { id: 'e', channels: [{ name: 'plain' }, { name: 'up', model: 'up-e' }] },
    { id: 'same', channels: [{ name: 'up' }] },
    { id: 'chat', channels: [{ name: 'plain' }] },
  ],
  defaults: { retries: 0 },
  ...more,
})

/** An upstream that keeps the bytes that it gets. */
async function bytesUpstream(respond: Parameters<typeof upstream>[0]) {
  const got: { request: IncomingMessage; bytes: Buffer }[] = []
  const url = await listen(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    got.push({ request, bytes: Buffer.concat(chunks) })
    await respond?.(response, {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      text: '',
      json: {},
    })
  })
  return { url, got }
}

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test('passes a JSON request with the model name replaced, and its response unchanged', async () => {
    const text = JSON.stringify(embeddings, null, 1)
    const seen = await upstream(
      sendJson(200, text, { 'x-ratelimit-remaining-requests': '9', 'set-cookie': 'a=b' }),
    )
    const records: UsageRecord[] = []
    const ask = await start(config(seen.url), { onUsage: record => void records.push(record) })
    const response = await ask(
      '/v1/embeddings?x=1&key=mine',
      post('{ "input": ["a", 1e400], "model":  "e" }', { 'openai-beta': 'b', cookie: 'c=d' }),
    )
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(text)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('9')
    expect(response.headers.get('set-cookie')).toBeNull()
    const [call] = seen.calls
    expect(call?.path).toBe('/v1/embeddings?x=1')
    expect(call?.text).toBe('{ "input": ["a", 1e400], "model":  "up-e" }')
    expect(call?.headers).toMatchObject({
      authorization: 'Bearer upstream-secret',
      'content-type': 'application/json',
      'openai-beta': 'b',
    })
    expect(call?.headers).not.toHaveProperty('cookie')
    await until(() => records.length > 0)
    expect(records).toMatchObject([
      {
        requestedModel: 'e',
        modelServed: 'up-e',
        channel: 'up',
        path: '/v1/embeddings',
        status: 200,
        attempts: 1,
        usage: { input: 7 },
        stream: false,
      },
    ])
  })

  test('records the token counts of image responses', async () => {
    const seen = await upstream(
      sendJson(200, {
        created: 1,
        data: [{ b64_json: 'x'.repeat(50_000) }],
        usage: { input_tokens: 5, output_tokens: 40, total_tokens: 45 },
      }),
    )
    const records: UsageRecord[] = []
    const ask = await start(config(seen.url), { onUsage: record => void records.push(record) })
    expect(
      (await ask('/v1/images/generations', post({ model: 'same', prompt: 'a cat' }))).status,
    ).toBe(200)
    await until(() => records.length > 0)
    expect(records[0]).toMatchObject({ path: '/v1/images/*', usage: { input: 5, output: 40 } })
  })

  test('passes a form byte for byte, and writes it anew when its model has another name', async () => {
    const { url, got } = await bytesUpstream(response =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end('Hello'),
    )
    const ask = await start(config(url))
    const file = Buffer.from([0, 255, 13, 10, 45, 45, 128, 10])
    const form = (model: string) =>
      Buffer.concat([
        Buffer.from(
          '--xyz\r\nContent-Disposition: form-data; name="file"; filename="model"\r\nContent-Type: audio/wav\r\n\r\n',
        ),
        file,
        Buffer.from(
          `\r\n--xyz\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--xyz--\r\n`,
        ),
      ])
    for (const [name, served] of [
      ['same', 'same'],
      ['e', 'up-e'],
    ] as const) {
      const response = await ask('/v1/audio/transcriptions', {
        method: 'POST',
        headers: { 'content-type': 'multipart/form-data; boundary=xyz' },
        body: form(name),
      })
      expect([
        response.status,
        await response.text(),
        response.headers.get('content-type'),
      ]).toEqual([200, 'Hello', 'text/plain'])
      const call = got.at(-1)
      const type = call?.request.headers['content-type'] ?? ''
      const fields = await new Response(new Uint8Array(call?.bytes ?? []), {
        headers: { 'content-type': type },
      }).formData()
      const sent = fields.get('file') as File
      expect([...fields.keys()]).toEqual(['file', 'model'])
      expect([sent.name, sent.type, fields.get('model')]).toEqual(['model', 'audio/wav', served])
      expect(Buffer.from(await sent.arrayBuffer()).equals(file)).toBe(true)
      if (name === served) {
        expect(call?.bytes.equals(form(name))).toBe(true)
        expect(type).toBe('multipart/form-data; boundary=xyz')
      }
    }
    const twice = Buffer.from(
      form('same')
        .toString('latin1')
        .replace(
          '--xyz--',
          '--xyz\r\ncontent-disposition: form-data; name="model"\r\n\r\ne\r\n--xyz--',
        ),
      'latin1',
    )
    const refused = await ask('/v1/audio/transcriptions', {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=xyz' },
      body: twice,
    })
    expect([refused.status, await refused.text()]).toMatchObject([
      400,
      expect.stringContaining('more than once'),
    ])
  })

  test('accepts a FormData body', async () => {
    const { url, got } = await bytesUpstream(sendJson(200, { text: 'Hi' }))
    const ask = await start(config(url))
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(5_000)]), 'a.mp3')
    form.set('model', 'e')
    form.set('language', 'en')
    expect((await ask('/v1/audio/transcriptions', { method: 'POST', body: form })).status).toBe(200)
    expect(got[0]?.bytes.toString('latin1')).toContain('name="model"\r\n\r\nup-e\r\n')
  })

  test('a binary response arrives byte for byte, and a stream as it comes', async () => {
    const audio = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256))
    let finish = () => {}
    const more = new Promise<void>(resolve => {
      finish = resolve
    })
    const seen = await upstream(
      response => response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(audio),
      sendStream([
        'data: {"type":"transcript.text.delta","delta":"a"}\n\n',
        () => more,
        'data: {"type":"transcript.text.done"}\n\n',
      ]),
    )
    const records: UsageRecord[] = []
    const ask = await start(config(seen.url), { onUsage: record => void records.push(record) })
    const spoken = await ask('/v1/audio/speech', post({ model: 'same', input: 'a' }))
    expect(spoken.headers.get('content-type')).toBe('audio/mpeg')
    expect(Buffer.from(await spoken.arrayBuffer()).equals(audio)).toBe(true)
    const response = await ask('/v1/audio/transcriptions', post({ model: 'same', stream: true }))
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const reader = response.body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('"delta":"a"')
    finish()
    let rest = ''
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read())
      rest += new TextDecoder().decode(next.value)
    expect(rest).toContain('transcript.text.done')
    await until(() => records.length === 2)
    expect(records).toMatchObject([{ status: 200 }, { status: 200, stream: true }])
  })

  test('cancels the call when the client disconnects', async () => {
    const seen = await upstream(sendStream(['data: {}\n\n', 60_000]))
    const records: UsageRecord[] = []
    const ask = await start(config(seen.url), {
      logger: false,
      onUsage: record => void records.push(record),
    })
    const leaving = new AbortController()
    const response = await ask('/v1/audio/speech', {
      ...post({ model: 'same' }),
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    leaving.abort()
    await until(() => seen.aborted === 1 && records.length === 1)
    expect(records).toMatchObject([{ status: 499 }])
  })

  test('passes requests without a model and other methods', async () => {
    const seen = await upstream(sendJson(200, { id: 'f1' }))
    const ask = await start(config(seen.url))
    expect(await (await ask('/v1/files/f1')).json()).toEqual({ id: 'f1' })
    expect((await ask('/v1/files/f1', { method: 'DELETE' })).status).toBe(200)
    expect((await ask('/v1/rerank', post({ query: 'a', documents: [] }))).status).toBe(200)
    expect(seen.calls.map(({ method, path }) => [method, path])).toEqual([
      ['GET', '/v1/files/f1'],
      ['DELETE', '/v1/files/f1'],
      ['POST', '/v1/rerank'],
    ])
    expect((await ask('/v1/rerank', { method: 'PUT', body: '{}' })).status).toBe(405)
  })

  test('failures are retried, and lead to the next channel that lists the path', async () => {
    const [first, second] = [
      await upstream(sendJson(503, { error: { message: 'down' } })),
      await upstream(sendJson(200, embeddings)),
    ]
    const listing = { protocols: ['chat-completions' as const], passThrough: ['/v1/embeddings'] }
    const ask = await start(
      {
        auth: 'none',
        channels: [
          { name: 'a', baseUrl: first.url, ...listing },
          { name: 'b', baseUrl: second.url, ...listing },
        ],
        models: [
          {
            id: 'e',
            channels: [
              { name: 'a', priority: 0 },
              { name: 'b', priority: 1 },
            ],
          },
        ],
        defaults: { retries: 1, retryWaitMs: 1 },
      },
      { logger: false },
    )
    expect((await ask('/v1/embeddings', post({ model: 'e', input: 'a' }))).status).toBe(200)
    expect([first.calls.length, second.calls.length]).toEqual([2, 1])
  })

  test('an error of the upstream comes with its status and body', async () => {
    const error = {
      error: { message: 'too long', type: 'invalid_request_error', param: 'input', code: null },
    }
    const seen = await upstream(sendJson(400, error))
    const ask = await start(config(seen.url))
    const response = await ask('/v1/embeddings', post({ model: 'e', input: 'a' }))
    expect([response.status, await response.json()]).toEqual([400, error])
  })

  test.each([
    ['a path that no channel lists', '/v1/moderations', { model: 'same' }, 404, 'No such path'],
    [
      'a model whose channels do not list it',
      '/v1/embeddings',
      { model: 'chat' },
      404,
      "no channel of the model 'chat' serves /v1/embeddings",
    ],
    ['an unknown model', '/v1/embeddings', { model: 'x' }, 404, "there is no model 'x'"],
    ['a model that is no string', '/v1/embeddings', { model: 5 }, 400, 'model'],
    ...[
      '/v1/images/..%2ffiles',
      '/v1/images/..%5cfiles',
      '/v1/images/%2e%2e%2ffiles',
      '/v1/images/%252e%252e%252ffiles',
      '/v1/images/..;/files',
      '/v1/images/a;b',
      '/v1/images/%00',
    ].map((path): [string, string, object, number, string] => [
      `the path ${path}`,
      path,
      { model: 'same' },
      404,
      'No such path',
    ]),
  ])('%s is refused in the dialect', async (_what, path, body, status, words) => {
    const seen = await upstream(sendJson(200, {}))
    const ask = await start(config(seen.url))
    const response = await ask(path, post(body))
    expect([response.status, await response.json()]).toMatchObject([
      status,
      { error: { message: expect.stringContaining(words) } },
    ])
    expect(seen.calls.length).toBe(0)
  })

  test('keys, their groups and their limits apply', async () => {
    const seen = await upstream(sendJson(200, embeddings))
    const { auth: _auth, ...keyed } = config(seen.url)
    const ask = await start({
      ...keyed,
      keys: [
        { name: 'a', key: 'client-secret', group: 'team', requestsPerMinute: 1 },
        { name: 'b', key: 'other-secret', group: 'none' },
      ],
      groups: { team: { models: ['e'] }, none: { models: ['chat'] } },
    })
    const status = async (key: string, model?: string) =>
      (
        await ask(
          '/v1/embeddings',
          post(
            { input: 'a', ...(model && { model }) },
            key ? { authorization: `Bearer ${key}` } : {},
          ),
        )
      ).status
    expect(await status('', 'e')).toBe(401)
    expect(await status('client-secret', 'same')).toBe(404)
    expect(await status('client-secret', 'e')).toBe(200)
    expect(await status('client-secret', 'e')).toBe(429)
    expect(await status('other-secret', 'e'), 'a model of another group').toBe(404)
    expect(await status('other-secret'), 'no model').toBe(403)
  })

  test('refuses a web form without a key', async () => {
    const { url } = await bytesUpstream(sendJson(200, {}))
    const ask = await start(config(url))
    const form = new FormData()
    form.set('model', 'same')
    expect(
      (
        await ask('/v1/images/edits', {
          method: 'POST',
          body: form,
          headers: { origin: 'https://elsewhere.test' },
        })
      ).status,
    ).toBe(403)
    const keyed = { origin: 'https://elsewhere.test', authorization: 'Bearer x' }
    expect(
      (await ask('/v1/images/edits', { method: 'POST', body: form, headers: keyed })).status,
    ).toBe(200)
  })

  test('refuses web pages of other sites that send no key, whatever their method', async () => {
    const seen = await upstream(sendJson(200, { id: 'f1' }))
    const ask = await start(config(seen.url))
    const status = async (headers: Record<string, string>) =>
      (await ask('/v1/files/f1', { headers })).status
    expect(await status({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await status({ 'sec-fetch-site': 'same-site' })).toBe(403)
    expect(await status({ origin: 'https://elsewhere.test' })).toBe(403)
    expect(seen.calls.length).toBe(0)
    expect(await status({ 'sec-fetch-site': 'same-origin' })).toBe(200)
    expect(await status({ 'sec-fetch-site': 'cross-site', authorization: 'Bearer x' })).toBe(200)
    const listed = await start(config(seen.url, { cors: { origins: ['https://app.test'] } }))
    const page = { origin: 'https://app.test', 'sec-fetch-site': 'cross-site' }
    expect((await listed('/v1/files/f1', { headers: page })).status).toBe(200)
  })

  test('never returns a content type that a browser renders', async () => {
    const seen = await upstream(
      response => response.writeHead(200, { 'content-type': 'text/html' }).end('<script>'),
      response =>
        response.writeHead(200, { 'content-type': 'image/svg+xml' }).end('<svg onload="x">'),
    )
    const ask = await start(config(seen.url), { logger: false })
    expect((await ask('/v1/images/generations', post({ model: 'same' }))).status).toBe(502)
    const image = await ask('/v1/images/generations', post({ model: 'same' }))
    expect([
      image.headers.get('content-type'),
      image.headers.get('x-content-type-options'),
    ]).toEqual(['application/octet-stream', 'nosniff'])
  })

  test('reports an upstream that breaks off', async () => {
    const seen = await upstream(sendStream(['data: {}\n\n'], { cut: true }))
    const records: UsageRecord[] = []
    const ask = await start(config(seen.url), {
      logger: false,
      onUsage: record => void records.push(record),
    } satisfies Hooks)
    const response = await ask('/v1/audio/speech', post({ model: 'same' }))
    await response.text()
    await until(() => records.length > 0)
    expect(records).toMatchObject([{ failure: 'upstream_network' }])
  })
})

test('in an application, only listed paths are claimed', async () => {
  const seen = await upstream(sendJson(200, embeddings))
  const app = connect()
  app.use('/ai', mounted(config(seen.url)))
  app.use((_request: unknown, response: { end(text: string): void }) =>
    response.end('the application'),
  )
  const url = await listen(app)
  expect(
    await (await fetch(`${url}/ai/v1/embeddings`, post({ model: 'e', input: 'a' }))).json(),
  ).toEqual(embeddings)
  for (const path of ['/ai/v1/moderations', '/ai/v1/images', '/ai/v1/embeddings/x'])
    expect(await (await fetch(url + path, post({ model: 'e' }))).text()).toBe('the application')
})

test.each([
  'embeddings',
  '/embeddings',
  '/v1/chat/completions',
  '/v1/models/x',
  '/v1/*x',
  '/v1/../x',
])('refuses to pass %s', path => {
  const { channels, ...rest } = config('http://127.0.0.1:1')
  expect(() =>
    createGateway({
      ...rest,
      channels: channels.map(channel => ({ ...channel, passThrough: [path] })),
    }),
  ).toThrow(ConfigError)
})
