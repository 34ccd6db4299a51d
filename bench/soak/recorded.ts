import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gateway } from '../../src/hosts/connect.ts'
import { openRecords } from '../../src/records/index.ts'

/**
 * A gateway with records and keys in a process of its own. It sends its secrets, and what it holds
 * every few seconds.
 */
const { SOAK_UPSTREAM = '', SOAK_FILE = '', SOAK_KEYS = '' } = process.env
const records = await openRecords(
  { file: SOAK_FILE },
  { keepBodies: true, prices: () => ({ 'model-*': { input: 1, output: 5 } }) },
)
const secrets: string[] = []
for (let number = 0; number < Number(SOAK_KEYS); number++) {
  const limits = number % 2 === 0 ? { tokensPerMonth: 1e12, requestsPerMinute: 1e6 } : {}
  secrets.push((await records.keys.create(`key-${number}`, limits)).secret)
}
const handler = gateway(
  {
    channels: ['one', 'two'].map(name => ({
      name,
      protocols: ['chat-completions'],
      baseUrl: SOAK_UPSTREAM,
      breaker: { failures: 0 },
    })),
    models: [{ id: '*', channels: [{ name: 'one' }, { name: 'two' }] }],
    defaults: { retries: 0 },
  },
  { ...records.hooks, logger: false },
)
const server = createServer(handler)
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () =>
  process.send?.({ port: (server.address() as AddressInfo).port, secrets }),
)
setInterval(() => {
  const { rss, heapUsed } = process.memoryUsage()
  process.send?.({ rss, heap: heapUsed, ...records.state() })
}, 1_000)
process.on('disconnect', () => process.exit())
