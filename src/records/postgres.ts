import type { Dialect, PostgresPool, PostgresPoolClient } from 'kysely'
import type { Client, default as Pg } from 'pg'
import { timeoutMs } from '../stores/circuit.ts'

/**
 * How long a statement may take, in milliseconds. Then the server gives it up, so that nothing
 * piles up there.
 */
const statementMs = 5_000
/** When no answer of the server comes at all. */
const silenceMs = 6_000

/** PostgreSQL. `hasTimeouts`: false for migrations, which rewrite tables of any size. */
export async function postgresDialect(
  pg: typeof Pg,
  url: string,
  hasTimeouts: boolean,
): Promise<Dialect> {
  const { PostgresDialect } = await import('kysely')
  const { builtins } = pg.types
  const types = {
    getTypeParser: (id: number, format?: 'text' | 'binary') =>
      id === builtins.INT8 || id === builtins.NUMERIC ? Number : pg.types.getTypeParser(id, format),
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: 4,
    // A request that waits for it gives up sooner.
    connectionTimeoutMillis: 1.5 * timeoutMs,
    ...(hasTimeouts && { query_timeout: silenceMs }),
    types: types as typeof pg.types,
  })
  // A connection that breaks is replaced. Nothing handles the error events of the pool and of a
  // connection in use: they would end the process.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  return new PostgresDialect({ pool: hasTimeouts ? withTimeouts(pool) : pool })
}

/**
 * Sets the timeout of each connection, and ends one without an answer: the next statement would
 * wait for it, too.
 */
function withTimeouts(pool: Pg.Pool): PostgresPool {
  const known = new WeakSet<Client>()
  return {
    async connect() {
      const client = await pool.connect()
      let failure: Error | undefined
      const query = async (sql: string, values: readonly unknown[] = []) => {
        try {
          return await client.query(sql, [...values])
        } catch (error) {
          if (error instanceof Error && /timeout/.test(error.message)) failure = error
          throw error
        }
      }
      const release = () => client.release(failure)
      try {
        // Not a parameter of the connection, which poolers such as PgBouncer refuse.
        if (!known.has(client)) await query(`set statement_timeout = ${statementMs}`)
        known.add(client)
      } catch (error) {
        release()
        throw error
      }
      // Nothing here reads a stream of rows, which is the other form of `query`.
      return { query, release } as unknown as PostgresPoolClient
    },
    end: () => pool.end(),
  }
}
