import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConsole } from '../src/console/index.ts'
import type { UsageRecord } from '../src/gateway/gateway.ts'
import { newId } from '../src/gateway/ids.ts'
import { type ConnectGateway, gateway } from '../src/hosts/connect.ts'
import { openRecords } from '../src/records/index.ts'

/**
 * Records that are written through the whole path into a file as they come, and calls of a console
 * about `records` of 30 days.
 */
export type RecordsResult = {
  records: number
  perSecond: number
  cpuUs: number
  longestPauseMs: number
  megabytes: number
  /** Calls of the console, over HTTP. `ms`: the median. */
  queries: { name: string; ms: number; mostMs: number }[]
}

const total = Number(process.env['BENCH_RECORDS'] ?? 1_000_000)
const days = 30
const request = { method: 'POST', path: '/', headers: {}, raw: undefined }

/** Spread over 30 days, 20 keys, 12 models and 5 channels; one in 50 failed. */
function recordOf(number: number, now: number): UsageRecord {
  const model = `model-${number % 12}`
  return {
    time: new Date(now - ((total - number) / total) * days * 86_400_000).toISOString(),
    requestId: newId('req_'),
    key: `key-${number % 20}`,
    requestedModel: model,
    modelServed: model,
    channel: `channel-${number % 5}`,
    protocolIn: 'messages',
    protocolOut: 'chat-completions',
    stream: number % 2 === 0,
    status: number % 50 === 0 ? 502 : 200,
    ...(number % 50 === 0 && { failure: 'upstream_status', error: 'internal' }),
    usage: { input: 1000 + (number % 700), output: number % 500 },
    firstByteMs: 200,
    totalMs: 2000,
    attempts: 1,
    notes: 0,
  }
}

const folder = mkdtempSync(join(tmpdir(), 'bench-records-'))
const prices = { 'model-*': { input: 1, output: 5 } }
const now = Date.now()

/**
 * `perSecond`: by the wall; `cpuUs`: processor time of one record; `longestPauseMs`: while nothing
 * else can run.
 */
async function write(file: string, count: number, recordAt: (number: number) => UsageRecord) {
  const records = await openRecords({ file }, { prices: () => prices })
  let longestPauseMs = 0
  const since = performance.now()
  const cpu = process.cpuUsage()
  // A server adds some, and does something else; the writer gets turns between.
  for (let number = 0; number < count; ) {
    for (let some = 0; some < 100 && number < count; some++)
      records.hooks.onUsage(recordAt(number++), request)
    const paused = performance.now()
    await new Promise(resolve => setImmediate(resolve))
    longestPauseMs = Math.max(longestPauseMs, performance.now() - paused)
    // More than 50,000 that wait would be dropped.
    while (records.state().waiting > 20_000) await new Promise(resolve => setTimeout(resolve, 5))
  }
  await records.close()
  const { user, system } = process.cpuUsage(cpu)
  return {
    perSecond: count / ((performance.now() - since) / 1000),
    cpuUs: (user + system) / count,
    longestPauseMs,
  }
}

const written = await write(join(folder, 'now.db'), Math.min(total, 200_000), number => ({
  ...recordOf(number, now),
  time: new Date().toISOString(),
}))
const location = { file: join(folder, 'records.db') }
await write(location.file, total, number => recordOf(number, now))

const records = await openRecords(location)
const adminKey = 'admin-secret-0123456789'
const page = createConsole({ gateway: () => handler, adminKey, records })
const handler: ConnectGateway = gateway(
  { keys: [], channels: [{ name: 'demo', embedded: 'demo' }] },
  { ...page.hooks, logger: false },
)
const server = createServer((request, response) => void page.handle(request, response))
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo

/** A call of a page of the console. @throws Error if it is refused */
async function ask(path: string): Promise<{ sums?: { requests: number }[] }> {
  const response = await fetch(`http://127.0.0.1:${port}/console/api/${path}`, {
    headers: { authorization: `Bearer ${adminKey}` },
  })
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return (await response.json()) as { sums?: { requests: number }[] }
}

const hour = 3_600_000
const since = (hours: number) => `from=${now - hours * hour}&to=${now}`
const calls: [name: string, path: string][] = [
  ['plots of 30 days', `usage?${since(days * 24)}`],
  ['plots of 30 days by model', `usage?${since(days * 24)}&by=model`],
  ['plots of 30 days by key', `usage?${since(days * 24)}&by=key`],
  ['plots of 30 days of one key', `usage?${since(days * 24)}&key=key-7`],
  ['plots of 24 hours by channel', `usage?${since(24)}&by=channel`],
  ['plots of an hour by model', `usage?${since(1)}&by=model`],
  ['50 latest requests', 'records?limit=50'],
  ['50 failed requests', 'records?limit=50&failed=true'],
  ['50 failed requests of one key', 'records?limit=50&failed=true&key=key-0'],
  ['failed requests of a key that has none', 'records?limit=50&failed=true&key=key-1'],
  ['50 requests of one model and status', 'records?limit=50&model=model-4&status=502'],
  ['requests of a status that there is not', 'records?limit=50&status=429'],
  ['requests of a model that there is not', 'records?limit=50&model=none'],
  ['requests of one key and model that has none', 'records?limit=50&key=key-1&model=model-0'],
  [
    '50 requests of a day three weeks ago',
    `records?limit=50&from=${now - 21 * 24 * hour}&to=${now - 20 * 24 * hour}`,
  ],
]
const queries: RecordsResult['queries'] = []
for (const [name, path] of calls) {
  const times: number[] = []
  for (let round = 0; round < 7; round++) {
    const begun = performance.now()
    await ask(path)
    times.push(performance.now() - begun)
  }
  const sorted = times.toSorted((a, b) => a - b)
  queries.push({ name, ms: sorted[3] ?? Number.NaN, mostMs: sorted.at(-1) ?? Number.NaN })
}
const { sums = [] } = await ask(`usage?from=0&to=${now + hour}`)
if (sums.reduce((all, { requests }) => all + requests, 0) !== total)
  throw new Error('records are missing')
server.close()
server.closeAllConnections()
await handler.close()
await records.close()
const { size } = statSync(location.file)
rmSync(folder, { recursive: true })
const result: RecordsResult = { ...written, records: total, megabytes: size / 1e6, queries }
if (process.send) process.send(result)
else console.log(JSON.stringify(result, null, 1))
