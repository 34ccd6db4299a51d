import { randomBytes } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import type { Tables } from './tables.ts'

type Step = (run: (sql: string) => Promise<unknown>, db: Transaction<Tables>) => Promise<unknown>

const statements =
  (...texts: string[]): Step =>
  async run => {
    for (const text of texts) await run(text)
  }

const sums = (period: string) => [
  `create table ${period} (
    start bigint not null, key text not null, model text not null, channel text not null,
    requests bigint not null, failures bigint not null, input bigint not null,
    output bigint not null, cost double precision not null, priced bigint not null,
    unpriced bigint not null, total_ms bigint not null, first_byte_ms bigint not null,
    first_bytes bigint not null, primary key (start, key, model, channel))`,
  `create index ${period}_key on ${period} (key, start)`,
]

/** The columns of sums that stay as they are when a key gets an id. */
const summed = [
  'model, channel, requests, failures, input, output, cost, priced, unpriced',
  'total_ms, first_byte_ms, first_bytes',
].join(', ')

/**
 * Each step is run once, in order. Types that both databases know. New records come last in the
 * primary key, which makes inserting them cheap.
 */
const steps: readonly Step[] = [
  statements(
    `create table records (
      time bigint not null, id text not null, key text, group_name text, model text not null,
      model_served text, channel text, provider text, protocol_in text not null,
      protocol_out text, stream integer not null, status integer not null, failure text,
      error text, error_message text, input bigint, output bigint, cache_read bigint,
      cache_write bigint, reasoning bigint, cost double precision, first_byte_ms bigint,
      total_ms bigint not null, attempts integer not null, notes integer not null,
      note_codes text, upstream_request_id text, primary key (time, id))`,
    // A second filter is checked in the index, without reading the records that it leaves out.
    'create index records_key on records (key, time, model, channel)',
    'create index records_model on records (model, time, key, channel)',
    'create index records_channel on records (channel, time, key, model)',
    ...sums('minutes'),
    ...sums('hours'),
    ...sums('days'),
    `create table keys (
      name text primary key, hash text not null unique, hint text not null, group_name text,
      models text, requests_per_minute bigint, tokens_per_minute bigint, tokens_per_day bigint,
      tokens_per_month bigint, dollars_per_day double precision,
      dollars_per_month double precision, expires_at bigint, disabled integer not null,
      created_at bigint not null)`,
  ),
  statements(
    'create table details (id text primary key, time bigint not null, detail text not null)',
    'create index details_time on details (time)',
  ),
  // Most records are of requests that succeeded, and cost nothing here.
  statements(
    'create index records_failures on records (time) where failure is not null',
    'create index records_key_failures on records (key, time) where failure is not null',
    'create index records_status on records (status, time) where status <> 200',
  ),
  async (run, db) => {
    await run('alter table keys add column id text')
    for (const { name } of await db.selectFrom('keys').select('name').execute())
      await db.updateTable('keys').set({ id: newKeyId() }).where('name', '=', name).execute()
    await run('create unique index keys_id on keys (id)')
    await run('alter table records add column key_id text')
    // What a key has used so far is that of the key which has the name now.
    const owner = '(select keys.id from keys where keys.name = key)'
    await run(`update records set key_id = ${owner} where key in (select name from keys)`)
    for (const period of ['minutes', 'hours', 'days']) {
      await run(`alter table ${period} rename to old_${period}`)
      await run(`drop index ${period}_key`)
      const [table = '', index = ''] = sums(period)
      const withId = table.replace('key text not null', '$&, key_id text not null')
      await run(withId.replace('(start, key,', '(start, key, key_id,'))
      await run(index)
      await run(
        `insert into ${period} (start, key, key_id, ${summed})
          select start, key, coalesce(${owner}, ''), ${summed} from old_${period}`,
      )
      await run(`drop table old_${period}`)
    }
  },
  statements(
    'alter table records add column estimated integer not null default 0',
    `create table reservations (
      process text not null, key_id text not null, tokens bigint not null,
      dollars double precision not null, expires_at bigint not null,
      primary key (process, key_id))`,
    'create index reservations_key on reservations (key_id, expires_at)',
  ),
  // What ended in the last minute counts, whenever it began.
  statements(
    'create index records_key_ended on records (key, (time + total_ms)) where total_ms > 60000',
  ),
  // Older sums count for the group that their key has now.
  async run => {
    const group = `coalesce((select group_name from keys where keys.id = key_id), '')`
    for (const period of ['minutes', 'hours', 'days']) {
      await run(`alter table ${period} rename to old_${period}`)
      await run(`drop index ${period}_key`)
      const [table = '', index = ''] = sums(period)
      const withGroup = table.replace(
        'key text not null',
        '$&, key_id text not null, group_name text not null',
      )
      await run(withGroup.replace('(start, key,', '(start, key, key_id, group_name,'))
      await run(index)
      await run(
        `insert into ${period} (start, key, key_id, group_name, ${summed})
          select start, key, key_id, ${group}, ${summed} from old_${period}`,
      )
      await run(`drop table old_${period}`)
    }
    await run('create index days_group on days (group_name, start)')
  },
  statements(
    `create table channels (
      name text primary key, address text not null, models text not null, api_key text,
      disabled integer not null, version text not null, created_at bigint not null)`,
  ),
  statements(
    ...['records', 'minutes', 'hours', 'days'].map(
      name => `alter table ${name} add column emulated bigint not null default 0`,
    ),
  ),
]

/** Random, so that a key which is deleted and made again with its name is another one. */
export const newKeyId = () => randomBytes(12).toString('hex')

/** Are the tables those of this version? @throws Error if the database cannot be reached */
export async function isUpToDate(db: Kysely<Tables>): Promise<boolean> {
  const { sql } = await import('kysely')
  await sql`create table if not exists migrations (version integer primary key)`.execute(db)
  const { rows } = await sql<{ version: number }>`select version from migrations`.execute(db)
  return rows.length >= steps.length
}

/** Brings the tables up to date. */
export async function migrate(db: Kysely<Tables>, isEmbedded: boolean): Promise<void> {
  const { sql } = await import('kysely')
  await db.transaction().execute(async transaction => {
    // Several processes may start at once.
    if (!isEmbedded) await sql`lock table migrations in exclusive mode`.execute(transaction)
    const done = await sql<{ version: number }>`select version from migrations`.execute(transaction)
    const versions = new Set(done.rows.map(({ version }) => Number(version)))
    const run = (text: string) => sql.raw(text).execute(transaction)
    for (const [version, step] of steps.entries()) {
      if (versions.has(version)) continue
      await step(run, transaction)
      await sql`insert into migrations (version) values (${version})`.execute(transaction)
    }
  })
}
