import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { protocolNames } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { type GatewayToAll, modelBehind, startGatewayToAll } from '../e2e/gateway.ts'
import { sampled } from '../support/sampled.ts'

/**
 * What other servers of `/v1/responses` validate and return beyond the Open Responses
 * specification, against an upstream of each protocol.
 */

type Item = {
  type: string
  id: string
  call_id?: string
  name?: string
  content?: { type: string; text: string }[]
}
type WireResponse = {
  id: string
  status: string
  output: Item[]
  usage: Record<string, unknown>
}
type Event = {
  type: string
  sequence_number: number
  item_id?: string
  item?: Item
  delta?: string
  response?: WireResponse
}

const lookup = {
  type: 'function',
  name: 'lookup',
  parameters: {
    type: 'object',
    properties: { q: { type: 'string' } },
    required: ['q'],
  },
}
const schema = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}
const user = (content: unknown) => ({ type: 'message', role: 'user', content })
const ask = (name: string, more: object = {}) => ({
  input: `scenario:${name}`,
  ...more,
})
const after = (item: unknown) => ({ input: [user('scenario:text'), item] })

let gateway: GatewayToAll
let keeping: GatewayToAll
beforeAll(async () => {
  gateway = await startGatewayToAll(protocolNames)
  keeping = await startGatewayToAll(protocolNames, { store: { memory: true } })
})
afterAll(async () => {
  await gateway.close()
  await keeping.close()
})

/** Paths as `error.param` writes them. */
const invalid: [param: string, body: object][] = [
  ['input', {}],
  ['input', { input: '' }],
  ['input', { input: [] }],
  ['input', { instructions: 'Be kind.' }],
  ['input[0]', { input: [{ type: 'message', role: 'user', content: [] }] }],
  ['input', { input: 3 }],
  ['input', { input: {} }],
  ['input[0]', { input: [null] }],
  ['input[1].role', after({ type: 'message', content: 'x' })],
  ['input[1].role', after({ type: 'message', role: 'unknown', content: 'x' })],
  ['input[1].content', after(user(3))],
  ['input[1].content[0].text', after(user([{ type: 'input_text' }]))],
  ['input[1].call_id', after({ type: 'function_call', name: 'lookup', arguments: '{}' })],
  ['input[1].name', after({ type: 'function_call', call_id: 'call_1', arguments: '{}' })],
  [
    'input[1].arguments',
    after({
      type: 'function_call',
      call_id: 'call_1',
      name: 'lookup',
      arguments: 5,
    }),
  ],
  ['input[1].output', after({ type: 'function_call_output', call_id: 'call_1', output: 3 })],
  ['instructions', ask('text', { instructions: 3 })],
  ['max_output_tokens', ask('text', { max_output_tokens: 'many' })],
  ['max_output_tokens', ask('text', { max_output_tokens: 20.5 })],
  ['max_output_tokens', ask('text', { max_output_tokens: 0 })],
  ['temperature', ask('text', { temperature: 'hot' })],
  ['top_p', ask('text', { top_p: 'all' })],
  ['top_logprobs', ask('text', { top_logprobs: 'all' })],
  ['tools', ask('text', { tools: 'lookup' })],
  ['tools[0].type', ask('text', { tools: [{ name: 'lookup' }] })],
  ['tools[0].name', ask('text', { tools: [{ type: 'function' }] })],
  ['tools[0].parameters', ask('text', { tools: [{ ...lookup, parameters: 'object' }] })],
  ['tool_choice', ask('text', { tools: [lookup], tool_choice: 3 })],
  ['parallel_tool_calls', ask('text', { parallel_tool_calls: 'no' })],
  ['text', ask('text', { text: 'json' })],
  ['text.format.schema', ask('text', { text: { format: { type: 'json_schema', name: 'f' } } })],
  [
    'text.format.schema',
    ask('text', {
      text: { format: { type: 'json_schema', name: 'f', schema: 'object' } },
    }),
  ],
  ['reasoning', ask('text', { reasoning: 'low' })],
  ['reasoning.effort', ask('text', { reasoning: { effort: 3 } })],
  ['include', ask('text', { include: 'all' })],
  ['include[0]', ask('text', { include: [3] })],
  ['store', ask('text', { store: 'yes' })],
  ['stream', ask('text', { stream: 'yes' })],
  ['metadata', ask('text', { metadata: 'x' })],
  ['metadata.a', ask('text', { metadata: { a: 3 } })],
  ['truncation', ask('text', { truncation: 3 })],
  ['previous_response_id', ask('text', { previous_response_id: 3 })],
  ['previous_response_id', ask('text', { previous_response_id: 'resp_unknown' })],
  ['conversation', ask('text', { conversation: 'conv_1' })],
  ['background', ask('text', { background: true })],
  ['prompt', ask('text', { prompt: { id: 'pmpt_1' } })],
]

// Between equal protocols the bytes pass unchanged, and the upstream validates them.
describe.each(protocolNames.filter(name => name !== 'responses'))(
  '/v1/responses with an upstream of %s',
  served => {
    const postTo = ({ base }: GatewayToAll, body: object) =>
      fetch(`${base}/v1/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: modelBehind(served), ...body }),
      })
    const responseOf = async (received: Promise<Response>): Promise<WireResponse> => {
      const response = await received
      const body = (await response.json()) as WireResponse
      expect(response.status, JSON.stringify(body)).toBe(200)
      return body
    }
    const stream = async (body: object): Promise<Event[]> => {
      const response = await postTo(gateway, { stream: true, ...body })
      return framesOf(await response.text()).flatMap(({ wire }) =>
        wire === '[DONE]' ? [] : [wire as Event],
      )
    }
    const requests = () => gateway.upstreams.get(served)?.requests ?? []
    const textOf = ({ output }: WireResponse) =>
      output
        .flatMap(({ type, content = [] }) =>
          type === 'message' ? content.map(({ text }) => text) : [],
        )
        .join('')

    test.each(sampled(invalid))(
      'refuses a fault at %s before it calls the upstream: %j',
      async (param, body) => {
        const before = requests().length
        const response = await postTo(gateway, body)
        expect(response.status).toBe(400)
        expect(await response.json()).toMatchObject({
          error: {
            type: 'invalid_request_error',
            param,
            message: expect.any(String),
          },
        })
        expect(requests()).toHaveLength(before)
      },
    )

    test.each<[string, unknown]>([
      ['a string', 'scenario:text'],
      ['messages without type', [{ role: 'user', content: 'scenario:text' }]],
      ['parts', [user([{ type: 'input_text', text: 'scenario:text' }])]],
      [
        'an assistant message with output_text',
        [
          user('scenario:text'),
          {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'Hi' }],
          },
          user('Again.'),
        ],
      ],
    ])('returns a response when input is %s', async (_, input) => {
      const response = await responseOf(postTo(gateway, { input }))
      expect(response.id).toMatch(/^resp_/)
      expect(textOf(response)).toBe('Hello, wörld 🎉')
      expect(response.output.find(({ type }) => type === 'message')?.id).toMatch(/^msg_/)
    })

    test('sends instructions and developer messages in their order', async () => {
      const before = requests().length
      await responseOf(
        postTo(gateway, {
          instructions: 'Base policy.',
          input: [
            { type: 'message', role: 'developer', content: 'Extra hint.' },
            user('scenario:text'),
          ],
        }),
      )
      const sent = requests()[before] as { system?: unknown }
      // Instructions that have a field of their own may be after the conversation.
      expect(JSON.stringify([sent.system, sent])).toMatch(
        /Base policy\..*Extra hint\..*scenario:text/,
      )
    })

    test.each(['auto', 'required', 'none', { type: 'function', name: 'lookup' }])(
      'returns a response when tool_choice is %j',
      async tool_choice => {
        expect(
          (await responseOf(postTo(gateway, ask('text', { tools: [lookup], tool_choice })))).status,
        ).toBe('completed')
      },
    )

    test.each<[string, object]>([
      ['reasoning', { reasoning: { effort: 'high', summary: 'auto' } }],
      ['include', { include: ['reasoning.encrypted_content'] }],
      ['store: false', { store: false }],
      ['parallel_tool_calls: false', { tools: [lookup], parallel_tool_calls: false }],
      ['truncation', { truncation: 'auto' }],
      ['log probabilities', { include: ['message.output_text.logprobs'], top_logprobs: 2 }],
      ['a limit of tool calls', { max_tool_calls: 3 }],
      ['a tool of the provider beside a function', { tools: [{ type: 'web_search' }, lookup] }],
      ['an unknown field', { not_yet: 1 }],
      [
        'null for what is optional',
        {
          temperature: null,
          tools: null,
          tool_choice: null,
          text: null,
          reasoning: null,
          instructions: null,
          store: null,
        },
      ],
    ])('returns a response to a request with %s', async (_, more) => {
      expect(textOf(await responseOf(postTo(gateway, ask('text', more))))).toBe('Hello, wörld 🎉')
    })

    test.each<[string, object]>([
      ['text', { type: 'text' }],
      ['json_object', { type: 'json_object' }],
      ['json_schema', { type: 'json_schema', name: 'f', schema, strict: true }],
    ])('returns a response to a request for %s', async (_, format) => {
      expect(
        JSON.parse(
          textOf(
            await responseOf(
              postTo(
                gateway,
                ask('json', {
                  input: 'scenario:json as JSON',
                  text: { format },
                }),
              ),
            ),
          ),
        ),
      ).toEqual({ a: 'b' })
    })

    test('sends results of parallel calls', async () => {
      const first = await responseOf(postTo(gateway, ask('parallel', { tools: [lookup] })))
      const calls = first.output.filter(({ type }) => type === 'function_call')
      expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(2)
      const results = calls.map(({ call_id }, nth) => ({
        type: 'function_call_output',
        call_id,
        output: `RESULT-${nth}`,
      }))
      const response = await responseOf(
        postTo(gateway, {
          input: [user('scenario:parallel'), ...first.output, ...results],
          tools: [lookup],
        }),
      )
      expect(textOf(response)).toBe('Found RESULT-0 and RESULT-1')
    })

    test.each(['text', 'tool', 'parallel', 'long'])(
      'streams consistent ids and numbers for scenario %s',
      async name => {
        const events = await stream(ask(name, { tools: [lookup] }))
        expect(events.map(event => event.sequence_number)).toEqual(events.map((_, nth) => nth))
        const last = events.at(-1)?.response
        expect(new Set(events.flatMap(({ response }) => response?.id ?? []))).toEqual(
          new Set([last?.id]),
        )
        const added = events.flatMap(({ type, item }) =>
          type === 'response.output_item.added' && item ? [item.id] : [],
        )
        const done = events.flatMap(({ type, item }) =>
          type === 'response.output_item.done' && item ? [item.id] : [],
        )
        expect([...done].sort()).toEqual([...added].sort())
        expect(last?.output.map(({ id }) => id)).toEqual(added)
        for (const { item_id } of events)
          if (item_id !== undefined) expect(added).toContain(item_id)
        const text = events
          .flatMap(({ type, delta }) =>
            type === 'response.output_text.delta' ? (delta ?? []) : [],
          )
          .join('')
        expect(last && textOf(last)).toBe(text)
      },
    )

    test('counts the same tokens in a stream and in a complete response', async () => {
      const { usage } = await responseOf(postTo(gateway, ask('text')))
      expect(usage).toMatchObject({
        input_tokens: 20,
        input_tokens_details: { cached_tokens: 12 },
        output_tokens: 9,
        total_tokens: 29,
      })
      expect((await stream(ask('text'))).at(-1)?.response?.usage).toEqual(usage)
    })

    test('continues after previous_response_id when the gateway stores responses', async () => {
      const first = await responseOf(postTo(keeping, ask('tool', { tools: [lookup] })))
      const { call_id } = first.output.find(({ type }) => type === 'function_call') ?? {}
      const input = [{ type: 'function_call_output', call_id, output: 'RESULT-one' }]
      const second = await responseOf(
        postTo(keeping, {
          input,
          previous_response_id: first.id,
          tools: [lookup],
        }),
      )
      expect(second).toMatchObject({ previous_response_id: first.id })
      expect(second.output.filter(({ type }) => type === 'function_call')).toMatchObject([
        { arguments: '{"q":"two"}' },
      ])
    })

    test.each<[string, () => Promise<string>]>([
      ['is unknown', () => Promise.resolve('resp_unknown')],
      [
        'was not stored',
        async () => (await responseOf(postTo(keeping, ask('text', { store: false })))).id,
      ],
    ])('refuses a previous_response_id that %s', async (_, idOf) => {
      const response = await postTo(keeping, ask('text', { previous_response_id: await idOf() }))
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({
        error: {
          type: 'invalid_request_error',
          code: 'previous_response_not_found',
          param: 'previous_response_id',
        },
      })
    })
  },
)
