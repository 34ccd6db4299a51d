import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serve } from '../../src/cli/serve.ts'
import { createConsole } from '../../src/console/index.ts'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { gateway } from '../../src/hosts/connect.ts'
import { protocolNames } from '../../src/protocols/index.ts'
import { after, asking, listen, post, responses, sendJson, upstream } from '../gateway/support.ts'
import { admin, adminKey, alice, bob, chat, config, get, marked, started } from './started.ts'

async function written(file: object): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'config.json')
  await writeFile(path, JSON.stringify(file))
  return path
}

describe('the page', () => {
  test('runs its own script only, speaks to its own gateway only and loads nothing', async () => {
    const url = await started()
    const response = await fetch(`${url}/console`)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      expect.stringMatching(/^script-src 'sha256-[\w+/]{43}='$/),
      expect.stringMatching(/^style-src 'sha256-[\w+/]{43}='$/),
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
    const html = await response.text()
    expect(html.length).toBeLessThan(200_000)
    expect(
      html.match(/ (?:src|href)="(?!data:,")[^"]*"|@import|<link(?! rel="icon")|<iframe/g),
    ).toBeNull()
  })

  test('serves only GET at its exact path', async () => {
    const page = createConsole({ gateway: () => gateway() })
    const url = await listen((request, response) => {
      if (!page.handle(request, response)) response.writeHead(418).end()
    })
    for (const path of ['/', '/consoles', '/console/more', '/console/api', '/v1/models'])
      expect((await fetch(url + path)).status, path).toBe(418)
    expect((await fetch(`${url}/console`, { method: 'POST' })).status).toBe(405)
    expect(await (await fetch(`${url}/console/`, { method: 'HEAD' })).text()).toBe('')
  })

  test('opens at the address of `wireglot serve`, unless the configuration says no', async () => {
    const served = async (settings?: GatewayConfig) => {
      const { url, close } = await serve(
        { host: '127.0.0.1', port: 0, ...(settings && { config: await written(settings) }) },
        { out() {}, folder: await mkdtemp(join(tmpdir(), 'wireglot-')), environment: {} },
      )
      after(close)
      return url
    }
    const browser = { accept: 'text/html,application/xhtml+xml' }
    const demo = await fetch(await served(), { headers: browser })
    expect(new URL(demo.url).pathname).toBe('/console')
    expect(await demo.text()).toContain('<!doctype html>')
    const off = await served({ ...config, console: false })
    expect(await (await fetch(off, { headers: browser })).text()).toMatch(/^wireglot:/)
    expect((await fetch(`${off}/console`, { headers: browser })).status).toBe(404)
  })
})

describe('access to the console', () => {
  test.each<[what: string, headers: Record<string, string>]>([
    ['no key', {}],
    ['a wrong key', { authorization: 'Bearer client-secret-x' }],
    ['a key in the URL', {}],
  ])('returns 401 and nothing else with %s', async (_, headers) => {
    const url = await started(config, { adminKey })
    for (const path of ['session', 'exchanges/req_1', 'clients?base=http://localhost']) {
      const { status, body } = await get(
        `${url}/console/api/${path}${path.includes('?') ? '&' : '?'}admin_key=${adminKey}`,
        headers,
      )
      expect(status).toBe(401)
      expect(Object.keys(body)).toEqual(['error'])
    }
  })

  test('gives the admin key the role operator, and a gateway key the role client', async () => {
    const url = await started(config, { adminKey })
    expect((await get(`${url}/console/api/session`, admin)).body).toMatchObject({
      role: 'operator',
      canManageKeys: false,
    })
    expect(
      (await get(`${url}/console/api/session`, { 'x-admin-key': adminKey })).body,
    ).toMatchObject({ role: 'operator' })
    expect((await get(`${url}/console/api/session`, alice)).body).toMatchObject({
      role: 'client',
      key: 'alice',
    })
  })

  test('shows refused fields to the operator only, and forgets them', async () => {
    const url = await started(config, { adminKey })
    const path = `${url}/console/api/learned`
    expect((await get(path, admin)).body).toEqual({ learned: [] })
    expect((await get(path, alice)).status).toBe(403)
    const forget = (headers: Record<string, string>) => fetch(path, { method: 'DELETE', headers })
    expect(await (await forget(admin)).json()).toEqual({ forgotten: 0 })
    expect((await forget(alice)).status).toBe(403)
    expect((await forget({ ...admin, 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  })

  test('gives the role operator without keys to the local machine only', async () => {
    const { keys: _, ...open } = config
    const url = await started(open)
    expect((await get(`${url}/console/api/session`)).body).toMatchObject({ role: 'operator' })
    expect(
      (await get(`${url}/console/api/session`, { 'x-forwarded-for': '10.0.0.1' })).status,
    ).toBe(401)
    const forEverybody = await started({ ...open, auth: 'none' })
    expect((await get(`${forEverybody}/console/api/session`)).body).toMatchObject({
      role: 'client',
    })
  })

  test.each<[what: string, headers: Record<string, string>, status: number]>([
    [
      'of another site',
      { 'sec-fetch-site': 'cross-site', 'content-type': 'application/json' },
      403,
    ],
    [
      'of another origin',
      { origin: 'http://elsewhere.test', 'content-type': 'application/json' },
      403,
    ],
    ['that a form can send', { 'content-type': 'text/plain' }, 415],
  ])('refuses a request %s', async (_, headers, status) => {
    const { keys: __, ...open } = config
    const url = await started(open)
    const response = await fetch(`${url}/console/api/translate`, {
      method: 'POST',
      headers,
      body: '{"text":"{}"}',
    })
    expect(response.status).toBe(status)
    expect([...response.headers.keys()]).not.toContain('access-control-allow-origin')
  })
})

describe('the translation', () => {
  const translate = async (body: unknown) => {
    const url = await started()
    const response = await fetch(`${url}/console/api/translate`, post(body, alice))
    return { status: response.status, body: await response.json() }
  }

  test('translates into all other protocols', async () => {
    expect(await translate({ text: JSON.stringify(chat) })).toMatchObject({
      status: 200,
      body: {
        protocol: 'chat-completions',
        kind: 'request',
        targets: protocolNames
          .filter(name => name !== 'chat-completions')
          .map(protocol => ({
            protocol,
            notes: expect.arrayContaining([expect.objectContaining({ path: '/logit_bias' })]),
          })),
      },
    })
  })

  test.each<[what: string, body: unknown, status: number]>([
    ['no text', {}, 400],
    ['a list', [], 400],
    ['null', null, 400],
    ['a text that is a number', { text: 1 }, 400],
    ['a protocol that there is not', { text: '{}', protocol: 'toString' }, 400],
    ['a kind that there is not', { text: '{}', kind: 'constructor' }, 400],
    ['a text that is too long', { text: 'x'.repeat(2_000_001) }, 413],
    ['a text that is nested too deep', { text: `${'['.repeat(300)}${']'.repeat(300)}` }, 400],
  ])('refuses %s', async (_, body, status) => {
    expect(await translate(body)).toMatchObject({
      status,
      body: { error: { message: expect.any(String) } },
    })
  })
})

describe('the playground', () => {
  /** Sends a request that the page has marked, and gives what the console shows of it. */
  async function exchange(
    url: string,
    headers: Record<string, string>,
    body: Record<string, unknown> = { model: 'fast' },
    asWhom = headers,
  ) {
    const [path, init] = asking('chat-completions', body, { ...headers, ...marked })
    const response = await fetch(url + path, init)
    await response.text()
    return {
      response,
      ...(await get(`${url}/console/api/exchanges/${response.headers.get('request-id')}`, asWhom)),
    }
  }

  test('shows what the upstream got, and the notes of both sides', async () => {
    const { url: base } = await upstream(sendJson(200, { ...responses.messages, odd_field: 1 }))
    const settings: GatewayConfig = {
      ...config,
      channels: [
        { name: 'other', protocols: ['messages'], baseUrl: base, apiKey: 'upstream-secret' },
      ],
      models: [{ id: 'fast', channels: [{ name: 'other' }] }],
    }
    const url = await started(settings, { adminKey })
    const { status, body } = await exchange(url, admin, { model: 'fast', logit_bias: { '1': 2 } })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      attempts: [
        {
          channel: 'other',
          model: 'fast',
          protocol: 'messages',
          isCut: false,
          ms: expect.any(Number),
        },
      ],
      requestNotes: expect.arrayContaining([expect.objectContaining({ path: '/logit_bias' })]),
      responseNotes: expect.arrayContaining([expect.objectContaining({ path: '/odd_field' })]),
      record: { status: 200, key: '(operator)', requestedModel: 'fast' },
    })
    const [{ body: sent } = { body: '' }] = body['attempts'] as { body: string }[]
    expect(JSON.parse(sent)).toMatchObject({ model: 'fast', max_tokens: expect.any(Number) })
    expect(JSON.stringify(body)).not.toContain('upstream-secret')
  })

  test('shows each attempt with the error of its upstream, and no secret', async () => {
    const failing = await upstream(
      sendJson(500, { error: { type: 'x', message: 'broken upstream-secret' } }),
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
    const { body } = await exchange(await started(settings, { adminKey }), admin)
    expect(body['attempts']).toMatchObject([
      {
        channel: 'bad',
        failure: {
          status: 500,
          kind: 'upstream_status',
          upstreamMessage: expect.stringContaining('broken'),
        },
      },
      { channel: 'demo' },
    ])
    expect(JSON.stringify(body)).not.toContain('upstream-secret')
  })

  test('shows a client nothing of the configuration, and nothing of others', async () => {
    const url = await started(config, { adminKey })
    const { status, body } = await exchange(url, alice)
    expect(status).toBe(200)
    expect(body).toMatchObject({ attempts: [], record: { key: 'alice' } })
    expect(JSON.stringify(body)).not.toMatch(/demo|hidden-model/)
    expect((await exchange(url, alice, { model: 'fast' }, bob)).status).toBe(404)
    expect((await exchange(url, alice, { model: 'fast' }, admin)).body['attempts']).toHaveLength(1)
  })

  test('forgets what other clients send, and all but the latest requests', async () => {
    const url = await started(config, { adminKey })
    const response = await fetch(
      url + asking('chat-completions', { model: 'fast' }, alice)[0],
      asking('chat-completions', { model: 'fast' }, alice)[1],
    )
    expect(
      (await get(`${url}/console/api/exchanges/${response.headers.get('request-id')}`, admin))
        .status,
    ).toBe(404)
    const first = await exchange(url, alice)
    for (let sent = 0; sent < 50; sent++) await exchange(url, alice)
    expect(
      (await get(`${url}/console/api/exchanges/${first.response.headers.get('request-id')}`, admin))
        .status,
    ).toBe(404)
  })

  test('sends as another key only with the admin key', async () => {
    const url = await started({ ...config, keys: [] }, { adminKey, withRecords: true })
    const named = { 'wireglot-key': 'carol' }
    expect(
      (await exchange(url, { ...admin, ...named }, { model: 'fast' }, admin)).body,
    ).toMatchObject({ record: { key: 'carol' } })
    const status = async (headers: Record<string, string>, model = 'fast') =>
      (await fetch(url + asking('messages')[0], asking('messages', { model }, headers)[1])).status
    expect(await status({ ...admin, ...named }, 'other')).toBe(404)
    expect(await status({ ...admin, 'wireglot-key': 'unknown' })).toBe(401)
    expect(await status({ ...admin, 'wireglot-key': '%' })).toBe(401)
    expect(await status(named)).toBe(401)
    expect(await status({ authorization: 'Bearer wg-wrong', ...named })).toBe(401)
  })
})

test('settings of clients contain the address, the model and no key', async () => {
  const url = await started()
  const { body } = await get(
    `${url}/console/api/clients?base=https://gateway.example/ai&model=fast`,
    alice,
  )
  const text = JSON.stringify(body)
  expect(text).toContain('https://gateway.example/ai/v1')
  expect(text).toContain('fast')
  expect(text).not.toContain('client-secret')
  expect((await get(`${url}/console/api/clients?base=javascript:alert(1)`, alice)).status).toBe(400)
})

test.each([true, false])(
  'settings of Codex use WebSocket where the gateway does: %s',
  async webSocket => {
    const url = await started({ ...config, webSocket })
    const { body } = await get(`${url}/console/api/clients?base=https://gateway.example`, alice)
    // A hint names the setting in backticks.
    expect(/supports_websockets = true(?!`)/.test(JSON.stringify(body))).toBe(webSocket)
  },
)
