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

/**
 * Sums of one bucket. `name`: of the key, model or channel; `''`: all, or none; models that no channel serves have none. `time`: Unix
 * milliseconds of the start of the bucket.
 */
export type Sum = {
  time: number
  name: string
  requests: number
  failures: number
  input: number
  output: number
  /** US dollars of the requests whose price is known. Absent: there are none. */
  cost?: number
  /** Requests with tokens whose price is unknown. */
  unpriced: number
  totalMs: number
  /** Of the requests that have one, and the number of these. */
  firstByteMs: number
  firstBytes: number
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** What a page can show. */
const mostSums = 5000

/** Sums by minute up to three hours, by hour up to four days, else by day. `by`: one row per name; absent: of all together. */
export async function sumUsage({ db }: Database, { from = 0, to, ...names }: RecordFilter, by?: Dimension): Promise<{ bucketMs: number; sums: Sum[] }> {
  const length = (to ?? Date.now()) - from
  const bucketMs = length <= 3 * hourMs ? minuteMs : length <= 96 * hourMs ? hourMs : dayMs
  const isByMinute = bucketMs === minuteMs
  const { sql } = await import('kysely')
  const time = sql<number>`${sql.ref(isByMinute ? 'time' : 'hour')}`
  const bucket = sql<number>`${time} - ${time} % ${sql.lit(bucketMs)}`
  // A model that no channel serves has no sums of its own.
  const nameOf = (dimension: Dimension) =>
    !isByMinute
      ? sql<string>`${sql.ref(dimension)}`
      : dimension === 'model'
        ? sql<string>`case when channel is null then '' else model end`
        : sql<string>`coalesce(${sql.ref(dimension)}, '')`
  const sums = isByMinute ? ofRecords : ofHours
  const total = (column: keyof typeof sums) => sql<number>`sum(${sql.raw(sums[column])})`.as(column)
  const conditions = [
    sql`${time} >= ${from - (from % (isByMinute ? minuteMs : hourMs))}`,
    ...(to === undefined ? [] : [sql`${time} < ${to}`]),
    ...dimensions.flatMap(dimension => (names[dimension] === undefined ? [] : [sql`${sql.ref(dimension)} = ${names[dimension]}`])),
  ]
  const name = by === undefined ? sql<string>`''` : nameOf(by)
  const { rows } = await sql<Required<Sum> & { priced: number }>`
    select ${bucket} as time, ${name} as name, ${sql.join((Object.keys(sums) as (keyof typeof sums)[]).map(total))}
    from ${sql.table(isByMinute ? 'records' : 'hours')} where ${sql.join(conditions, sql` and `)}
    group by 1, 2 order by 1 limit ${sql.lit(mostSums)}`.execute(db)
  return { bucketMs, sums: rows.map(sumOf) }
}

const sumOf = ({ name, cost, priced, ...numbers }: Required<Sum> & { priced: number }): Sum => ({
  name,
  // PostgreSQL gives sums as text unless told otherwise.
  ...(Object.fromEntries(Object.entries(numbers).map(([column, value]) => [column, Number(value)])) as Record<keyof typeof numbers, number>),
  ...(Number(priced) > 0 && { cost: Number(cost) }),
})

/** The columns that both tables have sums of. */
const ofHours = {
  requests: 'requests',
  failures: 'failures',
  input: 'input',
  output: 'output',
  cost: 'cost',
  priced: 'priced',
  unpriced: 'unpriced',
  totalMs: 'total_ms',
  firstByteMs: 'first_byte_ms',
  firstBytes: 'first_bytes',
}

const ofRecords: typeof ofHours = {
  requests: '1',
  failures: 'case when failure is null then 0 else 1 end',
  input: 'coalesce(input, 0)',
  output: 'coalesce(output, 0)',
  cost: 'coalesce(cost, 0)',
  priced: 'case when cost is null then 0 else 1 end',
  unpriced: 'case when cost is null and (input is not null or output is not null) then 1 else 0 end',
  totalMs: 'total_ms',
  firstByteMs: 'coalesce(first_byte_ms, 0)',
  firstBytes: 'case when first_byte_ms is null then 0 else 1 end',
}
