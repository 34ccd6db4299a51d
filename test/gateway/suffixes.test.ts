import { describe, expect, test } from 'vitest'
import { splitEffort } from '../../src/gateway/effort-suffix.ts'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { type ProtocolName, protocolNames } from '../../src/protocols/index.ts'
import { asking, hostsOf, post, responses, sendJson, upstream } from './support.ts'

test.each([
  ['gpt-5-high', { model: 'gpt-5', effort: 'high' }],
  ['gpt-5:low', { model: 'gpt-5', effort: 'low' }],
  ['gpt-5(xhigh)', { model: 'gpt-5', effort: 'xhigh' }],
  ['vendor/gpt-5-max', { model: 'vendor/gpt-5', effort: 'max' }],
  ['gpt-5', undefined],
  ['gpt-5-highest', undefined],
  ['gpt-5(high', undefined],
  ['-high', undefined],
  ['high', undefined],
  ['', undefined],
])('the effort in %j', (name, split) => expect(splitEffort(name)).toEqual(split))

const config = (url: string, suffixes: boolean): GatewayConfig => ({
  auth: 'none',
  channels: [{ name: 'up', protocols: ['chat-completions'], baseUrl: url }],
  models: [
    { id: 'm', channels: [{ name: 'up', model: 'upstream-m' }], suffixes },
    { id: 'own-high', channels: [{ name: 'up' }] },
  ],
})

const hello = { messages: [{ role: 'user', content: [{ text: 'Hello' }] }] }
const askingFor = (from: ProtocolName, model: string): [path: string, init: RequestInit] =>
  from === 'converse'
    ? [`/model/${encodeURIComponent(model)}/converse`, post(hello)]
    : asking(from, { model })

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(protocolNames)('a name with an effort asks the model with it, from %s', async from => {
    const up = await upstream(sendJson(200, responses['chat-completions']))
    const ask = await start(config(up.url, true), { logger: false })
    for (const name of ['m-high', 'm:high', 'm(high)']) {
      const response = await ask(...askingFor(from, name))
      expect(response.status, await response.clone().text()).toBe(200)
      expect(up.calls.at(-1)?.json).toMatchObject({ model: 'upstream-m', reasoning_effort: 'high' })
    }
  })

  test('other names stay as they are, and without the setting there are no suffixes', async () => {
    const up = await upstream(sendJson(200, responses['chat-completions']))
    const ask = await start(config(up.url, true), { logger: false })
    expect((await ask(...asking('chat-completions', { model: 'own-high' }))).status).toBe(200)
    expect(up.calls.at(-1)?.json).toMatchObject({ model: 'own-high' })
    expect(up.calls.at(-1)?.json).not.toHaveProperty('reasoning_effort')
    const without = await start(config(up.url, false), { logger: false })
    expect((await without(...asking('chat-completions', { model: 'm-high' }))).status).toBe(404)
  })

  test('they are listed', async () => {
    const ask = await start(config('http://127.0.0.1:9', true), { logger: false })
    const { data } = (await (await ask('/v1/models')).json()) as { data: { id: string }[] }
    expect(data.map(({ id }) => id)).toEqual(['m', 'm-low', 'm-medium', 'm-high', 'own-high'])
    expect((await ask('/v1/models/m-high')).status).toBe(200)
  })
})
