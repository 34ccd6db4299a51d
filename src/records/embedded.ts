import { closeSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely'

/** The embedded database: one connection, whose users take turns. */
export type Embedded = {
  /** Resolves when those before have released theirs. */
  turn(): Promise<Turn>
  close(): Promise<void>
}

/** The connection, until it is released. */
export type Turn = {
  /** Runs one statement. `changes`: the rows that it has changed. */
  run(sql: string, values: readonly unknown[]): Promise<StatementResult>
  release(): void
}

export type StatementResult = { rows: unknown[]; changes?: number }

/** `libsql`: the path of its module. @throws Error when the file cannot be written */
export type OpenEmbedded = (file: string, libsql: string) => Embedded | Promise<Embedded>

/**
 * libsql in a thread of its own, so that neither a batch nor a sum stops the requests. It starts
 * with the first statement.
 */
export const openEmbedded = ((file, libsql) => {
  if (file !== ':memory:') createFile(file)
  const { run, close } = createThread(file, libsql)
  let last: Promise<void> = Promise.resolve()
  return {
    async turn() {
      const before = last
      let release = () => {}
      last = new Promise(resolve => {
        release = resolve
      })
      await before
      return { run, release }
    },
    close,
  }
}) satisfies OpenEmbedded

export async function embeddedDialect(embedded: Embedded): Promise<Dialect> {
  const { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } = await import('kysely')
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createDriver(embedded),
    createIntrospector: db => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/**
 * A new file is for its owner alone: it may contain prompts. The files next to it get the same mode
 * from libsql.
 */
function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600))
  } catch (error) {
    throw unusable(file, error)
  }
}

/** Why the embedded database cannot be used, in one sentence. */
export function unusable(file: string, cause: unknown): Error {
  const { code = '', message } = cause as { code?: string; message?: string }
  const reason = reasons[code] ?? (message || 'unknown error')
  return new Error(`the database ${file} cannot be used: ${reason}`, { cause })
}

const reasons: Record<string, string> = {
  SQLITE_NOTADB: 'it is not a database',
  SQLITE_CORRUPT: 'it is damaged',
  SQLITE_READONLY: 'it cannot be written',
  SQLITE_FULL: 'the disk is full',
  EACCES: 'this user may not read and write it',
  EISDIR: 'it is a folder',
  ENOENT: 'its folder does not exist',
  EROFS: 'it cannot be written',
}

/** @throws Error if it is not installed */
export const pathOfLibsql = () =>
  createRequire(typeof __filename === 'string' ? __filename : import.meta.url).resolve('libsql')

// Only the CommonJS build has it.
declare const __filename: string | undefined

/**
 * What the thread runs. It keeps all statements: one that is dropped is freed, with the values that
 * were bound to it last, only when this thread collects garbage, which knows nothing of their size.
 * So their texts must be few: a batch is inserted in powers of two, see `insertions`.
 */
const program = String.raw`
const { parentPort, workerData } = require('node:worker_threads')
const Database = require(workerData.libsql)
const prepared = new Map()
let database

function opened() {
  const fresh = new Database(workerData.file)
  // Readers do not wait for the writer; a crash of the machine may lose the last second, a crash of
  // the process nothing.
  fresh.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma busy_timeout = 5000')
  return fresh
}

function run(sql, values) {
  database ??= opened()
  let statement = prepared.get(sql)
  if (!statement) prepared.set(sql, (statement = database.prepare(sql)))
  if (/^\s*(select|with)\b|\breturning\b/i.test(sql)) return { rows: statement.all(...values) }
  const { changes } = statement.run(...values)
  return { rows: [], changes: Number(changes) }
}

parentPort.on('message', ({ sql, values }) => {
  try {
    parentPort.postMessage({ result: run(sql, values) })
  } catch (error) {
    parentPort.postMessage({ failure: { message: String(error.message), code: error.code } })
  }
})
`

type ThreadResult = { result: StatementResult } | { failure: { message: string; code?: string } }

/** Runs one statement after the other. */
type Thread = {
  run: Turn['run']
  close(): Promise<void>
}

function createThread(file: string, libsql: string): Thread {
  let worker: Worker | undefined
  let settle: ((result: ThreadResult) => void) | undefined

  function started(): Worker {
    const fresh = new Worker(program, { eval: true, workerData: { file, libsql } })
    const ended = (message: string) => {
      if (worker === fresh) worker = undefined
      settle?.({ failure: { message } })
    }
    fresh.on('message', (result: ThreadResult) => settle?.(result))
    fresh.on('error', error => ended(error.message))
    fresh.on('exit', () => ended('the database has ended'))
    return fresh
  }

  return {
    run(sql, values) {
      worker ??= started()
      const running = worker
      // Does not keep the process alive while the thread is idle.
      running.ref()
      return new Promise((resolve, reject) => {
        settle = result => {
          settle = undefined
          running.unref()
          if ('result' in result) resolve(result.result)
          else
            reject(Object.assign(new Error(result.failure.message), { code: result.failure.code }))
        }
        running.postMessage({ sql, values })
      })
    },
    async close() {
      await worker?.terminate()
    },
  }
}

function createDriver(embedded: Embedded): Driver {
  const turns = new Map<DatabaseConnection, Turn>()
  const command = (sql: string) => async (connection: DatabaseConnection) =>
    void (await connection.executeQuery(raw(sql)))
  return {
    async init() {},
    async acquireConnection() {
      const turn = await embedded.turn()
      const connection = connectionOf(turn)
      turns.set(connection, turn)
      return connection
    },
    beginTransaction: command('begin'),
    commitTransaction: command('commit'),
    rollbackTransaction: command('rollback'),
    async releaseConnection(connection) {
      turns.get(connection)?.release()
      turns.delete(connection)
    },
    destroy: () => embedded.close(),
  }
}

const raw = (sql: string) => ({ sql, parameters: [] }) as unknown as CompiledQuery

function connectionOf(turn: Turn): DatabaseConnection {
  return {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      const { rows, changes } = await turn.run(sql, parameters)
      return {
        rows: rows as Row[],
        ...(changes !== undefined && { numAffectedRows: BigInt(changes) }),
      }
    },
    // biome-ignore lint/correctness/useYield: nothing here reads a stream of rows
    async *streamQuery() {
      throw new Error('rows cannot be streamed')
    },
  }
}
