import type { CompiledQuery, Kysely } from 'kysely'
import { type Circuit, createCircuit } from '../stores/circuit.ts'
import {
  embeddedDialect,
  type OpenEmbedded,
  openEmbedded,
  pathOfLibsql,
  unusable,
} from './embedded.ts'
import { isUpToDate, migrate } from './migrations.ts'
import { postgresDialect } from './postgres.ts'
import type { Tables } from './tables.ts'

type TableName = keyof Tables

export type Database = {
  /** The tables, when they are up to date. @throws Error if the database cannot be reached */
  ready(): Promise<Kysely<Tables>>
  /** The tables could be reached once. */
  wasReached(): boolean
  /** For what a request waits for: rejects soon when the database hangs. */
  lookUp: Circuit['run']
  /**
   * Statements that insert rows, which have their fields in the same order. `ending`: of each
   * statement. Written by hand: to compile one for a thousand rows takes kysely as long as the
   * database takes to insert them.
   */
  insertions<Name extends TableName>(
    table: Name,
    rows: readonly Tables[Name][],
    ending?: string,
  ): CompiledQuery[]
  close(): Promise<void>
}

type Warn = (details: object, message: string) => void

/** Where records are: a file of the embedded database, or the URL of PostgreSQL. */
export type Location = { file: string } | { url: string }

/**
 * Opens the database and brings its tables up to date. A PostgreSQL that cannot be reached now is
 * tried again with each use. `open`: where the embedded database is. Default: in this process.
 * @throws Error if a package is missing (`kysely`, and `libsql` or `pg`), or the database cannot be
 * opened
 */
export async function openDatabase(
  location: Location,
  warn: Warn = () => {},
  open: OpenEmbedded = openEmbedded,
): Promise<Database> {
  const isEmbedded = 'file' in location
  const { CompiledQuery } = await load(isEmbedded ? 'libsql' : 'pg', () => import('kysely'))
  const db = await connectionTo(location, { open })
  let prepared: Promise<Kysely<Tables>> | undefined
  let isReached = false

  async function prepare(): Promise<Kysely<Tables>> {
    if (!(await isUpToDate(db))) await updated(location, db)
    isReached = true
    return db
  }

  function ready(): Promise<Kysely<Tables>> {
    prepared ??= prepare().catch((error: unknown) => {
      prepared = undefined
      throw error
    })
    return prepared
  }

  await ready().catch(async (error: unknown) => {
    if (isAway(error))
      return warn(
        { error },
        'the database of records cannot be reached: requests are served all the same',
      )
    await db.destroy()
    throw isEmbedded ? unusable(location.file, error) : error
  })
  return {
    ready,
    wasReached: () => isReached,
    lookUp: createCircuit().run,
    insertions: (table, rows, ending = '') =>
      (isEmbedded ? inPowersOfTwo(rows) : [rows])
        .filter(some => some.length > 0)
        .map(some =>
          CompiledQuery.raw(insertText(table, some, { isEmbedded, ending }), valuesOf(some)),
        ),
    close: () => db.destroy(),
  }
}

async function connectionTo(
  location: Location,
  { open = openEmbedded, hasTimeouts = true }: { open?: OpenEmbedded; hasTimeouts?: boolean },
): Promise<Kysely<Tables>> {
  const { Kysely, CamelCasePlugin } = await import('kysely')
  const dialect =
    'file' in location
      ? await embeddedDialect(
          await open(location.file, await load('libsql', async () => pathOfLibsql())),
        )
      : await postgresDialect(
          (await load('pg', () => import('pg'))).default,
          location.url,
          hasTimeouts,
        )
  return new Kysely<Tables>({ dialect, plugins: [new CamelCasePlugin()] })
}

/** To rewrite a large table takes longer than any other statement may. */
async function updated(location: Location, db: Kysely<Tables>): Promise<void> {
  if ('file' in location) return migrate(db, true)
  const patient = await connectionTo(location, { hasTimeouts: false })
  try {
    await migrate(patient, false)
  } finally {
    await patient.destroy()
  }
}

/**
 * The embedded database keeps its statements: so it gets eleven for each table, not one for each
 * number of rows.
 */
function inPowersOfTwo<Row>(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = []
  for (let at = 0; at < rows.length; at += parts.at(-1)?.length ?? 0)
    parts.push(rows.slice(at, at + 2 ** Math.floor(Math.log2(rows.length - at))))
  return parts
}

/**
 * Not by `flatMap` and `Object.values`, which take as long as all else that a record costs before
 * it is sent.
 */
function valuesOf(rows: readonly object[]): unknown[] {
  const values: unknown[] = []
  for (const row of rows)
    for (const column in row) values.push((row as Record<string, unknown>)[column])
  return values
}

function insertText(
  table: TableName,
  [first, ...others]: readonly object[],
  { isEmbedded, ending }: { isEmbedded: boolean; ending: string },
): string {
  const columns = Object.keys(first ?? {}).map(columnOf)
  let number = 0
  const values = () => `(${columns.map(() => (isEmbedded ? '?' : `$${++number}`)).join(',')})`
  return `insert into ${table} (${columns.join(',')}) values ${[first, ...others].map(values).join(',')} ${ending}`
}

/** The column of a field. */
export const columnOf = (field: string) =>
  field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

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
