import { execFileSync, spawn } from 'node:child_process'
import { createServer } from 'node:net'

export const redisInstalled = isInstalled()
export const redisTitle = `with Redis${redisInstalled ? '' : ' (skipped: redis-server is not installed)'}`

export type Redis = { url(database: number): string; stop(): void }

/** A server of its own, which keeps nothing on disk. */
export async function startRedis(): Promise<Redis> {
  const port = await freePort()
  const server = spawn('redis-server', ['--port', String(port), '--save', '', '--appendonly', 'no'], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    server.stdout.on('data', chunk => {
      if (String(chunk).includes('Ready to accept')) resolve()
    })
  })
  return { url: database => `redis://127.0.0.1:${port}/${database}`, stop: () => void server.kill() }
}

function isInstalled(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}
