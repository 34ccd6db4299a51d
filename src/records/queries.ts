import type { Database } from './database.ts'
import { type Period, periods, type RecordRow } from './tables.ts'

/**
 * Times are Unix milliseconds. `key`: the name of a key; `''`: requests without one. `keyId`: its
 * id; `''`: requests without one, as of keys of the configuration. `group`: of the configuration.
 * `failed`: only requests that failed.
 */
export type RecordFilter = {
  from?: number
  to?: number
  key?: string
  keyId?: string
  group?: string
  model?: string
  channel?: string
  status?: number
  failed?: boolean
}

/** `next`: the cursor of the following page. Absent: this is the last one. */
export type RecordPage = { records: RecordRow[]; next?: string }

/** Newest first. `cursor`: of the page before. At most `limit` records. */
export async function findRecords(
  { ready }: Database,
  { from, to, key, keyId, group, model, channel, status, failed }: RecordFilter,
  limit: number,
  cursor?: string,
): Promise<RecordPage> {
  const db = await ready()
  const { sql } = await import('kysely')
  let query = db
    .selectFrom('records')
    .selectAll()
    .orderBy('time', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (from !== undefined) query = query.where('time', '>=', from)
  if (to !== undefined) query = query.where('time', '<', to)
  if (key !== undefined)
    query = key === '' ? query.where('key', 'is', null) : query.where('key', '=', key)
  if (keyId !== undefined)
    query = keyId === '' ? query.where('keyId', 'is', null) : query.where('keyId', '=', keyId)
  if (group !== undefined) query = query.where('groupName', '=', group)
  if (model !== undefined) query = query.where('model', '=', model)
  if (channel !== undefined) query = query.where('channel', '=', channel)
  if (status !== undefined) query = query.where('status', '=', status)
  // The condition of an index: a database finds it only where it is written out.
  if (status !== undefined && status !== 200) query = query.where(sql<boolean>`status <> 200`)
  if (failed) query = query.where('failure', 'is not', null)
  const after = cursor === undefined ? undefined : placeOf(cursor)
  if (after)
    query = query.where(({ eb, and, or }) =>
      or([
        eb('time', '<', after.time),
        and([eb('time', '=', after.time), eb('id', '<', after.id)]),
      ]),
    )
  const found = await query.execute()
  const records = found.slice(0, limit)
  const last = records.at(-1)
  return found.length > limit && last ? { records, next: `${last.time}.${last.id}` } : { records }
}

/** The record that a page ends with. Undefined: it is no cursor. */
export function placeOf(cursor: string): { time: number; id: string } | undefined {
  const [, time, id] = /^(\d{1,15})\.(.{1,200})$/.exec(cursor) ?? []
  return time === undefined || id === undefined ? undefined : { time: Number(time), id }
}

export const dimensions = ['key', 'model', 'channel', 'group'] as const
export type Dimension = (typeof dimensions)[number]

/** The field of records and of sums that has the names of a dimension. */
export const fieldOf = {
  key: 'key',
  model: 'model',
  channel: 'channel',
  group: 'groupName',
} as const satisfies Record<Dimension, string>

/**
 * Sums of one bucket. `name`: of the key, model, channel or group; `''`: all, or none; models that
 * no channel serves have none. `time`: Unix milliseconds of the start of the bucket; of totals, of
 * the time span.
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
  /** Requests in which something stood in for what the model lacks, such as tools. */
  emulated: number
}

/** Minutes are deleted when they are older. */
export const minutesKeptMs = 2 * periods.days

/** What a page can show. */
const mostSums = 5000

/**
 * Sums by minute up to three hours that are not over for long, by hour up to four days, else by
 * day. `by`: one row per name; absent: of all together. `isTotal`: of the whole time span, which is
 * widened to such buckets; the names with most requests first. At most 5000 rows.
 */
export async function sumUsage(
  { ready }: Database,
  { from = 0, to, key, keyId, group, model, channel }: RecordFilter,
  by?: Dimension,
  isTotal = false,
): Promise<{ bucketMs: number; sums: Sum[] }> {
  const db = await ready()
  const { sql } = await import('kysely')
  const finest = periodFor((to ?? Date.now()) - from)
  const period = finest === 'minutes' && from <= Date.now() - minutesKeptMs ? 'hours' : finest
  const bucketMs = periods[period]
  const first = from - (from % bucketMs)
  const field = by && fieldOf[by]
  let query = db
    .selectFrom(period)
    .select(({ fn }) => [
      (isTotal ? sql<number>`${sql.lit(first)}` : sql.ref<number>('start')).as('time'),
      (field === undefined ? sql<string>`''` : sql.ref<string>(field)).as('name'),
      ...columns.map(column => fn.sum<number>(column).as(column)),
    ])
    .limit(mostSums)
    .where('start', '>=', first)
  const groups = [...(isTotal ? [] : (['start'] as const)), ...(field ? [field] : [])]
  if (groups.length > 0) query = query.groupBy(groups)
  // A sum of no row at all is a row, too.
  else query = query.having(({ eb, fn }) => eb(fn.countAll(), '>', 0))
  query = isTotal ? query.orderBy('requests', 'desc') : query.orderBy('start')
  query = query.orderBy('name')
  if (to !== undefined) query = query.where('start', '<', to)
  if (key !== undefined) query = query.where('key', '=', key)
  if (keyId !== undefined) query = query.where('keyId', '=', keyId)
  if (group !== undefined) query = query.where('groupName', '=', group)
  if (model !== undefined) query = query.where('model', '=', model)
  if (channel !== undefined) query = query.where('channel', '=', channel)
  const sums = (await query.execute()).map(({ cost, priced, ...sum }) => ({
    ...sum,
    ...(priced > 0 && { cost }),
  }))
  return { bucketMs, sums }
}

/** The period of the sums that a page shows for a time span. `length`: in milliseconds. */
export function periodFor(length: number): Period {
  if (length <= 3 * periods.hours) return 'minutes'
  return length <= 4 * periods.days ? 'hours' : 'days'
}

const columns = [
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
