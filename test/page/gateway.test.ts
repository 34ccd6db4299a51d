import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import connect from 'connect'
import { describe, expect, test } from 'vitest'
import { serve } from '../../src/cli/serve.ts'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { protocolNames } from '../../src/protocols/index.ts'
import { after, asking, hosts, listen, mounted, post, replies, requests, sendJson, upstream } from '../gateway/support.ts'

const config = {
  page: true,
  keys: [
    { name: 'alice', key: 'client-secret-a', group: 'team' },
    { name: 'bob', key: 'client-secret-b', group: 'team' },
    { name: 'root', key: 'client-secret-c' },
  ],
  groups: { team: { models: ['fast', 'deep'], requestsPerMinute: 4 } },
  channels: [{ name: 'demo', embedded: 'demo' }],
  models: ['fast', 'deep', 'hidden'].map(id => ({ id, channels: [{ name: 'demo' }] })),
} satisfies GatewayConfig

const alice = { authorization: 'Bearer client-secret-a' }
const bob = { 'x-api-key': 'client-secret-b' }
const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const chat = { ...requests['chat-completions'], logit_bias: { '1': 2 } }
const pasted = (value: unknown, headers: Record<string, string> = {}) => post({ text: JSON.stringify(value) }, headers)

async function served(file: object | undefined = undefined): Promise<string> {
  const options = { host: '127.0.0.1', port: 0 }
  const { url, close } = await serve(file === undefined ? options : { ...options, config: await written(file) }, { out() {} })
  after(close)
  return url
}

async function written(file: object): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'wireglot-')), 'config.json')
  await writeFile(path, JSON.stringify(file))
  return path
}

function middleware(settings?: GatewayConfig) {
  const handler = mounted(settings)
  return handler
}

type State = { models: { id: string }[]; usage: Record<string, unknown>[]; examples: object[] }

describe.each(hosts)('the page through %s', (_, start) => {
  test('is shown to browsers, may run its own code only, and speaks to this gateway only', async () => {
    const ask = await start(config)
    const response = await ask('/', { headers: browser })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy.split('; ')).toEqual([
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
    expect(html.length).toBeLessThan(40_000)
    expect(html.match(/(?:src|href)="(?!#|data:,")[^"]*"|url\(|@import|https?:/g)).toBeNull()
    expect(html).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval\(| on\w+="/)
  })

  test('is not in the way of clients that look whether somebody is there', async () => {
    const ask = await start(config)
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      const response = await ask('/', { headers })
      expect(response.status).toBe(200)
      expect(await response.text()).toBe('wireglot: a gateway between the wire protocols of language models\n')
      expect((await ask('/', { method: 'HEAD', headers })).status).toBe(200)
    }
  })

  test.each([undefined, false])('is off where `page` is %s, and so is what it would ask', async page => {
    const ask = await start({ ...config, page })
    expect(await (await ask('/', { headers: browser })).text()).toMatch(/^wireglot:/)
    expect((await ask('/playground/state', { headers: alice })).status).toBe(404)
    expect((await ask('/playground/translate', pasted(chat, alice))).status).toBe(404)
  })

  test.each<[what: string, headers: Record<string, string>]>([
    ['without a key', {}],
    ['with a wrong key', { authorization: 'Bearer client-secret-x' }],
  ])('%s nothing is told but the page itself', async (__, headers) => {
    const ask = await start(config)
    for (const answer of [await ask('/playground/state', { headers }), await ask('/playground/translate', pasted(chat, headers))]) {
      expect(answer.status).toBe(401)
      expect(await answer.json()).toHaveProperty('error')
    }
  })

  test('a hook that refuses refuses the page, too', async () => {
    const ask = await start(config, { authenticate: () => null })
    expect((await ask('/playground/state', { headers: alice })).status).toBe(401)
  })

  test('translates for a key, and counts as one of its requests', async () => {
    const ask = await start(config)
    const answer = await ask('/playground/translate', pasted(chat, alice))
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({
      protocol: 'chat-completions',
      kind: 'request',
      targets: protocolNames
        .filter(name => name !== 'chat-completions')
        .map(protocol => ({
          protocol,
          notes: expect.arrayContaining([expect.objectContaining({ path: '/logit_bias' })]),
        })),
    })
    for (let asked = 0; asked < 3; asked++) expect((await ask('/playground/translate', pasted(chat, alice))).status).toBe(200)
    expect((await ask('/playground/translate', pasted(chat, alice))).status).toBe(429)
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
  ])('refuses %s', async (__, body, status) => {
    const ask = await start(config)
    const answer = await ask('/playground/translate', post(body, alice))
    expect(answer.status).toBe(status)
    expect(await answer.json()).toHaveProperty('error')
  })

  test('another method is 405', async () => {
    const ask = await start(config)
    const answer = await ask('/playground/translate', { headers: alice })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('POST')
  })

  test('a key sees the models of its group, and what it asked itself', async () => {
    const ask = await start(config)
    const [path, init] = asking('messages', { model: 'fast' }, alice)
    expect((await ask(path, init)).status).toBe(200)
    await (await ask(...asking('responses', { model: 'deep', stream: true }, bob))).text()
    expect((await ask(...asking('chat-completions', { model: 'hidden' }, alice))).status).toBe(404)
    const of = async (headers: Record<string, string>) => (await (await ask('/playground/state', { headers })).json()) as State
    const seen = await of(alice)
    expect(seen.models.map(({ id }) => id)).toEqual(['fast', 'deep'])
    expect(seen.usage).toMatchObject([
      { modelAsked: 'hidden', protocolIn: 'chat-completions', status: 404, failure: 'client' },
      { modelAsked: 'fast', protocolIn: 'messages', stream: false, status: 200, attempts: 1, usage: { input: expect.any(Number), output: expect.any(Number) } },
    ])
    expect((await of(bob)).usage).toMatchObject([{ modelAsked: 'deep', stream: true }])
    const { models, usage } = await of({ authorization: 'Bearer client-secret-c' })
    expect(models.map(({ id }) => id)).toEqual(['fast', 'deep', 'hidden'])
    expect(usage).toEqual([])
  })

  test('keeps no more than it shows to one key, youngest first', async () => {
    const ask = await start({ ...config, groups: {}, keys: [{ name: 'alice', key: 'client-secret-a' }] })
    for (let asked = 0; asked < 52; asked++) await (await ask(...asking('messages', { model: asked === 51 ? 'deep' : 'fast' }, alice))).text()
    const { usage } = (await (await ask('/playground/state', { headers: alice })).json()) as State
    expect(usage).toHaveLength(50)
    expect(usage[0]).toMatchObject({ modelAsked: 'deep' })
  })

  test('shows no key, no prompt, and nothing of how the gateway is set up', async () => {
    const seen = await upstream(sendJson(200, replies.messages, { 'request-id': 'req_hush' }))
    const ask = await start({
      ...config,
      channels: [{ name: 'hush-channel', protocols: ['messages'], baseUrl: `${seen.url}/hush`, apiKey: 'upstream-secret', headers: { 'x-more': 'planted' } }],
      models: [{ id: 'fast', channels: [{ name: 'hush-channel', model: 'hush-model' }] }],
    })
    const prompt = { messages: [{ role: 'user', content: 'planted prompt' }], max_tokens: 5 }
    expect((await ask(...asking('messages', { model: 'fast', ...prompt }, alice))).status).toBe(200)
    const answers = [
      await ask('/', { headers: browser }),
      await ask('/playground/state', { headers: alice }),
      await ask('/playground/translate', pasted(chat, alice)),
    ]
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect([...answer.headers].join() + (await answer.text())).not.toMatch(/planted|hush|client-secret|upstream-secret|127\.0\.0\.1/)
    }
    expect(seen.calls).toHaveLength(1)
  })
})

describe('where it is', () => {
  test('`wireglot serve` shows it, unless the configuration says no', async () => {
    const url = await served()
    expect((await fetch(url, { headers: browser })).headers.get('content-type')).toMatch(/^text\/html/)
    expect((await fetch(`${url}/playground/state`)).status).toBe(200)
    const { page: _, ...rest } = config
    expect((await fetch(await served(rest), { headers: browser })).headers.get('content-type')).toMatch(/^text\/html/)
    const off = await served({ ...rest, page: false })
    expect((await fetch(off, { headers: browser })).headers.get('content-type')).toMatch(/^text\/plain/)
    expect((await fetch(`${off}/playground/state`, { headers: alice })).status).toBe(404)
  })

  test('pages of other hosts get nothing from a gateway without keys', async () => {
    const url = await served()
    const simple = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{"text":"{}"}' }
    expect((await fetch(`${url}/playground/translate`, simple)).status).toBe(415)
    expect([...(await fetch(`${url}/playground/state`, { headers: { origin: 'http://elsewhere.test' } })).headers.keys()]).not.toContain(
      'access-control-allow-origin',
    )
  })

  test('under a mount path it is there, and its neighbours belong to the application', async () => {
    const app = connect()
    app.use('/ai', middleware({ ...config, keys: [], groups: {}, auth: 'none' }))
    app.use((_request, response) => {
      response.statusCode = 418
      response.end()
    })
    const url = await listen(app)
    expect((await fetch(`${url}/ai`, { headers: browser })).headers.get('content-type')).toMatch(/^text\/html/)
    expect((await fetch(`${url}/ai/playground/state`)).status).toBe(200)
    expect((await fetch(`${url}/playground/state`)).status).toBe(418)
    expect((await fetch(`${url}/ai/playground/more`)).status).toBe(418)
    const off = connect()
    off.use(middleware())
    off.use((_request, response) => {
      response.statusCode = 418
      response.end()
    })
    expect((await fetch(`${await listen(off)}/playground/state`)).status).toBe(418)
  })
})
