import { expect, test } from 'vitest'
import type { GatewayConfig, UsageRecord } from '../../src/gateway/gateway.ts'
import { fetchGateway } from '../../src/hosts/fetch.ts'
import { normalizeResponse, textOf } from '../../src/index.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { explodeResponse } from '../../src/translate/fold.ts'
import { post, until } from './support.ts'

/** The frames of a stream up to its finish reason, without what follows it. */
function untilFinish(protocol: ProtocolName): string[] {
  const codec = protocols[protocol]
  const { wire } = codec.encodeResponse({
    id: 'resp_1',
    model: 'm',
    createdAt: 1_700_000_000,
    candidates: [
      {
        index: 0,
        messages: [
          { role: 'assistant', origin: 'message', parts: [{ type: 'text', text: 'Hello' }] },
        ],
        finish: { reason: 'stop' },
      },
    ],
    usage: { input: 7, output: 2 },
  })
  const frames = explodeResponse(wire, codec, {}).text.split(/(?<=\n\n)/)
  const last = frames.findLastIndex(frame =>
    /finish_?reason":"|stop_?reason|"completed"/i.test(frame),
  )
  return frames.slice(0, last + 1)
}

/** How the response is read. */
const readings: Record<string, { stream: boolean; model?: object; hooked?: true }> = {
  relayed: { stream: true },
  'with resume': { stream: true, model: { resume: true } },
  'with onStream': { stream: true, hooked: true },
  collected: { stream: false, model: { streaming: 'only' } },
}

test.each(
  protocolNames.flatMap(upstream =>
    Object.keys(readings).map(reading => [upstream, reading] as const),
  ),
)('a %s stream that breaks after its finish reason is whole: %s', async (upstream, reading) => {
  const { stream, model, hooked } = readings[reading] ?? {}
  const config = {
    auth: 'none',
    channels: [{ name: 'up', protocols: [upstream], baseUrl: 'http://up.test', apiKey: 'k' }],
    models: [{ id: 'm', channels: [{ name: 'up' }], ...model }],
    defaults: { retries: 0 },
  } as GatewayConfig
  const records: UsageRecord[] = []
  const gateway = fetchGateway(config, {
    logger: false,
    onUsage: record => void records.push(record),
    ...(hooked && { onStream: events => events }),
    transport: {
      send: async () => ({
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: (async function* () {
          yield* untilFinish(upstream)
          throw new Error('connection reset')
        })(),
      }),
    },
  })
  const body = { model: 'm', stream, messages: [{ role: 'user', content: 'Hi' }] }
  const response = await gateway('http://gateway.test/v1/chat/completions', post(body))
  const text = await response.text()
  expect(response.status).toBe(200)
  if (stream) {
    expect(text).toContain('"finish_reason":"stop"')
    expect(text).not.toContain('"error"')
  } else
    expect(textOf(normalizeResponse(JSON.parse(text), { protocol: 'chat-completions' }))).toBe(
      'Hello',
    )
  await until(() => records.length > 0)
  expect(records[0]?.failure).toBeUndefined()
  await gateway.close(100)
})
