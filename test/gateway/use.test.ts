import { describe, expect, test } from 'vitest'
import { estimateBody } from '../../src/gateway/endpoints/estimate.ts'
import type { UsageRecord } from '../../src/gateway/gateway.ts'
import { connectRaw } from '../sockets/connect.ts'
import { listenUpgrades } from '../sockets/listen.ts'
import { listenedGateway } from './listening.ts'
import {
  type Ask,
  hostsOf,
  listen,
  one,
  type Protocol,
  pathOf,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  streams,
  until,
  upstream,
  wait,
} from './support.ts'

/** 1,000 tokens by their length, and a few more. */
const long = `Hel${' abc'.repeat(1_000)}`
const names = Object.keys(paths) as Protocol[]

/** The frames of a long text up to its end, without counts of the output. */
const untilUsage: Record<Protocol, string[]> = {
  'chat-completions': framesOf('chat-completions', -1),
  responses: framesOf('responses', -1),
  messages: framesOf('messages', -2),
  'generate-content': framesOf('generate-content', -1),
}

function framesOf(protocol: Protocol, end: number): string[] {
  return streams[protocol].slice(0, end).map(frame => frame.replace('Hel', long))
}

/** Clients of all protocols, streamed. */
const clients: Record<string, [path: string, body: object]> = {
  ...Object.fromEntries(
    names.map(name => [
      name,
      [
        pathOf(name, { stream: true }),
        { ...requests[name], ...(name !== 'generate-content' && { stream: true }) },
      ],
    ]),
  ),
  converse: [
    '/model/m/converse-stream',
    { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] },
  ],
}

const recording = () => {
  const records: UsageRecord[] = []
  return { records, hooks: { onUsage: (record: UsageRecord) => void records.push(record) } }
}

/** Asks, and leaves when so much was received. */
async function leaving(ask: Ask, path: string, body: object, length: number): Promise<void> {
  const left = new AbortController()
  const response = await ask(path, post(body, {}, { signal: left.signal }))
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let received = 0
  while (received < length) received += (await reader.read()).value?.length ?? length
  left.abort()
  await reader.cancel().catch(() => {})
}

describe.each(hostsOf(import.meta.url))('through %s, use is estimated', (_, start) => {
  test.each(
    Object.keys(clients).flatMap(client => {
      const same = names.find(name => name === client)
      return [same, client === 'messages' ? ('responses' as const) : ('messages' as const)].flatMap(
        served => (served ? [[client, served] as const] : []),
      )
    }),
  )('when a client of %s leaves a stream of %s after its last word', async (client, served) => {
    const { records, hooks } = recording()
    const up = await upstream(sendStream([...untilUsage[served], 10_000]))
    const ask = await start(one(up.url, served), hooks)
    const [path, body] = clients[client] ?? ['', {}]
    await leaving(ask, path, body, long.length)
    await until(() => records.length === 1)
    const { status, usage } = records[0] ?? {}
    expect([status, usage]).toEqual([499, expect.objectContaining({ estimated: true })])
    expect(usage?.input).toBeGreaterThan(0)
    expect(usage?.output).toBeGreaterThanOrEqual(1_000)
    expect(usage?.output).toBeLessThan(1_010)
  })

  test('when a client leaves before the response begins: its input alone', async () => {
    const { records, hooks } = recording()
    const up = await upstream(() => {})
    const ask = await start(one(up.url, 'chat-completions'), hooks)
    for (const stream of [true, false]) {
      const left = new AbortController()
      const body = { ...requests['chat-completions'], stream }
      const received = ask(paths['chat-completions'], post(body, {}, { signal: left.signal }))
      await until(() => up.calls.length === (stream ? 1 : 2))
      left.abort()
      await received.catch(() => {})
    }
    await until(() => records.length === 2)
    for (const { usage } of records) {
      expect(usage).toMatchObject({ estimated: true, input: expect.any(Number) })
      expect(usage).not.toHaveProperty('output')
    }
  })

  test.each(names)('when an upstream of %s never counts, whole and streamed', async served => {
    const { records, hooks } = recording()
    const { usage: _, usageMetadata: __, ...whole } = responses[served]
    const text = JSON.stringify(whole).replace('Hello', long)
    const frames = streams[served].map(frame =>
      frame
        .replace('Hel', long)
        .replace(/"usage(Metadata)?":\{("\w+":(\d+|\{[^}]*\}),?)*\}/, '"usage$1":null'),
    )
    const up = await upstream(sendJson(200, text), sendStream(frames))
    const ask = await start(one(up.url, served), hooks)
    await (await ask(paths['chat-completions'], post(requests['chat-completions']))).text()
    const streaming = { ...requests['chat-completions'], stream: true }
    await (await ask(paths['chat-completions'], post(streaming))).text()
    await until(() => records.length === 2)
    for (const { usage } of records) {
      expect(usage).toMatchObject({ estimated: true })
      expect(usage?.output).toBeGreaterThanOrEqual(1_000)
      expect(usage?.output).toBeLessThan(1_010)
    }
  })

  test.each(names)('when an upstream of %s counts no output', async served => {
    const { records, hooks } = recording()
    const withoutOutput = (text: string) =>
      text
        .replace(/"(completion_tokens|output_tokens|candidatesTokenCount)":\d+/g, '"$1":0')
        .replace(/"(total_tokens|totalTokenCount)":\d+/g, '"$1":3')
    const text = withoutOutput(JSON.stringify(responses[served]).replace('Hello', long))
    const frames = streams[served].map(frame => withoutOutput(frame.replace('Hel', long)))
    for (const client of ['chat-completions', 'messages'] as const) {
      const up = await upstream(sendJson(200, text), sendStream(frames))
      const ask = await start(one(up.url, served), hooks)
      for (const stream of [false, true])
        await (await ask(paths[client], post({ ...requests[client], stream }))).text()
    }
    await until(() => records.length === 4)
    for (const { usage } of records) {
      expect(usage).toMatchObject({ input: expect.any(Number), estimated: true })
      expect(usage?.output).toBeGreaterThanOrEqual(1_000)
    }
  })

  test('when a stream breaks off, beyond what was counted', async () => {
    const { records, hooks } = recording()
    const up = await upstream(sendStream(untilUsage.messages, { cut: true }))
    const ask = await start(one(up.url, 'messages'), hooks)
    await (await ask(paths.messages, post({ ...requests.messages, stream: true }))).text()
    await until(() => records.length === 1)
    // The input was counted at the start.
    expect(records[0]?.usage).toMatchObject({ input: 3, estimated: true })
    expect(records[0]?.usage?.output).toBeGreaterThanOrEqual(1_000)
  })

  test('not when the upstream counts, and not when it refuses', async () => {
    const { records, hooks } = recording()
    const up = await upstream(
      sendStream(streams.messages),
      sendJson(400, { error: { message: 'No', type: 'invalid_request_error' } }),
      sendJson(200, { error: { message: 'No', type: 'overloaded_error' } }),
      response => response.destroy(),
    )
    const ask = await start(one(up.url, 'messages'), hooks)
    const body = { ...requests.messages, stream: true }
    for (let i = 0; i < 4; i++) await (await ask(paths.messages, post(body))).text()
    await until(() => records.length === 4)
    expect(records.map(({ usage }) => usage)).toEqual([
      { input: 3, output: 2 },
      undefined,
      undefined,
      undefined,
    ])
  })

  test('for a request in the background, until a later call shows its counts once', async () => {
    const { records, hooks } = recording()
    const { usage, output, ...rest } = responses.responses
    const background = { ...rest, id: 'resp_b', background: true }
    const queued = { ...background, status: 'queued', output: [], usage: null }
    const done = { ...background, output, usage: { ...(usage as object), output_tokens: 5_000 } }
    const up = await upstream(
      sendJson(200, queued),
      sendJson(200, queued),
      sendJson(200, done),
      sendJson(200, done),
    )
    const ask = await start(one(up.url, 'responses'), hooks)
    const body = { ...requests.responses, background: true, max_output_tokens: 50 }
    await ask(paths.responses, post(body))
    for (let i = 0; i < 3; i++) expect((await ask('/v1/responses/resp_b')).status).toBe(200)
    await until(() => records.length === 2)
    expect(records[0]?.usage).toMatchObject({ output: 50, estimated: true })
    expect(records[1]).toMatchObject({ requestedModel: 'm', modelServed: 'm', channel: 'up' })
    expect((records[0]?.usage?.output ?? 0) + (records[1]?.usage?.output ?? 0)).toBe(5_000)
  })

  test('for a compacted conversation, where the upstream does not count', async () => {
    const { records, hooks } = recording()
    const compacted = { id: 'c', object: 'response.compaction', output: [] }
    const counted = { ...compacted, usage: { input_tokens: 9, output_tokens: 8, total_tokens: 17 } }
    const up = await upstream(sendJson(200, counted), sendJson(200, compacted))
    const ask = await start(one(up.url, 'responses'), hooks)
    for (let i = 0; i < 2; i++)
      await (await ask('/v1/responses/compact', post(requests.responses))).text()
    await until(() => records.length === 2)
    expect(records[0]?.usage).toEqual({ input: 9, output: 8 })
    expect(records[1]?.usage).toMatchObject({ estimated: true })
  })

  test('of endpoints that pass through: read in streams, else by what was written', async () => {
    const { records, hooks } = recording()
    const image = { type: 'image_generation.partial_image', b64_json: 'x'.repeat(50_000) }
    const frame = (event: object) => `data: ${JSON.stringify(event)}\n\n`
    const completed = { ...image, type: 'image_generation.completed' }
    const usage = { input_tokens: 4, output_tokens: 1_000, total_tokens: 1_004 }
    const up = await upstream(
      sendStream([frame(image), frame({ ...completed, usage })]),
      sendStream([frame({ choices: [{ text: long }] }), 'data: [DONE]\n\n']),
      sendStream([frame({ choices: [{ text: long }] }), 10_000]),
      sendJson(200, { data: [{ embedding: Array(500).fill(0.123456) }] }),
    )
    const ask = await start(
      one(
        up.url,
        'chat-completions',
        {},
        {},
        {
          passThrough: ['/v1/images/generations', '/v1/completions', '/v1/embeddings'],
        },
      ),
      hooks,
    )
    const body = { model: 'm', prompt: 'a cat', stream: true }
    await (await ask('/v1/images/generations', post(body))).text()
    await (await ask('/v1/completions', post(body))).text()
    await leaving(ask, '/v1/completions', body, long.length)
    await (await ask('/v1/embeddings', post({ model: 'm', input: 'a cat' }))).text()
    await until(() => records.length === 4)
    expect(records.map(({ usage }) => usage)).toEqual([
      { input: 4, output: 1_000 },
      { input: 11, output: 1_001, estimated: true },
      { input: 11, output: 1_001, estimated: true },
      { input: 8, estimated: true },
    ])
  })

  test('of a form by the length of its files', async () => {
    const { records, hooks } = recording()
    const url = await listen((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': 'text/plain' }).end('Hello')
      })
    })
    const ask = await start(
      one(url, 'chat-completions', {}, {}, { passThrough: ['/v1/audio/transcriptions'] }),
      hooks,
    )
    const form = new FormData()
    form.set('model', 'm')
    form.set('file', new Blob(['0'.repeat(50_000)]), 'a.wav')
    await (await ask('/v1/audio/transcriptions', { method: 'POST', body: form })).text()
    await until(() => records.length === 1)
    expect(records[0]?.usage).toEqual({ input: 51, estimated: true })
  })

  test('and masks of fields that hide it do not reach the upstream', async () => {
    const up = await upstream(sendJson(200, responses['generate-content']))
    const ask = await start(
      one(up.url, 'generate-content', {}, {}, { forwardHeaders: ['x-goog-*'] }),
    )
    const path = `${paths['generate-content']}?fields=candidates&%24fields=candidates&prettyPrint=false`
    const headers = { 'x-goog-fieldmask': 'candidates', 'x-goog-other': 'a' }
    await ask(path, post(requests['generate-content'], headers))
    expect(up.calls[0]?.path).toBe(`${paths['generate-content']}?prettyPrint=false`)
    expect(up.calls[0]?.headers).toMatchObject({ 'x-goog-other': 'a' })
    expect(up.calls[0]?.headers).not.toHaveProperty('x-goog-fieldmask')
  })

  test('and a client cannot turn counts off', async () => {
    const { records, hooks } = recording()
    const counts = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
    const extra = `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: counts })}\n\n`
    const frames = streams['chat-completions']
    const up = await upstream(sendStream([...frames.slice(0, -1), extra, ...frames.slice(-1)]))
    const ask = await start(one(up.url, 'chat-completions'), hooks)
    const body = {
      ...requests['chat-completions'],
      stream: true,
      stream_options: { include_usage: false },
    }
    const text = await (await ask(paths['chat-completions'], post(body))).text()
    expect(text).toBe(frames.join(''))
    expect(up.calls[0]?.json).toMatchObject({ stream_options: { include_usage: true } })
    await until(() => records.length === 1)
    expect(records[0]?.usage).toEqual({ input: 3, output: 2 })
  })
})

describe.each(hostsOf(import.meta.url))('through %s, with drainMs', (_, start) => {
  const channel = { timeouts: { drainMs: 5_000 } }

  test.each(['chat-completions', 'messages'] as const)(
    'the counts of a stream are known although its client has left: %s',
    async served => {
      const { records, hooks } = recording()
      let goOn = () => {}
      const gate = new Promise<void>(resolve => {
        goOn = resolve
      })
      const frames = streams[served]
      const up = await upstream(sendStream([...frames.slice(0, 3), () => gate, ...frames.slice(3)]))
      const ask = await start(one(up.url, served, {}, {}, channel), hooks)
      await leaving(ask, paths.messages, { ...requests.messages, stream: true }, 10)
      // The rest comes when the gateway knows that the client has left.
      await wait(50)
      goOn()
      await until(() => records.length === 1)
      expect(up.aborted).toBe(0)
      expect(records[0]?.status).toBe(499)
      if (served === 'messages') expect(records[0]?.usage).toEqual({ input: 3, output: 2 })
    },
  )

  test('so are those of a whole response', async () => {
    const { records, hooks } = recording()
    const up = await upstream(async response => {
      await until(() => isGone)
      sendJson(200, responses.messages)(response)
    })
    let isGone = false
    const ask = await start(one(up.url, 'messages', {}, {}, channel), hooks)
    const left = new AbortController()
    const received = ask(
      paths.messages,
      post(requests.messages, {}, { signal: left.signal }),
    ).catch(() => {})
    await until(() => up.calls.length === 1)
    left.abort()
    await wait(50)
    isGone = true
    await received
    await until(() => records.length === 1)
    expect(records[0]).toMatchObject({ status: 499, usage: { input: 3, output: 2 } })
    expect(records[0]?.usage).not.toHaveProperty('estimated')
  })

  test('a response that takes longer is given up', async () => {
    const { records, hooks } = recording()
    const up = await upstream(sendStream([...streams.messages.slice(0, 3), 10_000]))
    const ask = await start(one(up.url, 'messages', {}, {}, { timeouts: { drainMs: 100 } }), hooks)
    await leaving(ask, paths.messages, { ...requests.messages, stream: true }, 10)
    await until(() => records.length === 1 && up.aborted === 1)
    expect(records[0]?.status).toBe(499)
  })
})

test('use is estimated when a client closes its WebSocket in the middle of a response', async () => {
  const { records, hooks } = recording()
  const up = await upstream(sendStream([...untilUsage.responses, 10_000]))
  const handler = listenedGateway({ webSocket: true, ...one(up.url, 'responses') }, hooks)
  const client = await connectRaw(await listenUpgrades(handler))
  client.socket.send(JSON.stringify({ type: 'response.create', ...requests.responses }))
  await until(() => client.messages.some(({ type }) => type === 'response.output_text.delta'))
  client.socket.terminate()
  await until(() => records.length === 1)
  expect(records[0]?.usage).toMatchObject({ estimated: true })
  expect(records[0]?.usage?.output).toBeGreaterThanOrEqual(1_000)
})

test('a file in a request counts as an image, and text by its length', () => {
  const file = 'iVBORw0KGgo'.repeat(100_000)
  expect(estimateBody(JSON.stringify({ a: file, b: 'Hi' }))).toBeLessThan(3_000)
  const text = 'A question of several words. '.repeat(1_000)
  expect(estimateBody(JSON.stringify({ a: text }))).toBe(Math.ceil((text.length + 8) / 4))
  expect(estimateBody(JSON.stringify({ a: '漢字'.repeat(2_000) }))).toBeGreaterThan(2_900)
})

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each([false, true])('failed attempts that had a cost count, stream %s', async stream => {
    const usage = { input_tokens: 1_000, output_tokens: 1 }
    const message = { ...responses.messages, content: [], stop_reason: null, usage }
    const frame = (type: string, more: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
    const failed = stream
      ? sendStream([
          frame('message_start', { message }),
          frame('error', { error: { type: 'overloaded_error', message: 'Overloaded' } }),
        ])
      : sendJson(200, { ...message, id: undefined })
    const good = stream ? sendStream(streams.messages) : sendJson(200, responses.messages)
    const { url, calls } = await upstream(failed, failed, good)
    const list: UsageRecord[] = []
    const ask = await start(one(url, 'messages', { defaults: { retries: 2, retryWaitMs: 1 } }), {
      logger: false,
      onUsage: record => void list.push(record),
    })
    const response = await ask(
      pathOf('messages', { stream }),
      post({ ...requests.messages, stream }),
    )
    expect(response.status).toBe(200)
    await response.text()
    await until(() => list.length > 0)
    expect(calls).toHaveLength(3)
    expect(list[0]).toMatchObject({ attempts: 3, usage: { input: 2_003 } })
  })
})
