import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { type ProtocolName, protocolNames } from '../../src/protocols/index.ts'
import { listenedGateway } from '../gateway/listening.ts'
import { clientOf } from '../support/clients/index.ts'
import { sampled } from '../support/sampled.ts'
import { serverOptions } from '../support/server-options.ts'
import { type Script, startUpstream, type Upstream, wireOf } from '../support/upstreams/index.ts'

/**
 * Official clients before a gateway whose channels are another gateway, before upstreams that want
 * back what they signed.
 */

const lookup = { name: 'lookup', schema: { type: 'object', properties: { q: { type: 'string' } } } }
const proven = protocolNames.filter(name => wireOf(name).signature !== undefined)

/** Two calls, one after the other, each with its reasoning. */
function play(received: unknown): Script {
  const length = new Set(JSON.stringify(received).match(/RESULT-\w+/g)).size
  if (length > 1) return { text: 'Found both', ending: 'stop' }
  return {
    reasoning: 'Thinking it over.',
    calls: [{ id: `call_${length}`, name: 'lookup', args: `{"q":"q${length}"}` }],
    ending: 'stop',
  }
}

const closing: (() => Promise<unknown>)[] = []
const upstreams = new Map<string, Upstream>()
let base = ''

beforeAll(async () => {
  for (const name of proven) upstreams.set(name, await startUpstream(name, play))
  const behind = await serve({
    channels: proven.map(name => ({
      name,
      protocols: [name],
      baseUrl: upstreams.get(name)?.url ?? '',
      apiKey: 'secret',
    })),
    models: proven.map(name => ({ id: name, channels: [{ name }] })),
  })
  base = await serve({
    channels: protocolNames.map(name => ({
      name,
      protocols: [name],
      baseUrl: behind,
      apiKey: 'secret',
      options: { foreignSignatures: 'wrap' as const },
    })),
    models: protocolNames.flatMap(between =>
      proven.map(upstream => ({
        id: `${between}--${upstream}`,
        channels: [{ name: between, model: upstream }],
      })),
    ),
  })
})

afterAll(async () => {
  for (const close of closing.toReversed()) await close()
  for (const upstream of upstreams.values()) await upstream.close()
})

async function serve(config: Pick<GatewayConfig, 'channels' | 'models'>): Promise<string> {
  const mounted = listenedGateway({ auth: 'none', defaults: { retries: 0 }, ...config })
  const server = createServer(serverOptions, mounted)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    await mounted.close()
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const chains = protocolNames.flatMap(client =>
  protocolNames.flatMap(between =>
    proven.flatMap(upstream =>
      [true, false].map(stream => ({ client, between, upstream, stream })),
    ),
  ),
)

describe.each(sampled(chains, 7))(
  'the official client of $client, over $between, to an upstream of $upstream, streaming: $stream',
  ({ client, between, upstream, stream }) => {
    test('returns the signatures of the upstream in every step of a tool loop', async () => {
      const message = await clientOf(client).converse(
        base,
        { model: `${between}--${upstream}`, ask: 'Look twice.', tools: [lookup], stream },
        (_, input) => `RESULT-${(input as { q: string }).q}`,
      )
      expect(message).toMatchObject({ text: 'Found both', rounds: 3 })
      const { signature = '' } = wireOf(upstream as ProtocolName)
      const last = JSON.stringify(upstreams.get(upstream)?.requests.at(-1))
      expect(last.split(signature).length - 1).toBe(2)
      expect(last).not.toMatch(/xs1\.|eHMxLm/)
    })
  },
)
