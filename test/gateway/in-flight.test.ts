import { describe, expect, test } from 'vitest'
import type { GatewayConfig, Hooks, UsageRecord } from '../../src/gateway/gateway.ts'
import { createInFlight } from '../../src/gateway/in-flight.ts'
import {
  asking,
  hostsOf,
  one,
  type Protocol,
  post,
  responses,
  sendJson,
  sent,
  streams,
  until,
  upstream,
  wait,
} from './support.ts'

/**
 * An upstream that responds to each call when `open` is called, with a stream on request. `most`:
 * the most calls at the same time.
 */
async function gated(protocol: Protocol, status = 200) {
  const opening: (() => void)[] = []
  const state = { now: 0, most: 0, isOpen: false, open: () => {} }
  const seen = await upstream(async (response, call) => {
    state.most = Math.max(state.most, ++state.now)
    response.on('close', () => state.now--)
    const isStream = call.json['stream'] === true
    response.writeHead(status, {
      'content-type': isStream ? 'text/event-stream' : 'application/json',
    })
    if (isStream) response.write(streams[protocol].slice(0, 2).join(''))
    if (!state.isOpen) await new Promise<void>(resolve => opening.push(resolve))
    response.end(
      isStream ? streams[protocol].slice(2).join('') : JSON.stringify(responses[protocol]),
    )
  })
  state.open = () => {
    state.isOpen = true
    for (const resolve of opening.splice(0)) resolve()
  }
  return { seen, state }
}

const keyed = (url: string, more: Partial<GatewayConfig> = {}): GatewayConfig => {
  const { auth: _, ...config } = one(url, 'messages', more)
  return {
    ...config,
    keys: [
      { name: 'k', key: 'client-secret', concurrentRequests: 2 },
      { name: 'free', key: 'free-secret' },
    ],
  }
}

const withKey = (key: string, more: Record<string, unknown> = {}) =>
  asking('messages', more, { 'x-api-key': key })

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test('makes requests of a key wait above its limit', async () => {
    const { seen, state } = await gated('messages')
    const ask = await start(keyed(seen.url))
    const responses = Array.from({ length: 6 }, () => ask(...withKey('client-secret')))
    await until(() => seen.calls.length === 2)
    expect(
      (await Promise.all([ask('/v1/models', { headers: { 'x-api-key': 'client-secret' } })]))[0]
        .status,
      'listings do not wait',
    ).toBe(200)
    state.open()
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([
      200, 200, 200, 200, 200, 200,
    ])
    expect(state.most).toBe(2)
  })

  test('does not make another key wait', async () => {
    const { seen, state } = await gated('messages')
    const ask = await start(keyed(seen.url))
    const responses = [1, 2, 3].map(() => ask(...withKey('client-secret')))
    await until(() => seen.calls.length === 2)
    const other = ask(...withKey('free-secret'))
    await until(() => seen.calls.length === 3)
    state.open()
    for (const response of [...responses, other]) expect((await response).status).toBe(200)
  })

  test.each<Protocol>(['chat-completions', 'responses', 'messages', 'generate-content'])(
    'returns 429 in the dialect of %s when the queue is full',
    async client => {
      const { seen, state } = await gated('messages')
      const records: UsageRecord[] = []
      const ask = await start(keyed(seen.url, { defaults: { queueLimit: 1 } }), {
        logger: false,
        onUsage: record => void records.push(record),
      })
      const received = () => ask(...asking(client, {}, { authorization: 'Bearer client-secret' }))
      const responses = [received(), received()]
      await until(() => seen.calls.length === 2)
      const both = [received(), received()]
      const refused = await Promise.race(both)
      expect(refused.status).toBe(429)
      expect(refused.headers.get('retry-after')).toBe('1')
      expect(await refused.text()).toContain('too many requests at the same time for this API key')
      state.open()
      const statuses = await Promise.all(
        [...responses, ...both].map(async response => (await response).status),
      )
      expect(statuses.sort()).toEqual([200, 200, 200, 429])
    },
  )

  test('returns 429 after waiting too long', async () => {
    const { seen, state } = await gated('messages')
    const ask = await start(keyed(seen.url, { defaults: { queueWaitMs: 20 } }), { logger: false })
    const responses = [ask(...withKey('client-secret')), ask(...withKey('client-secret'))]
    await until(() => seen.calls.length === 2)
    expect((await ask(...withKey('client-secret'))).status).toBe(429)
    state.open()
    for (const response of responses) expect((await response).status).toBe(200)
    expect((await ask(...withKey('client-secret'))).status).toBe(200)
  })

  test('frees the slot of a client that disconnects', async () => {
    const { seen, state } = await gated('messages')
    const ask = await start(keyed(seen.url, { defaults: { queueLimit: 1 } }), { logger: false })
    const responses = [ask(...withKey('client-secret')), ask(...withKey('client-secret'))]
    await until(() => seen.calls.length === 2)
    const leaving = new AbortController()
    const [path, init] = withKey('client-secret')
    const left = ask(path, { ...init, signal: leaving.signal })
    await wait(30)
    leaving.abort()
    await expect(left).rejects.toThrow()
    await wait(30)
    const next = ask(...withKey('client-secret'))
    await wait(30)
    state.open()
    for (const response of [...responses, next]) expect((await response).status).toBe(200)
    expect(seen.calls.length).toBe(3)
  })

  test('counts a stream until it ends or its client disconnects', async () => {
    const { seen, state } = await gated('messages')
    const ask = await start(keyed(seen.url))
    const leaving = new AbortController()
    const [path, init] = withKey('client-secret', { stream: true })
    const [left, stays] = [
      await ask(path, { ...init, signal: leaving.signal }),
      await ask(path, init),
    ]
    const third = ask(path, init)
    await wait(50)
    expect(seen.calls.length).toBe(2)
    leaving.abort()
    await left.text().catch(() => {})
    await until(() => seen.calls.length === 3)
    const fourth = ask(path, init)
    await wait(50)
    expect(seen.calls.length).toBe(3)
    state.open()
    for (const response of [Promise.resolve(stays), third, fourth])
      expect(await sent(await (await response).text(), 'messages')).toBe('Hello')
    expect(state.most).toBe(2)
  })

  test('frees the slot of a failed request', async () => {
    const seen = await upstream(sendJson(500, { error: { message: 'down' } }))
    const ask = await start(keyed(seen.url), { logger: false })
    for (let turn = 0; turn < 4; turn++)
      expect((await ask(...withKey('client-secret'))).status).toBe(500)
    for (let turn = 0; turn < 4; turn++)
      expect((await ask('/v1/messages', post('{', { 'x-api-key': 'client-secret' }))).status).toBe(
        400,
      )
  })

  test('applies the limit that the hook `authenticate` returns', async () => {
    const { seen, state } = await gated('messages')
    const ask = await start(
      one(seen.url, 'messages', { auth: undefined } as Partial<GatewayConfig>),
      {
        authenticate: () => ({ name: 'hooked', concurrentRequests: 1 }),
      } satisfies Hooks,
    )
    const responses = [ask(...asking('messages')), ask(...asking('messages'))]
    await until(() => seen.calls.length === 1)
    await wait(50)
    expect(seen.calls.length).toBe(1)
    state.open()
    for (const response of responses) expect((await response).status).toBe(200)
  })

  const two = (first: string, second: string, more: object = {}): GatewayConfig => ({
    auth: 'none',
    channels: [
      { name: 'first', protocols: ['messages'], baseUrl: first, concurrentRequests: 1 },
      { name: 'second', protocols: ['messages'], baseUrl: second, concurrentRequests: 1 },
    ],
    models: [
      {
        id: 'm',
        channels: [
          { name: 'first', priority: 0 },
          { name: 'second', priority: 1 },
        ],
      },
    ],
    defaults: { retries: 0, ...more },
  })

  test('a busy channel leads to the next one, and a request waits when all are busy', async () => {
    const [first, second] = [await gated('messages'), await gated('messages')]
    const ask = await start(two(first.seen.url, second.seen.url))
    const responses = [ask(...asking('messages'))]
    await until(() => first.seen.calls.length === 1)
    responses.push(ask(...asking('messages')))
    await until(() => second.seen.calls.length === 1)
    responses.push(ask(...asking('messages')))
    await wait(50)
    expect([first.seen.calls.length, second.seen.calls.length]).toEqual([1, 1])
    first.state.open()
    second.state.open()
    for (const response of responses) expect((await response).status).toBe(200)
    expect([first.state.most, second.state.most]).toEqual([1, 1])
    expect(first.seen.calls.length).toBe(2)
  })

  test('a request waits for a busy channel when the free one fails', async () => {
    const first = await gated('messages')
    const second = await upstream(sendJson(500, { error: { message: 'down' } }))
    const ask = await start(two(first.seen.url, second.url), { logger: false })
    const one = ask(...asking('messages'))
    await until(() => first.seen.calls.length === 1)
    const other = ask(...asking('messages'))
    await until(() => second.calls.length === 1)
    first.state.open()
    expect([(await one).status, (await other).status]).toEqual([200, 200])
  })

  test('returns 503 when the queues of all channels are full, also for streams', async () => {
    const [first, second] = [await gated('messages'), await gated('messages')]
    const ask = await start(two(first.seen.url, second.seen.url, { queueLimit: 0 }), {
      logger: false,
    })
    const responses = [ask(...asking('messages'))]
    await until(() => first.seen.calls.length === 1)
    responses.push(ask(...asking('messages')))
    await until(() => second.seen.calls.length === 1)
    for (const stream of [false, true]) {
      const refused = await ask(...asking('messages', { stream }))
      expect(refused.status).toBe(503)
      expect(refused.headers.get('retry-after')).toBe('1')
      expect(await refused.json()).toMatchObject({
        type: 'error',
        error: { message: expect.stringContaining('this channel') },
      })
    }
    first.state.open()
    second.state.open()
    for (const response of responses) expect((await response).status).toBe(200)
  })

  test('a closing gateway ends those that wait', async () => {
    const { seen } = await gated('messages')
    const ask = await start(one(seen.url, 'messages', {}, {}, { concurrentRequests: 1 }), {
      logger: false,
    })
    void ask(...asking('messages')).catch(() => {})
    await until(() => seen.calls.length === 1)
    // The test's own end closes the gateway and fails when something is left running.
    void ask(...asking('messages')).catch(() => {})
    await wait(30)
    expect(seen.calls.length).toBe(1)
  })
})

test('requests of one name are served in their order, and one that comes later does not overtake', async () => {
  const inFlight = createInFlight({ queueLimit: 10, queueWaitMs: 60_000 })
  const { signal } = new AbortController()
  const order: number[] = []
  const enter = async (place: number) => {
    const release = await inFlight.wait({
      name: 'n',
      limit: 1,
      signal,
      rejection: () => expect.unreachable(),
    })
    order.push(place)
    return release
  }
  const first = await enter(0)
  const waiting = [enter(1), enter(2)]
  first()
  first()
  const late = enter(3)
  expect(inFlight.take('n', 1), 'one that cannot wait does not overtake either').toBeUndefined()
  for (const next of [...waiting, late]) (await next)()
  expect(order).toEqual([0, 1, 2, 3])
  expect(inFlight.take('n', 1)).toBeDefined()
})
