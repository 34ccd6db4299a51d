import { describe, expect, test } from 'vitest'
import { type Note, normalizeResponse, textOf } from '../../src/index.ts'
import { wrapSignature } from '../../src/kit/signatures/envelope.ts'
import {
  asking,
  dataOf,
  failures,
  half,
  hostsOf,
  isStreaming,
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

const protocols = Object.keys(paths) as Protocol[]

const textIn = (body: unknown, protocol: Protocol) => textOf(normalizeResponse(body, { protocol }))

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(pairs)('a response for %s from %s has the same content', async (client, served) => {
    const text = JSON.stringify(responses[served], null, 1)
    const seen = await upstream(sendJson(200, text))
    const ask = await start(one(seen.url, served))
    const response = await ask(...asking(client))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    const body = await response.text()
    expect(textIn(JSON.parse(body), client)).toBe('Hello')
    if (client === served) expect(body).toBe(text)
    expect(seen.calls).toMatchObject([{ method: 'POST', path: paths[served] }])
  })

  test.each(protocols)('passes the bytes of a request unchanged: %s', async protocol => {
    const seen = await upstream(sendJson(200, responses[protocol]))
    const ask = await start(one(seen.url, protocol))
    const text = JSON.stringify({ ...requests[protocol], unknown_to_us: 1 }, null, 2).replace(
      '"unknown_to_us": 1',
      '"unknown_to_us": 12345678901234567890',
    )
    await ask(paths[protocol], post(text))
    expect(seen.calls[0]?.text).toBe(text)
  })

  test('a signature of another provider is not passed through', async () => {
    const seen = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(seen.url, 'messages'))
    const signature = wrapSignature({
      signature: { value: 'c2ln', issuer: 'responses', form: 'encrypted' },
    })
    const content = [
      { type: 'thinking', thinking: 'hm', signature },
      { type: 'text', text: 'Hello' },
    ]
    const { messages } = requests.messages as { messages: object[] }
    const history = [
      ...messages,
      { role: 'assistant', content },
      { role: 'user', content: 'Continue' },
    ]
    expect(
      (await ask(paths.messages, post({ ...requests.messages, messages: history }))).status,
    ).toBe(200)
    expect(seen.calls[0]?.json['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user' },
    ])
    expect(seen.calls[0]?.text).not.toContain(signature)
  })

  test.each(pairs)(
    'JSON from an upstream becomes a stream when the client requests one: %s from %s',
    async (client, served) => {
      const { url } = await upstream(sendJson(200, responses[served]))
      const ask = await start(one(url, served))
      const response = await ask(...asking(client, { stream: true }))
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
      expect(await sent(await response.text(), client)).toBe('Hello')
    },
  )

  test.each(protocols)(
    'starts a messages stream made of JSON with the counts of %s',
    async served => {
      const { url } = await upstream(sendJson(200, responses[served]))
      const ask = await start(one(url, served))
      const response = await ask(...asking('messages', { stream: true }))
      expect(response.headers.get('wireglot-notes') ?? '').not.toContain('usage.late')
      const events = dataOf(await response.text())
      expect(events[0]).toMatchObject({
        type: 'message_start',
        message: { usage: { input_tokens: 3 } },
      })
      expect(events.at(-2)).toMatchObject({ type: 'message_delta', usage: { output_tokens: 2 } })
    },
  )

  test('notes what a stream made of JSON drops, also between equal protocols', async () => {
    const body = structuredClone(responses['chat-completions']) as {
      choices: { message: Record<string, unknown> }[]
    }
    Object.assign(body.choices[0]?.message ?? {}, {
      tool_calls: [{ id: 'call_1', type: 'x_call', x_call: {} }],
    })
    const ask = await start(
      one(
        (await upstream(sendJson(200, body))).url,
        'chat-completions',
        {},
        { streaming: 'never' },
      ),
    )
    const response = await ask(...asking('chat-completions', { stream: true }))
    expect(JSON.parse(response.headers.get('wireglot-notes') ?? '[]')).toMatchObject([
      { kind: 'dropped', code: 'part.unknown', path: '/choices/0/message/tool_calls/0' },
    ])
    await response.text()
  })

  test('notes what JSON made of a stream drops, also between equal protocols', async () => {
    const [first = '', ...rest] = streams.messages
    const ask = await start(
      one(
        (await upstream(sendStream([first, 'data: <html>\n\n', ...rest]))).url,
        'messages',
        {},
        { streaming: 'only' },
      ),
    )
    const response = await ask(...asking('messages'))
    expect(JSON.parse(response.headers.get('wireglot-notes') ?? '[]')).toMatchObject([
      { kind: 'dropped', code: 'stream.unreadable-frame' },
    ])
  })

  test('reasoning in the fields that such servers use is not dropped in the JSON made of their stream, and strict accepts it', async () => {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const frames = [
      chunk({ role: 'assistant', reasoning_content: 'Hm.' }),
      chunk({ content: 'Hello' }),
      chunk({}, 'stop'),
      'data: [DONE]\n\n',
    ]
    const ask = await start(
      one(
        (await upstream(sendStream(frames))).url,
        'chat-completions',
        { defaults: { strict: true } },
        { streaming: 'only' },
      ),
    )
    const response = await ask(...asking('chat-completions'))
    expect(response.headers.get('wireglot-notes')).toBeNull()
    expect(await response.json()).toMatchObject({
      choices: [{ message: { reasoning_content: 'Hm.', content: 'Hello' } }],
    })
  })

  test.each(pairs)(
    'a stream from an upstream becomes JSON when the client requests it: %s from %s',
    async (client, served) => {
      const { url } = await upstream(sendStream(streams[served]))
      const ask = await start(one(url, served))
      const response = await ask(...asking(client))
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(textIn(await response.json(), client)).toBe('Hello')
    },
  )

  test.each(pairs)('a truncated stream is no JSON response: %s from %s', async (client, served) => {
    const { url } = await upstream(sendStream(streams[served].slice(0, 3), { cut: true }))
    const ask = await start(one(url, served))
    expect((await ask(...asking(client))).status).toBe(502)
  })

  test.each(pairs)(
    'the output of a stream before it failed is noted when JSON was requested: %s from %s',
    async (client, served) => {
      const reported: Note[][] = []
      const seen = await upstream(
        sendStream([...half(served), failures[served]]),
        sendStream(half(served)),
      )
      const ask = await start(one(seen.url, served, {}, { streaming: 'only' }), {
        onNotes: notes => void reported.push(notes),
      })
      for (const _ of ['fails', 'is cut off']) expect((await ask(...asking(client))).ok).toBe(false)
      const dropped = expect.arrayContaining([
        expect.objectContaining({ kind: 'dropped', code: 'field.unsupported' }),
      ])
      expect(reported).toEqual([dropped, dropped])
    },
  )

  test.each(pairs)(
    'a model that only streams gets stream requests: %s from %s',
    async (client, served) => {
      const seen = await upstream(sendStream(streams[served]))
      const ask = await start(one(seen.url, served, {}, { streaming: 'only' }))
      const response = await ask(...asking(client))
      expect(isStreaming(served, seen.calls[0])).toBe(true)
      expect(seen.calls[0]?.headers.accept).toBe('text/event-stream')
      expect(textIn(await response.json(), client)).toBe('Hello')
    },
  )

  test.each(pairs)(
    'a model that never streams gets no stream requests: %s from %s',
    async (client, served) => {
      const seen = await upstream(sendJson(200, responses[served]))
      const ask = await start(one(seen.url, served, {}, { streaming: 'never' }))
      const response = await ask(...asking(client, { stream: true }))
      expect(isStreaming(served, seen.calls[0])).toBe(false)
      expect(await sent(await response.text(), client)).toBe('Hello')
    },
  )

  test('decodes a response without a content type', async () => {
    for (const [text, stream] of [
      [JSON.stringify(responses.messages), false],
      [streams.messages.join(''), true],
    ] as const) {
      const { url } = await upstream(response => {
        response.writeHead(200)
        response.end(text)
      })
      const ask = await start(one(url, 'messages'))
      const response = await ask(
        paths['chat-completions'],
        post({ ...requests['chat-completions'], stream }),
      )
      const body = await response.text()
      expect(
        stream
          ? await sent(body, 'chat-completions')
          : textIn(JSON.parse(body), 'chat-completions'),
      ).toBe('Hello')
    }
  })

  test('mapping options of a channel and of a model reach the translation, both ways', async () => {
    const body = {
      ...responses.messages,
      content: [
        { type: 'thinking', thinking: 'Hm', signature: 's' },
        { type: 'text', text: 'Hello' },
      ],
    }
    const seen = await upstream(sendJson(200, body))
    const options = {
      messages: { autoCache: true },
      chatCompletions: { reasoningField: 'reasoning_content' },
    } as const
    const ask = await start(
      one(
        seen.url,
        'messages',
        {},
        { options: { chatCompletions: { reasoningField: 'reasoning' } } },
        { options },
      ),
    )
    const response = await ask(paths['chat-completions'], post(requests['chat-completions']))
    expect(seen.calls[0]?.json).toHaveProperty('cache_control')
    expect(await response.json()).toMatchObject({ choices: [{ message: { reasoning: 'Hm' } }] })
  })

  test('a header lists the changes, in ASCII and not too long', async () => {
    const { url } = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(url, 'messages'))
    const odd = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`größe_${index}`, 1]))
    const few = await ask(
      paths['chat-completions'],
      post({ ...requests['chat-completions'], seed: 7 }),
    )
    expect(JSON.parse(few.headers.get('wireglot-notes') ?? '')).toContainEqual(
      expect.objectContaining({
        kind: 'dropped',
        path: '/seed',
        code: expect.any(String),
        reason: expect.any(String),
      }),
    )
    const response = await ask(
      paths['chat-completions'],
      post({ ...requests['chat-completions'], ...odd }),
    )
    const header = response.headers.get('wireglot-notes') ?? ''
    expect(header.length).toBeLessThanOrEqual(4096)
    expect(header).toMatch(/^[\x20-\x7e]+$/)
    const notes = JSON.parse(header) as object[]
    expect(notes.length).toBeLessThanOrEqual(20)
    expect(notes.length).toBeGreaterThan(5)
    const quiet = await start(one(url, 'messages', { defaults: { notesHeader: false } }))
    expect(
      (
        await quiet(paths['chat-completions'], post({ ...requests['chat-completions'], seed: 7 }))
      ).headers.get('wireglot-notes'),
    ).toBeNull()
  })

  test('sends notes with streams, and none when bytes pass unchanged', async () => {
    const { url } = await upstream(sendStream(streams.messages))
    const ask = await start(one(url, 'messages'))
    const bent = await ask(
      paths['chat-completions'],
      post({ ...requests['chat-completions'], seed: 7, stream: true }),
    )
    expect(bent.headers.get('wireglot-notes')).toContain('/seed')
    await bent.text()
    const same = await ask(paths.messages, post({ ...requests.messages, odd: 1, stream: true }))
    expect(same.headers.get('wireglot-notes')).toBeNull()
    await same.text()
  })
})
