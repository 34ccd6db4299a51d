import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Agent, request } from 'undici'

const heapMegabytes = 160
const models = 300
const keys = 100
/**
 * The most requests of a burst. Each burst has another number, so that the batches of records have
 * every size.
 */
const mostAtOnce = 120
/** In MB: how much larger the process may be in the last quarter than in the second one. */
const mayGrow = 25

type Sample = { rss: number; heap: number; waiting: number; dropped: number }

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/**
 * Keeps records and bodies of many models and keys, in batches of changing sizes, some of failing
 * upstreams. Exit code 1: memory grows.
 */
export async function soakRecords(minutes: number): Promise<number> {
  const built = mkdtempSync(here('../../node_modules/.bench-'))
  const folder = mkdtempSync(join(tmpdir(), 'soak-'))
  await build({
    entryPoints: [here('recorded.ts')],
    outfile: join(built, 'recorded.mjs'),
    bundle: true,
    external: ['kysely', 'libsql', 'pg'],
    platform: 'node',
    format: 'esm',
    target: 'es2023',
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url)",
    },
  })
  const upstream = await startUpstream()
  const child = fork(join(built, 'recorded.mjs'), {
    env: {
      ...process.env,
      SOAK_UPSTREAM: upstream.url,
      SOAK_FILE: join(folder, 'records.db'),
      SOAK_KEYS: String(keys),
    },
    execArgv: [`--max-old-space-size=${heapMegabytes}`],
  })
  const samples: Sample[] = []
  const { port, secrets } = await new Promise<{ port: number; secrets: string[] }>(
    (resolve, reject) => {
      child.on('message', (message: Sample | { port: number; secrets: string[] }) =>
        'rss' in message ? samples.push(message) : resolve(message),
      )
      child.on('exit', code => reject(new Error(`the gateway ended with ${code}`)))
    },
  )
  const agent = new Agent({ connections: mostAtOnce })
  const statuses = new Map<number, number>()
  const end = performance.now() + minutes * 60_000
  for (let number = 0; performance.now() < end; ) {
    const burst = Array.from({ length: 1 + Math.floor(Math.random() * mostAtOnce) }, async () => {
      const { statusCode, body } = await request(
        `http://127.0.0.1:${port}/v1/chat/completions`,
        sentBy(number++, secrets, agent),
      )
      await body.dump()
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
    })
    await Promise.all(burst)
    await wait(Math.random() * 500)
  }
  child.removeAllListeners('exit')
  child.disconnect()
  await agent.destroy()
  upstream.stop()
  for (const used of [built, folder]) rmSync(used, { recursive: true })
  return report(samples, statuses, minutes)
}

function sentBy(number: number, secrets: readonly string[], dispatcher: Agent) {
  const content = 'word '.repeat(Math.floor(Math.random() * 800))
  return {
    method: 'POST' as const,
    dispatcher,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${secrets[number % secrets.length]}`,
    },
    body: JSON.stringify({
      model: `model-${Math.floor(Math.random() * models)}`,
      messages: [{ role: 'user', content }],
    }),
  }
}

/** One in five responses is an error. */
async function startUpstream(): Promise<{ url: string; stop(): void }> {
  const good = JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
  })
  const bad = JSON.stringify({ error: { message: 'x'.repeat(500), type: 'server_error' } })
  let number = 0
  const server = createServer((received, response) => {
    received.resume().on('end', () => {
      const fails = number++ % 5 === 0
      response.writeHead(fails ? 500 : 200, { 'content-type': 'application/json' })
      response.end(fails ? bad : good)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function report(samples: Sample[], statuses: Map<number, number>, minutes: number): number {
  const quarter = (number: number) =>
    samples.slice((samples.length * number) / 4, (samples.length * (number + 1)) / 4)
  const means = (part: 'rss' | 'heap') =>
    [0, 1, 2, 3].map(quarter).map(list => {
      const sum = list.reduce((all, sample) => all + sample[part], 0)
      return Math.round(sum / 1e6 / Math.max(1, list.length))
    })
  const [first = 0, second = 0, third = 0, last = 0] = means('rss')
  const all = [...statuses.values()].reduce((sum, count) => sum + count, 0)
  console.log(
    [
      `requests: ${all} in ${minutes} min, ${models} models, ${keys} keys, ${[...statuses].map(([status, count]) => `${status}: ${count}`).join(', ')}`,
      `resident memory, by quarter: ${[first, second, third, last].join(', ')} MB, at most ${Math.round(Math.max(...samples.map(({ rss }) => rss / 1e6)))} MB, with a heap of at most ${heapMegabytes} MB`,
      `heap of the requests, by quarter: ${means('heap').join(', ')} MB`,
      `records dropped: ${samples.at(-1)?.dropped}, waiting at the end: ${samples.at(-1)?.waiting}`,
    ].join('\n'),
  )
  if (last <= second + mayGrow) return 0
  console.log('not as it should be: the memory grows')
  return 1
}
