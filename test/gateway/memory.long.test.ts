import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createGateway } from '../../src/gateway/gateway.ts'
import { PlainAbortController } from '../../src/transports/abort-controller.ts'
import type { Transport } from '../../src/transports/transport.ts'
import { undiciTransport } from '../../src/transports/undici.ts'
import {
  after,
  half,
  one,
  pairs,
  paths,
  requests,
  saying,
  until,
  upstream,
  wait,
} from './support.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Begins to respond, and then is silent until it is closed. */
function silentAfterHalf(): Transport {
  const frames = half('messages')
  return {
    send: async ({ stop }) => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: {
        async *[Symbol.asyncIterator]() {
          for (const frame of frames) yield frame
          await new Promise(resolve => stop?.addEventListener('abort', () => resolve(undefined)))
        },
      },
    }),
  }
}

/** What a promise or a microtask still holds is let go after some tries. */
async function forgotten(held: WeakRef<object>): Promise<void> {
  for (let tries = 0; held.deref() && tries < 20; tries++) {
    await wait(10)
    collect()
  }
  expect(held.deref()).toBeUndefined()
}

/** Thousands of streams stay open for minutes; each request may be megabytes. */
test.each(['messages', 'chat-completions'] as const)(
  'an open stream for a client of %s keeps no reference to its request',
  async protocol => {
    const gateway = createGateway(one('http://upstream.test', 'messages'), {}, silentAfterHalf)
    const client = new PlainAbortController()
    const { body, received } = await (async () => {
      const parsed: Record<string, unknown> = { ...requests[protocol], stream: true }
      const request = {
        method: 'POST',
        path: paths[protocol],
        query: new URLSearchParams(),
        headers: { 'content-type': 'application/json' },
      }
      const response = await gateway.handle({ ...request, body: { parsed }, signal: client })
      return { body: response.body as AsyncIterable<string>, received: new WeakRef(parsed) }
    })()
    const chunks = body[Symbol.asyncIterator]()
    expect((await chunks.next()).done).toBe(false)
    const silence = chunks.next()
    await forgotten(received)
    client.abort()
    await silence.catch(() => undefined)
    await gateway.close(0)
  },
)

test('the upstream connection keeps no reference to a sent body', async () => {
  const seen = await upstream(
    response =>
      void response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write(half('messages').join('')),
  )
  const transport = undiciTransport()
  const call = new PlainAbortController()
  const message = JSON.stringify('a'.repeat(200_000))
  const { result, sent } = await (async () => {
    const body = new TextEncoder().encode(message)
    const request = {
      url: `${seen.url}/v1/messages`,
      method: 'POST' as const,
      headers: { 'content-type': 'application/json' },
      signal: call.platform,
      stop: call,
      connectMs: 0,
    }
    return { result: await transport.send({ ...request, body }), sent: new WeakRef(body.buffer) }
  })()
  const chunks = result.body[Symbol.asyncIterator]()
  expect((await chunks.next()).done).toBe(false)
  const silence = chunks.next()
  await forgotten(sent)
  expect(seen.calls).toMatchObject([{ text: message, headers: { 'content-length': '200002' } }])
  call.abort()
  await silence.catch(() => undefined)
  await transport.close?.()
})

test('the upstream connection keeps no reference to the headers of a passed stream', async () => {
  const seen = await upstream(
    response =>
      void response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write(half('messages').join('')),
  )
  const transport = undiciTransport()
  const call = new PlainAbortController()
  const heads: WeakRef<object>[] = []
  const listen = (reported: unknown) =>
    void heads.push(new WeakRef((reported as { response: { headers: object } }).response.headers))
  subscribe('undici:request:headers', listen)
  after(() => unsubscribe('undici:request:headers', listen))
  const request = {
    url: `${seen.url}/v1/messages`,
    method: 'POST' as const,
    headers: {},
    body: '{}',
    signal: call.platform,
    stop: call,
    connectMs: 0,
  }
  const chunks = (await transport.send(request)).body[Symbol.asyncIterator]()
  expect((await chunks.next()).done).toBe(false)
  const silence = chunks.next()
  expect(heads).toHaveLength(1)
  for (const head of heads) await forgotten(head)
  call.abort()
  await silence.catch(() => undefined)
  await transport.close?.()
})

/** Records every object that is parsed from JSON until the test is over, and holds none. */
function parsed(isMeant: (value: Record<string, unknown>) => boolean): WeakRef<object>[] {
  const { parse } = JSON
  const found: WeakRef<object>[] = []
  JSON.parse = (text: string) =>
    parse(text, (_, value) => {
      if (typeof value === 'object' && value !== null && isMeant(value))
        found.push(new WeakRef(value))
      return value
    })
  after(() => {
    JSON.parse = parse
  })
  return found
}

test.each(pairs.filter(([client, served]) => client !== served))(
  'keeps only the bytes of a long request while the upstream is silent: %s to %s',
  async (client, served) => {
    const objects = parsed(({ text, content, input }) =>
      [text, content, input].some(
        message => typeof message === 'string' && message.startsWith('long '),
      ),
    )
    let isRequested = false
    const thinking = (): Transport => ({
      send: ({ stop }) => {
        isRequested = true
        return new Promise((_, reject) =>
          stop?.addEventListener('abort', () => reject(stop.reason)),
        )
      },
    })
    const gateway = createGateway(one('http://upstream.test', served), {}, thinking)
    const left = new PlainAbortController()
    const response = (() => {
      const message = `long ${'a'.repeat(100_000)}`
      const text = JSON.stringify({
        ...requests[client],
        ...(client === 'responses'
          ? { input: [{ role: 'user', content: message }] }
          : saying(client, message)),
      })
      const bytes = (async function* () {
        yield new TextEncoder().encode(text)
      })()
      const request = {
        method: 'POST',
        path: paths[client],
        query: new URLSearchParams(),
        headers: { 'content-type': 'application/json' },
      }
      return gateway.handle({ ...request, body: { bytes }, signal: left })
    })()
    await until(() => isRequested)
    expect(objects.length).toBeGreaterThan(0)
    for (const one of objects) await forgotten(one)
    left.abort()
    await response
    await gateway.close(0)
  },
)
