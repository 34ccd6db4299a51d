import { describe, expect, test } from 'vitest'
import { normalizeResponse, reasoningOf, textOf, toolCallsOf, usageOf } from '../../src/index.ts'
import {
  asking,
  dataOf,
  hostsOf,
  type Protocol,
  pathOf,
  paths,
  post,
  requests,
  saying,
  sent,
} from './support.ts'

const protocols = Object.keys(paths) as Protocol[]
const parameters = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: 'integer', minimum: 1 },
    unit: { enum: ['celsius', 'fahrenheit'] },
  },
  required: ['city', 'days', 'unit'],
  additionalProperties: false,
}

const withTools: Record<Protocol, object> = {
  'chat-completions': {
    tools: [{ type: 'function', function: { name: 'get_weather', parameters } }],
  },
  responses: { tools: [{ type: 'function', name: 'get_weather', parameters, strict: false }] },
  messages: { tools: [{ name: 'get_weather', input_schema: parameters }] },
  'generate-content': {
    tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: parameters }] }],
  },
}

const forced: Record<Protocol, object> = {
  'chat-completions': { tool_choice: 'required' },
  responses: { tool_choice: 'required' },
  messages: { tool_choice: { type: 'any' } },
  'generate-content': { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
}
const forbidden: Record<Protocol, object> = {
  'chat-completions': { tool_choice: 'none' },
  responses: { tool_choice: 'none' },
  messages: { tool_choice: { type: 'none' } },
  'generate-content': { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
}

const withSchema: Record<Protocol, object> = {
  'chat-completions': {
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'weather', schema: parameters, strict: true },
    },
  },
  responses: {
    text: { format: { type: 'json_schema', name: 'weather', schema: parameters, strict: true } },
  },
  messages: { output_config: { format: { type: 'json_schema', schema: parameters } } },
  'generate-content': {
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: parameters },
  },
}

const withEffort: Record<Protocol, object> = {
  'chat-completions': { reasoning_effort: 'high' },
  responses: { reasoning: { effort: 'high', summary: 'auto' } },
  messages: { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 2000 } },
  'generate-content': {
    generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' } },
  },
}

const limited: Record<Protocol, object> = {
  'chat-completions': { max_tokens: 3 },
  responses: { max_output_tokens: 3 },
  messages: { max_tokens: 3 },
  'generate-content': { generationConfig: { maxOutputTokens: 3 } },
}

const say = (protocol: Protocol, text: string) => ({ model: 'demo', ...saying(protocol, text) })

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  describe.each(protocols)('in %s', protocol => {
    const whole = async (body: Record<string, unknown>) => {
      const ask = await start()
      const response = await ask(...asking(protocol, body))
      expect(response.status).toBe(200)
      return normalizeResponse(await response.json(), { protocol })
    }

    test('greets, repeats the last message, and counts words', async () => {
      const response = await whole(say(protocol, 'good morning to you'))
      expect(textOf(response)).toBe('Hello! You said: good morning to you')
      expect(usageOf(response)).toMatchObject({ input: 4, output: 7 })
    })

    test('its stream has the same text in several chunks', async () => {
      const ask = await start()
      const response = await ask(
        ...asking(protocol, { ...say(protocol, 'good morning to you'), stream: true }),
      )
      const text = await response.text()
      expect(await sent(text, protocol)).toBe('Hello! You said: good morning to you')
      expect(dataOf(text).length).toBeGreaterThan(7)
      if (protocol !== 'responses') return
      const snapshots = (
        dataOf(text) as { response?: { status: string; completed_at: unknown } }[]
      ).flatMap(({ response: reported }) => reported ?? [])
      expect(snapshots.length).toBe(3)
      for (const { status, completed_at } of snapshots)
        expect(completed_at).toEqual(status === 'completed' ? expect.any(Number) : null)
    })

    test('ids differ from response to response', async () => {
      const ids = [await whole(say(protocol, 'a')), await whole(say(protocol, 'a'))].map(
        ({ id }) => id,
      )
      // Nothing is synthesized that a response need not have.
      if (protocol === 'generate-content') return expect(ids).toEqual([undefined, undefined])
      expect(ids[0]).toMatch(/\w/)
      expect(ids[0]).not.toBe(ids[1])
    })

    test('it calls a tool that is spoken of or forced, with arguments that fit, and else does not', async () => {
      for (const body of [
        { ...say(protocol, 'what is the weather?'), ...withTools[protocol] },
        { ...say(protocol, 'hi'), ...withTools[protocol], ...forced[protocol] },
      ]) {
        const [call] = toolCallsOf(await whole(body))
        expect(call).toMatchObject({ name: 'get_weather', kind: 'function' })
        expect(call?.input).toEqual({ city: 'text', days: 1, unit: 'celsius' })
      }
      expect(toolCallsOf(await whole({ ...say(protocol, 'hi'), ...withTools[protocol] }))).toEqual(
        [],
      )
      expect(
        toolCallsOf(
          await whole({
            ...say(protocol, 'what is the weather?'),
            ...withTools[protocol],
            ...forbidden[protocol],
          }),
        ),
      ).toEqual([])
    })

    test('it fills in a schema', async () => {
      expect(
        JSON.parse(textOf(await whole({ ...say(protocol, 'hi'), ...withSchema[protocol] }))),
      ).toEqual({ city: 'text', days: 1, unit: 'celsius' })
    })

    test('shows reasoning when effort is requested', async () => {
      const response = await whole({ ...say(protocol, 'hi'), ...withEffort[protocol] })
      expect(reasoningOf(response)).not.toBe('')
      expect(textOf(response)).toContain('hi')
    })

    test('it stops at the limit', async () => {
      const response = await whole({ ...say(protocol, 'one two three four'), ...limited[protocol] })
      expect(textOf(response)).toBe('Hello! You said:')
      expect(response.candidates[0]?.finish?.reason).toBe('length')
    })

    test('a body of another protocol is refused with the right path', async () => {
      const ask = await start()
      const foreign =
        protocol === 'chat-completions'
          ? { model: 'demo', input: 'Hi', instructions: 'Be brief' }
          : { model: 'demo', messages: [{ role: 'system', content: 'Be brief' }] }
      const response = await ask(pathOf(protocol, { model: 'demo' }), post(foreign))
      expect(response.status).toBe(400)
      expect(await response.text()).toContain(
        protocol === 'chat-completions' ? paths.responses : paths['chat-completions'],
      )
    })

    test('a number of tokens is demanded where the protocol demands it', async () => {
      const ask = await start()
      expect(
        (await ask(...asking(protocol, { ...say(protocol, 'hi'), max_tokens: undefined }))).status,
      ).toBe(protocol === 'messages' ? 400 : 200)
    })
  })

  test('repeats the result of a tool', async () => {
    const ask = await start()
    const messages = [
      { role: 'user', content: 'what is the weather?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
    ]
    const response = await ask(
      paths['chat-completions'],
      post({ model: 'demo', messages, ...withTools['chat-completions'] }),
    )
    expect(textOf(normalizeResponse(await response.json(), { protocol: 'chat-completions' }))).toBe(
      'The tool said: rain',
    )
  })

  test('calls no tool that only the context before the question names', async () => {
    const ask = await start()
    const texts = ['<context>get_weather is a tool</context>', 'Hello']
    const content = texts.map(text => ({ type: 'text', text }))
    const response = await ask(
      ...asking('messages', { messages: [{ role: 'user', content }], ...withTools.messages }),
    )
    const body = normalizeResponse(await response.json(), { protocol: 'messages' })
    expect(toolCallsOf(body)).toEqual([])
  })

  test('uses one of the allowed values, and calls only functions that are allowed', async () => {
    const ask = await start()
    const result = async (body: object) => {
      const response = await ask(
        ...asking('generate-content', {
          ...say('generate-content', 'what is the weather?'),
          ...body,
        }),
      )
      return normalizeResponse(await response.json(), { protocol: 'generate-content' })
    }
    const generationConfig = {
      responseMimeType: 'text/x.enum',
      responseSchema: { type: 'STRING', enum: ['rain', 'sun'] },
    }
    expect(textOf(await result({ generationConfig }))).toBe('rain')
    const among = (name: string) => ({
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED', allowedFunctionNames: [name] } },
    })
    expect(
      toolCallsOf(await result({ ...withTools['generate-content'], ...among('get_time') })),
    ).toEqual([])
    expect(
      toolCallsOf(await result({ ...withTools['generate-content'], ...among('get_weather') })),
    ).toHaveLength(1)
  })

  test('it has no memory, and says so in words that clients act on', async () => {
    const ask = await start()
    const thread = await ask(
      paths.messages,
      post({ ...requests.messages, model: 'demo', thread: { type: 'create' } }),
    )
    expect(thread.status).toBe(400)
    expect(await thread.json()).toMatchObject({
      error: { details: { error_code: 'thread_unsupported_request' } },
    })
    const previous = await ask(
      paths.responses,
      post({ ...requests.responses, model: 'demo', previous_response_id: 'resp_1' }),
    )
    expect(previous.status).toBe(400)
    expect(await previous.json()).toMatchObject({ error: { param: 'previous_response_id' } })
  })

  test('its counts are estimates, and say so', async () => {
    const ask = await start()
    const response = await ask(
      '/v1/messages/count_tokens',
      post({
        model: 'demo',
        system: 'Be brief. '.repeat(50),
        messages: [{ role: 'user', content: 'Hi' }],
      }),
    )
    expect(response.status).toBe(200)
    expect(response.headers.get('wireglot-estimate')).toBe('true')
    const { input_tokens: tokens } = (await response.json()) as { input_tokens: number }
    expect(tokens).toBeGreaterThan(100)
    expect(
      await (await ask('/v1/responses/input_tokens', post({ model: 'demo', input: 'Hi' }))).json(),
    ).toMatchObject({
      object: 'response.input_tokens',
      input_tokens: expect.any(Number),
    })
  })
})

describe.each(hostsOf(import.meta.url))('through %s, the demo model behind a store', (_, start) => {
  const config = {
    auth: 'none' as const,
    store: { memory: true as const },
    channels: [{ name: 'demo', embedded: 'demo' as const }],
    models: [{ id: 'demo', channels: [{ name: 'demo' }] }],
  }

  test.each([false, true])(
    'repeats whether the response is stored and what it continues, streamed: %s',
    async stream => {
      const ask = await start(config)
      const first = (await (
        await ask(paths.responses, post({ model: 'demo', input: 'hi' }))
      ).json()) as { id: string }
      expect(first).toMatchObject({ store: true, previous_response_id: null })
      const next = await (
        await ask(
          paths.responses,
          post({ model: 'demo', input: 'more', previous_response_id: first.id, stream }),
        )
      ).text()
      const responses = stream
        ? dataOf(next).flatMap(event => (event as { response?: unknown }).response ?? [])
        : [JSON.parse(next)]
      expect(responses.length).toBeGreaterThan(0)
      for (const response of responses)
        expect(response).toMatchObject({ store: true, previous_response_id: first.id })
    },
  )
})

test.each(hostsOf(import.meta.url))(
  'speaks the protocols that its channel lists: %s',
  async (_, start) => {
    const send = await start({
      auth: 'none',
      channels: [{ name: 'demo', embedded: 'demo', protocols: ['messages'] }],
    })
    const [path, init] = asking('chat-completions', {
      ...requests['chat-completions'],
      logit_bias: { '1': 2 },
    })
    const response = await send(path, init)
    expect(response.status).toBe(200)
    expect(await sent(await response.text(), 'chat-completions')).toContain('Hello')
    expect(response.headers.get('wireglot-notes') ?? '').toContain('logit_bias')
  },
)
