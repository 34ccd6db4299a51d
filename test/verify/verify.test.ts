import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { protocolNames } from '../../src/protocols/index.ts'
import {
  type Check,
  checkText,
  listModels,
  type Verification,
  type VerifyOptions,
  verify,
} from '../../src/verify/index.ts'
import { listen, mounted, responses, streams } from '../gateway/support.ts'

type ReceivedRequest = { path: string; stream: boolean; model: string; tools: boolean }
type ModelResponse = { status?: number; type?: string; body: unknown; cut?: boolean }

/** The gateway with the demo model under a name. */
async function started(config: Partial<GatewayConfig>, model = 'm'): Promise<string> {
  const handler = mounted({
    channels: [{ name: 'demo', embedded: 'demo' }],
    models: [{ id: model, channels: [{ name: 'demo' }] }],
    ...config,
  })
  return listen(handler)
}

const keys = [{ name: 'a', key: 'client-secret' }]
const listing = { object: 'list', data: [{ id: 'm', object: 'model', created: 1, owned_by: 'x' }] }
const refusal = {
  error: {
    message: 'there is no such model',
    type: 'invalid_request_error',
    code: 'model_not_found',
    param: 'model',
  },
}

/** A provider of chat-completions that says hello; `broken` says what it does otherwise. */
async function provider(
  broken: (received: ReceivedRequest) => ModelResponse | undefined = () => undefined,
): Promise<string> {
  return listen(async (request: IncomingMessage, response: ServerResponse) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const body = (text ? JSON.parse(text) : {}) as {
      stream?: boolean
      model?: string
      tools?: unknown
    }
    const received = {
      path: request.url ?? '',
      stream: body.stream === true,
      model: body.model ?? '',
      tools: body.tools !== undefined,
    }
    const {
      status = 200,
      type = 'application/json',
      body: sent,
      cut = false,
    } = broken(received) ?? working(received)
    response.writeHead(status, { 'content-type': type })
    response.write(typeof sent === 'string' ? sent : JSON.stringify(sent))
    if (cut) setTimeout(() => response.destroy(), 20)
    else response.end()
  })
}

function working({ path, stream, model }: ReceivedRequest): ModelResponse {
  if (path === '/v1/models') return { body: listing }
  if (path !== '/v1/chat/completions')
    return { status: 404, body: { error: { message: 'Not Found' } } }
  if (model !== 'm') return { status: 404, body: refusal }
  if (!stream) return { body: responses['chat-completions'] }
  const counts = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [],
    usage: responses['chat-completions']['usage'],
  }
  const [done = '', ...frames] = [...streams['chat-completions']].reverse()
  return {
    type: 'text/event-stream',
    body: [...frames.reverse(), `data: ${JSON.stringify(counts)}\n\n`, done].join(''),
  }
}

const run = (base: string, more: Partial<VerifyOptions> = {}) =>
  verify({ base, model: 'm', timeoutMs: 20_000, ...more })
const found = ({ checks }: Verification, name: string, scope?: Check['scope']) =>
  checks.find(check => check.name === name && (scope === undefined || check.scope === scope))
const failed = ({ checks }: Verification) =>
  checks.filter(({ result }) => result === 'failed').map(({ scope, name }) => `${scope}: ${name}`)

describe('the gateway', () => {
  test('passes every check in every protocol, streamed and not', async () => {
    const url = await started({ keys })
    const reported: Check[] = []
    const result = await run(`${url}/v1`, {
      key: 'client-secret',
      onCheck: check => reported.push(check),
    })
    expect(result.checks.filter(({ result: one }) => one !== 'passed')).toEqual([])
    expect(result.ok).toBe(true)
    expect(reported).toEqual(result.checks)
    for (const scope of protocolNames)
      expect(result.checks.filter(check => check.scope === scope).map(({ name }) => name)).toEqual([
        'complete response',
        'complete response: usage',
        'streamed response',
        'streamed response: usage',
        'tool call',
        'streamed tool call',
        'an error',
      ])
  })

  test('with a wrong key says that the API was reached, and does not repeat the key', async () => {
    const result = await run(await started({ keys }), { key: 'another-secret' })
    expect(found(result, 'the key')).toMatchObject({
      result: 'failed',
      fix: expect.stringContaining('reached the API'),
    })
    expect(JSON.stringify(result)).not.toContain('another-secret')
  })

  test.each([
    ['wg-0123456789…', '“…” at position 14'],
    ['clé', '“é” at position 3'],
    ['key\u200b', 'U+200B at position 4'],
    ['two\nlines', 'U+000A at position 4'],
    ['😀key', '“😀” at position 1'],
  ])('with the key %j sends nothing, and names the character', async (key, place) => {
    const url = await started({ keys })
    const message = `the key contains the character ${place}; keys are ASCII`
    const result = await run(url, { key })
    expect(result).toMatchObject({
      ok: false,
      checks: [{ name: 'the address' }, { name: 'the key' }],
    })
    expect(found(result, 'the key')).toMatchObject({
      result: 'failed',
      detail: message,
      fix: 'Copy it again.',
    })
    await expect(listModels({ base: url, key })).rejects.toThrow(`${message}. Copy it again.`)
  })

  test('reports a model that it does not have', async () => {
    const result = await run(await started({ auth: 'none' }, 'other'))
    expect(found(result, 'the model is listed')).toMatchObject({
      result: 'warned',
      detail: expect.stringContaining('other'),
    })
    expect(found(result, 'complete response', 'messages')).toMatchObject({
      result: 'failed',
      fix: expect.stringContaining('no such model'),
    })
  })
})

describe('a provider of one protocol', () => {
  test('passes although it does not offer everything', async () => {
    const result = await run(await provider())
    expect(failed(result)).toEqual([])
    expect(result.ok).toBe(true)
    expect(found(result, 'streamed response: usage')).toMatchObject({ result: 'passed' })
    expect(found(result, 'offered', 'messages')).toMatchObject({ result: 'skipped' })
    expect(found(result, 'tool call')).toMatchObject({ result: 'warned' })
  })

  test('fails when another protocol is requested', async () => {
    const result = await run(await provider(), { protocol: 'messages' })
    expect(failed(result)).toEqual(['messages: complete response'])
  })

  test('is called under its own version path', async () => {
    const base = await provider(({ path, ...received }) =>
      working({ ...received, path: path.replace('/api/v4/', '/v1/') }),
    )
    expect((await run(`${base}/api/v4`)).ok).toBe(true)
  })
})

test.each<[string, string, () => object]>([
  [
    'reads its key as the Messages API does',
    'x-api-key',
    () => ({
      data: [{ type: 'model', id: 'm', display_name: 'M', created_at: '1970-01-01T00:00:00Z' }],
      has_more: false,
    }),
  ],
  [
    'reads its key as the Gemini API does',
    'x-goog-api-key',
    () => ({ models: [{ name: 'models/m', displayName: 'M' }] }),
  ],
])(
  'a provider that %s is listed and its key accepted, and a wrong one is seen to be refused',
  async (_, header, listingOf) => {
    const shown: (string | undefined)[] = []
    const base = await listen((request, response) => {
      const key = String(request.headers[header] ?? '')
      shown.push(request.headers[header] === undefined ? undefined : key)
      const known = key === 'client-secret'
      const found = known && request.url === '/v1/models'
      const refusal = known ? 404 : 401
      response.writeHead(found ? 200 : refusal, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify(
          found ? listingOf() : { error: { message: known ? 'Not Found' : 'no key' } },
        ),
      )
    })
    const result = await run(base, { key: 'client-secret' })
    expect(found(result, 'the key')).toMatchObject({ result: 'passed' })
    expect(found(result, 'the model is listed')).toMatchObject({ result: 'passed' })
    expect(found(result, 'a wrong key is refused')).toMatchObject({ result: 'passed' })
    expect(shown).toContain('wireglot-verify-is-not-a-key')
    expect(await listModels({ base, key: 'client-secret' })).toEqual(['m'])
  },
)

test.each<[string, string, string, (id: string) => object]>([
  ['Messages', 'x-api-key', 'limit', id => ({ data: [{ type: 'model', id }], has_more: true })],
  [
    'Gemini',
    'x-goog-api-key',
    'pageSize',
    id => ({ models: [{ name: `models/${id}` }], nextPageToken: 'n' }),
  ],
])(
  'the pages of a listing as the %s API has them are requested at once',
  async (_, header, size, page) => {
    const base = await listen((request, response) => {
      const isAll = new URL(request.url ?? '', 'http://local').searchParams.get(size) === '1000'
      const statusOfPath = /\/models(?:\?|$)/.test(request.url ?? '') ? 200 : 404
      const status = request.headers[header] === 'client-secret' ? statusOfPath : 401
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify(status === 200 ? page(isAll ? 'm' : 'other') : { error: { message: 'no' } }),
      )
    })
    expect(found(await run(base, { key: 'client-secret' }), 'the model is listed')).toMatchObject({
      result: 'passed',
    })
    expect(await listModels({ base, key: 'client-secret' })).toEqual(['m'])
  },
)

const html = '<!doctype html><title>Console</title>'
const whole = responses['chat-completions']
const callOf = (args: string) => ({
  ...whole,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        refusal: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: args } },
        ],
      },
      finish_reason: 'tool_calls',
      logprobs: null,
    },
  ],
})
const onlyWhole = (body: unknown) => (received: ReceivedRequest) =>
  received.path.endsWith('completions') &&
  !received.stream &&
  !received.tools &&
  received.model === 'm'
    ? { body }
    : undefined
const onlyStream = (response: ModelResponse) => (received: ReceivedRequest) =>
  received.stream && !received.tools ? response : undefined

describe('a server that', () => {
  test.each<[string, (received: ReceivedRequest) => ModelResponse | undefined, string, RegExp]>([
    [
      'is a console',
      () => ({ type: 'text/html', body: html }),
      'JSON, not a page',
      /address of the API/,
    ],
    [
      'returns errors with status 200',
      ({ path }) => (path === '/v1/models' ? { body: refusal } : undefined),
      'status and body agree',
      /./,
    ],
    [
      'is limited',
      ({ path }) =>
        path === '/v1/models'
          ? undefined
          : { status: 429, body: { error: { message: 'slow down' } } },
      'complete response',
      /retry-after/,
    ],
    [
      'fails',
      ({ path }) =>
        path === '/v1/models' ? undefined : { status: 500, body: { error: { message: 'oops' } } },
      'complete response',
      /look at its log/,
    ],
    [
      'returns the body of another protocol',
      onlyWhole(responses.messages),
      'complete response',
      /another protocol|as the protocol says/,
    ],
    [
      'forgets a field that clients rely on',
      onlyWhole({
        ...whole,
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' } }],
      }),
      'complete response',
      /fix these fields|another protocol/,
    ],
    [
      'says nothing',
      onlyWhole({
        ...whole,
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: '', refusal: null },
            finish_reason: 'stop',
            logprobs: null,
          },
        ],
      }),
      'complete response',
      /drops the text/,
    ],
    [
      'does not count',
      onlyWhole({ ...whole, usage: undefined }),
      'complete response: usage',
      /let the server count/,
    ],
    [
      'does not stream',
      onlyStream({ body: whole }),
      'streamed response',
      /does not stream this model/,
    ],
    [
      'cuts its streams',
      onlyStream({
        type: 'text/event-stream',
        body: streams['chat-completions'].slice(0, 3).join(''),
      }),
      'streamed response',
      /timeouts and buffers/,
    ],
    [
      'breaks connections',
      onlyStream({
        type: 'text/event-stream',
        body: streams['chat-completions'].slice(0, 3).join(''),
        cut: true,
      }),
      'streamed response',
      /timeouts and buffers/,
    ],
    [
      'breaks its frames',
      onlyStream({
        type: 'text/event-stream',
        body: streams['chat-completions'].join('').replace('"chatcmpl-1"', '"chat'),
      }),
      'streamed response',
      /./,
    ],
    [
      'fails in mid stream',
      onlyStream({
        type: 'text/event-stream',
        body: `${streams['chat-completions'][0]}data: ${JSON.stringify(refusal)}\n\n`,
      }),
      'streamed response',
      /after it had begun/,
    ],
    [
      'writes calls that are no JSON',
      ({ tools, stream }) => (tools && !stream ? { body: callOf('{"city": ') } : undefined),
      'tool call',
      /parser of tool calls|as the protocol says/,
    ],
    [
      'sends errors as a page',
      ({ model }) =>
        model !== 'm' && model !== '' ? { status: 404, type: 'text/html', body: html } : undefined,
      'an error',
      /form of the protocol/,
    ],
  ])('%s fails at its point with a fix', async (_, broken, name, fix) => {
    const result = await run(await provider(broken))
    expect(result.ok).toBe(false)
    expect(found(result, name), result.checks.map(checkText).join('\n')).toMatchObject({
      result: 'failed',
      fix: expect.stringMatching(fix),
    })
    for (const check of result.checks)
      if (check.result === 'failed') expect(check.fix).toMatch(/\w/)
  })

  test('leaves out fields that may be null is warned, as the official SDKs read it', async () => {
    const message = { role: 'assistant', content: 'Hi' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const result = await run(await provider(onlyWhole({ ...whole, choices })))
    expect(found(result, 'complete response: fields')).toMatchObject({
      result: 'warned',
      detail: expect.stringContaining('/choices/0/message/refusal'),
    })
    expect(found(result, 'complete response')).toMatchObject({ result: 'passed' })
    expect(result.ok).toBe(true)
  })

  test.each([
    [undefined, /^No key was sent, .*--key-env/],
    ['not-the-right-one', /key was not accepted/],
  ])('requires a key reports a wrong or missing one; the key: %s', async (key, fix) => {
    const base = await provider(() => ({ status: 401, body: { error: { message: 'no' } } }))
    expect(found(await run(base, key === undefined ? {} : { key }), 'the key')).toMatchObject({
      result: 'failed',
      fix: expect.stringMatching(fix),
    })
  })

  test('sends control characters has them removed from the text', () => {
    const text = checkText({
      scope: 'messages',
      name: 'an error',
      result: 'failed',
      detail: 'it sent \u001b[2Jgone\r\n',
      fix: 'ask \u009b31m',
    })
    expect(text.split('\n')).toEqual([
      expect.stringContaining('it sent  [2Jgone'),
      '      → ask  31m',
    ])
  })

  test('does not listen is reported as unreachable', async () => {
    const result = await run('http://127.0.0.1:9')
    expect(found(result, 'the service responds')).toMatchObject({ result: 'failed' })
    expect(result.ok).toBe(false)
  })

  test('is no address at all is reported without a request', async () => {
    const result = await run('gateway.example', {
      fetch: () => Promise.reject(new Error('no request needs it')),
    })
    expect(result.checks).toMatchObject([
      { scope: 'address', result: 'failed', fix: expect.stringContaining('https://') },
    ])
  })

  test('redirects is reported with the address that responded', async () => {
    const right = await provider()
    const base = await listen((request, response) => {
      response.writeHead(302, { location: right + request.url })
      response.end()
    })
    expect(found(await run(base), 'the final URL')).toMatchObject({
      result: 'failed',
      fix: expect.stringContaining(`${right}/v1/models`),
    })
  })

  test('checks a gateway completely when its address is a full endpoint', async () => {
    const result = await run(`${await provider()}/v1/chat/completions`)
    expect(failed(result)).toEqual(['address: the address'])
    expect(found(result, 'complete response', 'chat-completions')).toMatchObject({
      result: 'passed',
    })
  })
})

describe('listModels', () => {
  test('returns the ids', async () => {
    expect(await listModels({ base: `${await provider()}/v1` })).toEqual(['m'])
  })

  test('rejects with a fix', async () => {
    const base = await provider(() => ({ type: 'text/html', body: html }))
    await expect(listModels({ base })).rejects.toThrow(/address of the API/)
    await expect(listModels({ base: 'gw' })).rejects.toThrow(/begins with https/)
  })
})
