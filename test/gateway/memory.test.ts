import { request as httpRequest } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test, vi } from 'vitest'
import { createGateway, type GatewayConfig } from '../../src/gateway/gateway.ts'
import { gateway } from '../../src/hosts/connect.ts'
import { PlainAbortController } from '../../src/transports/abort-controller.ts'
import {
  after,
  asking,
  half,
  hosts,
  listen,
  mounted,
  one,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  streams,
  upstream,
} from './support.ts'

/** The bytes of all requests together are bounded. */

const memoryBytes = 1_000_000
const limited = (url: string, more: Partial<GatewayConfig> = {}) =>
  one(url, 'messages', { limits: { memoryBytes }, ...more })
const body = (length: number, more: object = {}) => ({
  ...requests.messages,
  ...more,
  messages: [{ role: 'user', content: 'x'.repeat(length) }],
})
const [[, start]] = hosts as [(typeof hosts)[number]]

/** Sends the head of a request, and as much of its body. */
async function begin(url: string, headers: Record<string, string | number>, sent: string) {
  const request = httpRequest(url + paths.messages, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  })
  after(() => request.destroy())
  const response = new Promise<{ status: number; headers: object; text: string }>(
    (resolve, reject) => {
      request.on('error', reject).on('response', async incoming => {
        let text = ''
        for await (const chunk of incoming) text += String(chunk)
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text })
      })
    },
  )
  response.catch(() => {})
  request.write(sent)
  return { request, response }
}

/** Holds a request in progress that has a body of this length. */
async function holding(url: string, length: number) {
  const held = await begin(url, { 'content-length': length }, '{')
  // Requests that are sent one after another come in any order.
  await new Promise(resolve => setTimeout(resolve, 50))
  return held
}

test('refuses a request in its dialect, before its body, when others have announced too much', async () => {
  const seen = await upstream(sendJson(200, responses.messages))
  const url = await listen(mounted(limited(seen.url)))
  const first = await holding(url, 700_000)
  const second = await begin(url, { 'content-length': 700_000 }, '{')
  const { status, headers, text } = await second.response
  expect([status, JSON.parse(text)]).toMatchObject([
    503,
    { type: 'error', error: { message: expect.stringContaining('too many large requests') } },
  ])
  expect(headers).toMatchObject({ 'retry-after': '1' })
  expect((await fetch(url + paths.messages, post(body(1_000)))).status).toBe(200)
  first.request.destroy()
  const again = async () => (await fetch(url + paths.messages, post(body(700_000)))).status
  await vi.waitFor(async () => expect(await again()).toBe(200))
})

test('counts a body without a length as it comes', async () => {
  const seen = await upstream(sendJson(200, responses.messages))
  const url = await listen(mounted(limited(seen.url)))
  await holding(url, 700_000)
  const { response } = await begin(url, { 'transfer-encoding': 'chunked' }, 'x'.repeat(400_000))
  expect((await response).status).toBe(503)
  expect((await fetch(url + paths.messages, post(body(1_000)))).status).toBe(200)
})

test('counts a compressed body with its size after decompression, while it grows', async () => {
  const seen = await upstream(sendJson(200, responses.messages))
  const url = await listen(mounted(limited(seen.url)))
  const compressed = (length: number): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: gzipSync(JSON.stringify(body(length))),
  })
  const held = await holding(url, 500_000)
  expect((await fetch(url + paths.messages, compressed(600_000))).status).toBe(503)
  expect((await fetch(url + paths.messages, compressed(300_000))).status).toBe(200)
  held.request.destroy()
  // One that never fits is the fault of the request.
  expect((await fetch(url + paths.messages, compressed(1_200_000))).status).toBe(413)
})

test('reserves half of the memory for other keys', async () => {
  const seen = await upstream(sendJson(200, responses.messages))
  const keys = [
    { name: 'a', key: 'a-secret' },
    { name: 'b', key: 'b-secret' },
  ]
  const config = limited(seen.url, { auth: undefined, keys })
  const url = await listen(gateway(config, { logger: false }))
  const as = (key: string) => ({ authorization: `Bearer ${key}` })
  await begin(url, { 'content-length': 400_000, ...as('a-secret') }, '{')
  await new Promise(resolve => setTimeout(resolve, 50))
  const status = async (key: string) =>
    (await fetch(url + paths.messages, post(body(200_000), as(key)))).status
  expect(await status('a-secret')).toBe(503)
  expect(await status('b-secret')).toBe(200)
})

test('gives the memory back in whatever way a request ends', async () => {
  const seen = await upstream(
    sendJson(200, responses.messages),
    sendJson(400, { type: 'error', error: { type: 'invalid_request_error', message: 'No.' } }),
    sendStream(streams.messages),
    sendStream(half('messages'), { cut: true }),
  )
  const url = await listen(mounted(limited(seen.url)))
  const large = (more: object = {}) => fetch(url + paths.messages, post(body(600_000, more)))
  expect((await large()).status).toBe(200)
  expect((await large()).status).toBe(400)
  await (await large({ stream: true })).text()
  await (await large({ stream: true })).text().catch(() => undefined)
  expect((await large({ model: 'unknown' })).status).toBe(404)
  expect((await large({ messages: 5, x: 'x'.repeat(600_000) })).status).toBeLessThan(500)
  const invalid = { ...post({}), body: `{"model": "m", ${'x'.repeat(600_000)}` }
  expect((await fetch(url + paths.messages, invalid)).status).toBe(400)
  const gone = await holding(url, 600_000)
  gone.request.destroy()
  await vi.waitFor(async () => expect((await large()).status).not.toBe(503))
})

test('keeps nothing for a stream that has begun', async () => {
  let finish = () => {}
  const finished = new Promise<void>(resolve => (finish = resolve))
  const seen = await upstream(sendStream([...half('messages'), () => finished]))
  const url = await listen(mounted(limited(seen.url)))
  const stream = () =>
    fetch(url + paths.messages, post(body(600_000, { stream: true }))).then(response => {
      expect(response.status).toBe(200)
      return response.body?.getReader()
    })
  const readers = [await stream(), await stream()]
  for (const reader of readers) expect((await reader?.read())?.done).toBe(false)
  finish()
  for (const reader of readers) await reader?.cancel()
})

test('refuses an unknown model of the path before it decompresses the body', async () => {
  const ask = await start(one('http://127.0.0.1:1', 'messages'))
  const [path] = asking('generate-content', { model: 'unknown' })
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  const response = await ask(path, { method: 'POST', headers, body: 'no gzip' })
  expect(response.status).toBe(404)
})

afterEach(() => vi.useRealTimers())

test('refuses a body that stops in the middle', async () => {
  vi.useFakeTimers()
  const { handle, close } = createGateway(one('http://127.0.0.1:1', 'messages'))
  let returned = false
  const bytes = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise<IteratorResult<Uint8Array>>(() => {}),
      return: async () => {
        returned = true
        return { done: true as const, value: undefined }
      },
    }),
  }
  const response = handle({
    method: 'POST',
    path: paths.messages,
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/json' },
    body: { bytes },
    signal: new PlainAbortController(),
  })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await response).toMatchObject({ status: 408, headers: { connection: 'close' } })
  expect(returned).toBe(true)
  vi.useRealTimers()
  await close(0)
})
