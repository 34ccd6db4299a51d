import { createConsole } from '../../src/console/index.ts'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { type ConnectGateway, gateway } from '../../src/hosts/connect.ts'
import { openRecords, type RecordsOptions } from '../../src/records/index.ts'
import { after, listen, requests } from '../gateway/support.ts'

export const adminKey = 'admin-secret-0123456789'
export const alice = { authorization: 'Bearer client-secret-a' }
export const bob = { 'x-api-key': 'client-secret-b' }
export const admin = { authorization: `Bearer ${adminKey}` }
export const chat = { ...requests['chat-completions'], logit_bias: { '1': 2 } }
export const marked = { 'wireglot-console': '1' }

export const config = {
  keys: [
    { name: 'alice', key: 'client-secret-a' },
    { name: 'bob', key: 'client-secret-b' },
  ],
  channels: [{ name: 'demo', embedded: 'demo' }],
  models: [{ id: 'fast', channels: [{ name: 'demo', model: 'hidden-model' }] }],
} satisfies GatewayConfig

/** A gateway with a console, as an application mounts them. */
export async function started(
  settings: GatewayConfig = config,
  options: { adminKey?: string; withRecords?: boolean | RecordsOptions } = {},
): Promise<string> {
  const records = options.withRecords
    ? await openRecords(
        { file: ':memory:' },
        options.withRecords === true ? {} : options.withRecords,
      )
    : undefined
  const page = createConsole({
    gateway: () => handler,
    ...(options.adminKey !== undefined && { adminKey: options.adminKey }),
    ...(records && { records }),
  })
  const handler: ConnectGateway = gateway(settings, { ...page.hooks, logger: false })
  after(async () => {
    await handler.close(200)
    await records?.close()
  })
  if (records) await records.keys.create('carol', { models: ['fast'] })
  return listen(
    (request, response) => void (page.handle(request, response) || handler(request, response)),
  )
}

export const get = async (url: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url, { headers })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
