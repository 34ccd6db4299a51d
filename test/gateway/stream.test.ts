import { describe, expect, test } from 'vitest'
import type { UsageRecord } from '../../src/gateway/gateway.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import {
  asking,
  dataOf,
  failureIn,
  failures,
  half,
  hostsOf,
  isStreaming,
  one,
  type Protocol,
  pairs,
  paths,
  reading,
  sendStream,
  sent,
  streams,
  until,
  upstream,
  wait,
} from './support.ts'

const protocols = Object.keys(paths) as Protocol[]
/** One wire ends with its connection: more may follow its last event. */
const marksItsEnd = (protocol: Protocol) => protocol !== 'generate-content'

const streaming = (protocol: Protocol) => asking(protocol, { stream: true })

/** Google's Python SDK takes a comment for a response, so its clients get empty frames. */
const pingsIn = (text: string, client: Protocol) =>
  text.match(client === 'generate-content' ? /(?<=^|\r\n\r\n)\r\n\r\n/g : /ping/g) ?? []

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each([
    ['nothing', []],
    [
      'half a response with a call',
      [
        'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{"}}]}}]}\n\n',
      ],
    ],
  ])(
    'sends an error and no [DONE] when a chat stream ends in [DONE] after %s',
    async (_what, before) => {
      const { url } = await upstream(sendStream([...before, 'data: [DO', 'NE]\n\n']))
      const ask = await start(one(url, 'chat-completions'))
      const response = await ask(...streaming('chat-completions'))
      const text = await response.text()
      expect(text).not.toContain('[DONE]')
      expect(text).toContain('"error"')
      expect(text.startsWith(before.join(''))).toBe(true)
      expect(response.status).toBe(before.length > 0 ? 200 : 502)
    },
  )

  test.each(pairs)(
    'returns the same content in a stream for %s from %s',
    async (client, served) => {
      const seen = await upstream(sendStream(streams[served]))
      const ask = await start(one(seen.url, served))
      const response = await ask(...streaming(client))
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
      expect(response.headers.get('cache-control')).toBe('no-cache, no-transform')
      expect(response.headers.get('x-accel-buffering')).toBe('no')
      expect(response.headers.get('content-length')).toBeNull()
      const text = await response.text()
      expect(await sent(text, client)).toBe('Hello')
      if (client === served) expect(text).toBe(streams[served].join(''))
      expect(isStreaming(served, seen.calls[0])).toBe(true)
    },
  )

  test.each(pairs)('forwards every frame when it arrives: %s from %s', async (client, served) => {
    let go = () => {}
    const waiting = new Promise<void>(resolve => {
      go = resolve
    })
    const frames = streams[served]
    const message = half(served).length
    const { url } = await upstream(async response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(frames.slice(0, message).join(''))
      await waiting
      response.end(frames.slice(message).join(''))
    })
    const ask = await start(one(url, served))
    const response = await ask(...streaming(client))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    while (!text.includes('Hel')) {
      const { value, done } = await reader.read()
      if (done) break
      text += new TextDecoder().decode(value)
    }
    expect(text).toContain('Hel')
    go()
    await reader.cancel()
  })

  test.each(protocols)(
    'a client that uses another name of the model gets all output of the upstream, and its error: %s',
    async protocol => {
      for (const chunks of [
        [...half(protocol), failures[protocol]],
        [[...half(protocol), failures[protocol]].join('')],
      ]) {
        const { url } = await upstream(sendStream(chunks))
        const ask = await start(
          one(url, protocol, {}, { channels: [{ name: 'up', model: 'another' }] }),
        )
        const text = await (await ask(...streaming(protocol))).text()
        expect(text).toContain('Hel')
        expect(text).toContain('Overheated')
        expect(strictOf(protocol).outcome(dataOf(text))).toBe('failed')
      }
    },
  )

  test.each(pairs)(
    'returns an error status when the first upstream event is an error: %s from %s',
    async (client, served) => {
      const before =
        served === 'messages'
          ? [': starting\n\n', 'event: ping\ndata: {"type": "ping"}\n\n']
          : [': starting\n\n']
      const { url } = await upstream(
        sendStream([...(client === served ? [] : before), failures[served]]),
      )
      const ask = await start(one(url, served))
      const response = await ask(...streaming(client))
      expect(response.status).toBeGreaterThanOrEqual(500)
      expect(response.headers.get('content-type')).toBe('application/json')
      const text = await response.text()
      expect(text).toContain('Overheated')
      expect(JSON.parse(text)).toHaveProperty('error')
    },
  )

  test.each(pairs)(
    'reports an upstream failure inside the stream, at any chunk boundary: %s from %s',
    async (client, served) => {
      const whole = [...half(served), failures[served]].join('')
      for (const chunks of [
        [whole],
        [...half(served), 20, failures[served]],
        whole.match(/.{1,7}/gs) ?? [],
      ]) {
        const { url } = await upstream(sendStream(chunks))
        const ask = await start(one(url, served))
        const response = await ask(...streaming(client))
        expect(response.status).toBe(200)
        const text = await response.text()
        expect(text).toContain('Hel')
        expect(text).toContain('Overheated')
        await expect(sent(text, client).catch(() => 'refused')).resolves.not.toBe('Hello')
      }
    },
  )

  test.each(pairs)(
    'ends with an error when the stream is cut off: %s from %s',
    async (client, served) => {
      for (const cut of [true, false]) {
        const { url } = await upstream(sendStream([...half(served), 30], { cut }))
        const ask = await start(one(url, served))
        const response = await ask(...streaming(client))
        const text = await response.text()
        expect(text).toMatch(/error|failed/)
        expect(text).not.toMatch(/"stop"|"STOP"|"end_turn"|response\.completed/)
      }
    },
  )

  test.each(protocols)('returns 502 when a stream ends before it began: %s', async protocol => {
    for (const cut of [false, true]) {
      const { url } = await upstream(sendStream([': hello\n\n', 20], { cut }))
      for (const client of protocols) {
        const ask = await start(one(url, protocol))
        expect((await ask(...streaming(client))).status).toBe(502)
      }
    }
  })

  test.each(pairs.filter(([, served]) => marksItsEnd(served)))(
    'ends the stream before the upstream closes its connection: %s from %s',
    async (client, served) => {
      const seen = await upstream(response => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(streams[served].join(''))
      })
      const ask = await start(one(seen.url, served))
      const response = await ask(...streaming(client))
      expect(await sent(await response.text(), client)).toBe('Hello')
      // It is still open, and is given up a little later.
      expect(seen.aborted).toBe(0)
      if (client === served && client === 'messages') await until(() => seen.aborted === 1)
    },
  )

  test.each(pairs)(
    'sends keep-alives while the upstream is silent: %s from %s',
    async (client, served) => {
      const pings = () => pingsIn(received.received(), client).length
      let before = 0
      const [begun, rest] = [streams[served].slice(0, 3), streams[served].slice(3)]
      const script = [
        () => until(() => pings() > 0),
        ...begun,
        async () => (before = pings()),
        () => until(() => pings() > before),
        ...rest,
      ]
      const { url } = await upstream(sendStream(script))
      const ask = await start(one(url, served, { defaults: { keepAliveMs: 40 } }))
      const received = reading(ask(...streaming(client)))
      expect(await sent(await received.whole, client)).toBe('Hello')
    },
  )

  test.each(protocols)(
    'sends keep-alives before the first upstream byte, and reports a later failure inside the stream: %s',
    async client => {
      const { url } = await upstream(async response => {
        await until(() => pingsIn(received.received(), client).length > 0)
        response.writeHead(429, { 'content-type': 'application/json' })
        response.end('{"error":{"message":"Slow down","type":"requests","param":null,"code":null}}')
      })
      const ask = await start(one(url, 'chat-completions', { defaults: { keepAliveMs: 30 } }))
      const response = ask(...streaming(client))
      const received = reading(response)
      expect(await received.whole).toContain('Slow down')
      expect((await response).status).toBe(200)
    },
  )

  test('sends no keep-alive inside a frame', async () => {
    const whole = streams.messages.join('')
    const { url } = await upstream(
      sendStream([whole.slice(0, 30), 120, whole.slice(30, 300), 120, whole.slice(300)]),
    )
    const ask = await start(one(url, 'messages', { defaults: { keepAliveMs: 25 } }))
    const text = await (await ask(...streaming('messages'))).text()
    expect(await sent(text, 'messages')).toBe('Hello')
    expect(text.replaceAll(/(event: ping\ndata: .*\n\n|: ?ping\n\n)/g, '')).toBe(whole)
  })

  test.each([[1], [2], [3]])(
    "frames after the upstream's own error pass unchanged, in %d chunks",
    async chunks => {
      const frames = [
        'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Broken"}}\n\n',
        'event: ping\ndata: {"type":"ping"}\n\n',
        'event: message_stop\ndata: {"type":"message_stop"}\n\n',
      ]
      const sent = [frames.slice(0, 4 - chunks).join(''), ...frames.slice(4 - chunks)]
      const { url } = await upstream(
        sendStream([...half('messages'), ...sent.flatMap(chunk => [20, chunk])]),
      )
      const ask = await start(one(url, 'messages'))
      expect(await (await ask(...streaming('messages'))).text()).toBe(
        [...half('messages'), ...frames].join(''),
      )
    },
  )

  test.each(pairs)(
    'drops an incomplete frame of a cut-off stream: %s from %s',
    async (client, served) => {
      const [frame = ''] = half(served).slice(-1)
      const { url } = await upstream(sendStream([...half(served), 20, frame.slice(0, -9)]))
      const ask = await start(one(url, served, { defaults: { eventLimit: 100_000 } }))
      const text = await (await ask(...streaming(client))).text()
      expect(() => dataOf(text)).not.toThrow()
      expect(failureIn(text, client)).toMatchObject({ kind: 'internal' })
    },
  )

  test.each(pairs)(
    'drops the name of an event without data: %s from %s',
    async (client, served) => {
      const { url } = await upstream(
        sendStream([...half(served), 20, 'event: content_block_delta\n']),
      )
      const ask = await start(one(url, served, { defaults: { eventLimit: 100_000 } }))
      const text = await (await ask(...streaming(client))).text()
      expect(text).not.toMatch(/^event: .*\r?\n(?!data)/m)
      expect(failureIn(text, client)).toMatchObject({ kind: 'internal' })
    },
  )

  test('sends no keep-alive inside a text of a JSON list when the upstream is silent', async () => {
    const wire = (text: string) => ({
      candidates: [
        { content: { role: 'model', parts: [{ text }] }, index: 0, finishReason: 'STOP' },
      ],
    })
    const list = JSON.stringify([wire('a'.repeat(100_000))])
    const { url } = await upstream(sendStream([list.slice(0, 90_000), 120, list.slice(90_000)]))
    const ask = await start(one(url, 'generate-content', { defaults: { keepAliveMs: 40 } }))
    expect((await (await ask(...streaming('generate-content'))).text()).trim()).toBe(list)
  })

  test.each(pairs)(
    'an upstream that falls silent is aborted, and the client gets an error: %s from %s',
    async (client, served) => {
      const seen = await upstream(sendStream([half(served).join(''), 60_000]))
      const ask = await start(one(seen.url, served, {}, {}, { timeouts: { idleMs: 60 } }))
      const text = await (await ask(...streaming(client))).text()
      expect(failureIn(text, client)).toMatchObject({
        kind: 'timeout',
        message: 'the upstream stopped sending',
      })
      await until(() => seen.aborted === 1)
    },
  )

  test.each(pairs)(
    'an exchange may have a total timeout, and the client gets an error when it is reached: %s from %s',
    async (client, served) => {
      const seen = await upstream(async response => {
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .write(half(served).join(''))
        for (; !response.destroyed; await wait(20)) response.write(': still there\n\n')
      })
      // A keep-alive begins the response before the limit is reached, however late the upstream
      // responds.
      const ask = await start(
        one(seen.url, served, { defaults: { keepAliveMs: 1 } }, {}, { timeouts: { totalMs: 120 } }),
      )
      const text = await (await ask(...streaming(client))).text()
      expect(failureIn(text, client)).toMatchObject({
        kind: 'timeout',
        message: 'the upstream took too long',
      })
      // On a busy machine the limit is reached before the upstream has the request.
      await until(() => seen.aborted === seen.calls.length)
    },
  )

  test.each(protocols)(
    'an upstream that falls silent after its response, before its end marker, has not failed: %s',
    async client => {
      const records: UsageRecord[] = []
      const { url } = await upstream(
        sendStream([streams['chat-completions'].slice(0, -1).join(''), 60_000]),
      )
      const ask = await start(one(url, 'chat-completions', {}, {}, { timeouts: { idleMs: 60 } }), {
        onUsage: record => void records.push(record),
      })
      const text = await (await ask(...streaming(client))).text()
      expect(await sent(text, client)).toBe('Hello')
      expect(strictOf(client).outcome(dataOf(text))).toBe('success')
      expect(records).toMatchObject([{ status: 200 }])
      expect(records[0]).not.toHaveProperty('failure')
    },
  )

  test('reuses one connection for consecutive calls', async () => {
    const seen = await upstream(sendStream(streams.messages))
    const ask = await start(one(seen.url, 'messages'))
    for (let i = 0; i < 4; i++) {
      await (await ask(...streaming('messages'))).text()
      await (await ask(...streaming('responses'))).text()
    }
    expect(seen.calls.length).toBe(8)
    expect(seen.sockets.size).toBeLessThan(3)
  })

  test('passes bytes unchanged, including unusual ones', async () => {
    const odd = [
      ': comment\n\n',
      'id: 7\n',
      ...streams.messages.slice(0, 2),
      'event: new_kind\ndata: {"type":"new_kind",  "n":12345678901234567890}\n\n',
      ...streams.messages.slice(2),
    ]
    const { url } = await upstream(sendStream(odd))
    const ask = await start(one(url, 'messages'))
    expect(await (await ask(...streaming('messages'))).text()).toBe(odd.join(''))
  })

  test.each(protocols)('every event has the requested model name: %s', async protocol => {
    const { url } = await upstream(sendStream(streams[protocol]))
    for (const client of protocols) {
      const ask = await start(
        one(url, protocol, {}, { id: 'nickname', channels: [{ name: 'up', model: 'm' }] }),
      )
      const text = await (await ask(...asking(client, { model: 'nickname', stream: true }))).text()
      expect(text).toContain('"nickname"')
      expect(text).not.toContain('"model":"m"')
      expect(await sent(text, client)).toBe('Hello')
    }
  })
})

describe.each(hostsOf(import.meta.url))('through %s, between equal protocols', (_, start) => {
  test.each(['messages', 'responses'] as const)(
    'does not forward a response that begins inside another one: %s',
    async protocol => {
      const [first, second] = [
        streams[protocol],
        streams[protocol].map(frame =>
          frame.replaceAll('msg_1', 'msg_2').replaceAll('resp_1', 'resp_2'),
        ),
      ]
      const seen = await upstream(sendStream([...half(protocol), second.join('')]))
      const ask = await start(one(seen.url, protocol))
      const text = await (await ask(...asking(protocol, { stream: true }))).text()
      expect(text.startsWith(half(protocol).join(''))).toBe(true)
      expect(text).not.toContain(first.at(-1))
      expect(text).not.toContain(second.at(-1))
      expect(strictOf(protocol).outcome(dataOf(text))).toBe('failed')
    },
  )
})
