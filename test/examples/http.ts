import { createServer, gateway } from 'wireglot/connect'

const handler = gateway({ channels: [{ name: 'demo', embedded: 'demo' }] })
const server = createServer(handler).listen(Number(process.env['PORT'] ?? 4000), '127.0.0.1')

// New clients get 503 with a retry hint; responses in progress have ten seconds to end.
process.once('SIGTERM', async () => {
  await handler.close(10_000)
  server.close()
  server.closeAllConnections()
})
