import { describe, expect, test } from 'vitest'
import {
  ConfigError,
  createGateway,
  type GatewayConfig,
  type UsageRecord,
} from '../../src/gateway/gateway.ts'
import {
  asking,
  hostsOf,
  post,
  responses,
  sendJson,
  sendStream,
  sent,
  streams,
  type Upstream,
  until,
  upstream,
} from './support.ts'

const bad = (status: number) => sendJson(status, { error: { message: `Failure ${status}` } })

/** `m` at `first`, `other` at `second`, which speaks another protocol. */
const two = (
  first: Upstream,
  second: Upstream,
  more: Partial<GatewayConfig> = {},
): GatewayConfig => ({
  auth: 'none',
  channels: [
    { name: 'first', protocols: ['messages'], baseUrl: first.url },
    { name: 'second', protocols: ['chat-completions'], baseUrl: second.url },
  ],
  models: [
    { id: 'm', channels: [{ name: 'first' }], fallbacks: ['other'] },
    { id: 'other', channels: [{ name: 'second', model: 'upstream-other' }] },
  ],
  defaults: { retries: 0 },
  ...more,
})

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each([401, 402, 403, 404, 429, 500, 529])(
    'falls back to another model when all channels failed with %i',
    async status => {
      const [first, second] = [
        await upstream(bad(status)),
        await upstream(sendJson(200, responses['chat-completions'])),
      ]
      const records: UsageRecord[] = []
      const ask = await start(two(first, second), {
        logger: false,
        onUsage: record => void records.push(record),
      })
      const response = await ask(...asking('messages'))
      expect(response.status).toBe(200)
      expect(response.headers.get('wireglot-fallback')).toBe('other')
      expect(await response.json()).toMatchObject({
        model: 'm',
        content: [{ type: 'text', text: 'Hello' }],
      })
      expect([first.calls.length, second.calls.length]).toEqual([1, 1])
      expect(second.calls[0]?.json['model']).toBe('upstream-other')
      await until(() => records.length > 0)
      expect(records).toMatchObject([
        { requestedModel: 'm', modelServed: 'upstream-other', channel: 'second', attempts: 2 },
      ])
    },
  )

  test.each([
    ['first', 500, 404],
    ['second', 404, 500],
    ['second', 404, 403],
  ])(
    'records the channel whose error the client gets: the %s, after %i and %i',
    async (channel, ...statuses) => {
      const withId = (status: number) =>
        sendJson(
          status,
          { error: { message: `Failure ${status}` } },
          { 'request-id': `id-${status}`, 'x-request-id': `id-${status}` },
        )
      const [first, second] = [
        await upstream(withId(statuses[0] ?? 0)),
        await upstream(withId(statuses[1] ?? 0)),
      ]
      const records: UsageRecord[] = []
      const ask = await start(two(first, second), {
        logger: false,
        onUsage: record => void records.push(record),
      })
      const { status } = await ask(...asking('messages'))
      await until(() => records.length > 0)
      const expected = channel === 'first' ? statuses[0] : statuses[1]
      expect(status).toBe(expected)
      expect(records).toMatchObject([{ channel, upstreamRequestId: `id-${expected}`, attempts: 2 }])
    },
  )

  const error = (status: number, type: string, message: string) =>
    sendJson(status, { type: 'error', error: { type, message } })
  const causes = [
    ['context', error(400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000')],
    [
      'input',
      error(400, 'invalid_request_error', 'messages.0.content.0: images are not supported'),
    ],
    ['overloaded', error(529, 'overloaded_error', 'Overloaded')],
    ['overloaded', error(429, 'rate_limit_error', 'Slow down')],
    ['quota', error(402, 'billing_error', 'No balance is left')],
    ['quota', error(400, 'invalid_request_error', 'Your credit balance is too low')],
  ] as const
  /** `m` at `first`, with one model for each of these causes. */
  const byCause = (
    [first, second, third]: [Upstream, Upstream, Upstream],
    on: 'context' | 'input' | 'overloaded' | 'quota' | 'refused',
  ): GatewayConfig => {
    const { channels, models = [], ...more } = two(first, second)
    const [own, other] = models
    return {
      ...more,
      channels: [...channels, { name: 'third', protocols: ['messages'], baseUrl: third.url }],
      models: [
        {
          ...(own as (typeof models)[0]),
          fallbacks: [
            { on: ['refused'], model: 'never' },
            { on: [on], model: 'other' },
          ],
        },
        other as (typeof models)[0],
        { id: 'never', channels: [{ name: 'third' }] },
      ],
    }
  }

  test.each(causes)('asks the model that is named for the cause %s', async (cause, failure) => {
    const all: [Upstream, Upstream, Upstream] = [
      await upstream(failure),
      await upstream(sendJson(200, responses['chat-completions'])),
      await upstream(),
    ]
    const records: UsageRecord[] = []
    const onUsage = (record: UsageRecord) => void records.push(record)
    const ask = await start(byCause(all, cause), { logger: false, onUsage })
    const response = await ask(...asking('messages'))
    expect(response.status).toBe(200)
    expect(response.headers.get('wireglot-fallback')).toBe('other')
    expect(all.map(({ calls }) => calls.length)).toEqual([1, 1, 0])
    await until(() => records.length > 0)
    expect(records).toMatchObject([{ modelServed: 'upstream-other', attempts: 2 }])
    expect(records[0]?.notes).toBeGreaterThan(0)
  })

  test.each(causes)(
    'does not ask a model that is named for another cause than %s',
    async (cause, failure) => {
      const all: [Upstream, Upstream, Upstream] = [
        await upstream(failure),
        await upstream(),
        await upstream(),
      ]
      const other = cause === 'quota' ? 'context' : 'quota'
      const ask = await start(byCause(all, other), { logger: false })
      const { status } = await ask(...asking('messages'))
      expect(status).toBeGreaterThanOrEqual(400)
      expect(all.map(({ calls }) => calls.length)).toEqual([1, 0, 0])
    },
  )

  test('the client gets the first error when the model for its cause fails, too', async () => {
    const all: [Upstream, Upstream, Upstream] = [
      await upstream(causes[0][1]),
      await upstream(bad(500)),
      await upstream(),
    ]
    const ask = await start(byCause(all, 'context'), { logger: false })
    const response = await ask(...asking('messages'))
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('prompt is too long')
    expect(all.map(({ calls }) => calls.length)).toEqual([1, 1, 0])
  })

  test('a stream falls back before its first byte', async () => {
    const [first, second] = [
      await upstream(bad(503)),
      await upstream(sendStream(streams['chat-completions'])),
    ]
    const ask = await start(two(first, second), { logger: false })
    const response = await ask(...asking('messages', { stream: true }))
    expect(response.headers.get('wireglot-fallback')).toBe('other')
    expect(await sent(await response.text(), 'messages')).toBe('Hello')
  })

  test('does not fall back after a stream has begun', async () => {
    const [first, second] = [
      await upstream(sendStream(streams.messages.slice(0, 3), { cut: true })),
      await upstream(),
    ]
    const ask = await start(two(first, second), { logger: false })
    await (await ask(...asking('messages', { stream: true }))).text()
    expect(second.calls.length).toBe(0)
  })

  test('does not fall back for an invalid request', async () => {
    const [first, second] = [await upstream(bad(400)), await upstream()]
    const ask = await start(two(first, second), { logger: false })
    expect((await ask(...asking('messages'))).status).toBe(400)
    expect(second.calls.length).toBe(0)
  })

  test('the client gets the failure of the requested model when the fallback fails, too', async () => {
    const [first, second] = [await upstream(bad(529)), await upstream(bad(500))]
    const ask = await start(two(first, second), { logger: false })
    const response = await ask(...asking('messages'))
    expect(response.status).toBe(529)
    expect(response.headers.get('wireglot-fallback')).toBeNull()
  })

  test('does not fall back to a model that the group may not use', async () => {
    const [first, second] = [await upstream(bad(500)), await upstream()]
    const keys = [{ name: 'k', key: 'client-secret', group: 'team' }]
    const ask = await start(
      two(first, second, { auth: undefined, keys, groups: { team: { models: ['m'] } } }),
      { logger: false },
    )
    expect((await ask(...asking('messages', {}, { 'x-api-key': 'client-secret' }))).status).toBe(
      500,
    )
    expect(second.calls.length).toBe(0)
  })

  test('does not count tokens with another model', async () => {
    const [first, second] = [await upstream(bad(500)), await upstream()]
    const ask = await start(two(first, second), { logger: false })
    expect(
      (
        await ask(
          '/v1/messages/count_tokens',
          post({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
        )
      ).status,
    ).toBe(500)
    expect(second.calls.length).toBe(0)
  })
})

test.each([['unknown'], ['m']])('refuses the fallback %s', id => {
  const config: GatewayConfig = {
    channels: [{ name: 'demo', embedded: 'demo' }],
    models: [{ id: 'm', channels: [{ name: 'demo' }], fallbacks: [id] }],
  }
  expect(() => createGateway(config)).toThrow(ConfigError)
})
