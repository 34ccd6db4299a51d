import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, request } from 'undici'
import { gateway } from '../src/hosts/connect.ts'

/**
 * Many streams at once through a gateway in a process of its own, every text checked: `npm run bench:soak -- --minutes 10
 * --streams 1000`. One client in twenty leaves in the middle. Prints what was lost or mixed up, how much memory the gateway
 * held over time, and how fast upstream calls of clients that left were ended. Exit code 1: something was not as it should be.
 */
const option = (name: string, usual: number) => {
  const at = process.argv.indexOf(`--${name}`)
  return at > 0 ? Number(process.argv[at + 1]) : usual
}
const role = process.env['SOAK_ROLE']
const pieces = 40
const pauseMs = 50

const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** Says the number it is asked for, again and again; the other process is told when a caller left. */
function serveUpstream(): void {
  const server = createServer((asked, answer) => {
    let text = ''
    asked.on('data', chunk => {
      text += String(chunk)
    })
    asked.on('end', async () => {
      const [word = ''] = /n\d+/.exec(text) ?? []
      answer.writeHead(200, { 'content-type': 'text/event-stream' })
      answer.on('close', () => {
        if (!answer.writableFinished) process.send?.({ left: word, at: Date.now() })
      })
      const say = (delta: object, finish: string | null = null) =>
        answer.write(
          `data: ${JSON.stringify({ id: `c_${word}`, object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
        )
      say({ role: 'assistant', content: '' })
      for (let i = 0; i < pieces && !answer.destroyed; i++) {
        say({ content: `${word}.` })
        await wait(pauseMs)
      }
      say({}, 'stop')
      answer.end('data: [DONE]\n\n')
    })
  })
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
}

function serveGateway(): void {
  const handler = gateway({
    auth: 'none',
    channels: [{ name: 'up', protocols: ['chat-completions'], baseUrl: String(process.env['SOAK_UPSTREAM']) }],
    models: [{ id: 'm', channels: [{ name: 'up' }] }],
  })
  const server = createServer(handler)
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
  setInterval(() => {
    globalThis.gc?.()
    process.send?.({ heap: process.memoryUsage().heapUsed, rss: process.memoryUsage().rss })
  }, 5_000)
}

type Said = { port?: number; heap?: number; rss?: number; left?: string; at?: number }

function start(as: string, upstream: string | undefined, hear: (said: Said) => void) {
  const child = fork(new URL(import.meta.url).pathname, {
    env: { ...process.env, SOAK_ROLE: as, ...(upstream !== undefined && { SOAK_UPSTREAM: upstream }) },
    execArgv: [...process.execArgv, '--expose-gc'],
  })
  const url = new Promise<string>(resolve => {
    child.on('message', said => {
      const { port } = said as Said
      if (port) resolve(`http://127.0.0.1:${port}`)
      else hear(said as Said)
    })
  })
  return { child, url }
}

const clients = [
  { path: '/v1/messages', body: (text: string) => ({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: text }] }), end: 'message_stop' },
  { path: '/v1/responses', body: (text: string) => ({ model: 'm', input: text }), end: 'response.completed' },
  { path: '/v1/chat/completions', body: (text: string) => ({ model: 'm', messages: [{ role: 'user', content: text }] }), end: '[DONE]' },
]

async function load(): Promise<void> {
  const minutes = option('minutes', 10)
  const atOnce = option('streams', 1_000)
  const gone = new Map<string, number>()
  const abortMs: number[] = []
  const heaps: number[] = []
  let rss = 0
  const upstream = start('upstream', undefined, ({ left, at }) => {
    const since = left === undefined ? undefined : gone.get(left)
    if (since !== undefined && at !== undefined) abortMs.push(at - since)
  })
  const served = start('gateway', await upstream.url, said => {
    if (said.heap) heaps.push(said.heap)
    rss = Math.max(rss, said.rss ?? 0)
  })
  const base = await served.url
  const agent = new Agent({ connections: atOnce + 50, pipelining: 1 })
  const until = Date.now() + minutes * 60_000
  const count = { whole: 0, left: 0, lost: 0, mixed: 0 }
  let next = 0

  async function one(): Promise<void> {
    const number = next++
    const word = `n${number}`
    const client = clients[number % clients.length]
    if (!client) return
    const leaves = number % 20 === 7
    const controller = new AbortController()
    let text = ''
    try {
      const { body } = await request(base + client.path, {
        method: 'POST',
        dispatcher: agent,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...client.body(word), stream: true }),
        signal: controller.signal,
      })
      for await (const chunk of body) {
        text += String(chunk)
        if (leaves && text.length > 2_000) {
          gone.set(word, Date.now())
          count.left++
          controller.abort()
          return
        }
      }
    } catch {
      if (controller.signal.aborted) return
    }
    const words = new Set(text.match(/n\d+(?=\.)/g))
    if (words.size > 1 || (words.size === 1 && !words.has(word))) count.mixed++
    else if (!text.includes(client.end) || (text.match(/n\d+\./g)?.length ?? 0) < pieces) count.lost++
    else count.whole++
  }

  await Promise.all(
    Array.from({ length: atOnce }, async (_, i) => {
      // All at once would measure how fast sockets open.
      await wait(i)
      while (Date.now() < until) await one()
    }),
  )
  await wait(1_000)
  upstream.child.kill()
  served.child.kill()
  await agent.destroy()
  report(count, { atOnce, minutes, heaps, rss, abortMs })
}

function report(
  { whole, left, lost, mixed }: { whole: number; left: number; lost: number; mixed: number },
  { atOnce, minutes, heaps, rss, abortMs }: { atOnce: number; minutes: number; heaps: number[]; rss: number; abortMs: number[] },
): void {
  const mega = (bytes: number | undefined) => `${((bytes ?? 0) / 1e6).toFixed(0)} MB`
  // The first quarter warms up.
  const settled = heaps.slice(Math.floor(heaps.length / 4))
  const half = Math.floor(settled.length / 2)
  const mean = (list: number[]) => list.reduce((sum, value) => sum + value, 0) / Math.max(1, list.length)
  const [before, after] = [mean(settled.slice(0, half)), mean(settled.slice(half))]
  const slowest = Math.max(0, ...abortMs)
  console.log(`${atOnce} streams at once for ${minutes} min: ${whole} whole, ${left} left by their clients, ${lost} lost, ${mixed} mixed up`)
  console.log(`heap of the gateway: ${mega(before)} in the first half, ${mega(after)} in the second; largest process ${mega(rss)}`)
  console.log(`upstream calls of clients that left: ${abortMs.length} ended, the slowest after ${slowest} ms`)
  const grows = after > before * 1.2 + 5e6
  if (lost + mixed > 0 || grows || abortMs.length < left) process.exitCode = 1
}

if (role === 'upstream') serveUpstream()
else if (role === 'gateway') serveGateway()
else await load()
