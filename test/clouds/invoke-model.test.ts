import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { invokeModel } from '../../src/clouds/invoke-model.ts'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { collectStream } from '../../src/index.ts'
import { hostsOf, post, requests, responses, streams } from '../gateway/support.ts'
import { eventFrame, exceptionFrame, frameOf } from '../support/vendors/base/frames.ts'
import { json, type Received, server } from './support.ts'

const chunk = (text: string) =>
  eventFrame('chunk', { bytes: Buffer.from(text).toString('base64'), p: 'abcdefghijk' })

const dataOf = (sse: string) => sse.slice(sse.indexOf('data: ') + 6).trim()
const good = streams.messages.map(text => chunk(dataOf(text)))

/** Sends frames in chunks of so many bytes. */
const sendFrames = (response: ServerResponse, frames: Uint8Array[], size = 100_000) => {
  response.writeHead(200, {
    'content-type': 'application/vnd.amazon.eventstream',
    'x-amzn-requestid': 'aws-1',
  })
  const bytes = Buffer.concat(frames)
  for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size))
  response.end()
}

const configFor = (baseUrl: string): GatewayConfig => ({
  auth: 'none',
  channels: [
    { vendor: 'bedrock', api: 'invoke-model', baseUrl, apiKey: 'bedrock-api-key-0123456789' },
  ],
  defaults: { retries: 0 },
})
const model = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const request: Record<string, unknown> = { ...requests.messages, model }

const claude = (handle: (received: Received, response: ServerResponse) => unknown) => server(handle)

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test('sends a whole request to the path of its model, with its version in the body', async () => {
    const upstream = await claude((_received, response) =>
      json(response, 200, responses.messages, { 'x-amzn-requestid': 'aws-1' }),
    )
    const send = await start(configFor(upstream.url))
    const headers = {
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'interleaved-thinking-2025-05-14, oauth-2025-04-20',
    }
    const response = await send('/v1/messages?beta=true', post(request, headers))
    expect(await response.json()).toEqual(responses.messages)
    const [call] = upstream.calls
    expect(call?.path).toBe('/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke')
    const { model: _model, ...others } = request
    expect(JSON.parse(call?.text ?? '')).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['interleaved-thinking-2025-05-14'],
      ...others,
    })
    expect(call?.headers).toMatchObject({
      authorization: 'Bearer bedrock-api-key-0123456789',
      accept: 'application/json',
    })
    expect(
      Object.keys(call?.headers ?? {}).filter(name => /anthropic|x-api-key/.test(name)),
    ).toEqual([])
  })

  test('notes beta flags that the service does not know, and drops them', async () => {
    const upstream = await claude((_received, response) => json(response, 200, responses.messages))
    const send = await start(configFor(upstream.url))
    const notesOf = (response: Response) =>
      (
        JSON.parse(response.headers.get('wireglot-notes') ?? '[]') as {
          code: string
          kind: string
          path: string
        }[]
      ).map(({ code, kind, path }) => [code, kind, path])
    const known = 'interleaved-thinking-2025-05-14'
    const inHeader = await send(
      '/v1/messages',
      post(request, { 'anthropic-beta': `oauth-2025-04-20,${known},fast-mode-2026-02-01` }),
    )
    expect(notesOf(inHeader)).toEqual([['gateway.beta-dropped', 'dropped', '']])
    const inBody = await send(
      '/v1/messages',
      post({ ...request, anthropic_beta: [known, 'oauth-2025-04-20'] }),
    )
    expect(notesOf(inBody)).toEqual([['gateway.beta-dropped', 'dropped', '/anthropic_beta/1']])
    const inNeither = await send('/v1/messages', post(request, { 'anthropic-beta': known }))
    expect(notesOf(inNeither)).toEqual([])
    for (const { text } of upstream.calls)
      expect(JSON.parse(text)).toMatchObject({ anthropic_beta: [known] })
  })

  test('sends nothing to the service when `strict` forbids to drop a beta flag', async () => {
    const upstream = await claude((_received, response) => json(response, 200, responses.messages))
    const config = configFor(upstream.url)
    const send = await start({ ...config, defaults: { ...config.defaults, strict: ['dropped'] } })
    const response = await send(
      '/v1/messages',
      post(request, { 'anthropic-beta': 'oauth-2025-04-20' }),
    )
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('beta')
    expect(response.headers.get('wireglot-notes')).toContain('gateway.beta-dropped')
    expect(upstream.calls).toEqual([])
  })

  test('reports a dropped beta flag to the hooks', async () => {
    const upstream = await claude((_received, response) => json(response, 200, responses.messages))
    const noted: string[] = []
    const attempted: string[] = []
    const send = await start(configFor(upstream.url), {
      onNotes: notes => void noted.push(...notes.map(({ code }) => code)),
      onAttempt: ({ notes }) => void attempted.push(...notes.map(({ code }) => code)),
    })
    await send('/v1/messages', post(request, { 'anthropic-beta': 'oauth-2025-04-20' }))
    expect([noted, attempted]).toEqual([['gateway.beta-dropped'], ['gateway.beta-dropped']])
  })

  test.each([1, 7, 100_000])('reads a stream in chunks of %i bytes', async size => {
    const upstream = await claude((_received, response) => sendFrames(response, good, size))
    const send = await start(configFor(upstream.url))
    const response = await send('/v1/messages', post({ ...request, stream: true }))
    expect(upstream.calls[0]?.path).toMatch(/\/invoke-with-response-stream$/)
    expect(upstream.calls[0]?.text).not.toContain('"stream"')
    expect(await response.text()).toBe(streams.messages.join(''))
  })

  test('serves clients of other protocols, whole and streamed', async () => {
    const upstream = await claude(({ path }, response) =>
      path.endsWith('/invoke')
        ? json(response, 200, responses.messages)
        : sendFrames(response, good),
    )
    const send = await start(configFor(upstream.url))
    // Messages is the only protocol of this channel.
    const whole = await send(
      '/v1/chat/completions',
      post({ ...requests['chat-completions'], model }),
    )
    expect(await whole.json()).toMatchObject({ choices: [{ message: { content: 'Hello' } }] })
    const streamed = await send(
      '/v1/chat/completions',
      post({ ...requests['chat-completions'], model, stream: true }),
    )
    expect(await streamed.text()).toContain('[DONE]')
  })

  test('ends the stream with an error when the service sends an exception', async () => {
    const upstream = await claude((_received, response) =>
      sendFrames(response, [
        ...good.slice(0, 3),
        exceptionFrame('throttlingException', 'Too many requests'),
      ]),
    )
    const send = await start(configFor(upstream.url))
    const text = await (await send('/v1/messages', post({ ...request, stream: true }))).text()
    expect(text).toContain('event: error')
    expect(text).toContain('"type":"rate_limit_error","message":"Too many requests"')
    const other = await (
      await send('/v1/responses', post({ model, input: 'Hi', stream: true }))
    ).text()
    expect(other).toContain('Too many requests')
  })

  test('reports a stream that stops or has a damaged frame', async () => {
    const damaged = Uint8Array.from(good[2] as Uint8Array)
    damaged[damaged.length - 10] = (damaged[damaged.length - 10] as number) ^ 1
    for (const last of [(good[2] as Uint8Array).slice(0, 40), damaged]) {
      const upstream = await claude((_received, response) =>
        sendFrames(response, [...good.slice(0, 2), last]),
      )
      const send = await start(configFor(upstream.url))
      const text = await (await send('/v1/messages', post({ ...request, stream: true }))).text()
      expect(text).toContain('event: error')
      expect(text).not.toContain('message_stop')
    }
  })

  test.each([
    [400, 'ValidationException:http://internal.amazon.com/coral/', 'invalid_request_error'],
    [429, 'ThrottlingException', 'rate_limit_error'],
    [403, 'AccessDeniedException', 'permission_error'],
    [503, undefined, 'overloaded_error'],
  ])(
    'returns an upstream error with status %i as an error of the messages protocol',
    async (status, name, type) => {
      const upstream = await claude((_received, response) =>
        json(
          response,
          status,
          { message: 'No.' },
          name === undefined ? {} : { 'x-amzn-errortype': name },
        ),
      )
      const send = await start(configFor(upstream.url))
      const response = await send('/v1/messages', post(request))
      expect(response.status).toBe(status)
      expect(await response.json()).toMatchObject({
        type: 'error',
        error: { type, message: 'No.' },
      })
    },
  )

  test('counts tokens with the whole body and the model without its region', async () => {
    const upstream = await claude((_received, response) => json(response, 200, { inputTokens: 42 }))
    const send = await start(configFor(upstream.url))
    const response = await send(
      '/v1/messages/count_tokens',
      post({ model, messages: request['messages'] }),
    )
    expect(await response.json()).toEqual({ input_tokens: 42 })
    const [call] = upstream.calls
    expect(call?.path).toBe('/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens')
    const { input } = JSON.parse(call?.text ?? '') as { input: { invokeModel: { body: string } } }
    const body = {
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 1,
      messages: request['messages'],
    }
    expect(JSON.parse(Buffer.from(input.invokeModel.body, 'base64').toString())).toEqual(body)
  })
})

test('keeps the bytes of the other members of a body', () => {
  const body =
    '{ "model" : "m", "messages":[{"role":"user","content":"\\u00e9 é"}], "stream":false,"metadata": {"id": 12345678901234567890, "x":1.0} }'
  const call = {
    url: 'https://h/v1/messages',
    method: 'POST' as const,
    headers: {},
    body,
    signal: new AbortController().signal,
    connectMs: 0,
  }
  const sent = Buffer.from(invokeModel(call, {})?.call.body ?? '').toString()
  expect(sent).toBe(
    '{"anthropic_version":"bedrock-2023-05-31","messages":[{"role":"user","content":"\\u00e9 é"}],"metadata": {"id": 12345678901234567890, "x":1.0}}',
  )
})

test('leaves calls to other paths unchanged', () => {
  const call = {
    url: 'https://h/v1/files',
    method: 'POST' as const,
    headers: {},
    body: '{}',
    signal: new AbortController().signal,
    connectMs: 0,
  }
  expect(invokeModel(call, {})).toBeUndefined()
})

const folder = join(process.env['WIREGLOT_SHARED'] ?? '', 'corpus-converse/invoke/streams')
describe.skipIf(process.env['WIREGLOT_SHARED'] === undefined || !existsSync(folder))(
  'captured streams (WIREGLOT_SHARED names the folder)',
  () => {
    type Captured = { events: { headers: Record<string, string>; payload: { bytes?: string } }[] }
    const claudes = (existsSync(folder) ? readdirSync(folder) : []).flatMap(name => {
      const { events } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Captured
      const texts = events.map(({ payload }) =>
        Buffer.from(payload.bytes ?? '', 'base64').toString(),
      )
      return texts[0]?.includes('"message_start"') ? [{ name, events, texts }] : []
    })

    test('finds captured streams', () => expect(claudes.length).toBeGreaterThan(2))

    test.each(claudes)(
      'decodes $name to the same response as its events in text',
      async ({ events, texts }) => {
        async function* body() {
          for (const { headers, payload } of events) yield frameOf(headers, payload)
        }
        const call = {
          url: 'https://h/v1/messages',
          method: 'POST' as const,
          headers: {},
          body: '{}',
          signal: new AbortController().signal,
          connectMs: 0,
        }
        const response = await invokeModel(call, {})?.unwrap({
          status: 200,
          headers: { 'content-type': 'application/vnd.amazon.eventstream' },
          body: body(),
        })
        const plain = texts.map(
          text => `event: ${(JSON.parse(text) as { type: string }).type}\ndata: ${text}\n\n`,
        )
        async function* asText() {
          yield* plain
        }
        const unwrapped = await collectStream((response?.body ?? []) as AsyncIterable<Uint8Array>, {
          protocol: 'messages',
        })
        expect(unwrapped.body).toEqual(
          (await collectStream(asText() as never, { protocol: 'messages' })).body,
        )
        expect(unwrapped.body).toMatchObject({ type: 'message', stop_reason: expect.any(String) })
      },
    )
  },
)
