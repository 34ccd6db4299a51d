import { createConnection } from 'node:net'
import connect from 'connect'
import express5 from 'express'
// @ts-expect-error the older release comes without types; it is used as the newer one is
import express4 from 'express4'
import { describe, expect, test } from 'vitest'
import { listenedFetchGateway, listenedGateway } from './listening.ts'
import {
  after,
  listen,
  mounted,
  one,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sent,
  until,
  upstream,
} from './support.ts'

const body = { ...requests.messages, model: 'demo' }
const frameworks = [
  ['express 5', express5],
  ['express 4', express4 as unknown as typeof express5],
] as const

function demo() {
  const handler = mounted()
  return handler
}

describe.each(frameworks)('in %s', (_, express) => {
  test.each(['', '/ai'])(
    'mounted at "%s", our paths are served and others continue',
    async mount => {
      const app = express()
      app.use(mount || '/', demo())
      app.use((_request, response) => {
        response.status(418).send('the application')
      })
      const url = await listen(app)
      expect((await fetch(`${url}${mount}/v1/messages`, post(body))).status).toBe(200)
      expect((await fetch(`${url}${mount}/v1/models`)).status).toBe(200)
      expect((await fetch(`${url}/page`)).status).toBe(418)
      expect((await fetch(`${url}/models`)).status).toBe(418)
      expect((await fetch(`${url}${mount}/v1/v1/messages`, post(body))).status).toBe(418)
    },
  )

  test.each([
    ['GET', '/'],
    ['GET', '/client-config'],
    ['GET', '/messages'],
    ['POST', '/messages'],
    ['GET', '/responses'],
    ['POST', '/responses'],
    ['POST', '/chat/completions'],
    ['GET', '/v1/models/extra/thing'],
    ['GET', '/v2/models'],
    ['POST', '/v2/messages'],
    ['POST', '/v3/responses'],
    ['POST', '/v1beta/models/m:embedContent'],
  ])('%s %s stays with the application when mounted at the root', async (method, path) => {
    const app = express()
    app.use(demo())
    app.use((_request, response) => {
      response.status(200).send('the application')
    })
    expect(await (await fetch((await listen(app)) + path, { method })).text()).toBe(
      'the application',
    )
  })

  test('with `hints`, paths that are nearly right get the right URL, and all others continue', async () => {
    const app = express()
    app.use(
      '/ai',
      mounted({ auth: 'none', hints: true, channels: [{ name: 'demo', embedded: 'demo' }] }),
    )
    app.use((_request, response) => {
      response.status(418).send('the application')
    })
    const url = `${await listen(app)}/ai`
    const hint = async (method: string, path: string) => {
      const response = await fetch(url + path, method === 'POST' ? post(body) : { method })
      return [response.status, (await response.text()).match(/The right URL is [^\s"]*/)?.[0]]
    }
    for (const path of ['/v1/v1/messages', '/messages', '/v1/messages/v1/messages'])
      expect(await hint('POST', path)).toEqual([404, `The right URL is ${url}/v1/messages`])
    expect(await hint('GET', '/models')).toEqual([404, `The right URL is ${url}/v1/models`])
    for (const [method, path] of [
      ['GET', '/messages'],
      ['POST', '/models'],
      ['GET', '/'],
      ['GET', '/page'],
      ['POST', '/v2/messages'],
    ] as const)
      expect([path, await hint(method, path)]).toEqual([path, [418, undefined]])
  })

  test.each([
    ['json', express.json()],
    ['raw', express.raw({ type: '*/*' })],
    ['text', express.text({ type: '*/*' })],
  ])('a body that express.%s has read is used', async (_, parser) => {
    const app = express()
    app.use(parser)
    app.use(demo())
    const url = await listen(app)
    const response = await fetch(`${url}/v1/messages`, post({ ...body, stream: true }))
    expect(response.status).toBe(200)
    expect(await sent(await response.text(), 'messages')).toContain('Hi')
    const broken = await fetch(`${url}/v1/messages`, post('{"model"'))
    expect(broken.status).toBe(400)
  })

  test.each([
    [
      'a form',
      express.urlencoded({ extended: true }),
      'application/x-www-form-urlencoded',
      'model=demo&max_tokens=9&messages[0][role]=user&messages[0][content]=Hi',
    ],
    ['plain text', express.json({ type: '*/*' }), 'text/plain', JSON.stringify(body)],
  ])(
    '%s is refused though a parser has read it: any web page may send one',
    async (_, parser, type, sent) => {
      const app = express()
      app.use(parser)
      app.use(demo())
      const url = await listen(app)
      const response = await fetch(`${url}/v1/messages`, post(sent, { 'content-type': type }))
      expect(response.status).toBe(415)
      expect(await response.json()).toMatchObject({
        type: 'error',
        error: { message: expect.stringContaining('application/json') },
      })
    },
  )

  test('a body of a web page that says nothing of its type is refused: browsers send it without asking', async () => {
    const app = express()
    app.use(demo())
    const url = await listen(app)
    const untyped = (headers: Record<string, string>) =>
      fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers,
        body: new TextEncoder().encode(JSON.stringify(body)),
      })
    expect((await untyped({ origin: 'https://elsewhere.test' })).status).toBe(415)
    expect((await untyped({})).status).toBe(200)
  })

  test('accepts a body that a parser for other types did not read', async () => {
    const app = express()
    app.use(express.urlencoded({ extended: false }))
    app.use(demo())
    const url = await listen(app)
    expect((await fetch(`${url}/v1/messages`, post(body))).status).toBe(200)
  })

  test('reads a body that an earlier handler delayed', async () => {
    const app = express()
    app.use((request, _response, next) => {
      request.pause()
      setTimeout(next, 5)
    })
    app.use(demo())
    const url = await listen(app)
    expect((await fetch(`${url}/v1/messages`, post(body))).status).toBe(200)
  })

  test('refuses a body that was read and discarded', async () => {
    const app = express()
    app.use((request, _response, next) => {
      request.resume()
      request.on('end', () => next())
    })
    app.use(demo())
    const url = await listen(app)
    const response = await fetch(`${url}/v1/messages`, post(body))
    expect(response.status).toBe(400)
  })
})

test('serves requests in Connect', async () => {
  const app = connect()
  app.use('/ai', demo())
  app.use((_request: unknown, response: { end(text: string): void }) =>
    response.end('the application'),
  )
  const url = await listen(app)
  expect((await fetch(`${url}/ai/v1/messages`, post(body))).status).toBe(200)
  expect(await (await fetch(`${url}/page`)).text()).toBe('the application')
})

test('in node:http alone, other paths are 404', async () => {
  const url = await listen(demo())
  expect((await fetch(`${url}/v1/messages`, post(body))).status).toBe(200)
  const response = await fetch(`${url}/page`)
  expect(response.status).toBe(404)
  expect(await response.json()).toHaveProperty('error')
})

test('a fetch gateway accepts the arguments of `fetch`', async () => {
  const handler = listenedFetchGateway()
  const url = 'http://x.test/v1/messages'
  for (const input of [url, new URL(url), new Request(url)]) {
    const response = await handler(input, post(body))
    expect([response.status, await response.json()]).toMatchObject([200, { type: 'message' }])
  }
  expect((await handler('http://x.test/v1/models')).status).toBe(200)
})

test('a fetch gateway ignores further arguments next to the Request', async () => {
  const handler = listenedFetchGateway() as (
    request: Request,
    ...more: unknown[]
  ) => Promise<Response>
  for (const second of [{ params: {} }, { API_KEY: 'x' }, null])
    expect(
      (await handler(new Request('http://x.test/v1/messages', post(body)), second, {})).status,
    ).toBe(200)
})

test('a fetch host can be mounted at a path', async () => {
  const handler = listenedFetchGateway(undefined, {}, { basePath: '/api/ai' })
  expect((await handler(new Request('http://x.test/api/ai/v1/messages', post(body)))).status).toBe(
    200,
  )
  expect(
    await (await handler(new Request('http://x.test/api/ai/v1/v1/messages', post(body)))).text(),
  ).toContain('http://x.test/api/ai/v1/messages')
})

test.each([
  ['has read', (request: Request) => request.text()],
  ['is reading', (request: Request) => request.body?.getReader().read()],
])(
  'a fetch host returns an explicit error when the application %s the body before',
  async (_, read) => {
    const handler = listenedFetchGateway()
    const request = new Request('http://x.test/v1/messages', post(body))
    await read(request)
    const response = await handler(request)
    expect([response.status, await response.json()]).toMatchObject([
      500,
      { error: { message: expect.stringContaining('`request.clone()`') } },
    ])
  },
)

test.each(['/v1/responses', '/v1/chat/completions'])(
  'a WebSocket on %s is refused with 426, which makes clients continue with POST',
  async path => {
    const url = new URL(await listen(demo()))
    const socket = createConnection(Number(url.port), url.hostname)
    after(() => socket.destroy())
    socket.write(
      `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    )
    const response = await new Promise<string>(resolve =>
      socket.once('data', data => resolve(String(data))),
    )
    expect(response).toMatch(/^HTTP\/1.1 426 /)
  },
)

test.each(['', '/ai'])(
  'mounted at "%s", a request that names the whole address, as clients send it through a proxy, is for its path',
  async mount => {
    const app = connect()
    app.use(mount || '/', demo())
    const url = new URL(await listen(app))
    const socket = createConnection(Number(url.port), url.hostname)
    after(() => socket.destroy())
    socket.write(
      `GET http://gateway.test${mount}/v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
    )
    let response = ''
    for await (const data of socket) response += String(data)
    expect(response).toContain('"object":"list"')
  },
)

test('a mounted gateway returns the settings to a request without a host', async () => {
  const app = connect()
  app.use('/ai', demo())
  const url = new URL(await listen(app))
  const socket = createConnection(Number(url.port), url.hostname)
  after(() => socket.destroy())
  socket.write('GET /ai/client-config?client=curl HTTP/1.0\r\n\r\n')
  let response = ''
  for await (const data of socket) response += String(data)
  expect(response).toMatch(/^HTTP\/1.1 200 /)
  expect(response).toContain('http://localhost/ai/v1')
})

test('close waits for requests in progress and accepts no new ones', async () => {
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const seen = await upstream(async response => {
    await released
    sendJson(200, responses.messages)(response)
  })
  const handler = listenedGateway(one(seen.url, 'messages'))
  const base = await listen(handler)
  const running = fetch(base + paths.messages, post(requests.messages))
  await until(() => seen.calls.length === 1)
  const closed = handler.close(20_000)
  expect((await fetch(base + paths.messages, post(requests.messages))).status).toBe(503)
  release()
  expect((await running).status).toBe(200)
  await closed
})
