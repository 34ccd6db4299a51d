import { describe, expect, test } from 'vitest'
import type { GatewayConfig, Peers } from '../../src/gateway/gateway.ts'
import { createSuccession } from '../../src/gateway/peers.ts'
import { createPeers } from '../support/peers.ts'
import {
  listen,
  mounted,
  one,
  paths,
  post,
  requests,
  responses,
  sendJson,
  upstream,
} from './support.ts'

const chat = 'chat-completions'
const path = paths[chat]
const good = sendJson(200, responses[chat])
const bad = sendJson(500, { error: { message: 'broken' } })

/** A gateway of one process, and its URL. */
async function started(config: GatewayConfig, peers: Peers) {
  const handler = mounted(config, { logger: false, peers })
  const url = await listen(handler)
  const ask = async (more: object = {}, headers: Record<string, string> = {}) =>
    (await fetch(url + path, post({ ...requests[chat], ...more }, headers))).status
  return { handler, ask }
}

const slow = { authorization: 'Bearer slow-key' }
const limited = (url: string, requestsPerMinute: number, more: Partial<GatewayConfig> = {}) => ({
  ...one(url, chat),
  auth: undefined,
  keys: [{ name: 'slow', key: 'slow-key', requestsPerMinute }],
  ...more,
})

test('two processes share a limit', async () => {
  const config = limited((await upstream(good)).url, 3)
  const peers = createPeers()
  const [first, second] = [await started(config, peers()), await started(config, peers())]
  const statuses: number[] = []
  for (const { ask } of [first, second, first, second]) statuses.push(await ask({}, slow))
  expect(statuses).toEqual([200, 200, 200, 429])
})

test.each([
  ['open', [200, 200, 429]],
  ['closed', [503, 503, 503]],
] as const)('peers that fail, with limits that fail %s', async (onFailure, wanted) => {
  const config = limited((await upstream(good)).url, 2, { limits: { onFailure } })
  const count = () => Promise.reject(new Error('gone'))
  const { ask } = await started(config, { ...createPeers()(), count })
  expect([await ask({}, slow), await ask({}, slow), await ask({}, slow)]).toEqual(wanted)
})

const breaking = (url: string) =>
  one(url, chat, {}, {}, { breaker: { failures: 2, restMs: 60_000 } })

test('failures in two processes open the breaker of both, and a success closes both', async () => {
  const config = breaking((await upstream(bad, bad, good)).url)
  const peers = createPeers()
  const [first, second] = [await started(config, peers()), await started(config, peers())]
  const states = () => [first, second].map(({ handler }) => handler.state().channels[0]?.breaker)
  await first.ask()
  expect(states()).toEqual(['closed', 'closed'])
  await second.ask()
  expect(states()).toEqual(['open', 'open'])
  // There is no other channel.
  expect(await first.ask()).toBe(200)
  expect(states()).toEqual(['closed', 'closed'])
})

test('a success in one process forgives the failures of another', async () => {
  const config = breaking((await upstream(bad, good, bad, good)).url)
  const peers = createPeers()
  const [first, second] = [await started(config, peers()), await started(config, peers())]
  await first.ask()
  await second.ask()
  await first.ask()
  expect(first.handler.state().channels[0]?.breaker).toBe('closed')
})

test('a field that one process has learned is left out, and forgotten, in both', async () => {
  const message = "property 'logit_bias' is unsupported"
  const refused = sendJson(400, {
    error: { message, type: 'invalid_request_error', param: 'logit_bias', code: null },
  })
  const seen = await upstream(refused, good)
  const peers = createPeers()
  const config = one(seen.url, chat)
  const [first, second] = [await started(config, peers()), await started(config, peers())]
  const biased = { logit_bias: { 1: 2 } }
  expect([await first.ask(biased), await second.ask(biased)]).toEqual([200, 200])
  expect(seen.calls.map(({ json }) => 'logit_bias' in json)).toEqual([true, false, false])
  expect(second.handler.learned().all()).toMatchObject([{ channel: 'up', field: 'logit_bias' }])
  expect(second.handler.learned().forget({ field: 'logit_bias' })).toBe(1)
  expect(first.handler.learned().all()).toEqual([])
})

test('a closed gateway hears nothing more', async () => {
  const config = breaking((await upstream(bad)).url)
  const peers = createPeers()
  const [closed, open] = [await started(config, peers()), await started(config, peers())]
  await closed.handler.close(0)
  await open.ask()
  await open.ask()
  expect(open.handler.state().channels[0]?.breaker).toBe('open')
  expect(closed.handler.state().channels[0]?.breaker).toBe('closed')
})

describe('a gateway that takes the place of another one', () => {
  test('goes on with its counts and its breakers', async () => {
    const seen = await upstream(bad)
    const config = { ...limited(seen.url, 3), ...breaking(seen.url), auth: undefined }
    const peersOf = createSuccession()
    const next = () => started(config, peersOf(config.channels))
    const stateOf = ({ handler }: Awaited<ReturnType<typeof next>>) =>
      handler.state().channels[0]?.breaker
    const first = await next()
    await first.ask({}, slow)
    const second = await next()
    expect(stateOf(second)).toBe('closed')
    await second.ask({}, slow)
    expect([stateOf(first), stateOf(second), stateOf(await next())]).toEqual(Array(3).fill('open'))
    await second.ask({}, slow)
    expect(await (await next()).ask({}, slow)).toBe(429)
  })

  test('begins anew with a channel that has changed, and knows when the others rest no more', async () => {
    const config = (url: string) => breaking(url)
    const { url } = await upstream(bad)
    const peersOf = createSuccession()
    const { ask } = await started(config(url), peersOf(config(url).channels))
    await ask()
    await ask()
    const other = config(`${url}/elsewhere`)
    const changed = await started(other, peersOf(other.channels))
    expect(changed.handler.state().channels[0]?.breaker).toBe('closed')

    const short = one(url, chat, {}, {}, { breaker: { failures: 1, restMs: 200 } })
    await (await started(short, peersOf(short.channels))).ask()
    await new Promise(resolve => setTimeout(resolve, 250))
    const later = await started(short, peersOf(short.channels))
    expect(later.handler.state().channels[0]?.breaker).toBe('probing')
  })
})
