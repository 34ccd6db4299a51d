import { describe, expect, test } from 'vitest'
import type { GatewayConfig, UsageRecord } from '../../src/gateway/gateway.ts'
import { gatewayNotes } from '../../src/kit/notes/gateway.ts'
import {
  asking,
  hostsOf,
  one,
  responses,
  sendJson,
  sendStream,
  sent,
  streams,
  type Upstream,
  until,
  upstream,
} from './support.ts'

const down = sendJson(503, { error: { message: 'down' } })

/** `m` at both channels, with `other` at the last one as its fallback. */
const config = (seen: Upstream[], more: Partial<GatewayConfig> = {}): GatewayConfig => ({
  auth: 'none',
  channels: seen.map(({ url }, index) => ({
    name: `c${index}`,
    protocols: ['messages'],
    baseUrl: url,
  })),
  models: [
    {
      id: 'm',
      channels: [
        { name: 'c0', priority: 0 },
        { name: 'c1', priority: 1 },
      ],
      fallbacks: ['other'],
    },
    { id: 'other', channels: [{ name: 'c2' }] },
  ],
  defaults: { retries: 0 },
  ...more,
})

const notesOf = ({ headers }: Response) =>
  JSON.parse(headers.get('wireglot-notes') ?? '[]') as {
    code: string
    kind: string
    path: string
    reason: string
  }[]

const noteOf = (code: keyof typeof gatewayNotes, path = '') => {
  const { kind, meaning: reason } = gatewayNotes[code]
  return { kind, path, code, reason, target: 'gateway' }
}

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each([false, true])(
    'reports that another channel serves the request (stream: %s)',
    async stream => {
      const good = stream ? sendStream(streams.messages) : sendJson(200, responses.messages)
      const seen = [await upstream(down), await upstream(good), await upstream()]
      const records: UsageRecord[] = []
      const ask = await start(config(seen, { defaults: { retries: 0, strict: true } }), {
        logger: false,
        onUsage: record => void records.push(record),
      })
      const response = await ask(...asking('messages', { stream }))
      expect(notesOf(response)).toEqual([noteOf('gateway.failed-over')])
      expect(await (stream ? sent(await response.text(), 'messages') : response.text())).toContain(
        'Hello',
      )
      await until(() => records.length > 0)
      expect(records).toMatchObject([
        { channel: 'c1', notes: 1, noteCodes: ['gateway.failed-over'] },
      ])
    },
  )

  test('reports it while the breaker of the first channel is open, and not when the first channel responds', async () => {
    const seen = [
      await upstream(down),
      await upstream(sendJson(200, responses.messages)),
      await upstream(),
    ]
    const broken = config(seen)
    const [first, ...others] = broken.channels
    const ask = await start(
      { ...broken, channels: [{ ...first, breaker: { failures: 1, restMs: 60_000 } }, ...others] },
      { logger: false },
    )
    for (let times = 0; times < 2; times++)
      expect(notesOf(await ask(...asking('messages')))).toEqual([noteOf('gateway.failed-over')])
    expect(seen[0]?.calls.length).toBe(1)
    const well = await start(
      config([seen[1] as Upstream, seen[0] as Upstream, seen[2] as Upstream]),
      { logger: false },
    )
    expect(notesOf(await well(...asking('messages')))).toEqual([])
  })

  test('reports that a fallback model serves the request', async () => {
    const seen = [
      await upstream(down),
      await upstream(down),
      await upstream(sendJson(200, responses.messages)),
    ]
    const ask = await start(config(seen), { logger: false })
    const response = await ask(...asking('messages'))
    expect([response.status, notesOf(response)]).toEqual([200, [noteOf('gateway.fallback-model')]])
  })

  test('reports fields that the configuration replaces, and no others', async () => {
    const seen = await upstream(sendJson(200, responses.messages))
    const set = {
      temperature: 0,
      'thinking.budget_tokens': 2000,
      top_k: 3,
      'metadata.user_id': 'team',
    }
    const ask = await start(
      one(
        seen.url,
        'messages',
        { defaults: { retries: 0, strict: true } },
        { setIfAbsent: { service_tier: 'auto' } },
        { set },
      ),
    )
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    const response = await ask(...asking('messages', { temperature: 1, thinking, top_k: 3 }))
    expect(notesOf(response)).toEqual([
      noteOf('gateway.field-set', '/temperature'),
      noteOf('gateway.field-set', '/thinking/budget_tokens'),
    ])
    expect(seen.calls[0]?.json).toMatchObject({
      temperature: 0,
      thinking: { budget_tokens: 2000 },
      top_k: 3,
      metadata: { user_id: 'team' },
    })
  })
})
