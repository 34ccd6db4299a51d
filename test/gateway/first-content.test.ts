import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { wireOf } from '../support/upstreams/index.ts'
import {
  asking,
  hostsOf,
  isStreaming,
  type Protocol,
  paths,
  sendJson,
  sendStream,
  sent,
  upstream,
  wait,
} from './support.ts'

const names = Object.keys(protocols) as ProtocolName[]
const clients = Object.keys(paths) as Protocol[]
const script = { text: 'Hello', ending: 'stop' } as const

const page = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>')
const frames = (...texts: string[]) => sendStream(texts)

/** The content of each protocol in which nothing is. */
const empty: Record<ProtocolName, object> = {
  'chat-completions': { object: 'chat.completion', choices: [], usage: null },
  responses: {},
  messages: {},
  'generate-content': { candidates: [], modelVersion: 'm' },
  converse: {},
}

/** How a stream of each protocol begins, before there is any content. */
const headOf = (served: ProtocolName) => {
  const [head = ''] = wireOf(served).stream(script)
  return served === 'generate-content' ? 'data: {"candidates":[]}\n\n' : head
}

const failure = (served: ProtocolName) =>
  protocols[served].frames.failure({ status: 503, kind: 'overloaded', message: 'Overheated' })

type Play = (response: ServerResponse) => unknown

const wholes = (served: ProtocolName): [what: string, play: Play][] => [
  ['a web page', page],
  ['a web page that says it is JSON', sendJson(200, '<!doctype html><html></html>')],
  ['an empty body', sendJson(200, '')],
  ['half of its JSON', sendJson(200, '{"id": "x')],
  ['nothing in it', sendJson(200, empty[served])],
  ['an error', sendJson(200, { error: { message: 'Overheated', type: 'server_error' } })],
]

const streamed = (served: ProtocolName): [what: string, play: Play][] => [
  ['a web page', page],
  ['an empty stream', frames('')],
  ['a lone [DONE]', frames('data: [DONE]\n\n')],
  ['only keep-alives', frames(': waiting\n\n', ': waiting\n\n')],
  ['an error', frames(failure(served))],
  ['an error behind its start', frames(headOf(served), failure(served))],
  ['a start without an end', frames(headOf(served))],
  ['a broken connection', sendStream([headOf(served)], { cut: true })],
]

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  /** Two channels of one protocol: the first plays, and the other one answers. */
  async function played(served: ProtocolName, play: Play, streaming: boolean, retries = 0) {
    const wire = wireOf(served)
    const good: Play = streaming
      ? sendStream(wire.stream(script))
      : sendJson(200, wire.response(script))
    const first = await upstream(play, retries > 0 ? good : play)
    const second = await upstream(good)
    const channel = (name: string, baseUrl: string) => ({
      name,
      baseUrl,
      protocols: [served],
      apiKey: 'k',
    })
    const ask = await start({
      auth: 'none',
      channels: [channel('first', first.url), channel('second', second.url)],
      models: [{ id: 'm', channels: [{ name: 'first' }, { name: 'second', priority: 1 }] }],
      defaults: { retries },
    })
    return { first, second, ask }
  }

  describe.each(names)('%s', served => {
    test.each(wholes(served))('a 200 with %s fails over', async (_what, play) => {
      for (const client of clients) {
        const { first, second, ask } = await played(served, play, false)
        const response = await ask(...asking(client))
        expect([response.status, first.calls.length, second.calls.length]).toEqual([200, 1, 1])
        expect(await response.text()).toContain('Hello')
      }
    })

    test.each(streamed(served))('a stream with %s fails over', async (_what, play) => {
      for (const client of clients) {
        const { first, second, ask } = await played(served, play, true)
        const response = await ask(...asking(client, { stream: true }))
        expect([response.status, first.calls.length, second.calls.length]).toEqual([200, 1, 1])
        expect(await sent(await response.text(), client)).toBe('Hello')
      }
    })

    test('is retried at the same channel, whole and streamed', async () => {
      for (const [streaming, play] of [
        [false, sendJson(200, empty[served])],
        [true, frames('')],
      ] as const) {
        const { first, second, ask } = await played(served, play, streaming, 2)
        const response = await ask(...asking('messages', { stream: streaming }))
        expect([response.status, first.calls.length, second.calls.length]).toEqual([200, 2, 0])
        expect(await response.text()).toContain('Hel')
      }
    })

    test('is an error of the caller when no channel is left', async () => {
      for (const client of clients)
        for (const [stream, play] of [
          [false, sendJson(200, empty[served])],
          [true, frames('data: [DONE]\n\n')],
        ] as const) {
          const none = await upstream(play)
          const alone = await start({
            auth: 'none',
            channels: [{ name: 'only', baseUrl: none.url, protocols: [served], apiKey: 'k' }],
            models: [{ id: 'm', channels: [{ name: 'only' }] }],
            defaults: { retries: 0 },
          })
          const response = await alone(...asking(client, { stream }))
          expect(response.status).toBe(502)
          expect(strictOf(client).checkError(await response.json())).toEqual([])
        }
    })
  })

  test('a failure of the request itself in the first frame is not retried', async () => {
    const { first, second, ask } = await played(
      'chat-completions',
      frames('data: {"error":{"message":"Bad picture","type":"invalid_request_error"}}\n\n'),
      true,
      2,
    )
    const response = await ask(...asking('responses', { stream: true }))
    expect([response.status, first.calls.length, second.calls.length]).toEqual([400, 1, 0])
  })

  test('a response of the model that is empty is a success', async () => {
    for (const [served, body] of [
      ['messages', { type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn' }],
      ['responses', { object: 'response', status: 'completed', output: [] }],
      ['generate-content', { promptFeedback: { blockReason: 'SAFETY' } }],
    ] as const) {
      const { second, ask } = await played(served, sendJson(200, body), false)
      expect((await ask(...asking(served))).status).toBe(200)
      expect(second.calls.length).toBe(0)
    }
  })

  test('clients get keep-alives while other attempts are made', async () => {
    const slow = sendStream([150, 'data: [DONE]\n\n'])
    const good = sendStream(wireOf('messages').stream(script))
    const seen = await upstream(slow, good)
    const ask = await start({
      auth: 'none',
      channels: [{ name: 'up', baseUrl: seen.url, protocols: ['messages'], apiKey: 'k' }],
      models: [{ id: 'm', channels: [{ name: 'up' }] }],
      defaults: { retries: 1, keepAliveMs: 30 },
    })
    for (const client of clients) {
      seen.calls.length = 0
      const response = await ask(...asking(client, { stream: true }))
      expect(await sent(await response.text(), client)).toBe('Hello')
      expect(isStreaming('messages', seen.calls[1])).toBe(true)
      await wait(5)
    }
  })
})
