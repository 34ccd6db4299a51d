import { describe, expect, test } from 'vitest'
import { ConfigError, createGateway, type GatewayConfig } from '../../src/gateway/gateway.ts'
import {
  asking,
  hosts,
  hostsOf,
  one,
  type Protocol,
  paths,
  post,
  requests,
  responses,
  sendJson,
  sendStream,
  streams,
  upstream,
} from './support.ts'

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  async function sent(
    served: Protocol,
    {
      model = {},
      channel = {},
      client = served,
      ...more
    }: { model?: object; channel?: object; client?: Protocol; [field: string]: unknown },
  ) {
    const seen = await upstream(sendJson(200, responses[served]))
    const ask = await start(one(seen.url, served, {}, model, channel))
    const response = await ask(...asking(client, more))
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('Hello')
    return seen.calls[0]
  }

  test.each<Protocol>(['chat-completions', 'messages'])(
    'sets a field over that of the client: %s',
    async client => {
      const call = await sent('chat-completions', {
        client,
        temperature: 1,
        channel: { set: { temperature: 0, 'reasoning.effort': 'high' } },
      })
      expect(call?.json).toMatchObject({
        model: 'm',
        temperature: 0,
        reasoning: { effort: 'high' },
        messages: [{ role: 'user', content: 'Hi' }],
      })
    },
  )

  test('sets a default only where the client sends nothing', async () => {
    const channel = { setIfAbsent: { temperature: 0, seed: 7 } }
    expect((await sent('chat-completions', { temperature: 1, channel }))?.json).toMatchObject({
      temperature: 1,
      seed: 7,
    })
    expect((await sent('chat-completions', { temperature: null, channel }))?.json).toMatchObject({
      temperature: null,
      seed: 7,
    })
  })

  test('keeps the siblings of a nested field', async () => {
    const call = await sent('generate-content', {
      generationConfig: { topK: 3, temperature: 1 },
      model: {
        set: { 'generationConfig.temperature': 0 },
        setIfAbsent: { 'generationConfig.topK': 9 },
      },
    })
    expect(call?.json['generationConfig']).toEqual({ topK: 3, temperature: 0 })
  })

  test('the model overrides the channel', async () => {
    const call = await sent('messages', {
      channel: { set: { temperature: 0, top_k: 1 }, setIfAbsent: { service_tier: 'auto' } },
      model: { set: { temperature: 0.5 }, setIfAbsent: { service_tier: 'standard_only' } },
    })
    expect(call?.json).toMatchObject({ temperature: 0.5, top_k: 1, service_tier: 'standard_only' })
  })

  test('a model at one of its channels overrides both', async () => {
    const [first, second] = [
      await upstream(sendJson(500, {})),
      await upstream(sendJson(200, responses.messages)),
    ]
    const channels = [first, second].map(({ url }, index) => ({
      name: `c${index}`,
      protocols: ['messages' as const],
      baseUrl: url,
      set: { temperature: 0, top_k: 1 },
    }))
    const ask = await start(
      {
        auth: 'none',
        channels,
        models: [
          {
            id: 'm',
            set: { temperature: 0.5 },
            setIfAbsent: { service_tier: 'auto' },
            channels: [
              { name: 'c0', priority: 0 },
              {
                name: 'c1',
                priority: 1,
                set: { temperature: 0.9 },
                setIfAbsent: { service_tier: 'standard_only' },
              },
            ],
          },
        ],
        defaults: { retries: 0 },
      },
      { logger: false },
    )
    expect((await ask(...asking('messages'))).status).toBe(200)
    expect(first.calls[0]?.json).toMatchObject({ temperature: 0.5, top_k: 1, service_tier: 'auto' })
    expect(second.calls[0]?.json).toMatchObject({
      temperature: 0.9,
      top_k: 1,
      service_tier: 'standard_only',
    })
  })

  test('applies to streams, and leaves the bytes as they are where nothing changes', async () => {
    const seen = await upstream(sendStream(streams.messages))
    const ask = await start(one(seen.url, 'messages', {}, {}, { set: { temperature: 0 } }))
    const text = JSON.stringify({ ...requests.messages, stream: true, temperature: 0 }, null, 3)
    await (await ask(paths.messages, post(text))).text()
    expect(seen.calls[0]?.text).toBe(text)
    await (await ask(...asking('messages', { stream: true }))).text()
    expect(seen.calls[1]?.json).toMatchObject({ stream: true, temperature: 0 })
  })

  test('does not apply to counting tokens', async () => {
    const seen = await upstream(sendJson(200, { input_tokens: 3 }))
    const ask = await start(one(seen.url, 'messages', {}, {}, { set: { temperature: 0 } }))
    expect(
      await (
        await ask(
          '/v1/messages/count_tokens',
          post({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
        )
      ).json(),
    ).toEqual({
      input_tokens: 3,
    })
    expect(seen.calls[0]?.json).not.toHaveProperty('temperature')
  })
})

test.each(['model', 'stream', 'stream.x', '', 'a..b'])('refuses to set "%s"', field => {
  const config = one(
    'http://127.0.0.1:1',
    'messages',
    {},
    { set: { [field]: 1 } },
  ) satisfies GatewayConfig
  expect(() => createGateway(config)).toThrow(ConfigError)
})

test('does not change the prototype through a field', async () => {
  const seen = await upstream(sendJson(200, responses.messages))
  const [connect] = hosts
  const ask = await connect?.[1](
    one(seen.url, 'messages', {}, {}, { set: JSON.parse('{"__proto__.polluted":1}') as object }),
  )
  await ask?.(...asking('messages'))
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})
