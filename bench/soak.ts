import { fork } from 'node:child_process'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, request } from 'undici'
import { gateway } from '../src/hosts/connect.ts'
import { collectStream, normalizeResponse, textOf } from '../src/index.ts'
import { type ProtocolName, protocols } from '../src/protocols/index.ts'

/**
 * Many streams at once through a gateway in a process of its own, every text compared letter by letter: `npm run bench:soak --
 * --minutes 10 --streams 1000`. One client in seven leaves: before the first byte, in the middle of a stream, or while a whole
 * reply is on its way. Prints what was lost or mixed up, how much memory the gateway held over time, and how fast upstream
 * calls of clients that left were ended. Exit code 1: something was not as it should be.
 */
const option = (name: string, usual: number) => {
  const at = process.argv.indexOf(`--${name}`)
  return at > 0 ? Number(process.argv[at + 1]) : usual
}
const role = process.env['SOAK_ROLE']
const pieces = 40
const pauseMs = 50

const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** What the upstream says to whoever asks with this word: every piece can be told from every other. */
const saying = (word: string) => Array.from({ length: pieces }, (_, i) => `${word}.${i}; `)

/** Says the word it is asked with, again and again; the other process is told when a caller left, and how many calls are open. */
function serveUpstream(): void {
  let open = 0
  const server = createServer((asked, answer) => {
    open++
    answer.on('close', () => open--)
    let text = ''
    asked.on('data', chunk => {
      text += String(chunk)
    })
    asked.on('end', () => {
      const [word = ''] = /n\d+/.exec(text) ?? []
      answer.on('close', () => {
        if (!answer.writableFinished) process.send?.({ left: word, at: Date.now() })
      })
      void (/"stream": ?true/.test(text) ? sayInPieces(answer, word, text.includes('after a while')) : sayWhole(answer, word))
    })
  })
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
  setInterval(() => process.send?.({ open }), 1_000)
}

const head = (word: string, object: string) => ({ id: `c_${word}`, object, created: 1, model: 'm' })

async function sayInPieces(answer: ServerResponse, word: string, late: boolean): Promise<void> {
  if (late) await wait(pieces * pauseMs)
  if (answer.destroyed) return
  answer.writeHead(200, { 'content-type': 'text/event-stream' })
  const say = (delta: object, finish: string | null = null) =>
    answer.write(`data: ${JSON.stringify({ ...head(word, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`)
  say({ role: 'assistant', content: '' })
  for (const content of saying(word)) {
    if (answer.destroyed) return
    say({ content })
    await wait(pauseMs)
  }
  say({}, 'stop')
  answer.end('data: [DONE]\n\n')
}

async function sayWhole(answer: ServerResponse, word: string): Promise<void> {
  answer.writeHead(200, { 'content-type': 'application/json' })
  const message = { role: 'assistant', content: saying(word).join(''), refusal: null }
  const text = JSON.stringify({ ...head(word, 'chat.completion'), choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }] })
  answer.write(text.slice(0, 40))
  await wait(pieces * pauseMs)
  if (!answer.destroyed) answer.end(text.slice(40))
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

type Said = { port?: number; heap?: number; rss?: number; left?: string; at?: number; open?: number }

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

const clients: { protocol: ProtocolName; body: (text: string) => object }[] = [
  { protocol: 'messages', body: text => ({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: text }] }) },
  { protocol: 'responses', body: text => ({ model: 'm', input: text }) },
  { protocol: 'chat-completions', body: text => ({ model: 'm', messages: [{ role: 'user', content: text }] }) },
]

const phases = ['before the first byte', 'in the middle of a stream', 'while a whole reply is on its way'] as const
type Phase = (typeof phases)[number]

/** Every seventh client leaves, in turn in each of the phases. */
const phaseOf = (number: number): Phase | undefined => (number % 7 === 3 ? phases[Math.floor(number / 7) % phases.length] : undefined)

type Count = { whole: number; left: number; lost: number; mixed: number }

async function load(): Promise<void> {
  const minutes = option('minutes', 10)
  const atOnce = option('streams', 1_000)
  const gone = new Map<string, { since: number; phase: Phase }>()
  const abortMs = new Map<Phase, number[]>(phases.map(phase => [phase, []]))
  const heaps: number[] = []
  const sizes: number[] = []
  let open = 0
  const upstream = start('upstream', undefined, said => {
    open = said.open ?? open
    const leaver = said.left === undefined ? undefined : gone.get(said.left)
    if (leaver && said.at !== undefined) abortMs.get(leaver.phase)?.push(said.at - leaver.since)
  })
  const served = start('gateway', await upstream.url, ({ heap, rss }) => {
    if (heap) heaps.push(heap)
    if (rss) sizes.push(rss)
  })
  const base = await served.url
  const agent = new Agent({ connections: atOnce + 50, pipelining: 1 })
  const until = Date.now() + minutes * 60_000
  const count: Count = { whole: 0, left: 0, lost: 0, mixed: 0 }
  let next = 0

  async function one(): Promise<void> {
    const number = next++
    const word = `n${number}`
    const client = clients[number % clients.length]
    if (!client) return
    const phase = phaseOf(number)
    const stream = phase !== 'while a whole reply is on its way'
    const controller = new AbortController()
    const leave = (): void => {
      if (!phase || gone.has(word)) return
      gone.set(word, { since: Date.now(), phase })
      count.left++
      controller.abort()
    }
    const timer = phase && phase !== 'in the middle of a stream' ? setTimeout(leave, (pieces * pauseMs) / 4) : undefined
    let text = ''
    try {
      const { body } = await request(base + protocols[client.protocol].address.path, {
        method: 'POST',
        dispatcher: agent,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...client.body(phase === 'before the first byte' ? `${word} after a while` : word), stream }),
        signal: controller.signal,
      })
      for await (const chunk of body) {
        text += String(chunk)
        if (phase === 'in the middle of a stream' && text.length > 2_000) return leave()
      }
    } catch {
      if (controller.signal.aborted) return
    } finally {
      clearTimeout(timer)
    }
    const said = await heard(text, client.protocol).catch(() => '')
    if (said === saying(word).join('')) count.whole++
    else if ((said.match(/n\d+(?=\.)/g) ?? []).some(one => one !== word)) count.mixed++
    else count.lost++
  }

  await Promise.all(
    Array.from({ length: atOnce }, async (_, i) => {
      // All at once would measure how fast sockets open.
      await wait(i)
      while (Date.now() < until) await one()
    }),
  )
  await wait(2_500)
  upstream.child.kill()
  served.child.kill()
  await agent.destroy()
  report(count, { atOnce, minutes, heaps, sizes, abortMs, open })
}

async function heard(text: string, protocol: ProtocolName): Promise<string> {
  return textOf(normalizeResponse((await collectStream([text], { protocol })).body, { protocol }))
}

type Measured = { atOnce: number; minutes: number; heaps: number[]; sizes: number[]; abortMs: Map<Phase, number[]>; open: number }

function report({ whole, left, lost, mixed }: Count, { atOnce, minutes, heaps, sizes, abortMs, open }: Measured): void {
  const mean = (list: number[]) => list.reduce((sum, value) => sum + value, 0) / Math.max(1, list.length)
  const quarters = (list: number[]) => [0, 1, 2, 3].map(i => mean(list.slice(Math.floor((list.length * i) / 4), Math.floor((list.length * (i + 1)) / 4))))
  const shown = (list: number[]) =>
    quarters(list)
      .map(bytes => (bytes / 1e6).toFixed(0))
      .join(', ')
  console.log(`${atOnce} streams at once for ${minutes} min: ${whole} whole and right, ${left} left by their clients, ${lost} lost, ${mixed} mixed up`)
  console.log(`heap of the gateway after collection, by quarters of the time: ${shown(heaps)} MB; its process: ${shown(sizes)} MB`)
  for (const [phase, times] of abortMs) {
    const sorted = times.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    console.log(
      `clients that left ${phase}: ${sorted.length} upstream calls ended, half within ${at(0.5)} ms, 99 of 100 within ${at(0.99)} ms, all within ${at(1)} ms`,
    )
  }
  console.log(`upstream calls still open at the end: ${open}`)
  // The first half warms up.
  const [, , third = 0, last = 0] = quarters(heaps)
  const grows = last > third * 1.2 + 5e6
  // Fewer may have ended than clients left: some leave before the gateway has asked, or with the last byte.
  const unseen = [...abortMs.values()].some(times => times.length === 0)
  if (lost + mixed + open > 0 || grows || (left > 20 && unseen) || whole === 0) process.exitCode = 1
}

if (role === 'upstream') serveUpstream()
else if (role === 'gateway') serveGateway()
else await load()
