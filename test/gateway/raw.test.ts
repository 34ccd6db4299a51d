import { afterEach, describe, expect, test } from 'vitest'
import { createGateway, type GatewayRequest, type Hooks } from '../../src/gateway/gateway.ts'
import {
  one,
  paths,
  requests,
  responses,
  sendJson,
  sendStream,
  streams,
  upstream,
  wait,
} from './support.ts'

/** Gateways as a host of one's own has them: what they are given is whatever that host gives. */

const never = new Promise<never>(() => {})

const leaver = (path: string = paths.messages, method = 'POST') => {
  const left = new AbortController()
  const request: GatewayRequest = {
    method,
    path,
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/json' },
    body: { parsed: requests.messages },
    signal: left.signal,
    base: '',
    local: true,
  }
  return { request, left }
}

describe('an upstream that never responds does not delay a close, also when its client has left', () => {
  test.each<[what: string, hooks: Hooks]>([
    ['authenticate', { authenticate: () => never }],
    ['route', { route: () => never }],
    ['a transport without an abort', { transport: { send: () => never } }],
    [
      'a body without an abort',
      {
        transport: {
          send: async () => ({
            status: 200,
            headers: { 'content-type': 'application/json' },
            body: { [Symbol.asyncIterator]: () => ({ next: () => never }) },
          }),
        },
      },
    ],
  ])('%s', async (_, hooks) => {
    for (const leaves of [true, false]) {
      const gateway = createGateway(one('http://up.test', 'messages'), hooks)
      const { request, left } = leaver()
      void gateway.handle(request)
      await wait(10)
      if (leaves) left.abort()
      const closed = await Promise.race([gateway.close(30).then(() => 'closed'), wait(30_000)])
      expect([leaves, closed]).toEqual([leaves, 'closed'])
    }
  })
})

describe('a logger that fails', () => {
  const unrecognized: unknown[] = []
  const hear = (error: unknown) => unrecognized.push(error)
  afterEach(() => void process.off('unhandledRejection', hear))

  test('does not make the request fail', async () => {
    process.on('unhandledRejection', hear)
    const { url } = await upstream(sendJson(200, responses.messages))
    const fail = async () => Promise.reject(new Error('the disk is full'))
    const gateway = createGateway(one(url, 'messages'), {
      logger: { info: fail, warn: fail, error: fail },
    })
    expect((await gateway.handle(leaver().request)).status).toBe(200)
    await wait(20)
    await gateway.close(0)
    expect(unrecognized).toEqual([])
  })
})

test.each([false, true])(
  'removes its abort listeners when an exchange is over, streamed: %s',
  async stream => {
    const { url } = await upstream(
      stream ? sendStream(streams.messages) : sendJson(200, responses.messages),
    )
    const gateway = createGateway(one(url, 'messages'))
    const { request } = leaver()
    let listening = 0
    const signal: GatewayRequest['signal'] = {
      aborted: false,
      reason: undefined,
      addEventListener: () => void listening++,
      removeEventListener: () => void listening--,
    }
    const { body } = await gateway.handle({
      ...request,
      signal,
      body: { parsed: { ...requests.messages, stream } },
    })
    if (typeof body === 'object' && Symbol.asyncIterator in body) for await (const _ of body);
    expect(listening).toBe(0)
    await gateway.close(0)
  },
)

test.each(['%2e%2e', '%2e', '..', '%252e%252e', '..%5c..', '%2e%2e%00'])(
  'does not reach another path through an id with path segments: %s',
  async id => {
    const seen = await upstream(sendJson(200, { id: 'resp_1' }))
    const gateway = createGateway(one(seen.url, 'responses'))
    for (const [method, rest] of [
      ['GET', ''],
      ['GET', '/input_items'],
      ['POST', '/cancel'],
    ] as const)
      await gateway.handle(leaver(`/v1/responses/${id}${rest}`, method).request)
    for (const { path } of seen.calls)
      expect(path).toMatch(/^\/v1\/responses\/[^/]+(\/input_items|\/cancel)?$/)
    await gateway.close(0)
  },
)
