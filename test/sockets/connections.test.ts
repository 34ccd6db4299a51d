import { connect } from 'node:net'
import { expect, test } from 'vitest'
import type { GatewayConfig, Hooks, UsageRecord } from '../../src/gateway/gateway.ts'
import { drained } from '../../src/transports/drained.ts'
import { listenedGateway } from '../gateway/listening.ts'
import {
  after,
  half,
  one,
  responses,
  sendJson,
  sendStream,
  streams,
  type Upstream,
  until,
  upstream,
  wait,
} from '../gateway/support.ts'
import { connectRaw, connectSdk, refusedHandshake } from './connect.ts'
import { listenUpgrades } from './listen.ts'

/** Handshake, messages, limits and the end of WebSocket connections. */

async function start(config: GatewayConfig, hooks?: Hooks) {
  const handler = listenedGateway({ webSocket: true, ...config }, hooks)
  return { base: await listenUpgrades(handler), handler }
}

const before = (up: Upstream, more: Partial<GatewayConfig> = {}) =>
  start(one(up.url, 'responses', more))
const hello = () => upstream(sendStream(streams.responses))
const ask = (more: object = {}) =>
  JSON.stringify({ type: 'response.create', model: 'm', input: 'Hi', ...more })
const keys = [{ name: 'app', key: 'client-secret', requestsPerMinute: 2 }]

test('refuses the upgrade with 426 without `webSocket`, as without a listener', async () => {
  const up = await hello()
  const { base } = await before(up, { webSocket: false })
  expect(await refusedHandshake(base)).toMatchObject({
    status: 426,
    body: expect.stringContaining('POST'),
  })
})

test.each(['/v1/chat/completions', '/v1/responses/compact', '/v1/models'])(
  'refuses the upgrade at %s',
  async path => {
    const { base } = await before(await hello())
    const { status } = await refusedHandshake(base, {}, path)
    expect(status).not.toBe(101)
  },
)

test('leaves the socket to the application when the path is not an endpoint', async () => {
  const { handler } = await before(await hello())
  expect(
    handler.upgrade(
      { url: '/chat', method: 'GET', headers: {} } as never,
      undefined as never,
      Buffer.alloc(0),
    ),
  ).toBe(false)
})

test('refuses a wrong key in the handshake', async () => {
  const up = await hello()
  const { base } = await before(up, { auth: undefined, keys })
  expect(await refusedHandshake(base, { authorization: 'Bearer planted-wrong' })).toMatchObject({
    status: 401,
    body: expect.stringContaining('not valid'),
  })
  expect(
    (await (await connectSdk(base, 'client-secret')).ask({ model: 'm', input: 'Hi' })).type,
  ).toBe('response.completed')
})

test('refuses web pages of other origins unless `cors` lists them', async () => {
  const { base } = await before(await hello())
  expect((await refusedHandshake(base, { origin: 'https://evil.test' })).status).toBe(403)
  await connectRaw(base, { headers: { origin: base } })
  const listed = await before(await hello(), { cors: { origins: ['https://app.test'] } })
  await connectRaw(listed.base, { headers: { origin: 'https://app.test' } })
})

test('counts and records each message as a request of its key', async () => {
  const records: UsageRecord[] = []
  const up = await hello()
  const { base } = await start(one(up.url, 'responses', { auth: undefined, keys }), {
    onUsage: record => void records.push(record),
  })
  const { ask: askSdk } = await connectSdk(base, 'client-secret')
  expect((await askSdk({ model: 'm', input: 'Hi' })).type).toBe('response.completed')
  expect((await askSdk({ model: 'm', input: 'Hi' })).type).toBe('response.completed')
  expect(await askSdk({ model: 'm', input: 'Hi' })).toMatchObject({
    type: 'error',
    status: 429,
    error: { message: expect.stringContaining('too many requests') },
    headers: { 'retry-after': expect.any(String), 'x-ratelimit-remaining-requests': '0' },
  })
  expect(up.calls).toHaveLength(2)
  await until(() => records.length === 2)
  expect(records).toMatchObject(
    [1, 2].map(() => ({
      key: 'app',
      requestedModel: 'm',
      status: 200,
      stream: true,
      usage: { input: 3, output: 2 },
    })),
  )
})

test('sends an error event when the model is unknown', async () => {
  const { base } = await before(await hello())
  expect(await (await connectSdk(base)).ask({ model: 'other', input: 'Hi' })).toMatchObject({
    type: 'error',
    status: 404,
    error: { param: 'model' },
  })
})

test('runs messages one after the other, in their order', async () => {
  const up = await upstream(async (response, call) =>
    sendStream([30, streams.responses.join('').replaceAll('Hello', String(call.json['input']))])(
      response,
    ),
  )
  const { base } = await before(up)
  const { socket, messages } = await connectRaw(base)
  for (const input of ['One', 'Two', 'Three']) socket.send(ask({ input }))
  await until(() => messages.filter(({ type }) => type === 'response.completed').length === 3)
  const types = messages.flatMap(({ type, text }) => {
    if (type === 'response.created') return ['begins']
    if (type === 'response.output_text.done') return [text]
    return []
  })
  expect(types).toEqual(['begins', 'One', 'begins', 'Two', 'begins', 'Three'])
})

test('closes the connection when too many messages wait', async () => {
  const up = await upstream(sendStream([...half('responses'), 5_000]))
  const { base } = await before(up)
  const { socket, closed } = await connectRaw(base)
  for (let count = 0; count < 20; count++) socket.send(ask())
  expect((await closed).code).toBe(1008)
  await until(() => up.aborted === 1)
  expect(up.calls).toHaveLength(1)
})

test('cancels the exchange and the upstream call when the client closes the connection', async () => {
  const records: UsageRecord[] = []
  const up = await upstream(
    sendStream([...half('responses'), () => until(() => up.aborted === 1)], { cut: true }),
  )
  const { base, handler } = await start(one(up.url, 'responses'), {
    onUsage: record => void records.push(record),
  })
  const { socket, messages } = await connectRaw(base)
  socket.send(ask())
  await until(() => messages.length > 2)
  expect(handler.state().inProgress).toBe(1)
  socket.close()
  await until(() => records.length === 1 && up.aborted === 1)
  expect(records).toMatchObject([{ status: 499, error: 'cancelled' }])
  expect(handler.state().inProgress).toBe(0)
})

test('stops reading the upstream while the client does not read', async () => {
  const delta = streams.responses.find(frame => frame.includes('"Hel"')) ?? ''
  const big = delta.replace('Hel', 'x'.repeat(64 * 1024))
  const count = 1_000
  let written = 0
  const body = async (response: Parameters<ReturnType<typeof sendStream>>[0]) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(half('responses').join(''))
    for (; written < count && !response.destroyed; written++)
      if (!response.write(big)) await drained(response)
    response.end(streams.responses.slice(half('responses').length).join(''))
  }
  const up = await upstream(body)
  const { base } = await before(up)
  const { socket, messages } = await connectRaw(base)
  socket.send(ask())
  await until(() => messages.length > 3)
  socket.pause()
  let last = -1
  await until(() => {
    const isStill = last === written
    last = written
    return isStill && written > 0
  })
  await wait(300)
  expect(written).toBeLessThan(count / 2)
  socket.resume()
  await until(() => messages.at(-1)?.type === 'response.completed')
  expect(written).toBe(count)
})

test('refuses a message over the body limit, and closes the connection when it is far over it', async () => {
  const up = await hello()
  const { base } = await before(up, { defaults: { retries: 0, bodyLimitBytes: 10_000 } })
  const { socket, messages, closed } = await connectRaw(base)
  socket.send(ask({ input: 'x'.repeat(20_000) }))
  await until(() => messages.length === 1)
  expect(messages[0]).toMatchObject({ type: 'error', status: 413 })
  socket.send(ask())
  await until(() => messages.at(-1)?.type === 'response.completed')
  socket.send(ask({ input: 'x'.repeat(200_000) }))
  expect((await closed).code).toBe(1009)
  expect(up.calls).toHaveLength(1)
})

test.each([
  ['no JSON', '{"type":'],
  ['no object', '[1]'],
  ['another type', '{"type":"session.update"}'],
  ['no type', '{"model":"m","input":"Hi"}'],
  ['bytes', Buffer.from(ask())],
  ['deep JSON', `{"type":"response.create","input":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
])('sends an error event and keeps the connection when a message is %s', async (_, message) => {
  const { base } = await before(await hello())
  const { socket, messages } = await connectRaw(base)
  socket.send(message)
  socket.send(ask())
  await until(() => messages.at(-1)?.type === 'response.completed')
  expect(messages[0]).toMatchObject({
    type: 'error',
    status: 400,
    error: { type: 'invalid_request_error', message: expect.any(String) },
  })
  expect(messages.filter(({ type }) => type === 'error')).toHaveLength(1)
})

test('closes only the connection that sends bytes that are not frames', async () => {
  const up = await upstream(sendStream([...half('responses'), 5_000]))
  const { base, handler } = await before(up)
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  after(() => socket.destroy())
  socket.write(
    'GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  let received = ''
  socket.on('data', data => {
    received += String(data)
  })
  await until(() => received.includes('101 Switching'))
  socket.write('GET / HTTP/1.1 and other garbage '.repeat(100))
  await new Promise(resolve => socket.once('close', resolve))
  expect(handler.state().inProgress).toBe(0)
  await connectRaw(base)
})

test('sends an error that names the field when the previous response is unknown', async () => {
  const { base } = await start(one((await hello()).url, 'messages'))
  expect(
    await (await connectSdk(base)).ask({
      model: 'm',
      previous_response_id: 'resp_other',
      input: 'Hi',
    }),
  ).toMatchObject({
    type: 'error',
    status: 400,
    error: { param: 'previous_response_id' },
  })
})

test('removes the conversation that a failed request continued', async () => {
  const up = await upstream(
    sendStream(streams.responses),
    sendJson(400, {
      error: { message: 'No.', type: 'invalid_request_error', param: null, code: null },
    }),
    sendStream(streams.responses),
  )
  const { base } = await before(up)
  const { ask: askSdk } = await connectSdk(base)
  const id = (responses.responses as { id: string }).id
  await askSdk({ model: 'm', input: 'Hi' })
  expect((await askSdk({ model: 'm', input: 'More', previous_response_id: id })).type).toBe('error')
  await askSdk({ model: 'm', input: 'More', previous_response_id: id })
  expect(
    up.calls.map(({ json }) => [
      json['previous_response_id'],
      Array.isArray(json['input']) && json['input'].length,
    ]),
  ).toEqual([
    [undefined, false],
    [undefined, 3],
    [id, false],
  ])
})

test('sends no reasoning back that the provider neither stored nor encrypted', async () => {
  const reasoning = (id: string, encrypted: string | undefined) => ({
    type: 'reasoning',
    id,
    summary: [],
    ...(encrypted && { encrypted_content: encrypted }),
  })
  const added = [reasoning('rs_1', undefined), reasoning('rs_2', 'gAAA')].map(
    item =>
      `event: response.output_item.done\ndata: ${JSON.stringify({ type: 'response.output_item.done', sequence_number: 1, output_index: 0, item })}\n\n`,
  )
  const ended = `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', sequence_number: 3, response: { ...responses.responses, output: [] } })}\n\n`
  const up = await upstream(sendStream([streams.responses[0] ?? '', ...added, ended]))
  const { base } = await before(up)
  for (const [store, kept] of [
    [false, ['rs_2']],
    [true, ['rs_1', 'rs_2']],
  ] as const) {
    const { ask: askSdk } = await connectSdk(base)
    const first = await askSdk({ model: 'm', store, input: 'Hi' })
    expect(first).toMatchObject({ type: 'response.completed' })
    await askSdk({
      model: 'm',
      store,
      input: 'More',
      previous_response_id: (responses.responses as { id: string }).id,
    })
    const input = up.calls.at(-1)?.json['input'] as { id?: string }[]
    expect(input.flatMap(({ id }) => id ?? [])).toEqual(kept)
  }
})

test('closes a connection that does not respond to pings, and keeps one that does', async () => {
  const up = await hello()
  // Long enough that a busy machine responds in time.
  const keepAliveMs = 500
  const { base } = await before(up, { defaults: { retries: 0, keepAliveMs } })
  const { hostname, port } = new URL(base)
  const mute = connect(Number(port), hostname)
  after(() => mute.destroy())
  mute.resume()
  const lost = new Promise(resolve => mute.once('close', resolve))
  mute.write(
    'GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  const { socket, messages } = await connectRaw(base)
  await lost
  await wait(3 * keepAliveMs)
  socket.send(ask())
  await until(() => messages.at(-1)?.type === 'response.completed')
})

test('closes idle connections at once and others after their response when the gateway closes', async () => {
  let finish = () => {}
  const up = await upstream(
    sendStream([
      ...half('responses'),
      () => new Promise<void>(resolve => (finish = resolve)),
      ...streams.responses.slice(half('responses').length),
    ]),
  )
  const { base, handler } = await before(up)
  const idle = await connectRaw(base)
  const busy = await connectRaw(base)
  busy.socket.send(ask())
  await until(() => busy.messages.length > 2)
  const closing = handler.close(5_000)
  expect((await idle.closed).code).toBe(1001)
  finish()
  expect((await busy.closed).code).toBe(1001)
  expect(busy.messages.at(-1)?.type).toBe('response.completed')
  await closing
  expect((await refusedHandshake(base)).status).toBe(503)
})
