import type { UsageRecord } from '../gateway/gateway.ts'
import type { Database, HourRow, RecordRow } from './database.ts'
import { costOf, type Prices } from './prices.ts'

/** Writes records in batches, off the path of requests. */
export type Writer = {
  /** Never waits and never throws. */
  add(record: UsageRecord): void
  /** Resolves when everything that was added is written, or given up. */
  flush(): Promise<void>
  close(): Promise<void>
  /** Records that could not be written, because the database was away for too long. */
  dropped(): number
  /** Records in memory. */
  waiting(): number
  /** The last attempt to write failed. */
  isFailing(): boolean
}

/** The most records that wait in memory; further ones are dropped. Some 300 bytes each. */
const mostWaiting = 50_000
/** Records of one statement: PostgreSQL takes 65,535 values. */
const batchSize = 1000
const everyMs = 500

/** `warn`: called when the database fails, once until it works again, and with the number of dropped records. Long because its functions share the waiting records. */
export function createWriter({ db }: Database, prices: () => Prices, warn: (details: object, message: string) => void): Writer {
  let waiting: RecordRow[] = []
  let dropped = 0
  let isFailing = false
  let writing: Promise<void> | undefined

  const timer = setInterval(() => void flush(), everyMs)
  timer.unref?.()

  function flush(): Promise<void> {
    writing ??= writeAll().finally(() => {
      writing = undefined
    })
    return writing
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchSize)
      try {
        await write(batch)
        waiting = waiting.slice(batch.length)
        if (isFailing) warn({}, 'the records are written again')
        isFailing = false
      } catch (error) {
        if (!isFailing) warn({ error }, 'the records cannot be written: requests are served all the same')
        isFailing = true
        return
      }
    }
  }

  async function write(batch: readonly RecordRow[]): Promise<void> {
    await db.transaction().execute(async transaction => {
      // A batch whose answer was lost is written again.
      const fresh = await transaction
        .insertInto('records')
        .values(batch)
        .onConflict(conflict => conflict.column('id').doNothing())
        .returning('id')
        .execute()
      const ids = new Set(fresh.map(({ id }) => id))
      const sums = hoursOf(batch.filter(({ id }) => ids.delete(id)))
      if (sums.length === 0) return
      await transaction
        .insertInto('hours')
        .values(sums)
        .onConflict(conflict =>
          conflict.columns(['hour', 'key', 'model', 'channel']).doUpdateSet(({ eb, ref }) => {
            const added = sumColumns.map(column => [column, eb(`hours.${column}`, '+', ref(`excluded.${column}`))])
            return Object.fromEntries(added)
          }),
        )
        .execute()
    })
  }

  return {
    add(record) {
      if (waiting.length < mostWaiting) waiting.push(rowOf(record, prices()))
      else if (++dropped % 1000 === 1) warn({ dropped }, 'records are dropped: the database is away for too long')
      if (waiting.length >= batchSize && !isFailing) void flush()
    },
    flush,
    async close() {
      clearInterval(timer)
      await flush()
      // What came meanwhile.
      await flush()
      if (waiting.length > 0) warn({ dropped: dropped + waiting.length }, 'records were not written: the database is away')
    },
    dropped: () => dropped,
    isFailing: () => isFailing,
    waiting: () => waiting.length,
  }
}

function rowOf(record: UsageRecord, prices: Prices): RecordRow {
  const { time, requestId, key, modelAsked, modelServed, channel, provider, protocolIn, protocolOut, stream, status, failure, error, usage } = record
  return {
    id: requestId,
    time: Date.parse(time),
    key: key ?? null,
    model: storable(modelAsked ?? ''),
    modelServed: modelServed === undefined ? null : storable(modelServed),
    channel: channel ?? null,
    provider: provider ?? null,
    protocolIn,
    protocolOut: protocolOut ?? null,
    stream: stream ? 1 : 0,
    status,
    failure: failure ?? null,
    error: error ?? null,
    input: usage?.input ?? null,
    output: usage?.output ?? null,
    cost: costOf(modelServed, usage, prices) ?? null,
    firstByteMs: record.firstByteMs ?? null,
    totalMs: record.totalMs,
    attempts: record.attempts,
    notes: record.notes,
  }
}

/** A name that any client may choose: PostgreSQL holds no U+0000 in texts, and no long texts in an index. */
const storable = (name: string) => name.slice(0, 200).toWellFormed().replaceAll('\0', '\ufffd')

const hourMs = 3_600_000

const nothing = { requests: 0, failures: 0, input: 0, output: 0, cost: 0, priced: 0, unpriced: 0, totalMs: 0, firstByteMs: 0, firstBytes: 0 }
const sumColumns = Object.keys(nothing) as (keyof typeof nothing)[]

function hoursOf(rows: readonly RecordRow[]): HourRow[] {
  const sums = new Map<string, HourRow>()
  for (const row of rows) {
    // Anybody may ask for any number of models that do not exist: they have no rows of their own.
    const [hour, key, channel, model] = [row.time - (row.time % hourMs), row.key ?? '', row.channel ?? '', row.channel === null ? '' : row.model]
    const id = JSON.stringify([hour, key, model, channel])
    const sum = sums.get(id) ?? { hour, key, model, channel, ...nothing }
    sum.requests++
    if (row.failure !== null) sum.failures++
    sum.input += row.input ?? 0
    sum.output += row.output ?? 0
    if (row.cost !== null) sum.priced++
    else if (row.input !== null || row.output !== null) sum.unpriced++
    sum.cost += row.cost ?? 0
    sum.totalMs += row.totalMs
    if (row.firstByteMs !== null) sum.firstBytes++
    sum.firstByteMs += row.firstByteMs ?? 0
    sums.set(id, sum)
  }
  return [...sums.values()]
}
