import { execFileSync, spawn } from 'node:child_process'
import { freePort } from '../support/free-port.ts'

export const redisInstalled = isInstalled()
export const redisTitle = `with Redis${redisInstalled ? '' : ' (skipped: redis-server is not installed)'}`

/** `pause`: it keeps its connections, and answers nothing until `resume`. */
export type Redis = { url(database: number): string; pause(): void; resume(): void; stop(): void }

/** A server of its own, which keeps nothing on disk. */
export async function startRedis(): Promise<Redis> {
  const port = await freePort()
  const server = spawn(
    'redis-server',
    ['--port', String(port), '--save', '', '--appendonly', 'no'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    server.stdout.on('data', chunk => {
      if (String(chunk).includes('Ready to accept')) resolve()
    })
  })
  return {
    url: database => `redis://127.0.0.1:${port}/${database}`,
    pause: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    stop: () => void server.kill(),
  }
}

function isInstalled(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
