import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { wireOf } from '../support/upstreams/index.ts'
import {
  asking,
  hostsOf,
  type Protocol,
  pathOf,
  paths,
  post,
  requests,
  sendJson,
  sendStream,
  upstream,
} from './support.ts'

const names = Object.keys(protocols) as ProtocolName[]
const clients = Object.keys(paths) as Protocol[]

/** Errors that belong to no protocol. */
const foreign = [
  { detail: 'Not like this' },
  { error: { message: 'Not like this', type: 'BadRequestError', param: null, code: 400 } },
  { object: 'error', message: 'Not like this', type: 'BadRequestError', param: null, code: 400 },
  'Not like this',
]

const full =
  'request (60011 tokens) exceeds the available context size (32768 tokens), try increasing it'
const overflows = [
  { error: { code: 400, message: full, type: 'exceed_context_size_error', n_ctx: 32768 } },
  { error: { message: full, type: 'BadRequestError', param: null, code: 400 } },
  { type: 'error', error: { type: 'invalid_request_error', message: full } },
  { message: full },
]

/** How clients of each protocol know a full context. */
const knownAs: Record<Protocol, object> = {
  'chat-completions': { error: { code: 'context_length_exceeded' } },
  responses: { error: { code: 'context_length_exceeded' } },
  messages: {
    type: 'error',
    error: { message: expect.stringMatching(/^prompt is too long: 60011 tokens > 32768/) },
  },
  'generate-content': {
    error: { status: 'INVALID_ARGUMENT', message: expect.stringMatching(/token/) },
  },
}

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  const at = (url: string, served: ProtocolName, more: object = {}) =>
    start({
      auth: 'none',
      channels: [{ name: 'up', baseUrl: url, protocols: [served], apiKey: 'k' }],
      models: [{ id: 'm', channels: [{ name: 'up' }] }],
      defaults: { retries: 0 },
      ...more,
    })

  describe.each(names)('an upstream of %s', served => {
    test('has errors in the dialect of the caller', async () => {
      for (const error of foreign) {
        const { url } = await upstream(sendJson(400, error))
        const ask = await at(url, served)
        for (const client of clients) {
          const response = await ask(...asking(client))
          expect(response.status).toBe(400)
          const text = await response.text()
          expect(strictOf(client).checkError(JSON.parse(text)), text).toEqual([])
          expect(text).toContain('Not like this')
          expect(text).not.toContain('BadRequestError')
        }
      }
    })

    test('tells a full context in the words of the caller, also as the first frame', async () => {
      for (const error of overflows)
        for (const client of clients) {
          const frame = `data: ${JSON.stringify(error)}\n\n`
          const framed = served !== 'converse' && 'error' in error
          for (const [stream, play] of [
            [false, sendJson(400, error)],
            ...(framed ? ([[true, sendStream([frame])]] as const) : []),
          ] as const) {
            const { url } = await upstream(play)
            const ask = await at(url, served)
            const response = await ask(...asking(client, { stream }))
            expect(response.status, `${client} ${frame}`).toBe(400)
            expect(await response.json()).toMatchObject(knownAs[client])
          }
        }
    })

    test.each([401, 403])('that refuses the key of the gateway with %i is a 502', async status => {
      const { failure, failureHeaders } = wireOf(served)
      const given = { status: 401, type: 'authentication_error', message: 'Wrong key' }
      const { url } = await upstream(
        sendJson(status, failure(given), failureHeaders?.(given) as Record<string, string>),
      )
      const ask = await at(url, served)
      for (const client of clients)
        for (const stream of [false, true]) {
          const response = await ask(...asking(client, { stream }))
          if (status === 403 && response.status === 403) continue
          expect(response.status).toBe(502)
          expect(response.headers.get('x-should-retry')).toBe('false')
          const body = await response.json()
          expect(strictOf(client).checkError(body)).toEqual([])
          expect(JSON.stringify(body)).toContain('the key of the gateway')
        }
    })
  })

  test('a body of another protocol is refused with its path, also within one protocol', async () => {
    const seen = await upstream(sendJson(200, {}))
    for (const own of clients) {
      const ask = await at(seen.url, own)
      for (const other of clients) {
        if (other === own || own === 'messages' || other === 'chat-completions') continue
        if (own === 'chat-completions' && other === 'messages') continue
        const response = await ask(pathOf(own), post({ model: 'm', ...requests[other] }))
        expect(response.status, `${other} at ${own}`).toBe(400)
        expect(await response.text()).toContain(protocols[other].address.path)
      }
    }
    expect(seen.calls.length).toBe(0)
  })

  test.each([undefined, null])('a messages request with max_tokens %s is refused', async limit => {
    const seen = await upstream(sendJson(200, wireOf('messages').response({ ending: 'stop' })))
    const body = { ...requests.messages, max_tokens: limit }
    const response = await (await at(seen.url, 'messages'))(paths.messages, post(body))
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('max_tokens')
    expect(seen.calls.length).toBe(0)
    const configured = await at(seen.url, 'messages', {
      models: [{ id: 'm', channels: [{ name: 'up' }], setIfAbsent: { max_tokens: 100 } }],
    })
    expect(
      (await configured(paths.messages, post({ ...body, max_tokens: undefined }))).status,
    ).toBe(200)
  })
})
