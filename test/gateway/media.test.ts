import { describe, expect, test } from 'vitest'
import {
  ConfigError,
  createGateway,
  type GatewayConfig,
  type UsageRecord,
} from '../../src/gateway/gateway.ts'
import { protocols } from '../../src/protocols/index.ts'
import {
  asking,
  hostsOf,
  type Protocol,
  responses,
  sendJson,
  type Upstream,
  until,
  upstream,
} from './support.ts'

const image = (data: string) => ({
  'chat-completions': {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
        ],
      },
    ],
  },
  responses: {
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url: `data:image/png;base64,${data}` },
        ],
      },
    ],
  },
  messages: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
        ],
      },
    ],
  },
  'generate-content': {
    contents: [
      {
        role: 'user',
        parts: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data } }],
      },
    ],
  },
})

const clients = Object.keys(image('')) as Protocol[]

/** `blind` at one upstream reads text alone; `seeing` at another one reads images, too. */
const two = (
  blind: Upstream,
  seeing: Upstream,
  media: object,
  more: Partial<GatewayConfig> = {},
): GatewayConfig => ({
  auth: 'none',
  channels: [
    { name: 'blind', protocols: ['chat-completions'], baseUrl: blind.url },
    { name: 'seeing', protocols: ['messages'], baseUrl: seeing.url },
  ],
  models: [
    { id: 'm', channels: [{ name: 'blind' }], capabilities: { input: ['text'] }, media },
    { id: 'eye', channels: [{ name: 'seeing' }] },
  ],
  defaults: { retries: 0 },
  ...more,
})

const wordsOf = (protocol: Protocol, body: unknown) =>
  protocols[protocol]
    .decodeRequest(body)
    .value.messages.flatMap(({ parts }) =>
      parts.map(part => (part.type === 'text' ? part.text : part.type)),
    )

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(clients)('an image is described once by a model that sees, %s client', async client => {
    const blind = await upstream(sendJson(200, responses['chat-completions']))
    const seeing = await upstream(sendJson(200, responses.messages))
    const records: UsageRecord[] = []
    const ask = await start(two(blind, seeing, { describe: 'eye' }), {
      logger: false,
      onUsage: record => void records.push(record),
    })
    for (let nth = 0; nth < 2; nth++)
      expect((await ask(...asking(client, image('iVBORw0KGgo=')[client]))).status).toBe(200)
    expect(seeing.calls).toHaveLength(1)
    expect(wordsOf('messages', seeing.calls[0]?.json)).toEqual([
      'media',
      expect.stringContaining('Describe this image'),
    ])
    for (const { json } of blind.calls)
      expect(wordsOf('chat-completions', json)).toEqual(['What is this?', '[An image: Hello]'])
    await until(() => records.length === 2)
    expect(records.map(({ noteCodes }) => noteCodes?.includes('gateway.described'))).toEqual([
      true,
      true,
    ])
    const [first, second] = records.map(({ usage }) => usage?.input ?? 0)
    expect(first).toBeGreaterThan(second ?? 0)
    // Each model has a price of its own.
    const { usageByModel: { m, eye, ...others } = {} } = records[0] ?? {}
    expect([(m?.input ?? 0) + (eye?.input ?? 0), m?.input, others]).toEqual([first, second, {}])
    expect(records[1]).not.toHaveProperty('usageByModel')
  })

  test.each(clients)(
    'a request with an image goes to a model that sees, %s client',
    async client => {
      const blind = await upstream(sendJson(200, responses['chat-completions']))
      const seeing = await upstream(sendJson(200, responses.messages))
      const ask = await start(two(blind, seeing, { route: 'eye' }))
      const response = await ask(...asking(client, image('iVBORw0KGgo=')[client]))
      expect([response.status, response.headers.get('wireglot-fallback')]).toEqual([200, 'eye'])
      expect((await ask(...asking(client))).headers.get('wireglot-fallback')).toBeNull()
      expect([blind.calls.length, seeing.calls.length]).toEqual([1, 1])
    },
  )

  test('a client that leaves does not take the description from another one', async () => {
    const blind = await upstream(sendJson(200, responses['chat-completions']))
    const seeing = await upstream(() => {}, sendJson(200, responses.messages))
    let received = 0
    const ask = await start(two(blind, seeing, { describe: 'eye' }), {
      logger: false,
      onRequest: () => void received++,
    })
    const client = new AbortController()
    const [path, init] = asking('messages', image('aaaa').messages)
    const first = ask(path, { ...init, signal: client.signal }).catch(() => {})
    await until(() => seeing.calls.length === 1)
    const second = ask(path, init)
    await until(() => received === 2)
    client.abort()
    await first
    expect((await second).status).toBe(200)
    expect(blind.calls.map(({ text }) => text)).toEqual([
      expect.stringContaining('[An image: Hello]'),
    ])
  })

  test('a description counts, though its client has left', async () => {
    const blind = await upstream(sendJson(200, responses['chat-completions']))
    const seeing = await upstream(() => {})
    const records: UsageRecord[] = []
    const ask = await start(two(blind, seeing, { describe: 'eye' }), {
      logger: false,
      onUsage: record => void records.push(record),
    })
    const client = new AbortController()
    const [path, init] = asking('messages', image('a'.repeat(4_000)).messages)
    const asked = ask(path, { ...init, signal: client.signal }).catch(() => {})
    await until(() => seeing.calls.length === 1)
    client.abort()
    await asked
    await until(() => records.length === 1)
    expect(records[0]).toMatchObject({ status: 499, usage: { estimated: true } })
    expect(records[0]?.usage?.input).toBeGreaterThan(1_000)
  })

  test('descriptions are for keys that see the model that describes', async () => {
    const blind = await upstream(sendJson(200, responses['chat-completions']))
    const seeing = await upstream(sendJson(200, responses.messages))
    const [few, all] = ['key-of-few-0123456789', 'key-of-all-0123456789']
    const { auth: _, ...config } = two(blind, seeing, { describe: 'eye' })
    const ask = await start(
      {
        ...config,
        groups: { few: { models: ['m'] } },
        keys: [
          { name: 'few', key: few, group: 'few' },
          { name: 'all', key: all },
        ],
      },
      { logger: false },
    )
    const [path, init] = asking('messages', image('aaaa').messages)
    for (const key of [few, all, few])
      await (await ask(path, { ...init, headers: { ...init.headers, 'x-api-key': key } })).text()
    expect(seeing.calls).toHaveLength(1)
    expect(blind.calls.map(({ text }) => text.includes('[An image: Hello]'))).toEqual([
      false,
      true,
      false,
    ])
  })

  test('the notes are those of the images that were described', async () => {
    const blind = await upstream(sendJson(200, responses['chat-completions']))
    const seeing = await upstream((answer, { text }) =>
      text.includes('aaaa')
        ? sendJson(400, { error: { message: 'no image' } })(answer)
        : sendJson(200, responses.messages)(answer),
    )
    const paths: string[] = []
    const ask = await start(two(blind, seeing, { describe: 'eye' }), {
      logger: false,
      onNotes: notes =>
        void paths.push(
          ...notes.flatMap(({ code, path }) => (code === 'gateway.described' ? [path] : [])),
        ),
    })
    const [bad, good] = ['aaaa', 'bbbb'].flatMap(data => image(data).messages.messages)
    await (await ask(...asking('messages', { messages: [bad, good] }))).text()
    await until(() => paths.length > 0)
    expect(paths).toEqual(['/messages/1/content/1'])
  })

  test('text in a document is text, which every model reads', async () => {
    const blind = await upstream(sendJson(200, responses['chat-completions']))
    const seeing = await upstream(sendJson(200, responses.messages))
    const ask = await start(two(blind, seeing, { route: 'eye' }))
    const source = { type: 'text', media_type: 'text/plain', data: 'Wires are long.' }
    const messages = [{ role: 'user', content: [{ type: 'document', source }] }]
    expect((await ask(...asking('messages', { messages }))).status).toBe(200)
    expect([blind.calls.length, seeing.calls.length]).toEqual([1, 0])
  })

  test('an image that cannot be described has a sentence in its place', async () => {
    const blind = await upstream(sendJson(200, responses['chat-completions']))
    const seeing = await upstream(sendJson(500, {}))
    const ask = await start(two(blind, seeing, { describe: 'eye' }), { logger: false })
    expect((await ask(...asking('messages', image('AAAA').messages))).status).toBe(200)
    expect(wordsOf('chat-completions', blind.calls[0]?.json)[1]).toMatch(/^\[Here was an image/)
  })
})

test.each([
  [{ describe: 'nobody' }, 'models[0].media.describe'],
  [{ route: 'm' }, 'models[0].media.route'],
  [{}, 'models[0].media'],
  [{ describe: 'eye', route: 'eye' }, 'models[0].media'],
])('the configuration %j is refused', (media, path) => {
  const nowhere = { url: 'http://127.0.0.1:9' } as Upstream
  expect(() => createGateway(two(nowhere, nowhere, media) as never)).toThrow(ConfigError)
  expect(() => createGateway(two(nowhere, nowhere, media) as never)).toThrow(path)
})
