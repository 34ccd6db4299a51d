import type { Database } from './database.ts'
import { type Period, periods, type RecordRow } from './tables.ts'

/**
 * Times are Unix milliseconds. `key`: the name of a key; `''`: requests without one. `keyId`: its
 * id; `''`: requests without one, as of keys of the configuration. `failed`: only requests that
 * failed.
 */
export type RecordFilter = {
  from?: number
  to?: number
  key?: string
  keyId?: string
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
  { from, to, key, keyId, model, channel, status, failed }: RecordFilter,
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

export const dimensions = ['key', 'model', 'channel'] as const
export type Dimension = (typeof dimensions)[number]

/**
 * Sums of one bucket. `name`: of the key, model or channel; `''`: all, or none; models that no
 * channel serves have none. `time`: Unix milliseconds of the start of the bucket.
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

/** Minutes are deleted when they are older. */
export const minutesKeptMs = 2 * periods.days

/** What a page can show. */
const mostSums = 5000

/**
 * Sums by minute up to three hours that are not over for long, by hour up to four days, else by
 * day. `by`: one row per name; absent: of all together. At most 5000 rows.
 */
export async function sumUsage(
  { ready }: Database,
  { from = 0, to, key, keyId, model, channel }: RecordFilter,
  by?: Dimension,
): Promise<{ bucketMs: number; sums: Sum[] }> {
  const db = await ready()
  const { sql } = await import('kysely')
  const finest = periodFor((to ?? Date.now()) - from)
  const period = finest === 'minutes' && from <= Date.now() - minutesKeptMs ? 'hours' : finest
  const bucketMs = periods[period]
  let query = db
    .selectFrom(period)
    .select(({ fn }) => [
      'start as time',
      (by === undefined ? sql<string>`''` : sql.ref<string>(by)).as('name'),
      ...columns.map(column => fn.sum<number>(column).as(column)),
    ])
    .groupBy(by === undefined ? ['start'] : ['start', by])
    .orderBy('start')
    .orderBy('name')
    .limit(mostSums)
    .where('start', '>=', from - (from % bucketMs))
  if (to !== undefined) query = query.where('start', '<', to)
  if (key !== undefined) query = query.where('key', '=', key)
  if (keyId !== undefined) query = query.where('keyId', '=', keyId)
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
] as const
