import { describe, expect, test } from 'vitest'
import type { GatewayConfig, UsageRecord } from '../../src/gateway/gateway.ts'
import { fetchGateway } from '../../src/hosts/fetch.ts'
import { translateRequest } from '../../src/index.ts'
import { createOperations } from '../../src/operations/index.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { post, until } from './support.ts'

const config: GatewayConfig = {
  auth: 'none',
  channels: [{ name: 'demo', embedded: 'demo' }],
  defaults: { cachePrefix: true },
}
const story = 'a long story '.repeat(100)

type Turn = { text: string; marked?: boolean }

/** A turn of an agent: where it marks the cache, it makes a list of the text. */
const said = ({ text, marked }: Turn) =>
  marked ? [{ type: 'text' as const, text, cache_control: { type: 'ephemeral' as const } }] : text

function bodyOf(
  name: ProtocolName,
  turns: (string | Turn)[],
  system = `be brief ${story}`,
): object {
  const messages = turns.flatMap((turn, i) => [
    ...(i > 0 ? [{ role: 'assistant' as const, content: 'I see.' }] : []),
    { role: 'user' as const, content: said(typeof turn === 'string' ? { text: turn } : turn) },
  ])
  const body = { model: 'demo', max_tokens: 100, system, messages }
  return translateRequest(body, { from: 'messages', to: name }).body as object
}

/** The records of requests that one client sends. */
async function recordsOf(
  name: ProtocolName,
  bodies: object[],
  headers: Record<string, string>[] = [],
) {
  const records: UsageRecord[] = []
  const gateway = fetchGateway(config, {
    logger: false,
    onUsage: record => void records.push(record),
  })
  const path = protocols[name].address.target({
    operation: 'generate',
    model: 'demo',
    stream: false,
  })
  for (const [i, body] of bodies.entries()) {
    const response = await gateway(`http://gateway.test${path}`, post(body, headers[i]))
    expect(response.status).toBe(200)
    await response.text()
  }
  await until(() => records.length === bodies.length)
  await gateway.close(100)
  return records.map(({ cachePrefix }) => cachePrefix)
}

describe.each(protocolNames)('a conversation in %s', name => {
  test('that goes on keeps its prefix', async () => {
    const [first, second, third] = await recordsOf(name, [
      bodyOf(name, [story]),
      bodyOf(name, [story, 'and then?']),
      bodyOf(name, [story, 'and then?', story]),
    ])
    expect(first).toBeUndefined()
    expect(second).toMatchObject({ lost: 0 })
    expect(second?.kept).toBeGreaterThan(600)
    expect(third).toMatchObject({ lost: 0 })
    expect(third?.kept).toBeGreaterThan(second?.kept ?? 0)
  })

  test('with other instructions loses all of it', async () => {
    const [, second] = await recordsOf(
      name,
      [bodyOf(name, [story], `Monday ${story}`), bodyOf(name, [story, 'more'], `Tuesday ${story}`)],
      [{ 'x-session-id': 's' }, { 'x-session-id': 's' }],
    )
    expect(second?.kept).toBe(0)
    expect(second?.lost).toBeGreaterThan(600)
  })

  test('with another earlier message loses what follows', async () => {
    const [, second] = await recordsOf(name, [
      bodyOf(name, ['hello', story, story]),
      bodyOf(name, ['hello', `${story}!`, story, 'more']),
    ])
    expect(second?.kept).toBeGreaterThan(300)
    expect(second?.lost).toBeGreaterThan(600)
  })

  test('is another one with another session', async () => {
    const bodies = [bodyOf(name, [story]), bodyOf(name, [story, 'more'])]
    const headers = [{ 'x-session-id': 'one' }, { 'x-session-id': 'other' }]
    expect(await recordsOf(name, bodies, headers)).toEqual([undefined, undefined])
  })
})

test('marks of the cache, which move from message to message, break nothing', async () => {
  const records = await recordsOf('messages', [
    bodyOf('messages', [story, { text: 'and then?', marked: true }]),
    bodyOf('messages', [story, 'and then?', { text: 'what else?', marked: true }]),
  ])
  expect(records[1]).toMatchObject({ lost: 0 })
})

test('a group whose prompts are not compared', async () => {
  const records: UsageRecord[] = []
  const gateway = fetchGateway(
    {
      keys: [
        { name: 'alice', key: 'wg-alice-0123456789', group: 'private' },
        { name: 'bob', key: 'wg-bob-0123456789', group: 'team' },
      ],
      groups: { private: { cachePrefix: false }, team: {} },
      channels: [{ name: 'demo', embedded: 'demo' }],
      defaults: { cachePrefix: true },
    },
    { logger: false, onUsage: record => void records.push(record) },
  )
  for (const name of ['alice', 'bob'])
    for (const turns of [['one'], ['one', 'two']]) {
      const headers = { authorization: `Bearer wg-${name}-0123456789` }
      const body = bodyOf('chat-completions', turns)
      await gateway('http://gateway.test/v1/chat/completions', post(body, headers))
    }
  await until(() => records.length === 4)
  await gateway.close(100)
  expect(records.map(({ cachePrefix }) => cachePrefix !== undefined)).toEqual([
    false,
    false,
    false,
    true,
  ])
})

test('a metric counts kept and lost tokens', async () => {
  const operations = createOperations({
    state: () => ({ channels: [], inProgress: 0 }) as never,
    log: 'off',
  })
  const gateway = fetchGateway(config, { logger: operations.logger })
  for (const turns of [[story], [story, 'more']])
    await (await gateway('http://gateway.test/v1/messages', post(bodyOf('messages', turns)))).text()
  await gateway.close(100)
  let text = ''
  const response = {
    writeHead() {},
    end: (body: string) => {
      text = body
    },
  }
  operations.handle(
    {
      method: 'GET',
      url: '/metrics',
      headers: { host: 'localhost' },
      socket: { remoteAddress: '127.0.0.1' },
    } as never,
    response as never,
  )
  await until(() => text !== '')
  expect(text).toMatch(
    /wireglot_cache_prefix_tokens_total\{channel="demo",model="demo",type="kept"\} [1-9]/,
  )
  expect(text).toMatch(
    /wireglot_cache_prefix_tokens_total\{channel="demo",model="demo",type="lost"\} 0/,
  )
})
