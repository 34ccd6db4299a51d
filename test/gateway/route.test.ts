import { describe, expect, test } from 'vitest'
import { isClaimed, matchPath } from '../../src/gateway/route.ts'
import { hostsOf, post, requests } from './support.ts'

test.each([
  ['POST', '/v1/chat/completions'],
  ['GET', '/v1/chat/completions'],
  ['POST', '/v1/responses'],
  ['POST', '/v1/responses/input_tokens'],
  ['POST', '/v1/messages'],
  ['POST', '/v1/messages/count_tokens'],
  ['POST', '//v1/messages'],
  ['POST', '/v1/messages/'],
  ['GET', '/v1/models'],
  ['DELETE', '/v1/models'],
  ['GET', '/v1/models/some%2Fmodel'],
  ['POST', '/v1beta/models/some/model:generateContent'],
  ['GET', '/v1/responses/resp_1'],
  ['DELETE', '/v1/responses/resp_1'],
  ['POST', '/v1/responses/resp_1'],
  ['GET', '/v1/responses/resp_1/input_items'],
  ['POST', '/v1/responses/resp_1/cancel'],
  ['POST', '/v1/responses/compact'],
])('claims %s %s', (method, path) => {
  expect(isClaimed(matchPath(path), method, { mounted: false })).toBe(true)
})

test.each([
  ['POST', '/'],
  ['GET', '/'],
  ['HEAD', '/'],
  ['GET', '/client-config'],
  ['GET', '/messages'],
  ['POST', '/messages'],
  ['GET', '/responses'],
  ['POST', '/responses'],
  ['GET', '/responses/resp_1'],
  ['POST', '/chat/completions'],
  ['POST', '/v1/v1/messages'],
  ['POST', '/v1/messages/v1/messages'],
  ['GET', '/v1/models/extra/thing'],
  ['GET', '/playground/state'],
  ['GET', '/models'],
  ['GET', '/index.html'],
  ['GET', '/v1'],
  ['GET', '/v1/files'],
  ['GET', '/v1/responses/resp_1/other'],
  ['POST', '/v1/embeddings'],
  ['GET', '/api/v1/models'],
  ['GET', '/favicon.ico'],
  ['GET', '/__proto__'],
])('leaves %s %s to the application', (method, path) => {
  expect(isClaimed(matchPath(path), method, { mounted: false })).toBe(false)
})

test.each([
  ['/', { mounted: true }, false],
  ['/client-config', { mounted: false }, false],
  ['/client-config', { mounted: true }, true],
])('GET %s with %o: claimed %s', (path, where, claimed) => {
  expect(isClaimed(matchPath(path), 'GET', where)).toBe(claimed)
})

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(['/chat/completions', '/v1/v1/responses'])(
    '%s is not reported as a missing model',
    async path => {
      const ask = await start()
      expect(await (await ask(path, post(requests['chat-completions']))).json()).toMatchObject({
        error: { type: 'invalid_request_error', code: 'unknown_url' },
      })
    },
  )

  test.each([
    ['/v1/v1/chat/completions', /exactly one \/v1/, '/v1/chat/completions'],
    ['/v1/v1/messages', /exactly one \/v1/, '/v1/messages'],
    ['/v1/v1/v1/responses', /exactly one \/v1/, '/v1/responses'],
    [
      '/v1/v1beta/models/m:generateContent',
      /exactly one \/v1beta/,
      '/v1beta/models/m:generateContent',
    ],
    ['/chat/completions', /base address ends in \/v1/, '/v1/chat/completions'],
    ['/messages/count_tokens', /base address ends in \/v1/, '/v1/messages/count_tokens'],
    ['/v1/messages/v1/messages', /full endpoint/, '/v1/messages'],
    ['/v1/chat/completions/chat/completions', /full endpoint/, '/v1/chat/completions'],
    ['/v1/chat/completions/models', /full endpoint/, '/v1/models'],
    ['/v1/v1/responses/resp_1', /exactly one \/v1/, '/v1/responses/resp_1'],
    ['/responses/resp_1', /base address ends in \/v1/, '/v1/responses/resp_1'],
    ['/v1/v1/models', /exactly one \/v1/, '/v1/models'],
    ['/models', /base address ends in \/v1/, '/v1/models'],
  ])(
    '%s is not found, and the error names the rule and the right URL',
    async (path, rule, right) => {
      const ask = await start()
      const response = await ask(
        path,
        path.endsWith('models') ? {} : post(requests['chat-completions']),
      )
      expect(response.status).toBe(404)
      const text = await response.text()
      expect(text).toMatch(rule)
      expect(text).toMatch(new RegExp(`http://[\\w.:]+${right}["\\s]`))
    },
  )

  test.each([
    ['/llm/v1/messages', '/llm', '/v1/messages', { type: 'error' }],
    ['/api/ai/v1/chat/completions', '/api/ai', '/v1/chat/completions', {}],
    ['/llm/v1/responses/resp_1', '/llm', '/v1/responses/resp_1', {}],
    ['/llm/v1/models', '/llm', '/v1/models', {}],
    [
      '/llm/v1beta/models/m:generateContent',
      '/llm',
      '/v1beta/models/m:generateContent',
      { error: { status: 'NOT_FOUND' } },
    ],
  ])(
    '%s is not found, and the error says how to mount the gateway there',
    async (path, prefix, endpoint, shape) => {
      const ask = await start()
      const response = await ask(path, post(requests.messages))
      expect(response.status).toBe(404)
      const body: unknown = await response.json()
      expect(body).toMatchObject(shape)
      const text = JSON.stringify(body)
      expect(text).toContain(`This path ends in an endpoint`)
      expect(text).toMatch(new RegExp(`http://[\\w.:]+${endpoint},`))
      expect(text).toContain(`basePath: '${prefix}'`)
      expect(text).toContain(`app.use('${prefix}', …)`)
    },
  )

  test('a long path is not searched for an endpoint', async () => {
    const ask = await start()
    const started = performance.now()
    const response = await ask(`${'/a'.repeat(5000)}/v1/messages`, post(requests.messages))
    expect(response.status).toBe(404)
    expect(performance.now() - started).toBeLessThan(5000)
  })

  test.each(['/', '/v1', '/v1/completions'])(
    'a POST to %s is not found, and the error names the endpoints',
    async path => {
      const ask = await start()
      const response = await ask(path, post(requests['chat-completions']))
      expect(response.status).toBe(404)
      for (const endpoint of [
        '/v1/chat/completions',
        '/v1/responses',
        '/v1/messages',
        '/v1/models',
      ])
        expect(await response.clone().text()).toContain(endpoint)
    },
  )

  test.each(['embedContent', 'batchEmbedContents', 'predict'])(
    'a call of a model that is not served is not found, and the error names the served ones: %s',
    async verb => {
      const ask = await start()
      const response = await ask(`/v1beta/models/some-model:${verb}`, post({}))
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({
        error: {
          code: 404,
          status: 'NOT_FOUND',
          message: expect.stringContaining(':generateContent'),
        },
      })
    },
  )

  test.each<[method: string, path: string, headers: Record<string, string>, shape: object]>([
    ['POST', '/v1/messages/batches', {}, { type: 'error', error: { type: 'not_found_error' } }],
    [
      'GET',
      '/v1/files',
      { 'anthropic-version': '2023-06-01' },
      { type: 'error', error: { type: 'not_found_error' } },
    ],
    [
      'GET',
      '/v1/skills',
      { 'x-api-key': 'k' },
      { type: 'error', error: { type: 'not_found_error' } },
    ],
    ['POST', '/v1beta/cachedContents', {}, { error: { code: 404, status: 'NOT_FOUND' } }],
    ['POST', '/upload/v1beta/files', {}, { error: { code: 404, status: 'NOT_FOUND' } }],
    ['GET', '/v1/files', {}, { error: { type: 'invalid_request_error', code: 'unknown_url' } }],
    [
      'POST',
      '/v1/chat/completions/x/y',
      {},
      { error: { type: 'invalid_request_error', code: 'unknown_url' } },
    ],
    ['GET', '/favicon.ico', {}, { error: { type: 'invalid_request_error', code: 'unknown_url' } }],
  ])(
    'responds to %s %s in the dialect of the caller when the path does not exist: %j',
    async (method, path, headers, shape) => {
      const ask = await start()
      const response = await ask(path, { method, headers })
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject(shape)
    },
  )

  test('a broken path gets an error in the dialect of its protocol', async () => {
    const ask = await start()
    expect(await (await ask('/v1/v1/messages', post({}))).json()).toMatchObject({
      type: 'error',
      error: { type: 'not_found_error' },
    })
    expect(await (await ask('/v1/v1/chat/completions', post({}))).json()).toMatchObject({
      error: { type: expect.any(String), code: expect.anything() },
    })
  })

  test.each([
    ['GET', '/v1/chat/completions', 'POST'],
    ['DELETE', '/v1/messages', 'POST'],
    ['PUT', '/v1/responses', 'POST'],
    ['POST', '/v1/models', 'GET, HEAD'],
    ['POST', '/v1/responses/resp_1', 'GET, DELETE'],
    ['DELETE', '/v1/responses/resp_1/input_items', 'GET'],
  ])('%s %s is the wrong method', async (method, path, allow) => {
    const ask = await start()
    const response = await ask(path, { method })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe(allow)
    expect(await response.json()).toHaveProperty('error')
  })

  test('probes of the root get a response', async () => {
    const ask = await start()
    expect((await ask('/', { method: 'HEAD' })).status).toBe(200)
    const response = await ask('/')
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('wireglot')
  })

  test('anything else is 404 without next', async () => {
    const ask = await start()
    expect((await ask('/v1/embeddings', post({}))).status).toBe(404)
  })

  test('a query does not keep a path from being found', async () => {
    const ask = await start()
    expect(
      (await ask('/v1/messages?beta=true', post({ ...requests.messages, model: 'demo' }))).status,
    ).toBe(200)
  })

  test.each<[string, Record<string, string>, object]>([
    [
      'chat, when nothing says otherwise',
      {},
      { object: 'list', data: [{ id: 'demo', object: 'model' }] },
    ],
    ['chat, with a bearer key', { authorization: 'Bearer k' }, { object: 'list' }],
    [
      'messages, with its version header',
      { 'anthropic-version': '2023-06-01' },
      { data: [{ id: 'demo', type: 'model', display_name: 'Demo' }], has_more: false },
    ],
    ['messages, with its key header', { 'x-api-key': 'k' }, { data: [{ type: 'model' }] }],
  ])('the listing has the shape of %s', async (_, headers, shape) => {
    const ask = await start()
    expect(await (await ask('/v1/models', { headers })).json()).toMatchObject(shape)
    expect((await ask('/v1/models', { method: 'HEAD', headers })).status).toBe(200)
  })

  test('one model is described, an unknown one is not found', async () => {
    const ask = await start()
    expect(await (await ask('/v1/models/demo')).json()).toMatchObject({ id: 'demo' })
    const response = await ask('/v1/models/other')
    expect(response.status).toBe(404)
    expect(await response.json()).toHaveProperty('error')
  })
})
