import { describe, expect, test, vi } from 'vitest'
import { createConsole } from '../../src/console/index.ts'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { type ConnectGateway, gateway } from '../../src/hosts/connect.ts'
import { createAccessLog } from '../../src/operations/access-log.ts'
import { type KeyLimits, openRecords } from '../../src/records/index.ts'
import {
  after,
  asking,
  listen,
  type Protocol,
  paths,
  post,
  requests,
  sendJson,
  until,
  upstream,
} from '../gateway/support.ts'

const adminKey = 'admin-secret-0123456789'

/**
 * A gateway with a console, and a key with these limits, which has used 150 tokens of 0.25 dollars.
 */
async function spent(limits: KeyLimits, channel: object = {}, config: Partial<GatewayConfig> = {}) {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 50 },
  }
  const seen = await upstream(sendJson(200, message))
  const records = await openRecords(
    { file: ':memory:' },
    {
      prices: () => ({ m: { input: 1000, output: 3000 } }),
      groups: () => config.groups ?? {},
    },
  )
  const { secret } = await records.keys.create('bob', limits)
  const page = createConsole({ gateway: () => handler, adminKey, records })
  const lines: string[] = []
  const logger = createAccessLog('pretty', { out: line => lines.push(line), err() {} })
  const handler: ConnectGateway = gateway(
    {
      channels: [{ name: 'up', protocols: ['messages'], baseUrl: seen.url, ...channel }],
      defaults: { retries: 0 },
      ...config,
    },
    { ...page.hooks, logger },
  )
  const url = await listen(
    (request, response) => void (page.handle(request, response) || handler(request, response)),
  )
  after(async () => {
    await handler.close(200)
    await records.close()
  })
  const headers = { authorization: `Bearer ${secret}` }
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(url + path, { ...init, headers: { ...init.headers, ...headers } })
  const [path, init] = asking('messages')
  expect((await ask(path, init)).status).toBe(200)
  await until(() => lines.length > 0)
  return { ask, seen, lines: () => lines.slice(1), records, url }
}

const toMidnight = () => Math.ceil((new Date().setUTCHours(24, 0, 0, 0) - Date.now()) / 1000)

describe.each(Object.keys(paths) as Protocol[])('a key of %s over its budget', protocol => {
  test('is refused until the day is over, in a way that no client retries', async () => {
    const { ask, seen } = await spent({ tokensPerDay: 50 })
    const response = await ask(...asking(protocol))
    expect(response.status).toBe(429)
    expect(response.headers.get('x-should-retry')).toBe('false')
    const wait = Number(response.headers.get('retry-after'))
    expect(Math.abs(wait - toMidnight())).toBeLessThan(5)
    const { error } = (await response.json()) as { error: Record<string, unknown> }
    expect(error['message']).toBe(
      'this key has used its budget of this day: 150 of 50 tokens; it begins again at 00:00 UTC',
    )
    expect(JSON.stringify(error)).toMatch(/insufficient_quota|rate_limit_error|RESOURCE_EXHAUSTED/)
    expect(seen.calls).toHaveLength(1)
  })

  test('is logged and recorded with its name and the model', async () => {
    const { ask, lines, records } = await spent({ tokensPerDay: 50 })
    await (await ask(...asking(protocol))).text()
    await until(() => lines().length > 0)
    expect(lines()[0]).toMatch(
      /^\S+ {2}429 {2}POST \S+ {2}bob {2}\S+ {2}m {2}.* {2}client {2}this key has used its budget/,
    )
    const [record] = (await records.find({}, 1)).records
    expect(record).toMatchObject({
      key: 'bob',
      model: 'm',
      status: 429,
      failure: 'client',
      error: 'quota',
      errorMessage: expect.stringContaining('150 of 50 tokens'),
    })
  })
})

test.each<[what: string, limits: KeyLimits, message: RegExp]>([
  ['money of a day', { dollarsPerDay: 0.2 }, /this day: \$0\.25 of \$0\.2; .* at 00:00 UTC$/],
  [
    'tokens of a month',
    { tokensPerMonth: 149 },
    /this month: 150 of 149 tokens; it begins again on \d{4}-\d\d-01 at 00:00 UTC$/,
  ],
  ['money of a month', { dollarsPerMonth: 0.25 }, /this month: \$0\.25 of \$0\.25; /],
  [
    'a day and a month, of which the month is later',
    { tokensPerDay: 1, tokensPerMonth: 1 },
    /month/,
  ],
])('the message has the numbers: %s', async (_, limits, message) => {
  const { ask } = await spent(limits)
  const response = await ask(...asking('messages'))
  const { error } = (await response.json()) as { error: { message: string } }
  expect(error.message).toMatch(message)
  const days = message.source.includes('month') ? 31 : 1
  expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(days * 86_400)
})

test('tokens of a minute are a rate limit, which clients wait for', async () => {
  const { ask } = await spent({ tokensPerMinute: 10 })
  const response = await ask(...asking('chat-completions'))
  expect(response.status).toBe(429)
  expect(response.headers.get('x-should-retry')).toBeNull()
  expect(response.headers.get('retry-after')).toBe('10')
  expect(await response.json()).toMatchObject({
    error: { code: 'rate_limit_exceeded', message: expect.stringContaining('150 of 10 tokens') },
  })
})

test.each<[began: number, took: number, counts: boolean]>([
  [1, 1, true],
  [59, 10, true],
  [80, 30, true],
  [100, 30, false],
  [600, 545, true],
  [600, 530, false],
])(
  'a request that began %d seconds ago and took %d: counts for this minute: %s',
  async (began, took, counts) => {
    const records = await openRecords({ file: ':memory:' })
    after(() => records.close())
    const { id, name, secret } = await records.keys.create('bob', { tokensPerMinute: 10 })
    const request = { method: 'POST', path: '/', headers: {}, raw: undefined }
    const record = {
      time: new Date(Date.now() - began * 1000).toISOString(),
      requestId: 'req_1',
      key: name,
      keyId: id,
      protocolIn: 'messages',
      stream: false,
      status: 200,
      usage: { input: 100, output: 50 },
      totalMs: took * 1000,
      attempts: 1,
      notes: 0,
    } as const
    records.hooks.onUsage(record, request)
    const identity = await records.hooks.authenticate(secret, request)
    expect(identity?.rejection?.message).toBe(
      counts ? 'this key has used its tokens of this minute: 150 of 10 tokens' : undefined,
    )
  },
)

test('what costs nothing stays open over budget: listings, settings, token counts and the console', async () => {
  const { ask, seen } = await spent(
    { tokensPerDay: 50 },
    {},
    { models: [{ id: 'm', channels: [{ name: 'up' }] }] },
  )
  for (const path of ['/v1/models', '/v1beta/models', '/v1/models/m', '/client-config'])
    expect([path, (await ask(path)).status]).toEqual([path, 200])
  const counted = await ask('/v1/messages/count_tokens', post(requests.messages))
  expect(counted.status).not.toBe(429)
  expect(seen.calls.at(-1)?.path).toBe('/v1/messages/count_tokens')
  const session = await ask('/console/api/session')
  expect([session.status, await session.json()]).toMatchObject([
    200,
    { role: 'client', key: 'bob' },
  ])
  expect((await ask('/console/api/records')).status).toBe(200)
})

test('a request over budget does not count for the requests of a minute', async () => {
  const { ask } = await spent({ tokensPerDay: 50, requestsPerMinute: 2 })
  for (let request = 0; request < 4; request++) {
    const response = await ask(...asking('chat-completions'))
    expect(await response.json()).toMatchObject({ error: { code: 'insufficient_quota' } })
  }
})

test('an endpoint that passes through is refused over budget, and recorded', async () => {
  const { ask, seen, records } = await spent(
    { tokensPerDay: 50 },
    { passThrough: ['/v1/embeddings'] },
  )
  const response = await ask('/v1/embeddings', post({ model: 'm', input: 'Hi' }))
  expect([response.status, response.headers.get('x-should-retry')]).toEqual([429, 'false'])
  expect((await records.find({}, 1)).records).toMatchObject([{ key: 'bob', model: 'm' }])
  expect(seen.calls).toHaveLength(1)
})

test('a budget begins again with the next day', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2031, 0, 31, 23, 59, 58) })
  try {
    const { ask } = await spent({ tokensPerDay: 50, tokensPerMonth: 1000 })
    const refused = await ask(...asking('messages'))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2'])
    vi.setSystemTime(Date.UTC(2031, 1, 1))
    expect((await ask(...asking('messages'))).status).toBe(200)
  } finally {
    vi.useRealTimers()
  }
})

describe('the budget of a group', () => {
  const groups = { team: { tokensPerDay: 50 } }

  test('is used by all its keys together, and its error names it', async () => {
    const { ask, records, url } = await spent({ group: 'team' }, {}, { groups })
    const { secret } = await records.keys.create('ann', { group: 'team' })
    const { secret: other } = await records.keys.create('zoe', {})
    const message =
      'the group team has used its budget of this day: 150 of 50 tokens; it begins again at 00:00 UTC'
    const [path, init] = asking('messages')
    const refused = await ask(path, init)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(await refused.json()).toMatchObject({ error: { message } })
    const statusFor = async (key: string) =>
      (await fetch(url + path, { ...init, headers: { ...init.headers, 'x-api-key': key } })).status
    expect(await statusFor(secret)).toBe(429)
    expect(await statusFor(other)).toBe(200)
    expect((await records.find({ key: 'ann' }, 1)).records).toMatchObject([
      { status: 429, groupName: 'team', error: 'quota', errorMessage: message },
    ])
  })

  test('counts and refuses keys of the configuration, too', async () => {
    const keys = [{ name: 'conf', key: 'client-secret', group: 'team' }]
    const { url } = await spent({}, {}, { groups, keys })
    const [path, init] = asking('messages')
    const statusFor = async () =>
      (
        await fetch(url + path, {
          ...init,
          headers: { ...init.headers, 'x-api-key': keys[0]?.key ?? '' },
        })
      ).status
    expect(await statusFor()).toBe(200)
    expect(await statusFor()).toBe(429)
  })

  test('counts what requests in progress have reserved', async () => {
    const records = await openRecords(
      { file: ':memory:' },
      { groups: () => ({ team: { tokensPerDay: 1000 } }) },
    )
    after(() => records.close())
    const use = { identity: { group: 'team' }, model: 'm', input: 600, output: 600 }
    const reserve = async (requestId: string) => records.hooks.reserve({ ...use, requestId })
    expect(await reserve('req_1')).toBeUndefined()
    expect((await reserve('req_2'))?.message).toContain(
      'with the requests in progress the group team has used its budget of this day: 1,200 of 1,000 tokens',
    )
  })
})

test('a client sees its budgets and what is used of them, also over budget', async () => {
  const groups = { team: { dollarsPerMonth: 0.1 } }
  const { ask } = await spent({ group: 'team', tokensPerDay: 50 }, {}, { groups })
  const used = { tokens: 150, dollars: 0.25, unpriced: 0 }
  const response = await ask('/console/api/budgets')
  expect([response.status, await response.json()]).toEqual([
    200,
    {
      key: {
        name: 'bob',
        limits: { group: 'team', tokensPerDay: 50 },
        used: { today: used, month: used },
      },
      group: {
        name: 'team',
        limits: { dollarsPerMonth: 0.1 },
        used: { today: used, month: used },
      },
    },
  ])
})

test('usage is summed by group, and over the whole time', async () => {
  const { records } = await spent({ group: 'team' }, {}, { groups: { team: {} } })
  const from = Date.now() - 86_400_000
  expect((await records.sum({ from }, 'group')).sums).toMatchObject([{ name: 'team', input: 100 }])
  expect(await records.total({ from: 0 }, 'group')).toMatchObject([
    { time: 0, name: 'team', requests: 1, input: 100, output: 50, cost: 0.25 },
  ])
  expect(await records.total({ group: 'team' })).toMatchObject([{ name: '', requests: 1 }])
  expect(await records.total({ group: 'other' })).toEqual([])
})
