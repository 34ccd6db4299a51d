import { describe, expect, test } from 'vitest'
import { type Hooks, reject } from '../../src/gateway/gateway.ts'
import type { CanonicalEvent, Usage } from '../../src/index.ts'
import {
  failures,
  half,
  hostsOf,
  one,
  type Protocol,
  pairs,
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

const pathTo = (client: Protocol) => pathOf(client, { stream: true })
const bodyOf = (client: Protocol) =>
  post(client === 'generate-content' ? requests[client] : { ...requests[client], stream: true })

/** Changes the text of each delta, as a redaction does. */
const upperCase: Hooks['onStream'] = async function* (events) {
  for await (const event of events) {
    const { type } = event
    yield type === 'part.delta' && event.delta.kind === 'text'
      ? { ...event, delta: { ...event.delta, text: event.delta.text.toUpperCase() } }
      : event
  }
}

describe.each(hostsOf(import.meta.url))('onStream through %s', (_, start) => {
  test.each(pairs)('replaces events, %s client, %s upstream', async (client, served) => {
    const { url } = await upstream(sendStream(streams[served]))
    const ask = await start(one(url, served), { onStream: upperCase })
    const response = await ask(pathTo(client), bodyOf(client))
    expect(response.status).toBe(200)
    expect(await sent(await response.text(), client)).toBe('HELLO')
  })

  test('streams stay live, and each event comes before the next one is sent', async () => {
    let proceed = () => {}
    const waiting = new Promise<void>(resolve => {
      proceed = resolve
    })
    const before = half('messages')
    const { url } = await upstream(
      sendStream([...before, () => waiting, ...streams.messages.slice(before.length)]),
    )
    const ask = await start(one(url, 'messages'), { onStream: upperCase })
    const { received, whole } = reading(ask(pathTo('chat-completions'), bodyOf('chat-completions')))
    await until(() => received().includes('HEL'))
    expect(received()).not.toContain('"LO"')
    proceed()
    expect(await sent(await whole, 'chat-completions')).toBe('HELLO')
  })

  test('a response that the upstream sends as JSON passes it', async () => {
    const { url } = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(url, 'messages'), { onStream: upperCase })
    expect(
      await sent(
        await (await ask(pathTo('chat-completions'), bodyOf('chat-completions'))).text(),
        'chat-completions',
      ),
    ).toBe('HELLO')
  })

  test('gets the exchange, and usage is recorded', async () => {
    const { url } = await upstream(sendStream(streams.messages))
    const calls: unknown[] = []
    const usages: (Usage | undefined)[] = []
    const ask = await start(one(url, 'messages'), {
      onStream(events, { protocol, model, request }) {
        calls.push({ protocol, model, method: Object(request.raw).method })
        return events
      },
      onUsage: ({ usage }) => void usages.push(usage),
    })
    await (await ask(pathTo('chat-completions'), bodyOf('chat-completions'))).text()
    await until(() => usages.length > 0)
    expect(calls).toEqual([{ protocol: 'chat-completions', model: 'm', method: 'POST' }])
    expect(usages[0]?.output).toBe(2)
  })

  test('a refusal before the first output has its status', async () => {
    const { url } = await upstream(sendStream(streams.messages))
    const ask = await start(one(url, 'messages'), {
      onStream() {
        throw reject(403, 'permission', 'no streams today')
      },
    })
    const response = await ask(pathTo('chat-completions'), bodyOf('chat-completions'))
    expect([response.status, await response.json()]).toMatchObject([
      403,
      { error: { message: 'no streams today' } },
    ])
  })

  test.each([
    ['refusal', () => reject(403, 'permission', 'blocked'), 'blocked'],
    ['fault', () => new TypeError('guardrail'), 'the hook onStream failed'],
  ] as const)(
    'a %s in the middle ends the stream with an error, and the upstream call',
    async (_, thrown, message) => {
      const seen = await upstream(
        sendStream([...half('messages'), () => new Promise<never>(() => {})]),
      )
      const ask = await start(one(seen.url, 'messages'), {
        async *onStream(events) {
          for await (const event of events) {
            yield event
            if (event.type === 'part.delta') throw thrown()
          }
        },
      })
      const text = await (await ask(pathTo('chat-completions'), bodyOf('chat-completions'))).text()
      expect(text).toContain('Hel')
      expect(text).toContain(message)
      expect(text).not.toContain('guardrail')
      await until(() => seen.aborted === 1)
    },
  )

  test('a stream that the hook ends itself is complete, and ends the upstream call', async () => {
    const seen = await upstream(
      sendStream([...half('messages'), () => new Promise<never>(() => {})]),
    )
    const ask = await start(one(seen.url, 'messages'), {
      async *onStream(events) {
        for await (const event of events) {
          yield event
          if (event.type === 'part.delta') break
        }
        yield { type: 'part.end', candidate: 0, part: 0 }
        yield { type: 'message.end', candidate: 0, message: 0 }
        yield { type: 'finish', candidate: 0, finish: { reason: 'length' } }
        yield { type: 'end', clean: true }
      },
    })
    expect(
      await sent(
        await (await ask(pathTo('chat-completions'), bodyOf('chat-completions'))).text(),
        'chat-completions',
      ),
    ).toBe('Hel')
    await until(() => seen.aborted === 1)
  })

  test('events that are not read end the upstream call', async () => {
    const seen = await upstream(
      sendStream([...half('messages'), () => new Promise<never>(() => {})]),
    )
    const ask = await start(one(seen.url, 'messages'), {
      async *onStream() {
        yield { type: 'start', model: 'm' }
        throw reject(403, 'permission', 'unread')
      },
    })
    expect(
      await (await ask(pathTo('chat-completions'), bodyOf('chat-completions'))).text(),
    ).toContain('unread')
    await until(() => seen.aborted === 1)
  })

  test('with neither output nor end, the client gets an error', async () => {
    const { url } = await upstream(sendStream(streams.messages))
    const ask = await start(one(url, 'messages'), { async *onStream() {} })
    expect((await ask(pathTo('chat-completions'), bodyOf('chat-completions'))).status).toBe(502)
  })

  test.each(pairs)(
    'an error of the upstream is an event, and reaches the client: %s client, %s upstream',
    async (client, served) => {
      const { url } = await upstream(sendStream([...half(served), failures[served]]))
      const events: CanonicalEvent[] = []
      const ask = await start(one(url, served), {
        async *onStream(all) {
          for await (const event of all) {
            events.push(event)
            yield event
          }
        },
      })
      const text = await (await ask(pathTo(client), bodyOf(client))).text().catch(String)
      expect(text).toMatch(/Overheated|terminated/)
      expect(events.filter(({ type }) => type === 'error')).toMatchObject([
        { error: { message: 'Overheated' } },
      ])
    },
  )

  test('an error before the first output keeps its status', async () => {
    const { url } = await upstream(sendStream([failures['generate-content']]))
    const ask = await start(
      { ...one(url, 'generate-content'), defaults: { retries: 0 } },
      { onStream: events => events },
    )
    expect((await ask(pathTo('chat-completions'), bodyOf('chat-completions'))).status).toBe(503)
  })

  test('streams that it leaves alone go to onResponse', async () => {
    const { url } = await upstream(sendStream(streams.messages))
    const seen: unknown[] = []
    const ask = await start(one(url, 'messages'), {
      onStream: () => undefined,
      onResponse: ({ body }) => void seen.push(body),
    })
    expect(
      await sent(await (await ask(pathTo('messages'), bodyOf('messages'))).text(), 'messages'),
    ).toBe('Hello')
    expect(seen).toHaveLength(1)
  })

  test('complete responses do not pass it', async () => {
    const { url } = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(url, 'messages'), {
      onStream() {
        throw reject(403, 'permission', 'no streams today')
      },
    })
    expect((await ask(paths.messages, post(requests.messages))).status).toBe(200)
  })
})
