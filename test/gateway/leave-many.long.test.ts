import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { UsageRecord } from '../../src/gateway/gateway.ts'
import { asking, half, listen, mounted, one, type Protocol, responses, until } from './support.ts'

/**
 * A hundred clients at once whose sockets close: in every phase of an exchange a hundred upstream
 * calls end, and nothing but that can end them, since the channel has no limits of time. How fast
 * they do is measured by `npm run bench:soak`.
 */
const clients = 100
const timeouts = { firstByteMs: 0, idleMs: 0, totalMs: 0 }

type Seen = { open: Set<ServerResponse>; ended: number; calls: number; url: string }

/**
 * An upstream that sends a part of its response and no more, and records when its client leaves.
 */
async function holding(result: (response: ServerResponse) => void): Promise<Seen> {
  const seen: Seen = { open: new Set(), ended: 0, calls: 0, url: '' }
  seen.url = await listen(async (request, response) => {
    response.on('close', () => {
      seen.open.delete(response)
      if (!response.writableFinished) seen.ended++
    })
    for await (const _ of request);
    seen.calls++
    seen.open.add(response)
    result(response)
  })
  return seen
}

/** A client of bare sockets; `received` is what it has read. */
function leaver(
  url: string,
  client: Protocol,
  stream: boolean,
  model = 'm',
): { socket: Socket; received(): string } {
  let received = ''
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.on('data', chunk => {
    received += String(chunk)
  })
  const [path, { body }] = asking(client, { stream, model })
  const text = String(body)
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  )
  return { socket, received: () => received }
}

const phases: [
  phase: string,
  stream: boolean,
  respond: (served: Protocol) => (response: ServerResponse) => void,
  ready: (events: string) => boolean,
][] = [
  ['before the headers of a stream', true, () => () => {}, () => true],
  ['before the headers of a complete response', false, () => () => {}, () => true],
  [
    'in the middle of a stream',
    true,
    served => response =>
      void response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write(half(served).join('')),
    received => received.includes('Hel'),
  ],
  [
    'in the middle of a complete response',
    false,
    served => response =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .write(JSON.stringify(responses[served]).slice(0, 40)),
    () => true,
  ],
]

describe.each([
  ['messages', 'messages'],
  ['responses', 'chat-completions'],
  ['generate-content', 'messages'],
  ['chat-completions', 'generate-content'],
] as const)('%s clients, an upstream of %s', (client, served) => {
  test.each(phases)(
    '%s: cancels a hundred upstream calls when a hundred clients disconnect',
    async (_phase, stream, response, ready) => {
      const seen = await holding(response(served))
      const url = await listen(mounted(one(seen.url, served, {}, {}, { timeouts })))
      const leavers = Array.from({ length: clients }, () => leaver(url, client, stream))
      await until(
        () => seen.calls === clients && leavers.every(({ received }) => ready(received())),
      )
      for (const { socket } of leavers) socket.destroy()
      await until(() => seen.ended === clients)
      expect(seen.open.size).toBe(0)
    },
  )

  test('makes no further attempt when clients disconnect during backoff', async () => {
    let calls = 0
    let callsOfLast = 0
    const url = await listen(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += String(chunk)
      if (text.includes('"last"') || request.url?.includes('last')) callsOfLast++
      else calls++
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' }).end('{}')
    })
    const records: UsageRecord[] = []
    const config = one(
      url,
      served,
      { defaults: { retries: 9 } },
      { id: '*' },
      { breaker: { failures: 0 } },
    )
    const base = await listen(mounted(config, { onUsage: record => void records.push(record) }))
    const leavers = Array.from({ length: clients }, () => leaver(base, client, true))
    await until(() => calls >= clients)
    for (const { socket } of leavers) socket.destroy()
    await until(() => records.length === clients)
    // A new client waits as long for its next attempts: theirs would all be made before its third.
    const last = leaver(base, client, true, 'last')
    await until(() => callsOfLast === 3)
    last.socket.destroy()
    expect(records.map(({ status }) => status)).toEqual(Array(clients).fill(499))
    expect(calls).toBeLessThanOrEqual(
      records.slice(0, clients).reduce((sum, { attempts }) => sum + attempts, 0),
    )
  })
})
