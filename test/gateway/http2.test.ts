import { once } from 'node:events'
import { request as http1Request, type IncomingMessage } from 'node:http'
import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer as createHttp2Server,
  createSecureServer,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { type AddressInfo, connect as connectSocket, type Socket } from 'node:net'
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { createServer } from '../../src/hosts/connect.ts'
import { selfSigned } from '../support/certificate.ts'
import {
  after,
  half,
  mounted,
  one,
  pairs,
  pathOf,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  streams,
  until,
  upstream,
  wait,
} from './support.ts'

type Received = {
  headers: IncomingHttpHeaders & IncomingHttpStatusHeader
  text: string
  broke: boolean
}

/** A gateway behind the server that accepts both versions. */
async function served(
  config?: GatewayConfig,
  options?: Parameters<typeof createServer>[1],
): Promise<{ url: string; port: number; server: ReturnType<typeof createServer> }> {
  const server = createServer(mounted(config), options)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, server }
}

function session(url: string, options?: Parameters<typeof connect>[1]): ClientHttp2Session {
  const client = connect(url, options as never)
  client.on('error', () => {})
  after(() => client.destroy())
  return client
}

async function ask(
  client: ClientHttp2Session,
  path: string,
  { method, headers, body }: RequestInit = {},
): Promise<Received> {
  const stream = client.request({
    ':method': method ?? 'GET',
    ':path': path,
    ...(headers as Record<string, string>),
  })
  let received: Received['headers'] = {}
  stream.on('response', found => {
    received = found
  })
  stream.end(body as string | undefined)
  let text = ''
  let broke = false
  try {
    for await (const chunk of stream.setEncoding('utf8')) text += String(chunk)
  } catch {
    broke = true
  }
  return { headers: received, text, broke }
}

describe('one port', () => {
  test.each(pairs)('responds to both versions alike: %s from %s', async (client, protocol) => {
    const { url: upstreamUrl } = await upstream(
      sendStream(streams[protocol]),
      sendStream(streams[protocol]),
    )
    const { url } = await served(one(upstreamUrl, protocol))
    const init = post({
      ...requests[client],
      ...(client !== 'generate-content' && { stream: true }),
    })
    const path = pathOf(client, { stream: true })
    const older = await fetch(url + path, init)
    const newer = await ask(session(url), path, init)
    expect(newer.headers[':status']).toBe(200)
    expect(newer.headers['content-type']).toBe(older.headers.get('content-type'))
    expect(withoutIds(newer.text)).toBe(withoutIds(await older.text()))
  })

  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
  const post1 = 'POST /v1/models HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n'
  const get1 = 'GET /v1/models HTTP/1.1\r\nhost: a\r\n\r\n'
  test.each([
    ['HTTP/2', preface, 1],
    ['HTTP/2', preface, 3],
    ['HTTP/2', preface, 18],
    ['HTTP/1.1', post1, 1],
    ['HTTP/1.1', post1, 2],
    ['HTTP/1.1', post1, 12],
    ['HTTP/1.1', get1, 1],
  ])('recognizes %s by its first bytes, in two parts: %j cut at %i', async (version, text, cut) => {
    const { port } = await served()
    const socket = connectSocket(port, '127.0.0.1')
    after(() => socket.destroy())
    socket.write(text.slice(0, cut))
    await wait(20)
    socket.write(text.slice(cut))
    const [first] = (await once(socket, 'data')) as [Buffer]
    // The first frame of an HTTP/2 server is SETTINGS, whose type is the fourth byte.
    if (version === 'HTTP/2') expect(first[3]).toBe(4)
    else expect(first.toString('latin1', 0, 8)).toBe('HTTP/1.1')
  })

  test('keeps several requests of a connection apart', async () => {
    const { url } = await served({
      auth: 'none',
      channels: [{ name: 'demo', embedded: 'demo' }],
      models: [{ id: 'demo', channels: [{ name: 'demo' }] }],
    })
    const client = session(url)
    const found = await Promise.all(
      Array.from({ length: 20 }, (_, nth) =>
        ask(
          client,
          paths.messages,
          post({
            ...requests.messages,
            model: 'demo',
            messages: [{ role: 'user', content: `word${nth}` }],
          }),
        ),
      ),
    )
    for (const [nth, { text }] of found.entries()) expect(text).toMatch(new RegExp(`word${nth}\\b`))
  })

  test('responds to HEAD, unknown paths and bodies that are too large', async () => {
    const { url } = await served({
      auth: 'none',
      channels: [{ name: 'demo', embedded: 'demo' }],
      defaults: { bodyLimitBytes: 100 },
    })
    const client = session(url)
    expect(await ask(client, '/v1/models', { method: 'HEAD' })).toMatchObject({
      headers: { ':status': 200 },
      text: '',
    })
    expect((await ask(client, '/nothing')).headers[':status']).toBe(404)
    expect(
      (await ask(client, paths.messages, post({ ...requests.messages, more: 'x'.repeat(200_000) })))
        .headers[':status'],
    ).toBe(413)
  })
})

describe('the AWS SDK with its default handler, which sends HTTP/2', () => {
  const connectSdk = (endpoint: string) => {
    const client = new BedrockRuntimeClient({
      endpoint,
      region: 'us-east-1',
      token: { token: 'test' },
      authSchemePreference: ['httpBearerAuth'],
      maxAttempts: 1,
    })
    after(() => client.destroy())
    return client
  }
  const upstreamProtocols = Object.keys(paths) as (keyof typeof paths)[]
  const input = {
    modelId: 'm',
    messages: [{ role: 'user' as const, content: [{ text: 'Hello' }] }],
  }

  test.each(upstreamProtocols)('gets a response and a stream of %s', async protocol => {
    const seen = await upstream(sendJson(200, responses[protocol]), sendStream(streams[protocol]))
    const client = connectSdk((await served(one(seen.url, protocol))).url)
    const { output, stopReason } = await client.send(new ConverseCommand(input))
    expect(stopReason).toBe('end_turn')
    let text = ''
    let stop: string | undefined
    for await (const { contentBlockDelta, messageStop } of (
      await client.send(new ConverseStreamCommand(input))
    ).stream ?? []) {
      text += contentBlockDelta?.delta?.text ?? ''
      stop ??= messageStop?.stopReason
    }
    expect(stop).toBe('end_turn')
    expect(text).not.toBe('')
    expect(output?.message?.content?.[0]?.text).toBeTruthy()
  })

  test.each(upstreamProtocols)(
    'takes a stream of %s that is cut off for an error',
    async protocol => {
      const seen = await upstream(sendStream(half(protocol), { cut: true }))
      const client = connectSdk((await served(one(seen.url, protocol))).url)
      const read = async () => {
        for await (const _ of (await client.send(new ConverseStreamCommand(input))).stream ?? []);
      }
      await expect(read()).rejects.toThrow()
    },
  )
})

describe('a client of HTTP/2', () => {
  test('cancels the upstream call when it disconnects', async () => {
    const seen = await upstream(sendStream([...streams.messages.slice(0, 3), 10_000]))
    const { url } = await served(one(seen.url, 'messages'))
    const stream = session(url).request({
      ':method': 'POST',
      ':path': paths.messages,
      'content-type': 'application/json',
    })
    stream.end(JSON.stringify({ ...requests.messages, stream: true }))
    await once(stream, 'data')
    stream.close(constants.NGHTTP2_CANCEL)
    await until(() => seen.aborted === 1)
  })

  test('cancels the upstream calls of all its requests when its connection breaks', async () => {
    const seen = await upstream(sendStream([...streams.messages.slice(0, 3), 10_000]))
    const { url } = await served(one(seen.url, 'messages'))
    const client = session(url)
    for (let nth = 0; nth < 3; nth++) {
      const stream = client.request({
        ':method': 'POST',
        ':path': paths.messages,
        'content-type': 'application/json',
      })
      stream.on('error', () => {})
      stream.end(JSON.stringify({ ...requests.messages, stream: true }))
      await once(stream, 'data')
    }
    client.destroy()
    await until(() => seen.aborted === 3)
  })

  test('gets the error frame before the stream breaks', async () => {
    const { url: upstreamUrl } = await upstream(
      sendStream([...half('messages'), 20], { cut: true }),
    )
    const { url } = await served(one(upstreamUrl, 'messages'))
    const { text, broke } = await ask(
      session(url),
      paths.messages,
      post({ ...requests.messages, stream: true }),
    )
    expect(text).toContain('the upstream broke the connection')
    expect(broke).toBe(true)
  })

  test('is sent no more than it reads', async () => {
    const delta = `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${'x'.repeat(60_000)}"}}\n\n`
    let sent = 0
    const seen = await upstream(async response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const frame of streams.messages.slice(0, 2)) response.write(frame)
      for (let nth = 0; nth < 400 && !response.destroyed; nth++) {
        sent = nth
        const room = response.write(delta)
        while (!room && response.writableNeedDrain && !response.destroyed) await wait(1)
      }
      for (const frame of streams.messages.slice(2)) response.write(frame)
      response.end()
    })
    const { url } = await served(one(seen.url, 'messages'))
    const stream = session(url).request({
      ':method': 'POST',
      ':path': paths.messages,
      'content-type': 'application/json',
    })
    stream.end(JSON.stringify({ ...requests.messages, stream: true }))
    await once(stream, 'response')
    await wait(300)
    expect(sent).toBeLessThan(300)
    let length = 0
    for await (const chunk of stream) length += (chunk as Buffer).length
    expect(length).toBeGreaterThan(400 * 60_000)
  })

  test('is refused without keys when it uses a public host name', async () => {
    const { url } = await served()
    const client = session(url)
    expect((await ask(client, '/v1/models')).headers[':status']).toBe(200)
    expect(
      (await ask(client, '/v1/models', { headers: { ':authority': 'attacker.example' } })).headers[
        ':status'
      ],
    ).toBe(401)
  })
})

describe('closing', () => {
  test('ends idle connections of HTTP/2 and those that have sent nothing', async () => {
    const { url, port, server } = await served()
    const client = session(url)
    await ask(client, '/v1/models')
    const silent = connectSocket(port, '127.0.0.1')
    await once(silent, 'connect')
    await wait(20)
    await new Promise(resolve => server.close(resolve))
    expect(client.closed || client.destroyed).toBe(true)
  })

  test('completes requests in progress first, unless all connections are closed', async () => {
    const seen = await upstream(
      sendStream([...streams.messages.slice(0, 3), 300, ...streams.messages.slice(3)]),
    )
    const { url, server } = await served(one(seen.url, 'messages'))
    const response = ask(session(url), paths.messages, post({ ...requests.messages, stream: true }))
    await until(() => seen.calls.length === 1)
    await wait(50)
    const closed = new Promise(resolve => server.close(resolve))
    expect((await response).text).toContain('message_stop')
    await closed
  })

  test('breaks open streams of HTTP/2 when it closes all connections', async () => {
    const seen = await upstream(sendStream([...streams.messages.slice(0, 3), 10_000]))
    const { url, server } = await served(one(seen.url, 'messages'))
    const response = ask(session(url), paths.messages, post({ ...requests.messages, stream: true }))
    await until(() => seen.calls.length === 1)
    await wait(50)
    server.closeAllConnections()
    expect((await response).text).not.toContain('message_stop')
    await until(() => seen.aborted === 1)
  })

  test('a connection that sends nothing is closed after the timeout for headers', async () => {
    const { port, server } = await served()
    server.headersTimeout = 50
    const sockets = ['', 'PRI'].map(start => {
      const socket: Socket = connectSocket(port, '127.0.0.1')
      if (start) socket.write(start)
      return socket
    })
    await Promise.all(sockets.map(socket => once(socket.resume(), 'close')))
  })
})

describe('limits', () => {
  const upload = { ':method': 'POST', ':path': paths.messages, 'content-type': 'application/json' }

  test.each([
    [undefined, 128],
    [{ maxConcurrentStreams: 3 }, 3],
  ])('limits the concurrent streams of a connection, with %j', async (options, limit) => {
    const { url } = await served(undefined, options)
    const client = session(url)
    await once(client, 'remoteSettings')
    expect(client.remoteSettings.maxConcurrentStreams).toBe(limit)
  })

  test('a client that opens more streams than are allowed loses its connection', async () => {
    const { port } = await served(undefined, { maxConcurrentStreams: 2 })
    const socket = connectSocket(port, '127.0.0.1')
    after(() => socket.destroy())
    const frame = (type: number, flags: number, stream: number, payload: number[] = []) =>
      Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream, ...payload])
    // POST, http, the path, and the authority "a", without the end of the stream: the gateway waits
    // for the body.
    const headers = [
      0x83,
      0x86,
      0x04,
      paths.messages.length,
      ...Buffer.from(paths.messages),
      0x41,
      1,
      0x61,
    ]
    socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)]))
    let received = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
    })
    const types = () => {
      const found: number[] = []
      for (let at = 0; at + 9 <= received.length; at += 9 + received.readUIntBE(at, 3))
        found.push(received[at + 3] ?? 0)
      return found
    }
    const [settings, goAway] = [4, 7]
    await until(() => types().includes(settings))
    // The limit holds from the acknowledgement on.
    socket.write(
      Buffer.concat([frame(settings, 1, 0), ...[1, 3].map(stream => frame(1, 4, stream, headers))]),
    )
    await wait(50)
    expect(types()).not.toContain(goAway)
    socket.write(Buffer.concat([5, 7, 9].map(stream => frame(1, 4, stream, headers))))
    await until(() => types().includes(goAway))
    await until(() => socket.closed)
  })

  test('a request whose body does not end in time gets 408, though bytes keep coming', async () => {
    const seen = await upstream(sendJson(200, responses.messages))
    const { url, server } = await served(one(seen.url, 'messages'))
    server.requestTimeout = 150
    const client = session(url)
    const slow = client.request(upload)
    slow.on('error', () => {})
    const trickle = setInterval(() => slow.writable && slow.write(' '), 20)
    // Both may come before anything that waits for the first continues. Node does not close the
    // stream of a client that is still writing.
    const ended = once(slow, 'end').finally(() => clearInterval(trickle))
    const [headers] = (await once(slow, 'response')) as [Received['headers']]
    expect(headers[':status']).toBe(408)
    slow.resume()
    await ended
    // The server has closed the stream.
    await until(() => slow.aborted)
    slow.destroy()
    server.requestTimeout = 30_000
    // The connection stays.
    expect((await ask(client, paths.messages, post(requests.messages))).headers[':status']).toBe(
      200,
    )
    expect(seen.calls).toHaveLength(1)
  })

  test('a request that was refused does not stay open for the rest of its body', async () => {
    const { url, server } = await served({
      auth: 'none',
      channels: [{ name: 'demo', embedded: 'demo' }],
      defaults: { bodyLimitBytes: 100 },
    })
    server.requestTimeout = 150
    const stream = session(url).request(upload)
    stream.write('x'.repeat(2000))
    const [headers] = (await once(stream, 'response')) as [Received['headers']]
    expect(headers[':status']).toBe(413)
    let text = ''
    for await (const chunk of stream.setEncoding('utf8')) text += String(chunk)
    expect(text).toContain('larger than 100 bytes')
    if (!stream.closed) await once(stream, 'close')
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR)
  })

  test('a response may take longer than the body of its request', async () => {
    const seen = await upstream(
      sendStream([...streams.messages.slice(0, 3), 400, ...streams.messages.slice(3)]),
    )
    const { url, server } = await served(one(seen.url, 'messages'))
    server.requestTimeout = 100
    const { headers, text } = await ask(
      session(url),
      paths.messages,
      post({ ...requests.messages, stream: true }),
    )
    expect(headers[':status']).toBe(200)
    expect(text).toContain('message_stop')
  })

  test('applies no timeout when the timeout is 0', async () => {
    const seen = await upstream(sendJson(200, responses.messages))
    const { url, server } = await served(one(seen.url, 'messages'))
    server.requestTimeout = 0
    const slow = session(url).request(upload)
    slow.write(JSON.stringify(requests.messages).slice(0, 10))
    await wait(300)
    slow.end(JSON.stringify(requests.messages).slice(10))
    const [headers] = (await once(slow, 'response')) as [Received['headers']]
    expect(headers[':status']).toBe(200)
  })
})

describe.each(['http2.createServer', 'http2.createSecureServer'] as const)(
  'a gateway as the listener of %s',
  name => {
    const isSecure = name === 'http2.createSecureServer'
    const { cert, key } = selfSigned()

    afterEach(() => {
      vi.unstubAllEnvs()
    })

    async function listening(config?: GatewayConfig): Promise<string> {
      const handler = mounted(config) as never
      const server = isSecure
        ? createSecureServer({ cert, key, allowHTTP1: true }, handler)
        : createHttp2Server(handler)
      const sessions = new Set<{ destroy(): void }>()
      server.on('session', opened => sessions.add(opened))
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      after(() => {
        for (const opened of sessions) opened.destroy()
        return new Promise(resolve => server.close(resolve))
      })
      return `${isSecure ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`
    }
    const open = (url: string) => session(url, isSecure ? { ca: cert } : undefined)

    test.each(pairs)(
      'sends %s what the upstream of %s sends, whole and streamed',
      async (client, protocol) => {
        for (const stream of [false, true]) {
          const scripts = () =>
            stream ? sendStream(streams[protocol]) : sendJson(200, responses[protocol])
          const seen = await upstream(scripts(), scripts())
          const init = post({
            ...requests[client],
            ...(client !== 'generate-content' && stream && { stream: true }),
          })
          const path = pathOf(client, { stream })
          const older = await fetch((await served(one(seen.url, protocol))).url + path, init)
          const newer = await ask(open(await listening(one(seen.url, protocol))), path, init)
          expect(newer.headers[':status']).toBe(200)
          expect(newer.headers['content-type']).toBe(older.headers.get('content-type'))
          expect(withoutIds(newer.text)).toBe(withoutIds(await older.text()))
        }
      },
    )

    test('stops the upstream when the client leaves', async () => {
      const seen = await upstream(sendStream([...streams.messages.slice(0, 3), 10_000]))
      const stream = open(await listening(one(seen.url, 'messages'))).request({
        ':method': 'POST',
        ':path': paths.messages,
        'content-type': 'application/json',
      })
      stream.end(JSON.stringify({ ...requests.messages, stream: true }))
      await once(stream, 'data')
      stream.close(constants.NGHTTP2_CANCEL)
      await until(() => seen.aborted === 1)
    })

    test('breaks the stream after the error frame when the upstream breaks off', async () => {
      const { url } = await upstream(sendStream([...half('messages'), 20], { cut: true }))
      const { text, broke } = await ask(
        open(await listening(one(url, 'messages'))),
        paths.messages,
        post({ ...requests.messages, stream: true }),
      )
      expect(text).toContain('the upstream broke the connection')
      expect(broke).toBe(true)
    })

    test('refuses unknown paths, large bodies and public names, and names its own URL', async () => {
      const url = await listening({
        auth: 'none',
        channels: [{ name: 'demo', embedded: 'demo' }],
        defaults: { bodyLimitBytes: 100 },
      })
      const client = open(url)
      expect((await ask(client, '/nothing')).headers[':status']).toBe(404)
      expect(
        (
          await ask(
            client,
            paths.messages,
            post({ ...requests.messages, more: 'x'.repeat(200_000) }),
          )
        ).headers[':status'],
      ).toBe(413)
      expect((await ask(client, '/chat/completions', post({}))).text).toContain(
        `${url}/v1/chat/completions`,
      )
      const local = open(await listening())
      expect((await ask(local, '/v1/models')).headers[':status']).toBe(200)
      expect(
        (await ask(local, '/v1/models', { headers: { ':authority': 'attacker.example' } })).headers[
          ':status'
        ],
      ).toBe(401)
    })

    test('responds to clients of HTTP/1.1 over TLS, and without it to those of HTTP/2 alone', async () => {
      if (!isSecure) {
        // Without TLS only `createServer` of the gateway recognizes the version.
        await expect(fetch(`${await listening()}/v1/models`)).rejects.toThrow()
        return
      }
      const asking = httpsRequest(`${await listening()}/v1/models`, {
        ca: cert,
        agent: false,
      }).end()
      const [response] = (await once(asking, 'response')) as [IncomingMessage]
      expect([response.statusCode, response.httpVersion]).toEqual([200, '1.1'])
      response.resume()
    })

    test('serves the AWS SDK with its default handler', async () => {
      // The handler of the SDK has no setting for certificates.
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
      const { url } = await upstream(
        sendJson(200, responses.messages),
        sendStream(streams.messages),
      )
      const endpoint = await listening(one(url, 'messages'))
      const client = new BedrockRuntimeClient({
        endpoint,
        region: 'us-east-1',
        token: { token: 'test' },
        authSchemePreference: ['httpBearerAuth'],
        maxAttempts: 1,
      })
      const input = {
        modelId: 'm',
        messages: [{ role: 'user' as const, content: [{ text: 'Hello' }] }],
      }
      expect(
        (await client.send(new ConverseCommand(input))).output?.message?.content?.[0]?.text,
      ).toBe('Hello')
      let text = ''
      for await (const { contentBlockDelta } of (
        await client.send(new ConverseStreamCommand(input))
      ).stream ?? [])
        text += contentBlockDelta?.delta?.text ?? ''
      expect(text).toBe('Hello')
      client.destroy()
    })
  },
)

test('an upgrade of HTTP/1.1 reaches the server', async () => {
  const { port, server } = await served()
  server.on('upgrade', (_request: IncomingMessage, socket: Socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: test\r\n\r\n'),
  )
  const asking = http1Request({ port, headers: { connection: 'upgrade', upgrade: 'test' } }).end()
  const [response] = (await once(asking, 'upgrade')) as [IncomingMessage]
  expect(response.statusCode).toBe(101)
})

/** Ids and times are made for each response, and an upstream that repeats its own id loses it. */
const withoutIds = (text: string) =>
  text
    .replaceAll(/,?"responseId":"[^"]*"/g, '')
    .replaceAll(/"(id|response_id|item_id|call_id)":"[^"]*"/g, '"$1":""')
    .replaceAll(/"(created|created_at|completed_at)":\d+/g, '"$1":0')
