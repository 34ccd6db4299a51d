import { describe, expect, test } from 'vitest'
import type { GatewayConfig, UsageRecord } from '../../src/gateway/gateway.ts'
import { Overlap } from '../../src/gateway/resume/overlap.ts'
import { protocols } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { explodeResponse } from '../../src/translate/fold.ts'
import {
  asking,
  failureIn,
  half,
  hostsOf,
  one,
  type Protocol,
  pairs,
  requests,
  sendJson,
  sendStream,
  sent,
  streams,
  until,
  upstream,
} from './support.ts'

const resuming = (url: string, served: Protocol, model: object = {}, channel: object = {}) =>
  one(url, served, {}, { resume: true, ...model }, channel)

const broken = (protocol: Protocol) => sendStream(half(protocol), { cut: true })

/** A stream of the protocol with this text. */
function streamOf(protocol: Protocol, text: string): string[] {
  const codec = protocols[protocol]
  const { wire } = codec.encodeResponse({
    id: 'resp_2',
    model: 'm',
    createdAt: 1_700_000_000,
    candidates: [
      {
        index: 0,
        messages: [{ role: 'assistant', origin: 'message', parts: [{ type: 'text', text }] }],
        finish: { reason: 'stop' },
      },
    ],
    usage: { input: 7, output: 2 },
  })
  return [explodeResponse(wire, codec, {}).text]
}

describe('a text that repeats another one', () => {
  const words = (length: number) =>
    Array.from({ length: length / 8 }, (_, i) => `word${(i * 7919) % 1009} `).join('')
  const taken = (sent: string, more: string) => {
    const overlap = new Overlap(sent)
    let said = ''
    for (let at = 0; at < more.length; at += 4) said += overlap.take(more.slice(at, at + 4))
    return said + overlap.end()
  }

  test.each([
    ['all of it', words(4_000), `${words(4_000)}and more`, 'and more'],
    ['its end', words(4_000), `${words(4_000).slice(-60)}and more`, 'and more'],
    ['its beginning', words(4_000), `${words(4_000).slice(0, 600)}and more`, undefined],
    ['nothing', words(4_000), 'other words', 'other words'],
  ])('is cut: %s', (_, sent, more, said) => expect(taken(sent, more)).toBe(said ?? more))

  test('takes time in proportion to its length', () => {
    const sent = words(1_000_000)
    const began = process.cpuUsage()
    expect(taken(sent, `${sent}and more`)).toBe('and more')
    expect(process.cpuUsage(began).user / 1_000_000).toBeLessThan(5)
  })
})

const records = () => {
  const list: UsageRecord[] = []
  return { list, hooks: { onUsage: (record: UsageRecord) => void list.push(record) } }
}

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(pairs)('a broken stream goes on, %s client, %s upstream', async (client, served) => {
    const { url, calls } = await upstream(broken(served), sendStream(streamOf(served, 'lo, world')))
    const { list, hooks } = records()
    const noted: string[] = []
    const ask = await start(resuming(url, served), {
      ...hooks,
      logger: false,
      onNotes: notes => void noted.push(...notes.map(({ code, path }) => `${code} ${path}`)),
    })
    const response = await ask(...asking(client, { stream: true }))
    const text = await response.text()
    expect(await sent(text, client)).toBe('Hello, world')
    expect(failureIn(text, client)).toBeUndefined()
    const strict = strictOf(client)
    const wires = framesOf(text).map(({ wire }) => wire)
    expect([strict.checkStream(wires), strict.outcome(wires)]).toEqual([[], 'success'])
    await until(() => list.length > 0)
    expect(list[0]).toMatchObject({ status: 200, attempts: 2 })
    expect(list[0]?.noteCodes).toContain('gateway.resumed')
    expect(noted).toEqual([...new Set(noted)])
    expect(list[0]?.usage?.input).toBeGreaterThan(7)
    // The model reads what it has written so far, and what to do.
    const [first, second] = calls.map(call =>
      protocols[served]
        .decodeRequest(call.json)
        .value.messages.map(({ role, parts }) => [
          role,
          parts.map(part => (part.type === 'text' ? part.text : part.type)).join(''),
        ]),
    )
    expect(second?.slice(first?.length)).toEqual([
      ['assistant', 'Hel'],
      ['user', expect.stringMatching('Continue it')],
    ])
  })

  test('Claude models that take the beginning of an answer get it', async () => {
    const { url, calls } = await upstream(
      broken('messages'),
      sendStream(streamOf('messages', 'lo')),
    )
    const ask = await start(
      resuming(url, 'messages', { channels: [{ name: 'up', model: 'claude-sonnet-4-5' }] }),
    )
    const response = await ask(...asking('chat-completions', { stream: true }))
    expect(await sent(await response.text(), 'chat-completions')).toBe('Hello')
    const { messages } = calls[1]?.json ?? {}
    expect((messages as { role: string }[]).at(-1)).toMatchObject({ role: 'assistant' })
  })

  test('another channel of another protocol goes on, and a model that begins anew', async () => {
    const [first, second] = [
      await upstream(broken('messages'), sendJson(503, {})),
      await upstream(sendStream(streamOf('responses', 'Hello again'))),
    ]
    const config: GatewayConfig = {
      auth: 'none',
      channels: [
        { name: 'first', protocols: ['messages'], baseUrl: first.url },
        { name: 'second', protocols: ['responses'], baseUrl: second.url },
      ],
      models: [
        { id: 'm', resume: true, channels: [{ name: 'first' }, { name: 'second', priority: -1 }] },
      ],
      defaults: { retries: 0 },
    }
    const ask = await start(config)
    const response = await ask(...asking('chat-completions', { stream: true }))
    expect(await sent(await response.text(), 'chat-completions')).toBe('Hello again')
  })

  test.each(Object.keys(requests) as Protocol[])(
    'without `resume`, or when no attempt responds, a %s stream fails as before',
    async protocol => {
      for (const config of [
        (url: string) => one(url, protocol),
        (url: string) => resuming(url, protocol),
      ]) {
        const { url } = await upstream(broken(protocol), sendJson(500, {}))
        const { list, hooks } = records()
        const ask = await start(config(url), { ...hooks, logger: false })
        const text = await ask(...asking(protocol, { stream: true })).then(
          response => response.text(),
          () => '',
        )
        const wires = framesOf(text).map(({ wire }) => wire)
        expect(strictOf(protocol).outcome(wires)).toBe('failed')
        await until(() => list.length > 0)
        expect(list[0]?.failure).toBeDefined()
      }
    },
  )

  test('at most three further calls, and none for a request that is refused in the middle', async () => {
    const again = await upstream(broken('messages'))
    const ask = await start(resuming(again.url, 'messages'))
    await (await ask(...asking('chat-completions', { stream: true }))).text().catch(() => '')
    expect(again.calls).toHaveLength(4)
    const refusing = await upstream(
      sendStream([
        ...half('messages'),
        `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: 'no' } })}\n\n`,
      ]),
    )
    const other = await start(resuming(refusing.url, 'messages'))
    await (await other(...asking('chat-completions', { stream: true }))).text().catch(() => '')
    expect(refusing.calls).toHaveLength(1)
  })

  test('an overloaded upstream in the middle of its answer', async () => {
    const { url } = await upstream(
      sendStream([
        ...half('messages'),
        `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })}\n\n`,
      ]),
      sendStream(streams.messages),
    )
    const ask = await start(resuming(url, 'messages'))
    const response = await ask(...asking('messages', { stream: true }))
    expect(await sent(await response.text(), 'messages')).toBe('Hello')
  })
})
