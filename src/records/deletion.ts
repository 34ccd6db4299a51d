import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** Of one call, so that nothing else waits for it. */
const mostDeleted = 5_000

/** Deletes some of the rows that are older, the oldest first. `before`: Unix milliseconds. */
export async function deleteOldest(
  db: Kysely<Tables>,
  table: 'records' | 'details' | 'minutes',
  before: number,
): Promise<void> {
  const { sql } = await import('kysely')
  const time = sql.ref(table === 'minutes' ? 'start' : 'time')
  const name = sql.table(table)
  const { rows } = await sql<{ last: number | null }>`
    select max(${time}) as last from
      (select ${time} from ${name} where ${time} < ${before} order by ${time} limit ${mostDeleted}) as old`.execute(
    db,
  )
  const last = rows[0]?.last ?? null
  if (last !== null) await sql`delete from ${name} where ${time} <= ${last}`.execute(db)
}
