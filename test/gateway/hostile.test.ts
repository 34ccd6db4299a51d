import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { isGrave } from '../../src/testing/strict/faults.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { type Covered, covered } from '../support/covered.ts'
import { sampled } from '../support/sampled.ts'
import { wireOf } from '../support/upstreams/index.ts'
import { listenedGateway } from './listening.ts'
import {
  after,
  asking,
  hostsOf,
  listen,
  mounted,
  one,
  pairs,
  pathOf,
  post,
  requests,
  sendJson,
  upstream,
  wait,
} from './support.ts'

/** What clients try who mean no good. */

const responses = (protocol: Covered, name = 'lookup') =>
  wireOf(protocol).response({
    text: 'Hello',
    calls: [{ id: 'call_1', name, args: '{"q":"x"}' }],
    ending: 'stop',
  })

const served = (config: GatewayConfig) => listen(mounted(config))

/** A million values, a string of ten megabytes, and huge numbers. */
const bombs = [
  JSON.stringify(Array.from({ length: 1_000_000 }, (_, i) => i % 10)),
  JSON.stringify(Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`k${i}`, 0]))),
  JSON.stringify('x'.repeat(10_000_000)),
  '1e999999',
  `-${'9'.repeat(100_000)}`,
]

/** Sockets that begin to send something, and continue byte by byte. */
function dribble(port: number, count: number, start: string): void {
  const slow = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}))
  for (const socket of slow) socket.write(start)
  const timer = setInterval(() => {
    for (const socket of slow) socket.write('x')
  }, 50)
  after(() => {
    clearInterval(timer)
    for (const socket of slow) socket.destroy()
  })
}

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  describe.each(sampled(covered))('a client of %s', client => {
    const strict = strictOf(client)
    const refused = async (response: Response, status: number) => {
      expect(response.status).toBe(status)
      expect(strict.checkError(await response.json())).toEqual([])
    }

    test.each([
      ['lists in lists', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
      ['objects in objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
      ['lists that are never closed', '['.repeat(1_000_000)],
    ])('is refused with 400 when it sends %s', async (_what, bomb) => {
      const ask = await start(one('http://127.0.0.1:9', client))
      await refused(await ask(pathOf(client), post(`{"model":"m","x":${bomb}}`)), 400)
    })

    test('gets a response to a million values, a string of ten megabytes and huge numbers', async () => {
      const seen = await upstream(sendJson(200, responses('messages')))
      const ask = await start(one(seen.url, 'messages'))
      for (const bomb of bombs) {
        const [path, { body }] = asking(client)
        const response = await ask(path, post(`${String(body).slice(0, -1)},"x_odd":${bomb}}`))
        expect([200, 400]).toContain(response.status)
        await response.text()
        expect(seen.calls.at(-1)?.text ?? '').not.toContain('Infinity')
      }
    })

    test.each([
      ['lists', (deep: number) => `{"q":${'['.repeat(deep)}${']'.repeat(deep)}}`],
      ['objects', (deep: number) => `${'{"q":'.repeat(deep)}"["${'}'.repeat(deep)}`],
    ])(
      'can send deeply nested %s inside the text of arguments, and so can a model',
      async (_what, nested) => {
        const args = nested(50_000)
        const histories: { [client: string]: Record<string, unknown> } = {
          'chat-completions': {
            messages: [
              {
                role: 'assistant',
                tool_calls: [
                  { id: 'c', type: 'function', function: { name: 'f', arguments: args } },
                ],
              },
              { role: 'tool', tool_call_id: 'c', content: args },
            ],
          },
          responses: {
            input: [
              { type: 'function_call', call_id: 'c', name: 'f', arguments: args },
              { type: 'function_call_output', call_id: 'c', output: args },
            ],
          },
        }
        for (const served of covered) {
          const odd = wireOf('chat-completions').response({
            calls: [{ id: 'c', name: 'f', args }],
            ending: 'stop',
          })
          const seen = await upstream(
            sendJson(200, served === 'chat-completions' ? odd : responses(served)),
          )
          const ask = await start(one(seen.url, served))
          const response = await ask(...asking(client, histories[client]))
          expect([served, response.status]).toEqual([served, 200])
          const body: unknown = await response.json()
          if (client !== served) expect(strict.checkResponse(body).filter(isGrave)).toEqual([])
        }
      },
    )

    test.each([
      '../../admin',
      '..',
      './m',
      'a/../../b',
      'models/../../x',
      '..\\x',
      'a\r\nx-evil: 1',
      'a\u0000b',
      '\u007f',
    ])('is refused when it requests the model %j', async model => {
      const seen = await upstream(sendJson(200, responses('generate-content')))
      const ask = await start(one(seen.url, 'generate-content', {}, { id: '*' }))
      const [path, init] = asking(client, { model })
      const inPath = `/v1beta/models/${encodeURIComponent(model)}:generateContent`
      await refused(await ask(client === 'generate-content' ? inPath : path, init), 400)
      expect(seen.calls).toEqual([])
    })

    test.each([
      'm?alt=media',
      'm#x',
      'm:countTokens',
      'm%2f..%2f..',
      'm/x',
      'm;a=b',
      'm&key=evil',
      '%2e%2e/%2e%2e',
      '__proto__',
      '…',
    ])('cannot change the upstream path with the model %j', async model => {
      const seen = await upstream(sendJson(200, responses('generate-content')))
      const ask = await start(one(`${seen.url}/base`, 'generate-content', {}, { id: '*' }))
      const [path, init] = asking(client, { model })
      const inPath = `/v1beta/models/${encodeURIComponent(model)}:generateContent`
      const response = await ask(client === 'generate-content' ? inPath : path, init)
      expect(response.status).toBe(200)
      const [call] = seen.calls
      expect(call?.path).toMatch(/^\/base\/v1beta\/models\/[^?#]+:generateContent$/)
      expect(decodeURIComponent(call?.path ?? '')).toBe(
        `/base/v1beta/models/${model}:generateContent`,
      )
    })

    test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
      'can use the name %s for everything',
      async name => {
        for (const served of covered) {
          const seen = await upstream(sendJson(200, responses(served, name)))
          // No configuration has a group of this name.
          const grouped = name !== '__proto__'
          const keys = [{ name, key: 'client-secret', ...(grouped && { group: name }) }]
          const { auth: _, ...config } = one(
            seen.url,
            served,
            { keys, ...(grouped && { groups: { [name]: {} } }) },
            { id: name },
          )
          const ask = await start(config)
          const headers = {
            'content-type': 'application/json',
            authorization: 'Bearer client-secret',
            [name]: 'x',
          }
          const [path, init] = asking(client, { model: name })
          const response = await ask(path, { ...init, headers })
          expect(response.status).toBe(200)
          expect(await response.text()).toContain(name)
          expect(Object.keys(Object.prototype)).toEqual([])
        }
      },
    )

    test('cannot write headers, neither of the response nor of the upstream call', async () => {
      const seen = await upstream((response, { json }) =>
        sendJson(
          200,
          { ...(responses('messages') as object), model: json['model'] },
          { 'retry-after': '1' },
        )(response),
      )
      const ask = await start(
        one(
          seen.url,
          'messages',
          {},
          { id: '*' },
          { returnHeaders: ['*'], forwardHeaders: ['x-*'] },
        ),
      )
      const response = await ask(
        ...asking(client, {
          'x\r\nx-evil: 1': 'a\r\nx-evil: 2',
          metadata: { user_id: 'a\r\nx-evil: 3' },
        }),
      )
      await response.text()
      expect(response.headers.get('x-evil')).toBeNull()
      expect(seen.calls[0]?.headers['x-evil']).toBeUndefined()
    })

    test('is refused when it sends too many headers', async () => {
      const ask = await start(one('http://127.0.0.1:9', client))
      const response = await ask(...asking(client, {}, { 'x-long': 'x'.repeat(100_000) })).catch(
        () => undefined,
      )
      expect([431, undefined]).toContain(response?.status)
    })
  })

  test.each(pairs)(
    'returns neither key nor host to a client of %s when the call to %s fails',
    async (client, served) => {
      const seen = await upstream((response, { headers }) =>
        sendJson(500, {
          error: {
            message: `key ${headers['authorization'] ?? headers['x-api-key'] ?? headers['x-goog-api-key']}`,
          },
        })(response),
      )
      const ask = await start(one(seen.url, served))
      const text = await (await ask(...asking(client))).text()
      expect(text).not.toContain('upstream-secret')
      expect(text).not.toContain(new URL(seen.url).host)
    },
  )
})

describe('malformed HTTP requests', () => {
  async function gatewayOverTcp(more: object = {}) {
    const seen = await upstream(sendJson(200, responses('messages')))
    const url = await served({ ...one(seen.url, 'messages'), ...more })
    const port = Number(new URL(url).port)
    /** All that comes back for these bytes, until the connection closes or is silent. */
    const report = (...bytes: string[]) =>
      new Promise<string>(resolve => {
        const socket = connect(port, '127.0.0.1')
        let text = ''
        socket.on('data', chunk => {
          text += String(chunk)
        })
        socket.on('error', () => {})
        socket.on('close', () => resolve(text))
        for (const one of bytes) socket.write(one)
        if (!bytes.at(-1)?.includes('connection: close')) setTimeout(() => socket.destroy(), 1_500)
      })
    return { seen, url, port, report }
  }
  const body = JSON.stringify({
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Hi' }],
  })
  const head = (...lines: string[]) =>
    [
      'POST /v1/messages HTTP/1.1',
      'host: x',
      'content-type: application/json',
      ...lines,
      '',
      '',
    ].join('\r\n')
  const smuggled = `POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`

  test.each([
    [
      'a length beside chunks',
      `${head('content-length: 5', 'transfer-encoding: chunked')}0\r\n\r\n${smuggled}`,
    ],
    [
      'chunks beside a length',
      `${head('transfer-encoding: chunked', `content-length: ${body.length}`)}0\r\n\r\n${smuggled}`,
    ],
    ['two lengths', head('content-length: 0', `content-length: ${body.length}`) + smuggled],
    ['a list of lengths', head(`content-length: 0, ${body.length}`) + smuggled],
    ['a length with a sign', head(`content-length: +${body.length}`) + body],
    [
      'a coding that is not the last',
      `${head('transfer-encoding: chunked, identity')}0\r\n\r\n${smuggled}`,
    ],
    ['a coding that is hidden', head('transfer-encoding: xchunked') + smuggled],
    ['a space before the colon', `${head('transfer-encoding : chunked')}0\r\n\r\n${smuggled}`],
    [
      'a size of a chunk that is none',
      `${head('transfer-encoding: chunked')}0x5\r\nhello\r\n0\r\n\r\n${smuggled}`,
    ],
    ['a line that is folded', head('x: a\r\n transfer-encoding: chunked') + smuggled],
  ])('%s: accepts no smuggled request', async (_what, bytes) => {
    const { seen, report } = await gatewayOverTcp()
    const text = await report(bytes)
    expect(text).not.toMatch(/HTTP\/1\.1 200/)
    expect(seen.calls.length).toBe(0)
  })

  test('responds to each of two requests over one connection', async () => {
    const { seen, report } = await gatewayOverTcp()
    const text = await report(smuggled, smuggled.replace('host: x', 'host: x\r\nconnection: close'))
    expect(seen.calls.length).toBe(2)
    expect(text.match(/HTTP\/1\.1 200/g)?.length).toBe(2)
  })

  test('two hundred clients that send their request byte by byte delay no other client', async () => {
    const { url, port } = await gatewayOverTcp()
    dribble(port, 200, head(`content-length: ${body.length}`).slice(0, 40))
    await wait(200)
    for (let i = 0; i < 5; i++)
      expect((await fetch(`${url}/v1/messages`, post(body))).status).toBe(200)
  })
})

test('closes endless request heads and bodies after the timeout of the server', async () => {
  const handler = listenedGateway(one('http://127.0.0.1:9', 'messages'))
  const server = createServer(
    { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 50 },
    handler,
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const starts = [
    'POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-',
    'POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{',
  ]
  for (const start of starts) dribble(port, 20, start)
  const connections = () =>
    new Promise<number>(resolve => server.getConnections((_, count) => resolve(count)))
  for (const end = Date.now() + 10_000; (await connections()) < 40 && Date.now() < end; )
    await wait(5)
  for (const end = Date.now() + 60_000; (await connections()) > 0 && Date.now() < end; )
    await wait(20)
  expect(await connections()).toBe(0)
  const since = Date.now()
  await handler.close(60_000)
  expect(Date.now() - since).toBeLessThan(30_000)
  await new Promise(resolve => server.close(resolve))
})

describe('a client that guesses keys', () => {
  const keyed = (url: string, more: object = {}): GatewayConfig => {
    const { auth: _, ...config } = one(url, 'messages', {
      defaults: { retries: 0, wrongKeysPerMinute: 5, ...more },
    })
    return { ...config, keys: [{ name: 'a', key: 'client-secret' }] }
  }

  test('refuses an address after several wrong keys, and sends retry-after', async () => {
    const seen = await upstream(sendJson(200, responses('messages')))
    const url = await served(keyed(seen.url))
    const ask = async (key: string) =>
      fetch(`${url}/v1/messages`, post(requests.messages, { 'x-api-key': key }))
    expect((await ask('client-secret')).status).toBe(200)
    const statuses: number[] = []
    for (let i = 0; i < 8; i++) statuses.push((await ask(`guess-${i}`)).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429, 429])
    const refused = await ask('client-secret')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(strictOf('messages').checkError(await refused.json())).toEqual([])
    expect(seen.calls.length).toBe(1)
  })

  test('is not a client without a key', async () => {
    const seen = await upstream(sendJson(200, responses('messages')))
    const url = await served(keyed(seen.url))
    for (let i = 0; i < 8; i++) expect((await fetch(`${url}/v1/models`)).status).toBe(401)
    expect(
      (await fetch(`${url}/v1/messages`, post(requests.messages, { 'x-api-key': 'client-secret' })))
        .status,
    ).toBe(200)
  })

  test('is not counted without a limit', async () => {
    const url = await served(keyed('http://127.0.0.1:9', { wrongKeysPerMinute: 0 }))
    for (let i = 0; i < 20; i++)
      expect((await fetch(`${url}/v1/messages`, post(requests.messages))).status).toBe(401)
  })
})
