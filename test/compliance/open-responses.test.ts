import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { protocolNames } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { type GatewayToAll, modelBehind, startGatewayToAll } from '../e2e/gateway.ts'

/**
 * What the Open Responses specification requires of `/v1/responses`, against an upstream of each
 * protocol.
 */

const nullable = <T extends z.ZodType>(type: T) => z.union([type, z.null()])
const text = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.unknown()),
  logprobs: z.array(z.unknown()),
})
const refusal = z.object({ type: z.literal('refusal'), refusal: z.string() })
const item = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id: z.string().min(1),
    status: z.enum(['in_progress', 'completed', 'incomplete']),
    role: z.literal('assistant'),
    content: z.array(z.union([text, refusal])),
  }),
  z.object({
    type: z.literal('function_call'),
    id: z.string().min(1),
    call_id: z.string().min(1),
    name: z.string().min(1),
    arguments: z.string(),
    status: z.enum(['in_progress', 'completed', 'incomplete']),
  }),
  z.object({ type: z.literal('reasoning'), id: z.string().min(1), summary: z.array(z.unknown()) }),
])
const functionTool = z.object({
  type: z.literal('function'),
  name: z.string(),
  description: nullable(z.string()),
  parameters: nullable(z.record(z.string(), z.unknown())),
  strict: nullable(z.boolean()),
})
const format = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: z.string(),
    description: nullable(z.string()),
    schema: nullable(z.record(z.string(), z.unknown())),
    strict: z.boolean(),
  }),
])
/** Every key is required; one that the request left out is null or its default. */
const resource = z.object({
  id: z.string().min(1),
  object: z.literal('response'),
  created_at: z.int(),
  completed_at: nullable(z.int()),
  status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed']),
  incomplete_details: nullable(z.object({ reason: z.string() })),
  model: z.string(),
  previous_response_id: nullable(z.string()),
  instructions: nullable(z.union([z.string(), z.array(z.unknown())])),
  output: z.array(item),
  error: nullable(z.object({ code: z.string(), message: z.string() })),
  tools: z.array(functionTool),
  tool_choice: z.union([z.string(), z.object({ type: z.string() })]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.object({ format }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: nullable(z.object({ effort: nullable(z.string()), summary: nullable(z.string()) })),
  usage: nullable(
    z.object({
      input_tokens: z.int(),
      output_tokens: z.int(),
      total_tokens: z.int(),
      input_tokens_details: z.object({ cached_tokens: z.int() }),
      output_tokens_details: z.object({ reasoning_tokens: z.int() }),
    }),
  ),
  max_output_tokens: nullable(z.int()),
  max_tool_calls: nullable(z.int()),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  safety_identifier: nullable(z.string()),
  prompt_cache_key: nullable(z.string()),
})
type Resource = z.infer<typeof resource>

const index = z.int().min(0)
const place = { item_id: z.string().min(1), output_index: index }
const inContent = { ...place, content_index: index }
const inSummary = { ...place, summary_index: index }
const summaryPart = z.object({ type: z.literal('summary_text'), text: z.string() })
const part = z.union([
  text,
  refusal,
  z.object({ type: z.literal('reasoning_text'), text: z.string() }),
])
const eventOf = <const T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), sequence_number: index, ...shape })
/** The events that a stream may hold. */
const streamed = z.discriminatedUnion('type', [
  eventOf('response.created', { response: resource }),
  eventOf('response.in_progress', { response: resource }),
  eventOf('response.completed', { response: resource }),
  eventOf('response.incomplete', { response: resource }),
  eventOf('response.failed', { response: resource }),
  eventOf('response.output_item.added', { output_index: index, item }),
  eventOf('response.output_item.done', { output_index: index, item }),
  eventOf('response.content_part.added', { ...inContent, part }),
  eventOf('response.content_part.done', { ...inContent, part }),
  eventOf('response.output_text.delta', {
    ...inContent,
    delta: z.string(),
    logprobs: z.array(z.unknown()),
  }),
  eventOf('response.output_text.done', {
    ...inContent,
    text: z.string(),
    logprobs: z.array(z.unknown()),
  }),
  eventOf('response.refusal.delta', { ...inContent, delta: z.string() }),
  eventOf('response.refusal.done', { ...inContent, refusal: z.string() }),
  eventOf('response.function_call_arguments.delta', { ...place, delta: z.string() }),
  eventOf('response.function_call_arguments.done', { ...place, arguments: z.string() }),
  eventOf('response.reasoning_summary_part.added', { ...inSummary, part: summaryPart }),
  eventOf('response.reasoning_summary_part.done', { ...inSummary, part: summaryPart }),
  eventOf('response.reasoning_summary_text.delta', { ...inSummary, delta: z.string() }),
  eventOf('response.reasoning_summary_text.done', { ...inSummary, text: z.string() }),
  eventOf('response.reasoning_text.delta', { ...inContent, delta: z.string() }),
  eventOf('response.reasoning_text.done', { ...inContent, text: z.string() }),
])

const user = (content: unknown) => ({ type: 'message', role: 'user', content })
const lookup = {
  type: 'function',
  name: 'lookup',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
}
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII='
const schema = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}

let gateway: GatewayToAll
beforeAll(async () => {
  gateway = await startGatewayToAll(protocolNames)
})
afterAll(() => gateway.close())

// Between equal protocols the bytes pass unchanged, so the upstream gets tools with the keys that
// it requires.
describe.each(protocolNames)('/v1/responses with an upstream of %s', served => {
  const post = (body: { tools?: unknown; [key: string]: unknown }) => {
    const { tools } = body
    const isChanged = served === 'responses' && Array.isArray(tools)
    return fetch(`${gateway.base}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: modelBehind(served),
        ...body,
        ...(isChanged && {
          tools: tools.map((tool: object) => ({ parameters: null, strict: null, ...tool })),
        }),
      }),
    })
  }
  const ask = async (body: { [key: string]: unknown }): Promise<Resource> => {
    const response = await post(body)
    expect(response.status).toBe(200)
    return resource.parse(await response.json())
  }
  const stream = async (body: { [key: string]: unknown }) => {
    const response = await post({ stream: true, ...body })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    return framesOf(await response.text()).map(
      ({ wire }) => wire as { type: string; sequence_number: number; response: unknown } | '[DONE]',
    )
  }
  const wordsOf = ({ output }: Resource) =>
    output
      .flatMap(one =>
        one.type === 'message'
          ? one.content.map(part => ('text' in part ? part.text : part.refusal))
          : [],
      )
      .join('')
  const callsOf = ({ output }: Resource) => output.filter(one => one.type === 'function_call')

  test('returns a complete resource for a text', async () => {
    const response = await ask({ input: 'scenario:text' })
    expect(response).toMatchObject({
      status: 'completed',
      error: null,
      incomplete_details: null,
      tools: [],
      instructions: null,
      previous_response_id: null,
    })
    expect(wordsOf(response)).toContain('wörld')
    expect(response.usage?.total_tokens).toBeGreaterThan(0)
  })

  test('returns a response to a list of messages', async () => {
    expect(wordsOf(await ask({ input: [user('scenario:text')] }))).toContain('wörld')
  })

  test('streams events in order, numbered, with complete resources', async () => {
    const events = await stream({ input: 'scenario:text' })
    if (served !== 'responses') expect(events.at(-1)).toBe('[DONE]')
    const reported = events.filter(event => event !== '[DONE]')
    expect(reported.map(event => event.sequence_number)).toEqual(reported.map((_, nth) => nth))
    const types = reported.map(({ type }) => type)
    expect(types[0]).toBe('response.created')
    expect(types[1]).toBe('response.in_progress')
    expect(types.at(-1)).toBe('response.completed')
    const order = [
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
    ]
    const at = (event: object) => ('output_index' in event ? event.output_index : undefined)
    const index = at(reported.find(({ type }) => type === 'response.output_text.delta') ?? {})
    const message = reported.filter(event => at(event) === index).map(({ type }) => type)
    expect([...new Set(message)]).toEqual(order)
    expect(wordsOf(resource.parse(reported.at(-1)?.response))).toContain('wörld')
  })

  test.each(['system', 'developer'])('takes a %s message', async role => {
    const before = gateway.upstreams.get(served)?.requests.length ?? 0
    expect(
      (
        await ask({
          input: [{ type: 'message', role, content: 'Talk like a pirate.' }, user('scenario:text')],
        })
      ).status,
    ).toBe('completed')
    expect(JSON.stringify(gateway.upstreams.get(served)?.requests[before])).toContain(
      'Talk like a pirate.',
    )
  })

  test.each([
    ['text', {}],
    ['tool', { tools: [lookup] }],
    ['parallel', { tools: [lookup] }],
    ['json', { text: { format: { type: 'json_object' } } }],
    ['long', {}],
    ['refuse', {}],
  ])('streams only complete events for scenario %s', async (name, more) => {
    const events = (await stream({ input: `scenario:${name} as JSON`, ...more })).filter(
      event => event !== '[DONE]',
    )
    expect(
      events.flatMap(
        event =>
          streamed
            .safeParse(event)
            .error?.issues.map(({ path, message }) => [event.type, path, message]) ?? [],
      ),
    ).toEqual([])
    // A filter of these protocols cuts off a text that has begun.
    const isCut =
      name === 'long' ||
      (name === 'refuse' && (served === 'generate-content' || served === 'converse'))
    expect(events.at(-1)?.type).toBe(isCut ? 'response.incomplete' : 'response.completed')
  })

  test('takes phases of assistant messages', async () => {
    const assistant = (phase: string, content: string) => ({
      type: 'message',
      role: 'assistant',
      phase,
      content,
    })
    const input = [
      assistant('commentary', 'The saved number helps.'),
      assistant('final_answer', 'It is four.'),
      user('scenario:text'),
    ]
    const before = gateway.upstreams.get(served)?.requests.length ?? 0
    expect(await ask({ input })).toMatchObject({
      status: 'completed',
      output: expect.arrayContaining([expect.objectContaining({ type: 'message' })]),
    })
    expect(JSON.stringify(gateway.upstreams.get(served)?.requests[before])).toMatch(
      /The saved number helps\..*It is four\..*scenario:text/,
    )
  })

  test('repeats the instructions', async () => {
    expect(await ask({ instructions: 'Be brief.', input: 'scenario:text' })).toMatchObject({
      instructions: 'Be brief.',
    })
  })

  test('calls a tool, and repeats it with null where it is incomplete', async () => {
    const response = await ask({
      input: 'scenario:tool',
      tools: [lookup, { type: 'function', name: 'bare' }],
    })
    expect(callsOf(response)).toMatchObject([{ name: 'lookup', arguments: '{"q":"one"}' }])
    expect(response.tools).toMatchObject([
      { name: 'lookup', description: 'Looks something up.' },
      { name: 'bare', description: null },
    ])
  })

  test('streams the arguments of a call', async () => {
    const events = (await stream({ input: 'scenario:tool', tools: [lookup] })).filter(
      event => event !== '[DONE]',
    ) as {
      type: string
      delta?: string
      arguments?: string
    }[]
    const deltas = events
      .filter(({ type }) => type === 'response.function_call_arguments.delta')
      .map(({ delta }) => delta)
    const done = events.find(({ type }) => type === 'response.function_call_arguments.done')
    expect(deltas.join('')).toBe('{"q":"one"}')
    expect(done?.arguments).toBe('{"q":"one"}')
    for (const type of ['response.output_item.added', 'response.output_item.done'])
      expect(events).toContainEqual(
        expect.objectContaining({
          type,
          item: expect.objectContaining({ type: 'function_call', name: 'lookup' }),
        }),
      )
  })

  test('takes the output of a call', async () => {
    const input = [
      user('scenario:tool'),
      { type: 'function_call', call_id: 'call_1', name: 'lookup', arguments: '{"q":"one"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'RESULT-one' },
    ]
    expect(callsOf(await ask({ input, tools: [lookup] }))).toMatchObject([
      { arguments: '{"q":"two"}' },
    ])
  })

  test('calls several tools at once', async () => {
    expect(callsOf(await ask({ input: 'scenario:parallel', tools: [lookup] }))).toHaveLength(2)
  })

  test('takes an image', async () => {
    const content = [
      { type: 'input_text', text: 'scenario:text What is this?' },
      { type: 'input_image', image_url: pixel },
    ]
    expect((await ask({ input: [user(content)] })).status).toBe('completed')
  })

  test('takes earlier turns', async () => {
    const input = [
      user('My name is Alice.'),
      { type: 'message', role: 'assistant', content: 'Hello Alice!' },
      user('scenario:text What is my name?'),
    ]
    expect((await ask({ input })).status).toBe('completed')
  })

  test('takes earlier turns as the client got them', async () => {
    const first = await ask({ input: 'scenario:text' })
    expect(
      (await ask({ input: [user('scenario:text'), ...first.output, user('Again.')] })).status,
    ).toBe('completed')
  })

  test('repeats every field of the request', async () => {
    const received = {
      temperature: 0.5,
      top_p: 1,
      max_output_tokens: 900,
      parallel_tool_calls: false,
      tool_choice: 'auto',
      metadata: { a: 'b' },
      safety_identifier: 'someone',
      prompt_cache_key: 'key',
      text: { format: { type: 'text' } },
      truncation: 'disabled',
    }
    const response = await ask({ input: 'scenario:text', tools: [lookup], ...received })
    expect(response).toMatchObject(received)
  })

  test('repeats a format with null and defaults where it is incomplete', async () => {
    const response = await ask({
      input: 'scenario:json',
      text: { format: { type: 'json_schema', name: 'f', schema } },
    })
    expect(response.text.format).toEqual({
      type: 'json_schema',
      name: 'f',
      description: null,
      schema,
      strict: false,
    })
    expect(JSON.parse(wordsOf(response))).toEqual({ a: 'b' })
  })

  test('repeats a wish to reason with null for what it leaves out', async () => {
    expect((await ask({ input: 'scenario:text', reasoning: { effort: 'low' } })).reasoning).toEqual(
      { effort: 'low', summary: null },
    )
  })

  test('ends as incomplete at the limit of tokens', async () => {
    expect(await ask({ input: 'scenario:long', max_output_tokens: 16 })).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
    const last = (await stream({ input: 'scenario:long' })).findLast(event => event !== '[DONE]')
    expect(last).toMatchObject({ type: 'response.incomplete' })
  })

  test('ends a stream that failed with response.failed and an error with code and message', async () => {
    const last = (await stream({ input: 'scenario:cut' })).findLast(event => event !== '[DONE]')
    expect(last).toMatchObject({ type: 'response.failed' })
    const failed = resource.parse((last as { response: unknown }).response)
    expect(failed).toMatchObject({
      status: 'failed',
      error: { code: expect.any(String), message: expect.any(String) },
    })
  })

  test.each([
    { input: 3 },
    { input: [{ type: 'message', role: 'unknown', content: 'x' }] },
    { input: 'x', tools: 'none' },
  ])('refuses %o with an error object', async body => {
    const response = await post(body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', message: expect.any(String) },
    })
  })
})

describe('/v1/responses with any upstream', () => {
  test('refuses to compact a conversation without a model', async () => {
    const response = await fetch(`${gateway.base}/v1/responses/compact`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: [user('Compact this.')] }),
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', message: expect.stringContaining('model') },
    })
  })
})
