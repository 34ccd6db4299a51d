import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { Agent, request } from 'undici'
import type { GatewayConfig, UsageRecord } from '../../src/gateway/gateway.ts'
import { gateway } from '../../src/hosts/connect.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { clientOf, type Received } from '../support/clients/index.ts'
import { freePort } from '../support/free-port.ts'
import { type Expect, type Fault, faults } from './faults.ts'
import { type RawUpstream, scriptOf, startRaw } from './upstream.ts'

/**
 * `sdk`: the official client reads to the end; `strict`: a plain client does, and an independent
 * validator checks what came.
 */
export const behaviours = [
  'sdk',
  'strict',
  'leaves at once',
  'leaves in the middle',
  'stalls',
  'sends half and leaves',
  'sends half and stalls',
] as const
export type Behaviour = (typeof behaviours)[number]

export type Cell = {
  fault: Fault
  client: ProtocolName
  served: ProtocolName
  stream: boolean
  behaviour: Behaviour
  /** The model continues broken streams; the fault happens at the first call alone. */
  resumes?: true
}

export const nameOf = ({ fault, client, served, stream, behaviour, resumes }: Cell) =>
  `${fault.name}: ${client} from ${served}, ${stream ? 'streamed' : 'whole'}, the client ${behaviour}${resumes ? ', resumed' : ''}`

export const pairs = protocolNames.flatMap(client =>
  protocolNames.map(served => ({ client, served })),
)

/** Everything that the cells share. */
export type Bench = {
  base: string
  port: number
  server: Server
  upstreams: Record<string, RawUpstream>
  /** By cell: what was counted. */
  used: Map<string, UsageRecord[]>
  agent: Agent
  /** Ends everything; gives what stayed behind all the same. */
  close(): Promise<string[]>
}

/** A wait that no machine is too slow for. */
const timeoutMs = 30_000

export async function startBench(make = gateway): Promise<Bench> {
  const before = resources()
  const warnings: string[] = []
  // The SDK of AWS warns that it will not support this version of Node for ever.
  const warned = (warning: Error) =>
    !warning.message.startsWith('NodeVersionSupportWarning') && warnings.push(String(warning))
  process.on('warning', warned)
  const upstreams: Record<string, RawUpstream> = {}
  for (const name of protocolNames) upstreams[name] = await startRaw(name)
  const noClient = await freePort()
  const short = { firstByteMs: 400, idleMs: 400, totalMs: 1_500 }
  const channelsOf = (name: ProtocolName) => {
    const channel = { protocols: [name], apiKey: 'upstream-secret', breaker: { failures: 0 } }
    const baseUrl = upstreams[name]?.url ?? ''
    return [
      { ...channel, name, baseUrl },
      { ...channel, name: `${name} short`, baseUrl, timeouts: short },
      { ...channel, name: `${name} unreachable`, baseUrl: `http://127.0.0.1:${noClient}` },
    ]
  }
  const used = new Map<string, UsageRecord[]>()
  const config: GatewayConfig = {
    auth: 'none',
    channels: protocolNames.flatMap(channelsOf),
    models: protocolNames.flatMap(name =>
      ['', ' short', ' unreachable'].flatMap(kind =>
        [false, true].map(resume => ({
          id: `${name}${kind.replace(' ', '-')}${resume ? '-resumed' : ''}-cell-*`,
          resume,
          channels: [{ name: `${name}${kind}` }],
        })),
      ),
    ),
    defaults: { retries: 0, eventLimit: 2 ** 21, keepAliveMs: 60_000 },
  }
  const handler = make(config, {
    onUsage(record) {
      const [, cell = ''] = /cell-(\w+)$/.exec(record.requestedModel ?? '') ?? []
      used.set(cell, [...(used.get(cell) ?? []), record])
    },
  })
  const server = createServer(handler)
  const sockets = new Set<Socket>()
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // A client may open one and keep it unused: without a request on it, the server takes it for a
  // busy one.
  const open = () => [...sockets].filter(({ bytesRead }) => bytesRead > 0).length
  // Longer than its clients keep theirs, or a call may meet a closing socket.
  server.keepAliveTimeout = 75_000
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAliveTimeout: 2_000, connections: 64 })
  return {
    base: `http://127.0.0.1:${port}`,
    port,
    server,
    upstreams,
    used,
    agent,
    async close() {
      const left: string[] = []
      await agent.destroy()
      server.closeIdleConnections()
      if (!(await within(() => open() === 0, 5_000))) {
        // Of clients that keep their connections for the next call.
        server.closeIdleConnections()
        if (!(await within(() => open() === 0, 5_000)))
          left.push(`${open()} connections of clients`)
      }
      await handler.close(2_000)
      for (const [name, { sockets, close }] of Object.entries(upstreams)) {
        if (!(await within(() => sockets.size === 0, 10_000)))
          left.push(`${sockets.size} upstream connections of ${name}`)
        await close()
      }
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
      process.off('warning', warned)
      await within(() => over(before).length === 0, 20_000)
      left.push(...over(before), ...warnings)
      return left
    },
  }
}

/**
 * What keeps this process alive, by kind. Clients of the SDKs have a pool of their own, which
 * closes in its own time.
 */
function resources(): Map<string, number> {
  const counts = new Map<string, number>([
    [
      'listeners of the process',
      process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
    ],
  ])
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

const over = (before: Map<string, number>) =>
  [...resources()].flatMap(([kind, count]) => {
    const more = count - (before.get(kind) ?? 0)
    // The runtime's own clock, and what writes to the terminal.
    return more > (kind === 'Timeout' ? 1 : 0) &&
      kind !== 'Immediate' &&
      !/Pipe|TTY|FS|CloseReq/.test(kind)
      ? [`${more} ${kind}`]
      : []
  })

async function within(holds: () => boolean | Promise<boolean>, ms: number): Promise<boolean> {
  for (
    const end = Date.now() + ms;
    Date.now() < end;
    await new Promise(resolve => setTimeout(resolve, 5))
  )
    if (await holds()) return true
  return holds()
}

const tool = {
  name: 'lookup',
  schema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
}
let next = 0

/** Runs one cell. Gives what was wrong with it; undefined: nothing. */
export async function run(bench: Bench, cell: Cell): Promise<string | undefined> {
  const { fault, served, behaviour } = cell
  const id = `c${(next++).toString(36)}`
  const upstream = bench.upstreams[served]
  if (!upstream) return 'no upstream'
  const mended = faults[0] ?? fault
  upstream.plays.set(id, act => {
    const isFirst = (upstream.calls.get(id) ?? []).length < 2
    return (cell.resumes && !isFirst ? mended : fault).play(act)
  })
  const refusing = fault.refuses ? '-unreachable' : ''
  const kind = `${fault.impatient ? '-short' : refusing}${cell.resumes ? '-resumed' : ''}`
  const model = `${served}${kind}-cell-${id}`
  try {
    const wrong = await behave(bench, cell, { id, model })
    if (wrong) return wrong
    const calls = upstream.calls.get(id) ?? []
    if (/half/.test(behaviour) && calls.length > 0) return 'half of a request was sent on'
    if (calls.length > (cell.resumes ? 4 : 1)) return `${calls.length} upstream calls`
    if (!(await within(() => calls.every(({ over }) => over), timeoutMs)))
      return 'the upstream call continues'
    return await misused(bench, cell, { id, calls: calls.length })
  } finally {
    bench.used.delete(id)
    upstream.plays.delete(id)
    upstream.calls.delete(id)
  }
}

/** What every upstream counts for a response, in tokens. */
const counted = { input: 20, output: 9 }

/**
 * What is wrong with the record of a cell whose client has read to the end. A response counts what
 * the upstream says, and each broken call before it at least the prompt once more.
 */
async function misused(
  { used }: Bench,
  cell: Cell,
  { id, calls }: { id: string; calls: number },
): Promise<string | undefined> {
  if (cell.behaviour !== 'sdk' && cell.behaviour !== 'strict') return undefined
  await within(() => used.has(id), timeoutMs)
  const [record, ...others] = used.get(id) ?? []
  if (!record || others.length > 0) return `${others.length + (record ? 1 : 0)} records of usage`
  const { usage, failure, status } = record
  if (status !== 200 || failure !== undefined || expectOf(cell) !== 'response') return undefined
  const { input = 0, output = 0, estimated = false } = usage ?? {}
  const isRight =
    calls === 1
      ? input === counted.input && output === counted.output && !estimated
      : input > counted.input && output >= counted.output && output < counted.output * 8
  return isRight ? undefined : `${calls} calls with the usage ${JSON.stringify(usage)}`
}

/** Runs all cells, eight at once. Gives what was wrong with them, and what stayed behind. */
export async function runAll(cells: readonly Cell[], make = gateway): Promise<string[]> {
  const bench = await startBench(make)
  const wrong: string[] = []
  const queue = cells.values()
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const cell of queue) {
        const fault = await run(bench, cell)
        if (fault !== undefined) wrong.push(`${nameOf(cell)}: ${fault}`)
      }
    }),
  )
  return [...wrong, ...(await bench.close())]
}

type Named = { id: string; model: string }

async function behave(bench: Bench, cell: Cell, { id, model }: Named): Promise<string | undefined> {
  const { client, stream } = cell
  const path = protocols[client].address.target({ operation: 'generate', model, stream }) ?? '/'
  const body = JSON.stringify({
    ...clientOf(client).open({ model, ask: `Look up ${id}`, tools: [tool] }),
    ...(client !== 'generate-content' && { stream }),
  })
  switch (cell.behaviour) {
    case 'sdk':
      return judged(cell, id, await bySdk(bench, cell, { id, model }))
    case 'strict':
      return judged(cell, id, await byStrict(bench, cell, path, body))
    case 'leaves at once':
      return left(bench, path, body, async controller => {
        await new Promise(resolve => setTimeout(resolve, 3))
        controller.abort()
      })
    case 'leaves in the middle':
      return left(bench, path, body, async (controller, response) => {
        const { body: result } = await response
        for await (const _ of result) break
        controller.abort()
      })
    case 'stalls':
      return bySocket(bench, path, { sent: body, length: Buffer.byteLength(body), stallMs: 120 })
    case 'sends half and leaves':
      return bySocket(bench, path, {
        sent: body.slice(0, body.length / 2),
        length: Buffer.byteLength(body),
        stallMs: 0,
      })
    case 'sends half and stalls':
      return bySocket(bench, path, {
        sent: body.slice(0, body.length / 2),
        length: Buffer.byteLength(body),
        stallMs: 120,
      })
    default:
      return cell.behaviour satisfies never
  }
}

type Outcome =
  | { kind: 'received'; received: Received }
  | { kind: 'error'; text: string }
  | { kind: 'wrong'; text: string }

async function bySdk(
  { base }: Bench,
  { client, stream }: Cell,
  { id, model }: Named,
): Promise<Outcome> {
  try {
    const received = await clientOf(client).converse(base, {
      model,
      ask: `Look up ${id}`,
      tools: [tool],
      stream,
    })
    return { kind: 'received', received }
  } catch (error) {
    return { kind: 'error', text: String(error) }
  }
}

async function byStrict(
  { base, agent }: Bench,
  { client, served, stream }: Cell,
  path: string,
  body: string,
): Promise<Outcome> {
  const {
    statusCode,
    headers,
    body: response,
  } = await request(base + path, {
    method: 'POST',
    dispatcher: agent,
    headers: { 'content-type': 'application/json' },
    body,
  })
  let broke = false
  let text = ''
  try {
    const { framing } = protocols[client]
    const decode =
      framing && headers['content-type'] === framing.contentType
        ? framing.decode()
        : (chunk: Uint8Array) => chunk
    const decoder = new TextDecoder()
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      const part = decode(chunk)
      text += typeof part === 'string' ? part : decoder.decode(part, { stream: true })
    }
  } catch {
    broke = true
  }
  // A connection may break only behind an error frame, and only toward clients that read past such
  // frames.
  if (broke && !(stream && protocols[client].frames.breaksOff)) text += 'the connection broke'
  const strict = strictOf(client)
  const wrong = (what: string, faults: unknown = ''): Outcome => ({
    kind: 'wrong',
    text: `${what} ${JSON.stringify(faults)} ${text.slice(-600)}`,
  })
  const passed = client === served
  if (statusCode >= 400) {
    const faults = passed ? [] : strict.checkError(parsed(text))
    return faults.length > 0 ? wrong('an illegal error', faults) : { kind: 'error', text }
  }
  if (!stream) {
    const received = await clientOf(client)
      .readResponse(parsed(text))
      .catch(error => (passed ? undefined : String(error)))
    if (typeof received === 'string') return wrong('an illegal response', received)
    return received ? { kind: 'received', received } : { kind: 'error', text }
  }
  const wires = wiresOf(text)
  if (!passed) {
    const faults = strict.checkStream(wires ?? [undefined])
    if (faults.length > 0) return wrong('an illegal stream', faults)
  }
  const outcome = wires && strict.outcome(wires)
  if (outcome === 'failed') return { kind: 'error', text }
  if (outcome === 'cut' && !passed) return wrong('a stream without an end')
  try {
    return { kind: 'received', received: await clientOf(client).readStream(text) }
  } catch (error) {
    return passed
      ? { kind: 'error', text: String(error) }
      : wrong('a stream that its client cannot read', String(error))
  }
}

const wiresOf = (text: string): unknown[] | undefined => {
  try {
    return framesOf(text).map(({ wire }) => wire)
  } catch {
    return undefined
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function expectOf({ fault, stream, served, client, resumes }: Cell): Expect {
  if (resumes && stream) return fault.breaks ? 'response' : 'either'
  if (fault.binary && stream && protocols[served].framing) return fault.binary
  if (fault.passed && served === client) return fault.passed
  return typeof fault.expect === 'string' ? fault.expect : fault.expect[stream ? 'stream' : 'whole']
}

function judged(cell: Cell, id: string, outcome: Outcome): string | undefined {
  const { fault, stream, served } = cell
  const expect = expectOf(cell)
  if (outcome.kind === 'wrong') return outcome.text
  if (outcome.kind === 'error')
    return expect === 'response'
      ? `an error instead of the response: ${outcome.text.slice(-600)}`
      : undefined
  const { text = '', calls = [] } = scriptOf(id)
  const { received } = outcome
  if (received.stop === undefined)
    return `an end that is neither success nor error: ${JSON.stringify(received)}`
  const wanted = [text, fault.says?.(text) ?? text]
  const isWhole =
    wanted.includes(received.text) &&
    received.calls.length === 1 &&
    JSON.stringify(received.calls[0]?.input) === calls[0]?.args
  if (!isWhole && stream && fault.endless?.includes(served)) return undefined
  if (!isWhole) return `a false success: ${JSON.stringify(received)}`
  return expect === 'error'
    ? `a success where there was none: ${JSON.stringify(received)}`
    : undefined
}

type Leaver = (
  controller: AbortController,
  upstreamResponse: Promise<Awaited<ReturnType<typeof request>>>,
) => Promise<void>

async function left(
  { base, agent }: Bench,
  path: string,
  body: string,
  leave: Leaver,
): Promise<undefined> {
  const controller = new AbortController()
  const response = request(base + path, {
    method: 'POST',
    dispatcher: agent,
    headers: { 'content-type': 'application/json' },
    body,
    signal: controller.signal,
  })
  response.then(({ body: response }) => response.on('error', () => {})).catch(() => {})
  await leave(controller, response).catch(() => {})
}

/** By hand: says so much of the request, reads nothing, waits, and goes. */
function bySocket(
  { port }: Bench,
  path: string,
  { sent, length, stallMs }: { sent: string; length: number; stallMs: number },
): Promise<undefined> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.pause()
    socket.on('error', () => {})
    socket.on('close', () => resolve(undefined))
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${sent}`,
    )
    setTimeout(() => socket.destroy(), Math.max(20, stallMs))
  })
}
