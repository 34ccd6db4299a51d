import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import type { ProtocolName } from '../../src/protocols/index.ts'
import { listenedGateway } from '../gateway/listening.ts'
import { serverOptions } from '../support/server-options.ts'
import { startUpstream, type Upstream } from '../support/upstreams/index.ts'

export type GatewayToAll = {
  base: string
  upstreams: ReadonlyMap<string, Upstream>
  close(): Promise<void>
}

/** The model that an upstream of this protocol serves. */
export const modelBehind = (name: ProtocolName) => `model-behind-${name}`

/** A gateway inside of an application, before one strict upstream of each protocol. */
export async function startGatewayToAll(
  names: readonly ProtocolName[],
  more: Partial<GatewayConfig> = {},
): Promise<GatewayToAll> {
  const upstreams = new Map<string, Upstream>()
  for (const name of names) upstreams.set(name, await startUpstream(name))
  const mounted = listenedGateway({
    auth: 'none',
    defaults: { retries: 0 },
    channels: names.map(name => ({
      name,
      protocols: [name],
      baseUrl: upstreams.get(name)?.url ?? '',
      apiKey: 'upstream-secret',
    })),
    models: names.map(name => ({ id: modelBehind(name), channels: [{ name }] })),
    ...more,
  })
  const app = express()
  app.use(mounted)
  const server = createServer(serverOptions, app)
    .on('upgrade', mounted.upgrade)
    .listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    upstreams,
    async close() {
      await mounted.close()
      await new Promise(resolve => server.close(resolve))
      for (const upstream of upstreams.values()) await upstream.close()
    },
  }
}
