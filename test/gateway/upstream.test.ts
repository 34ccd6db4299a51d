import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { urlOf } from '../../src/address/paths.ts'
import { translateRequest, translateResponse } from '../../src/index.ts'
import { protocols } from '../../src/protocols/index.ts'
import { clientOf } from '../support/clients/index.ts'
import { thinkerOf } from '../support/reasoning/index.ts'
import { wireOf } from '../support/upstreams/index.ts'
import {
  asking,
  hostsOf,
  listen,
  mounted,
  one,
  type Protocol,
  pairs,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  sent,
  streams,
  upstream,
} from './support.ts'

test.each([
  ['https://a.test', '/v1/messages', 'https://a.test/v1/messages'],
  ['https://a.test/', '/v1/messages', 'https://a.test/v1/messages'],
  ['https://a.test/v1', '/v1/messages', 'https://a.test/v1/messages'],
  ['https://a.test/v1/', '/v1/chat/completions', 'https://a.test/v1/chat/completions'],
  ['https://a.test/proxy', '/v1/messages', 'https://a.test/proxy/v1/messages'],
  ['https://a.test/api/v4', '/v1/chat/completions', 'https://a.test/api/v4/chat/completions'],
])('joins %s and %s to %s', (base, target, url) => {
  expect(urlOf(base, target)).toBe(url)
})

const chat = (model: string, more: object = {}, headers: Record<string, string> = {}) =>
  post({ ...requests['chat-completions'], model, ...more }, headers)

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test('an upstream whose paths have no version is called without one, also for its listing', async () => {
    const listed = {
      object: 'list',
      data: [{ id: 'some', object: 'model', created: 1, owned_by: 'a' }],
    }
    const seen = await upstream(sendJson(200, responses['chat-completions']), sendJson(200, listed))
    const ask = await start(
      one(`${seen.url}/v1beta/openai/`, 'chat-completions', {}, { id: '*' }, { addVersion: false }),
    )
    expect((await ask(paths['chat-completions'], chat('some'))).status).toBe(200)
    expect(await (await ask('/v1/models')).json()).toMatchObject({ data: [{ id: 'some' }] })
    expect(seen.calls.map(({ path }) => path)).toEqual([
      '/v1beta/openai/chat/completions',
      '/v1beta/openai/models',
    ])
  })

  test('the upstream gets its own name of the model, the client the requested one', async () => {
    const seen = await upstream(
      sendJson(200, { ...responses['chat-completions'], model: 'real-name' }),
    )
    const ask = await start(
      one(
        seen.url,
        'chat-completions',
        {},
        { id: 'nick', aliases: ['other'], channels: [{ name: 'up', model: 'real-name' }] },
      ),
    )
    for (const name of ['nick', 'other']) {
      const response = await ask(paths['chat-completions'], chat(name))
      expect(await response.json()).toMatchObject({ model: name })
    }
    const translated = await ask(paths.messages, post({ ...requests.messages, model: 'nick' }))
    expect(await translated.json()).toMatchObject({ model: 'nick' })
    expect(seen.calls.map(({ json }) => json['model'])).toEqual([
      'real-name',
      'real-name',
      'real-name',
    ])
  })

  test('changes only the model name between equal protocols', async () => {
    const text = (model: string) =>
      `{ "messages": [{"role":"user","content":"\\"model\\": \\\\"}],  "model" : "${model}", "odd": 12345678901234567890, "deep": {"model": "stays"} }`
    const response = (model: string) =>
      `${JSON.stringify(responses['chat-completions']).slice(0, -1).replace('"model":"m"', `"model":  "${model}"`)}, "odd": 12345678901234567890}`
    const seen = await upstream(sendJson(200, response('real')))
    const ask = await start(
      one(
        seen.url,
        'chat-completions',
        {},
        { id: 'nick', channels: [{ name: 'up', model: 'real' }] },
      ),
    )
    expect(await (await ask(paths['chat-completions'], post(text('nick')))).text()).toBe(
      response('nick'),
    )
    expect(seen.calls[0]?.text).toBe(text('real'))
  })

  test.each(pairs.filter(([client, served]) => client === served))(
    'changes only the model name of a long body: %s',
    async protocol => {
      const { model: _, ...rest } = requests[protocol]
      const inner = JSON.stringify(rest).slice(1, -1)
      const text = (model: string) =>
        `\n{ "odd": 12345678901234567890, "deep": {"model": "stays", "x": ${JSON.stringify('ä\\" "model": '.repeat(3000))}},\t${inner},  "model" : "${model}" }\n`
      const seen = await upstream(sendJson(200, responses[protocol]))
      const ask = await start(
        one(seen.url, protocol, {}, { id: 'm', channels: [{ name: 'up', model: 'real' }] }),
      )
      expect((await ask(paths[protocol], post(text('m')))).status).toBe(200)
      expect(seen.calls.map(call => call.text)).toEqual([text('real')])
    },
  )

  test.each(['"model"', '"mod\\u0065l"', '"Model"'])(
    'a body with two models is refused, for upstreams may take the other one: %s',
    async key => {
      const seen = await upstream(sendJson(200, responses.messages))
      const ask = await start(one(seen.url, 'messages'))
      const { model: _, ...rest } = requests.messages
      for (const mark of ['', '\ufeff'])
        for (const padding of ['', 'x'.repeat(40_000)]) {
          const text = `${mark}{${key}:"dear",${JSON.stringify({ ...rest, system: padding, metadata: { model: 'x' } }).slice(1, -1)},"model":"m"}`
          const response = await ask(paths.messages, post(text))
          expect(response.status).toBe(400)
          expect(await response.text()).toContain('more than once')
        }
      expect(seen.calls).toEqual([])
    },
  )

  test.each([
    ['a bracket that is not closed', (text: string) => text.slice(0, -1)],
    ['a comma too many', (text: string) => `${text.slice(0, -1)},}`],
    ['a word that there is not', (text: string) => `${text.slice(0, -1)},"odd":[1,nul]}`],
    ['a second body', (text: string) => `${text}{}`],
    [
      'a byte that is no UTF-8',
      (text: string) =>
        Buffer.concat([Buffer.from(text.slice(0, -2)), Buffer.from([0xff, 0x22, 0x7d])]),
    ],
  ])('a long body with %s is refused, and sent to no upstream', async (_, broken) => {
    const seen = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(seen.url, 'messages'))
    const text = JSON.stringify({ ...requests.messages, system: 'x'.repeat(40_000) })
    const response = await ask(paths.messages, { ...post(text), body: broken(text) as string })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error' },
    })
    expect(seen.calls).toEqual([])
  })

  test('an alias of a model without another name is sent as the id', async () => {
    const seen = await upstream(sendJson(200, responses['chat-completions']))
    const ask = await start(one(seen.url, 'chat-completions', {}, { id: 'm', aliases: ['mm'] }))
    await ask(paths['chat-completions'], chat('mm'))
    expect(seen.calls[0]?.json['model']).toBe('m')
  })

  test('routes by prefix patterns, and prefers the longest', async () => {
    const [some, all] = [
      await upstream(sendJson(200, responses['chat-completions'])),
      await upstream(sendJson(200, responses['chat-completions'])),
    ]
    const channel = (name: string, baseUrl: string) => ({
      name,
      protocols: ['chat-completions' as const],
      baseUrl,
    })
    const ask = await start({
      auth: 'none',
      channels: [channel('some', some.url), channel('all', all.url)],
      models: [
        { id: '*', channels: [{ name: 'all' }] },
        { id: 'vendor/*', channels: [{ name: 'some', model: '*' }] },
        { id: 'vendor/exact', channels: [{ name: 'all', model: 'exact' }] },
      ],
    })
    for (const model of ['vendor/big', 'vendor/exact', 'else'])
      expect((await ask(paths['chat-completions'], chat(model))).status).toBe(200)
    expect(some.calls.map(({ json }) => json['model'])).toEqual(['big'])
    expect(all.calls.map(({ json }) => json['model'])).toEqual(['exact', 'else'])
    expect(await (await ask('/v1/models')).json()).toMatchObject({ data: [{ id: 'vendor/exact' }] })
  })

  test('uses the protocol of the client when the channel supports it, else the first', async () => {
    const seen = await upstream((response, { path }) =>
      sendJson(
        200,
        path === paths.messages ? responses.messages : responses['chat-completions'],
      )(response),
    )
    const ask = await start(
      one(seen.url, 'chat-completions', {}, {}, { protocols: ['chat-completions', 'messages'] }),
    )
    for (const protocol of ['messages', 'chat-completions', 'responses'] as const)
      expect((await ask(...asking(protocol))).status).toBe(200)
    expect(seen.calls.map(({ path }) => path)).toEqual([
      paths.messages,
      paths['chat-completions'],
      paths['chat-completions'],
    ])
  })

  test('a channel that fails is followed by the next, and the first error is sent when all fail', async () => {
    const [bad, good] = [
      await upstream(sendJson(500, { error: { message: 'First failure' } })),
      await upstream(sendJson(200, responses['chat-completions'])),
    ]
    const channel = (name: string, baseUrl: string) => ({
      name,
      protocols: ['chat-completions' as const],
      baseUrl,
    })
    const config = {
      auth: 'none' as const,
      channels: [
        channel('bad', bad.url),
        channel('good', good.url),
        channel('gone', 'http://127.0.0.1:9'),
      ],
      models: [
        { id: 'm', channels: [{ name: 'good', priority: 1 }, { name: 'bad' }] },
        { id: 'n', channels: [{ name: 'bad' }, { name: 'gone', priority: 1 }] },
      ],
      defaults: { retries: 0 },
    }
    const ask = await start(config)
    expect((await ask(paths['chat-completions'], chat('m'))).status).toBe(200)
    expect(bad.calls.length).toBe(1)
    const failed = await ask(paths['chat-completions'], chat('n'))
    expect(failed.status).toBe(500)
    expect(await failed.text()).toContain('First failure')
  })

  test('distributes calls by weight, deterministically', async () => {
    const [heavy, light] = [
      await upstream(sendJson(200, responses['chat-completions'])),
      await upstream(sendJson(200, responses['chat-completions'])),
    ]
    const channel = (name: string, baseUrl: string) => ({
      name,
      protocols: ['chat-completions' as const],
      baseUrl,
    })
    const ask = await start({
      auth: 'none',
      channels: [channel('heavy', heavy.url), channel('light', light.url)],
      models: [
        { id: 'm', sticky: false, channels: [{ name: 'heavy', weight: 3 }, { name: 'light' }] },
      ],
    })
    for (let i = 0; i < 12; i++) await (await ask(paths['chat-completions'], chat('m'))).text()
    expect([heavy.calls.length, light.calls.length]).toEqual([9, 3])
  })

  test.each([
    [503, 2],
    [429, 2],
    [400, 1],
    [404, 1],
  ])('status %i is tried %i times in all with one retry', async (status, times) => {
    const seen = await upstream(sendJson(status, { error: { message: 'No' } }))
    const ask = await start(one(seen.url, 'chat-completions', { defaults: { retries: 1 } }))
    expect((await ask(paths['chat-completions'], chat('m'))).status).toBe(status)
    expect(seen.calls.length).toBe(times)
  })

  test('retries when the connection breaks before the response', async () => {
    const seen = await upstream(
      response => response.destroy(),
      sendJson(200, responses['chat-completions']),
    )
    const ask = await start(one(seen.url, 'chat-completions', { defaults: { retries: 1 } }))
    expect((await ask(paths['chat-completions'], chat('m'))).status).toBe(200)
  })

  test('does not retry after a response has begun', async () => {
    const seen = await upstream(sendStream(streams['chat-completions'].slice(0, 2), { cut: true }))
    const ask = await start(one(seen.url, 'chat-completions', { defaults: { retries: 3 } }))
    await (await ask(paths.messages, post({ ...requests.messages, stream: true }))).text()
    expect(seen.calls.length).toBe(1)
  })

  test('drops a field that a model does not support, with a note', async () => {
    const seen = await upstream(sendJson(200, responses['chat-completions']))
    const ask = await start(
      one(seen.url, 'chat-completions', {}, { unsupported: ['temperature', 'stop'] }),
    )
    const response = await ask(
      paths['chat-completions'],
      chat('m', { temperature: 0.5, top_p: 0.9, odd: 1 }),
    )
    expect(seen.calls[0]?.json).toEqual({ ...requests['chat-completions'], top_p: 0.9, odd: 1 })
    expect(JSON.parse(response.headers.get('wireglot-notes') ?? '[]')).toMatchObject([
      { kind: 'dropped', path: '/temperature', code: 'model.unsupported' },
    ])
  })

  test('a body of another protocol gets an error with its path, whatever the model refuses', async () => {
    for (const unsupported of [[], ['temperature']]) {
      const ask = await start(one('http://127.0.0.1:9', 'messages', {}, { unsupported }))
      const { error } = (await (
        await ask(paths['chat-completions'], post(requests.responses))
      ).json()) as { error: { message: string } }
      expect(error.message).toContain('its path is /v1/responses')
    }
  })

  test.each<[client: Protocol, served: Protocol, field: string, change: object, path: string]>([
    [
      'chat-completions',
      'chat-completions',
      'prediction',
      { prediction: { type: 'content', content: 'x' } },
      '/prediction',
    ],
    [
      'chat-completions',
      'chat-completions',
      'web_search_options',
      { web_search_options: {} },
      '/web_search_options',
    ],
    ['chat-completions', 'chat-completions', 'x_custom', { x_custom: 1 }, '/x_custom'],
    ['responses', 'responses', 'include', { include: ['reasoning.encrypted_content'] }, '/include'],
    [
      'responses',
      'responses',
      'reasoning',
      { reasoning: { effort: 'low', summary: 'auto' } },
      '/reasoning',
    ],
    [
      'responses',
      'responses',
      'reasoning.summary',
      { reasoning: { effort: 'low', summary: 'auto' } },
      '/reasoning/summary',
    ],
    ['messages', 'messages', 'thinking', { thinking: { type: 'adaptive' } }, '/thinking'],
    [
      'messages',
      'messages',
      'tool_choice',
      { tool_choice: { type: 'auto', disable_parallel_tool_use: true }, tools: [] },
      '/tool_choice',
    ],
    [
      'generate-content',
      'generate-content',
      'generationConfig.thinkingConfig',
      { generationConfig: { thinkingConfig: {} } },
      '/generationConfig/thinkingConfig',
    ],
    ['chat-completions', 'chat-completions', 'sampling.topP', { top_p: 0.5 }, '/top_p'],
    ['chat-completions', 'chat-completions', 'maxOutputTokens', { max_tokens: 5 }, '/max_tokens'],
    [
      'chat-completions',
      'chat-completions',
      'max_completion_tokens',
      { max_tokens: 5 },
      '/max_tokens',
    ],
    [
      'chat-completions',
      'chat-completions',
      'reasoning',
      { enable_thinking: true },
      '/enable_thinking',
    ],
    [
      'generate-content',
      'generate-content',
      'generationConfig.topP',
      { generation_config: { top_p: 0.5 } },
      '/generation_config/top_p',
    ],
    [
      'generate-content',
      'generate-content',
      'sampling.topP',
      { generation_config: { top_p: 0.5, topK: 3 } },
      '/generation_config/top_p',
    ],
    [
      'messages',
      'messages',
      'output_config.format',
      { output_format: { type: 'json_schema', schema: {} } },
      '/output_format',
    ],
    [
      'generate-content',
      'chat-completions',
      'top_p',
      { generationConfig: { topP: 0.5 } },
      '/generationConfig/topP',
    ],
    [
      'messages',
      'chat-completions',
      'reasoning_effort',
      { thinking: { type: 'enabled', budget_tokens: 1024 } },
      '/thinking/budget_tokens',
    ],
    ['chat-completions', 'responses', 'store', {}, ''],
    ['chat-completions', 'responses', 'text.verbosity', { verbosity: 'low' }, '/verbosity'],
    ['responses', 'messages', 'stop_sequences', {}, ''],
  ])(
    'a client of %s at a model of %s that does not take %s',
    async (client, served, field, message, path) => {
      const seen = await upstream(sendJson(200, responses[served]))
      const ask = await start(one(seen.url, served, {}, { unsupported: [field] }))
      const response = await ask(...asking(client, { ...message }))
      expect(response.status).toBe(200)
      for (const key of path.split('/').slice(-1))
        if (client === served && key)
          expect(JSON.stringify(seen.calls[0]?.json)).not.toContain(`"${key}"`)
      const inBody = (body: unknown) =>
        field
          .split('.')
          .reduce((at, key) => (at as Record<string, unknown> | undefined)?.[key], body)
      expect(inBody(seen.calls[0]?.json)).toBeUndefined()
      const notes = (
        JSON.parse(response.headers.get('wireglot-notes') ?? '[]') as {
          code: string
          path: string
        }[]
      ).filter(({ code }) => code === 'model.unsupported')
      expect(notes.map(note => note.path)).toEqual(path ? [path] : [])
    },
  )

  test.each(pairs.filter(([client, served]) => client !== served))(
    'what is left out for a client of %s removes no signature of %s',
    async (client, served) => {
      const thinker = thinkerOf(served)
      const { open, receive, continueWith } = clientOf(client)
      const question = open({
        model: 'm',
        ask: 'What is it?',
        tools: [{ name: 'lookup', schema: { type: 'object', properties: {} } }],
      })
      const response = await receive(
        translateResponse(thinker.shapes[0]?.response(1), { from: served, to: client }),
      )
      const history = continueWith(question, response, { runTool: () => 'found', ask: 'And then?' })
      const signatures = thinker.signatures(
        translateRequest(history, { from: client, to: served }).body,
      )
      expect(signatures.length).toBe(1)
      const seen = await upstream(sendJson(200, responses[served]))
      const ask = await start(one(seen.url, served, {}, { unsupported: ['sampling.temperature'] }))
      const more =
        client === 'generate-content'
          ? { generationConfig: { temperature: 0.5 } }
          : { temperature: 0.5 }
      expect((await ask(...asking(client, { ...history, ...more }))).status).toBe(200)
      expect(JSON.stringify(seen.calls[0]?.json)).not.toContain('temperature')
      expect(thinker.signatures(seen.calls[0]?.json)).toEqual(signatures)
    },
  )

  test('a limit that its server requires is sent by a model that does not take one elsewhere', async () => {
    const seen = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(seen.url, 'messages', {}, { unsupported: ['max_tokens'] }))
    const response = await ask(...asking('chat-completions', { max_tokens: 7 }))
    expect(seen.calls[0]?.json['max_tokens']).toBeGreaterThan(7)
    const notes = JSON.parse(response.headers.get('wireglot-notes') ?? '[]') as {
      code: string
      path: string
    }[]
    const ofLimit = notes.filter(({ path }) => path.includes('max'))
    expect(ofLimit.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'model.unsupported /max_tokens',
      'max-tokens.default /max_tokens',
    ])
  })

  test.each<[client: Protocol, field: string, change: object]>([
    ['messages', 'stream_options', {}],
    ['messages', 'stream_options.include_usage', {}],
    ['chat-completions', 'stream_options', {}],
    ['chat-completions', 'stream_options', { stream_options: { include_usage: true } }],
  ])(
    'a stream for a client of %s does not ask for counts where its model does not take %s',
    async (client, field, message) => {
      const seen = await upstream(sendStream(streams['chat-completions']))
      const ask = await start(one(seen.url, 'chat-completions', {}, { unsupported: [field] }))
      await (await ask(...asking(client, { ...message, stream: true }))).text()
      expect(seen.calls[0]?.json).toMatchObject({ stream: true })
      expect(JSON.stringify(seen.calls[0]?.json)).not.toContain('include_usage')
    },
  )

  test('sends only selected headers to the upstream', async () => {
    const seen = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(seen.url, 'messages', {}, {}, { headers: { 'X-Org': 'ours' } }))
    const headers = {
      'x-api-key': 'client-secret',
      authorization: 'Bearer client-secret',
      cookie: 'session=client-secret',
      'x-custom': 'private',
      'accept-encoding': 'gzip',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'one-beta',
    }
    await ask(`${paths.messages}?beta=true&key=client-secret`, post(requests.messages, headers))
    await ask(paths['chat-completions'], post(requests['chat-completions'], headers))
    const [same, other] = seen.calls
    expect(JSON.stringify(seen.calls.map(({ headers, path }) => [headers, path]))).not.toContain(
      'client-secret',
    )
    expect(same?.headers).toMatchObject({
      'x-api-key': 'upstream-secret',
      'x-org': 'ours',
      'content-type': 'application/json',
      'anthropic-beta': 'one-beta',
    })
    expect(same?.path).toBe(`${paths.messages}?beta=true`)
    expect(same?.headers).not.toHaveProperty('x-custom')
    expect(other?.headers).not.toHaveProperty('anthropic-beta')
    expect(other?.path).toBe(paths.messages)
  })

  test('sends the key only to the configured upstream, whatever the body says', async () => {
    const seen = await upstream(sendJson(200, responses['chat-completions']))
    const other = await upstream(sendJson(200, responses['chat-completions']))
    const ask = await start(one(seen.url, 'chat-completions'))
    await ask(
      paths['chat-completions'],
      chat('m', { api_base: other.url, base_url: other.url }, { 'x-forwarded-host': other.url }),
    )
    expect(other.calls).toEqual([])
  })

  test('decompresses responses and drops their content-encoding', async () => {
    const { url } = await upstream((response, { json }) => {
      const stream = json['stream'] === true
      response.writeHead(200, {
        'content-type': stream ? 'text/event-stream' : 'application/json',
        'content-encoding': 'gzip',
      })
      response.end(
        gzipSync(stream ? streams.messages.join('') : JSON.stringify(responses.messages)),
      )
    })
    const ask = await start(one(url, 'messages'))
    for (const client of Object.keys(paths) as Protocol[]) {
      const whole = await ask(...asking(client))
      expect(whole.headers.get('content-encoding')).toBeNull()
      expect(await whole.text()).toContain('Hello')
      const streamed = await ask(...asking(client, { stream: true }))
      expect(await sent(await streamed.text(), client)).toBe('Hello')
    }
  })

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['gzip, br', bytes => brotliCompressSync(gzipSync(bytes))],
    ['br, gzip', bytes => gzipSync(brotliCompressSync(bytes))],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
  ])('decompresses responses with the content-encoding %s', async (encoding, compressed) => {
    const { url } = await upstream((response, { json }) => {
      const stream = json['stream'] === true
      response.writeHead(200, {
        'content-type': stream ? 'text/event-stream' : 'application/json',
        'content-encoding': encoding,
      })
      const text = stream ? streams.messages.join('') : JSON.stringify(responses.messages)
      response.end(compressed(Buffer.from(text)))
    })
    const ask = await start(one(url, 'messages'))
    for (const stream of [false, true]) {
      const response = await ask(...asking('messages', { stream }))
      expect(await response.text()).toContain('Hel')
    }
  })

  test.each(['gzip', 'deflate', 'br'])('says that %s is damaged', async encoding => {
    const { url } = await upstream(
      sendJson(200, responses.messages, { 'content-encoding': encoding }),
    )
    const ask = await start(one(url, 'messages'))
    const response = await ask(...asking('chat-completions'))
    expect(response.status).toBe(502)
    expect(await response.text()).toContain('the response of the upstream is damaged')
  })

  test.each([0, 8, 20])('a frame that is damaged at byte %i is a 502', async at => {
    const { framing } = protocols.converse
    const { url } = await upstream(response => {
      const text = wireOf('converse').stream({ text: 'Hello', ending: 'stop' }).join('')
      const bytes = framing?.encode()(text) ?? new Uint8Array()
      bytes[at + 3] = (bytes[at + 3] ?? 0) ^ 1
      response.writeHead(200, { 'content-type': framing?.contentType ?? '' })
      response.end(bytes)
    })
    const ask = await start({
      auth: 'none',
      channels: [{ name: 'up', baseUrl: url, protocols: ['converse'], apiKey: 'k' }],
      models: [{ id: 'm', channels: [{ name: 'up' }] }],
      defaults: { retries: 0 },
    })
    for (const client of Object.keys(paths) as Protocol[])
      for (const stream of [false, true])
        expect((await ask(...asking(client, { stream }))).status).toBe(502)
  })

  test('returns no headers of the upstream except rate limits', async () => {
    const { url } = await upstream(
      sendJson(200, responses.messages, {
        'set-cookie': 'a=b',
        server: 'secret-server',
        'x-ratelimit-limit-requests': '10',
        connection: 'close',
      }),
    )
    const ask = await start(one(url, 'messages'))
    const { headers } = await ask(paths.messages, post(requests.messages))
    expect(headers.get('set-cookie')).toBeNull()
    expect(headers.get('server')).toBeNull()
    expect(headers.get('x-ratelimit-limit-requests')).toBe('10')
  })

  test('a channel that serves any name lists the names of its upstream', async () => {
    const seen = await upstream(
      sendJson(200, { object: 'list', data: [{ id: 'big' }, { id: 'small' }, { id: 'own' }] }),
    )
    const config = {
      keys: [
        { name: 'a', key: 'a', group: 'g' },
        { name: 'b', key: 'b' },
      ],
      groups: { g: { models: ['own', 'v/small'] } },
      channels: [
        {
          name: 'up',
          protocols: ['messages' as const],
          baseUrl: seen.url,
          apiKey: 'upstream-secret',
        },
        { name: 'gone', protocols: ['messages' as const], baseUrl: 'http://127.0.0.1:9' },
      ],
      models: [
        { id: 'own', channels: [{ name: 'up' }] },
        { id: 'v/*', channels: [{ name: 'up', model: '*' }, { name: 'gone' }] },
      ],
    }
    const ask = await start(config)
    const ids = async (key: string) =>
      (
        (await (
          await ask('/v1/models', { headers: { authorization: `Bearer ${key}` } })
        ).json()) as { data: { id: string }[] }
      ).data.map(({ id }) => id)
    expect(await ids('b')).toEqual(['own', 'v/big', 'v/small', 'v/own'])
    expect(await ids('a')).toEqual(['own', 'v/small'])
    expect(seen.calls).toMatchObject([
      { method: 'GET', path: '/v1/models?limit=1000', headers: { 'x-api-key': 'upstream-secret' } },
    ])
  })

  test('a listing is requested with the headers of its channel, each of them once', async () => {
    const seen = await upstream(sendJson(200, { object: 'list', data: [] }))
    const ask = await start({
      auth: 'none',
      channels: [
        {
          name: 'up',
          protocols: ['chat-completions'],
          baseUrl: seen.url,
          apiKey: 'upstream-secret',
          headers: { Authorization: 'Bearer another', 'X-Org': 'o' },
        },
      ],
    })
    await ask('/v1/models')
    expect(seen.calls).toMatchObject([
      { headers: { authorization: 'Bearer another', 'x-org': 'o' } },
    ])
  })

  test.each<[Protocol, string]>([
    ['chat-completions', '/v1/models'],
    ['responses', '/v1/models'],
    ['messages', '/v1/models?limit=1000'],
    ['generate-content', '/v1beta/models?pageSize=1000'],
  ])(
    'of names on several pages, %s gets as many requests as it has pages',
    async (protocol, path) => {
      const seen = await upstream(sendJson(200, {}))
      const ask = await start({
        auth: 'none',
        channels: [{ name: 'up', protocols: [protocol], baseUrl: seen.url }],
      })
      await ask('/v1/models')
      expect(seen.calls).toMatchObject([{ path }])
    },
  )

  test('skips a channel above its rate limit', async () => {
    const [few, rest] = [
      await upstream(sendJson(200, responses['chat-completions'])),
      await upstream(sendJson(200, responses['chat-completions'])),
    ]
    const channel = (name: string, baseUrl: string, requestsPerMinute: number) => ({
      name,
      protocols: ['chat-completions' as const],
      baseUrl,
      requestsPerMinute,
    })
    const ask = await start({
      auth: 'none',
      channels: [channel('few', few.url, 1), channel('rest', rest.url, 0)],
      models: [{ id: 'm', channels: [{ name: 'few' }, { name: 'rest', priority: 1 }] }],
    })
    for (let i = 0; i < 3; i++)
      expect((await ask(paths['chat-completions'], chat('m'))).status).toBe(200)
    expect(few.calls.length).toBe(1)
    expect(rest.calls.length).toBe(2)
  })
})

test('reads a response with long headers', async () => {
  const seen = await upstream(
    sendJson(200, responses.messages, { 'content-security-policy': 'x'.repeat(60_000) }),
  )
  const gateway = await listen(mounted(one(seen.url, 'messages')))
  const [path, init] = asking('messages')
  expect((await fetch(gateway + path, init)).status).toBe(200)
})
