import { type ProtocolName, protocolNames } from '../src/protocols/index.ts'
import type { GatewayResult, GatewayRow } from './gateway.ts'
import type { Measured } from './measure.ts'
import type { Cost } from './memory.ts'
import type { PeerResult } from './peers/peer.ts'
import type { RecordsResult } from './records.ts'
import type { SocketsResult } from './sockets.ts'
import type { Timed, TrafficKind, TrafficResult } from './traffic.ts'

export type PairResult = {
  from: ProtocolName
  to: ProtocolName
  part: 'streams' | 'requests'
  measures: Measured[]
}
export type Results = {
  pairs: PairResult[]
  traffic?: PairTraffic[]
  memory?: { costs: Cost[]; messages: Measured[]; tools: Measured[] }
  gateway?: GatewayResult
  records?: RecordsResult
  peers?: Peer[] | undefined
}
type PairTraffic = TrafficResult & { from: ProtocolName; to: ProtocolName }
type Peer = PeerResult & { from: ProtocolName; to: ProtocolName }

const table = (head: string[], rows: string[][]) =>
  `${[head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')}\n`

/** One table for each thing measured: sources down, targets across. */
function pairTables(pairs: readonly PairResult[]): string {
  const names = [
    ...new Set(
      pairs.flatMap(({ measures }) =>
        measures.flatMap(({ name, ratio }) =>
          ratio === undefined || name.includes('split') ? [] : [name],
        ),
      ),
    ),
  ]
  const find = (from: ProtocolName, to: ProtocolName, name: string) =>
    pairs
      .flatMap(pair => (pair.from === from && pair.to === to ? pair.measures : []))
      .find(one => one.name === name)
  return names
    .map(name => {
      const base = name.replace(/, \d events? a chunk$/, '')
      const floor = `${base}: parse + stringify`
      const split = name.includes('stream') ? `${base}: SSE split alone` : undefined
      const sources = protocolNames.filter(from => pairs.some(pair => pair.from === from))
      const rows = sources.map(from => [
        from,
        ...[floor, ...(split ? [split] : [])].map(row =>
          best(protocolNames.map(to => find(from, to, row)?.us)),
        ),
        ...protocolNames.map(to => {
          const found = find(from, to, name)
          return found?.ratio === undefined
            ? ''
            : `${found.us.toFixed(2)} (${found.ratio.toFixed(2)}×)`
        }),
      ])
      const unit = split ? 'µs per event' : 'µs'
      return `### ${name}, ${unit}\n\n${table(['from', 'parse + stringify', ...(split ? ['SSE split alone'] : []), ...protocolNames.map(to => `to ${to}`)], rows)}`
    })
    .join('\n')
}

const best = (values: (number | undefined)[]) =>
  Math.min(...values.filter(value => value !== undefined)).toFixed(2)

function memoryTables({ costs, messages, tools }: NonNullable<Results['memory']>): string {
  const cells = (show: (cost: Cost) => string) =>
    protocolNames.map(from => [from, ...costs.filter(cost => cost.from === from).map(show)])
  const head = ['from', ...protocolNames.map(to => `to ${to}`)]
  const grown = (list: Measured[]) =>
    table(
      ['', 'µs each'],
      list.map(({ name, us }) => [name, us.toFixed(2)]),
    )
  return `### Memory of a stream in its middle, KB (its frames so far are ${(costs[0]?.text ?? 0) / 1000} KB and more)

${table(
  head,
  cells(({ openBytes }) => (openBytes / 1000).toFixed(1)),
)}
### Garbage of one event, bytes

${table(
  head,
  cells(({ garbageBytes }) => garbageBytes.toFixed(0)),
)}
### Requests that grow, messages → chat-completions

Time for each message, and for each tool: linear where these stay alike.

${grown(messages)}
${grown(tools)}`
}

const throughputTable = (rows: readonly GatewayRow[]) =>
  table(
    ['', 'per second', 'of', 'ratio', 'CPU µs each', 'ratio'],
    rows.map(row => [
      row.name,
      row.perSecond.toFixed(0),
      row.against.replace(/^.*: /, ''),
      row.ratio.toFixed(2),
      row.cpuUs.toFixed(0),
      row.cpuRatio.toFixed(2),
    ]),
  )

/** A section of RESULTS.md: the gateway compared with itself plus records, log and metrics. */
export const operationsTable = (
  rows: readonly GatewayRow[],
  machine: string,
  load: string,
) => `## Records, log and metrics

Written by \`npm run bench -- --operations\` on ${machine}. Load of the machine before the run: ${load}.

Messages clients before a chat-completions upstream, 16 requests at once. The access log goes to /dev/null as JSON; the records go to an embedded database. All processes were started five times: the best rates, and the medians of the ratios.

${throughputTable(rows)}`

/** A section of RESULTS.md: responses over WebSocket next to SSE. */
export const socketsTables = (
  { deltas, exchanges, rows, turns, conversations }: SocketsResult,
  machine: string,
  load: string,
) => `## WebSocket next to SSE

Written by \`npm run bench -- --sockets\` on ${machine}. Load of the machine before the run: ${load}.

A responses client and a responses upstream, with the gateway between them in a process of its own. Each side uses one connection, which is open already. A response has ${deltas} text deltas. Time from the request to the first event with one request in flight, median of ${exchanges}; bytes of one exchange.

${table(
  [
    'client → upstream',
    'first event, µs',
    'client sends',
    'client receives',
    'upstream receives',
    'upstream sends',
  ],
  rows.map(row => [
    row.name,
    ...[
      row.firstUs,
      row.clientSent,
      row.clientReceived,
      row.upstreamReceived,
      row.upstreamSent,
    ].map(value => value.toFixed(0)),
  ]),
)}
Bytes that a client sends for a conversation of ${turns} turns without a store:

${table(
  ['', 'bytes'],
  conversations.map(({ name, sent }) => [name, String(sent)]),
)}`

/** A section of RESULTS.md: the gateway compared with a pipe. */
export function gatewayTables(
  { rows, firstByteUs, idle }: GatewayResult,
  machine: string,
  load: string,
): string {
  const direct = firstByteUs['direct'] ?? 0
  return `## Gateway

Written by \`npm run bench -- --gateway\` on ${machine}. Load of the machine before the run: ${load}.

Chat-completions clients (same protocol) and messages clients (translated) before a chat-completions upstream, 16 requests at once (32 for streams in few writes). One event of a stream is one chunk where no other number is given. All ways run in turns: the best rate, and the least processor time of the process in the middle for each request. The last ratio is the median of those of each turn. The bare proxy is a \`node:http\` server that pipes.

${throughputTable(rows)}
Time to the first byte of a stream with one request in flight, µs (median):

${table(
  ['', 'in all', 'added'],
  Object.entries(firstByteUs).map(([name, us]) => [name, us.toFixed(0), (us - direct).toFixed(0)]),
)}
Resident memory of ${idle.streams} open streams that say nothing, MB:

${table(
  ['', 'MB', 'KB a stream'],
  Object.entries(idle.mb).map(([name, mb]) => [
    name,
    mb.toFixed(0),
    ((mb * 1000) / idle.streams).toFixed(1),
  ]),
)}`
}

function recordsTable({
  records,
  perSecond,
  cpuUs,
  longestPauseMs,
  megabytes,
  queries,
}: RecordsResult): string {
  return `### Records in the embedded database

Written as they come, through the whole path: ${perSecond.toFixed(0)} records per second, with ${cpuUs.toFixed(0)} µs of processor time each. The longest pause of the process was ${longestPauseMs.toFixed(0)} ms. With ${records} records of 30 days in a file of ${megabytes.toFixed(0)} MB, these calls of the console over HTTP:

${table(
  ['', 'median ms', 'most ms'],
  queries.map(({ name, ms, mostMs }) => [name, ms.toFixed(1), mostMs.toFixed(1)]),
)}`
}

const peerWords = [
  'text stream',
  'agent stream',
  'request of 1 KB',
  'request of 150 KB',
  'response',
]

/** A row for each contender and pair that it supports; "cannot" in the columns that it does not. */
function peerTable(peers: readonly Peer[]): string {
  const versions = new Map(peers.map(({ name, version }) => [name, version]))
  const able = peers.filter(({ measures }) => measures.length > 0)
  const unable = [...versions.keys()].filter(name => !able.some(peer => peer.name === name))
  const rows = able.map(({ from, to, name, measures, wrong }) => [
    `${from} → ${to}`,
    name,
    ...peerWords.map(word => {
      const [theirs, own] = [word, `wireglot: ${word}`].map(
        name => measures.find(one => one.name === name)?.ratio,
      )
      return theirs === undefined || own === undefined
        ? 'cannot'
        : `${theirs.toFixed(2)}${wrong[word] === undefined ? '' : '\\*'} : ${own.toFixed(2)}`
    }),
  ])
  return `### Compared with other packages

How many times the floor: theirs, and this library's in the same process. \`cannot\`: it has no such conversion, fails with the same input, or loses text; \\*: it loses calls, results or tools. ${[...versions].map(([name, version]) => `${name} ${version}`).join(', ')}${unable.length > 0 ? `; nothing of ${unable.join(', ')} can be called outside of its own server` : ''}.

${table(['', 'package', ...peerWords], rows)}`
}

export function written({ pairs, memory, records, peers }: Results, machine: string): string {
  return `# What it costs

## Synthetic fixtures

Written by \`npm run bench\` on ${machine}.

In brackets: how many times the floor, which is \`JSON.parse\` and \`JSON.stringify\` of the same text in the same run. Each pair ran in a process of its own; the best of four rounds' medians counts. Between equal protocols a request or a response gets another model name; a stream passes and is watched.

${pairs.length > 0 ? pairTables(pairs) : ''}
${memory ? memoryTables(memory) : ''}
${records ? recordsTable(records) : ''}
${peers && peers.length > 0 ? peerTable(peers) : 'Other packages were not installed for this run: `bench/peers/package.json` says how.\n'}`
}

const quantile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

/** Count, ratio of the sums, and median, 90th percentile and worst of the single ratios. */
function spread(timed: readonly Timed[]): string[] {
  if (timed.length === 0) return ['0', '', '', '', '']
  const sum = (of: (one: Timed) => number) => timed.reduce((total, one) => total + of(one), 0)
  const ratios = timed.map(({ us, floorUs }) => us / floorUs).sort((a, b) => a - b)
  const reported = [
    sum(({ us }) => us) / sum(({ floorUs }) => floorUs),
    quantile(ratios, 0.5),
    quantile(ratios, 0.9),
    quantile(ratios, 1),
  ]
  return [String(timed.length), ...reported.map(ratio => ratio.toFixed(2))]
}

const spreadHead = ['texts', 'ratio of the sums', 'median', '90 %', 'worst']

const trafficTitles: Record<TrafficKind, string> = {
  recorded: 'Requests of recorded clients',
  requests: 'Captured requests',
  responses: 'Captured responses',
  streams: 'Captured streams',
}

/** The sections of RESULTS.md that are measured alone, in their order. */
export const sectionNames = ['traffic', 'gateway', 'operations', 'sockets'] as const
type SectionName = (typeof sectionNames)[number]

/** The first section of RESULTS.md: recorded and captured traffic. */
export function trafficTables(pairs: readonly PairTraffic[], machine: string): string {
  const timedOf = (kind: TrafficKind) =>
    pairs.flatMap(({ timed }) => timed.filter(one => one.kind === kind))
  const clients = [...new Set(timedOf('recorded').flatMap(({ client }) => client ?? []))].sort()
  const refused = (kind: TrafficKind) =>
    pairs.reduce((total, one) => total + (one.refused[kind] ?? 0), 0)
  const kinds = Object.keys(trafficTitles) as TrafficKind[]
  return `## Real traffic

Written by \`npm run bench -- --traffic\` on ${machine}.

Requests that real clients sent, and captured requests, responses and streams (at most 200 of each kind and protocol, the same ones in every run), translated into the three other protocols. Each number is the time of text → parse → translate → serialize, divided by the time of \`JSON.parse\` and \`JSON.stringify\` of the same text in the same run. Streams arrive with one event per chunk. Each pair runs in its own process.

${table(
  ['all pairs', ...spreadHead, 'refused'],
  kinds.map(kind => [trafficTitles[kind], ...spread(timedOf(kind)), String(refused(kind))]),
)}
### ${trafficTitles.recorded}, by client

${table(
  ['client', ...spreadHead],
  clients.map(client => [
    client,
    ...spread(timedOf('recorded').filter(one => one.client === client)),
  ]),
)}
${kinds
  .map(
    kind =>
      `### ${trafficTitles[kind]}, by pair\n\n${table(
        ['pair', ...spreadHead, 'refused'],
        pairs.map(({ from, to, timed, refused }) => [
          `${from} → ${to}`,
          ...spread(timed.filter(one => one.kind === kind)),
          String(refused[kind] ?? 0),
        ]),
      )}`,
  )
  .join('\n')}`
}

/** A section of the text of RESULTS.md; empty if there is none. */
export function sectionIn(text: string, name: SectionName): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [from, to] = [text.indexOf(start), text.indexOf(end)]
  return from < 0 ? '' : text.slice(from + start.length, to).trim()
}

/**
 * The text of RESULTS.md with these sections, in front of all others. `section`: empty if there is
 * none.
 */
export function withSections(text: string, section: (name: SectionName) => string): string {
  const sections = sectionNames.flatMap(name =>
    section(name) === ''
      ? []
      : [`<!-- ${name} -->\n${section(name).trim()}\n<!-- /${name} -->\n\n`],
  )
  const bare = text.replace(/<!-- (\w+) -->.*<!-- \/\1 -->\n\n/gs, '')
  const title = bare.indexOf('\n\n') + 2
  return `${bare.slice(0, title)}${sections.join('')}${bare.slice(title)}`
}
