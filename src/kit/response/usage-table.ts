import type { Usage } from '../../canonical/response.ts'
import type { FieldNames } from '../../protocol.ts'
import { type Keys, keysIn, unknownOf } from '../fields/keys.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { countOf } from './usage.ts'

/**
 * The token counts of a protocol as a table: the canonical field of each key of the wire. Known
 * keys, reading, writing, the paths of notes and the counts that are not lost follow from it.
 */

/** `total`: of a wire that repeats the sum of input and output. */
export type Counts = Usage & { total?: number }
type Field = keyof Counts | `cacheWriteByTtl.${string}`

/** `before`: what another key gave the field. */
type Read = (value: unknown, before: unknown) => unknown
type Conversion = {
  field: Field
  /** Undefined: the value has no meaning here. Null: it means absence. Absent: it is a count. */
  read?: Read | undefined
  /** `false`: an older name, which is only read. */
  write?: false | ((counts: Record<string, number>) => unknown) | undefined
}

/** A list: the fields that code next to the table reads from this key and writes to it. */
type Row = Field | readonly Field[] | Conversion
type Rows = { [key: string]: Row | Rows }

/** A row for each key of the wire's type, and of the objects in it. */
type RowsOf<Wire> = {
  [Key in keyof Wire as string extends Key ? never : Key]-?:
    | Row
    | (NonNullable<Wire[Key]> extends readonly unknown[] ? never : RowsOf<NonNullable<Wire[Key]>>)
}

export type UsageTable<Wire> = {
  /**
   * Sets the fields that the object has. Null means absence. Returns the unknown keys, and those
   * whose value has no meaning here.
   */
  read(wire: JsonObject, into: Counts, plain?: Read): JsonObject | undefined
  /** The object with the fields that have a value, which are all that the wire requires. */
  write(from: { [Name in keyof Counts]: Counts[Name] | undefined }): Wire
  /** The fields of each row, by its path on the wire. */
  rows: Readonly<Record<string, readonly string[]>>
  /** The path of each field that has a row. */
  names: FieldNames
}

/** `inMap`: the key in the map that is the field. `inner`: the rows of the object in this key. */
type Leaf = Pick<Conversion, 'read' | 'write'> & {
  key: string
  name: string
  inMap: string | undefined
  inner?: Level | undefined
}
type Level = { known: Keys; rows: readonly Leaf[] }

/** The value as a count, if no other key gave another one. */
const asCount: Read = (value, before) =>
  before === undefined || value === before ? countOf(value) : undefined

/** `Wire`: a key of it without a row does not compile. `key`: that of the response. */
export function createUsageTable<Wire extends object>(
  key: string,
  table: RowsOf<Wire> & Rows,
): UsageTable<Wire> {
  const rows: Record<string, readonly string[]> = {}
  const top = levelOf(table, key, rows)
  const names: FieldNames = { usage: key }
  for (const [path, fields] of Object.entries(rows)) {
    const holder = path.slice(0, path.lastIndexOf('/'))
    // Unknown keys of an object with known ones are kept under its own name.
    names[`${holder.slice(holder.lastIndexOf('/') + 1)}/*`] = ''
    for (const [name, inMap] of fields.map(field => field.split('.')))
      names[`usage.${name}`] ??= inMap === undefined ? path : holder
  }
  return {
    read: (wire, into, plain = asCount) => readLevel(wire, top, into as JsonObject, plain),
    // Its keys are those of the rows.
    write: from => (writeLevel(from as JsonObject, top) ?? {}) as Wire,
    rows,
    names,
  }
}

/** `rows`: gets the rows. */
function levelOf(table: Rows, holder: string, rows: Record<string, readonly string[]>): Level {
  const level: Leaf[] = []
  for (const [key, row] of Object.entries(table)) {
    const path = `${holder}/${key}`
    if (isList(row)) rows[path] = row
    else if (typeof row === 'object' && !('field' in row))
      level.push(leafOf(key, '', { inner: levelOf(row as Rows, path, rows) }))
    else {
      const converted = typeof row === 'string' ? { field: row } : (row as Conversion)
      rows[path] = [converted.field]
      level.push(leafOf(key, converted.field, converted))
    }
  }
  const keys = level.map(({ key }) => key)
  return { known: keysIn(keys, {}), rows: level }
}

/** Always with the same keys in the same order, which V8 reads faster. */
function leafOf(key: string, field: string, { read, write, inner }: Partial<Leaf>): Leaf {
  const [name = '', inMap] = field.split('.')
  return { key, name, inMap, read, write, inner }
}

const isList = (row: unknown): row is readonly string[] => Array.isArray(row)

function readLevel(wire: JsonObject, { known, rows }: Level, into: JsonObject, plain: Read) {
  let unread = unknownOf(wire, known)
  for (const row of rows) {
    const value = wire[row.key]
    if (value === undefined || value === null) continue
    let left: unknown = value
    if (!row.inner) left = take(value, row, into, plain)
    else if (isObject(value)) left = readLevel(value, row.inner, into, plain)
    if (left === undefined) continue
    unread ??= {}
    unread[row.key] = left
  }
  return unread
}

/** Returns the value if it is not read. */
function take(value: unknown, { name, inMap, read }: Leaf, into: JsonObject, plain: Read): unknown {
  const map = inMap === undefined ? into : (into[name] as JsonObject | undefined)
  const ours = (read ?? plain)(value, map?.[inMap ?? name])
  if (ours === undefined) return value
  if (ours === null) return undefined
  if (map) map[inMap ?? name] = ours
  else into[name] = { [inMap ?? '']: ours }
  return undefined
}

function writeLevel(from: JsonObject, { rows }: Level): JsonObject | undefined {
  let wire: JsonObject | undefined
  for (const row of rows) {
    const value = row.inner ? writeLevel(from, row.inner) : written(from, row)
    if (value === undefined) continue
    wire ??= {}
    wire[row.key] = value
  }
  return wire
}

function written(from: JsonObject, { name, inMap, write }: Leaf): unknown {
  const value = inMap === undefined ? from[name] : (from[name] as JsonObject | undefined)?.[inMap]
  if (write === undefined || value === undefined) return value
  return write ? write(value as Record<string, number>) : undefined
}

/**
 * The usage without its total. One that is not the sum is put among the unknown keys, and not used.
 */
export function withoutTotal({ total, ...usage }: Counts, unknown: JsonObject, key: string): Usage {
  if (total !== undefined && total !== (usage.input ?? 0) + (usage.output ?? 0))
    unknown[key] = total
  return usage
}
