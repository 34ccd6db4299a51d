import { createSecureServer, type Http2SecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { selfSigned } from '../support/certificate.ts'
import {
  after,
  asking,
  hosts,
  isStreaming,
  one,
  paths,
  post,
  requests,
  responses,
  sent,
  streams,
  type Upstream,
  until,
} from './support.ts'

beforeEach(() => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
})
afterEach(() => {
  vi.unstubAllEnvs()
})

const start = hosts[0]?.[1] ?? expect.fail('no host')

/** An upstream that takes HTTP/2 alone, or HTTP/1.1, too. `closed`: streams that were aborted. */
async function secureUpstream(allowHTTP1: boolean, isEndless = false) {
  const versions: string[] = []
  const seen = { url: '', versions, closed: 0, calls: [] as Partial<Upstream['calls'][number]>[] }
  const server: Http2SecureServer = createSecureServer({ ...selfSigned(), allowHTTP1 })
  server.on('request', async (request, response) => {
    versions.push(request.httpVersion)
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const call = { path: request.url, json: JSON.parse(text) as Record<string, unknown> }
    seen.calls.push(call)
    response.on('close', () => {
      if (!response.writableEnded) seen.closed++
    })
    if (!isStreaming('messages', call as Upstream['calls'][number])) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(responses.messages))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const frame of isEndless ? streams.messages.slice(0, 3) : streams.messages)
      response.write(frame)
    if (!isEndless) response.end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  seen.url = `https://localhost:${(server.address() as AddressInfo).port}`
  return seen
}

test('an upstream that speaks HTTP/2 alone is reached', async () => {
  const seen = await secureUpstream(false)
  const ask = await start(one(seen.url, 'messages'))
  for (const size of [1, 100_000]) {
    const system = 'x'.repeat(size)
    const whole = await ask(paths.messages, post({ ...requests.messages, system }))
    expect(await whole.json()).toEqual(responses.messages)
    expect(seen.calls.at(-1)?.json).toMatchObject({ system })
  }
  const stream = await ask(...asking('messages', { stream: true }))
  expect(await sent(await stream.text(), 'messages')).toBe('Hello')
  expect(seen.versions).toEqual(['2.0', '2.0', '2.0'])
})

test('its stream is aborted when the client leaves', async () => {
  const seen = await secureUpstream(false, true)
  const ask = await start(one(seen.url, 'messages'))
  const leaving = new AbortController()
  const [path, init] = asking('messages', { stream: true })
  const response = await ask(path, { ...init, signal: leaving.signal })
  await response.body?.getReader().read()
  leaving.abort()
  await until(() => seen.closed === 1)
})

test('one that takes both gets HTTP/1.1', async () => {
  const seen = await secureUpstream(true)
  const ask = await start(one(seen.url, 'messages'))
  expect((await ask(paths.messages, post(requests.messages))).status).toBe(200)
  expect(seen.versions).toEqual(['1.1'])
})
