import { type ChildProcess, fork } from 'node:child_process'
import { Agent, createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type WebSocket as Connection, WebSocket, WebSocketServer } from 'ws'
import { gateway } from '../src/hosts/connect.ts'

/**
 * Responses over WebSocket next to SSE, on the side of the client and on that of the upstream. The
 * gateway runs in its own process; client and upstream are in this one. Sent as a message: a
 * SocketsResult.
 */

/**
 * For one way through the gateway. `firstUs`: from the request to the first event, median. Bytes:
 * of one exchange on a connection that is open already, with TCP payload alone.
 */
type Row = {
  name: string
  firstUs: number
  clientSent: number
  clientReceived: number
  upstreamSent: number
  upstreamReceived: number
}
/** `sent`: bytes of all requests of a conversation. */
type Conversation = { name: string; sent: number }
export type SocketsResult = {
  deltas: number
  exchanges: number
  rows: Row[]
  turns: number
  conversations: Conversation[]
}

const deltas = 200
const exchanges = 600
const warm = 200
const turns = 10

/** The events of a response. Each response has an id of its own. */
function eventsOf(id: string): string[] {
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const text = 'word '.repeat(deltas)
  const item = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  }
  const usage = {
    input_tokens: 3,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 5,
  }
  const response = {
    id,
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output: [item],
    error: null,
    incomplete_details: null,
    usage,
  }
  return [
    {
      type: 'response.created',
      response: { ...response, status: 'in_progress', output: [], usage: null },
    },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, status: 'in_progress', content: [] },
    },
    {
      type: 'response.content_part.added',
      ...at,
      part: { type: 'output_text', text: '', annotations: [] },
    },
    ...Array.from({ length: deltas }, () => ({
      type: 'response.output_text.delta',
      ...at,
      delta: 'word ',
      logprobs: [],
    })),
    { type: 'response.output_text.done', ...at, text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part: item.content[0] },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ].map((event, number) => JSON.stringify({ ...event, sequence_number: number }))
}

let made = 0
const nextEvents = () => eventsOf(`resp_${++made}`)

/**
 * An upstream that sends a response at once, over SSE or WebSocket. `bytes`: of all its connections
 * so far.
 */
async function startUpstream(): Promise<{
  port: number
  bytes(): { sent: number; received: number }
  close(): void
}> {
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of nextEvents())
        response.write(`event: ${/"type":"([\w.]+)"/.exec(event)?.[1] ?? ''}\ndata: ${event}\n\n`)
      response.end()
    })
  })
  server.on('connection', socket => sockets.add(socket))
  new WebSocketServer({ server, perMessageDeflate: false }).on('connection', socket => {
    socket.on('message', () => {
      for (const event of nextEvents()) socket.send(event)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const sum = (of: (socket: Socket) => number) =>
    [...sockets].reduce((total, socket) => total + of(socket), 0)
  return {
    port: (server.address() as AddressInfo).port,
    bytes: () => ({
      sent: sum(({ bytesWritten }) => bytesWritten),
      received: sum(({ bytesRead }) => bytesRead),
    }),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function serveGateway(): void {
  const baseUrl = `http://127.0.0.1:${process.env['BENCH_UPSTREAM']}`
  const channel = { protocols: ['responses' as const], baseUrl }
  const handler = gateway(
    {
      auth: 'none',
      webSocket: true,
      channels: [
        { name: 'sse', ...channel },
        { name: 'socket', ...channel, transport: 'websocket' },
      ],
      models: [
        { id: 'sse', channels: [{ name: 'sse' }] },
        { id: 'socket', channels: [{ name: 'socket' }] },
      ],
    },
    { logger: false },
  )
  const server = createServer(handler).on('upgrade', handler.upgrade)
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
  process.once('disconnect', () => process.exit())
}

/**
 * A client with one connection. `ask`: sends a body and waits for the end of the response; the time
 * to the first event in µs, and the id of the response.
 */
type Client = {
  ask(body: object): Promise<{ firstUs: number; id: string }>
  bytes(): { sent: number; received: number }
  close(): void
}

const idIn = (text: string) => /"id":"(resp_\w+)"/.exec(text)?.[1] ?? ''
const bytesOf = (socket: Socket | undefined) => ({
  sent: socket?.bytesWritten ?? 0,
  received: socket?.bytesRead ?? 0,
})

function overHttp(port: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let socket: Socket | undefined
  return {
    ask: body =>
      new Promise((resolve, reject) => {
        const text = JSON.stringify({ ...body, stream: true })
        const began = performance.now()
        let firstUs = 0
        let id = ''
        const headers = {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
          authorization: 'Bearer none',
        }
        const sent = httpRequest(
          { port, host: '127.0.0.1', path: '/v1/responses', method: 'POST', agent, headers },
          (response: IncomingMessage) => {
            response.on('data', (data: Buffer) => {
              if (firstUs > 0) return
              firstUs = (performance.now() - began) * 1000
              id = idIn(String(data))
            })
            response.on('end', () =>
              response.statusCode === 200
                ? resolve({ firstUs, id })
                : reject(new Error(`status ${response.statusCode}`)),
            )
          },
        )
        sent.on('socket', used => {
          socket = used
        })
        sent.on('error', reject)
        sent.end(text)
      }),
    bytes: () => bytesOf(socket),
    close: () => agent.destroy(),
  }
}

async function overSocket(port: number): Promise<Client> {
  const connection: Connection = new WebSocket(`ws://127.0.0.1:${port}/v1/responses`, {
    headers: { authorization: 'Bearer none' },
    perMessageDeflate: false,
  })
  const socket = await new Promise<Socket>((resolve, reject) => {
    let used: Socket | undefined
    connection.once('upgrade', response => {
      used = response.socket
    })
    connection.once('open', () => used && resolve(used))
    connection.once('error', reject)
  })
  return {
    ask: body =>
      new Promise((resolve, reject) => {
        const text = JSON.stringify({ type: 'response.create', ...body })
        const began = performance.now()
        let first: { firstUs: number; id: string } | undefined
        const receive = (data: unknown) => {
          const event = String(data)
          first ??= { firstUs: (performance.now() - began) * 1000, id: idIn(event) }
          if (event.startsWith('{"type":"error"')) reject(new Error(event))
          if (!event.startsWith('{"type":"response.completed"')) return
          connection.off('message', receive)
          resolve(first)
        }
        connection.on('message', receive)
        connection.send(text)
      }),
    bytes: () => bytesOf(socket),
    close: () => connection.terminate(),
  }
}

const median = (values: number[]) =>
  values.sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN

async function run(): Promise<void> {
  const upstream = await startUpstream()
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [], {
    env: { ...process.env, BENCH_ROLE: 'gateway', BENCH_UPSTREAM: String(upstream.port) },
  })
  const port = await new Promise<number>(resolve =>
    child.once('message', message => resolve(message as number)),
  )
  const clients = { SSE: overHttp(port), WebSocket: await overSocket(port) }
  const ways = (['SSE', 'WebSocket'] as const).flatMap(client => [
    { name: `${client} → SSE`, client: clients[client], model: 'sse' },
    { name: `${client} → WebSocket`, client: clients[client], model: 'socket' },
  ])
  const rows: Row[] = []
  const bodyFor = (model: string) => ({
    model,
    store: false,
    input: [{ type: 'message', role: 'user', content: 'Count to two hundred.' }],
  })
  const times = ways.map((): number[] => [])
  // All ways take turns, so that a busy moment of the machine meets all of them.
  for (let round = 0; round < warm + exchanges; round++)
    for (const [at, { client, model }] of ways.entries()) {
      const { firstUs } = await client.ask(bodyFor(model))
      if (round >= warm) times[at]?.push(firstUs)
    }
  for (const [at, { name, client, model }] of ways.entries()) {
    const [own, theirs] = [client.bytes(), upstream.bytes()]
    await client.ask(bodyFor(model))
    const [ownAfter, theirsAfter] = [client.bytes(), upstream.bytes()]
    rows.push({
      name,
      firstUs: median(times[at] ?? []),
      clientSent: ownAfter.sent - own.sent,
      clientReceived: ownAfter.received - own.received,
      upstreamSent: theirsAfter.sent - theirs.sent,
      upstreamReceived: theirsAfter.received - theirs.received,
    })
  }
  const conversations = [
    await converse('SSE, all items each time', clients.SSE, false),
    await converse('WebSocket, new items alone', clients.WebSocket, true),
  ]
  const result: SocketsResult = { deltas, exchanges, rows, turns, conversations }
  for (const client of Object.values(clients)) client.close()
  child.disconnect()
  upstream.close()
  process.send?.(result)
}

/** A conversation without a store, in which each turn adds a message of the user. */
async function converse(name: string, client: Client, continues: boolean): Promise<Conversation> {
  const before = client.bytes().sent
  const instructions = 'Be brief. '.repeat(200)
  let items: object[] = []
  let previous: string | undefined
  for (let turn = 0; turn < turns; turn++) {
    const added = { type: 'message', role: 'user', content: `Result ${turn}: ${'x'.repeat(1000)}` }
    items = continues ? [added] : [...items, added]
    const { id } = await client.ask({
      model: 'sse',
      store: false,
      instructions,
      input: items,
      ...(continues && previous !== undefined && { previous_response_id: previous }),
    })
    previous = id
    items.push({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'word '.repeat(deltas), annotations: [] }],
    })
  }
  return { name, sent: client.bytes().sent - before }
}

if (process.env['BENCH_ROLE'] === 'gateway') serveGateway()
else await run()
