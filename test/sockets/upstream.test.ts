import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import {
  ConfigError,
  type GatewayConfig,
  type Hooks,
  type UsageRecord,
} from '../../src/gateway/gateway.ts'
import { gateway } from '../../src/hosts/connect.ts'
import { fetchGateway } from '../../src/hosts/fetch.ts'
import {
  after,
  asking,
  dataOf,
  failureIn,
  listen,
  mounted,
  one,
  type Protocol,
  paths,
  post,
  sendStream,
  sent,
  streams,
  textBeforeBreak,
  until,
  upstream,
  wait,
} from '../gateway/support.ts'

/** Channels that send responses requests over WebSocket. */

type Script = (socket: WebSocket, message: Record<string, unknown>) => unknown

/**
 * A provider on WebSocket: a script for each message, the last one for the rest. `http`: the
 * response to requests without an upgrade.
 */
async function provider(
  scripts: Script[],
  {
    handshake,
    http,
  }: {
    handshake?: (request: IncomingMessage) => number
    http?: (response: ServerResponse) => unknown
  } = {},
) {
  const server = createServer((_, response) =>
    http ? http(response) : response.writeHead(500).end(),
  )
  const wss = new WebSocketServer({
    server,
    verifyClient: ({ req }, done) => {
      const status = handshake?.(req) ?? 101
      done(
        status === 101,
        status,
        JSON.stringify({ error: { message: 'No entry', type: 'x', code: null, param: null } }),
        {
          'content-type': 'application/json',
          'retry-after': '7',
        },
      )
    },
  })
  const seen = {
    url: '',
    messages: [] as Record<string, unknown>[],
    texts: [] as string[],
    handshakes: [] as IncomingMessage[],
    closed: 0,
    sockets: [] as WebSocket[],
  }
  wss.on('connection', (socket, request) => {
    seen.handshakes.push(request)
    seen.sockets.push(socket)
    socket.on('close', () => seen.closed++)
    socket.on('message', data => {
      const message = JSON.parse(String(data)) as Record<string, unknown>
      seen.messages.push(message)
      seen.texts.push(String(data))
      scripts[Math.min(seen.messages.length, scripts.length) - 1]?.(socket, message)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    for (const socket of wss.clients) socket.terminate()
    server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  })
  seen.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return seen
}

const events = dataOf(streams.responses.join('')).map(event => JSON.stringify(event))
const isHel = (event: string) => event.includes('"Hel"')
const begun = events.slice(0, events.findIndex(isHel) + 1)
const sendAll =
  (list: readonly string[] = events): Script =>
  socket => {
    for (const event of list) socket.send(event)
  }
const over = { transport: 'websocket' } as const
const behind = (url: string, more: Partial<GatewayConfig> = {}, channel: object = {}) =>
  one(url, 'responses', more, {}, { ...over, ...channel })
const clients = Object.keys(paths) as Protocol[]

async function start(config: GatewayConfig, hooks?: Hooks) {
  const url = await listen(mounted(config, hooks))
  return (...[path, init]: ReturnType<typeof asking>) => fetch(url + path, init)
}

afterEach(() => {
  vi.doUnmock('ws')
})

/** Ids and times are new in each response. */
const lasting = (text: string) =>
  text
    .replaceAll(/"(id|item_id|responseId)":"[^"]*"|"(created|created_at|completed_at)":\d+/g, '')
    .replaceAll(/(chatcmpl-|msg_|resp_)\w+/g, '')

describe.each(clients)('a client of %s', client => {
  test.each([true, false])('gets the same response as over HTTP (stream: %s)', async stream => {
    const onSocket = await provider([sendAll()])
    const onHttp = await upstream(sendStream(streams.responses))
    const texts: string[] = []
    for (const [url, channel] of [
      [onSocket.url, over],
      [onHttp.url, {}],
    ] as const) {
      const ask = await start(one(url, 'responses', {}, { streaming: 'only' }, channel))
      const response = await ask(...asking(client, { stream }))
      expect(response.status).toBe(200)
      texts.push(await response.text())
    }
    expect(texts[0]).toContain('Hel')
    expect(lasting(texts[0] ?? '')).toBe(lasting(texts[1] ?? ''))
    const { type, ...message } = onSocket.messages[0] ?? {}
    expect([type, message]).toEqual(['response.create', onHttp.calls[0]?.json])
    expect(onSocket.handshakes[0]?.headers).toMatchObject({
      authorization: 'Bearer upstream-secret',
      'user-agent': 'wireglot',
    })
    expect(onSocket.handshakes[0]?.url).toBe('/v1/responses')
  })

  test('gets no complete response when the connection closes in mid-stream', async () => {
    const records: UsageRecord[] = []
    const up = await provider([
      socket => {
        for (const event of begun) socket.send(event)
        socket.close()
      },
    ])
    const ask = await start(behind(up.url), { onUsage: record => void records.push(record) })
    const text = await textBeforeBreak(await ask(...asking(client, { stream: true })))
    await until(() => records.length === 1)
    expect(records[0]).toMatchObject({ channel: 'up', failure: 'upstream_network' })
    expect(failureIn(text, client)).toMatchObject({
      kind: 'internal',
      message: 'the upstream broke the connection',
    })
    const whole = await ask(...asking(client, { stream: false }))
    expect(whole.status).toBe(502)
  })
})

test('sends further requests over the same connection, and the original bytes of the body', async () => {
  const up = await provider([sendAll()])
  const ask = await start(behind(up.url))
  const body = '{ "model": "m", "stream": true, "input": "Hi", "unknown": 1.0 }'
  for (let count = 0; count < 20; count++) {
    const response = await ask('/v1/responses', post(body))
    expect(await sent(await response.text(), 'responses')).toBe('Hello')
  }
  expect(up.handshakes).toHaveLength(1)
  expect(up.messages).toHaveLength(20)
  expect(new Set(up.texts)).toEqual(new Set([`{"type":"response.create",${body.slice(1)}`]))
})

test('opens a connection for each of several requests at a time', async () => {
  const waiting: (() => void)[] = []
  const up = await provider([socket => void waiting.push(() => sendAll()(socket, {}))])
  const ask = await start(behind(up.url))
  const all = [1, 2, 3].map(() =>
    ask(...asking('responses', { stream: true })).then(response => response.text()),
  )
  await until(() => waiting.length === 3)
  for (const respond of waiting) respond()
  for (const text of await Promise.all(all)) expect(await sent(text, 'responses')).toBe('Hello')
  expect(up.handshakes).toHaveLength(3)
})

test('opens a new connection when the provider has closed the idle one', async () => {
  const up = await provider([
    socket => {
      for (const event of events) socket.send(event)
      socket.close()
    },
    sendAll(),
  ])
  const ask = await start(behind(up.url))
  expect(
    await sent(await (await ask(...asking('responses', { stream: true }))).text(), 'responses'),
  ).toBe('Hello')
  await until(() => up.closed === 1)
  await wait(20)
  expect(
    await sent(await (await ask(...asking('responses', { stream: true }))).text(), 'responses'),
  ).toBe('Hello')
  expect(up.handshakes).toHaveLength(2)
})

const error = (status: number, retryAfter = '9') =>
  JSON.stringify({
    type: 'error',
    status,
    error: {
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: 'Slow down',
      param: null,
    },
    headers: { 'retry-after': retryAfter },
  })

test('responds with the HTTP error that the first event reports', async () => {
  const up = await provider([sendAll([error(429)])])
  const ask = await start(behind(up.url))
  const response = await ask(...asking('responses', { stream: false }))
  expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([
    429,
    '9',
    {
      error: {
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
        message: 'Slow down',
        param: null,
      },
    },
  ])
})

test('leaves out a field that the first event refuses', async () => {
  const message = "Unknown parameter: 'user'."
  const rejection = {
    type: 'error',
    status: 400,
    error: { type: 'invalid_request_error', message },
  }
  const up = await provider([sendAll([JSON.stringify(rejection)]), sendAll()])
  const ask = await start(behind(up.url))
  for (let i = 0; i < 2; i++) {
    const response = await ask(...asking('responses', { stream: true, user: 'me' }))
    expect(await sent(await response.text(), 'responses')).toBe('Hello')
  }
  expect(up.messages.map(({ user }) => user)).toEqual(['me', undefined, undefined])
})

test('retries after an error, and continues with the next channel', async () => {
  const up = await provider([sendAll([error(503, '1')])])
  const other = await upstream(sendStream(streams.messages))
  const ask = await start({
    auth: 'none',
    channels: [
      { name: 'up', protocols: ['responses'], baseUrl: up.url, ...over },
      { name: 'other', protocols: ['messages'], baseUrl: other.url },
    ],
    models: [{ id: 'm', channels: [{ name: 'up' }, { name: 'other', priority: 1 }] }],
    defaults: { retries: 1, retryWaitMs: 10_000 },
  })
  const begun = performance.now()
  const response = await ask(...asking('responses', { stream: true }))
  expect(await sent(await response.text(), 'responses')).toBe('Hello')
  expect([up.messages.length, other.calls.length]).toEqual([2, 1])
  expect(performance.now() - begun).toBeGreaterThan(900)
})

test.each([403, 429, 503])('responds with the error of a refused handshake (%d)', async status => {
  const up = await provider([], { handshake: () => status })
  const ask = await start(behind(up.url))
  const response = await ask(...asking('messages', { stream: true }))
  expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([
    status,
    '7',
    expect.any(String),
  ])
})

test('responds with 502 when the server has no WebSocket, or is not there', async () => {
  const plain = await listen(
    (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello'),
  )
  for (const url of [plain, 'http://127.0.0.1:1']) {
    const ask = await start(behind(url))
    const response = await ask(...asking('responses', { stream: true }))
    expect([response.status, await response.text()]).toEqual([
      502,
      expect.stringContaining('could not be reached'),
    ])
  }
})

test('writes an error in mid-stream as an event of the stream', async () => {
  const up = await provider([sendAll([...begun, error(500)])])
  const ask = await start(behind(up.url))
  const text = await ask(...asking('responses', { stream: true })).then(response => response.text())
  expect(text).toMatch(/event: error\ndata: \{[^\n]*"message":"Slow down"/)
  expect(text).not.toContain('response.completed')
})

test('closes the connection to the provider when the client leaves', async () => {
  const records: UsageRecord[] = []
  const up = await provider([sendAll(begun)])
  const ask = await start(behind(up.url), { onUsage: record => void records.push(record) })
  const stop = new AbortController()
  const [path, init] = asking('responses', { stream: true })
  const response = await ask(path, { ...init, signal: stop.signal })
  await response.body?.getReader().read()
  stop.abort()
  await until(() => up.closed === 1 && records.length === 1)
  expect(records[0]).toMatchObject({ status: 499, error: 'cancelled' })
})

test.each([
  ['the first event', [], { firstByteMs: 200 }],
  ['the next event', begun, { idleMs: 200 }],
])('closes the connection when %s comes too late', async (_, list, timeouts) => {
  const records: UsageRecord[] = []
  const up = await provider([sendAll(list)])
  const ask = await start(behind(up.url, {}, { timeouts }), {
    onUsage: record => void records.push(record),
  })
  await ask(...asking('responses', { stream: true }))
    .then(response => response.text())
    .catch(() => '')
  // On a busy machine the time may be over before the server has seen the connection.
  await until(() => up.closed === up.sockets.length && records.length === 1)
  expect(records[0]).toMatchObject({ failure: 'upstream_timeout' })
})

test('stops reading the provider while the client does not read', async () => {
  const big = (begun.at(-1) ?? '').replace('Hel', 'x'.repeat(64 * 1024))
  const count = 1_000
  let written = 0
  const up = await provider([
    async socket => {
      for (const event of begun) socket.send(event)
      for (; written < count && socket.readyState === socket.OPEN; written++)
        await new Promise(resolve => socket.send(big, resolve))
      for (const event of events.slice(begun.length)) socket.send(event)
    },
  ])
  const ask = await start(behind(up.url))
  const response = await ask(...asking('responses', { stream: true }))
  let last = -1
  await until(() => {
    const isStill = last === written && written > 0
    last = written
    return isStill
  })
  await wait(300)
  expect(written).toBeLessThan(count / 2)
  expect(await response.text()).toContain('response.completed')
  expect(written).toBe(count)
})

test('sends calls other than generation over HTTP', async () => {
  const up = await provider([], {
    http: response =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"object":"response.input_tokens","input_tokens":4}'),
  })
  const ask = await start(behind(up.url))
  const [, init] = asking('responses')
  expect(await (await ask('/v1/responses/input_tokens', init)).json()).toEqual({
    object: 'response.input_tokens',
    input_tokens: 4,
  })
  expect(up.handshakes).toHaveLength(0)
})

test('says which package is missing', async () => {
  vi.resetModules()
  vi.doMock('ws', () => {
    throw new Error('not installed')
  })
  const { gateway: fresh } = await import('../../src/hosts/connect.ts')
  const logged: unknown[] = []
  const log = (...line: unknown[]) =>
    void logged.push(
      JSON.stringify(line, (_, value) => (value instanceof Error ? value.message : value)),
    )
  const handler = fresh(behind('http://127.0.0.1:1'), {
    logger: { info: log, warn: log, error: log },
  })
  after(() => handler.close(0))
  const url = await listen(handler)
  const [path, init] = asking('responses', { stream: true })
  expect((await fetch(url + path, init)).status).toBe(502)
  await until(() => logged.join().includes('npm install ws'))
})

test.each<[string, () => unknown, string]>([
  [
    'a protocol that has no WebSocket',
    () => gateway(one('http://127.0.0.1:1', 'messages', {}, {}, over)),
    'only responses',
  ],
  [
    'a proxy',
    () => gateway(behind('http://127.0.0.1:1', { proxy: 'http://127.0.0.1:2' })),
    'no proxy',
  ],
  ['a host without it', () => fetchGateway(behind('http://127.0.0.1:1')), 'no WebSocket'],
])('refuses %s in the configuration', (_, create, message) => {
  expect(create).toThrow(ConfigError)
  expect(create).toThrow(message)
})
