import { fork } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { protocolNames } from '../src/protocols/index.ts'
import { bundleForBuild } from '../test/tools/bundles.ts'
import type { GatewayResult, GatewayRow } from './gateway.ts'
import type { Measured } from './measure.ts'
import type { Cost } from './memory.ts'
import { contenderNames, isInstalled } from './peers/contenders.ts'
import type { PeerResult } from './peers/peer.ts'
import type { RecordsResult } from './records.ts'
import {
  gatewayTables,
  operationsTable,
  type Results,
  sectionIn,
  sectionNames,
  socketsTables,
  trafficTables,
  withSections,
  written,
} from './report.ts'
import { soakRecords } from './soak/records.ts'
import type { SocketsResult } from './sockets.ts'
import type { TrafficResult } from './traffic.ts'

/**
 * `npm run bench` measures all and writes `RESULTS.md`; `-- --traffic` measures recorded and
 * captured traffic and writes the first section of that file (it needs WIREGLOT_SHARED, or
 * `../shared`); `-- --gateway` does the same for the gateway next to a pipe, `-- --operations` for
 * it with records, log and metrics, and `-- --sockets` for WebSocket next to SSE; `-- --only
 * streams|requests|gateway|memory|records|peers` prints one part; `--
 * --from P --to P` one pair; `-- --check` compares with `baseline.json` and exits 1 on what became
 * slower beyond noise; `-- --baseline` writes that file; `-- --soak` runs a gateway that keeps
 * records and bodies of many models and keys for `--minutes` (10), and exits 1 when its memory
 * grows. BENCH_KINDS (of stream, bundled, brief, small, agent), BENCH_ROUNDS, BENCH_IDLE (streams)
 * and BENCH_RECORDS make the gateway's part shorter. Everything is built first, as it is for users:
 * loaders that keep the names of functions make each closure several times as dear. Other packages
 * take part where they are installed: `bench/peers/package.json` says how, and BENCH_PEERS where,
 * if not there.
 */

const parts = [
  'traffic',
  'operations',
  'sockets',
  'streams',
  'requests',
  'gateway',
  'memory',
  'records',
  'peers',
] as const

const given = (name: string) => {
  const at = process.argv.indexOf(`--${name}`)
  return at > 0 ? process.argv[at + 1] : undefined
}
const has = (name: string) => process.argv.includes(`--${name}`)
if (has('soak')) process.exit(await soakRecords(Number(given('minutes') ?? 10)))
const alone = sectionNames.find(has)
const only = alone ?? given('only')
const wanted = parts.filter(part =>
  only === undefined
    ? !has('check') || part === 'streams' || part === 'requests'
    : only.split(',').includes(part),
)
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const shared = process.env['WIREGLOT_SHARED'] ?? here('../../shared')
// There, packages are found that cannot be bundled.
const built = mkdtempSync(here('../node_modules/.bench-'))
const load = loadavg()[0]?.toFixed(1) ?? 'unknown'
await build({
  entryPoints: ['pair', 'traffic', 'memory', 'gateway', 'sockets', 'records', 'peers/peer'].map(
    name => ({ in: here(`${name}.ts`), out: basename(name) }),
  ),
  outdir: built,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  external: ['kysely', 'libsql', 'pg'],
  plugins: [bundleForBuild],
  platform: 'node',
  format: 'esm',
  target: 'es2023',
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url)",
  },
})

function inProcess<T>(name: string, args: string[] = [], execArgv: string[] = []): Promise<T> {
  const child = fork(join(built, `${name}.mjs`), args, { execArgv })
  return new Promise((resolve, reject) => {
    child.on('message', message => resolve(message as T))
    child.on('exit', code => reject(new Error(`${name} ${args.join(' ')} ended with ${code}`)))
  })
}

const isRequested = (way: 'from' | 'to', name: string) =>
  given(way) === undefined || given(way) === name
const pairs = protocolNames
  .flatMap(from => protocolNames.map(to => ({ from, to })))
  .filter(({ from, to }) => isRequested('from', from) && isRequested('to', to))

async function measured(
  part: 'streams' | 'requests',
  { from, to }: (typeof pairs)[number],
): Promise<Measured[]> {
  return inProcess<Measured[]>('pair', [from, to, part])
}

/**
 * Every contender that is installed, for every pair. Those without a single conversion between two
 * protocols take no time.
 */
async function comparePeers(dir: string): Promise<Results['peers']> {
  const found: NonNullable<Results['peers']> = []
  for (const name of contenderNames.filter(name => isInstalled(dir, name)))
    for (const { from, to } of pairs.filter(({ from, to }) => from !== to)) {
      const peer = await inProcess<PeerResult>('peer', [name, from, to, dir]).catch(
        (error: Error): PeerResult => ({
          name,
          version: '',
          measures: [],
          wrong: {},
          cannot: { everything: error.message },
        }),
      )
      found.push({ from, to, ...peer })
      const reported = peer.measures.flatMap(({ name, ratio }) =>
        ratio === undefined ? [] : [`${name} ${ratio.toFixed(2)}×`],
      )
      const not = Object.entries(peer.cannot).map(([what, why]) => `${what}: ${why}`)
      console.log(
        `${name}, ${from} → ${to}: ${reported.join('; ') || 'cannot'}${reported.length > 0 && not.length > 0 ? `; cannot ${not.join('; ')}` : ''}`,
      )
    }
  return found
}

const results: Results = { pairs: [] }
if (wanted.includes('traffic') && existsSync(shared)) {
  process.env['WIREGLOT_SHARED'] = shared
  results.traffic = []
  for (const { from, to } of pairs.filter(({ from, to }) => from !== to)) {
    results.traffic.push({ from, to, ...(await inProcess<TrafficResult>('traffic', [from, to])) })
    console.log(`${from} → ${to}: measured`)
  }
} else if (wanted.includes('traffic')) console.log(`no traffic is measured: ${shared} is not there`)
for (const part of wanted.filter(
  (part): part is 'streams' | 'requests' => part === 'streams' || part === 'requests',
))
  for (const pair of pairs) {
    const measures = await measured(part, pair)
    results.pairs.push({ ...pair, part, measures })
    const notes = measures.flatMap(({ name, us, ratio }) =>
      ratio === undefined || name.includes('split')
        ? []
        : [`${name} ${us.toFixed(2)} µs, ${ratio.toFixed(2)}×`],
    )
    console.log(`${pair.from} → ${pair.to}: ${notes.join('; ')}`)
  }
if (wanted.includes('memory'))
  results.memory = await inProcess<{ costs: Cost[]; messages: Measured[]; tools: Measured[] }>(
    'memory',
    [],
    ['--expose-gc', '--max-semi-space-size=256'],
  )
const operated = wanted.includes('operations')
  ? await inProcess<GatewayRow[]>('gateway', ['--operated'])
  : undefined
const overSockets = wanted.includes('sockets')
  ? await inProcess<SocketsResult>('sockets')
  : undefined
if (wanted.includes('gateway')) results.gateway = await inProcess<GatewayResult>('gateway')
if (wanted.includes('records')) results.records = await inProcess<RecordsResult>('records')
if (wanted.includes('peers'))
  results.peers = await comparePeers(process.env['BENCH_PEERS'] ?? here('peers'))

const machine = `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${cpus().length} cores, node ${process.version}, V8 ${process.versions.v8}`
const old = readFileSync(here('RESULTS.md'), 'utf8')
const sections = {
  traffic: results.traffic && trafficTables(results.traffic, machine),
  gateway: results.gateway && gatewayTables(results.gateway, machine, load),
  operations: operated && operationsTable(operated, machine, load),
  sockets: overSockets && socketsTables(overSockets, machine, load),
}
const text = withSections(
  alone ? old : written(results, machine),
  name => sections[name] ?? sectionIn(old, name),
)
if (alone && sections[alone] !== undefined && !given('from') && !given('to'))
  writeFileSync(here('RESULTS.md'), text)
if (alone) console.log(sections[alone] ?? '')
else if (only === undefined && !has('check') && !given('from') && !given('to'))
  writeFileSync(here('RESULTS.md'), text)
else console.log(text)

/** The ratios to floors of the same run: they hold on other machines too, where times do not. */
type Baseline = Record<string, number>

const keyOf = ({ from, to }: (typeof pairs)[number], name: string) => `${from} → ${to}: ${name}`
const ratiosOf = (
  pair: (typeof pairs)[number],
  measures: readonly Measured[],
): [string, number][] =>
  measures.flatMap(({ name, ratio }) =>
    ratio === undefined || name.includes('split') ? [] : [[keyOf(pair, name), ratio]],
  )

const readBaseline = () => JSON.parse(readFileSync(here('baseline.json'), 'utf8')) as Baseline

// The lower of old and new: what one run of the same code takes longer than another is noise. Who
// accepts that something is slower takes its line out first.
if (has('baseline')) {
  const old = readBaseline()
  const ratios: Baseline = Object.fromEntries(
    results.pairs
      .flatMap(pair => ratiosOf(pair, pair.measures))
      .map(([key, ratio]) => [key, Math.min(Number(ratio.toFixed(3)), old[key] ?? Infinity)]),
  )
  writeFileSync(here('baseline.json'), `${JSON.stringify(ratios, null, 2)}\n`)
}

/**
 * Two runs of the same code differ by up to a fifth; what is slower still after three runs is
 * slower.
 */
const noise = 1.3

if (has('check')) {
  const baseline = readBaseline()
  const slower: string[] = []
  for (const { part, measures, ...pair } of results.pairs) {
    const best = new Map(ratiosOf(pair, measures))
    const tooSlow = () =>
      [...best].filter(([key, ratio]) => ratio > (baseline[key] ?? Infinity) * noise)
    for (let again = 0; again < 2 && tooSlow().length > 0; again++)
      for (const [key, ratio] of ratiosOf(pair, await measured(part, pair)))
        best.set(key, Math.min(ratio, best.get(key) ?? Infinity))
    for (const [key, ratio] of tooSlow())
      slower.push(`${key}: ${ratio.toFixed(2)}× its floor, was ${baseline[key]?.toFixed(2)}×`)
  }
  console.log(
    slower.length > 0
      ? `slower than before:\n${slower.join('\n')}`
      : 'nothing is slower than before',
  )
  if (slower.length > 0) process.exitCode = 1
}
rmSync(built, { recursive: true })
