import type { CompiledQuery, Dialect, Kysely } from 'kysely'
import { embeddedDialect, pathOfLibsql } from './embedded.ts'

/**
 * A finished request. Times are Unix milliseconds; `cost` is in US dollars, null if the price is unknown. `noteCodes`: the first ones, with
 * spaces between. `errorMessage`: of a failure, without the words of the upstream.
 */
export type RecordRow = {
  time: number
  id: string
  key: string | null
  groupName: string | null
  model: string
  modelServed: string | null
  channel: string | null
  provider: string | null
  protocolIn: string
  protocolOut: string | null
  stream: number
  status: number
  failure: string | null
  error: string | null
  errorMessage: string | null
  input: number | null
  output: number | null
  cacheRead: number | null
  cacheWrite: number | null
  reasoning: number | null
  cost: number | null
  firstByteMs: number | null
  totalMs: number
  attempts: number
  notes: number
  noteCodes: string | null
  upstreamRequestId: string | null
}

/**
 * Sums of one period, key, model and channel: what plots and budgets read. `''`: no key, no model that a channel serves, no channel.
 * `start`: of the period, in Unix milliseconds.
 */
export type SumRow = {
  start: number
  key: string
  model: string
  channel: string
  requests: number
  failures: number
  input: number
  output: number
  cost: number
  /** Requests whose cost is known, and those with tokens whose cost is not. */
  priced: number
  unpriced: number
  totalMs: number
  /** Of the requests that have one, and the number of these. */
  firstByteMs: number
  firstBytes: number
}

/** A key of a client. `hash`: SHA-256 of the secret, which is stored nowhere. `hint`: its first characters. Absent limits are null. */
export type KeyRow = {
  name: string
  hash: string
  hint: string
  groupName: string | null
  /** JSON list of model ids; a `*` at the end matches any rest. Null: all. */
  models: string | null
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  tokensPerDay: number | null
  tokensPerMonth: number | null
  dollarsPerDay: number | null
  dollarsPerMonth: number | null
  expiresAt: number | null
  disabled: number
  createdAt: number
}

/** The length of the periods of each table of sums, in milliseconds. Minutes are kept for some days. */
export const periods = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const
export type Period = keyof typeof periods

/** `detail`: a `RecordDetail` as JSON. `id`, `time`: of its record. */
export type DetailRow = { id: string; time: number; detail: string }

export type Tables = { records: RecordRow; keys: KeyRow; details: DetailRow } & Record<
  Period,
  SumRow
>

export type Database = {
  /** The tables, when they are up to date. @throws Error if the database cannot be reached */
  ready(): Promise<Kysely<Tables>>
  /** The tables could be reached once. */
  wasReached(): boolean
  /** Statements that insert new records. Written by hand: to compile one for a thousand rows takes kysely as long as the database takes to insert them. */
  insertions(rows: readonly RecordRow[]): CompiledQuery[]
  close(): Promise<void>
}

type Warn = (details: object, message: string) => void

/** Where records are: a file of the embedded database, or the URL of PostgreSQL. */
export type Location = { file: string } | { url: string }

/**
 * Opens the database and brings its tables up to date. A PostgreSQL that cannot be reached now is tried again with each use.
 * @throws Error if a package is missing (`kysely`, and `libsql` or `pg`), or the database cannot be opened
 */
export async function openDatabase(location: Location, warn: Warn = () => {}): Promise<Database> {
  const isEmbedded = 'file' in location
  const { Kysely, CamelCasePlugin, CompiledQuery } = await load(
    isEmbedded ? 'libsql' : 'pg',
    () => import('kysely'),
  )
  const db = new Kysely<Tables>({
    dialect: isEmbedded ? await embedded(location.file) : await postgres(location.url),
    plugins: [new CamelCasePlugin()],
  })
  let prepared: Promise<Kysely<Tables>> | undefined
  let isReached = false
  const ready = () => {
    prepared ??= migrate(db, isEmbedded).then(
      () => {
        isReached = true
        return db
      },
      (error: unknown) => {
        prepared = undefined
        throw error
      },
    )
    return prepared
  }
  await ready().catch(async (error: unknown) => {
    if (isAway(error))
      return warn(
        { error },
        'the database of records cannot be reached: requests are served all the same',
      )
    await db.destroy()
    throw error
  })
  const insertions = (rows: readonly RecordRow[]) =>
    (isEmbedded ? inPowersOfTwo(rows) : [rows]).map(some =>
      CompiledQuery.raw(insertText(some, isEmbedded), valuesOf(some)),
    )
  return { ready, wasReached: () => isReached, insertions, close: () => db.destroy() }
}

/** The embedded database keeps its prepared statements: so it needs ten of them, not one for each number of rows. */
function inPowersOfTwo<Row>(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = []
  for (let at = 0; at < rows.length; at += parts.at(-1)?.length ?? 0)
    parts.push(rows.slice(at, at + 2 ** Math.floor(Math.log2(rows.length - at))))
  return parts
}

/** Not by `flatMap` and `Object.values`, which take as long as all else that a record costs before it is sent. */
function valuesOf(rows: readonly RecordRow[]): unknown[] {
  const values: unknown[] = []
  for (const row of rows) for (const column in row) values.push(row[column as keyof RecordRow])
  return values
}

/** The rows have their fields in the same order. */
function insertText([first, ...others]: readonly RecordRow[], isEmbedded: boolean): string {
  const columns = Object.keys(first ?? {}).map(name =>
    name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
  )
  let number = 0
  const values = () => `(${columns.map(() => (isEmbedded ? '?' : `$${++number}`)).join(',')})`
  return `insert into records (${columns.join(',')}) values ${[first, ...others].map(values).join(',')}`
}

/** It may come back, other than with a wrong password, host or database. */
function isAway(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  return (
    [
      'ECONNREFUSED',
      'ECONNRESET',
      'ETIMEDOUT',
      'EHOSTUNREACH',
      'EAI_AGAIN',
      '57P03',
      '53300',
    ].includes(code ?? '') || /timeout|terminated/.test(message ?? '')
  )
}

async function embedded(file: string): Promise<Dialect> {
  return embeddedDialect(file, await load('libsql', async () => pathOfLibsql()))
}

async function postgres(url: string): Promise<Dialect> {
  const { PostgresDialect } = await import('kysely')
  const { default: pg } = await load('pg', () => import('pg'))
  const { builtins } = pg.types
  const types = {
    getTypeParser: (id: number, format?: 'text' | 'binary') =>
      id === builtins.INT8 || id === builtins.NUMERIC ? Number : pg.types.getTypeParser(id, format),
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: 4,
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
    types: types as typeof pg.types,
  })
  // A connection that breaks is replaced. Nothing handles the error events of the pool and of a connection in use: they would end the process.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  return new PostgresDialect({ pool })
}

/** `driver`: the package that records need next to kysely. */
async function load<Module>(
  driver: 'libsql' | 'pg',
  importing: () => Promise<Module>,
): Promise<Module> {
  return importing().catch((error: unknown) => {
    throw new Error(
      `records and keys of clients need the packages kysely and ${driver}: npm install kysely ${driver}`,
      { cause: error },
    )
  })
}

const sums = (period: Period) => [
  `create table ${period} (start bigint not null, key text not null, model text not null, channel text not null, requests bigint not null,
    failures bigint not null, input bigint not null, output bigint not null, cost double precision not null, priced bigint not null, unpriced bigint not null,
    total_ms bigint not null, first_byte_ms bigint not null, first_bytes bigint not null, primary key (start, key, model, channel))`,
  `create index ${period}_key on ${period} (key, start)`,
]

/** Each step is run once, in order. Types that both databases know. New records come last in the primary key, which makes inserting them cheap. */
const steps: readonly string[][] = [
  [
    `create table records (time bigint not null, id text not null, key text, group_name text, model text not null, model_served text, channel text,
      provider text, protocol_in text not null, protocol_out text, stream integer not null, status integer not null, failure text, error text, error_message text,
      input bigint, output bigint, cache_read bigint, cache_write bigint, reasoning bigint, cost double precision, first_byte_ms bigint,
      total_ms bigint not null, attempts integer not null, notes integer not null, note_codes text, upstream_request_id text, primary key (time, id))`,
    // A second filter is checked in the index, without reading the records that it leaves out.
    'create index records_key on records (key, time, model, channel)',
    'create index records_model on records (model, time, key, channel)',
    'create index records_channel on records (channel, time, key, model)',
    ...sums('minutes'),
    ...sums('hours'),
    ...sums('days'),
    `create table keys (name text primary key, hash text not null unique, hint text not null, group_name text, models text, requests_per_minute bigint,
      tokens_per_minute bigint, tokens_per_day bigint, tokens_per_month bigint, dollars_per_day double precision, dollars_per_month double precision,
      expires_at bigint, disabled integer not null, created_at bigint not null)`,
  ],
  [
    'create table details (id text primary key, time bigint not null, detail text not null)',
    'create index details_time on details (time)',
  ],
  // Most records are of requests that succeeded, and cost nothing here.
  [
    'create index records_failures on records (time) where failure is not null',
    'create index records_key_failures on records (key, time) where failure is not null',
    'create index records_status on records (status, time) where status <> 200',
  ],
]

async function migrate(db: Kysely<Tables>, isEmbedded: boolean): Promise<void> {
  const { sql } = await import('kysely')
  await sql`create table if not exists migrations (version integer primary key)`.execute(db)
  await db.transaction().execute(async transaction => {
    // Several processes may start at once.
    if (!isEmbedded) await sql`lock table migrations in exclusive mode`.execute(transaction)
    const done = await sql<{ version: number }>`select version from migrations`.execute(transaction)
    const versions = new Set(done.rows.map(({ version }) => Number(version)))
    for (const [version, statements] of steps.entries()) {
      if (versions.has(version)) continue
      for (const statement of statements) await sql.raw(statement).execute(transaction)
      await sql`insert into migrations (version) values (${version})`.execute(transaction)
    }
  })
}
