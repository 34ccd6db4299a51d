import { describe, expect, test, vi } from 'vitest'
import { parseConfig } from '../../src/gateway/options.ts'
import { createLearned, type Learned } from '../../src/gateway/upstream/learned.ts'
import type { ProtocolName } from '../../src/index.ts'
import { protocols } from '../../src/protocols/index.ts'
import { connectSdk } from '../sockets/connect.ts'
import { listenUpgrades } from '../sockets/listen.ts'
import type { Covered } from '../support/covered.ts'
import {
  after,
  hostsOf,
  mounted,
  one,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  streams,
  upstream,
} from './support.ts'

const chat = 'chat-completions'
const refused = (field: string) =>
  sendJson(400, {
    error: {
      message: `property '${field}' is unsupported`,
      type: 'invalid_request_error',
      param: field,
      code: null,
    },
  })

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  const channel = (url: string, more = {}) => ({
    auth: 'none' as const,
    channels: [
      {
        name: 'up',
        protocols: [chat] as [typeof chat],
        baseUrl: url,
        apiKey: 'key-0123456789',
        ...more,
      },
    ],
  })
  const body = { ...requests[chat], user: 'me', logit_bias: { 1: 2 } }

  test('drops a field that the upstream refuses, notes it, and does not send it again', async () => {
    const seen = await upstream(
      refused('logit_bias'),
      sendJson(200, responses[chat]),
      sendJson(200, responses[chat]),
    )
    const ask = await start(channel(seen.url))
    const response = await ask('/v1/chat/completions', post(body))
    expect(response.status).toBe(200)
    expect(response.headers.get('wireglot-notes')).toContain('model.unsupported')
    expect((await ask('/v1/chat/completions', post(body))).status).toBe(200)
    expect(seen.calls.map(({ json }) => 'logit_bias' in json)).toEqual([true, false, false])
    expect(seen.calls.map(({ json }) => json['user'])).toEqual(['me', 'me', 'me'])
  })

  test('logs a learned field, and lists it at /client-config for keys with access to the model', async () => {
    const warned: unknown[] = []
    const logger = { info() {}, error() {}, warn: (details: object) => void warned.push(details) }
    const seen = await upstream(refused('logit_bias'), sendJson(200, responses[chat]))
    const keys = ['team', 'others'].map(name => ({
      name,
      key: `client-secret-${name}`,
      group: name,
    }))
    const groups = { team: { models: ['fast'] }, others: { models: ['slow'] } }
    const models = ['fast', 'slow'].map(id => ({ id, channels: [{ name: 'up' }] }))
    const ask = await start(
      { channels: channel(seen.url).channels, keys, groups, models },
      { logger },
    )
    const as = (name: string) => ({ authorization: `Bearer client-secret-${name}` })
    const learnedBy = async (name: string) =>
      ((await (await ask('/client-config', { headers: as(name) })).json()) as { learned: unknown })
        .learned
    expect(await learnedBy('team')).toEqual({})
    expect(
      (await ask('/v1/chat/completions', post({ ...body, model: 'fast' }, as('team')))).status,
    ).toBe(200)
    expect(warned).toContainEqual({ channel: 'up', model: 'fast', field: 'logit_bias' })
    expect(await learnedBy('team')).toEqual({ fast: ['logit_bias'] })
    expect(await learnedBy('others')).toEqual({})
  })

  test('drops several refused fields one after another', async () => {
    const seen = await upstream(
      refused('logit_bias'),
      refused('user'),
      sendJson(200, responses[chat]),
    )
    const ask = await start(channel(seen.url))
    expect((await ask('/v1/chat/completions', post(body))).status).toBe(200)
    expect(
      seen.calls.map(({ json }) =>
        Object.keys(json).filter(key => key === 'user' || key === 'logit_bias'),
      ),
    ).toEqual([['user', 'logit_bias'], ['user'], []])
  })

  test('a field that is refused next to another one stays where that one is absent', async () => {
    const seen = await upstream((response, { json }) =>
      ('temperature' in json && json['reasoning_effort'] === 'high'
        ? sendJson(400, {
            error: {
              message: "Unsupported parameter: 'temperature' is not supported with this model.",
              param: 'temperature',
              code: 'unsupported_parameter',
            },
          })
        : sendJson(200, responses[chat]))(response),
    )
    const ask = await start(channel(seen.url))
    const sent = async (more: object) => {
      expect(
        (await ask(paths[chat], post({ ...requests[chat], temperature: 0, ...more }))).status,
      ).toBe(200)
      return 'temperature' in (seen.calls.at(-1)?.json ?? {})
    }
    expect(await sent({ reasoning_effort: 'high' })).toBe(false)
    expect(await sent({ reasoning_effort: 'high' })).toBe(false)
    expect(seen.calls.length, 'the second request was not refused').toBe(3)
    expect(await sent({})).toBe(true)
    expect(await sent({ reasoning_effort: 'none' })).toBe(true)
    expect(await sent({ reasoning_effort: 'high', seed: 1 })).toBe(false)
    expect(seen.calls.length, 'requests of another shape are tried').toBe(7)
  })

  test('a field is tried again after ten minutes', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    after(() => vi.useRealTimers())
    const seen = await upstream(refused('logit_bias'), sendJson(200, responses[chat]))
    const ask = await start(channel(seen.url))
    const sent = async () => {
      expect((await ask(paths[chat], post(body))).status).toBe(200)
      return 'logit_bias' in (seen.calls.at(-1)?.json ?? {})
    }
    expect(await sent()).toBe(false)
    vi.advanceTimersByTime(599_000)
    expect(await sent()).toBe(false)
    vi.advanceTimersByTime(1_001)
    expect(await sent()).toBe(true)
  })

  test('remembers nothing when the request fails without the field, too', async () => {
    const seen = await upstream(
      refused('logit_bias'),
      sendJson(400, { error: { message: 'no' } }),
      sendJson(200, responses[chat]),
    )
    const ask = await start(channel(seen.url))
    for (const status of [400, 200])
      expect((await ask(paths[chat], post(body))).status).toBe(status)
    expect(seen.calls.map(({ json }) => 'logit_bias' in json)).toEqual([true, false, true])
  })

  test('keeps the refusal of another channel apart, and what it has dropped during retries', async () => {
    const seen = await upstream(
      refused('logit_bias'),
      sendJson(503, { error: { message: 'busy' } }),
      sendJson(200, responses[chat]),
    )
    const ask = await start({ ...channel(seen.url), defaults: { retries: 1, retryWaitMs: 10 } })
    expect((await ask(paths[chat], post(body))).status).toBe(200)
    expect(seen.calls.map(({ json }) => 'logit_bias' in json)).toEqual([true, false, false])
  })

  test('drops `stream_options` from the refused request only, because budgets need the usage of the others', async () => {
    const seen = await upstream(
      refused('stream_options'),
      sendStream(streams[chat]),
      sendStream(streams[chat]),
    )
    const ask = await start(channel(seen.url))
    for (let i = 0; i < 2; i++) {
      const response = await ask(paths[chat], post({ ...requests[chat], stream: true }))
      expect(response.status).toBe(200)
      await response.text()
    }
    expect(seen.calls.map(({ json }) => 'stream_options' in json)).toEqual([true, false, true])
  })

  test.each(['max_tokens', 'max_completion_tokens'])('never drops `%s`', async field => {
    const seen = await upstream(refused(field), sendJson(200, responses[chat]))
    const ask = await start(channel(seen.url))
    expect((await ask(paths[chat], post({ ...requests[chat], [field]: 5 }))).status).toBe(400)
    expect(seen.calls.length).toBe(1)
  })

  test('what counting tokens refuses stays in requests for a response', async () => {
    const seen = await upstream(
      sendJson(400, { type: 'error', error: { message: 'top_k: Extra inputs are not permitted' } }),
      sendJson(200, { input_tokens: 3 }),
      sendJson(200, responses.messages),
    )
    const [{ protocols: _, ...one } = {}] = channel(seen.url).channels
    const ask = await start({
      auth: 'none',
      channels: [{ ...one, name: 'up', protocols: ['messages'] }],
    })
    const sent = { ...requests.messages, top_k: 5 }
    expect((await ask('/v1/messages/count_tokens', post(sent))).status).toBe(200)
    expect((await ask(paths.messages, post(sent))).status).toBe(200)
    expect(seen.calls.map(({ json }) => 'top_k' in json)).toEqual([true, false, true])
  })

  test('sends no third request when the upstream refuses the same field again', async () => {
    const seen = await upstream(
      refused('logit_bias'),
      refused('logit_bias'),
      sendJson(200, responses[chat]),
    )
    const ask = await start(channel(seen.url))
    expect((await ask('/v1/chat/completions', post(body))).status).toBe(400)
    expect(seen.calls.length).toBe(2)
  })

  test('a client of another protocol gets the response, too', async () => {
    const seen = await upstream(refused('temperature'), sendJson(200, responses[chat]))
    const ask = await start(channel(seen.url))
    const response = await ask(
      '/v1/messages',
      post({
        model: 'm',
        max_tokens: 9,
        temperature: 0.5,
        messages: [{ role: 'user', content: 'hi' }],
      }),
    )
    expect(response.status).toBe(200)
    expect(seen.calls.map(({ json }) => 'temperature' in json)).toEqual([true, false])
  })

  test('learnUnsupported: false returns the refusal', async () => {
    const seen = await upstream(refused('logit_bias'), sendJson(200, responses[chat]))
    const ask = await start(channel(seen.url, { learnUnsupported: false }))
    expect((await ask('/v1/chat/completions', post(body))).status).toBe(400)
    expect(seen.calls.length).toBe(1)
  })
})

test('leaves a refused field out of the requests of a WebSocket', async () => {
  const failure = { message: "Unknown parameter: 'user'.", type: 'invalid_request_error' }
  const seen = await upstream(sendJson(400, { error: failure }), sendStream(streams.responses))
  const url = await listenUpgrades(
    mounted({
      auth: 'none',
      webSocket: true,
      channels: [{ name: 'up', protocols: ['responses'], baseUrl: seen.url }],
    }),
  )
  const { ask } = await connectSdk(url)
  for (let i = 0; i < 2; i++)
    expect((await ask({ model: 'm', input: 'Hi', user: 'me' })).type).toBe('response.completed')
  expect(seen.calls.map(({ json }) => json['user'])).toEqual(['me', undefined, undefined])
})

describe('the memory', () => {
  const { channels, models } = parseConfig(one('http://upstream.test', 'messages'), {})
  const [channel, entry] = [channels[0], models[0]]
  const [link] = entry?.channels ?? []
  if (!channel || !entry || !link) throw new Error('the configuration has no channel')
  const candidate = { channel, entry, link, model: 'm', protocol: protocols.messages }
  const known = (learned: Learned, ...shape: string[]) => learned.of(candidate, () => shape)

  test('is bounded: the oldest shape makes room', () => {
    const learned = createLearned()
    for (let i = 0; i < 1001; i++) learned.learn(candidate, [`field${i}`], ['seed'])
    expect(learned.all().length).toBe(1000)
    expect(known(learned, 'field0')).toEqual([])
    expect(known(learned, 'field1')).toEqual(['seed'])
  })

  test('learns nothing from requests with endless names', () => {
    const learned = createLearned()
    learned.learn(candidate, ['x'.repeat(4000)], ['seed'])
    expect(learned.all()).toEqual([])
  })

  test('forgets some of the fields of a shape', () => {
    const learned = createLearned()
    learned.learn(candidate, ['a'], ['seed', 'user'])
    expect(learned.forget({ field: 'seed' })).toBe(1)
    expect(known(learned, 'a')).toEqual(['user'])
    expect(learned.forget({ channel: 'other' })).toBe(0)
    expect(learned.forget()).toBe(1)
    expect(learned.all()).toEqual([])
  })
})

/**
 * For each protocol a field that may be refused, a field with a text of the client, and how its
 * servers refuse a request.
 */
const served: {
  protocol: ProtocolName
  field: string
  text: (text: string) => object
  failure: (message: string) => object
  wording: (field: string) => string
}[] = [
  {
    protocol: 'chat-completions',
    field: 'temperature',
    text: text => ({ messages: [{ role: text, content: 'Hi' }] }),
    failure: message => ({
      error: { message, type: 'invalid_request_error', param: null, code: null },
    }),
    wording: field => `Unsupported parameter: '${field}' is not supported with this model.`,
  },
  {
    protocol: 'responses',
    field: 'temperature',
    text: text => ({ input: [{ role: text, content: 'Hi' }] }),
    failure: message => ({
      error: { message, type: 'invalid_request_error', param: null, code: null },
    }),
    wording: field => `Unknown parameter: '${field}'.`,
  },
  {
    protocol: 'messages',
    field: 'top_k',
    text: text => ({ messages: [{ role: text, content: 'Hi' }] }),
    failure: message => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
    wording: field => `${field}: Extra inputs are not permitted`,
  },
  {
    protocol: 'generate-content',
    field: 'labels',
    text: text => ({ contents: [{ role: text, parts: [{ text: 'Hi' }] }] }),
    failure: message => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
    wording: field => `Invalid JSON payload received. Unknown name "${field}": Cannot find field.`,
  },
  {
    protocol: 'converse',
    field: 'performanceConfig',
    text: text => ({ messages: [{ role: text, content: [{ text: 'Hi' }] }] }),
    failure: message => ({ message }),
    wording: field =>
      `Malformed input request: extraneous key [${field}] is not permitted, please reformat your input and try again.`,
  },
]

const values: Record<string, unknown> = {
  temperature: 0.5,
  top_k: 5,
  labels: { team: 'a' },
  performanceConfig: { latency: 'standard' },
}

const bodyOf = (protocol: ProtocolName): Record<string, unknown> =>
  protocol === 'converse'
    ? { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }
    : requests[protocol]

const responseOf = (protocol: ProtocolName): object =>
  protocol === 'converse'
    ? {
        output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
        metrics: { latencyMs: 1 },
      }
    : responses[protocol]

const pathOf = (protocol: ProtocolName): string =>
  protocol === 'converse' ? '/model/m/converse' : paths[protocol]

const streamPath = (protocol: Covered): string =>
  paths[protocol].replace(':generateContent', ':streamGenerateContent?alt=sse')

const [[, startHost] = []] = hostsOf(import.meta.url)

describe.each(served)('at a server of $protocol', ({ protocol, field, text, failure, wording }) => {
  async function started(...scripts: Parameters<typeof upstream>) {
    const seen = await upstream(...scripts)
    if (!startHost) throw new Error('there is no host')
    const ask = await startHost({
      keys: ['mallory', 'alice'].map(name => ({ name, key: `client-secret-${name}` })),
      channels: [
        { name: 'up', protocols: [protocol], baseUrl: seen.url, apiKey: 'key-0123456789' },
      ],
    })
    const send = async (name: string, more: object = {}, path = pathOf(protocol)) =>
      ask(
        path,
        post(
          { ...bodyOf(protocol), [field]: values[field], ...more },
          { authorization: `Bearer client-secret-${name}` },
        ),
      )
    return { seen, send, had: () => seen.calls.map(({ json }) => field in json) }
  }
  const good = sendJson(200, responseOf(protocol))

  test('leaves out a field that it refuses, for all clients with such requests', async () => {
    const { send, had } = await started(sendJson(400, failure(wording(field))), good)
    for (const name of ['alice', 'mallory']) expect((await send(name)).status).toBe(200)
    expect(had()).toEqual([true, false, false])
  })

  test.each<[string, (words: string) => string]>([
    ['in quotes', words => `Invalid value: '${words}'. Supported values are: 'user'.`],
    ['at its end', words => `messages.0.role: unexpected value; given ${words}`],
    ['at its beginning', words => `${words} is no role`],
    ['on a line of its own', words => `messages.0.role is invalid:\n${words}`],
  ])('takes no field from a message that repeats what a client sent: %s', async (_, quote) => {
    const words = wording(field)
    const { send, had } = await started(sendJson(400, failure(quote(words))), good)
    expect((await send('mallory', text(words))).status).toBe(400)
    expect((await send('alice')).status).toBe(200)
    expect(had()).toEqual([true, true])
  })

  test('leaves it out of streams, too', async () => {
    if (protocol === 'converse') return
    const { seen, send, had } = await started(
      sendJson(400, failure(wording(field))),
      sendStream(streams[protocol]),
    )
    const more = protocol === 'generate-content' ? {} : { stream: true }
    for (const name of ['alice', 'mallory']) {
      const response = await send(name, more, streamPath(protocol))
      expect(response.status).toBe(200)
      expect(await response.text()).toContain('Hel')
    }
    expect(had()).toEqual([true, false, false])
    expect(seen.calls.length).toBe(3)
  })

  test('remembers nothing from a message that consists of words of the client', async () => {
    const words = wording(field)
    const { send, had } = await started(sendJson(400, failure(words)), good)
    expect((await send('mallory', text(words))).status).toBe(200)
    expect((await send('alice')).status).toBe(200)
    expect(had()).toEqual([true, false, true])
  })
})
