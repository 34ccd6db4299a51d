import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Cassette, parseCassette, replay } from '../../src/cassettes/index.ts'
import { protocolNames } from '../../src/protocols/index.ts'
import { only } from '../../src/transports/bodies.ts'
import { answering, asked, configFor, exchangeOf, model, postOf, recorded } from './support.ts'

const sizes = ['small', 'agent'] as const
const pairs = protocolNames.flatMap(from => protocolNames.map(to => [from, to] as const))

describe.each(pairs)('a cassette of a client of %s and an upstream of %s', (from, to) => {
  test.each(sizes)('is translated as it was then, whole: %s', async size => {
    const { cassette } = await exchangeOf(from, to, { stream: false, size })
    expect((await replay(cassette)).differences).toEqual([])
  })

  test.each(sizes)('is translated as it was then, as a stream: %s', async size => {
    const { cassette } = await exchangeOf(from, to, { stream: true, size })
    expect((await replay(cassette)).differences).toEqual([])
  })

  test('that was cut is replayed as cut', async () => {
    const { cassette } = await exchangeOf(from, to, { stream: true, cut: 9 })
    expect(cassette.attempts[0]?.response?.body.isCut).toBe(true)
    const { now, differences } = await replay(cassette)
    expect(differences).toEqual([])
    expect(now.attempts[0]?.response?.body.isCut).toBe(true)
    expect(now.record).toMatchObject({ failure: 'upstream_network' })
  })
})

describe('differences are told', () => {
  const edited = (
    cassette: Cassette,
    change: (body: Record<string, unknown>) => void,
  ): Cassette => {
    const copy = structuredClone(cassette)
    const { body } = copy.attempts[0] ?? {}
    const json = JSON.parse(body?.text ?? '') as Record<string, unknown>
    change(json)
    if (body) body.text = JSON.stringify(json)
    return copy
  }

  test('of the request to the upstream', async () => {
    const { cassette } = await exchangeOf('chat-completions', 'messages', { stream: false })
    const older = edited(cassette, body => {
      body['max_tokens'] = 5
      body['extra'] = true
    })
    expect((await replay(older)).differences).toEqual([
      { at: '/attempts/0/body/max_tokens', before: 5, after: 1000 },
      { at: '/attempts/0/body/extra', before: true },
    ])
  })

  test('of an event of a stream', async () => {
    const { cassette } = await exchangeOf('chat-completions', 'messages', { stream: true })
    const frame = cassette.response?.body.frames?.at(3)
    if (frame) frame.text = frame.text.replace('"index":0', '"index":1')
    const { differences } = await replay(cassette)
    expect(differences).toMatchObject([{ before: 1, after: 0 }])
    expect(differences[0]?.at).toMatch(/^\/response\/body\/frames\/3\/choices\/0\/index$/)
  })
})

test('attempts at several channels are replayed in their order', async () => {
  const down = { status: 503, headers: { 'content-type': 'application/json' } }
  const up = answering('messages', { stream: true })
  const config = {
    ...configFor('messages'),
    channels: ['one', 'two', 'three'].map(name => ({
      name,
      protocols: ['messages' as const],
      baseUrl: `https://${name}.test`,
    })),
    models: [
      {
        id: model,
        channels: ['one', 'two', 'three'].map((name, priority) => ({ name, priority })),
      },
    ],
    defaults: { retries: 1, retryWaitMs: 200 },
  }
  const { path, body } = asked('responses', true)
  const { cassettes } = await recorded(config, [{ path, init: postOf(body) }], {
    hooks: {
      transport: {
        async send(call) {
          if (call.url.includes('three')) return up.send(call)
          if (call.url.includes('two')) throw new Error('nobody is there')
          return {
            ...down,
            body: only('{"type":"error","error":{"type":"overloaded_error","message":"busy"}}'),
          }
        },
      },
    },
  })
  const [cassette] = cassettes
  if (!cassette) throw new Error('nothing was recorded')
  expect(cassette.attempts.map(one => [one.channel, one.failure?.status])).toEqual([
    ['one', 503],
    ['one', 503],
    ['two', 502],
    ['two', 502],
    ['three', undefined],
  ])
  expect((await replay(cassette)).differences).toEqual([])
})

test('a cassette is translated for another protocol and vendor', async () => {
  const { cassette } = await exchangeOf('messages', 'messages', { stream: false })
  const { now } = await replay(cassette, {
    to: 'chat-completions',
    vendor: 'deepseek',
    model: 'other',
  })
  const [attempt] = now.attempts
  expect(attempt).toMatchObject({
    protocol: 'chat-completions',
    vendor: 'deepseek',
    model: 'other',
  })
  expect(JSON.parse(attempt?.body.text ?? '')).toMatchObject({ model: 'other', max_tokens: 1000 })
  expect(now.response).toBeUndefined()
})

test('a cassette is sent', async () => {
  const { cassette } = await exchangeOf('messages', 'chat-completions', { stream: false })
  const urls: string[] = []
  const other = answering('chat-completions', { stream: false, size: 'agent' })
  const send = {
    apiKey: 'key-0123456789abcdef',
    transport: {
      send: (call: Parameters<typeof other.send>[0]) => {
        urls.push(call.url)
        return other.send(call)
      },
    },
  }
  const { now, differences } = await replay(cassette, { send })
  expect(urls).toEqual(['https://upstream.test/v1/chat/completions'])
  expect(JSON.stringify(now)).not.toContain(send.apiKey)
  expect(differences.map(({ at }) => at)).toContain('/response/body/stop_reason')
})

test('says why a cassette cannot be replayed', async () => {
  const { cassette } = await exchangeOf('messages', 'messages', { stream: false })
  cassette.request.body = { text: '{', leftOut: 5 }
  await expect(replay(cassette)).rejects.toThrow(/cannot be replayed: it was shortened/)
  await expect(replay({ ...cassette, operation: 'pass' })).rejects.toThrow(/passed unchanged/)
})

describe('a cassette of somebody else', () => {
  beforeEach(() => void vi.stubEnv('WIREGLOT_TEST_VALUE', 'value-of-the-machine'))
  afterEach(() => void vi.unstubAllEnvs())

  const apiKey = 'key-0123456789abcdef'
  const recordedCalls = () => {
    const calls: string[] = []
    const up = answering('chat-completions', { stream: false })
    return {
      calls,
      transport: {
        send(call: Parameters<typeof up.send>[0]) {
          calls.push(`${call.url} ${JSON.stringify(call.headers)} ${String(call.body)}`)
          return up.send(call)
        },
      },
    }
  }

  const foreign = async (change: (attempt: Cassette['attempts'][number]) => void) => {
    const { cassette } = await exchangeOf('chat-completions', 'chat-completions', { stream: false })
    for (const attempt of cassette.attempts) change(attempt)
    // As it comes from a file.
    return parseCassette(JSON.stringify(cassette))
  }

  test.each([
    [{}],
    [{ vendor: 'deepseek' as const }],
    [{ to: 'chat-completions' as const }],
    [{ to: 'messages' as const }],
  ])('has the key of a vendor sent to that vendor alone: %j', async options => {
    for (const channel of [{}, { vendor: 'deepseek', baseUrl: 'https://other.test' }]) {
      const cassette = await foreign(attempt => {
        attempt.vendor = 'deepseek'
        attempt.settings.channel = channel
      })
      const { calls, transport } = recordedCalls()
      await replay(cassette, { ...options, send: { apiKey, transport } }).catch(() => {})
      expect(calls.length).toBeGreaterThan(0)
      for (const call of calls) expect(call).toMatch(/^https:\/\/api\.deepseek\.com\//)
    }
  })

  test.each([
    ['channel', { set: { user: 'env:WIREGLOT_TEST_VALUE' } }],
    ['channel', { headers: { 'x-more': 'env:WIREGLOT_TEST_VALUE' } }],
    ['model', { setIfAbsent: { metadata: { deep: ['env:WIREGLOT_TEST_VALUE'] } } }],
  ] as const)('reads no variable of the environment in its settings: %s %j', async (of, more) => {
    const cassette = await foreign(attempt => Object.assign(attempt.settings[of], more))
    const { calls, transport } = recordedCalls()
    const replayed = [replay(cassette), replay(cassette, { send: { apiKey, transport } })]
    const shown = (await Promise.allSettled(replayed)).map(one => JSON.stringify(one))
    expect([...shown, ...calls].join('\n')).not.toContain('value-of-the-machine')
  })

  test('reads no variable of the environment in the name of its model', async () => {
    const cassette = await foreign(attempt => {
      attempt.model = 'env:WIREGLOT_TEST_VALUE'
    })
    const { calls, transport } = recordedCalls()
    await replay(cassette, { send: { apiKey, transport } }).catch(() => {})
    expect(calls.join('\n')).not.toContain('value-of-the-machine')
  })

  test('chooses no proxy and no address', async () => {
    const cassette = await foreign(attempt =>
      Object.assign(attempt.settings.channel, {
        proxy: 'http://other.test:8080',
        apiKey: 'other',
        headers: { 'x-more': 'x' },
      }),
    )
    expect(Object.keys(cassette.attempts[0]?.settings.channel ?? {})).not.toContain('proxy')
    expect((await replay(cassette)).differences).toEqual([])
  })
})
