import cluster from 'node:cluster'
import { Server as NetServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { createServer, gateway } from 'wireglot/connect'

const { env } = process

// Each process takes its connections itself: one that the first process has handed to another,
// which dies just then, would hang.
cluster.schedulingPolicy = cluster.SCHED_NONE
if (cluster.isPrimary) {
  let stopping = false
  for (let i = Number(env['PROCESSES'] ?? availableParallelism()); i > 0; i--) cluster.fork()
  cluster.on('exit', async () => {
    // A process that cannot start, such as without its port, must not be forked again and again
    // without a pause.
    await setTimeout(200)
    if (!stopping) cluster.fork()
  })
  process.once('SIGTERM', () => {
    stopping = true
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM')
  })
} else {
  const handler = gateway({
    keys: [
      { name: 'alice', key: 'env:ALICE_KEY', requestsPerMinute: Number(env['PER_MINUTE'] ?? 600) },
    ],
    limits: { redis: 'env:REDIS_URL' },
    channels: [
      {
        name: 'anthropic',
        protocols: ['messages'],
        baseUrl: env['ANTHROPIC_BASE_URL'] ?? 'https://api.anthropic.com',
        apiKey: 'env:ANTHROPIC_API_KEY',
      },
    ],
    models: [{ id: 'sonnet', channels: [{ name: 'anthropic', model: 'claude-sonnet-5' }] }],
  })
  const server = createServer((request, response) => {
    response.setHeader('x-served-by', process.pid)
    handler(request, response)
  })
  server.listen(Number(env['PORT'] ?? 4000), '127.0.0.1')
  process.once('SIGTERM', async () => {
    // New connections go to the other processes. Node's own close would also cut connections
    // without a request: they get a response that lets them retry.
    NetServer.prototype.close.call(server)
    await handler.close(10_000)
    await setTimeout(1_000)
    process.exit()
  })
}
