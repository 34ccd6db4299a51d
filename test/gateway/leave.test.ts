import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { listenedFetchGateway } from './listening.ts'
import {
  hostsOf,
  listen,
  mounted,
  one,
  paths,
  post,
  requests,
  sendStream,
  streams,
  until,
  upstream,
  wait,
} from './support.ts'

const streaming = (signal: AbortSignal) =>
  post({ ...requests['chat-completions'], stream: true }, {}, { signal })

describe.each(hostsOf(import.meta.url))('through %s, a client that disconnects', (_, start) => {
  test.each(['messages', 'chat-completions'] as const)(
    'cancels the upstream call before its response: %s',
    async served => {
      const seen = await upstream(() => {})
      const ask = await start(one(seen.url, served))
      for (const stream of [true, false]) {
        const left = new AbortController()
        const received = ask(
          paths['chat-completions'],
          post({ ...requests['chat-completions'], stream }, {}, { signal: left.signal }),
        ).catch(() => {})
        await until(() => seen.calls.length === (stream ? 1 : 2))
        left.abort()
        await received
        await until(() => seen.aborted === (stream ? 1 : 2))
      }
    },
  )

  test.each(['messages', 'chat-completions'] as const)(
    'cancels the upstream call in the middle of a stream: %s',
    async served => {
      const seen = await upstream(sendStream([...streams[served].slice(0, 3), 10_000]))
      const ask = await start(one(seen.url, served))
      const left = new AbortController()
      const response = await ask(paths['chat-completions'], streaming(left.signal))
      const reader = (response.body as ReadableStream).getReader()
      await reader.read()
      left.abort()
      await reader.cancel().catch(() => {})
      await until(() => seen.aborted === 1)
    },
  )

  test('cancels the upstream call while a JSON response is read', async () => {
    const seen = await upstream(response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"id":')
    })
    const ask = await start(one(seen.url, 'messages'))
    const left = new AbortController()
    const received = ask(
      paths['chat-completions'],
      post(requests['chat-completions'], {}, { signal: left.signal }),
    ).catch(() => {})
    await until(() => seen.calls.length === 1)
    await wait(30)
    left.abort()
    await received
    await until(() => seen.aborted === 1)
  })

  test('cancels the next attempt while it waits for one', async () => {
    const seen = await upstream(response => {
      response.writeHead(503, { 'retry-after': '1', 'content-type': 'application/json' })
      response.end('{}')
    })
    const ask = await start(one(seen.url, 'messages', { defaults: { retries: 3 } }))
    const left = new AbortController()
    const received = ask(
      paths.messages,
      post(requests.messages, {}, { signal: left.signal }),
    ).catch(() => {})
    await until(() => seen.calls.length === 1)
    left.abort()
    await received
    await wait(1_200)
    expect(seen.calls.length).toBe(1)
  })

  test('is recorded as a disconnect', async () => {
    const records: { status: number; failure?: string }[] = []
    const seen = await upstream(sendStream([...streams.messages.slice(0, 3), 10_000]))
    const ask = await start(one(seen.url, 'messages'), {
      onUsage: record => void records.push(record),
    })
    const left = new AbortController()
    const response = await ask(paths['chat-completions'], streaming(left.signal))
    const reader = (response.body as ReadableStream).getReader()
    await reader.read()
    left.abort()
    await reader.cancel().catch(() => {})
    await until(() => records.length === 1)
    expect(records).toMatchObject([{ status: 499, failure: 'client', error: 'cancelled' }])
  })
})

test('logs no error when a client disconnects before its request is complete', async () => {
  const reported: [level: string, details: object][] = []
  const report = (level: string) => (details: object) => void reported.push([level, details])
  const logger = { info: report('info'), warn: report('warn'), error: report('error') }
  const head =
    'POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"model"'
  const socket = connect(
    Number(new URL(await listen(mounted(undefined, { logger }))).port),
    '127.0.0.1',
  )
  await new Promise(resolve => socket.write(head, resolve))
  await wait(30)
  socket.destroy()
  await until(() => reported.length > 0)

  const broken = new ReadableStream({
    start: stream => stream.enqueue(new TextEncoder().encode('{"model"')),
    pull: stream => stream.error(new Error('the connection broke')),
  })
  const init = { ...post(''), body: broken, duplex: 'half' }
  const handler = listenedFetchGateway(one('http://upstream.test', 'messages'), { logger })
  await handler(new Request('http://gateway.test/v1/messages', init))
  await handler.close(0)
  expect(reported).toMatchObject([
    ['info', { status: 499, failure: 'client', error: 'cancelled' }],
    ['info', { status: 499, failure: 'client', error: 'cancelled' }],
  ])
})

describe('a fetch host that responds before it has read a request leaves the body to its server: canceling it would end that server, or the response', () => {
  const bodies: [string, (request: IncomingMessage) => ReadableStream][] = [
    ['Node makes it', request => Readable.toWeb(request) as ReadableStream],
    [
      'its source only pushes',
      request =>
        new ReadableStream({
          start(body) {
            request.on('data', chunk => body.enqueue(chunk)).on('end', () => body.close())
          },
        }),
    ],
    [
      'to cancel it destroys the request',
      request =>
        new ReadableStream({
          start(body) {
            request.on('data', chunk => body.enqueue(chunk)).on('end', () => body.close())
          },
          cancel: () => void request.destroy(),
        }),
    ],
  ]

  test.each(bodies)('%s', async (_, bodyOf) => {
    const config = {
      ...one('http://upstream.test', 'messages', { defaults: { bodyLimitBytes: 4096 } }),
      auth: undefined,
    }
    const handler = listenedFetchGateway({
      ...config,
      keys: [{ name: 'alice', key: 'client-secret' }],
    })
    const url = await listen(async (request, response) => {
      const { method = '', headers } = request
      const result = await handler(
        new Request(`http://gateway.test${request.url}`, {
          method,
          headers: headers as Record<string, string>,
          body: bodyOf(request),
          duplex: 'half',
        } as RequestInit),
      )
      response.writeHead(result.status).end(await result.text())
    })
    for (const [key, status] of [
      ['other', 401],
      ['client-secret', 413],
    ] as const) {
      const sending = httpRequest(`${url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
      })
      const reported = once(sending, 'response')
      sending.write(' '.repeat(8192))
      const [outcome] = (await reported) as [IncomingMessage]
      expect(outcome.statusCode).toBe(status)
      // The rest arrives when the response is known.
      sending.end(' '.repeat(8192))
      outcome.resume()
      await once(outcome, 'end')
    }
    await handler.close(0)
  })
})

test.each(['messages', 'chat-completions'] as const)(
  'applies back-pressure to the upstream when a client does not read: %s',
  async served => {
    let sent = 0
    const text = 'x'.repeat(64 * 1024)
    const filler =
      served === 'messages'
        ? `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${text}"}}\n\n`
        : `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}\n\n`
    const seen = await upstream(async response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(streams[served].slice(0, 2).join(''))
      const closed = new Promise(resolve => response.once('close', resolve))
      while (!response.destroyed && sent < 400) {
        sent++
        if (!response.write(filler))
          await Promise.race([closed, new Promise(resolve => response.once('drain', resolve))])
      }
      response.end()
    })
    const handler = mounted(one(seen.url, served))
    const url = await listen(handler)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.pause()
    const body = JSON.stringify({ ...requests['chat-completions'], stream: true })
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    await until(() => sent > 0)
    let before = -1
    while (before !== sent) {
      before = sent
      await wait(200)
    }
    expect(sent).toBeLessThan(400)
    socket.destroy()
    await until(() => seen.aborted === 1)
  },
)
