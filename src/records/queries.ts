import type { Database, RecordRow } from './database.ts'

/** Times are Unix milliseconds. `failed`: only requests that failed. */
export type RecordFilter = { from?: number; to?: number; key?: string; model?: string; channel?: string; status?: number; failed?: boolean }

/** `next`: the cursor of the following page. Absent: this is the last one. */
export type RecordPage = { records: RecordRow[]; next?: string }

/** Newest first. `cursor`: of the page before. At most `limit` records. */
export async function findRecords(
  { db }: Database,
  { from, to, key, model, channel, status, failed }: RecordFilter,
  limit: number,
  cursor?: string,
): Promise<RecordPage> {
  let query = db
    .selectFrom('records')
    .selectAll()
    .orderBy('time', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (from !== undefined) query = query.where('time', '>=', from)
  if (to !== undefined) query = query.where('time', '<', to)
  if (key !== undefined) query = query.where('key', '=', key)
  if (model !== undefined) query = query.where('model', '=', model)
  if (channel !== undefined) query = query.where('channel', '=', channel)
  if (status !== undefined) query = query.where('status', '=', status)
  if (failed) query = query.where('failure', 'is not', null)
  const after = cursor === undefined ? undefined : placeOf(cursor)
  if (after) query = query.where(({ eb, and, or }) => or([eb('time', '<', after.time), and([eb('time', '=', after.time), eb('id', '<', after.id)])]))
  const found = (await query.execute()).map(numeric)
  const records = found.slice(0, limit)
  const last = records.at(-1)
  return found.length > limit && last ? { records, next: `${last.time}.${last.id}` } : { records }
}

function placeOf(cursor: string): { time: number; id: string } | undefined {
  const [, time, id] = /^(\d{1,15})\.(.{1,200})$/.exec(cursor) ?? []
  return time === undefined || id === undefined ? undefined : { time: Number(time), id }
}

/** PostgreSQL gives large integers as text unless told otherwise. */
const numeric = (row: RecordRow): RecordRow => ({ ...row, time: Number(row.time), totalMs: Number(row.totalMs) })

export const dimensions = ['key', 'model', 'channel'] as const
export type Dimension = (typeof dimensions)[number]

/** Sums of one bucket. `name`: of the key, model or channel; `''`: all, or none. `time`: Unix milliseconds of the start of the bucket. */
export type Sum = { time: number; name: string; requests: number; failures: number; input: number; output: number; cost: number; totalMs: number }

const hourMs = 3_600_000

/** Sums by hour, or by day for more than four days. `by`: one row per name; absent: of all together. */
export async function sumUsage({ db }: Database, { from, to, key, model, channel }: RecordFilter, by?: Dimension): Promise<{ bucketMs: number; sums: Sum[] }> {
  const bucketMs = (to ?? Date.now()) - (from ?? 0) > 96 * hourMs ? 24 * hourMs : hourMs
  const { sql } = await import('kysely')
  const bucket = sql<number>`hour - hour % ${sql.lit(bucketMs)}`
  let query = db
    .selectFrom('hours')
    .select(({ fn }) => [
      bucket.as('time'),
      (by === undefined ? sql<string>`''` : sql.ref<string>(by)).as('name'),
      fn.sum<number>('requests').as('requests'),
      fn.sum<number>('failures').as('failures'),
      fn.sum<number>('input').as('input'),
      fn.sum<number>('output').as('output'),
      fn.sum<number>('cost').as('cost'),
      fn.sum<number>('totalMs').as('totalMs'),
    ])
    .groupBy(by === undefined ? [bucket] : [bucket, by])
    .orderBy('time')
    .limit(5000)
  if (from !== undefined) query = query.where('hour', '>=', from - (from % hourMs))
  if (to !== undefined) query = query.where('hour', '<', to)
  if (key !== undefined) query = query.where('key', '=', key)
  if (model !== undefined) query = query.where('model', '=', model)
  if (channel !== undefined) query = query.where('channel', '=', channel)
  const sums = (await query.execute()).map(row => ({
    time: Number(row.time),
    name: row.name,
    requests: Number(row.requests),
    failures: Number(row.failures),
    input: Number(row.input),
    output: Number(row.output),
    cost: Number(row.cost),
    totalMs: Number(row.totalMs),
  }))
  return { bucketMs, sums }
}
