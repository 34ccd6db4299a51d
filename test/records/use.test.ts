import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gateway } from '../../src/hosts/connect.ts'
import { type KeyLimits, type Location, openRecords } from '../../src/records/index.ts'
import {
  after,
  listen,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  streams,
  type Upstream,
  until,
  upstream,
  wait,
} from '../gateway/support.ts'
import { postgresPrograms, startPostgres } from './postgres.ts'

/**
 * A key with a budget cannot use more than that by leaving early, hiding the counts, or asking for
 * much at once.
 */

type Script = Parameters<typeof upstream>[0]
const memory: Location = { file: ':memory:' }

/** A process with a key of these limits. `secret`: of a key that is there already. */
async function process(
  url: string,
  { limits, at = memory, secret: known }: { limits: KeyLimits; at?: Location; secret?: string },
) {
  const records = await openRecords(at, {
    prices: () => ({ m: { input: 1, output: 1_000 } }),
  })
  const secret = known ?? (await records.keys.create('bob', limits)).secret
  const handler = gateway(
    {
      channels: [
        {
          name: 'up',
          protocols: ['chat-completions', 'responses', 'messages', 'generate-content'],
          baseUrl: url,
          passThrough: ['/v1/images/generations', '/v1/completions', '/v1/embeddings'],
        },
      ],
      defaults: { retries: 0 },
    },
    records.hooks,
  )
  const own = await listen(handler)
  after(async () => {
    await handler.close(200)
    await records.close()
  })
  const ask = (path: string, body?: object, init: RequestInit = {}) =>
    fetch(own + path, {
      ...(body && post(body)),
      ...init,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    })
  return { ask, records, secret }
}

type Process = Awaited<ReturnType<typeof process>>

const long = `Hel${' abc'.repeat(1_000)}`
const chat = { ...requests['chat-completions'], stream: true }
const frames = (protocol: 'chat-completions' | 'responses', end: number) =>
  sendStream([...streams[protocol].slice(0, end).map(one => one.replace('Hel', long)), 60_000])
const counted = { input_tokens: 1_000, output_tokens: 1_000, total_tokens: 2_000 }
const { usage: _, output, ...response } = responses.responses
const background = { ...response, id: 'resp_b', background: true }

/** Reads the text, and leaves. */
async function leave({ ask }: Process, path: string, body: object): Promise<void> {
  const left = new AbortController()
  const { body: stream } = await ask(path, body, { signal: left.signal })
  const reader = stream?.getReader()
  let length = 0
  while (length < long.length) length += (await reader?.read())?.value?.length ?? long.length
  left.abort()
}

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`

test.each<[how: string, script: Script, act: (one: Process) => Promise<unknown>]>([
  [
    'leaving a chat stream after the last word',
    frames('chat-completions', -2),
    one => leave(one, paths['chat-completions'], chat),
  ],
  [
    'leaving a chat stream at its finish reason',
    frames('chat-completions', -1),
    one => leave(one, paths['chat-completions'], chat),
  ],
  [
    'leaving a responses stream before its last event',
    frames('responses', -1),
    one => leave(one, paths.responses, { ...requests.responses, stream: true }),
  ],
  [
    'a response in the background',
    (answer, { method }) =>
      sendJson(
        200,
        method === 'POST'
          ? { ...background, status: 'queued', output: [], usage: null }
          : { ...background, output, usage: counted },
      )(answer),
    async ({ ask }) => {
      await ask(paths.responses, { ...requests.responses, background: true })
      await ask('/v1/responses/resp_b')
    },
  ],
  [
    'compacting',
    sendJson(200, { id: 'c', object: 'response.compaction', output: [], usage: counted }),
    ({ ask }) => ask('/v1/responses/compact', requests.responses),
  ],
  [
    'a mask of fields',
    (answer, { path }) => {
      const { usageMetadata, ...masked } = responses['generate-content']
      sendJson(200, path.includes('fields=') ? masked : { ...masked, usageMetadata })(answer)
    },
    ({ ask }) =>
      ask(`${paths['generate-content']}?fields=candidates`, {
        contents: [{ role: 'user', parts: [{ text: 'What is the answer to this?' }] }],
      }),
  ],
  [
    'a stream of another endpoint',
    sendStream([event({ type: 'image_generation.completed', b64_json: 'eA==', usage: counted })]),
    async ({ ask }) =>
      (await ask('/v1/images/generations', { model: 'm', prompt: 'a cat', stream: true })).text(),
  ],
  [
    'an upstream that does not count',
    sendStream([event({ choices: [{ text: long }] }), 'data: [DONE]\n\n']),
    async ({ ask }) =>
      (await ask('/v1/completions', { model: 'm', prompt: '', stream: true })).text(),
  ],
])('one request spends a budget of 5 tokens, and not five: %s', async (_how, script, act) => {
  const up = await upstream(script)
  const one = await process(up.url, { limits: { tokensPerDay: 5 } })
  for (let i = 0; i < 5; i++) {
    await act(one).catch(() => {})
    await until(() => one.records.state().waiting > 0 || i > 0)
    await wait(20)
  }
  const sent = up.calls.filter(({ method }) => method === 'POST')
  expect(sent).toHaveLength(1)
  const { records } = await one.records.find({ key: 'bob' }, 100)
  expect(records.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(4)
})

test('estimates are marked in records, and cost what they are estimated at', async () => {
  const up = await upstream(frames('chat-completions', -2))
  const one = await process(up.url, { limits: {} })
  await leave(one, paths['chat-completions'], chat)
  await until(() => one.records.state().waiting > 0)
  const [record] = (await one.records.find({}, 1)).records
  expect(record).toMatchObject({ status: 499, estimated: 1 })
  expect(record?.cost).toBeGreaterThan(1)
})

test('embeddings cost their input', async () => {
  const usage = { prompt_tokens: 1_000_000, total_tokens: 1_000_000 }
  const up = await upstream(sendJson(200, { object: 'list', data: [], usage }))
  const one = await process(up.url, { limits: { dollarsPerDay: 1 } })
  const body = { model: 'm', input: 'Hi' }
  expect((await one.ask('/v1/embeddings', body)).status).toBe(200)
  expect((await one.ask('/v1/embeddings', body)).status).toBe(429)
  const [, record] = (await one.records.find({}, 2)).records
  expect(record).toMatchObject({ cost: 1, estimated: 0 })
})

/** An upstream that answers when it is told to. */
async function waiting(used = 5): Promise<{ up: Upstream; answer(): void }> {
  let answer = () => {}
  const gate = new Promise<void>(resolve => {
    answer = resolve
  })
  const up = await upstream(async response => {
    await gate
    const usage = { prompt_tokens: used, completion_tokens: 0, total_tokens: used }
    sendJson(200, { ...responses['chat-completions'], usage })(response)
  })
  return { up, answer: () => answer() }
}

describe('requests in progress', () => {
  test.each<[KeyLimits]>([
    [{ tokensPerMinute: 10 }],
    [{ tokensPerDay: 10 }],
    [{ tokensPerMonth: 10 }],
    [{ dollarsPerDay: 0.001 }],
    [{ dollarsPerMonth: 0.001 }],
  ])('one of 60 at once is served with %o', async limits => {
    const { up, answer } = await waiting(1_000)
    const { ask } = await process(up.url, { limits })
    const asked = Array.from({ length: 60 }, () =>
      ask(paths['chat-completions'], requests['chat-completions']),
    )
    const first = await Promise.race(asked)
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '2'])
    expect(await first.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } })
    await until(() => up.calls.length > 0)
    await wait(100)
    answer()
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.filter(status => status === 200)).toHaveLength(1)
    expect(statuses.filter(status => status === 429)).toHaveLength(59)
    expect(up.calls).toHaveLength(1)
  })

  test('reserve their token limit, and give back what they did not use', async () => {
    const { up, answer } = await waiting()
    const { ask } = await process(up.url, { limits: { tokensPerDay: 1_000 } })
    const path = paths['chat-completions']
    const body = { ...requests['chat-completions'], max_tokens: 300 }
    const asked = [ask(path, body), ask(path, body), ask(path, body)]
    await until(() => up.calls.length === 3)
    // With 300 tokens of each and their inputs: 900 and some are reserved, so one more may begin.
    asked.push(ask(path, body))
    await until(() => up.calls.length === 4)
    expect((await ask(path, body)).status).toBe(429)
    answer()
    for (const one of asked) expect((await one).status).toBe(200)
    expect((await ask(path, body)).status).toBe(200)
  })

  test('a request alone is served, however high its limit', async () => {
    const up = await upstream(sendJson(200, responses['chat-completions']))
    const { ask } = await process(up.url, { limits: { tokensPerDay: 100 } })
    const body = { ...requests['chat-completions'], max_tokens: 1_000_000 }
    for (let i = 0; i < 3; i++)
      expect((await ask(paths['chat-completions'], body)).status).toBe(200)
  })

  test('nothing is reserved by what was refused or has failed', async () => {
    const up = await upstream(
      sendJson(500, { error: { message: 'No' } }),
      sendJson(200, responses['chat-completions']),
    )
    const { ask } = await process(up.url, { limits: { tokensPerDay: 10 } })
    const path = paths['chat-completions']
    expect((await ask(path, requests['chat-completions'])).status).toBe(500)
    expect((await ask(path, { model: 'm' })).status).not.toBe(429)
    expect((await ask(path, requests['chat-completions'])).status).toBe(200)
  })
})

describe.skipIf(postgresPrograms === undefined)('two processes with one PostgreSQL', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>> | undefined
  beforeAll(async () => {
    postgres = await startPostgres()
  }, 60_000)
  afterAll(() => postgres?.stop())

  test('count the requests in progress of the other within two seconds', async () => {
    const { up, answer } = await waiting()
    const at = { url: postgres?.url ?? '' }
    const limits = { tokensPerDay: 10 }
    const first = await process(up.url, { limits, at })
    const second = await process(up.url, { limits, at, secret: first.secret })
    const ask = ({ ask: through }: Process) =>
      through(paths['chat-completions'], requests['chat-completions'])
    const pending = ask(first)
    await until(() => up.calls.length === 1)
    await wait(2_000)
    expect((await ask(second)).status).toBe(429)
    answer()
    expect((await pending).status).toBe(200)
  })
})
