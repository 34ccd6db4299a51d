import { describe, expect, test, vi } from 'vitest'
import type {
  Exchange,
  FailureKind,
  HookRequest,
  Hooks,
  UsageRecord,
} from '../../src/gateway/gateway.ts'
import type { Note } from '../../src/index.ts'
import type { TransportCall } from '../../src/transports/transport.ts'
import {
  asking,
  half,
  hostsOf,
  one,
  type Protocol,
  pairs,
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

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each([false, true])('records an exchange with its cost, stream: %s', async stream => {
    const records: UsageRecord[] = []
    const { url } = await upstream(
      stream ? sendStream(streams.messages) : sendJson(200, responses.messages),
    )
    const { auth: _, ...config } = one(
      url,
      'messages',
      {},
      { id: 'nick', channels: [{ name: 'up', model: 'm' }] },
    )
    const ask = await start(
      { ...config, keys: [{ name: 'alice', key: 'k', group: 'team' }], groups: { team: {} } },
      { onUsage: record => void records.push(record) },
    )
    const response = await ask(
      paths['chat-completions'],
      post(
        { ...requests['chat-completions'], model: 'nick', seed: 1, stream },
        { authorization: 'Bearer k' },
      ),
    )
    await response.text()
    await until(() => records.length === 1)
    expect(records[0]).toMatchObject({
      requestId: response.headers.get('x-request-id'),
      key: 'alice',
      group: 'team',
      requestedModel: 'nick',
      modelServed: 'm',
      channel: 'up',
      protocolIn: 'chat-completions',
      protocolOut: 'messages',
      stream,
      status: 200,
      usage: { input: 3, output: 2 },
      attempts: 1,
    })
    expect(records[0]?.notes).toBeGreaterThan(0)
    expect(records[0]?.firstByteMs).toBeLessThanOrEqual(records[0]?.totalMs ?? -1)
  })

  test.each(pairs)(
    'records only numbers of the usage, and no text: %s client, %s upstream',
    async (client, served) => {
      const records: UsageRecord[] = []
      const [key, counts] =
        Object.entries(responses[served]).find(([name]) => /^usage/.test(name)) ?? []
      const { url } = await upstream(
        sendJson(200, {
          ...responses[served],
          [String(key)]: { ...(counts as object), odd: 'planted words', cost: 0.25 },
        }),
      )
      const ask = await start(one(url, served), { onUsage: record => void records.push(record) })
      await (await ask(...asking(client))).text()
      await until(() => records.length === 1)
      expect(records[0]?.usage).toMatchObject({ input: 3, output: 2 })
      expect(records[0]?.usage?.ext).toEqual({ [served]: { fields: { cost: 0.25 } } })
      expect(JSON.stringify(records)).not.toContain('planted words')
    },
  )

  const up = 'http://127.0.0.1:1'
  const faults: [
    what: string,
    failure: FailureKind,
    status: number,
    settings: {
      script?: Parameters<typeof upstream>[0]
      channel?: object
      hooks?: Hooks
      body?: object
    },
  ][] = [
    ['a request without messages', 'client', 400, { body: { messages: 5 } }],
    ['an unknown model', 'client', 404, { body: { model: 'unrecognized-of' } }],
    [
      'an error response',
      'upstream_status',
      503,
      {
        script: sendJson(503, {
          type: 'error',
          error: { type: 'overloaded_error', message: 'No' },
        }),
      },
    ],
    [
      'a web page as an error',
      'upstream_status',
      403,
      {
        script: response =>
          response.writeHead(403, { 'content-type': 'text/html' }).end('<p>No</p>'),
      },
    ],
    ['a refused connection', 'upstream_network', 502, {}],
    ['a broken connection', 'upstream_network', 502, { script: response => response.destroy() }],
    [
      'a stream that breaks off',
      'upstream_network',
      200,
      { script: sendStream(half('messages'), { cut: true }), body: { stream: true } },
    ],
    [
      'a late response',
      'upstream_timeout',
      504,
      { script: () => {}, channel: { timeouts: { firstByteMs: 30 } } },
    ],
    [
      'silence in a stream',
      'upstream_timeout',
      200,
      {
        script: sendStream([...half('messages'), 60_000]),
        body: { stream: true },
        channel: { timeouts: { idleMs: 30 } },
      },
    ],
    [
      'a web page',
      'upstream_invalid',
      502,
      {
        script: response =>
          response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hi</p>'),
      },
    ],
    [
      'a redirect',
      'upstream_invalid',
      502,
      { script: response => response.writeHead(302, { location: '/' }).end() },
    ],
    [
      'a response of another kind',
      'upstream_invalid',
      502,
      { script: sendJson(200, { ...responses.messages, content: 5 }) },
    ],
    [
      'a stream that ends early',
      'upstream_invalid',
      200,
      { script: sendStream(half('messages')), body: { stream: true } },
    ],
    [
      'a fault of the transport',
      'gateway',
      500,
      { hooks: { transport: { send: () => JSON.parse('{') } } },
    ],
    [
      'a fault in the response of the transport',
      'gateway',
      500,
      { hooks: { transport: { send: async () => ({}) as never } } },
    ],
  ]

  test.each(faults)(
    'records %s as: %s',
    async (_, failure, status, { script, channel, hooks, body }) => {
      const records: UsageRecord[] = []
      const config = one(
        script ? (await upstream(script)).url : up,
        'messages',
        { defaults: { retries: 0 } },
        {},
        channel,
      )
      const logger = { info() {}, warn() {}, error() {} }
      const ask = await start(config, {
        logger,
        ...hooks,
        onUsage: record => void records.push(record),
      })
      const response = await ask(
        paths['chat-completions'],
        post({ ...requests['chat-completions'], ...body }),
      )
      await response.text().catch(() => {})
      await until(() => records.length === 1)
      expect([response.status, records]).toMatchObject([status, [{ status, failure }]])
    },
  )

  test('records the status of a failure', async () => {
    const records: UsageRecord[] = []
    const { url } = await upstream(sendJson(429, { error: { message: 'No' } }))
    const ask = await start(one(url, 'chat-completions'), {
      onUsage: record => void records.push(record),
    })
    await ask(paths['chat-completions'], post(requests['chat-completions']))
    await until(() => records.length === 1)
    expect(records).toMatchObject([
      { status: 429, failure: 'upstream_status', error: 'rate_limit', attempts: 1 },
    ])
  })

  test.each(Object.keys(paths) as Protocol[])(
    'records a stream that fails after its status once, as a failure: %s',
    async client => {
      const records: UsageRecord[] = []
      const frames = streams.messages.slice(0, 3).join('')
      for (const chunks of [
        [frames],
        [
          frames,
          20,
          'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"No"}}\n\n',
        ],
      ]) {
        records.length = 0
        const { url } = await upstream(sendStream(chunks))
        const ask = await start(one(url, 'messages'), {
          onUsage: record => void records.push(record),
        })
        await (await ask(...asking(client, { stream: true }))).text()
        await until(() => records.length > 0)
        await wait(20)
        expect(records).toMatchObject([
          {
            status: 200,
            ...(chunks.length > 1
              ? { failure: 'upstream_status', error: 'overloaded' }
              : { failure: 'upstream_invalid', error: 'internal' }),
          },
        ])
      }
    },
  )

  test('logs an unexpected error, and does not return it', async () => {
    const error = vi.fn()
    const ask = await start(one('http://nowhere.test', 'messages'), {
      logger: { info() {}, warn() {}, error },
      transport: {
        async send() {
          return {
            status: 200,
            headers: { 'content-type': 'application/json' },
            body: undefined as never,
          }
        },
      },
    })
    for (const stream of [false, true]) {
      const response = await ask(paths.messages, post({ ...requests.messages, stream }))
      expect(response.status).toBeGreaterThanOrEqual(500)
      expect(await response.text()).not.toMatch(/undefined|TypeError/)
    }
    expect(error).toHaveBeenCalledTimes(2)
    expect(error.mock.calls[0]?.[0]).toMatchObject({ error: expect.any(TypeError) })
  })

  test('hooks get the request of the client', async () => {
    const seen: HookRequest[] = []
    const { url } = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(url, 'messages'), {
      route: ({ request }) => void seen.push(request),
      onUsage: (_, request) => void seen.push(request),
      onNotes: (_, __, request) => void seen.push(request),
    })
    await ask(
      paths['chat-completions'],
      post({ ...requests['chat-completions'], seed: 1 }, { 'x-tenant': 'blue' }),
    )
    await until(() => seen.length === 3)
    for (const request of seen)
      expect(request).toMatchObject({
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { 'x-tenant': 'blue' },
      })
  })

  test('aborts a custom transport when the client disconnects', async () => {
    const seen: Partial<TransportCall>[] = []
    const send = async (call: TransportCall) => {
      seen.push({ ...call })
      return new Promise<never>((_, reject) =>
        call.signal.addEventListener('abort', () => reject(call.signal.reason), { once: true }),
      )
    }
    const ask = await start(one('http://nowhere.test', 'messages'), { transport: { send } })
    const left = new AbortController()
    const received = ask(
      paths.messages,
      post(requests.messages, {}, { signal: left.signal }),
    ).catch(() => 'left')
    await until(() => seen.length === 1)
    left.abort()
    expect(await received).toBe('left')
    await until(() => seen[0]?.signal?.aborted === true)
  })

  test('notes are reported with their exchange', async () => {
    const reported: [Note[], Exchange, HookRequest][] = []
    const { url } = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(url, 'messages'), { onNotes: (...all) => void reported.push(all) })
    await ask(paths['chat-completions'], post({ ...requests['chat-completions'], seed: 1 }))
    await until(() => reported.length === 1)
    expect(reported[0]?.[0]).toContainEqual(expect.objectContaining({ path: '/seed' }))
    expect(reported[0]?.[1]).toMatchObject({
      model: 'm',
      channel: 'up',
      from: 'chat-completions',
      to: 'messages',
    })
  })

  test('completes the request when hooks throw or reject', async () => {
    const warn = vi.fn()
    const thrower = () => {
      throw new Error('hook')
    }
    const { url } = await upstream(sendJson(200, responses.messages))
    const hooks: Hooks = {
      onUsage: async () => thrower(),
      onNotes: thrower,
      route: thrower,
      logger: { info: thrower, warn, error: thrower },
    }
    const ask = await start(one(url, 'messages'), hooks)
    expect(
      (await ask(paths['chat-completions'], post({ ...requests['chat-completions'], seed: 1 })))
        .status,
    ).toBe(200)
    await until(() => warn.mock.calls.length === 3)
  })

  test('routes a request to the model that a hook returns', async () => {
    const seen = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(seen.url, 'messages'), {
      route: ({ model }) => (model === 'auto' ? 'm' : undefined),
    })
    const response = await ask(paths.messages, post({ ...requests.messages, model: 'auto' }))
    expect(await response.json()).toMatchObject({ model: 'auto' })
    expect(seen.calls[0]?.json['model']).toBe('m')
  })

  test('writes no secrets to the log', async () => {
    const lines: unknown[] = []
    const write = (details: object, message: string) => void lines.push(details, message)
    const { url } = await upstream(sendJson(200, responses.messages))
    const { auth: _, ...config } = one(url, 'messages')
    const ask = await start(
      { ...config, keys: [{ name: 'alice', key: 'client-secret' }] },
      { logger: { info: write, warn: write, error: write } },
    )
    await ask(paths.messages, post(requests.messages, { authorization: 'Bearer client-secret' }))
    await ask(paths.messages, post(requests.messages, { authorization: 'Bearer wrong-secret' }))
    await ask(paths.messages, post('{', { authorization: 'Bearer client-secret' }))
    await until(() => lines.length >= 6)
    expect(JSON.stringify(lines)).not.toContain('secret')
  })

  test('sends upstream calls through the `transport` hook', async () => {
    const urls: string[] = []
    const ask = await start(one('https://nowhere.test', 'messages'), {
      transport: {
        async send({ url }) {
          urls.push(url)
          return {
            status: 200,
            headers: { 'content-type': 'application/json' },
            body: (async function* () {
              yield JSON.stringify(responses.messages)
            })(),
          }
        },
      },
    })
    expect((await ask(paths.responses, post(requests.responses))).status).toBe(200)
    expect(urls).toEqual(['https://nowhere.test/v1/messages'])
  })
})
