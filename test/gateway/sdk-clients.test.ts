import { describe, expect, test } from 'vitest'
import { all, hello, others, responded } from './responded.ts'
import {
  asking,
  dataOf,
  failures,
  half,
  hostsOf,
  one,
  paths,
  post,
  requests,
  sendJson,
  streams,
  type Upstream,
  upstream,
} from './support.ts'

/** What the SDKs rely on, one sentence a test; their own programs run in test/e2e. */

const text = (upstream: Upstream | undefined, call = 0) =>
  JSON.stringify(upstream?.calls[call]?.json)
const schema = {
  type: 'object',
  properties: { q: { type: 'string' } },
  required: ['q'],
  additionalProperties: false,
}
const call = {
  id: 'call_1',
  type: 'function',
  function: { name: 'lookup', arguments: '{"q":"one"}' },
}
const lookup = {
  type: 'function',
  function: { name: 'lookup', description: 'Looks up.', parameters: schema, strict: true },
}

describe.each(hostsOf(import.meta.url))('through %s, the SDKs of chat-completions', (_, start) => {
  test('ask for JSON by a strict schema, and run tools in a loop', async () => {
    const response_format = {
      type: 'json_schema',
      json_schema: { name: 'result', strict: true, schema },
    }
    for (const up of await responded(start, 'chat-completions', {
      ...requests['chat-completions'],
      response_format,
    }))
      expect(text(up)).toMatch(/json_?schema/i)
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, refusal: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'ONE' },
    ]
    for (const up of await responded(start, 'chat-completions', {
      model: 'm',
      messages,
      tools: [lookup],
      stream: true,
    }))
      expect(text(up)).toContain('ONE')
  })

  test('send reasoning_content back', async () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '', reasoning_content: 'Hm.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'ONE' },
    ]
    await responded(start, 'chat-completions', { model: 'm', messages, tools: [lookup] })
  })

  test('name the messages of tools', async () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', name: 'lookup', tool_call_id: 'call_1', content: 'ONE' },
    ]
    for (const up of await responded(start, 'chat-completions', {
      model: 'm',
      messages,
      tools: [lookup],
    }))
      expect(text(up)).toContain('ONE')
  })

  test('send annotations back in the parts of a response', async () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'text', text: 'Welcome', annotations: [] }] },
      { role: 'user', content: 'Continue' },
    ]
    for (const up of await responded(start, 'chat-completions', { model: 'm', messages }))
      expect(text(up)).toContain('Welcome')
  })
})

describe.each(hostsOf(import.meta.url))('through %s, the SDKs of responses', (_, start) => {
  test('send the items of a response back, with their ids', async () => {
    for (const served of others.responses) {
      const up = await hello(served)
      const ask = await start(one(up.url, served))
      const { output } = (await (await ask(paths.responses, post(requests.responses))).json()) as {
        output: object[]
      }
      const again = await ask(
        paths.responses,
        post({
          model: 'm',
          input: [
            { role: 'user', content: 'Hi' },
            ...output,
            { role: 'user', content: 'Continue' },
          ],
        }),
      )
      expect(again.status).toBe(200)
      expect(text(up, 1)).toContain('Hello')
    }
  })

  test('continue from a response by its id: with a store that works, without one it is refused by name', async () => {
    for (const served of others.responses) {
      const up = await hello(served)
      for (const store of [{ memory: true as const }, undefined]) {
        const ask = await start(one(up.url, served, store && { store }))
        const { id } = (await (await ask(paths.responses, post(requests.responses))).json()) as {
          id: string
        }
        const next = await ask(
          paths.responses,
          post({ model: 'm', input: 'Continue', previous_response_id: id }),
        )
        expect(next.status).toBe(store ? 200 : 400)
        if (!store) expect(await next.text()).toContain('previous_response_id')
      }
    }
  })

  test('refer to items that are stored: with a store that works', async () => {
    const up = await hello('messages')
    const ask = await start(one(up.url, 'messages', { store: { memory: true } }))
    const { output } = (await (await ask(paths.responses, post(requests.responses))).json()) as {
      output: { id: string }[]
    }
    const input = [
      { role: 'user', content: 'Hi' },
      { type: 'item_reference', id: output[0]?.id },
      { role: 'user', content: 'Continue' },
    ]
    expect((await ask(paths.responses, post({ model: 'm', input }))).status).toBe(200)
    expect(up.calls[1]?.json['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user' },
    ])
  })

  test('leave out what the reference requires: the type and the id of items, the detail of images', async () => {
    const input = [
      {
        role: 'user',
        content: [{ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }],
      },
      {
        role: 'assistant',
        content: [{ type: 'output_text', text: 'An image', annotations: [] }],
        status: 'completed',
      },
      { role: 'user', content: [{ type: 'input_text', text: 'Of what?' }] },
    ]
    for (const up of await responded(start, 'responses', { model: 'm', input }))
      expect(text(up)).toContain('iVBORw0KGgo=')
  })

  test('say strict: null of tools, and an empty text', async () => {
    const tools = [
      {
        type: 'function',
        name: 'lookup',
        description: 'Looks up.',
        parameters: schema,
        strict: null,
      },
    ]
    for (const up of await responded(start, 'responses', {
      model: 'm',
      input: 'Hi',
      tools,
      text: {},
      stream: true,
    }))
      expect(text(up)).toContain('lookup')
  })
})

describe.each(hostsOf(import.meta.url))('through %s, the SDKs of messages', (_, start) => {
  test('show an API key as bearer, with a newer version and betas in the header alone', async () => {
    const up = await hello('messages')
    const { auth: _auth, ...config } = one(up.url, 'messages')
    const ask = await start({ ...config, keys: [{ name: 'alice', key: 'client-secret' }] })
    const headers = {
      authorization: 'Bearer client-secret',
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'one,two',
    }
    expect((await ask(paths.messages, post(requests.messages, headers))).status).toBe(200)
    expect(up.calls[0]?.headers).toMatchObject({
      'x-api-key': 'upstream-secret',
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'one,two',
    })
    expect(up.calls[0]?.headers).not.toHaveProperty('authorization')
    expect(up.calls[0]?.path).toBe(paths.messages)
  })

  test('send a temperature with the older version', async () => {
    for (const up of await responded(
      start,
      'messages',
      { ...requests.messages, temperature: 0.5 },
      { 'anthropic-version': '2023-06-01' },
    ))
      expect(text(up)).toContain('"temperature":0.5')
  })

  test('hold threads on the server: refused by code where the upstream is of another protocol, and passed on where it is not', async () => {
    for (const thread of [{ type: 'create' }, { type: 'continue', id: 'thread_1' }]) {
      for (const served of others.messages) {
        const up = await hello(served)
        const ask = await start(one(up.url, served))
        const refused = await ask(paths.messages, post({ ...requests.messages, thread }))
        expect(refused.status).toBe(400)
        expect(await refused.json()).toMatchObject({
          type: 'error',
          error: {
            type: 'invalid_request_error',
            details: { error_code: 'thread_unsupported_request' },
          },
        })
        expect(up.calls).toEqual([])
      }
      const up = await hello('messages')
      const ask = await start(one(up.url, 'messages'))
      expect((await ask(paths.messages, post({ ...requests.messages, thread }))).status).toBe(200)
      expect(up.calls[0]?.json['thread']).toEqual(thread)
    }
  })

  test('add the output tokens of the beginning to those of the end: the sum is what the response cost', async () => {
    for (const served of others.messages) {
      const frames = streams[served].flatMap(frame =>
        frame.includes('[DONE]') ? [usageChunk, frame] : [frame],
      )
      const ask = await start(
        one(
          (
            await upstream(
              response =>
                void response
                  .writeHead(200, { 'content-type': 'text/event-stream' })
                  .end(frames.join('')),
            )
          ).url,
          served,
        ),
      )
      const events = dataOf(
        await (await ask(paths.messages, post({ ...requests.messages, stream: true }))).text(),
      ) as {
        message?: Counted
        usage?: Counted['usage']
      }[]
      const reported = events
        .flatMap(({ message, usage }) => [message?.usage, usage])
        .flatMap(usage => (usage ? [usage.output_tokens] : []))
      expect(reported.reduce((sum, count) => sum + count, 0)).toBe(2)
    }
  })

  test('count tokens where they care to: by the upstream, or by an estimate that says so', async () => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
    const counting = await start(
      one((await upstream(sendJson(200, { input_tokens: 120 }))).url, 'messages'),
    )
    expect(await (await counting('/v1/messages/count_tokens', post(body))).json()).toEqual({
      input_tokens: 120,
    })
    const guessing = await start(one((await hello('responses')).url, 'responses'))
    const guessed = await guessing('/v1/messages/count_tokens', post(body))
    expect(await guessed.json()).toEqual({ input_tokens: expect.any(Number) })
    expect(guessed.headers.get('wireglot-estimate')).toBe('true')
  })
})

type Counted = { usage: { output_tokens: number } }
const usageChunk = `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } })}\n\n`

describe.each(hostsOf(import.meta.url))('through %s, any client', (_, start) => {
  test('may look whether somebody is there', async () => {
    const ask = await start(one('http://127.0.0.1:9', 'messages'))
    const head = await ask('/', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await ask('/')).status).toBe(200)
  })

  test.each<[string, Record<string, string>, RegExp]>([
    ['nothing', {}, /"object":"list"/],
    ['a bearer key', { authorization: 'Bearer k' }, /"object":"list"/],
    [
      'a version of messages',
      { authorization: 'Bearer k', 'anthropic-version': '2026-10-21' },
      /"has_more":false/,
    ],
    ['a key of messages', { 'x-api-key': 'k' }, /"has_more":false/],
  ])('that shows %s gets the listing in the shape it reads', async (_, headers, shape) => {
    const ask = await start(one('http://127.0.0.1:9', 'messages'))
    expect(await (await ask('/v1/models', { headers })).text()).toMatch(shape)
    expect(await (await ask('/v1/models/m', { headers })).json()).toMatchObject({ id: 'm' })
  })

  test.each(all)(
    'of %s gets an error after the status was sent, and no other end',
    async client => {
      for (const served of all) {
        const up = await upstream(
          response =>
            void response
              .writeHead(200, { 'content-type': 'text/event-stream' })
              .end([...half(served), failures[served]].join('')),
        )
        const ask = await start(one(up.url, served))
        const reported = await (await ask(...asking(client, { stream: true }))).text()
        expect(reported).toContain('Overheated')
        expect(reported).not.toMatch(
          /message_stop|response\.completed|"finish_reason":"stop"|"finishReason":"STOP"/,
        )
      }
    },
  )
})
