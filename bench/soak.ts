import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { writeSection } from '../test/tools/reliability.ts'
import { chart } from './soak/chart.ts'
import {
  type Counts,
  faults,
  isQuietLeaver,
  type Message,
  type Order,
  type Phase,
  phases,
  rampMs,
  type Window,
} from './soak/plan.ts'

/**
 * Many streams at once through a gateway in a process of its own: `npm run bench:soak -- --minutes
 * 30`. The pairs of four protocols in turn, complete responses among them; five of a hundred meet a
 * failing upstream, five of a hundred clients leave; every text is compared letter by letter. Then
 * a hundred clients leave at once, in each phase.
 *
 * `--streams N` at once; without it so many as keep a core busy with the gateway, which it finds
 * out first. `--pause MS` between two chunks of a stream, `--words N` of a stream. `--record NAME`
 * writes the figures between the marks of this name in docs/reliability.md, and draws
 * bench/NAME.svg. Exit code 1: something was not as it should be.
 */
const given = (name: string) => {
  const at = process.argv.indexOf(`--${name}`)
  return at > 0 ? process.argv[at + 1] : undefined
}
const minutes = Number(given('minutes') ?? 30)
const pauseMs = Number(given('pause') ?? 10)
const words = Number(given('words') ?? 40)
const record = given('record')

type Sample = Extract<Message, { heap: number }> & { at: number }
type Ended = Map<Phase, { under: number[]; quiet: number[] }>
type Measured = {
  streams: number
  samples: Sample[]
  rest: { before: Sample; after: Sample }
  windows: Window[]
  ended: Ended
  open: number
  counts: Counts
}

async function soak(): Promise<Measured> {
  const built = mkdtempSync(join(tmpdir(), 'soak-'))
  // As it is for users: loaders that keep the names of functions make each closure several times as
  // dear.
  await build({
    entryPoints: [fileURLToPath(new URL('./soak/served.ts', import.meta.url))],
    outfile: join(built, 'served.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'es2023',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
    },
  })
  const children: ChildProcess[] = []
  const samples: Sample[] = []
  const windows: Window[] = []
  const gone = new Map<string, { phase: Phase; at: number }>()
  const ends = new Map<string, number>()
  let open = 0
  let hear = (_: Message) => {}

  function take(message: Message): void {
    if ('heap' in message) samples.push({ ...message, at: Date.now() })
    else if ('window' in message) windows.push(message.window)
    else if ('open' in message) open = message.open
    else if ('left' in message) gone.set(message.left, message)
    else if ('ended' in message) ends.set(message.ended, message.at)
    hear(message)
  }
  function start(
    file: string,
    env: Record<string, string>,
    execArgv = process.execArgv,
  ): ChildProcess {
    const child = fork(file, {
      env: { ...process.env, SOAK_PAUSE: String(pauseMs), SOAK_WORDS: String(words), ...env },
      execArgv,
    })
    child.on('message', message => take(message as Message))
    children.push(child)
    return child
  }
  const when = <T>(fits: (message: Message) => T | undefined) =>
    new Promise<T>(resolve => {
      hear = message => {
        const found = fits(message)
        if (found !== undefined) resolve(found)
      }
    })
  const port = () =>
    when(message => ('port' in message ? `http://127.0.0.1:${message.port}` : undefined))
  const path = (name: string) => fileURLToPath(new URL(`./soak/${name}.ts`, import.meta.url))

  const upstream = start(path('upstream'), {})
  const served = start(join(built, 'served.mjs'), { SOAK_UPSTREAM: await port() }, ['--expose-gc'])
  const url = await port()
  const sample = () => {
    served.send('report')
    return when(message => ('heap' in message ? samples.at(-1) : undefined))
  }
  const before = await sample()
  samples.length = 0
  const clients = start(path('clients'), { SOAK_GATEWAY: url })
  const order = (one: Order) => clients.send(one)
  const next = () => when(message => ('heap' in message ? samples.at(-1) : undefined))
  const streams = await busy(order, next)
  samples.length = 0
  windows.length = 0
  await new Promise(resolve => setTimeout(resolve, minutes * 60_000))
  const under = [...samples]
  const during = [...windows]
  order({ over: true })
  const counts = await when(message => ('done' in message ? message.done : undefined))
  upstream.send('close what is idle')
  await new Promise(resolve => setTimeout(resolve, 3_000))
  const after = await sample()
  await when(message => ('open' in message ? message : undefined))
  const ended: Ended = new Map(phases.map(phase => [phase, { under: [], quiet: [] }]))
  for (const [word, { phase, at: since }] of gone) {
    const end = ends.get(word)
    if (end !== undefined)
      ended.get(phase)?.[isQuietLeaver(word) ? 'quiet' : 'under'].push(end - since)
  }
  for (const child of children) child.disconnect()
  rmSync(built, { recursive: true })
  return { streams, samples: under, rest: { before, after }, windows: during, ended, open, counts }
}

/**
 * More and more at once, until the gateway is nearly busy all the time; or as many as requested.
 */
async function busy(order: (one: Order) => void, next: () => Promise<Sample>): Promise<number> {
  let streams = Number(given('streams') ?? 100)
  order({ atOnce: streams })
  let last = await next()
  if (given('streams') !== undefined) {
    // Until the first of them are over, and others take their places.
    await new Promise(resolve => setTimeout(resolve, streams * rampMs + words * pauseMs * 2))
    return streams
  }
  for (let before = 0; ; ) {
    const now = await next()
    const used = mean(coresOf([last, now]))
    // Where more of them make it work no more, the machine has no more to give.
    if (used > 0.9 || used < before * 1.05 || streams > 1_500) return streams
    before = used
    streams = Math.ceil(streams * 1.4)
    order({ atOnce: streams })
    last = await next()
  }
}

/** Of a core, from one sample to the next. */
const coresOf = (samples: readonly Sample[]) =>
  samples
    .slice(1)
    .map((one, i) => (one.cpuMs - (samples[i]?.cpuMs ?? 0)) / (one.at - (samples[i]?.at ?? 0)))
const mean = (list: readonly number[]) =>
  list.reduce((sum, value) => sum + value, 0) / Math.max(1, list.length)
const median = (list: readonly number[]) =>
  list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0
const quarters = <T>(list: readonly T[]): T[][] =>
  [0, 1, 2, 3].map(i =>
    list.slice(Math.floor((list.length * i) / 4), Math.floor((list.length * (i + 1)) / 4)),
  )
const shown = (list: readonly number[], digits = 0) =>
  list.map(value => value.toFixed(digits)).join(', ')
const at = (list: readonly number[], share: number) =>
  list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))] ?? 0

/**
 * When a hundred clients leave at once, the longest time that the last of their upstream calls may
 * continue.
 */
const leftWithinMs = 100

function report({ streams, samples, rest, windows, ended, open, counts }: Measured): number {
  const cores = coresOf(samples)
  const heaps = quarters(samples).map(part => mean(part.map(({ heap }) => heap / 1e6)))
  const sizes = quarters(samples).map(part => mean(part.map(({ rss }) => rss / 1e6)))
  const handles = quarters(samples).map(part => mean(part.map(one => one.handles)))
  const p50 = quarters(windows).map(part => median(part.map(one => one.p50)))
  const p99 = quarters(windows).map(part => median(part.map(one => one.p99)))
  const { whole, reported, sold, left, lost, mixed } = counts
  const all = whole + reported + sold + left + lost + mixed
  const rows = [
    [
      'streams and complete responses',
      `${all.toLocaleString('en')}; ${streams} at once for ${minutes} min, a chunk every ${pauseMs} ms`,
    ],
    ['complete and correct, compared byte by byte', whole.toLocaleString('en')],
    [
      'failed upstream, reported to the client',
      `${reported.toLocaleString('en')} (${faults.join(', ')})`,
    ],
    ['failed upstream, shown as a success', String(sold)],
    ['client disconnected', left.toLocaleString('en')],
    ['lost', String(lost)],
    ['mixed with another stream', String(mixed)],
    ['CPU of the gateway, share of one core', `${(mean(cores) * 100).toFixed(0)} %`],
    ['heap after garbage collection, by quarter of the run', `${shown(heaps)} MB`],
    [
      'resident memory, by quarter',
      `${shown(sizes)} MB, at most ${Math.max(...samples.map(({ rss }) => rss / 1e6)).toFixed(0)} MB`,
    ],
    ['handles (sockets, timers), by quarter', shown(handles)],
    [
      'idle heap and handles, before → after',
      `${(rest.before.heap / 1e6).toFixed(1)} → ${(rest.after.heap / 1e6).toFixed(1)} MB, ${rest.before.handles} → ${rest.after.handles}`,
    ],
    [
      'first byte of a stream, median and p99, by quarter',
      `${shown(p50, 1)} ms; ${shown(p99, 1)} ms`,
    ],
    ...[...ended].flatMap(([phase, { under, quiet }]) =>
      [
        [`client disconnects ${phase}, under load`, under],
        [`a hundred clients disconnect ${phase} at once, afterwards`, quiet],
      ].map(([what, times]) => {
        const list = times as number[]
        return [
          `time until the upstream call ends: ${String(what)}`,
          `${list.length} ended; median ${at(list, 0.5)} ms, p99 ${at(list, 0.99)} ms, maximum ${at(list, 1)} ms`,
        ]
      }),
    ),
    ['upstream calls still open at the end', String(open)],
  ]
  for (const [what, figure] of rows) console.log(`${what}: ${figure}`)
  for (const one of counts.wrong) console.log(`wrong: ${one}`)
  const faultsFound = [
    ...(whole === 0 ? ['nothing came through'] : []),
    ...(sold + lost + mixed + open > 0
      ? ['streams were lost, mixed up, sold as whole, or are open still']
      : []),
    // The first quarter warms up.
    ...(grows(heaps, 5) ? ['the heap grows'] : []),
    ...(grows(handles, 20) ? ['the handles grow'] : []),
    ...(grows(p99, 20) ? ['the first bytes come later and later'] : []),
    ...(rest.after.handles > rest.before.handles + 5 ? ['handles stay behind'] : []),
    ...(rest.after.heap > rest.before.heap + 20e6 ? ['memory stays behind'] : []),
    ...[...ended].flatMap(([phase, { quiet }]) =>
      at(quiet, 1) > leftWithinMs
        ? [`upstream calls of those that left ${phase} ended more than ${leftWithinMs} ms later`]
        : [],
    ),
    ...[...ended].flatMap(([phase, { quiet }]) =>
      quiet.length < 100
        ? [`only ${quiet.length} of 100 upstream calls of those that left ${phase} ended`]
        : [],
    ),
  ]
  for (const one of faultsFound) console.log(`not as it should be: ${one}`)
  if (record !== undefined) {
    const named = `${record}.svg`
    writeSection(record, [
      ...['| | |', '| --- | --- |'],
      ...rows.map(([what, figure]) => `| ${what} | ${figure} |`),
      '',
      `![Over the time](../bench/${named})`,
    ])
    writeFileSync(new URL(named, import.meta.url), drawn(samples, cores, windows))
  }
  return faultsFound.length > 0 ? 1 : 0
}

function grows([, second = 0, , last = 0]: readonly number[], margin: number): boolean {
  return last > second * 1.25 + margin
}

function drawn(
  samples: readonly Sample[],
  cores: readonly number[],
  windows: readonly Window[],
): string {
  return chart(
    [
      {
        title: 'memory of the gateway, MB',
        lines: [
          { name: 'heap', values: samples.map(({ heap }) => heap / 1e6) },
          { name: 'process', values: samples.map(({ rss }) => rss / 1e6) },
        ],
      },
      {
        title: 'handles of the gateway',
        lines: [{ name: 'sockets, timers', values: samples.map(({ handles }) => handles) }],
      },
      {
        title: 'first byte of a stream, ms',
        lines: [
          { name: 'half', values: windows.map(({ p50 }) => p50) },
          { name: '99 of 100', values: windows.map(({ p99 }) => p99) },
        ],
      },
      {
        title: 'processor of the gateway, % of a core',
        lines: [{ name: 'processor', values: cores.map(core => core * 100) }],
      },
    ],
    minutes,
  )
}

process.exitCode = report(await soak())
