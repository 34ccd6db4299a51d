import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { strictOf } from '../../src/testing/strict/index.ts'
import { listenedFetchGateway } from './listening.ts'
import {
  after,
  asking,
  hostsOf,
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
  until,
  upstream,
  wait,
} from './support.ts'

const chat = post(requests['chat-completions'])
const path = paths['chat-completions']
const bad = (status: number, headers: Record<string, string> = {}) =>
  sendJson(status, { error: { message: `Failure ${status}` } }, headers)
const good = sendJson(200, responses['chat-completions'])
const channel = (name: string, baseUrl: string, more: object = {}) => ({
  name,
  protocols: ['chat-completions' as const],
  baseUrl,
  ...more,
})

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each([429, 500, 502, 503, 529])(
    'status %i is retried at the same channel, and the client gets the response',
    async status => {
      const seen = await upstream(bad(status), good)
      const ask = await start(one(seen.url, 'chat-completions', { defaults: { retries: 2 } }))
      expect((await ask(path, chat)).status).toBe(200)
      expect(seen.calls.length).toBe(2)
    },
  )

  test('a channel is skipped after its retries, and the next one responds', async () => {
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

  test.each([401, 402, 403, 404])(
    'reports the channel when it refuses with %i and the next one responds',
    async status => {
      const [first, second] = [await upstream(bad(status)), await upstream(good)]
      const lines: object[] = []
      const warn = (details: object) => lines.push(details)
      const ask = await start(
        {
          auth: 'none',
          channels: [channel('first', first.url), channel('second', second.url)],
          models: [{ id: 'm', channels: [{ name: 'first' }, { name: 'second', priority: 1 }] }],
        },
        { logger: { info() {}, warn, error: warn } },
      )
      expect((await ask(path, chat)).status).toBe(200)
      expect([first.calls.length, second.calls.length]).toEqual([1, 1])
      expect(lines).toMatchObject([
        { channel: 'first', model: 'm', status, failure: 'upstream_status' },
      ])
    },
  )

  test('a channel that does not respond in time is skipped for the next one', async () => {
    const [first, second] = [await upstream(() => {}), await upstream(good)]
    const ask = await start({
      auth: 'none',
      channels: [
        channel('first', first.url, { timeouts: { firstByteMs: 300 } }),
        channel('second', second.url),
      ],
      models: [{ id: 'm', channels: [{ name: 'first' }, { name: 'second', priority: 1 }] }],
    })
    expect((await ask(path, chat)).status).toBe(200)
    expect([first.calls.length, second.calls.length]).toEqual([1, 1])
  })

  test('a total timeout applies to the channel that has one, after any other channel', async () => {
    const [first, second] = [await upstream(bad(500)), await upstream(() => {})]
    const ask = await start({
      auth: 'none',
      channels: [
        channel('first', first.url),
        channel('second', second.url, { timeouts: { totalMs: 100 } }),
      ],
      models: [{ id: 'm', channels: [{ name: 'first' }, { name: 'second', priority: 1 }] }],
      defaults: { retries: 0 },
    })
    const response = await ask(path, chat)
    expect(response.status).toBe(504)
    expect(await response.text()).toContain('took too long')
  })

  test.each<[string, Record<string, string>, number]>([
    ['retry-after-ms', { 'retry-after-ms': '400' }, 400],
    ['retry-after', { 'retry-after': '1' }, 1000],
  ])('waits as long as the upstream requires by %s', async (_name, headers, ms) => {
    const seen = await upstream(bad(429, headers), good)
    const ask = await start(one(seen.url, 'chat-completions', { defaults: { retries: 1 } }))
    const started = Date.now()
    expect((await ask(path, chat)).status).toBe(200)
    expect(Date.now() - started).toBeGreaterThanOrEqual(ms - 5)
  })

  test('waits until a retry date, and not for a past one', async () => {
    const soon = new Date(Date.now() + 3_000).toUTCString()
    const seen = await upstream(
      bad(429, { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }),
      bad(429, { 'retry-after': soon }),
      good,
    )
    const ask = await start(one(seen.url, 'chat-completions', { defaults: { retries: 2 } }))
    expect((await ask(path, chat)).status).toBe(200)
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(soon) - 5)
  })

  test('returns a retry time that is too long to the client, after trying the next channel', async () => {
    const [first, second] = [
      await upstream(bad(429, { 'retry-after': '60' })),
      await upstream(bad(500)),
    ]
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

  test('a spent quota is not retried at its channel, and clients are told not to retry', async () => {
    const quota = sendJson(429, {
      error: { message: 'Out of credit', type: 'insufficient_quota', code: 'insufficient_quota' },
    })
    const seen = await upstream(quota)
    const ask = await start(one(seen.url, 'chat-completions', { defaults: { retries: 2 } }))
    for (const client of ['chat-completions', 'messages', 'generate-content'] as const) {
      const response = await ask(...asking(client))
      expect(response.status).toBe(429)
      expect(response.headers.get('x-should-retry')).toBe('false')
      // Nobody knows when.
      expect(response.headers.get('retry-after')).toBeNull()
      expect(await response.text()).toContain('Out of credit')
    }
    expect(seen.calls).toHaveLength(3)
    const other = await upstream(good)
    const both = await start({
      auth: 'none',
      channels: [channel('spent', seen.url), channel('other', other.url)],
      models: [{ id: 'm', channels: [{ name: 'spent' }, { name: 'other', priority: 1 }] }],
    })
    expect((await both(path, chat)).status).toBe(200)
    expect(seen.calls).toHaveLength(4)
  })

  test.each([
    ['in a header', {}, { 'retry-after': '3600', 'x-should-retry': 'true' }],
    ['in its body', { resets_in_seconds: 3600 }, {}],
  ])(
    'a spent quota whose end the upstream says %s has its real time for every client',
    async (_, more, headers: Record<string, string>) => {
      const error = { message: 'Out of credit', type: 'insufficient_quota', ...more }
      const seen = await upstream(sendJson(429, { error }, headers))
      const ask = await start(one(seen.url, 'chat-completions'))
      for (const client of Object.keys(paths) as (keyof typeof paths)[])
        for (const stream of [false, true]) {
          const response = await ask(...asking(client, { stream }))
          const told = ['retry-after', 'x-should-retry'].map(name => response.headers.get(name))
          expect([client, response.status, ...told]).toEqual([client, 429, '3600', 'false'])
        }
    },
  )

  test('a balance that is used up leads to the next channel, whatever the status', async () => {
    const spent = await upstream(
      sendJson(400, {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'Your credit balance is too low' },
      }),
    )
    const other = await upstream(good)
    const ask = await start({
      auth: 'none',
      channels: [
        { name: 'spent', protocols: ['messages'], baseUrl: spent.url },
        channel('other', other.url),
      ],
      models: [{ id: 'm', channels: [{ name: 'spent' }, { name: 'other', priority: 1 }] }],
    })
    expect((await ask(path, chat)).status).toBe(200)
    expect([spent.calls.length, other.calls.length]).toEqual([1, 1])
  })

  test('a time in an error that nobody could wait for is no header', async () => {
    const error = { message: 'Out', type: 'insufficient_quota', resets_in_seconds: 1e300 }
    const ask = await start(one((await upstream(sendJson(429, { error }))).url, 'chat-completions'))
    for (const client of Object.keys(paths) as (keyof typeof paths)[])
      expect((await ask(...asking(client))).headers.get('retry-after')).toBeNull()
  })

  test('does not retry when the upstream forbids it', async () => {
    const seen = await upstream(bad(500, { 'x-should-retry': 'false' }), good)
    const ask = await start(one(seen.url, 'chat-completions', { defaults: { retries: 2 } }))
    expect((await ask(path, chat)).status).toBe(500)
    expect(seen.calls.length).toBe(1)
  })

  test.each([401, 402, 403, 404])(
    'status %i of one channel leads to the next, and is sent when none is left',
    async status => {
      const channels = (one: string, other: string) => ({
        auth: 'none' as const,
        channels: [channel('first', one), channel('second', other)],
        models: [{ id: 'm', channels: [{ name: 'first' }, { name: 'second', priority: 1 }] }],
        defaults: { retries: 2 },
      })
      const [refusing, well, busy] = [
        await upstream(bad(status)),
        await upstream(good),
        await upstream(bad(429, { 'retry-after': '60' })),
      ]
      expect((await (await start(channels(refusing.url, well.url)))(path, chat)).status).toBe(200)
      expect(refusing.calls.length).toBe(1)
      expect((await (await start(one(refusing.url, 'chat-completions')))(path, chat)).status).toBe(
        status === 401 ? 502 : status,
      )
      expect((await (await start(channels(refusing.url, busy.url)))(path, chat)).status).toBe(429)
    },
  )

  test.each([400, 413, 422])(
    'does not retry status %i, and uses no other channel',
    async status => {
      const [first, second] = [await upstream(bad(status)), await upstream(good)]
      const ask = await start({
        auth: 'none',
        channels: [channel('first', first.url), channel('second', second.url)],
        models: [{ id: 'm', channels: [{ name: 'first' }, { name: 'second', priority: 1 }] }],
      })
      expect((await ask(path, chat)).status).toBe(status)
      expect([first.calls.length, second.calls.length]).toEqual([1, 0])
    },
  )

  /** Two channels for one model, and keys for several clients. */
  const twoChannels = (first: string, second: string, breaker: object) => ({
    keys: ['alice', 'bob', 'mallory'].map(name => ({ name, key: `client-secret-${name}` })),
    channels: [channel('first', first, { breaker }), channel('second', second, { breaker })],
    models: [{ id: 'm', channels: [{ name: 'first' }, { name: 'second', priority: 1 }] }],
    defaults: { retries: 1, retryWaitMs: 10 },
  })
  const as = (name: string, content = 'Hi') =>
    post(
      { ...requests['chat-completions'], messages: [{ role: 'user', content }] },
      { authorization: `Bearer client-secret-${name}` },
    )

  test('tries the least bad channel when all are open, with one attempt, and tries both again later', async () => {
    const first = await upstream(bad(500), bad(500), bad(500), bad(503), good)
    const second = await upstream(bad(500))
    const breaker = { failures: 3, restMs: 60_500 }
    const ask = await start({
      auth: 'none',
      channels: [
        channel('first', first.url, { breaker }),
        channel('second', second.url, { breaker }),
      ],
      models: [{ id: 'm', channels: [{ name: 'first' }, { name: 'second', priority: 1 }] }],
      defaults: { retries: 0 },
    })
    for (let i = 0; i < 3; i++) expect((await ask(path, chat)).status).toBe(500)
    expect([first.calls.length, second.calls.length]).toEqual([3, 3])
    const failed = await ask(path, chat)
    expect(failed.status).toBe(503)
    expect(await failed.text(), 'the words of the upstream').toContain('Failure 503')
    expect([first.calls.length, second.calls.length]).toEqual([4, 3])
    const served = await ask(path, chat)
    expect(served.status).toBe(200)
    expect(served.headers.get('wireglot-notes') ?? '').not.toContain('failed-over')
    expect((await ask(path, chat)).status, 'the success has closed the circuit').toBe(200)
    expect(second.calls.length).toBe(3)
  })

  test('tries an open channel when the other one fails', async () => {
    const first = await upstream(bad(500), bad(500), good)
    const second = await upstream(good, good, bad(401))
    const ask = await start({
      ...twoChannels(first.url, second.url, { failures: 2, restMs: 60_000 }),
      defaults: { retries: 0 },
    })
    for (let i = 0; i < 3; i++) expect((await ask(path, as('alice'))).status).toBe(200)
    expect([first.calls.length, second.calls.length]).toEqual([3, 3])
  })

  test('requests of one client that always fail do not take channels away from others', async () => {
    const onlyMallory: Parameters<typeof upstream>[0] = (response, { text }) =>
      (text.includes('crash') ? bad(500) : good)(response)
    const [first, second] = [await upstream(onlyMallory), await upstream(onlyMallory)]
    const ask = await start(twoChannels(first.url, second.url, { failures: 5, restMs: 60_000 }))
    expect((await ask(path, as('alice'))).status).toBe(200)
    for (let i = 0; i < 8; i++) {
      expect((await ask(path, as('mallory', 'crash'))).status).toBe(500)
      const served = await ask(path, as(i % 2 ? 'alice' : 'bob'))
      expect(served.status).toBe(200)
      expect(served.headers.get('wireglot-notes') ?? '').not.toContain('failed-over')
    }
    const before = first.calls.length
    for (let i = 0; i < 8; i++) await ask(path, as('mallory', 'crash'))
    expect(first.calls.length, 'no circuit is open, so each is tried and retried').toBe(before + 16)
    expect((await ask(path, as('alice'))).status).toBe(200)
  })

  test('always asks the upstream of the only channel, however often it failed', async () => {
    const broken = await upstream(bad(500), bad(500), bad(500), bad(500), good)
    const ask = await start(
      one(
        broken.url,
        'chat-completions',
        { defaults: { retries: 0 } },
        {},
        { breaker: { failures: 2, restMs: 60_000 } },
      ),
    )
    for (let i = 0; i < 4; i++) expect((await ask(path, chat)).status).toBe(500)
    expect((await ask(path, chat)).status).toBe(200)
    expect(broken.calls.length).toBe(5)
  })

  test('skips a channel while its breaker is open', async () => {
    const [broken, well] = [await upstream(bad(500)), await upstream(good)]
    const ask = await start({
      auth: 'none',
      channels: [
        channel('broken', broken.url, { breaker: { failures: 2, restMs: 60_000 } }),
        channel('well', well.url),
      ],
      models: [{ id: 'm', channels: [{ name: 'broken' }, { name: 'well', priority: 1 }] }],
      defaults: { retries: 0 },
    })
    for (let i = 0; i < 5; i++) expect((await ask(path, chat)).status).toBe(200)
    expect(broken.calls.length).toBe(2)
  })

  test('an exchange that waits for its next attempt while others find the channel failing continues at the next channel', async () => {
    const [broken, well] = [await upstream(bad(500)), await upstream(good)]
    const resting = channel('broken', broken.url, { breaker: { failures: 3, restMs: 60_000 } })
    const atOnce = async (channels: { name: string; priority: number }[]) => {
      const ask = await start({
        auth: 'none',
        channels: [resting, channel('well', well.url)],
        models: [{ id: 'm', channels }],
        defaults: { retries: 3 },
      })
      return Promise.all(Array.from({ length: 4 }, async () => (await ask(path, chat)).text()))
    }
    for (const text of await atOnce([{ name: 'broken', priority: 0 }]))
      expect(text).toContain('Failure 500')
    const responded = await atOnce([
      { name: 'broken', priority: 0 },
      { name: 'well', priority: 1 },
    ])
    for (const text of responded) expect(JSON.parse(text)).toEqual(responses['chat-completions'])
  })

  test('does not open the breaker after refusals and rate limits', async () => {
    const seen = await upstream(bad(400), bad(429), bad(404), bad(429), good)
    const ask = await start(
      one(seen.url, 'chat-completions', {}, {}, { breaker: { failures: 2, restMs: 60_000 } }),
    )
    for (const status of [400, 429, 404, 429, 200])
      expect((await ask(path, chat)).status).toBe(status)
  })

  test('does not reset the failures of a channel when a client disconnects', async () => {
    const seen = await upstream(bad(500), () => {}, bad(500), good)
    const second = await upstream(bad(429))
    const ask = await start({
      auth: 'none',
      channels: [
        channel('first', seen.url, { breaker: { failures: 2, restMs: 60_000 } }),
        channel('second', second.url),
      ],
      models: [{ id: 'm', channels: [{ name: 'first' }, { name: 'second', priority: 1 }] }],
      defaults: { retries: 0 },
    })
    expect((await ask(path, chat)).status).toBe(500)
    const client = new AbortController()
    const left = ask(path, { ...chat, signal: client.signal }).catch(() => undefined)
    await until(() => seen.calls.length === 2)
    client.abort()
    await left
    await wait(20)
    expect((await ask(path, chat)).status).toBe(500)
    // Now its breaker is open, and only the other channel gets requests.
    expect((await ask(path, chat)).status).toBe(429)
    expect(seen.calls.length).toBe(3)
  })

  test('never opens the breaker when `failures` is 0', async () => {
    const seen = await upstream(bad(500))
    const ask = await start(one(seen.url, 'chat-completions', {}, {}, { breaker: { failures: 0 } }))
    for (let i = 0; i < 8; i++) expect((await ask(path, chat)).status).toBe(500)
  })

  test('does not retry a stream after its first byte', async () => {
    const seen = await upstream(
      sendStream(streams['chat-completions'].slice(0, 2), { cut: true }),
      good,
    )
    const ask = await start(one(seen.url, 'chat-completions', { defaults: { retries: 3 } }))
    const text = await (
      await ask(path, post({ ...requests['chat-completions'], stream: true }))
    ).text()
    expect(text).toContain('"error"')
    expect(seen.calls.length).toBe(1)
  })
})

test('increases waits up to a limit, with jitter', async () => {
  const waits: number[][] = []
  const retryWaitMs = 2_000
  const { setTimeout: real } = globalThis
  // Connections of the tests before may still have timers.
  const isWait = () => new Error('whose timer').stack?.includes('upstream/attempts.ts')
  const clock = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    act: () => void,
    ms = 0,
  ) => {
    if (!isWait()) return real(act, ms)
    waits.at(-1)?.push(ms)
    return real(act, 0)
  }) as typeof setTimeout)
  after(() => clock.mockRestore())
  const transport = {
    send: async () => ({ status: 503, headers: {}, body: (async function* () {})() }),
  }
  const timeouts = { connectMs: 0, firstByteMs: 0, idleMs: 0, totalMs: 0 }
  const config = one(
    'http://upstream.test',
    'chat-completions',
    { defaults: { retries: 6, retryWaitMs } },
    {},
    { timeouts, breaker: { failures: 0 } },
  )
  const handler = listenedFetchGateway(config, { transport })
  for (let i = 0; i < 50; i++) {
    waits.push([])
    expect((await handler(new Request(`http://gateway.test${path}`, chat))).status).toBe(503)
  }
  expect(waits.every(({ length }) => length === 6)).toBe(true)
  const mean = (at: number) => waits.reduce((sum, one) => sum + (one[at] ?? 0), 0) / waits.length
  expect(mean(0)).toBeGreaterThan(10)
  for (const at of [2, 4]) expect(mean(at)).toBeGreaterThan(mean(at - 2) * 1.5)
  expect(Math.max(...waits.flat())).toBeLessThanOrEqual(retryWaitMs)
  expect(new Set(waits.map(([first]) => first)).size).toBeGreaterThan(25)
})

test.each(['chat-completions', 'messages'] as const)(
  'a connection that is not made in time is skipped for the next channel, or reported as a timeout: %s',
  async client => {
    // It takes the connection, and never says hello.
    let met = 0
    const mute = createServer(socket => {
      met++
      socket.on('error', () => {})
    })
    await new Promise<void>(resolve => mute.listen(0, '127.0.0.1', resolve))
    const { port } = mute.address() as AddressInfo
    after(() => mute.close())
    const timeouts = { connectMs: 300, firstByteMs: 60_000 }
    const first = channel('first', `https://127.0.0.1:${port}`, { timeouts })
    const second = await upstream(good)
    for (const [channels, status] of [
      [[first], 504],
      [[first, channel('second', second.url)], 200],
    ] as const) {
      const url = await listen(
        mounted({
          auth: 'none',
          channels: [...channels],
          models: [
            { id: 'm', channels: channels.map(({ name }, priority) => ({ name, priority })) },
          ],
          defaults: { retries: 0 },
        }),
      )
      const [received, init] = asking(client)
      const response = await fetch(url + received, init)
      const text = await response.text()
      expect(response.status, text).toBe(status)
      expect(met).toBeGreaterThan(0)
      met = 0
      if (status === 504) expect(strictOf(client).checkError(JSON.parse(text))).toEqual([])
    }
  },
)
