import { GoogleGenAI } from '@google/genai'
import { describe, expect, test, vi } from 'vitest'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { protocols } from '../../src/protocols/index.ts'
import { createFrameParser } from '../../src/sse/parse.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import {
  asking,
  failures,
  half,
  hostsOf,
  isStreaming,
  listen,
  mounted,
  one,
  type Protocol,
  pathOf,
  paths,
  post,
  reading,
  requests,
  responses,
  sendJson,
  sendStream,
  sent,
  streams,
  until,
  upstream,
} from './support.ts'

/**
 * What only this wire has on HTTP: the model and the stream in the path, keys in the query, a
 * stream as one list, errors with details.
 */

const all = Object.keys(paths) as Protocol[]
const { checkError, checkResponse, checkStream, outcome } = strictOf('generate-content')
const list = '/v1beta/models/m:streamGenerateContent'
const received = post(requests['generate-content'])
const known: GatewayConfig = {
  keys: [{ name: 'alice', key: 'planted-key' }],
  channels: [{ name: 'demo', embedded: 'demo' }],
  models: ['demo', 'large'].map(id => ({ id, channels: [{ name: 'demo' }] })),
}

/** The members of a list, as frames. */
const asFrames = (members: unknown) =>
  (members as unknown[]).map(member => `data: ${JSON.stringify(member)}\n\n`).join('')

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  describe('a key', () => {
    test.each<[string, string, Record<string, string>]>([
      ['in the header of this wire', '', { 'x-goog-api-key': 'planted-key' }],
      ['in the query', '?key=planted-key', {}],
      ['in the query beside the form of the stream', '?alt=sse&key=planted-key', {}],
      ['as bearer', '', { authorization: 'Bearer planted-key' }],
    ])('authenticates every path in the form of %s', async (_where, query, headers) => {
      const ask = await start(known)
      for (const call of ['generateContent', 'streamGenerateContent', 'countTokens'])
        expect(
          (
            await ask(
              `/v1beta/models/demo:${call}${query}`,
              post(requests['generate-content'], headers),
            )
          ).status,
          call,
        ).toBe(200)
      for (const path of ['/v1beta/models', '/v1beta/models/demo'])
        expect((await ask(path + query, { headers })).status, path).toBe(200)
    })

    test.each<[string, Record<string, string>]>([
      ['', {}],
      ['?key=planted-other', {}],
      ['', { 'x-goog-api-key': 'planted-other' }],
    ])('returns 401 in this dialect for a wrong or missing key (%s %j)', async (query, headers) => {
      const ask = await start(known)
      const calls: [string, RequestInit][] = [
        [
          `/v1beta/models/demo:generateContent${query}`,
          post(requests['generate-content'], headers),
        ],
        [`/v1beta/models/demo:countTokens${query}`, post(requests['generate-content'], headers)],
        [`/v1beta/models${query}`, { headers }],
      ]
      for (const [path, init] of calls) {
        const response = await ask(path, init)
        expect(response.status).toBe(401)
        const body = await response.json()
        expect(checkError(body)).toEqual([])
        expect(body).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED' } })
      }
    })

    test.each(all)('is never forwarded to an upstream of %s', async served => {
      const seen = await upstream(sendJson(200, responses[served]))
      const { auth: _auth, ...config } = one(seen.url, served)
      const ask = await start({ ...config, keys: [{ name: 'alice', key: 'planted-key' }] })
      await ask(`${paths['generate-content']}?key=planted-key&$fields=x`, received)
      await ask(
        paths['generate-content'],
        post(requests['generate-content'], { 'x-goog-api-key': 'planted-key' }),
      )
      expect(seen.calls.length).toBe(2)
      expect(JSON.stringify(seen.calls)).not.toContain('planted-key')
      expect(JSON.stringify(seen.calls)).toContain('upstream-secret')
    })
  })

  describe('models', () => {
    test('are listed and described with their full names', async () => {
      const ask = await start({ ...known, auth: 'none', keys: [] })
      const { models, nextPageToken } = (await (
        await ask('/v1beta/models?pageSize=50')
      ).json()) as { models: { name: string }[]; nextPageToken?: string }
      expect(models.map(({ name }) => name)).toEqual(['models/demo', 'models/large'])
      // All of them are on one page.
      expect(nextPageToken).toBeUndefined()
      expect(await (await ask('/v1beta/models/demo')).json()).toMatchObject({
        name: 'models/demo',
        supportedGenerationMethods: ['generateContent', 'countTokens'],
      })
    })

    test('return 404 in this dialect when unknown', async () => {
      const ask = await start({ ...known, auth: 'none', keys: [] })
      for (const [path, init] of [
        ['/v1beta/models/nope'],
        asking('generate-content', { model: 'nope' }),
      ] as [string, RequestInit?][]) {
        const response = await ask(path, init)
        expect(response.status).toBe(404)
        const body = await response.json()
        expect(checkError(body)).toEqual([])
        expect(body).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } })
      }
    })

    test.each(['tunedModels/mine', 'vendor/large'])(
      'accept a slash in their name: %s',
      async model => {
        const seen = await upstream(sendJson(200, responses['generate-content']))
        const ask = await start(one(seen.url, 'generate-content', {}, { id: model }))
        const path = model.startsWith('tunedModels')
          ? `/v1beta/${model}:generateContent`
          : `/v1beta/models/${encodeURIComponent(model)}:generateContent`
        expect((await ask(path, received)).status).toBe(200)
        expect(decodeURIComponent(seen.calls[0]?.path ?? '')).toBe(
          model.startsWith('tunedModels')
            ? `/v1beta/${model}:generateContent`
            : `/v1beta/models/${model}:generateContent`,
        )
      },
    )
  })

  describe('tokens', () => {
    test('are counted by an upstream that can, under its own name of the model', async () => {
      const seen = await upstream(sendJson(200, { totalTokens: 7, promptTokensDetails: [] }))
      const ask = await start(
        one(
          seen.url,
          'generate-content',
          {},
          { id: 'nick', channels: [{ name: 'up', model: 'real' }] },
        ),
      )
      for (const body of [
        requests['generate-content'],
        { generateContentRequest: { model: 'models/nick', ...requests['generate-content'] } },
      ]) {
        const response = await ask('/v1beta/models/nick:countTokens', post(body))
        expect(await response.json()).toEqual({ totalTokens: 7, promptTokensDetails: [] })
        expect(response.headers.get('wireglot-estimate')).toBeNull()
      }
      expect(seen.calls.map(({ path }) => path)).toEqual(
        Array(2).fill('/v1beta/models/real:countTokens'),
      )
      expect(seen.calls[1]?.text).not.toContain('nick')
      const named = { model: 'models/nick', ...requests['generate-content'] }
      await ask('/v1beta/models/nick:countTokens', post(named))
      expect(seen.calls[2]?.json).toEqual({ ...named, model: 'models/real' })
    })

    test.each(all.filter(name => name !== 'generate-content'))(
      'are estimated where %s serves the model, and the response reports it',
      async served => {
        const ask = await start(one((await upstream(sendJson(200, responses[served]))).url, served))
        const response = await ask('/v1beta/models/m:countTokens', received)
        expect([response.status, response.headers.get('wireglot-estimate')]).toEqual([200, 'true'])
        expect(await response.json()).toEqual({ totalTokens: expect.any(Number) })
      },
    )
  })

  describe('a stream as one list', () => {
    test.each(all)(
      'has the content of %s, also when the upstream serves only one form',
      async served => {
        for (const streaming of [undefined, 'only', 'never'] as const) {
          const seen = await upstream((response, call) =>
            (isStreaming(served, call)
              ? sendStream(streams[served])
              : sendJson(200, responses[served]))(response),
          )
          const ask = await start(one(seen.url, served, {}, { ...(streaming && { streaming }) }))
          const result = await ask(list, received)
          expect(result.headers.get('content-type')).toMatch(/^application\/json/)
          const members = (await result.json()) as unknown[]
          expect(checkStream(members)).toEqual([])
          expect([outcome(members), await sent(asFrames(members), 'generate-content')]).toEqual([
            'success',
            'Hello',
          ])
          expect(isStreaming(served, seen.calls[0])).toBe(streaming !== 'never')
        }
      },
    )

    test.each(all)(
      'returns a list of one error with its status when it fails before its start: %s',
      async served => {
        const failing = [
          sendJson(
            429,
            { error: { message: 'Slow down', type: 'requests', code: 429 } },
            { 'retry-after': '7' },
          ),
          sendStream([failures[served]]),
        ]
        for (const script of failing) {
          const ask = await start(one((await upstream(script)).url, served))
          const response = await ask(list, received)
          expect(response.status).toBeGreaterThanOrEqual(400)
          const members = (await response.json()) as unknown[]
          expect(members.length).toBe(1)
          if (served !== 'generate-content') expect(checkError(members[0])).toEqual([])
          expect(JSON.stringify(members)).toMatch(/Slow down|Overheated/)
        }
      },
    )

    test('returns a list of one error when the gateway refuses the request', async () => {
      const ask = await start(known)
      const calls: [number, string, RequestInit][] = [
        [401, '/v1beta/models/demo:streamGenerateContent', received],
        [404, '/v1beta/models/nope:streamGenerateContent?key=planted-key', received],
        [400, '/v1beta/models/demo:streamGenerateContent?key=planted-key', post('{')],
      ]
      for (const [status, path, init] of calls) {
        const response = await ask(path, init)
        const members = (await response.json()) as unknown[]
        expect([response.status, members.length, checkError(members[0])]).toEqual([status, 1, []])
      }
    })

    test.each(all)(
      'ends with an error and is valid JSON when it fails in the middle: %s',
      async served => {
        for (const [chunks, cut] of [
          [[...half(served), failures[served]], false],
          [[...half(served), 20], true],
        ] as const) {
          const ask = await start(one((await upstream(sendStream(chunks, { cut }))).url, served))
          const members = (await (await ask(list, received)).json()) as unknown[]
          expect(JSON.stringify(members)).toContain('Hel')
          expect(outcome(members)).toBe('failed')
          expect(checkError(members.at(-1))).toEqual([])
        }
      },
    )

    test('is kept open by white space while the upstream thinks', async () => {
      const isOpen = (beginning: RegExp) => () => until(() => beginning.test(hearing.received()))
      const rest = streams.messages.slice(half('messages').length)
      const { url } = await upstream(
        sendStream([isOpen(/^\n/), ...half('messages'), isOpen(/Hel[^\n]*\n+$/), ...rest]),
      )
      const ask = await start(one(url, 'messages', { defaults: { keepAliveMs: 30 } }))
      const hearing = reading(ask(list, received))
      const text = await hearing.whole
      expect(text).toMatch(/^\n+\[/)
      expect(await sent(asFrames(JSON.parse(text)), 'generate-content')).toBe('Hello')
    })
  })

  test('sends keep-alives as complete comments, because its client reads every byte', async () => {
    const { url } = await upstream(
      sendStream([() => until(() => hearing.received() !== ''), ...streams.messages]),
    )
    const ask = await start(one(url, 'messages', { defaults: { keepAliveMs: 30 } }))
    const hearing = reading(ask(pathOf('generate-content', { stream: true }), received))
    const text = await hearing.whole
    expect(
      text
        .split(/\r?\n\r?\n/)
        .filter(Boolean)
        .every(frame => frame.startsWith('data: ') || frame.startsWith(':')),
    ).toBe(true)
    expect(text).toMatch(/(\r?\n){2}$/)
    let frames = 0
    const parser = createFrameParser(() => frames++)
    parser.push(text)
    expect(frames).toBeGreaterThan(1)
  })

  test.each<[number, object, string]>([
    [403, { type: 'permission_error' }, 'PERMISSION_DENIED'],
    [404, { type: 'not_found_error' }, 'NOT_FOUND'],
    [413, { type: 'request_too_large' }, 'INVALID_ARGUMENT'],
    [429, { type: 'rate_limit_error' }, 'RESOURCE_EXHAUSTED'],
    [500, { type: 'api_error' }, 'INTERNAL'],
  ])('maps status %i of messages to a status of generate-content', async (status, error, word) => {
    const ask = await start(
      one(
        (
          await upstream(
            sendJson(
              status,
              { type: 'error', error: { ...error, message: 'No' } },
              { 'retry-after': '3' },
            ),
          )
        ).url,
        'messages',
      ),
    )
    for (const stream of [false, true]) {
      const response = await ask(...asking('generate-content', { stream }))
      expect(response.status).toBe(status)
      const body = await response.json()
      expect(checkError(body)).toEqual([])
      expect(body).toMatchObject({ error: { code: status, status: word, message: 'No' } })
      expect(body).toMatchObject({
        error: {
          details: expect.arrayContaining([
            { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3s' },
          ]),
        },
      })
    }
  })

  test.each(['chat-completions', 'responses', 'messages'] as const)(
    'writes a streamed request toward %s only once when the path asks for the stream',
    async to => {
      const server = await upstream(sendStream(streams[to]))
      const ask = await start(one(server.url, to))
      const encode = vi.spyOn(protocols[to], 'encodeRequest')
      try {
        await (await ask(...asking('generate-content', { stream: true }))).text()
        expect(encode).toHaveBeenCalledTimes(1)
        expect(encode.mock.results[0]?.value).toMatchObject({ wire: { stream: true } })
      } finally {
        encode.mockRestore()
      }
    },
  )

  test('returns a legal complete response for any `alt` query', async () => {
    const ask = await start(
      one((await upstream(sendJson(200, responses.messages))).url, 'messages'),
    )
    for (const query of ['', '?alt=json', '?alt=sse'])
      expect(
        checkResponse(await (await ask(paths['generate-content'] + query, received)).json()),
      ).toEqual([])
  })
})

describe("Google's client", () => {
  const through = async (config: GatewayConfig, apiKey = 'planted-key') => {
    const handler = mounted(config)
    return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: await listen(handler) } })
  }

  test('lists models and gets one', async () => {
    const { models } = await through(known)
    const names: unknown[] = []
    for await (const { name } of await models.list({ config: { pageSize: 1 } })) names.push(name)
    expect(names).toEqual(['models/demo', 'models/large'])
    expect(await models.get({ model: 'demo' })).toMatchObject({ name: 'models/demo' })
    await expect(models.get({ model: 'nope' })).rejects.toMatchObject({ status: 404 })
  })

  test('gets an error when its key is wrong', async () => {
    const { models } = await through(known, 'planted-other')
    await expect(models.generateContent({ model: 'demo', contents: 'Hi' })).rejects.toMatchObject({
      status: 401,
    })
    await expect(models.list()).rejects.toMatchObject({ status: 401 })
  })

  test.each(all)(
    'gets an error for a stream of %s that fails before or during its output',
    async served => {
      for (const [chunks, status] of [
        [[failures[served]], 503],
        [[...half(served), failures[served]], 503],
      ] as const) {
        const { models } = await through(one((await upstream(sendStream(chunks))).url, served))
        const read = async () => {
          for await (const _ of await models.generateContentStream({ model: 'm', contents: 'Hi' }));
        }
        const error = await read().then(
          () => undefined,
          (thrown: unknown) => thrown as { status?: number; message: string },
        )
        expect(error?.message).toContain('Overheated')
        // Two wires have no word for a server that is overloaded.
        expect(error?.status).toBeGreaterThanOrEqual(
          served === 'messages' || served === 'generate-content' ? status : 500,
        )
      }
    },
  )
})
