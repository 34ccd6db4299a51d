import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { Agent, createServer, request, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRecorder } from '../src/cassettes/index.ts'
import { type ConnectGateway, gateway, type Hooks } from '../src/hosts/connect.ts'
import { collectStream, normalizeResponse, textOf } from '../src/index.ts'
import { createOperations } from '../src/operations/index.ts'
import { type ProtocolName, protocols } from '../src/protocols/index.ts'
import { openRecords } from '../src/records/index.ts'
import { expected, requestOf, responseOf, streamOf } from './fixtures.ts'

/**
 * The gateway compared with the best case: a `node:http` proxy that pipes bytes, and one that also
 * parses and writes each body. Upstream, proxy and load are processes of their own; upstream and
 * load do as little as they can.
 */

type Role = 'upstream' | 'piping' | 'parsing' | 'gateway' | 'logged' | 'recorded' | 'taped'
type Kind = 'stream' | 'bundled' | 'brief' | 'small' | 'agent'

/**
 * `perSecond`: of the best round; `ratio`: to that of the row that it is compared with. `cpuUs`: of
 * the process in the middle for each request, in its best round; `cpuRatio`: the median of the
 * ratios of each round, as another load on the machine lasts longer than one turn.
 */
export type GatewayRow = {
  name: string
  against: string
  perSecond: number
  ratio: number
  cpuUs: number
  cpuRatio: number
}
export type GatewayResult = {
  rows: GatewayRow[]
  firstByteUs: Record<string, number>
  idle: { streams: number; mb: Record<string, number> }
}

const target: ProtocolName = 'chat-completions'
const stranger: ProtocolName = 'messages'
const model = 'bench-model'
/** The gateway's other name of the model. */
const alias = 'bench-alias'
/**
 * What a request may get from the upstream: a stream that stops after its start, one in large
 * writes, or a short response. Otherwise the response has 12 KB.
 */
const words = { idle: 'be idle', bundled: 'be bundled', brief: 'be brief' }
const writes = 20

function serveUpstream(): void {
  const long = streamOf(protocols[target], 'agent', 439).frames
  const few = streamOf(protocols[target], 'agent', 8).frames
  const perWrite = Math.ceil(long.length / writes)
  const bundled = Array.from({ length: writes }, (_, i) =>
    long.slice(i * perWrite, (i + 1) * perWrite).join(''),
  )
  const response = Buffer.from(JSON.stringify(responseOf(protocols[target], 'agent')))
  const shortResponse = Buffer.from(JSON.stringify(responseOf(protocols[target], 'small')))
  const framesFor = (body: Buffer) => {
    if (body.includes(words.brief)) return few
    return body.includes(words.bundled) ? bundled : long
  }
  serve(
    createServer((received, result) => {
      const chunks: Buffer[] = []
      received.on('data', (chunk: Buffer) => chunks.push(chunk))
      received.on('end', () => {
        const body = Buffer.concat(chunks)
        if (!body.includes('"stream":true')) {
          const whole = body.includes(words.brief) ? shortResponse : response
          result
            .writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length })
            .end(whole)
          return
        }
        result.writeHead(200, { 'content-type': 'text/event-stream' })
        result.flushHeaders()
        let at = 0
        const idle = body.includes(words.idle)
        const frames = framesFor(body)
        // One event a chunk, as models do; busy servers send several.
        const next = () => {
          const frame = frames[at++]
          if (frame === undefined) result.end()
          else {
            result.write(frame)
            if (!idle || at < 5) setImmediate(next)
          }
        }
        next()
      })
    }),
  )
}

/**
 * As little as a proxy can do. `parses`: each body that goes up is parsed and written, as a
 * translation has to.
 */
function serveProxy(parses: boolean): void {
  const upstream = new URL(process.env['BENCH_UPSTREAM'] ?? '')
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
  serve(
    createServer((received, response) => {
      const { host: _, connection: __, 'content-length': length, ...headers } = received.headers
      const send = (body?: string) =>
        request({
          host: upstream.hostname,
          port: upstream.port,
          path: received.url,
          method: received.method,
          agent,
          headers: {
            ...headers,
            'content-length': body === undefined ? length : Buffer.byteLength(body),
          },
        }).on('response', result => {
          response.writeHead(result.statusCode ?? 502, result.headers)
          result.pipe(response)
        })
      if (!parses) {
        received.pipe(send())
        return
      }
      const chunks: Buffer[] = []
      received.on('data', (chunk: Buffer) => chunks.push(chunk))
      received.on('end', () => {
        const text = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()))
        send(text).end(text)
      })
    }),
  )
}

const created = (hooks?: Hooks) =>
  gateway(
    {
      auth: 'none',
      channels: [
        {
          name: 'up',
          protocols: [target],
          baseUrl: String(process.env['BENCH_UPSTREAM']),
          apiKey: 'key-of-the-bench-0123456789',
        },
      ],
      models: [
        { id: model, channels: [{ name: 'up' }] },
        { id: alias, channels: [{ name: 'up', model }] },
      ],
    },
    hooks,
  )

const serveGateway = () => serve(createServer(created()))

/** With a cassette of each exchange. */
const serveTaped = () =>
  serve(createServer(created(createRecorder(mkdtempSync(join(tmpdir(), 'bench-'))).hooks)))

/**
 * The same with access log and metrics, and with records in an embedded database if `isRecorded`.
 */
async function serveOperated(isRecorded: boolean): Promise<void> {
  const operations = createOperations({ log: 'json', state: () => handler.state() })
  const records = isRecorded
    ? await openRecords({ file: join(mkdtempSync(join(tmpdir(), 'bench-')), 'records.db') })
    : undefined
  const handler: ConnectGateway = created({
    logger: operations.logger,
    ...(records && { onUsage: records.hooks.onUsage }),
  })
  serve(
    createServer(
      (request, response) =>
        void (operations.handle(request, response) || handler(request, response)),
    ),
  )
}

function serve(server: Server): void {
  server.keepAliveTimeout = 600_000
  server.listen({ port: 0, host: '127.0.0.1', backlog: 20_000 }, () =>
    process.send?.({ port: (server.address() as AddressInfo).port }),
  )
  process.on('disconnect', () => process.exit())
  process.on('message', received => {
    // Not before the time is reported: the more a process holds the longer it takes.
    if (received === 'memory') globalThis.gc?.()
    process.send?.({ cpu: process.cpuUsage(), rss: process.memoryUsage().rss })
  })
}

type Served = {
  child: ChildProcess
  port: number
  cpuUs(): Promise<number>
  rss(): Promise<number>
}

async function start(role: Role, upstream?: number): Promise<Served> {
  const child = fork(process.argv[1] ?? '', [], {
    execArgv: ['--expose-gc'],
    // The access log.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, BENCH_ROLE: role, BENCH_UPSTREAM: `http://127.0.0.1:${upstream ?? 0}` },
  })
  const reported = () =>
    new Promise<{ port: number; cpu: NodeJS.CpuUsage; rss: number }>(resolve =>
      child.once('message', message => resolve(message as never)),
    )
  const { port } = await reported()
  const ask = (what: 'time' | 'memory') => {
    const response = reported()
    child.send(what)
    return response
  }
  return {
    child,
    port,
    cpuUs: () => ask('time').then(({ cpu }) => cpu.user + cpu.system),
    rss: () => ask('memory').then(({ rss }) => rss),
  }
}

const streamed: ReadonlySet<Kind> = new Set(['stream', 'bundled'])

function bodyOf(protocol: ProtocolName, kind: Kind, word?: keyof typeof words): string {
  const wire = requestOf(protocols[protocol], kind === 'agent' ? 'agent' : 'small') as object
  const text = JSON.stringify({ ...wire, stream: streamed.has(kind) })
  const body = word ? text.replace('brown', words[word]) : text
  if (word && body === text) throw new Error('the request has no place for a word to the upstream')
  return body
}

/** The bytes of a request, the same each time. */
const bytesOf = (protocol: ProtocolName, kind: Kind, word?: keyof typeof words) =>
  withHead(protocol, bodyOf(protocol, kind, word))

/** Streams of the same protocol of which the gateway may not pass every byte. */
const variants: [name: string, body: (text: string) => string][] = [
  ['same protocol, no usage', text => text.replace(',"stream_options":{"include_usage":true}', '')],
  ['same protocol, another model name', text => text.replace(model, alias)],
]

function withHead(protocol: ProtocolName, body: string): Buffer {
  const head = `POST ${protocols[protocol].address.path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`
  return Buffer.from(head + body)
}

/**
 * One socket that sends requests one after another; a complete response is recognized by its
 * length, or by its last chunk.
 */
function ask(socket: Socket, bytes: Buffer): Promise<{ firstByteUs: number; length: number }> {
  return new Promise((resolve, reject) => {
    const since = process.hrtime.bigint()
    let firstByteUs = 0
    let length = 0
    let wanted = -1
    let tail = ''
    const hear = (chunk: Buffer) => {
      if (length === 0) {
        firstByteUs = Number(process.hrtime.bigint() - since) / 1000
        const head = chunk.toString('latin1', 0, 2000)
        if (!head.startsWith('HTTP/1.1 200')) return reject(new Error(head))
        const reported = /content-length: (\d+)/i.exec(head)
        if (reported) wanted = head.indexOf('\r\n\r\n') + 4 + Number(reported[1])
      }
      length += chunk.length
      tail =
        wanted < 0 ? (tail + chunk.toString('latin1', Math.max(0, chunk.length - 7))).slice(-7) : ''
      if (length === wanted || tail === '\r\n0\r\n\r\n') {
        socket.off('data', hear)
        resolve({ firstByteUs, length })
      }
    }
    socket.on('data', hear)
    socket.write(bytes)
  })
}

const open = (port: number) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.setNoDelay()))
    socket.on('error', reject)
  })

async function load(
  served: Served,
  bytes: Buffer,
  { atOnce, ms, atLeast = 0 }: { atOnce: number; ms: number; atLeast?: number },
) {
  const sockets = await Promise.all(Array.from({ length: atOnce }, () => open(served.port)))
  const cpu = await served.cpuUs()
  const since = performance.now()
  let count = 0
  await Promise.all(
    sockets.map(async socket => {
      while (performance.now() - since < ms || count < atLeast) {
        await ask(socket, bytes)
        count++
      }
    }),
  )
  const seconds = (performance.now() - since) / 1000
  const cpuUs = ((await served.cpuUs()) - cpu) / count
  for (const socket of sockets) socket.destroy()
  return { perSecond: count / seconds, cpuUs }
}

type Entry = { name: string; served: Served; bytes: Buffer; against: string }

/**
 * What serves for days is timed when it is warm: functions are compiled after some thousand calls,
 * and a proxy has few of them.
 */
const warm: Record<Kind, number> = {
  stream: 400,
  bundled: 2_000,
  brief: 20_000,
  small: 20_000,
  agent: 2_000,
}

/** In turn, several times over. */
async function throughput(
  entries: readonly Entry[],
  { atOnce, atLeast, rounds }: { atOnce: number; atLeast: number; rounds: number },
): Promise<GatewayRow[]> {
  const rates = new Map<string, { perSecond: number; cpuUs: number }[]>()
  for (const { served, bytes } of entries) await load(served, bytes, { atOnce, ms: 700, atLeast })
  for (let round = 0; round < rounds; round++)
    for (const { name, served, bytes } of entries) {
      const got = await load(served, bytes, { atOnce, ms: 1500 })
      rates.set(name, [...(rates.get(name) ?? []), got])
    }
  const of = (name: string) => rates.get(name) ?? []
  const perSecond = (name: string) => Math.max(...of(name).map(got => got.perSecond))
  return entries.map(({ name, against }) => ({
    name,
    against,
    perSecond: perSecond(name),
    ratio: perSecond(name) / perSecond(against),
    cpuUs: Math.min(...of(name).map(({ cpuUs }) => cpuUs)),
    cpuRatio: median(of(name).map(({ cpuUs }, i) => cpuUs / (of(against)[i]?.cpuUs ?? 0))),
  }))
}

const median = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0

/**
 * One request in flight, a thousand by each way in turn; the last of three turns counts. A single
 * one between others would measure the time that a process takes to wake up. A long response would
 * take a core from those who pass its beginning on.
 */
async function firstBytes(
  entries: readonly { name: string; served: Served; bytes: Buffer }[],
): Promise<Record<string, number>> {
  const times = entries.map(({ name }) => ({ name, us: [] as number[] }))
  const sockets = await Promise.all(entries.map(({ served }) => open(served.port)))
  for (let round = 0; round < 3; round++)
    for (const [index, { bytes }] of entries.entries()) {
      const socket = sockets[index]
      for (let i = 0; socket && i < 1000; i++)
        times[index]?.us.push((await ask(socket, bytes)).firstByteUs)
    }
  for (const socket of sockets) socket.destroy()
  return Object.fromEntries(times.map(({ name, us }) => [name, median(us.slice(2000))]))
}

/** Streams that have begun and say nothing more. */
async function idleMb(served: Served, bytes: Buffer, streams: number): Promise<number> {
  const before = await served.rss()
  const sockets: Socket[] = []
  for (let i = 0; i < streams; i++) {
    const socket = await open(served.port)
    socket.on('error', () => {})
    sockets.push(socket)
    await new Promise(resolve => {
      socket.once('data', resolve)
      socket.write(bytes)
    })
    socket.resume()
  }
  await new Promise(resolve => setTimeout(resolve, 500))
  const mb = ((await served.rss()) - before) / 1e6
  for (const socket of sockets) socket.destroy()
  return mb
}

/** What is timed has to be right first. */
async function verify({ port }: Served): Promise<void> {
  for (const protocol of [target, stranger])
    for (const [stream, word, wanted] of [
      [true, undefined, expected.agent],
      [true, 'bundled', expected.agent],
      [false, undefined, expected.agent],
      [false, 'brief', expected.small],
    ] as const) {
      const body = bodyOf(protocol, stream ? 'stream' : 'small', word)
      const response = await fetch(`http://127.0.0.1:${port}${protocols[protocol].address.path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      const text = await response.text()
      const result = stream ? (await collectStream([text], { protocol })).body : JSON.parse(text)
      if (textOf(normalizeResponse(result, { protocol })) !== textOf(wanted))
        throw new Error(`${protocol} through the gateway came out wrong`)
    }
}

const names: Record<Kind, string> = {
  stream: 'stream of 446 events',
  bundled: `stream of 446 events in ${writes} writes`,
  brief: 'request of 1 KB',
  small: 'request of 1 KB, response of 12 KB',
  agent: 'request of 150 KB',
}

const isKind = (word: string): word is Kind => Object.hasOwn(warm, word)

/**
 * How often all processes are started anew: one that was compiled luckily stays a tenth faster than
 * another for as long as it lives.
 */
const starts = 5

/**
 * The gateway compared with itself plus what an operator adds to it: of all starts the best rates,
 * and the medians of the ratios.
 */
async function runOperated(): Promise<void> {
  const kinds = (process.env['BENCH_KINDS'] ?? 'stream,bundled,brief,small')
    .split(',')
    .filter(isKind)
  const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3)
  const all: GatewayRow[][] = []
  for (let nth = 0; nth < starts; nth++) all.push(await operatedOnce(kinds, rounds))
  const rows = (all[0] ?? []).map(({ name, against }, index) => {
    const same = all.flatMap(list => list[index] ?? [])
    const of = (key: 'perSecond' | 'ratio' | 'cpuUs' | 'cpuRatio') => same.map(row => row[key])
    return {
      name,
      against,
      perSecond: Math.max(...of('perSecond')),
      ratio: median(of('ratio')),
      cpuUs: Math.min(...of('cpuUs')),
      cpuRatio: median(of('cpuRatio')),
    }
  })
  process.send?.(rows)
}

async function operatedOnce(kinds: readonly Kind[], rounds: number): Promise<GatewayRow[]> {
  const upstream = await start('upstream')
  const plain = await start('gateway', upstream.port)
  const logged = await start('logged', upstream.port)
  const recorded = await start('recorded', upstream.port)
  const taped = await start('taped', upstream.port)
  const ways = {
    'gateway alone': plain,
    cassettes: taped,
    'log and metrics': logged,
    'records, log and metrics': recorded,
  }
  try {
    for (const served of Object.values(ways)) await verify(served)
    const rows: GatewayRow[] = []
    for (const kind of kinds) {
      const bytes = bytesOf(
        stranger,
        kind,
        kind === 'brief' || kind === 'bundled' ? kind : undefined,
      )
      const against = `${names[kind]}: gateway alone`
      const entries = Object.entries(ways).map(([way, served]) => ({
        name: `${names[kind]}: ${way}`,
        served,
        bytes,
        against,
      }))
      rows.push(...(await throughput(entries, { atOnce: 16, atLeast: warm[kind], rounds })))
    }
    return rows
  } finally {
    for (const { child } of [upstream, ...Object.values(ways)]) child.disconnect()
  }
}

async function run(): Promise<void> {
  const kinds = (process.env['BENCH_KINDS'] ?? 'stream,bundled,brief,small,agent')
    .split(',')
    .filter(isKind)
  const streams = Number(process.env['BENCH_IDLE'] ?? 5000)
  const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3)
  const upstream = await start('upstream')
  const piping = await start('piping', upstream.port)
  const parsing = await start('parsing', upstream.port)
  const ours = await start('gateway', upstream.port)
  const all = [upstream, piping, parsing, ours]
  try {
    await verify(ours)
    const rows: GatewayRow[] = []
    for (const kind of kinds) {
      const what = names[kind]
      const word = kind === 'brief' || kind === 'bundled' ? kind : undefined
      const same = bytesOf(target, kind, word)
      const translated = bytesOf(stranger, kind, word)
      const bare = `${what}: bare proxy`
      const parsed = `${what}: proxy that parses`
      rows.push(
        ...(await throughput(
          [
            { name: `${what}: direct`, served: upstream, bytes: same, against: bare },
            { name: bare, served: piping, bytes: same, against: bare },
            { name: parsed, served: parsing, bytes: same, against: bare },
            { name: `${what}: same protocol`, served: ours, bytes: same, against: bare },
            ...(streamed.has(kind)
              ? variants.map(([name, edit]) => ({
                  name: `${what}: ${name}`,
                  served: ours,
                  bytes: withHead(target, edit(bodyOf(target, kind, word))),
                  against: bare,
                }))
              : []),
            {
              name: `${what}: translated`,
              served: ours,
              bytes: translated,
              against: kind === 'agent' ? parsed : bare,
            },
          ],
          { atOnce: kind === 'bundled' ? 32 : 16, atLeast: warm[kind], rounds },
        )),
      )
    }
    const firstByteUs = await firstBytes([
      { name: 'direct', served: upstream, bytes: bytesOf(target, 'stream', 'brief') },
      { name: 'bare proxy', served: piping, bytes: bytesOf(target, 'stream', 'brief') },
      { name: 'same protocol', served: ours, bytes: bytesOf(target, 'stream', 'brief') },
      { name: 'translated', served: ours, bytes: bytesOf(stranger, 'stream', 'brief') },
    ])
    const mb: Record<string, number> = {}
    for (const [name, served] of [
      ['bare proxy', piping],
      ['translated', ours],
    ] as const)
      mb[name] = await idleMb(
        served,
        bytesOf(name === 'translated' ? stranger : target, 'stream', 'idle'),
        streams,
      )
    const result: GatewayResult = { rows, firstByteUs, idle: { streams, mb } }
    process.send?.(result)
  } finally {
    for (const { child } of all) child.disconnect()
  }
}

const role = process.env['BENCH_ROLE'] as Role | undefined
if (role === 'upstream') serveUpstream()
else if (role === 'piping' || role === 'parsing') serveProxy(role === 'parsing')
else if (role === 'gateway') serveGateway()
else if (role === 'taped') serveTaped()
else if (role === 'logged' || role === 'recorded') await serveOperated(role === 'recorded')
else if (process.argv.includes('--operated')) await runOperated()
else await run()
