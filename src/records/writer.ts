import type { Kysely } from 'kysely'
import type { UsageRecord } from '../gateway/gateway.ts'
import { inTime } from '../stores/circuit.ts'
import { columnOf, type Database } from './database.ts'
import { deleteOldest } from './deletion.ts'
import { costOfRecord, type Prices } from './prices.ts'
import { minutesKeptMs } from './queries.ts'
import { periods, type RecordRow, type SumRow, type Tables } from './tables.ts'

/** Writes records in batches, off the path of requests. */
export type Writer = {
  /** Never waits and never throws. */
  add(record: UsageRecord): void
  /**
   * Resolves when everything that was added before is written or given up, or when that takes too
   * long.
   */
  flush(): Promise<void>
  close(): Promise<void>
  /** Records that could not be written, because the database was away for too long. */
  dropped(): number
  /** Records in memory. */
  waiting(): number
  /** The last attempt to write failed. */
  isFailing(): boolean
  /** While the database fails: the records that match and that it does not have. Else none. */
  unwritten(matches: (row: RecordRow) => boolean): RecordRow[]
}

/** The most records that wait in memory; further ones are dropped. Some 300 bytes each. */
const mostWaiting = 50_000
/** Records of one statement: PostgreSQL takes 65,535 values. A power of two: see `insertions`. */
const batchSize = 1024
const everyMs = 500
/** A request for records waits for the latest ones, but not for a database that hangs. */
const flushMs = 1_000
const deleteEveryMs = 10_000

type Options = {
  prices(): Prices
  /** Records are deleted when they are older. Undefined: never. */
  keepDays?: number | undefined
  /**
   * Called when the database fails, once until it works again, and with the number of dropped
   * records.
   */
  warn(details: object, message: string): void
}

export function createWriter(database: Database, { prices, keepDays, warn }: Options): Writer {
  let waiting: RecordRow[] = []
  let dropped = 0
  let isFailing = false
  let writing: Promise<void> | undefined

  const timers = [
    setInterval(() => void writeWaiting(), everyMs),
    setInterval(() => void deleteOld().catch(() => {}), deleteEveryMs),
  ]
  for (const timer of timers) timer.unref?.()

  async function flush(): Promise<void> {
    // It may have begun before the last records came.
    await writing
    await writeWaiting()
  }

  function writeWaiting(): Promise<void> {
    writing ??= writeBatches().finally(() => {
      writing = undefined
    })
    return writing
  }

  /**
   * Writes the records that are waiting now. Few more have come meanwhile, and a small batch takes
   * nearly as long as a large one.
   */
  async function writeBatches(): Promise<void> {
    for (let left = waiting.length; left > 0; left -= batchSize) {
      const batch = waiting.slice(0, Math.min(left, batchSize))
      try {
        await write(batch)
        waiting = waiting.slice(batch.length)
        if (isFailing) warn({}, 'the records are written again')
        isFailing = false
      } catch (error) {
        if (!isFailing)
          warn({ error }, 'the records cannot be written: requests are served all the same')
        isFailing = true
        return
      }
    }
  }

  async function write(batch: readonly RecordRow[]): Promise<void> {
    try {
      await insertNew(database, batch).catch((error: unknown) => {
        // A batch whose response was lost is written again.
        if (!isDuplicate(error)) throw error
        return insertMissing(database, batch)
      })
    } catch (error) {
      if (!isRefused(error)) throw error
      // One record that the database cannot hold must not keep the others out.
      const middle = batch.length >> 1
      if (middle === 0) drop({ error }, 'a record cannot be held by the database, and is dropped')
      else for (const half of [batch.slice(0, middle), batch.slice(middle)]) await write(half)
    }
  }

  function drop(details: object, message: string): void {
    if (++dropped % 1000 === 1) warn({ ...details, dropped }, message)
  }

  async function deleteOld(): Promise<void> {
    const db = await database.ready()
    const now = Date.now()
    await deleteOldest(db, 'minutes', now - minutesKeptMs)
    if (keepDays !== undefined) await deleteOldest(db, 'records', now - keepDays * periods.days)
  }

  return {
    add(record) {
      if (waiting.length < mostWaiting) waiting.push(rowOf(record, prices()))
      else drop({}, 'records are dropped: the database is away for too long')
      if (waiting.length >= batchSize && !isFailing) void writeWaiting()
    },
    flush: () => inTime(flush(), flushMs).catch(() => {}),
    async close() {
      for (const timer of timers) clearInterval(timer)
      await flush()
      // What came meanwhile.
      if (!isFailing) await flush()
      if (waiting.length > 0)
        warn(
          { dropped: dropped + waiting.length },
          'records were not written: the database is away',
        )
    },
    dropped: () => dropped,
    isFailing: () => isFailing,
    waiting: () => waiting.length,
    unwritten: matches => (isFailing ? waiting.filter(matches) : []),
  }
}

/** @throws Error if one of them is there already */
async function insertNew(database: Database, batch: readonly RecordRow[]): Promise<void> {
  const db = await database.ready()
  await db.transaction().execute(async transaction => {
    for (const insertion of database.insertions('records', batch))
      await transaction.executeQuery(insertion)
    await addSums(database, transaction, batch)
  })
}

async function insertMissing(database: Database, batch: readonly RecordRow[]): Promise<void> {
  const db = await database.ready()
  await db.transaction().execute(async transaction => {
    const ending = 'on conflict (time, id) do nothing returning id'
    const ids = new Set<string>()
    for (const insertion of database.insertions('records', batch, ending)) {
      const { rows } = await transaction.executeQuery<{ id: string }>(insertion)
      for (const { id } of rows) ids.add(id)
    }
    await addSums(
      database,
      transaction,
      batch.filter(({ id }) => ids.delete(id)),
    )
  })
}

async function addSums(
  database: Database,
  db: Kysely<Tables>,
  batch: readonly RecordRow[],
): Promise<void> {
  let sums = batch.map(sumOf)
  for (const period of ['minutes', 'hours', 'days'] as const) {
    sums = added(sums, periods[period])
    const additions = summed
      .map(columnOf)
      .map(name => `${name} = ${period}.${name} + excluded.${name}`)
    const ending = `on conflict (start, key, key_id, group_name, model, channel) do update set ${additions.join(', ')}`
    for (const insertion of database.insertions(period, sums, ending))
      await db.executeQuery(insertion)
  }
}

/** Of the embedded database or PostgreSQL. */
const isDuplicate = (error: unknown) =>
  /^(SQLITE_CONSTRAINT|23505)/.test((error as { code?: string }).code ?? '')

/**
 * PostgreSQL refuses a value, independent of the connection: the classes "data exception" and
 * "program limit exceeded".
 */
const isRefused = (error: unknown) => /^(22|54)/.test((error as { code?: string }).code ?? '')

export function rowOf(record: UsageRecord, prices: Prices): RecordRow {
  const {
    time,
    requestId,
    key,
    keyId,
    group,
    requestedModel,
    modelServed,
    channel,
    provider,
    protocolIn,
    protocolOut,
    stream,
    status,
    failure,
    error,
    usage,
  } = record
  return {
    time: Date.parse(time),
    id: requestId,
    key: key ?? null,
    keyId: keyId ?? null,
    groupName: group ?? null,
    model: storable(requestedModel ?? ''),
    modelServed: modelServed === undefined ? null : storable(modelServed),
    channel: channel ?? null,
    provider: provider ?? null,
    protocolIn,
    protocolOut: protocolOut ?? null,
    stream: stream ? 1 : 0,
    status,
    failure: failure ?? null,
    error: error ?? null,
    errorMessage: record.errorMessage === undefined ? null : storable(record.errorMessage),
    input: countOf(usage?.input),
    output: countOf(usage?.output),
    cacheRead: countOf(usage?.cacheRead),
    cacheWrite: countOf(usage?.cacheWrite),
    reasoning: countOf(usage?.reasoning),
    cost: costOfRecord(record, prices) ?? null,
    firstByteMs: record.firstByteMs ?? null,
    totalMs: record.totalMs,
    attempts: record.attempts,
    notes: record.notes,
    noteCodes: record.noteCodes?.slice(0, mostCodes).join(' ') ?? null,
    upstreamRequestId:
      record.upstreamRequestId === undefined ? null : storable(record.upstreamRequestId),
    estimated: usage?.estimated ? 1 : 0,
    emulated: record.emulated ?? 0,
  }
}

const mostCodes = 20

/**
 * A text that clients or upstreams may choose: PostgreSQL holds no U+0000 in texts, and no long
 * texts in an index.
 */
function storable(text: string): string {
  const short = text.length > 200 ? text.slice(0, 200) : text
  return /[\0\ud800-\udfff]/.test(short) ? short.toWellFormed().replaceAll('\0', '\ufffd') : short
}

/** What an upstream says it counted. */
const countOf = (count: number | undefined) =>
  count !== undefined && count >= 0 && count <= Number.MAX_SAFE_INTEGER ? Math.round(count) : null

const summed = [
  'requests',
  'failures',
  'input',
  'output',
  'cost',
  'priced',
  'unpriced',
  'totalMs',
  'firstByteMs',
  'firstBytes',
  'emulated',
] as const

function sumOf(row: RecordRow): SumRow {
  const isPriced = row.cost !== null
  return {
    start: row.time,
    key: row.key ?? '',
    keyId: row.keyId ?? '',
    groupName: row.groupName ?? '',
    // Anybody may ask for any number of models that do not exist: they have no rows of their own.
    model: row.channel === null ? '' : row.model,
    channel: row.channel ?? '',
    requests: 1,
    failures: row.failure === null ? 0 : 1,
    input: row.input ?? 0,
    output: row.output ?? 0,
    cost: row.cost ?? 0,
    priced: isPriced ? 1 : 0,
    unpriced: !isPriced && (row.input !== null || row.output !== null) ? 1 : 0,
    totalMs: row.totalMs,
    firstByteMs: row.firstByteMs ?? 0,
    firstBytes: row.firstByteMs === null ? 0 : 1,
    emulated: row.emulated > 0 ? 1 : 0,
  }
}

/** The sums of longer periods. */
function added(sums: readonly SumRow[], periodMs: number): SumRow[] {
  const found = new Map<string, SumRow>()
  for (const sum of sums) {
    const start = sum.start - (sum.start % periodMs)
    const id = `${start}\0${sum.key}\0${sum.keyId}\0${sum.groupName}\0${sum.model}\0${sum.channel}`
    const total = found.get(id)
    if (total) for (const column of summed) total[column] += sum[column]
    else found.set(id, { ...sum, start })
  }
  return [...found.values()]
}
