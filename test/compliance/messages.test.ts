import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { protocolNames } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { type GatewayToAll, modelBehind, startGatewayToAll } from '../e2e/gateway.ts'
import { textBeforeBreak } from '../gateway/support.ts'
import { sampled } from '../support/sampled.ts'

/**
 * What other servers of `/v1/messages` validate and return, against an upstream of each protocol.
 */

type Block = {
  type: string
  text?: string
  thinking?: string
  name?: string
  id?: string
  input?: unknown
  signature?: string
}
type Message = {
  type: string
  role: string
  content: Block[]
  stop_reason: string
  stop_sequence: unknown
  usage: Record<string, unknown>
}
type Event = {
  type: string
  index?: number
  content_block?: Block
  delta?: Record<string, unknown>
  message?: Message
  usage?: Record<string, unknown>
}

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII='
const lookup = {
  name: 'lookup',
  description: 'Looks something up.',
  input_schema: {
    type: 'object',
    properties: { q: { type: 'string' } },
    required: ['q'],
  },
}
const user = (content: unknown) => ({ role: 'user', content })
const scenario = (name: string, more: object = {}) => ({
  max_tokens: 1024,
  messages: [user(`scenario:${name}`)],
  ...more,
})
const call = {
  type: 'tool_use',
  id: 'toolu_1',
  name: 'lookup',
  input: { q: 'one' },
}
const result = {
  type: 'tool_result',
  tool_use_id: 'toolu_1',
  content: 'RESULT-one',
}
/** A conversation in which a message of this role holds a block. */
const holding = (role: string, block: unknown) =>
  scenario('text', {
    messages: [user('scenario:text'), { role, content: [block] }],
  })

let gateway: GatewayToAll
beforeAll(async () => {
  gateway = await startGatewayToAll(protocolNames)
})
afterAll(() => gateway.close())

const postTo = (path: string, model: string, body: object) =>
  fetch(gateway.base + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify({ model, ...body }),
  })

const invalid: [path: string, body: object][] = [
  ['/messages', { max_tokens: 9 }],
  ['/messages', scenario('text', { messages: 'Hello' })],
  ['/messages/0/role', scenario('text', { messages: [{ content: 'Hello' }] })],
  ['/messages/0/role', scenario('text', { messages: [{ role: 'unknown', content: 'Hello' }] })],
  ['/messages/0/content', scenario('text', { messages: [{ role: 'user' }] })],
  ['/messages/0/content', scenario('text', { messages: [user(3)] })],
  ['/max_tokens', { messages: [user('scenario:text')] }],
  ['/max_tokens', scenario('text', { max_tokens: -1 })],
  ['/max_tokens', scenario('text', { max_tokens: 'many' })],
  ['/max_tokens', scenario('text', { max_tokens: 1.5 })],
  ['/system', scenario('text', { system: 3 })],
  ['/system/0/text', scenario('text', { system: [{ type: 'text' }] })],
  ['/temperature', scenario('text', { temperature: 'hot' })],
  ['/top_p', scenario('text', { top_p: 'all' })],
  ['/top_k', scenario('text', { top_k: 'all' })],
  ['/top_k', scenario('text', { top_k: 1.5 })],
  [
    '/thinking/budget_tokens',
    scenario('text', { thinking: { type: 'enabled', budget_tokens: 1024.5 } }),
  ],
  ['/messages', scenario('text', { messages: [] })],
  ['/messages/0', scenario('text', { messages: [user([])] })],
  ['/stop_sequences', scenario('text', { stop_sequences: 'END' })],
  ['/stop_sequences/0', scenario('text', { stop_sequences: [3] })],
  ['/stream', scenario('text', { stream: 'yes' })],
  ['/metadata', scenario('text', { metadata: 'someone' })],
  ['/thinking/type', scenario('text', { thinking: {} })],
  ['/tools', scenario('text', { tools: 'lookup' })],
  ['/tools/0/name', scenario('text', { tools: [{ input_schema: { type: 'object' } }] })],
  [
    '/tools/0/input_schema',
    scenario('text', { tools: [{ name: 'lookup', input_schema: 'object' }] }),
  ],
  ['/tool_choice', scenario('text', { tools: [lookup], tool_choice: 'auto' })],
  ['/tool_choice/type', scenario('text', { tools: [lookup], tool_choice: {} })],
  ['/tool_choice/name', scenario('text', { tools: [lookup], tool_choice: { type: 'tool' } })],
  ['/messages/1/content/0/type', holding('user', { text: 'Hello' })],
  ['/messages/1/content/0/text', holding('user', { type: 'text' })],
  ['/messages/1/content/0/source', holding('user', { type: 'image' })],
  ['/messages/1/content/0/source/type', holding('user', { type: 'image', source: {} })],
  [
    '/messages/1/content/0/source/data',
    holding('user', {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png' },
    }),
  ],
  ['/messages/1/content/0/source/url', holding('user', { type: 'image', source: { type: 'url' } })],
  [
    '/messages/1/content/0/id',
    holding('assistant', { type: 'tool_use', name: 'lookup', input: {} }),
  ],
  [
    '/messages/1/content/0/name',
    holding('assistant', { type: 'tool_use', id: 'toolu_1', input: {} }),
  ],
  ['/messages/1/content/0/tool_use_id', holding('user', { type: 'tool_result', content: 'x' })],
  ['/messages/1/content/0/thinking', holding('assistant', { type: 'thinking', signature: 'x' })],
  ['/messages/1/content/0/data', holding('assistant', { type: 'redacted_thinking' })],
]

// Between equal protocols the bytes pass unchanged, and the upstream validates them.
describe.each(protocolNames.filter(name => name !== 'messages'))(
  '/v1/messages with an upstream of %s',
  served => {
    const post = (body: object) => postTo('/v1/messages', modelBehind(served), body)
    const requests = () => gateway.upstreams.get(served)?.requests ?? []
    const ask = async (body: object): Promise<Message> => {
      const response = await post(body)
      const modelResponse = (await response.json()) as Message
      expect(response.status, JSON.stringify(modelResponse)).toBe(200)
      expect(strictOf('messages').checkResponse(modelResponse)).toEqual([])
      return modelResponse
    }
    const stream = async (body: object): Promise<Event[]> => {
      const response = await post({ stream: true, ...body })
      expect(response.headers.get('content-type')).toContain('text/event-stream')
      return framesOf(await response.text()).map(({ wire }) => wire as Event)
    }
    /** The events before the connection breaks. */
    const brokenStream = async (body: object): Promise<Event[]> => {
      const breaks = vi.fn()
      const text = await textBeforeBreak(await post({ stream: true, ...body }), breaks)
      expect(breaks).toHaveBeenCalledOnce()
      return framesOf(text).map(({ wire }) => wire as Event)
    }
    /** What the upstream receives for a body. */
    const received = async (body: object) => {
      const before = requests().length
      await ask(body)
      return JSON.stringify(requests()[before])
    }
    const textOf = ({ content }: Message) => content.map(({ text = '' }) => text).join('')

    test.each(sampled(invalid))(
      'refuses a fault at %s before it calls the upstream: %j',
      async (path, body) => {
        const before = requests().length
        const response = await post(body)
        expect(response.status).toBe(400)
        const refusal = (await response.json()) as {
          error: { message: string }
        }
        expect(refusal).toMatchObject({
          type: 'error',
          error: { type: 'invalid_request_error', message: expect.any(String) },
        })
        expect(refusal.error.message).toContain(` at ${path}: `)
        expect(requests()).toHaveLength(before)
      },
    )

    test('returns a complete message with usage when the request is minimal', async () => {
      const response = await ask(scenario('text'))
      expect(response).toMatchObject({
        type: 'message',
        role: 'assistant',
        stop_reason: 'end_turn',
        stop_sequence: null,
      })
      expect(textOf(response)).toBe('Hello, wörld 🎉')
      expect(response.usage).toMatchObject({
        input_tokens: 8,
        cache_read_input_tokens: 12,
        output_tokens: 9,
      })
    })

    test.each<[string, unknown]>([
      ['a string', 'Talk like a pirate.'],
      ['blocks', [{ type: 'text', text: 'Talk like a pirate.' }]],
      [
        'cached blocks',
        [
          {
            type: 'text',
            text: 'Talk like a pirate.',
            cache_control: { type: 'ephemeral' },
          },
        ],
      ],
    ])('sends the system prompt when it is %s', async (_, system) => {
      expect(await received(scenario('text', { system }))).toContain('Talk like a pirate.')
    })

    test('sends all text when content is several blocks', async () => {
      const body = await received(
        scenario('text', {
          messages: [
            user([
              { type: 'text', text: 'scenario:text' },
              { type: 'text', text: ' the number?' },
            ]),
          ],
        }),
      )
      expect(body).toContain(' the number?')
    })

    test('sends earlier turns in their order', async () => {
      const body = await received(
        scenario('text', {
          messages: [
            user('FIRST'),
            { role: 'assistant', content: 'SECOND' },
            user('scenario:text THIRD'),
          ],
        }),
      )
      expect(body).toMatch(/FIRST.*SECOND.*THIRD/)
    })

    test.each<[string, object]>([
      ['sampling', { temperature: 0.5, top_k: 40 }],
      ['stop sequences', { stop_sequences: ['\n', 'END'] }],
      ['a user id', { metadata: { user_id: 'someone' } }],
      [
        'thinking',
        {
          max_tokens: 4096,
          thinking: { type: 'enabled', budget_tokens: 1024 },
        },
      ],
      ['thinking that is disabled', { thinking: { type: 'disabled' } }],
    ])('returns a response to a request with %s', async (_, more) => {
      expect(textOf(await ask(scenario('text', more)))).toBe('Hello, wörld 🎉')
    })

    test.each<[string, object]>([
      ['base64', { type: 'base64', media_type: 'image/png', data: pixel }],
      ['url', { type: 'url', url: 'https://example.com/a.png' }],
    ])(
      'sends an image whose source is %s, if the protocol has such a source',
      async (_, source) => {
        const content = [
          { type: 'image', source },
          { type: 'text', text: 'scenario:text' },
        ]
        const sent = await received(scenario('text', { messages: [user(content)] }))
        if (served === 'converse' && 'url' in source) expect(sent).not.toContain('"image"')
        else expect(sent).toContain('data' in source ? pixel : 'https://example.com/a.png')
      },
    )

    test.each([
      undefined,
      { type: 'auto' },
      { type: 'any' },
      { type: 'tool', name: 'lookup' },
      { type: 'auto', disable_parallel_tool_use: true },
    ])('returns a tool call when tool_choice is %j', async tool_choice => {
      const response = await ask(
        scenario('tool', {
          tools: [lookup],
          ...(tool_choice && { tool_choice }),
        }),
      )
      expect(response.stop_reason).toBe('tool_use')
      expect(response.content.find(({ type }) => type === 'tool_use')).toMatchObject({
        id: expect.stringMatching(/./),
        name: 'lookup',
        input: { q: 'one' },
      })
    })

    test('returns text when tool_choice is none', async () => {
      expect(
        (
          await ask(
            scenario('text', {
              tools: [lookup],
              tool_choice: { type: 'none' },
            }),
          )
        ).stop_reason,
      ).toBe('end_turn')
    })

    test('returns an empty object as input when a call has no arguments', async () => {
      const response = await ask(scenario('noargs', { tools: [lookup] }))
      expect(response.content.find(({ type }) => type === 'tool_use')?.input).toEqual({})
    })

    test.each<[string, unknown[]]>([
      ['a string', [result]],
      ['blocks', [{ ...result, content: [{ type: 'text', text: 'RESULT-one' }] }]],
      ['an error', [{ ...result, is_error: true }]],
      ['followed by text', [result, { type: 'text', text: 'Continue.' }]],
      [
        'an image',
        [
          {
            ...result,
            content: [
              { type: 'text', text: 'RESULT-one' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
            ],
          },
        ],
      ],
      ['preceded by text', [{ type: 'text', text: 'Here it is:' }, result]],
    ])('sends a tool result that is %s', async (_, content) => {
      const messages = [
        user('scenario:tool'),
        { role: 'assistant', content: [call] },
        user(content),
      ]
      const response = await ask(scenario('tool', { messages, tools: [lookup] }))
      expect(response.content.find(({ type }) => type === 'tool_use')).toMatchObject({
        input: { q: 'two' },
      })
    })

    test('takes back its own turn with thinking and calls', async () => {
      const tools = [lookup]
      const first = await ask(scenario('parallel', { tools }))
      const calls = first.content.filter(({ type }) => type === 'tool_use')
      expect(calls).toHaveLength(2)
      const results = calls.map(({ id }, nth) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: `RESULT-${nth}`,
      }))
      const messages = [
        user('scenario:parallel'),
        { role: 'assistant', content: first.content },
        user(results),
      ]
      expect(textOf(await ask(scenario('parallel', { messages, tools })))).toBe(
        'Found RESULT-0 and RESULT-1',
      )
    })

    test('sends a system message between the turns', async () => {
      const messages = [
        user('FIRST'),
        { role: 'assistant', content: 'SECOND' },
        user('scenario:text'),
        { role: 'system', content: 'THIRD' },
      ]
      expect(await received(scenario('text', { messages }))).toMatch(
        /FIRST.*SECOND.*scenario:text.*THIRD/,
      )
    })

    test('takes redacted thinking of an earlier turn', async () => {
      const assistant = {
        role: 'assistant',
        content: [
          { type: 'redacted_thinking', data: 'c2VhbGVk' },
          { type: 'text', text: 'SECOND' },
        ],
      }
      expect(
        await received(
          scenario('text', { messages: [user('FIRST'), assistant, user('scenario:text')] }),
        ),
      ).toContain('SECOND')
    })

    test('ends with max_tokens when the upstream reaches the limit', async () => {
      expect((await ask(scenario('long'))).stop_reason).toBe('max_tokens')
    })

    test('puts thinking before text when the upstream reasons', async () => {
      const types = (
        await ask(
          scenario('text', {
            max_tokens: 4096,
            thinking: { type: 'enabled', budget_tokens: 1024 },
          }),
        )
      ).content.map(({ type }) => type)
      expect(types).toEqual(['thinking', 'text'])
    })

    test.each(['text', 'tool', 'parallel', 'long'])(
      'streams legal events in order for scenario %s',
      async name => {
        const events = await stream(scenario(name, { tools: [lookup] }))
        expect(events[0]).toMatchObject({
          type: 'message_start',
          message: {
            type: 'message',
            role: 'assistant',
            content: [],
            usage: { input_tokens: expect.any(Number) },
          },
        })
        expect(events.slice(-2).map(({ type }) => type)).toEqual(['message_delta', 'message_stop'])
        const starts = events
          .filter(({ type }) => type === 'content_block_start')
          .map(({ index }) => index)
        expect(starts).toEqual(starts.map((_, nth) => nth))
        // One block is open at a time, and only its deltas come.
        let open: number | undefined
        for (const { type, index } of events) {
          if (type === 'content_block_start') {
            expect(open).toBeUndefined()
            open = index
          } else if (type === 'content_block_delta' || type === 'content_block_stop') {
            expect(index).toBe(open)
            if (type === 'content_block_stop') open = undefined
          }
        }
        expect(open).toBeUndefined()
        expect(events.at(-2)).toMatchObject({ usage: { output_tokens: 9 } })
      },
    )

    test('streams the same blocks as the complete message', async () => {
      const whole = await ask(scenario('tool', { tools: [lookup] }))
      const events = await stream(scenario('tool', { tools: [lookup] }))
      const started = events
        .filter(({ type }) => type === 'content_block_start')
        .map(({ content_block }) => content_block?.type)
      expect(started).toEqual(whole.content.map(({ type }) => type))
      const json = events.map(({ delta }) => delta?.['partial_json'] ?? '').join('')
      expect(JSON.parse(json)).toEqual({ q: 'one' })
      expect(events.at(-2)?.delta).toMatchObject({ stop_reason: 'tool_use' })
    })

    test('ends with an error event, no message_stop and a broken connection when the upstream breaks off', async () => {
      const events = await brokenStream(scenario('cut'))
      expect(events.at(-1)).toMatchObject({
        type: 'error',
        error: { type: expect.any(String), message: expect.any(String) },
      })
      expect(events.map(({ type }) => type)).not.toContain('message_stop')
    })

    test.each<[string, number, string]>([
      ['limited', 429, 'rate_limit_error'],
      ['bad', 400, 'invalid_request_error'],
    ])(
      'returns an error object when the upstream fails with scenario %s',
      async (name, status, type) => {
        const response = await post(scenario(name))
        expect(response.status).toBe(status)
        expect(await response.json()).toMatchObject({
          type: 'error',
          error: { type, message: expect.any(String) },
        })
      },
    )

    test.each<[string, object]>([
      ['messages', {}],
      ['a system prompt', { system: 'Be brief.' }],
      ['tools', { tools: [lookup] }],
    ])('counts tokens of %s without max_tokens', async (_, more) => {
      const response = await postTo('/v1/messages/count_tokens', modelBehind(served), {
        messages: [user('Hello world')],
        ...more,
      })
      expect(response.status).toBe(200)
      const counted = (await response.json()) as { input_tokens: number }
      expect(Object.keys(counted)).toEqual(['input_tokens'])
      expect(counted.input_tokens).toBeGreaterThan(0)
    })
  },
)

describe('/v1/messages with any upstream', () => {
  test.each<[string, string, number, string]>([
    [
      'no model',
      '{"max_tokens":9,"messages":[{"role":"user","content":"Hello"}]}',
      400,
      'invalid_request_error',
    ],
    [
      'an unknown model',
      '{"model":"nope","max_tokens":9,"messages":[{"role":"user","content":"Hello"}]}',
      404,
      'not_found_error',
    ],
    ['a body that is no JSON', '{invalid json', 400, 'invalid_request_error'],
  ])('refuses %s', async (_, body, status, type) => {
    const response = await fetch(`${gateway.base}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type, message: expect.any(String) },
    })
  })
})
