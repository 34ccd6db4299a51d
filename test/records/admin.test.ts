import { mkdtemp, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { serve } from '../../src/cli/serve.ts'
import { after, paths, post, requests, sendJson, upstream } from '../gateway/support.ts'

const adminKey = 'admin-key-0123456789'

const rejection = {
  type: 'error',
  error: { type: 'invalid_request_error', message: 'top_k: Extra inputs are not permitted' },
}

/** A gateway with records, and an upstream that responds to every request, but refuses `top_k`. */
async function started(more: object | ((url: string) => object) = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
  const result = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 50 },
  }
  const seen = await upstream((response, { json }) =>
    ('top_k' in json ? sendJson(400, rejection) : sendJson(200, result))(response),
  )
  const config = {
    channels: [{ name: 'up', protocols: ['messages'], baseUrl: seen.url }],
    models: [{ id: '*', channels: [{ name: 'up' }] }],
    records: { file: join(folder, 'r.db') },
    adminKey,
    ...(typeof more === 'function' ? more(seen.url) : more),
  }
  await writeFile(join(folder, 'wireglot.config.json'), JSON.stringify(config))
  const served = await serve(
    { host: '127.0.0.1', port: 0, log: 'off' },
    { out() {}, err() {}, folder, environment: {} },
  )
  after(served.close)
  const admin = async (path: string, init: RequestInit & { json?: unknown } = {}) => {
    const { json, ...rest } = init
    const body = json === undefined ? {} : { body: JSON.stringify(json), method: 'POST' }
    const headers = {
      authorization: `Bearer ${adminKey}`,
      'content-type': 'application/json',
      ...rest.headers,
    }
    const response = await fetch(`${served.url}/admin/${path}`, { ...body, ...rest, headers })
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, unknown>,
    }
  }
  const ask = (key: string, model = 'm', more: object = {}) => {
    const sent = post({ ...requests.messages, model, ...more })
    return fetch(served.url + paths.messages, {
      ...sent,
      headers: { ...sent.headers, 'x-api-key': key },
    })
  }
  return { ...served, admin, ask, seen }
}

describe('the admin API', () => {
  test('creates a key that works at once, within its models, and shows what it did', async () => {
    const { admin, ask } = await started()
    const { status, body } = await admin('keys', {
      json: { name: 'alice', models: ['m*'], requestsPerMinute: 3 },
    })
    expect(status).toBe(201)
    const secret = String(body['secret'])
    const response = await ask(secret)
    expect(response.status).toBe(200)
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('3')
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('2')
    expect((await ask(secret, 'other')).status).toBe(404)
    expect((await ask('wg-wrong')).status).toBe(401)
    const { body: page } = await admin('records?key=alice&limit=1')
    expect(page['records']).toMatchObject([{ key: 'alice', status: 404, channel: null }])
    expect(page['next']).toEqual(expect.any(String))
    expect((await admin('usage?by=model')).body['sums']).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ name: 'm', requests: 1, input: 100, output: 50 }),
      ]),
    )
    expect((await admin('state')).body).toMatchObject({
      channels: [{ name: 'up', breaker: 'closed' }],
      droppedRecords: 0,
    })
  })

  test('shows the models and their prices, and verifies a channel as the gateway uses it', async () => {
    const { admin, seen } = await started({
      models: [{ id: 'sonnet', channels: [{ name: 'up', model: 'claude-5' }] }],
      prices: { 'claude-*': { input: 3, output: 15 } },
    })
    expect((await admin('models')).body).toEqual({
      models: [
        {
          id: 'sonnet',
          aliases: [],
          streaming: 'both',
          groups: [],
          channels: [
            {
              name: 'up',
              model: 'claude-5',
              protocols: ['messages'],
              refused: [],
              price: { input: 3, output: 15 },
            },
          ],
        },
      ],
    })
    const { status, body } = await admin('channels/up/verify', { json: { model: 'claude-5' } })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ok: expect.any(Boolean),
      checks: expect.arrayContaining([
        expect.objectContaining({ name: 'the address', detail: seen.url }),
        expect.objectContaining({ scope: 'messages', name: 'complete response' }),
      ]),
    })
    // Nothing is said about the gateway in between.
    expect(JSON.stringify(body)).not.toContain('http://gateway')
    expect(seen.calls.map(({ path }) => path)).toContain('/v1/messages')
    expect((await admin('channels/other/verify', { json: { model: 'm' } })).status).toBe(404)
    expect((await admin('channels/up/verify', { json: {} })).status).toBe(400)
  })

  test('the console lists limits, protocols, streaming, fields that are left out and groups, and of a client its own', async () => {
    const { url, admin, ask } = await started(baseUrl => ({
      channels: [
        { name: 'up', protocols: ['messages'], baseUrl },
        { name: 'groq', vendor: 'groq', apiKey: 'upstream-secret' },
      ],
      groups: { team: { models: ['open*'] } },
      models: [
        { id: 'sonnet', aliases: ['s'], channels: [{ name: 'up', model: 'claude-sonnet-5' }] },
        {
          id: 'open-*',
          contextTokens: 8000,
          streaming: 'only',
          unsupported: ['seed'],
          channels: [{ name: 'groq', model: 'gpt-oss-*' }],
        },
      ],
    }))
    const list = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetch(`${url}/console/api/models`, { headers })
      return ((await response.json()) as { models: Record<string, unknown>[] }).models
    }
    const { body: alice } = await admin('keys', { json: { name: 'alice' } })
    const { body: bob } = await admin('keys', { json: { name: 'bob', group: 'team' } })
    await (await ask(String(alice['secret']), 'sonnet', { top_k: 5 })).text()
    const [sonnet, open] = await list(adminKey)
    expect(sonnet).toMatchObject({
      id: 'sonnet',
      aliases: ['s'],
      contextTokens: expect.any(Number),
      maxOutputTokens: expect.any(Number),
      streaming: 'both',
      groups: [],
      channels: [
        { name: 'up', model: 'claude-sonnet-5', protocols: ['messages'], learned: ['top_k'] },
      ],
    })
    expect(open).toMatchObject({
      contextTokens: 8000,
      streaming: 'only',
      groups: ['team'],
      channels: [{ protocols: expect.arrayContaining(['chat-completions']), learned: [] }],
    })
    expect(open).toMatchObject({
      channels: [{ refused: expect.arrayContaining(['seed', 'logit_bias']) }],
    })
    const own = await list(String(alice['secret']))
    expect(own.map(({ id }) => id)).toEqual(['sonnet', 'open-*'])
    expect(own[0]).toMatchObject({ protocols: ['messages'], refused: ['top_k'] })
    expect(JSON.stringify(own)).not.toMatch(/"up"|groq|claude-sonnet|gpt-oss|aliases|team/)
    expect((await list(String(bob['secret']))).map(({ id }) => id)).toEqual(['open-*'])
  })

  test.each<[what: string, channel: (url: string) => object, detail: RegExp, fix: RegExp]>([
    [
      'that cannot be reached',
      () => ({ baseUrl: 'http://127.0.0.1:9' }),
      /ECONNREFUSED|reached/,
      /address/,
    ],
    [
      'whose key is refused',
      baseUrl => ({ baseUrl: `${baseUrl}/locked` }),
      /status 401/,
      /key of this channel/,
    ],
  ])('verifies the upstream of a channel %s', async (_, channel, detail, fix) => {
    const locked = await upstream(sendJson(401, { error: { message: 'no' } }))
    const { admin } = await started({
      channels: [{ name: 'up', protocols: ['messages'], ...channel(locked.url) }],
    })
    const { body } = await admin('channels/up/verify', { json: { model: 'm' } })
    expect(body['ok']).toBe(false)
    const checks = body['checks'] as Record<string, string>[]
    expect(checks.filter(({ result }) => result === 'passed').map(({ name }) => name)).toEqual([
      'the address',
    ])
    const listing = checks.find(({ name }) => name === 'the listing of models')
    expect(listing?.['detail']).toMatch(detail)
    expect(listing?.['fix']).toMatch(fix)
  })

  test('shows the fields that upstreams have refused, and forgets them', async () => {
    const { admin, ask, seen } = await started({ auth: 'none' })
    const learned = async () => (await admin('learned')).body['learned']
    const forget = async (query = '') =>
      (await admin(`learned${query}`, { method: 'DELETE' })).body['forgotten']
    expect(await learned()).toEqual([])
    for (const model of ['m', 'n', 'm'])
      expect((await ask('', model, { top_k: 5 })).status).toBe(200)
    expect(seen.calls.length, 'one refusal for each model').toBe(5)
    expect(await learned()).toEqual(
      ['m', 'n'].map(model => ({
        channel: 'up',
        entry: '*',
        model,
        protocol: 'messages',
        shape: ['generate', 'max_tokens', 'messages', 'model', 'top_k'],
        field: 'top_k',
        secondsLeft: expect.any(Number),
      })),
    )
    expect(await forget('?model=other')).toBe(0)
    expect(await forget('?channel=up&model=n&field=top_k')).toBe(1)
    expect(await learned()).toMatchObject([{ model: 'm' }])
    expect(await forget()).toBe(1)
    expect(await learned()).toEqual([])
    expect((await admin('learned?models=m', { method: 'DELETE' })).status).toBe(400)
    await ask('', 'm', { top_k: 5 })
    expect('top_k' in (seen.calls.at(-2)?.json ?? {}), 'it is tried again').toBe(true)
  })

  test('serves every client with `auth: none`, and applies the limits of database keys', async () => {
    const { admin, ask } = await started({ auth: 'none' })
    const { body } = await admin('keys', { json: { name: 'alice', models: ['other'] } })
    expect((await ask('')).status).toBe(200)
    expect((await ask(String(body['secret']))).status).toBe(404)
  })

  test('changes limits, and removes one with null', async () => {
    const { admin } = await started()
    await admin('keys', { json: { name: 'alice', tokensPerDay: 5, requestsPerMinute: 7 } })
    const { body } = await admin('keys/alice', {
      method: 'PATCH',
      json: { tokensPerDay: null, group: 'team' },
    })
    expect(body).toMatchObject({ requestsPerMinute: 7, group: 'team' })
    expect(body).not.toHaveProperty('tokensPerDay')
    expect(
      (await admin('keys/alice', { method: 'PATCH', json: { requestsPerMinute: 1.5 } })).status,
    ).toBe(400)
  })

  test('rotates, disables and deletes a key', async () => {
    const { admin, ask } = await started()
    const { body: created } = await admin('keys', { json: { name: 'alice' } })
    expect((await admin('keys/alice/rotate/more', { method: 'POST' })).status).toBe(404)
    const { body: rotated } = await admin('keys/alice/rotate', { method: 'POST' })
    expect((await ask(String(created['secret']))).status).toBe(401)
    expect((await ask(String(rotated['secret']))).status).toBe(200)
    await admin('keys/alice', { method: 'PATCH', json: { disabled: true } })
    expect((await ask(String(rotated['secret']))).status).toBe(401)
    expect((await admin('keys/alice', { method: 'DELETE' })).status).toBe(200)
    expect((await admin('keys/alice', { method: 'DELETE' })).status).toBe(404)
    expect((await admin('keys')).body).toEqual({ keys: [] })
  })

  test('shows what keys and groups have used, and the budgets that no price counts', async () => {
    const { admin, ask } = await started({
      models: ['m', 'n'].map(id => ({ id, channels: [{ name: 'up' }] })),
      prices: { n: { input: 1000, output: 3000 } },
      groups: { team: { models: ['n'], dollarsPerDay: 5, tokensPerMonth: 1000 }, free: {} },
    })
    const create = async (name: string, limits: object) =>
      (await admin('keys', { json: { name, ...limits } })).body
    const alice = await create('alice', { dollarsPerDay: 1 })
    expect(alice['unpriced']).toEqual(['m'])
    const bob = await create('bob', { group: 'team', dollarsPerDay: 1 })
    expect(bob).not.toHaveProperty('unpriced')
    expect(await create('carl', { models: ['n'], dollarsPerDay: 1 })).not.toHaveProperty('unpriced')
    expect(await create('dora', { tokensPerDay: 1 })).not.toHaveProperty('unpriced')
    await (await ask(String(alice['secret']))).text()
    await (await ask(String(bob['secret']), 'n')).text()
    await vi.waitFor(async () => expect((await admin('records')).body['records']).toHaveLength(2))
    const none = { tokens: 0, dollars: 0, unpriced: 0 }
    const ofAlice = { tokens: 150, dollars: 0, unpriced: 1 }
    const ofBob = { tokens: 150, dollars: 0.25, unpriced: 0 }
    expect((await admin('keys')).body).toMatchObject({
      keys: [
        { name: 'alice', used: { today: ofAlice, month: ofAlice }, unpriced: ['m'] },
        { name: 'bob', used: { today: ofBob, month: ofBob } },
        { name: 'carl', used: { today: none, month: none } },
        { name: 'dora' },
      ],
      groups: [{ name: 'team', dollarsPerDay: 5, used: { today: ofBob, month: ofBob } }],
    })
    expect((await admin('usage?by=group&total=true')).body['sums']).toMatchObject([
      { name: '', requests: 1 },
      { name: 'team', requests: 1, cost: 0.25 },
    ])
  })

  test('gives new keys the limits of the configuration, but not where null says so', async () => {
    const { admin } = await started({
      groups: { team: {} },
      newKeys: { group: 'team', dollarsPerDay: 5, tokensPerDay: 100 },
    })
    const { body } = await admin('keys', {
      json: { name: 'alice', tokensPerDay: 7, dollarsPerDay: null },
    })
    expect(body).toMatchObject({ group: 'team', tokensPerDay: 7 })
    expect(body).not.toHaveProperty('dollarsPerDay')
  })

  test('shows a secret only once', async () => {
    const { admin } = await started()
    const { body } = await admin('keys', { json: { name: 'alice' } })
    const everything = JSON.stringify([
      (await admin('keys')).body,
      (await admin('records')).body,
      (await admin('state')).body,
    ])
    expect(everything).not.toContain(String(body['secret']))
    expect(everything).not.toContain('hash')
    expect(everything).not.toContain(adminKey)
  })
})

describe('attacks on the admin API', () => {
  test.each<[what: string, headers: Record<string, string>]>([
    ['no key', {}],
    ['a wrong key', { authorization: 'Bearer admin-key-0123456780' }],
    ['a shorter key', { authorization: 'Bearer admin-key' }],
    ['the key in a cookie', { cookie: `admin=${adminKey}` }],
    ['a key of a client', { authorization: 'Bearer wg-client' }],
  ])('%s is refused, with the same response for every path', async (_, headers) => {
    const { url } = await started()
    const responses = await Promise.all(
      ['keys', 'keys/alice', 'records', 'nothing'].map(async path => {
        const response = await fetch(`${url}/admin/${path}`, { headers })
        return [response.status, await response.text()]
      }),
    )
    expect(new Set(responses.map(response => JSON.stringify(response))).size).toBe(1)
    expect(responses[0]?.[0]).toBe(401)
  })

  test('a client learns nothing from refused keys: unknown, deleted and malformed ones get the same response', async () => {
    const { admin, ask } = await started()
    const { body: deleted } = await admin('keys', { json: { name: 'deleted' } })
    const { body: rotated } = await admin('keys', { json: { name: 'rotated' } })
    await admin('keys/deleted', { method: 'DELETE' })
    await admin('keys/rotated/rotate', { method: 'POST' })
    const results = []
    for (const key of [
      deleted['secret'],
      rotated['secret'],
      `wg-${'A'.repeat(43)}`,
      'wg-',
      'sk-other',
      'deleted',
      "' or 1=1 --",
    ]) {
      const response = await ask(String(key))
      const { request_id, ...body } = (await response.json()) as Record<string, unknown>
      results.push(JSON.stringify([response.status, body]))
    }
    expect(new Set(results).size).toBe(1)
    expect(results[0]).toContain('401')
  })

  test('serves no admin API without an admin key', async () => {
    const { url } = await started({ adminKey: undefined })
    const response = await fetch(`${url}/admin/keys`, {
      headers: { authorization: 'Bearer undefined' },
    })
    expect(response.status).toBe(404)
  })

  test.each<[what: string, headers: Record<string, string>, status: number]>([
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a page of a neighbor site', { 'sec-fetch-site': 'same-site' }, 403],
    ['a page of another site, in an old browser', { origin: 'https://evil.test' }, 403],
    ['a page without an origin', { origin: 'null' }, 403],
    ['a form, which cannot send JSON', { 'content-type': 'text/plain' }, 415],
  ])('does not create a key by %s, even with the admin key (CSRF)', async (_, headers, status) => {
    const { url, admin } = await started()
    const { port } = new URL(url)
    // `fetch` does not let a program set these headers.
    const responded = await new Promise<number>((resolve, reject) => {
      const call = httpRequest(
        {
          port,
          host: '127.0.0.1',
          method: 'POST',
          path: '/admin/keys',
          headers: {
            authorization: `Bearer ${adminKey}`,
            'content-type': 'application/json',
            ...headers,
          },
        },
        response => {
          response.resume()
          resolve(response.statusCode ?? 0)
        },
      )
      call.on('error', reject)
      call.end('{"name":"evil"}')
    })
    expect(responded).toBe(status)
    expect((await admin('keys')).body).toEqual({ keys: [] })
  })

  test('a preflight of another site gets no permission', async () => {
    const { url } = await started()
    const response = await fetch(`${url}/admin/keys`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.test', 'access-control-request-method': 'POST' },
    })
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    expect(response.headers.get('access-control-allow-headers')).toBeNull()
  })

  test('names of models with HTML come back as JSON that no browser runs (stored XSS)', async () => {
    const { admin, ask } = await started()
    const { body } = await admin('keys', { json: { name: 'alice' } })
    const evil = '<img src=x onerror=alert(1)>'
    await ask(String(body['secret']), evil)
    const { headers, body: page } = await admin('records')
    expect((page['records'] as { model: string }[]).map(({ model }) => model)).toContain(evil)
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'")
    expect((await admin('keys', { json: { name: evil } })).status).toBe(400)
  })

  test.each([
    "records?key=' or '1'='1",
    "records?model=x';drop table records;--",
    'records?cursor=1.x%27%20or%201=1--',
    "usage?channel=' union select * from keys --",
  ])('%s finds nothing and breaks nothing (SQL injection)', async path => {
    const { admin, ask } = await started()
    const { body } = await admin('keys', { json: { name: 'alice' } })
    await ask(String(body['secret']))
    const found = await admin(path)
    expect(found.status).toBe(200)
    expect(found.body['records'] ?? found.body['sums']).toEqual([])
    expect((await admin('records')).body['records']).toHaveLength(1)
  })

  test.each([
    ['a long filter', `records?key=${'x'.repeat(201)}`, 400],
    ['a long URL', `records?key=${'x'.repeat(5000)}`, 414],
    ['too many records', 'records?limit=100000', 400],
    ['a field that there is not', 'records?where=1', 400],
    ['a dimension that there is not', 'usage?by=hash', 400],
    ['a filter that PostgreSQL cannot hold', 'records?key=%00', 400],
    ['a time that is none', 'records?from=yesterday', 400],
    ['a path that is not encoded', 'keys/%E0%A4%A', 400],
  ])('%s is refused', async (_, path, status) => {
    const { admin } = await started()
    expect((await admin(path)).status).toBe(status)
  })

  test('refuses a body without end', async () => {
    const { admin } = await started()
    expect(
      (await admin('keys', { json: { name: 'a', models: ['x'.repeat(100_000)] } })).status,
    ).toBe(413)
  })
})

test('a connection goes on after a body that is too long', async () => {
  const { admin } = await started()
  for (let nth = 0; nth < 3; nth++) {
    expect((await admin('keys', { json: { name: 'x'.repeat(3_000_000) } })).status).toBe(413)
    const signal = AbortSignal.timeout(5_000)
    expect((await admin('keys', { signal })).status).toBe(200)
  }
})
