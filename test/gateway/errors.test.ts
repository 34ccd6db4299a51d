import { describe, expect, test } from 'vitest'
import { protocols as wires } from '../../src/protocols/index.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import {
  asking,
  hostsOf,
  listen,
  one,
  type Protocol,
  pairs,
  pathOf,
  paths,
  post,
  requests,
  responses,
  sendJson,
  until,
  upstream,
} from './support.ts'

const protocols = Object.keys(paths) as Protocol[]

/** What every client of a protocol expects of an error. */
const shapes: Record<Protocol, object> = {
  'chat-completions': { error: { message: expect.any(String), type: expect.any(String) } },
  responses: { error: { message: expect.any(String), type: expect.any(String) } },
  messages: { type: 'error', error: { type: expect.any(String), message: expect.any(String) } },
  'generate-content': {
    error: { code: expect.any(Number), message: expect.any(String), status: expect.any(String) },
  },
}

const errors: Record<Protocol, (message: string) => object> = {
  'chat-completions': message => ({
    error: { message, type: 'requests', param: null, code: 'rate_limit_exceeded' },
  }),
  responses: message => ({
    error: { message, type: 'requests', param: null, code: 'rate_limit_exceeded' },
  }),
  messages: message => ({ type: 'error', error: { type: 'rate_limit_error', message } }),
  'generate-content': message => ({ error: { code: 429, message, status: 'RESOURCE_EXHAUSTED' } }),
}

type Row = [what: string, status: number, request: [path: string, init: RequestInit]]

const retryInfo = (retryDelay: string) => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay,
})

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  describe.each(protocols)('%s', protocol => {
    const path = pathOf(protocol, { model: 'demo' })
    const inBody = protocol !== 'generate-content'
    const unnamed = (model: unknown): Row => [
      `the model ${model}`,
      400,
      [path, post({ ...requests[protocol], model })],
    ]

    test.each<Row>([
      ['no JSON', 400, [path, post('{"model": ')]],
      ['an empty body', 400, [path, post('')]],
      ['JSON that is no object', 400, [path, post('[1]')]],
      ...(inBody ? [unnamed(undefined), unnamed(7)] : []),
      ['an unknown model', 404, asking(protocol, { model: 'nope' })],
      [
        'a body that is not JSON by its type',
        415,
        [path, post('model=demo', { 'content-type': 'application/x-www-form-urlencoded' })],
      ],
      [
        'a body that is not compressed as it says',
        400,
        [path, post('x', { 'content-encoding': 'gzip' })],
      ],
      [
        'a body compressed in an unknown way',
        415,
        [path, post('x', { 'content-encoding': 'compress' })],
      ],
      [
        'a model named like a property of every object',
        404,
        asking(protocol, { model: '__proto__' }),
      ],
    ])('%s gets an error in its dialect: %i', async (_, status, received) => {
      const ask = await start()
      const response = await ask(...received)
      expect(response.status).toBe(status)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(response.headers.get('x-request-id')).toMatch(/^req_/)
      expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
      const text = await response.text()
      expect(JSON.parse(text)).toMatchObject(shapes[protocol])
      expect(text).not.toMatch(/\.ts:|node_modules|at Object/)
    })

    test('returns 413 for a body over the limit, with or without a declared length', async () => {
      const ask = await start({
        auth: 'none',
        channels: [{ name: 'demo', embedded: 'demo' }],
        defaults: { bodyLimitBytes: 200 },
      })
      const large = JSON.stringify({
        ...requests[protocol],
        ...(inBody && { model: 'demo' }),
        padding: 'x'.repeat(1_000),
      })
      const declared = await ask(path, post(large))
      expect(declared.status).toBe(413)
      expect(await declared.json()).toMatchObject(shapes[protocol])
      const stream = new ReadableStream({
        start(controller) {
          for (const part of large.match(/.{1,100}/gs) ?? [])
            controller.enqueue(new TextEncoder().encode(part))
          controller.close()
        },
      })
      const undeclared = await ask(path, {
        ...post(''),
        body: stream,
        duplex: 'half',
      } as RequestInit)
      expect(undeclared.status).toBe(413)
    })
  })

  test('returns the path of a fault in a body', async () => {
    const ask = await start()
    const response = await ask(
      '/v1/chat/completions',
      post({ model: 'demo', messages: [{ role: 'user', content: 7 }] }),
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param: 'messages[0].content' } })
  })

  test('a body of another protocol is refused with the path that it belongs to', async () => {
    const { url } = await upstream(sendJson(200, {}))
    const ask = await start(one(url, 'messages'))
    const response = await ask(
      '/v1/chat/completions',
      post({ model: 'm', input: 'Hi', instructions: 'Be brief', store: false }),
    )
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('/v1/responses')
  })

  test.each(pairs)(
    'a client of %s gets the rate limit of %s, with its hint',
    async (client, served) => {
      const text = JSON.stringify(errors[served]('Slow down'))
      const { url } = await upstream(
        sendJson(429, text, {
          'retry-after': '7',
          'x-ratelimit-remaining-requests': '0',
          'set-cookie': 'a=b',
        }),
      )
      const ask = await start(one(url, served))
      for (const stream of [false, true]) {
        const response = await ask(...asking(client, { stream }))
        expect(response.status).toBe(429)
        expect(response.headers.get('retry-after')).toBe('7')
        expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('0')
        expect(response.headers.get('set-cookie')).toBeNull()
        const body = await response.text()
        expect(JSON.parse(body)).toMatchObject(shapes[client])
        expect(body).toContain('Slow down')
        if (client === served) expect(body).toBe(text)
        else if (client === 'generate-content')
          expect(JSON.parse(body).error).toMatchObject({
            code: 429,
            status: 'RESOURCE_EXHAUSTED',
            details: expect.arrayContaining([retryInfo('7s')]),
          })
      }
    },
  )

  test.each(protocols)('%s: returns 502 for an unreachable upstream', async protocol => {
    const ask = await start(one('http://127.0.0.1:9', 'chat-completions'))
    for (const stream of [false, true]) {
      const response = await ask(...asking(protocol, { stream }))
      expect(response.status).toBe(502)
      expect(await response.json()).toMatchObject(shapes[protocol])
    }
  })

  test.each<[number, number]>([
    [200, 502],
    [403, 403],
    [503, 503],
  ])(
    'returns a web page with status %i as status %i, without its content',
    async (status, expected) => {
      const { url } = await upstream(response => {
        response.writeHead(status, { 'content-type': 'text/html' })
        response.end('<html><script>secret()</script></html>')
      })
      const ask = await start(one(url, 'messages'))
      for (const client of protocols) {
        const response = await ask(...asking(client))
        expect(response.status).toBe(expected)
        const text = await response.text()
        expect(JSON.parse(text)).toMatchObject(shapes[client])
        expect(text).not.toContain('secret')
      }
    },
  )

  test.each([600, 999])('returns 502 for the unknown status %i', async status => {
    const statuses = async (served: Protocol, reported: number) => {
      const { url } = await upstream(sendJson(reported, { error: { message: 'Odd' } }))
      const ask = await start(one(url, served))
      return Promise.all(protocols.map(async client => (await ask(...asking(client))).status))
    }
    for (const served of protocols)
      expect(await statuses(served, status)).toEqual(await statuses(served, 502))
  })

  test('releases the sockets of unread HTML error pages', async () => {
    const seen = await upstream(response => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.write('<html>')
    })
    const ask = await start(one(seen.url, 'messages'))
    for (const stream of [false, true, false])
      expect((await ask(paths.messages, post({ ...requests.messages, stream }))).status).toBe(502)
    await until(() => [...seen.sockets].every(({ destroyed }) => destroyed))
  })

  test('keeps the text of a plain text error', async () => {
    const { url } = await upstream(response => {
      response.writeHead(413, { 'content-type': 'text/plain' })
      response.end('Payload much too large')
    })
    const ask = await start(one(url, 'messages'))
    for (const client of protocols) {
      const response = await ask(...asking(client))
      expect(response.status).toBe(413)
      const text = await response.text()
      expect(JSON.parse(text)).toMatchObject(shapes[client])
      expect(text).toContain('much too large')
    }
  })

  test('does not follow redirects, which would leak the key', async () => {
    let visited = false
    const elsewhere = await listen((_, response) => {
      visited = true
      response.end('{}')
    })
    const { url } = await upstream(response => {
      response.writeHead(307, { location: elsewhere })
      response.end()
    })
    const ask = await start(one(url, 'chat-completions'))
    expect((await ask(paths['chat-completions'], post(requests['chat-completions']))).status).toBe(
      502,
    )
    expect(visited).toBe(false)
  })

  test.each(pairs)(
    'an error that comes as an event is handled like any other: %s client, %s upstream',
    async (client, served) => {
      const error = wires[served].encodeError({
        status: 429,
        kind: 'rate_limit',
        message: 'Slow down',
      }).wire.body
      const event = `event: ping\ndata: {"type":"ping"}\n\nid: 1\nevent: error\n:HTTP_STATUS/429\ndata: ${JSON.stringify(error)}\n\n`
      const [plain, streamed] = [
        await upstream(sendJson(429, error)),
        await upstream(response =>
          response.writeHead(429, { 'content-type': 'text/event-stream' }).end(event),
        ),
      ]
      const reported = async (url: string) => {
        const ask = await start(one(url, served))
        const response = await ask(...asking(client, { stream: true }))
        return [response.status, (await response.text()).replaceAll(/req_\w+/g, 'req_')]
      }
      expect(await reported(streamed.url)).toEqual(await reported(plain.url))
    },
  )

  test('returns 504 when the upstream does not respond in time', async () => {
    const seen = await upstream(() => {})
    const ask = await start(one(seen.url, 'messages', {}, {}, { timeouts: { firstByteMs: 50 } }))
    const response = await ask(paths.messages, post(requests.messages))
    expect(response.status).toBe(504)
    expect(await response.json()).toMatchObject(shapes.messages)
  })

  test('returns 504 when the upstream stops in the middle of its JSON', async () => {
    const { url } = await upstream(response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"id":')
    })
    const ask = await start(one(url, 'messages', {}, {}, { timeouts: { idleMs: 50 } }))
    expect((await ask(paths.messages, post(requests.messages))).status).toBe(504)
  })

  test.each([500, 404])(
    'keeps the status when the upstream stops in the middle of its error: %i',
    async status => {
      const seen = await upstream(response => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.write('{"error":')
      })
      const ask = await start(
        one(seen.url, 'responses', {}, {}, { timeouts: { firstByteMs: 0, idleMs: 60 } }),
      )
      expect((await ask(paths.responses, post(requests.responses))).status).toBe(status)
      expect((await ask('/v1/responses/resp_1')).status).toBe(status)
      await until(() => seen.aborted === 2)
    },
  )

  test.each(pairs)(
    'a response that is nested without end is invalid, and an error keeps its status: %s client, %s upstream',
    async (client, served) => {
      const deep = '['.repeat(30_000) + ']'.repeat(30_000)
      const response = JSON.stringify(responses[served]).replace(
        '{',
        `{"candidates":${deep},"error":${deep},"x":${deep},`,
      )
      const seen = await upstream(
        sendJson(429, deep, { 'retry-after': '7' }),
        sendJson(200, response),
      )
      const ask = await start(one(seen.url, served))
      const limited = await ask(...asking(client))
      expect(limited.status).toBe(429)
      expect(limited.headers.get('retry-after')).toBe('7')
      const broken = await ask(...asking(client))
      expect(broken.status).toBe(502)
      expect(strictOf(client).checkError(await broken.json())).toEqual([])
    },
  )

  test('returns 502 for a malformed response', async () => {
    const { url } = await upstream(sendJson(200, { hello: 'world' }))
    const ask = await start(one(url, 'chat-completions'))
    const response = await ask(paths.messages, post(requests.messages))
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject(shapes.messages)
  })

  test.each(pairs)(
    'an error with status 200 gets the status of its body: %s client, %s upstream',
    async (client, served) => {
      const { url } = await upstream(sendJson(200, errors[served]('No more credit')))
      const ask = await start(one(url, served))
      for (const stream of [false, true]) {
        const response = await ask(...asking(client, { stream }))
        expect(response.status).toBe(429)
        const text = await response.text()
        expect(JSON.parse(text)).toMatchObject(shapes[client])
        expect(text).toContain('No more credit')
      }
    },
  )

  test('returns 502 for an error with status 200 and no status in its body', async () => {
    const { url } = await upstream(sendJson(200, { error: { message: 'Odd' } }))
    for (const served of protocols)
      expect((await (await start(one(url, served)))(...asking('messages'))).status).toBe(502)
  })

  test('redacts the key of the channel in upstream errors', async () => {
    const { url } = await upstream(
      sendJson(401, {
        error: {
          message: 'bad key upstream-secret',
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_api_key',
        },
      }),
    )
    const ask = await start(one(url, 'chat-completions'))
    for (const client of protocols) {
      const response = await ask(...asking(client))
      expect(response.status).toBe(502)
      expect(await response.text()).not.toContain('upstream-secret')
    }
  })

  test('threads on the server are refused with the code that makes clients continue without', async () => {
    const { url } = await upstream(sendJson(200, {}))
    const ask = await start(one(url, 'chat-completions'))
    const response = await ask(
      paths.messages,
      post({ ...requests.messages, thread: { type: 'create' } }),
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { details: { error_code: 'thread_unsupported_request' } },
    })
  })

  test.each<[Protocol, object, string]>([
    [
      'chat-completions',
      {
        model: 'demo',
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'user', content: 7 },
        ],
      },
      'messages[1].content',
    ],
    [
      'responses',
      { model: 'demo', input: [{ role: 'user', content: [{ type: 'input_text', text: 7 }] }] },
      'input[0].content[0].text',
    ],
    [
      'responses',
      { model: 'demo', input: 'Hi', previous_response_id: 'resp_1' },
      'previous_response_id',
    ],
  ])('the place of a fault is written as clients of %s write it', async (protocol, body, param) => {
    const ask = await start()
    const response = await ask(paths[protocol], post(body))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param } })
  })

  test('generate-content has the path of a fault in its details', async () => {
    const ask = await start()
    const response = await ask(
      pathOf('generate-content', { model: 'demo' }),
      post({ contents: [{ role: 'user', parts: [{ text: 7 }] }] }),
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        details: expect.arrayContaining([
          {
            '@type': 'type.googleapis.com/google.rpc.BadRequest',
            fieldViolations: [
              { field: 'contents[0].parts[0].text', description: expect.any(String) },
            ],
          },
        ]),
      },
    })
  })

  test('messages has no field for the place of a fault, so its message names it', async () => {
    const ask = await start()
    const response = await ask(
      paths.messages,
      post({ model: 'demo', max_tokens: 9, messages: [{ role: 'user', content: 7 }] }),
    )
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('/messages/0/content')
  })

  test.each([
    [
      'messages',
      { type: 'function', function: { name: 'f', parameters: 7 } },
      'tools[0].function.parameters',
    ],
    ['responses', { type: 'custom', custom: 7 }, 'tools[0].custom'],
  ] as const)(
    'toward %s the place of a fault is still written as the client wrote it',
    async (served, tool, param) => {
      const ask = await start(one('http://127.0.0.1:9', served))
      const response = await ask(...asking('chat-completions', { tools: [tool] }))
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: { param } })
    },
  )

  test.each<[Protocol, Protocol, lost: object, path: string]>([
    ['chat-completions', 'messages', { seed: 7 }, '/seed'],
    ['responses', 'messages', { prompt_cache_key: 'k' }, '/prompt_cache_key'],
    ['messages', 'responses', { top_k: 7 }, '/top_k'],
    ['generate-content', 'messages', { generationConfig: { seed: 7 } }, '/generationConfig/seed'],
  ])(
    'strict refuses what a request of %s to %s would drop, with notes and a status that clients do not retry',
    async (client, served, lost, path) => {
      const seen = await upstream(sendJson(200, {}))
      const ask = await start(one(seen.url, served, { defaults: { strict: true } }))
      const response = await ask(...asking(client, { ...lost }))
      expect(response.status).toBe(400)
      expect(response.headers.get('wireglot-notes')).toContain(path)
      expect(seen.calls).toEqual([])
    },
  )
})
