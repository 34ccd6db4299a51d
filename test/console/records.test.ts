import { describe, expect, test } from 'vitest'
import { createExchanges, playgroundHeader } from '../../src/console/exchanges.ts'
import { createRecent } from '../../src/console/recent.ts'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { newRequestId } from '../../src/gateway/ids.ts'
import type { RecordRow, Sum } from '../../src/records/index.ts'
import { asking, post, sendJson, upstream } from '../gateway/support.ts'
import { createPeers } from '../support/peers.ts'
import { admin, adminKey, alice, bob, config, get, started } from './started.ts'

const prompt = 'my secret prompt'

async function ask(url: string, headers: Record<string, string>, model = 'fast') {
  const [path, init] = asking(
    'chat-completions',
    { model, messages: [{ role: 'user', content: prompt }] },
    headers,
  )
  const response = await fetch(url + path, init)
  await response.text()
  return response
}

async function recordsOf(url: string, headers: Record<string, string>, query = '') {
  const { status, body } = await get(`${url}/console/api/records${query}`, headers)
  return {
    status,
    records: (body['records'] ?? []) as RecordRow[],
    next: body['next'] as string | undefined,
    body,
  }
}

/** Records are written when a response is over, so they follow its last byte. */
async function recorded(url: string, number: number): Promise<RecordRow[]> {
  for (let left = 100; left > 0; left--) {
    const { records } = await recordsOf(url, admin, '?limit=1000')
    if (records.length >= number) return records
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  throw new Error(`there are no ${number} records`)
}

const sources: [name: string, withRecords: boolean][] = [
  ['memory', false],
  ['a database', true],
]

describe.each(sources)('records from %s', (_, withRecords) => {
  /** Two requests of alice, one of bob that fails, and one of the operator. */
  async function used() {
    const url = await started(config, { adminKey, withRecords })
    await ask(url, alice)
    await ask(url, bob, 'unknown-model')
    await ask(url, alice)
    await ask(url, admin)
    await recorded(url, 4)
    return url
  }

  test('are found by each filter, newest first, page by page', async () => {
    const url = await used()
    const keys = async (query: string) =>
      (await recordsOf(url, admin, query)).records.map(({ key }) => key)
    expect(await keys('')).toEqual(['(operator)', 'alice', 'bob', 'alice'])
    expect(await keys('?key=bob')).toEqual(['bob'])
    expect(await keys('?model=unknown-model')).toEqual(['bob'])
    expect(await keys('?channel=demo')).toEqual(['(operator)', 'alice', 'alice'])
    expect(await keys('?failed=true')).toEqual(['bob'])
    expect(await keys('?status=404')).toEqual(['bob'])
    expect(await keys('?status=200&key=alice')).toEqual(['alice', 'alice'])
    expect(await keys('?status=500')).toEqual([])
    expect(await keys(`?from=${Date.now() + 1000}`)).toEqual([])
    expect(await keys(`?to=${Date.now() - 60_000}`)).toEqual([])
    const first = await recordsOf(url, admin, '?limit=3')
    expect(first.records).toHaveLength(3)
    const second = await recordsOf(url, admin, `?limit=3&cursor=${first.next}`)
    expect(second.records.map(({ key }) => key)).toEqual(['alice'])
    expect(second.next).toBeUndefined()
  })

  test('are summed over time, and by model, channel and key', async () => {
    const url = await used()
    const sums = async (query = '') => {
      const { body } = await get(
        `${url}/console/api/usage?from=${Date.now() - 3_600_000}${query}`,
        admin,
      )
      expect(body['bucketMs']).toBe(60_000)
      const all: Record<string, [requests: number, failures: number]> = {}
      for (const { name, requests, failures } of body['sums'] as Sum[]) {
        const [more, failed] = all[name] ?? [0, 0]
        all[name] = [more + requests, failed + failures]
      }
      return all
    }
    expect(await sums()).toEqual({ '': [4, 1] })
    expect(await sums('&by=key')).toEqual({ alice: [2, 0], bob: [1, 1], '(operator)': [1, 0] })
    expect(await sums('&by=channel')).toEqual({ demo: [3, 0], '': [1, 1] })
    expect(await sums('&by=model')).toEqual({ fast: [3, 0], '': [1, 1] })
    expect(await sums('&key=alice')).toEqual({ '': [2, 0] })
  })

  test('of others are hidden from a client, and so is the configuration', async () => {
    const url = await used()
    for (const query of ['', '?key=bob', '?key=(operator)']) {
      const { status, records, body } = await recordsOf(url, alice, query)
      expect(status).toBe(200)
      expect(records.map(({ key }) => key)).toEqual(['alice', 'alice'])
      expect(JSON.stringify(body)).not.toMatch(/demo|hidden-model|bob/)
    }
    const { body } = await get(`${url}/console/api/usage?key=bob`, alice)
    expect((body['sums'] as Sum[]).reduce((all, { requests }) => all + requests, 0)).toBe(2)
    const id = (await recordsOf(url, admin, '?key=bob')).records[0]?.id
    for (const path of [
      'records?channel=demo',
      'usage?by=key',
      'usage?by=channel',
      'usage?channel=demo',
      `records/${id}`,
      'state',
    ])
      expect((await get(`${url}/console/api/${path}`, alice)).status, path).toBe(403)
    expect(
      (await fetch(`${url}/console/api/channels/demo/verify`, post({ model: 'demo' }, alice)))
        .status,
    ).toBe(403)
  })

  test('are refused to clients without a name, which records cannot distinguish', async () => {
    const { keys: __, ...open } = config
    const url = await started({ ...open, auth: 'none' }, { withRecords })
    await ask(url, {})
    expect((await get(`${url}/console/api/session`)).body).toMatchObject({
      role: 'client',
      hasRecords: false,
    })
    for (const path of ['records', 'usage', 'records?key='])
      expect((await get(`${url}/console/api/${path}`)).status, path).toBeGreaterThanOrEqual(400)
  })

  test('show each attempt of a request that failed over, and no prompt', async () => {
    const failing = await upstream(
      sendJson(500, { error: { type: 'x', message: `broken by ${prompt}` } }),
    )
    const settings: GatewayConfig = {
      ...config,
      channels: [
        { name: 'bad', protocols: ['messages'], baseUrl: failing.url, apiKey: 'upstream-secret' },
        ...config.channels,
      ],
      models: [{ id: 'fast', channels: [{ name: 'bad' }, { name: 'demo', priority: 1 }] }],
      defaults: { retries: 0 },
    }
    const url = await started(settings, { adminKey, withRecords })
    await ask(url, alice)
    const [{ id } = { id: '' }] = await recorded(url, 1)
    const { status, body } = await get(`${url}/console/api/records/${id}`, admin)
    expect(status).toBe(200)
    expect(body['attempts']).toMatchObject([
      {
        channel: 'bad',
        protocol: 'messages',
        status: 500,
        failure: 'upstream_status',
        message: expect.any(String),
      },
      { channel: 'demo', protocol: 'chat-completions' },
    ])
    expect(body).not.toHaveProperty('request')
    expect(JSON.stringify(body)).not.toMatch(/secret/)
    expect((await get(`${url}/console/api/records/req_unknown`, admin)).status).toBe(404)
  })

  test.each([
    ["key=' or 1=1 --"],
    ["model=fast' union select hash from keys --"],
    ['channel="); drop table records; --'],
    ['cursor=1.x%27 or 1=1'],
    ['cursor=9999999999999.z&limit=1&key=%00'],
  ])('are not found by SQL in the filter %s', async query => {
    const url = await used()
    const { status, records } = await recordsOf(url, admin, `?${query}`)
    expect([200, 400]).toContain(status)
    expect(records).toEqual([])
    expect((await recordsOf(url, admin)).records).toHaveLength(4)
  })

  test.each([
    [`key=${'x'.repeat(201)}`, 400],
    [`model=${'x'.repeat(5000)}`, 414],
    ['limit=100000', 400],
    ['limit=-1', 400],
    ['limit=NaN', 400],
    ['status=0', 400],
    ['from=1e99', 400],
    ['failed=maybe', 400],
    ['column=hash', 400],
  ])('refuse the filter %s', async (query, status) => {
    const url = await started(config, { adminKey, withRecords })
    expect((await recordsOf(url, admin, `?${query}`)).status).toBe(status)
  })
})

describe('stored bodies of records', () => {
  const kept = async (keepBodies: boolean) => {
    const url = await started(config, { adminKey, withRecords: { keepBodies } })
    const secret = {
      type: 'mcp',
      authorization: 'tool-server-secret',
      note: 'sk-0123456789abcdefghij',
    }
    const [path, init] = asking(
      'chat-completions',
      { model: 'fast', messages: [{ role: 'user', content: prompt }], metadata: secret },
      alice,
    )
    await (await fetch(url + path, init)).text()
    const [{ id } = { id: '' }] = await recorded(url, 1)
    return get(`${url}/console/api/records/${id}`, admin)
  }

  test('stores no body by default', async () => {
    expect((await kept(false)).status).toBe(404)
  })

  test('stores the upstream request with keepBodies, without secrets', async () => {
    const { status, body } = await kept(true)
    expect(status).toBe(200)
    const { text, isCut } = body['request'] as { text: string; isCut: boolean }
    expect(isCut).toBe(false)
    expect(text).toContain(prompt)
    expect(text).toContain('hidden-model')
    expect(text).not.toMatch(/tool-server-secret|sk-0123456789/)
  })

  test('truncates a long body', async () => {
    const url = await started(config, { adminKey, withRecords: { keepBodies: true } })
    const [path, init] = asking(
      'chat-completions',
      { model: 'fast', messages: [{ role: 'user', content: 'é'.repeat(100_000) }] },
      alice,
    )
    await (await fetch(url + path, init)).text()
    const [{ id } = { id: '' }] = await recorded(url, 1)
    const { text, isCut } = (await get(`${url}/console/api/records/${id}`, admin)).body[
      'request'
    ] as { text: string; isCut: boolean }
    expect([text.length, isCut]).toEqual([64 * 1024, true])
  })
})

describe('attacks', () => {
  test('refused keys reveal nothing: unknown, deleted and malformed ones get the same response, and no name is confirmed', async () => {
    const url = await started(config, { adminKey, withRecords: true })
    const rejections = await Promise.all(
      ['wg-unknown', 'carol', 'alice', `${adminKey}x`, adminKey.slice(0, -1), 'x'.repeat(1000)].map(
        key => get(`${url}/console/api/records?key=carol`, { authorization: `Bearer ${key}` }),
      ),
    )
    expect(
      new Set(rejections.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size,
    ).toBe(1)
    expect(rejections[0]?.status).toBe(401)
    // Whether a key of this name exists cannot be seen either.
    const [there, missing] = await Promise.all(
      ['bob', 'unknown'].map(key => get(`${url}/console/api/records?key=${key}`, alice)),
    )
    expect(there).toEqual(missing)
  })

  test.each<[what: string, headers: Record<string, string>, status: number]>([
    ['of another site', { ...admin, 'sec-fetch-site': 'cross-site' }, 403],
    ['of another origin', { ...admin, origin: 'http://elsewhere.test' }, 403],
    [
      'with a cookie for a key',
      { cookie: `key=${adminKey}; authorization=Bearer ${adminKey}` },
      401,
    ],
  ])('records are refused to a request %s', async (_, headers, status) => {
    const url = await started(config, { adminKey })
    expect((await recordsOf(url, headers)).status).toBe(status)
  })

  test('a form of another site cannot start a check of a channel', async () => {
    const url = await started(config, { adminKey })
    const sent = (headers: Record<string, string>) =>
      fetch(`${url}/console/api/channels/demo/verify`, {
        method: 'POST',
        headers: { ...admin, ...headers },
        body: '{"model":"demo"}',
      })
    expect(
      (await sent({ 'content-type': 'text/plain', 'sec-fetch-site': 'cross-site' })).status,
    ).toBe(403)
    expect((await sent({ 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(404)
  })

  test('HTML in a model name or an error text comes back as JSON that no browser runs', async () => {
    const url = await started(config, { adminKey })
    await ask(url, alice, '<script>alert(1)</script>')
    await recorded(url, 1)
    const response = await fetch(`${url}/console/api/records`, { headers: admin })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'")
    expect(await response.text()).toContain('<script>')
  })
})

test('requests of one millisecond are listed in their order, also across pages', async () => {
  const { hooks, find } = createRecent()
  const ids = Array.from({ length: 40 }, newRequestId)
  for (const id of ids) hooks.onUsage(recordOf(id, 1e12), plainRequest)
  const first = await find({}, 25)
  const second = await find({}, 25, first.next)
  expect([...first.records, ...second.records].map(({ id }) => id)).toEqual(ids.toReversed())
  expect(second.next).toBeUndefined()
})

test('keeps only the latest 2000 requests in memory', async () => {
  const { hooks, find } = createRecent()
  for (let number = 0; number < 2100; number++)
    hooks.onUsage(recordOf(`req_${number}`, 1e12 + number), plainRequest)
  const { records } = await find({}, 5000)
  expect(records).toHaveLength(2000)
  expect(records.at(-1)?.id).toBe('req_100')
})

const attemptOf = (requestId: string) => ({
  requestId,
  identity: { name: 'alice' },
  channel: 'up',
  model: 'm',
  protocol: 'messages' as const,
  body: 'what was sent',
  notes: [],
  ms: 5,
  failure: { status: 500, kind: 'upstream_status' as const, message: 'broken' },
})

test('several processes show the requests of all, with their attempts', async () => {
  const peers = createPeers()
  const [one, other] = [createRecent(peers()), createRecent(peers())]
  one.hooks.onAttempt(attemptOf('req_1'), plainRequest)
  one.hooks.onUsage({ ...recordOf('req_1', 1e12), failure: 'upstream_status' }, plainRequest)
  other.hooks.onUsage(recordOf('req_2', 2e12), plainRequest)
  const ids = async ({ find }: typeof one) => (await find({}, 9)).records.map(({ id }) => id)
  await expect
    .poll(async () => [await ids(one), await ids(other)])
    .toEqual([
      ['req_2', 'req_1'],
      ['req_2', 'req_1'],
    ])
  expect(await other.detail('req_1')).toMatchObject({ attempts: [{ message: 'broken' }] })
})

test('several processes know the requests of the playground, each for its client', () => {
  const peers = createPeers()
  const [one, other] = [createExchanges(peers()), createExchanges(peers())]
  const marked = { ...plainRequest, headers: { [playgroundHeader]: '1' } }
  one.onAttempt(attemptOf('req_1'), marked)
  one.onUsage(recordOf('req_1', 1e12))
  one.onAttempt(attemptOf('req_2'), plainRequest)
  expect(other.find('req_1', { name: 'alice' })).toMatchObject({
    attempts: [{ body: 'what was sent' }],
    record: { requestId: 'req_1' },
  })
  expect(other.find('req_1', { name: 'bob' })).toBeUndefined()
  expect(other.find('req_2')).toBeUndefined()
})

const plainRequest = { method: 'POST', path: '/', headers: {}, raw: undefined }

const recordOf = (requestId: string, time: number) => ({
  time: new Date(time).toISOString(),
  requestId,
  requestedModel: 'm',
  protocolIn: 'messages',
  stream: false,
  status: 200,
  totalMs: 1,
  attempts: 1,
  notes: 0,
})
