import { describe, expect, test } from 'vitest'
import type { UsageRecord } from '../../src/gateway/gateway.ts'
import { collectStream } from '../../src/index.ts'
import { protocols } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import {
  asking,
  hostsOf,
  isStreaming,
  one,
  type Protocol,
  post,
  responses,
  sendJson,
  sendStream,
  streams,
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
const essay = [{ role: 'user', content: 'Long words. '.repeat(400) }]
const tools = [{ type: 'function', name: 'shell', parameters: { type: 'object' } }]

const textsIn = (protocol: Protocol, body: unknown) =>
  protocols[protocol]
    .decodeRequest(body)
    .value.messages.map(({ parts }) =>
      parts.map(part => (part.type === 'text' ? part.text : part.type)).join(' '),
    )

const choice = (content: string) => ({
  index: 0,
  message: { role: 'assistant', content },
  finish_reason: 'stop',
})

const errorIn = (client: Protocol, status: number, body: unknown): string =>
  protocols[client].decodeError({ status, headers: {}, body }).value.message

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

  describe.each([false, true])('`compact_threshold`, stream: %s', stream => {
    const asked = async (served: Protocol, threshold: number) => {
      const { url, calls } = await upstream((answer, call) =>
        isStreaming(served, call)
          ? sendStream(streams[served])(answer)
          : sendJson(200, responses[served])(answer),
      )
      const records: UsageRecord[] = []
      const ask = await start(one(url, served, { compaction }), {
        logger: false,
        onUsage: record => void records.push(record),
      })
      const management = [{ type: 'compaction', compact_threshold: threshold }]
      const send = async (given: readonly object[]) => {
        const body = { model: 'm', tools, input: given, context_management: management, stream }
        const response = await ask('/v1/responses', post(body))
        expect(response.status).toBe(200)
        const text = await response.text()
        const strict = strictOf('responses')
        if (!stream) {
          expect(strict.checkResponse(JSON.parse(text))).toEqual([])
          return JSON.parse(text) as Answer
        }
        const wires = framesOf(text).map(({ wire }) => wire)
        expect([strict.checkStream(wires), strict.outcome(wires)]).toEqual([[], 'success'])
        return (await collectStream([text], { protocol: 'responses' })).body as unknown as Answer
      }
      return { calls, records, send }
    }
    type Answer = { output: { type: string }[]; usage: { output_tokens: number } }

    test.each(foreign)('a long conversation is compacted and answered, %s', async served => {
      const { calls, records, send } = await asked(served, 400)
      const long = [{ role: 'developer', content: 'Be brief.' }, ...input, ...essay]
      const { output, usage } = await send(long)
      expect(output.map(({ type }) => type)).toEqual(['compaction', 'message'])
      expect(itemIn({ output }).encrypted_content).toMatch(/^wireglot\.1\./)
      expect(textsIn(served, calls[0]?.json).at(-1)).toContain('Write a summary')
      expect(textsIn(served, calls[1]?.json)).toEqual([
        'Be brief.',
        expect.stringMatching(/^The conversation so far[\s\S]*Hello[\s\S]*Go on/),
      ])
      expect(JSON.stringify(calls.map(({ json }) => json))).not.toContain('compact_threshold')
      await until(() => records.length > 0)
      expect(records[0]?.noteCodes).toContain('gateway.compacted')
      expect(records[0]?.usage?.output).toBeGreaterThan(usage.output_tokens)
      // A client may send what stands before the compaction again, which counts no longer.
      const more = { role: 'user', content: 'Now c.' }
      const { output: answer } = await send([...long, ...output, more])
      expect(answer.map(({ type }) => type)).toEqual(['message'])
      expect(textsIn(served, calls[2]?.json)).toEqual([
        'Be brief.',
        expect.stringMatching(/^The conversation so far[\s\S]*Hello$/),
        'Hello',
        'Now c.',
      ])
    })

    test('a short one is answered as it is', async () => {
      const { calls, send } = await asked('messages', 1000)
      const { output } = await send(input)
      expect(output.map(({ type }) => type)).toEqual(['message'])
      expect(calls).toHaveLength(1)
    })
  })

  const trigger = { input: [...input, { type: 'compaction_trigger' }] }
  const summarize = { compaction: { type: 'summarize' } }

  test.each([
    ['responses', trigger],
    ['messages', summarize],
  ] as const)('a summary without words is an error, %s client', async (client, more) => {
    const silent = { ...responses['chat-completions'], choices: [choice(' \n')] }
    const { url } = await upstream(sendJson(200, silent))
    const ask = await start(one(url, 'chat-completions', { compaction }))
    for (const stream of [false, true]) {
      const response = await ask(...asking(client, { ...more, stream }))
      expect(response.status).toBe(502)
      expect(errorIn(client, 502, await response.json())).toContain('wrote no summary')
    }
  })

  test('what another key has sealed is an error, in a stream, too', async () => {
    const { url, calls } = await upstream(sendJson(200, responses['chat-completions']))
    const [before, now] = await Promise.all(
      [compaction, { key: 'another key of the configuration' }].map(configured =>
        start(one(url, 'chat-completions', { compaction: configured })),
      ),
    )
    if (!before || !now) throw new Error('no gateways')
    const made = await (await before(...asking('responses', trigger))).json()
    const item = itemIn(made)
    const block = { ...item, content: '' }
    const history = {
      responses: { input: [item, { role: 'user', content: 'Go on.' }] },
      messages: {
        messages: [
          { role: 'assistant', content: [block] },
          { role: 'user', content: 'x' },
        ],
      },
    }
    for (const stream of [false, true])
      for (const client of ['responses', 'messages'] as const) {
        const response = await now(...asking(client, { ...history[client], stream }))
        expect(response.status).toBe(400)
        expect(errorIn(client, 400, await response.json())).toContain('another client or key')
      }
    expect(calls).toHaveLength(1)
  })

  test('an upstream that makes no summary is an error, and a client that leaves ends it', async () => {
    const failing = await upstream(sendJson(400, { error: { message: 'too long for the model' } }))
    const ask = await start(one(failing.url, 'chat-completions', { compaction }))
    const response = await ask(...asking('messages', { ...summarize, stream: true }))
    expect(response.status).toBe(400)
    expect(errorIn('messages', 400, await response.json())).toContain('too long for the model')
    const silent = await upstream(() => {})
    const waiting = await start(one(silent.url, 'chat-completions', { compaction }))
    const client = new AbortController()
    const [path, init] = asking('responses', trigger)
    const left = waiting(path, { ...init, signal: client.signal })
    await until(() => silent.calls.length === 1)
    client.abort()
    await expect(left).rejects.toThrow()
    await until(() => silent.aborted === 1)
  })

  test('a stored response that begins with a compaction has to be sent, not named', async () => {
    const { url } = await upstream(sendJson(200, responses['chat-completions']))
    const ask = await start(one(url, 'chat-completions', { compaction, store: { memory: true } }))
    const management = [{ type: 'compaction', compact_threshold: 400 }]
    const body = { input: [...input, ...essay], context_management: management, store: true }
    const { id } = (await (await ask(...asking('responses', body))).json()) as { id: string }
    const named = { input: 'Now c.', previous_response_id: id }
    const response = await ask(...asking('responses', named))
    expect(response.status).toBe(400)
    expect(errorIn('responses', 400, await response.json())).toContain('previous_response_id')
  })
})
