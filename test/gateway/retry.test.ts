import { describe, expect, test } from 'vitest'
import { hosts, one, paths, post, replies, requests, sendJson, sendStream, streams, upstream, wait } from './support.ts'

const chat = post(requests['chat-completions'])
const path = paths['chat-completions']
const bad = (status: number, headers: Record<string, string> = {}) => sendJson(status, { error: { message: `Failure ${status}` } }, headers)
const good = sendJson(200, replies['chat-completions'])
const channel = (name: string, baseUrl: string, more: object = {}) => ({ name, protocols: ['chat-completions' as const], baseUrl, ...more })

describe.each(hosts)('through %s', (_, start) => {
  test.each([429, 500, 502, 503, 529])('status %i is tried again at the same channel, and the client sees the answer', async status => {
    const seen = await upstream(bad(status), good)
    const ask = await start(one(seen.url, 'chat-completions', { defaults: { retries: 2 } }))
    expect((await ask(path, chat)).status).toBe(200)
    expect(seen.calls.length).toBe(2)
  })

  test('a channel is given up after its retries, and the next one answers', async () => {
    const [first, second] = [await upstream(bad(503)), await upstream(good)]
    const ask = await start({
      auth: 'none',
      channels: [channel('first', first.url), channel('second', second.url)],
      models: [{ id: 'm', channels: [{ name: 'first' }, { name: 'second', priority: 1 }] }],
      defaults: { retries: 2 },
    })
    expect((await ask(path, chat)).status).toBe(200)
    expect([first.calls.length, second.calls.length]).toEqual([3, 1])
  })

  test('a channel that does not answer in time is left for the next one', async () => {
    const [first, second] = [await upstream(() => {}), await upstream(good)]
    const ask = await start({
      auth: 'none',
      channels: [channel('first', first.url, { timeouts: { firstByteMs: 300 } }), channel('second', second.url)],
      models: [{ id: 'm', channels: [{ name: 'first' }, { name: 'second', priority: 1 }] }],
    })
    expect((await ask(path, chat)).status).toBe(200)
    expect([first.calls.length, second.calls.length]).toEqual([1, 1])
  })

  test('waits grow, and none is as long as the last one may be', async () => {
    const seen = await upstream(bad(503), bad(503), bad(503), good)
    const ask = await start(one(seen.url, 'chat-completions', { defaults: { retries: 3, retryWaitMs: 200 } }))
    const started = Date.now()
    expect((await ask(path, chat)).status).toBe(200)
    expect(Date.now() - started).toBeLessThan(3 * 200 + 500)
  })

  test.each<[string, Record<string, string>, number]>([
    ['retry-after-ms', { 'retry-after-ms': '400' }, 400],
    ['retry-after', { 'retry-after': '1' }, 1000],
  ])('a wait that the upstream asks for by %s is kept', async (_name, headers, ms) => {
    const seen = await upstream(bad(429, headers), good)
    const ask = await start(one(seen.url, 'chat-completions', { defaults: { retries: 1 } }))
    const started = Date.now()
    expect((await ask(path, chat)).status).toBe(200)
    expect(Date.now() - started).toBeGreaterThanOrEqual(ms - 5)
  })

  test('a wait that is too long is the client’s to decide, after the next channel has been tried', async () => {
    const [first, second] = [await upstream(bad(429, { 'retry-after': '60' })), await upstream(bad(500))]
    const ask = await start({
      auth: 'none',
      channels: [channel('first', first.url), channel('second', second.url)],
      models: [{ id: 'm', channels: [{ name: 'first' }, { name: 'second', priority: 1 }] }],
      defaults: { retries: 0 },
    })
    const response = await ask(path, chat)
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await response.text()).toContain('Failure 429')
    expect([first.calls.length, second.calls.length]).toEqual([1, 1])
  })

  test('an upstream that forbids retries is obeyed', async () => {
    const seen = await upstream(bad(500, { 'x-should-retry': 'false' }), good)
    const ask = await start(one(seen.url, 'chat-completions', { defaults: { retries: 2 } }))
    expect((await ask(path, chat)).status).toBe(500)
    expect(seen.calls.length).toBe(1)
  })

  test.each([400, 401, 403, 404, 413, 422])('status %i is nobody else’s to answer: no retry, no other channel', async status => {
    const [first, second] = [await upstream(bad(status)), await upstream(good)]
    const ask = await start({
      auth: 'none',
      channels: [channel('first', first.url), channel('second', second.url)],
      models: [{ id: 'm', channels: [{ name: 'first' }, { name: 'second', priority: 1 }] }],
    })
    expect((await ask(path, chat)).status).toBe(status)
    expect([first.calls.length, second.calls.length]).toEqual([1, 0])
  })

  test('a channel that keeps failing is left alone for a while, then one call tries whether it is well again', async () => {
    const broken = await upstream(bad(500), bad(500), bad(500), good)
    const config = one(broken.url, 'chat-completions', {}, {}, { breaker: { failures: 3, restMs: 300 } })
    const ask = await start(config)
    for (let i = 0; i < 3; i++) expect((await ask(path, chat)).status).toBe(500)
    const resting = await ask(path, chat)
    expect(resting.status).toBe(503)
    expect(Number(resting.headers.get('retry-after-ms'))).toBeGreaterThan(0)
    expect(Number(resting.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(broken.calls.length).toBe(3)
    await wait(320)
    expect((await ask(path, chat)).status).toBe(200)
    expect((await ask(path, chat)).status).toBe(200)
  })

  test('while a channel rests the next one answers at once', async () => {
    const [broken, well] = [await upstream(bad(500)), await upstream(good)]
    const ask = await start({
      auth: 'none',
      channels: [channel('broken', broken.url, { breaker: { failures: 2, restMs: 60_000 } }), channel('well', well.url)],
      models: [{ id: 'm', channels: [{ name: 'broken' }, { name: 'well', priority: 1 }] }],
      defaults: { retries: 0 },
    })
    for (let i = 0; i < 5; i++) expect((await ask(path, chat)).status).toBe(200)
    expect(broken.calls.length).toBe(2)
  })

  test('refusals and limits do not make a channel rest', async () => {
    const seen = await upstream(bad(400), bad(429), bad(404), bad(429), good)
    const ask = await start(one(seen.url, 'chat-completions', {}, {}, { breaker: { failures: 2, restMs: 60_000 } }))
    for (const status of [400, 429, 404, 429, 200]) expect((await ask(path, chat)).status).toBe(status)
  })

  test('0 failures: it never rests', async () => {
    const seen = await upstream(bad(500))
    const ask = await start(one(seen.url, 'chat-completions', {}, {}, { breaker: { failures: 0 } }))
    for (let i = 0; i < 8; i++) expect((await ask(path, chat)).status).toBe(500)
  })

  test('a stream that fails after its first byte is not sent again', async () => {
    const seen = await upstream(sendStream(streams['chat-completions'].slice(0, 2), { cut: true }), good)
    const ask = await start(one(seen.url, 'chat-completions', { defaults: { retries: 3 } }))
    const text = await (await ask(path, post({ ...requests['chat-completions'], stream: true }))).text()
    expect(text).toContain('"error"')
    expect(seen.calls.length).toBe(1)
  })
})
