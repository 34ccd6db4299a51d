import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UsageRecord } from '../src/gateway/gateway.ts'
import { newId } from '../src/gateway/ids.ts'
import { openDatabase } from '../src/records/database.ts'
import { openRecords } from '../src/records/index.ts'
import { findRecords, sumUsage } from '../src/records/queries.ts'

/** Records that are written through the whole path into a file as they come, and questions of a console about `records` of 30 days. */
export type RecordsResult = {
  records: number
  perSecond: number
  cpuUs: number
  longestPauseMs: number
  megabytes: number
  queries: { name: string; ms: number }[]
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

/** `perSecond`: by the wall; `cpuUs`: processor time of one record; `longestPauseMs`: while nothing else can run. */
async function write(file: string, count: number, recordAt: (number: number) => UsageRecord) {
  const records = await openRecords({ file }, { prices: () => prices })
  let longestPauseMs = 0
  const since = performance.now()
  const cpu = process.cpuUsage()
  // A server adds some, and does something else; the writer gets turns between.
  for (let number = 0; number < count; ) {
    for (let some = 0; some < 100 && number < count; some++) records.hooks.onUsage(recordAt(number++), request)
    const paused = performance.now()
    await new Promise(resolve => setImmediate(resolve))
    longestPauseMs = Math.max(longestPauseMs, performance.now() - paused)
  }
  await records.close()
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: count / ((performance.now() - since) / 1000), cpuUs: (user + system) / count, longestPauseMs }
}

const written = await write(join(folder, 'now.db'), Math.min(total, 200_000), number => ({ ...recordOf(number, now), time: new Date().toISOString() }))
const location = { file: join(folder, 'records.db') }
await write(location.file, total, number => recordOf(number, now))

const database = await openDatabase(location)
const hour = 3_600_000
const received: [name: string, ask: () => Promise<unknown>][] = [
  ['sums of 30 days by model', () => sumUsage(database, { from: now - days * 24 * hour }, 'model')],
  ['sums of 30 days by key', () => sumUsage(database, { from: now - days * 24 * hour }, 'key')],
  ['sums of 30 days of one key', () => sumUsage(database, { from: now - days * 24 * hour, key: 'key-7' })],
  ['sums of 4 days by channel', () => sumUsage(database, { from: now - 96 * hour, to: now }, 'channel')],
  ['sums of 3 hours by model', () => sumUsage(database, { from: now - 3 * hour, to: now }, 'model')],
  ['page of 100 records', () => findRecords(database, {}, 100)],
  ['page of failed records of one key', () => findRecords(database, { key: 'key-0', failed: true }, 100)],
  ['page of records of one model and status', () => findRecords(database, { model: 'model-4', status: 502 }, 100)],
]
const queries: RecordsResult['queries'] = []
for (const [name, ask] of received) {
  const times: number[] = []
  for (let round = 0; round < 7; round++) {
    const begun = performance.now()
    await ask()
    times.push(performance.now() - begun)
  }
  queries.push({ name, ms: times.toSorted((a, b) => a - b)[3] ?? Number.NaN })
}
const { sums } = await sumUsage(database, {})
if (sums.reduce((all, { requests }) => all + requests, 0) !== total) throw new Error('records are missing')
await database.close()
const { size } = statSync(location.file)
rmSync(folder, { recursive: true })
const result: RecordsResult = { ...written, records: total, megabytes: size / 1e6, queries }
if (process.send) process.send(result)
else console.log(JSON.stringify(result, null, 1))
