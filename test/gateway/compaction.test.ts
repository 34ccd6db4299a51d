import { describe, expect, test } from 'vitest'
import type { UsageRecord } from '../../src/gateway/gateway.ts'
import { protocols } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import {
  asking,
  hostsOf,
  one,
  type Protocol,
  post,
  responses,
  sendJson,
  until,
  upstream,
} from './support.ts'

const compaction = { key: 'a secret of sixteen letters' }
const foreign: Protocol[] = ['chat-completions', 'messages', 'generate-content']

const input = [
  { role: 'user', content: 'Rename the file.' },
  { type: 'function_call', call_id: 'c1', name: 'shell', arguments: '{"command":"mv a b"}' },
  { type: 'function_call_output', call_id: 'c1', output: 'done' },
]
const tools = [{ type: 'function', name: 'shell', parameters: { type: 'object' } }]

const textsIn = (protocol: Protocol, body: unknown) =>
  protocols[protocol]
    .decodeRequest(body)
    .value.messages.map(({ parts }) =>
      parts.map(part => (part.type === 'text' ? part.text : part.type)).join(' '),
    )

const itemIn = (body: unknown): { encrypted_content: string } =>
  (body as { output: { encrypted_content: string }[] }).output.find(
    item => Object(item).type === 'compaction',
  ) as never

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(foreign)('POST /v1/responses/compact on a %s upstream', async served => {
    const { url, calls } = await upstream(sendJson(200, responses[served]))
    const records: UsageRecord[] = []
    const ask = await start(one(url, served, { compaction }), {
      logger: false,
      onUsage: record => void records.push(record),
    })
    const response = await ask('/v1/responses/compact', post({ model: 'm', input, tools }))
    expect(response.status).toBe(200)
    const body = await response.json()
    expect(body).toMatchObject({ object: 'response.compaction', output: [{ type: 'compaction' }] })
    expect(JSON.stringify(body)).not.toContain('Hello')
    // The model reads the whole conversation, and what to do.
    expect(textsIn(served, calls[0]?.json).at(-1)).toContain('Write a summary')
    expect(JSON.stringify(calls[0]?.json)).toContain('mv a b')
    await until(() => records.length > 0)
    expect(records[0]?.usage?.output).toBeGreaterThan(0)
    expect(records[0]?.noteCodes).toContain('gateway.compacted')
    // A later request opens it.
    const later = { model: 'm', input: [itemIn(body), { role: 'user', content: 'Go on.' }] }
    expect((await ask('/v1/responses', post(later))).status).toBe(200)
    expect(textsIn(served, calls[1]?.json)).toEqual([
      expect.stringMatching(/^The conversation so far[\s\S]*Hello$/),
      'Go on.',
    ])
  })

  test.each(foreign)('`compaction_trigger` in a stream and a whole response, %s', async served => {
    const { url, calls } = await upstream(sendJson(200, responses[served]))
    const ask = await start(one(url, served, { compaction }))
    const body = { model: 'm', tools, input: [...input, { type: 'compaction_trigger' }] }
    const whole = await (await ask('/v1/responses', post(body))).json()
    const strict = strictOf('responses')
    expect(strict.checkResponse(whole)).toEqual([])
    expect(itemIn(whole).encrypted_content).toMatch(/^wireglot\.1\./)
    const text = await (await ask('/v1/responses', post({ ...body, stream: true }))).text()
    const wires = framesOf(text).map(({ wire }) => wire)
    expect([strict.checkStream(wires), strict.outcome(wires)]).toEqual([[], 'success'])
    expect(text).toContain('"type":"compaction"')
    expect(JSON.stringify(calls.map(({ json }) => json))).not.toContain('compaction_trigger')
  })

  test('only who got it can open it', async () => {
    const { url } = await upstream(sendJson(200, responses.messages))
    const keys = [
      { name: 'one', key: 'key-of-the-first' },
      { name: 'two', key: 'key-of-the-second' },
    ]
    const ask = await start({
      ...one(url, 'messages', { compaction }),
      auth: undefined,
      keys,
    } as never)
    const as = (key: string) => ({ authorization: `Bearer ${key}` })
    const compact = post({ model: 'm', input }, as('key-of-the-first'))
    const item = itemIn(await (await ask('/v1/responses/compact', compact)).json())
    const later = (key: string, given: object = item) =>
      ask('/v1/responses', post({ model: 'm', input: [given] }, as(key)))
    expect((await later('key-of-the-first')).status).toBe(200)
    expect((await later('key-of-the-second')).status).toBe(400)
    const damaged = { ...item, encrypted_content: `${item.encrypted_content.slice(0, -6)}AAAAAA` }
    expect((await later('key-of-the-first', damaged)).status).toBe(400)
  })

  test('without a key, and with `strict`, it is refused as before', async () => {
    const { url, calls } = await upstream(sendJson(200, responses.messages))
    const trigger = { model: 'm', input: [...input, { type: 'compaction_trigger' }] }
    const plain = await start(one(url, 'messages'))
    expect((await plain('/v1/responses', post(trigger))).status).toBe(400)
    expect((await plain('/v1/responses/compact', post({ model: 'm', input }))).status).toBe(404)
    const strict = await start(
      one(url, 'messages', { compaction, defaults: { strict: ['emulated'] } }),
    )
    expect((await strict('/v1/responses', post(trigger))).status).toBe(400)
    expect(calls).toEqual([])
  })

  test('a provider of responses makes its own', async () => {
    const { url, calls } = await upstream(sendJson(200, responses.responses))
    const ask = await start(one(url, 'responses', { compaction }))
    const [path, init] = asking('responses', { input: [...input, { type: 'compaction_trigger' }] })
    expect((await ask(path, init)).status).toBe(200)
    expect(JSON.stringify(calls[0]?.json)).toContain('compaction_trigger')
  })
})
