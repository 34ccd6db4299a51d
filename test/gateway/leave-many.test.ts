import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { asking, half, listen, mounted, one, type Protocol, replies, until, wait } from './support.ts'

/**
 * A hundred clients at once whose sockets close: in every phase of an exchange a hundred upstream calls end. How fast they do
 * is measured by `npm run bench:soak`; here the bound is wide, for other tests run beside.
 */
const clients = 100
const boundMs = 5_000

type Seen = { open: Set<ServerResponse>; ended: number[]; calls: number; url: string }

/** An upstream that answers so far and no further, and notes when it is left. */
async function holding(answer: (response: ServerResponse) => void): Promise<Seen> {
  const seen: Seen = { open: new Set(), ended: [], calls: 0, url: '' }
  seen.url = await listen(async (request, response) => {
    response.on('close', () => {
      seen.open.delete(response)
      if (!response.writableFinished) seen.ended.push(Date.now())
    })
    for await (const _ of request);
    seen.calls++
    seen.open.add(response)
    answer(response)
  })
  return seen
}

/** A client of bare sockets; `heard` is what it has read. */
function leaver(url: string, client: Protocol, stream: boolean): { socket: Socket; heard(): string } {
  let heard = ''
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.on('data', chunk => {
    heard += String(chunk)
  })
  const [path, { body }] = asking(client, { stream })
  const text = String(body)
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`)
  return { socket, heard: () => heard }
}

const started = async (url: string, served: Protocol, more = {}) => {
  const handler = mounted(one(url, served, more))
  return listen(handler)
}

async function leaveAll(seen: Seen, leavers: readonly { socket: Socket }[]): Promise<number> {
  const left = Date.now()
  for (const { socket } of leavers) socket.destroy()
  await until(() => seen.ended.length >= clients, boundMs)
  return Math.max(...seen.ended) - left
}

const phases: [phase: string, stream: boolean, answer: (served: Protocol) => (response: ServerResponse) => void, ready: (heard: string) => boolean][] = [
  ['before the headers of a stream', true, () => () => {}, () => true],
  ['before the headers of a whole reply', false, () => () => {}, () => true],
  [
    'in the middle of a stream',
    true,
    served => response => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(half(served).join('')),
    heard => heard.includes('Hel'),
  ],
  [
    'in the middle of a whole reply',
    false,
    served => response => void response.writeHead(200, { 'content-type': 'application/json' }).write(JSON.stringify(replies[served]).slice(0, 40)),
    () => true,
  ],
]

describe.each([
  ['messages', 'messages'],
  ['responses', 'chat-completions'],
  ['generate-content', 'messages'],
  ['chat-completions', 'generate-content'],
] as const)('%s clients, an upstream of %s', (client, served) => {
  test.each(phases)('%s: a hundred leave, and a hundred upstream calls end', async (_phase, stream, answer, ready) => {
    const seen = await holding(answer(served))
    const url = await started(seen.url, served)
    const leavers = Array.from({ length: clients }, () => leaver(url, client, stream))
    await until(() => seen.calls === clients && leavers.every(({ heard }) => ready(heard())), 20_000)
    expect(await leaveAll(seen, leavers)).toBeLessThan(boundMs)
    expect(seen.open.size).toBe(0)
  })

  test('while they wait for the next attempt: no further attempt is made', async () => {
    let calls = 0
    const url = await listen(async (request, response) => {
      for await (const _ of request);
      calls++
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '2' }).end('{}')
    })
    const base = await started(url, served, {
      channels: [{ name: 'up', protocols: [served], baseUrl: url, breaker: { failures: 0 } }],
      defaults: { retries: 5 },
    })
    const leavers = Array.from({ length: clients }, () => leaver(base, client, true))
    await until(() => calls >= clients, 20_000)
    for (const { socket } of leavers) socket.destroy()
    const before = calls
    await wait(2_500)
    expect(calls).toBe(before)
  })
})
