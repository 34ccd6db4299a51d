import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gateway } from '../../src/hosts/connect.ts'
import { protocolNames } from '../../src/protocols/index.ts'

/** The gateway in a process of its own, which reports every few seconds what it holds. */
const handler = gateway({
  auth: 'none',
  channels: protocolNames.map(name => ({
    name,
    protocols: [name],
    baseUrl: String(process.env['SOAK_UPSTREAM']),
    breaker: { failures: 0 },
    timeouts: { idleMs: 20_000 },
  })),
  models: protocolNames.map(name => ({ id: `m-${name}`, channels: [{ name }] })),
  defaults: { retries: 0 },
})
const server = createServer(handler)
server.keepAliveTimeout = 600_000
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_000 }, () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
)

function report(): void {
  globalThis.gc?.()
  const { heapUsed: heap, rss } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  process.send?.({
    heap,
    rss,
    handles: process.getActiveResourcesInfo().length,
    cpuMs: (user + system) / 1000,
  })
}
setInterval(report, 10_000)
process.on('message', report)
process.on('disconnect', () => process.exit())
