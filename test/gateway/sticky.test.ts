import { describe, expect, test } from 'vitest'
import { type ReadBody, readJson } from '../../src/gateway/body/body.ts'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { createMemory } from '../../src/gateway/memory.ts'
import { conversationKey, scoreOf } from '../../src/gateway/upstream/sticky.ts'
import { protocols } from '../../src/protocols/index.ts'
import {
  hostsOf,
  type Protocol,
  paths,
  post,
  responses,
  sendJson,
  type Upstream,
  upstream,
} from './support.ts'

const names = ['a', 'b', 'c']

const config = (seen: Upstream[], served: Protocol, model: object = {}): GatewayConfig => ({
  auth: 'none',
  channels: seen.map(({ url }, index) => ({
    name: names[index] ?? '',
    protocols: [served],
    baseUrl: url,
  })),
  models: [{ id: 'm', channels: seen.map((_, index) => ({ name: names[index] ?? '' })), ...model }],
  defaults: { retries: 0 },
})

const user = (text: string) => ({ role: 'user', content: text })
const assistant = { role: 'assistant', content: 'Hello' }
const turns = (text: string) => [
  [user(text)],
  [user(text), assistant, user('more')],
  [user(text), assistant, user('more'), assistant, user('and more')],
]

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  /** How many calls each of three upstreams gets. */
  async function counts(
    requests: (RequestInit | [body: object, headers: Record<string, string>])[],
    model: object = {},
    served: Protocol = 'chat-completions',
  ) {
    const seen = await Promise.all(names.map(() => upstream(sendJson(200, responses[served]))))
    const ask = await start(config(seen, served, model))
    for (const request of requests)
      expect(
        (await ask(paths[served], Array.isArray(request) ? post(...request) : request)).status,
      ).toBe(200)
    return seen.map(({ calls }) => calls.length)
  }

  test('sends all turns of a conversation to one channel', async () => {
    expect(
      (await counts(turns('One').map(messages => post({ model: 'm', messages })))).sort(),
    ).toEqual([0, 0, 3])
  })

  test('distributes conversations over the channels', async () => {
    const many = Array.from({ length: 60 }, (_, index) =>
      post({ model: 'm', messages: [user(`Question ${index}`)] }),
    )
    for (const count of await counts(many)) expect(count).toBeGreaterThan(8)
  })

  test.each<[string, Record<string, string>, object, Protocol?]>([
    ['x-session-id', { 'x-session-id': 's1' }, {}],
    ['session_id', { session_id: 's1' }, {}],
    ['x-claude-code-session-id', { 'x-claude-code-session-id': 's1' }, {}],
    ['prompt_cache_key', {}, { prompt_cache_key: 's1' }],
    [
      'metadata.user_id',
      {},
      { max_tokens: 9, metadata: { user_id: 'user_1_account__session_2' } },
      'messages',
    ],
  ])(
    '%s names the conversation, whatever its messages are',
    async (_name, headers, more, served) => {
      const requests = Array.from({ length: 12 }, (_, index): [object, Record<string, string>] => [
        { model: 'm', messages: [user(`Question ${index}`)], ...more },
        headers,
      ])
      expect((await counts(requests, {}, served)).sort()).toEqual([0, 0, 12])
    },
  )

  test('alternates channels with `sticky: false`', async () => {
    const same = Array.from({ length: 9 }, () => post({ model: 'm', messages: [user('One')] }))
    expect((await counts(same, { sticky: false })).sort()).toEqual([2, 3, 4])
  })

  test('a failed channel is replaced by one and the same other channel', async () => {
    const seen = await Promise.all(
      names.map(() => upstream(sendJson(200, responses['chat-completions']))),
    )
    const ask = await start(config(seen, 'chat-completions'))
    const received = post({ model: 'm', messages: [user('One')] })
    await ask(paths['chat-completions'], received)
    const index = seen.findIndex(({ calls }) => calls.length === 1)
    const failing = await upstream(sendJson(500, { error: { message: 'down' } }))
    const second = await start(config(seen.with(index, failing), 'chat-completions'), {
      logger: false,
    })
    for (let turn = 0; turn < 3; turn++)
      expect((await second(paths['chat-completions'], received)).status).toBe(200)
    expect(failing.calls.length).toBe(3)
    expect(seen.map(({ calls }) => calls.length).sort()).toEqual([0, 1, 3])
  })
})

const body = (value: unknown) => ({ value, outline: value })

test.each<[Protocol, object, object]>([
  [
    'chat-completions',
    { messages: [{ role: 'system', content: 'S' }, user('A')] },
    { messages: [{ role: 'system', content: 'S' }, user('A'), assistant, user('B')] },
  ],
  ['responses', { input: [user('A')] }, { input: [user('A'), assistant, user('B')] }],
  ['messages', { messages: [user('A')] }, { messages: [user('A'), assistant, user('B')] }],
  [
    'generate-content',
    { contents: [{ parts: [{ text: 'A' }] }] },
    { contents: [{ parts: [{ text: 'A' }] }, { role: 'model', parts: [] }] },
  ],
])('the key of a conversation stays the same in its turns: %s', (protocol, first, second) => {
  const key = conversationKey({}, body(first), protocols[protocol])
  expect(key).toContain('A')
  expect(conversationKey({}, body(second), protocols[protocol])).toBe(key)
})

describe('the messages in the bytes of a body', () => {
  const big = 'x'.repeat(40_000)
  const first = [
    { role: 'system', content: 'S, "] {' },
    { content: [{ type: 'text', text: 'A \\" ]}' }], role: 'user' },
  ]
  /** As `readJson` makes it, with a value that may not be parsed. */
  async function unparsed(value: unknown): Promise<ReadBody> {
    const text = JSON.stringify(value)
    const read = await readJson(
      { headers: {}, body: { bytes: one(text) } },
      { bodyLimitBytes: 1e6, depthLimit: 99, memory: createMemory(1e6).share(undefined) },
    )
    return {
      ...read,
      bytes: read.bytes as Uint8Array<ArrayBuffer>,
      outline: read.outline,
      ...(read.members && { members: read.members }),
      get value(): unknown {
        throw new Error('parsed')
      },
    }
  }
  async function* one(text: string) {
    yield new TextEncoder().encode(text)
  }
  const key = async (value: unknown, protocol: Protocol = 'chat-completions') =>
    conversationKey({}, await unparsed(value), protocols[protocol])

  test('give the same key in short and long turns, without parsing them', async () => {
    const short = await key({ model: 'm', messages: first })
    expect(short).toContain('A ')
    expect(
      await key({ messages: [...first, assistant, user(big)], model: 'm', stream: true }),
    ).toBe(short)
    expect(
      await key({ model: 'm', messages: [first[0], user('B'), assistant, user(big)] }),
    ).not.toBe(short)
  })

  test('give a key when the first message is long', async () => {
    const long = await key({ messages: [user(big)] })
    expect(long?.length).toBeLessThan(10_000)
    expect(await key({ messages: [user(big), assistant, user('more')] })).toBe(long)
    expect(await key({ input: big }, 'responses')).toContain('xxx')
  })

  test.each([
    [{ messages: [] }],
    [{ messages: 5 }],
    [{ messages: [assistant] }],
    [{ messages: [null, 5, 'x'] }],
    [{}],
  ])('give no key without a user: %j', async value => {
    expect(await key(value)).toBeUndefined()
  })
})

test('a user id without a session is no conversation', () => {
  const one = (text: string) =>
    conversationKey(
      {},
      body({ metadata: { user_id: 'user-7' }, messages: [user(text)] }),
      protocols.messages,
    )
  expect(one('A')).not.toBe(one('B'))
})

test.each([undefined, null, {}, { messages: 5 }, { messages: [] }, { messages: [null] }])(
  'a body without messages has no key: %j',
  value => {
    expect(conversationKey({}, body(value), protocols.messages)).toBeUndefined()
  },
)

test('finds no key in a body that cannot be parsed', () => {
  const broken = {
    outline: { messages: [null] },
    get value(): unknown {
      throw new Error('not JSON')
    },
  }
  expect(conversationKey({}, broken, protocols.messages)).toBeUndefined()
})

test('distributes conversations by weight, and a new channel moves only its own share', () => {
  const weights: Record<string, number> = { heavy: 3, light: 1 }
  const chosen = (key: string, from: Record<string, number>) =>
    Object.entries(from).reduce(
      ([best, most], [name, weight]) =>
        scoreOf(key, name, weight) > most
          ? ([name, scoreOf(key, name, weight)] as const)
          : ([best, most] as const),
      ['', -1] as const,
    )[0]
  const keys = Array.from({ length: 4000 }, (_, index) => `session-${index}`)
  const heavy = keys.filter(key => chosen(key, weights) === 'heavy').length / keys.length
  expect(heavy).toBeGreaterThan(0.72)
  expect(heavy).toBeLessThan(0.78)
  const moved = keys.filter(key => chosen(key, weights) !== chosen(key, { ...weights, added: 1 }))
  expect(moved.every(key => chosen(key, { ...weights, added: 1 }) === 'added')).toBe(true)
  expect(moved.length / keys.length).toBeGreaterThan(0.17)
  expect(moved.length / keys.length).toBeLessThan(0.23)
})
