import { connect } from 'node:net'
import { expect, test } from 'vitest'
import type { GatewayConfig, Hooks, UsageRecord } from '../../src/gateway/gateway.ts'
import { listenedGateway } from '../gateway/listening.ts'
import {
  after,
  half,
  one,
  responses,
  sendStream,
  streams,
  until,
  upstream,
} from '../gateway/support.ts'
import { connectRaw, connectSdk, refusedHandshake } from './connect.ts'
import { listenUpgrades } from './listen.ts'

/** What a WebSocket client can take: every message is a request of its key. */

async function start(config: GatewayConfig, hooks?: Hooks) {
  const handler = listenedGateway({ webSocket: true, ...config }, hooks)
  return { base: await listenUpgrades(handler), handler }
}

const hello = () => upstream(sendStream(streams.responses))
const ask = (more: object = {}) =>
  JSON.stringify({ type: 'response.create', model: 'm', input: 'Hi', ...more })
const authorization = { authorization: 'Bearer client-secret' }
const keyed = (url: string, more: Partial<GatewayConfig> = {}) => {
  const keys = [{ name: 'app', key: 'client-secret' }]
  return one(url, 'responses', { auth: undefined, keys, ...more })
}

test('counts and records messages that generate nothing', async () => {
  const records: UsageRecord[] = []
  const up = await hello()
  const keys = [{ name: 'app', key: 'client-secret', requestsPerMinute: 2 }]
  const { base } = await start(keyed(up.url, { keys }), {
    onUsage: record => void records.push(record),
  })
  const client = await connectSdk(base, 'client-secret')
  const prepare = { model: 'm', generate: false, input: 'Hi' }
  expect((await client.ask(prepare)).type).toBe('response.completed')
  expect(await client.ask({ ...prepare, model: 'other' })).toMatchObject({ status: 404 })
  expect((await client.ask(prepare)).type).toBe('response.completed')
  expect(await client.ask(prepare)).toMatchObject({ type: 'error', status: 429 })
  expect(up.calls).toEqual([])
  await until(() => records.length === 3)
  expect(records.map(({ key, status }) => [key, status])).toEqual([
    ['app', 200],
    ['app', 404],
    ['app', 200],
  ])
})

test('counts messages that are not valid', async () => {
  const keys = [{ name: 'app', key: 'client-secret', requestsPerMinute: 1 }]
  const { base } = await start(keyed((await hello()).url, { keys }))
  const { socket, messages } = await connectRaw(base, { headers: authorization })
  for (const text of ['{"type":', '{"type":']) socket.send(text)
  await until(() => messages.length === 2)
  expect(messages).toMatchObject([{ status: 400 }, { status: 429 }])
})

test('limits the connections of a key, and forgets those that were closed', async () => {
  const keys = [
    { name: 'app', key: 'client-secret' },
    { name: 'other', key: 'other-secret' },
  ]
  const config = keyed((await hello()).url, { keys, limits: { webSocketsPerKey: 2 } })
  const { base } = await start(config)
  const first = await connectRaw(base, { headers: authorization })
  await connectRaw(base, { headers: authorization })
  expect(await refusedHandshake(base, authorization)).toMatchObject({
    status: 429,
    body: expect.stringContaining('too many WebSocket connections'),
  })
  await connectRaw(base, { headers: { authorization: 'Bearer other-secret' } })
  first.socket.close()
  await first.closed
  await connectRaw(base, { headers: authorization })
})

test('closes the connection at the next message when its key is no longer valid', async () => {
  let isValid = true
  const up = await hello()
  const { base } = await start(keyed(up.url), {
    authenticate: () => (isValid ? { name: 'app' } : null),
  })
  const { socket, messages, closed } = await connectRaw(base, { headers: authorization })
  socket.send(ask())
  await until(() => messages.at(-1)?.type === 'response.completed')
  isValid = false
  socket.send(ask({ generate: false }))
  expect((await closed).code).toBe(1008)
  expect(messages.at(-1)).toMatchObject({ type: 'error', status: 401 })
  expect(up.calls).toHaveLength(1)
})

test('closes an idle connection when its key is no longer valid, and none while keys cannot be looked up', async () => {
  let state: 'valid' | 'away' | 'gone' = 'valid'
  const authenticate = () => {
    if (state === 'away') throw new Error('no database')
    return state === 'valid' ? { name: 'app' } : null
  }
  const config = keyed((await hello()).url, { defaults: { retries: 0, keepAliveMs: 20 } })
  const { base } = await start(config, { authenticate, logger: false })
  const { socket, closed } = await connectRaw(base, { headers: authorization })
  state = 'away'
  let pings = 0
  socket.on('ping', () => pings++)
  await until(() => pings > 2)
  expect(socket.readyState).toBe(socket.OPEN)
  state = 'gone'
  expect((await closed).code).toBe(1008)
})

test('marks all events of a response with the `stream_id` of its message', async () => {
  const up = await hello()
  const { base } = await start(one(up.url, 'responses'))
  const { socket, messages } = await connectRaw(base)
  socket.send(ask({ stream_id: 'a' }))
  socket.send(ask({ stream_id: 'b', generate: false }))
  socket.send(ask({ stream_id: 'c', model: 'other' }))
  socket.send(ask())
  const last = 'response.completed'
  await until(() => messages.filter(({ type }) => type === last).length === 3)
  const ids = [...new Set(messages.map(({ stream_id: id }) => id))]
  expect(ids).toEqual(['a', 'b', 'c', undefined])
  expect(messages.filter(({ type }) => type === 'error')).toMatchObject([{ stream_id: 'c' }])
  expect(up.calls.every(({ text }) => !text.includes('stream_id'))).toBe(true)
})

test('reports an unknown previous response, also when nothing is generated', async () => {
  const { base } = await start(one((await hello()).url, 'messages'))
  const client = await connectSdk(base)
  for (const generate of [true, false])
    expect(
      await client.ask({ model: 'm', previous_response_id: 'resp_x', input: 'Hi', generate }),
    ).toMatchObject({
      type: 'error',
      status: 400,
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    })
})

const large = (length: number) => ask({ input: 'x'.repeat(length) })

test('counts conversations that connections keep, and serves others when there is no more memory', async () => {
  const config = one((await hello()).url, 'responses', { limits: { memoryBytes: 1_000_000 } })
  const { base } = await start(config)
  const first = await connectRaw(base)
  first.socket.send(ask({ input: 'x'.repeat(450_000), generate: false }))
  await until(() => first.messages.length === 2)
  expect(first.messages[1]).toMatchObject({ type: 'response.completed' })
  const second = await connectRaw(base)
  second.socket.send(large(600_000))
  expect((await second.closed).code).toBe(1013)
  expect(second.messages).toMatchObject([
    { type: 'error', status: 503, headers: { 'retry-after': '1' } },
  ])
  const third = await connectSdk(base)
  expect((await third.ask({ model: 'm', input: 'Hi' })).type).toBe('response.completed')
  first.socket.close()
  await first.closed
  const fourth = await connectRaw(base)
  fourth.socket.send(large(300_000))
  await until(() => fourth.messages.at(-1)?.type === 'response.completed')
})

test('counts a message before it is complete', async () => {
  const { base } = await start(
    one((await hello()).url, 'responses', { limits: { memoryBytes: 500_000 } }),
  )
  const sockets = Array.from({ length: 4 }, () => {
    const { hostname, port } = new URL(base)
    const socket = connect(Number(port), hostname)
    after(() => socket.destroy())
    socket.on('error', () => {})
    socket.write(
      'GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
    return socket
  })
  const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 3, 0x0d, 0x40, 0, 0, 0, 0])
  let closed = 0
  for (const socket of sockets) {
    socket.resume()
    socket.once('close', () => closed++)
    socket.write(Buffer.concat([head, Buffer.alloc(150_000, 'x')]))
  }
  await until(() => closed === 2)
  const client = await connectSdk(base)
  expect((await client.ask({ model: 'm', input: 'Hi' })).type).toBe('response.completed')
  expect(closed).toBe(2)
})

test('gives the memory of messages back that came in parts, or several at once', async () => {
  const { base } = await start(
    one((await hello()).url, 'responses', { limits: { memoryBytes: 400_000 } }),
  )
  const { socket, messages } = await connectRaw(base)
  const text = ask({ input: 'x'.repeat(50_000), model: 'other' })
  const rounds = 10
  for (let round = 1; round <= rounds; round++) {
    socket.send(text.slice(0, 30_000), { fin: false })
    socket.ping()
    socket.send(text.slice(30_000))
    socket.send(text)
    await until(() => messages.length === 2 * round)
  }
  expect(messages.map(({ status }) => status)).toEqual(Array(2 * rounds).fill(404))
})

test('gives the memory of a connection back in whatever way it ends', async () => {
  const up = await upstream(sendStream([...half('responses'), 5_000]))
  const { base } = await start(one(up.url, 'responses', { limits: { memoryBytes: 400_000 } }))
  for (let round = 0; round < 6; round++) {
    const { socket, messages } = await connectRaw(base)
    socket.send(large(80_000))
    await until(() => messages.length > 2)
    if (round % 2 === 0) socket.terminate()
    else socket.close()
    await until(() => up.aborted === round + 1)
  }
  const { socket, messages } = await connectRaw(base)
  const id = (responses.responses as { id: string }).id
  socket.send(large(80_000))
  await until(() => messages.length > 2)
  expect(JSON.stringify(messages)).toContain(id)
})
