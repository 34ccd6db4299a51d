import type { FieldNames } from '../../protocol.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { type Keys, keysIn, unknownOf } from './keys.ts'

/**
 * An object of a wire as a table: the canonical field of each of its keys. Known keys, reading,
 * writing, the paths of notes and the fields that are not lost follow from it. The fields of a
 * request have a table of their own, in `fields.ts`.
 */

/** A field, or a key of the map that it holds: `cacheWriteByTtl.5m`. */
type FieldIn<Ours> = {
  [Name in keyof Ours & string]: NonNullable<Ours[Name]> extends Record<string, number>
    ? Name | `${Name}.${string}`
    : Name
}[keyof Ours & string]

type Conversion<Ours> = {
  [Name in keyof Ours & string]: {
    field: Name
    /**
     * Undefined: the value has no meaning here. Null: it means absence. Without it, values are read
     * like most others.
     */
    read?: (value: unknown) => Ours[Name] | null | undefined
    /** `false`: an older name, which is only read. */
    write?: false | ((value: NonNullable<Ours[Name]>) => unknown)
  }
}[keyof Ours & string]

/** A list: the fields that code next to the table reads from this key and writes to it. */
type Row<Ours> = FieldIn<Ours> | readonly (keyof Ours & string)[] | Conversion<Ours>
type Rows<Ours> = { [key: string]: Row<Ours> | Rows<Ours> }

/** A row for each key of the wire's type, and of the objects in it. */
type RowsOf<Wire, Ours> = {
  [Key in keyof Wire as string extends Key ? never : Key]-?:
    | Row<Ours>
    | (NonNullable<Wire[Key]> extends readonly unknown[]
        ? never
        : RowsOf<NonNullable<Wire[Key]>, Ours>)
}

/**
 * Reads a value without a conversion. `before`: what another key gave the field. Null: absent.
 * Undefined: it has no meaning here.
 */
type Plain = (value: unknown, before: unknown) => unknown

export type ObjectTable<Ours, Wire> = {
  /**
   * Sets the fields that the object has. Null means absence. Returns the unknown keys, and those
   * whose value has no meaning here.
   */
  read(wire: JsonObject, into: Ours, plain?: Plain): JsonObject | undefined
  /** The object with the fields that have a value, which are all that the wire requires. */
  write(from: { [Name in keyof Ours]?: Ours[Name] | undefined }): Wire
  /** The fields of each row, by its path on the wire. */
  rows: Readonly<Record<string, readonly string[]>>
  names: FieldNames
  /** The fields that have a row. */
  fields: Keys
}

type Leaf = {
  key: string
  name: string
  /** The key in the map that is the field. */
  inMap: string | undefined
  read: Plain | undefined
  write: false | ((value: never) => unknown) | undefined
  /** The rows of the object that this key holds. */
  inner: Level | undefined
}
type Level = { known: Keys; rows: readonly Leaf[] }

/**
 * `Wire`: the type of the object; a key of it without a row does not compile. `ours`: the canonical
 * field that holds the object, `key`: the key of the wire.
 */
export const objectTable =
  <Ours extends object, Wire extends object>(ours: string, key: string, plain: Plain) =>
  (table: RowsOf<Wire, Ours> & Rows<Ours>): ObjectTable<Ours, Wire> => {
    const rows: Record<string, readonly string[]> = {}
    const top = levelOf(table, key, rows)
    const fields: Record<string, true> = {}
    const names: FieldNames = { [ours]: key }
    for (const [path, of] of Object.entries(rows)) {
      const holder = path.slice(0, path.lastIndexOf('/'))
      // Unknown keys of an object with known ones are kept under its own name.
      names[`${holder.slice(holder.lastIndexOf('/') + 1)}/*`] = ''
      for (const [name = '', inMap] of of.map(field => field.split('.'))) {
        names[`${ours}.${name}`] ??= inMap === undefined ? path : holder
        fields[name] = true
      }
    }
    return {
      read: (wire, into, each = plain) => readLevel(wire, top, into as JsonObject, each),
      // Its keys are those of the rows.
      write: from => (writeLevel(from as JsonObject, top) ?? {}) as Wire,
      rows,
      names,
      fields: keysIn(Object.keys(fields), {}),
    }
  }

/** `rows`: gets the rows. */
function levelOf<Ours>(
  table: Rows<Ours>,
  holder: string,
  rows: Record<string, readonly string[]>,
): Level {
  const level: Leaf[] = []
  for (const [key, row] of Object.entries(table)) {
    const path = `${holder}/${key}`
    if (isList(row)) rows[path] = row
    else if (typeof row === 'object' && !('field' in row))
      level.push(leafOf(key, '', { inner: levelOf(row as Rows<Ours>, path, rows) }))
    else {
      const converted = typeof row === 'string' ? { field: row } : (row as Conversion<JsonObject>)
      rows[path] = [converted.field]
      level.push(leafOf(key, converted.field, converted))
    }
  }
  const keys = level.map(({ key }) => key)
  return { known: keysIn(keys, {}), rows: level }
}

/** Always with the same keys in the same order, which makes reading and writing twice as fast. */
function leafOf(key: string, field: string, { read, write, inner }: Partial<Leaf>): Leaf {
  const [name = '', inMap] = field.split('.')
  return { key, name, inMap, read, write, inner }
}

const isList = (row: unknown): row is readonly string[] => Array.isArray(row)

function readLevel(wire: JsonObject, { known, rows }: Level, into: JsonObject, plain: Plain) {
  let unread = unknownOf(wire, known)
  for (const row of rows) {
    const value = wire[row.key]
    if (value === undefined || value === null) continue
    const left = row.inner
      ? readInner(value, row.inner, into, plain)
      : take(value, row, into, plain)
    if (left === undefined) continue
    unread ??= {}
    unread[row.key] = left
  }
  return unread
}

const readInner = (value: unknown, inner: Level, into: JsonObject, plain: Plain): unknown =>
  isObject(value) ? readLevel(value, inner, into, plain) : value

/** Returns the value if it is not read. */
function take(
  value: unknown,
  { name, inMap, read }: Leaf,
  into: JsonObject,
  plain: Plain,
): unknown {
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
  return write ? write(value as never) : undefined
}
