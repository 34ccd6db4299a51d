import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FieldNames, NoteTable } from '../../protocol.ts'
import { isObject, type JsonObject, setOwn } from '../json/json.ts'
import type { Report } from '../notes/report.ts'
import type { Keys } from './keys.ts'

/**
 * The request of a protocol as a table: where a value is on the wire, and where in the canonical
 * request. Reading, writing, what is unknown or not written, the paths of notes and the removal of
 * fields that a model refuses follow from it.
 */

type Group = {
  [K in keyof CanonicalRequest]-?: NonNullable<CanonicalRequest[K]> extends
    | readonly unknown[]
    | string
    | number
    | boolean
    ? never
    : K
}[keyof CanonicalRequest]

/** `model`, or with its group `sampling.topP`. */
type FieldName =
  | (keyof CanonicalRequest & string)
  | { [K in Group & string]: `${K}.${keyof NonNullable<CanonicalRequest[K]> & string}` }[Group &
      string]

type ValueOf<Name> = Name extends `${infer G extends Group & string}.${infer K}`
  ? NonNullable<CanonicalRequest[G]>[K & keyof NonNullable<CanonicalRequest[G]>]
  : CanonicalRequest[Name & keyof CanonicalRequest]

type Conversion<Value, Writing> = {
  /**
   * `holder`: the object that holds the value. Undefined: it has no meaning here, and is kept as
   * unknown. Null: it means absence. `false`: code reads it, with the unknown keys inside it.
   * `'never'`: the canonical field is only written here.
   */
  read?: false | 'never' | ((value: unknown, holder: JsonObject) => Value | null | undefined)
  /**
   * Undefined: nothing is written. What is lost is noted by this function. `field`: the canonical
   * path. `false`: it depends on more than the value, so code writes it.
   */
  write?: false | ((value: NonNullable<Value>, writing: Writing, field: string) => unknown)
}

/** `groups`: the group, in a list. */
type Row<Writing> = Place & {
  field: string
  group: string | undefined
  groups: readonly string[]
  name: string
} & Conversion<never, Writing>

/** `inside`: path of the object that holds the key. Undefined: the body. `outer`: its keys. */
type Place = { inside: string | undefined; outer: readonly string[]; key: string }

/** A path in a body of this type. An object without known keys has any. */
type PathIn<Body> = {
  [Key in keyof Body & string]: Key | `${Key}/${PathInside<NonNullable<Body[Key]>>}`
}[keyof Body & string]
type PathInside<Value> = Value extends readonly unknown[]
  ? never
  : Value extends object
    ? string extends keyof Value
      ? string
      : PathIn<Value>
    : never

/**
 * Makes the rows of a table. `Body`: the type of what is written; absent: any. `wire`: the path in
 * it, e.g. `text/verbosity`. `field`: the canonical path.
 */
export const rowFor =
  <Writing, Body = JsonObject>() =>
  <Name extends FieldName>(
    wire: PathIn<Body>,
    field: Name,
    conversion: Conversion<ValueOf<Name>, Writing> = {},
  ): Row<Writing> => {
    const groups = field.split('.')
    const name = groups.pop() as string
    return { ...placeOf(wire), field, group: groups[0], groups, name, ...(conversion as object) }
  }

function placeOf(path: string): Place {
  const outer = path.split('/')
  const key = outer.pop() as string
  return { inside: outer.length > 0 ? outer.join('/') : undefined, outer, key }
}

/** What code reads or writes beside the rows. */
export type InCode = {
  /** Paths on the wire, with what is inside them. */
  wire: readonly string[]
  /** Canonical paths; a group means all of it. */
  fields: readonly FieldName[]
}

export type FieldTable<Writing> = {
  /**
   * Sets the fields that the body has. Null means absence. Returns what is unknown, or has no
   * meaning here, where it was in the body.
   */
  read(body: JsonObject, into: CanonicalRequest): JsonObject | undefined
  /** A body with the fields of the request. `into`: the body so far, whose keys come first. */
  write(request: CanonicalRequest, writing: Writing, into?: JsonObject): JsonObject
  /** Notes the fields of the request that neither a row nor code writes. */
  leave(request: CanonicalRequest, report: Pick<Report<NoteTable>, 'unwritten'>): void
  names: FieldNames
  rows: readonly Pick<Row<Writing>, 'field' | 'inside' | 'key' | 'read' | 'write'>[]
  inCode: InCode
}

/** Where several rows read one canonical field, the last one that the body has counts. */
export function fieldTable<Writing>(
  inCode: InCode,
  rows: readonly Row<Writing>[],
): FieldTable<Writing> {
  const named = rows.filter(({ read }) => read !== 'never')
  const known = knownIn(rows, inCode.wire)
  const handled = handledIn(rows, inCode.fields)
  const written = byOutermost(rows.filter(({ write }) => write !== false))
  return {
    read(body, into) {
      const shared: Shared[] = []
      const unknown = readInto(body, known, into as JsonObject, shared, false)
      shared.sort((one, other) => one.row.index - other.row.index)
      for (const { row, found } of shared) put(into as JsonObject, row.groups, row.name, found)
      return unknown
    },
    write(request, writing, into = {}) {
      for (const [outermost, fields] of written) {
        // Most requests have few of the groups.
        const given = request[outermost] as JsonObject | null | undefined
        if (given === undefined || given === null) continue
        for (const { outer, key, field, group, name, write } of fields) {
          const value = group === undefined ? given : given[name]
          if (value === undefined || value === null) continue
          const wire = write ? write(value as never, writing, field) : value
          if (wire !== undefined) put(into, outer, key, wire)
        }
      }
      return into
    },
    leave(request, report) {
      report.unwritten(request, handled.request, '')
      for (const [group, keys] of handled.groups) {
        const given = request[group]
        if (given) report.unwritten(given as object, keys, '', `${group}.`)
      }
    },
    names: Object.fromEntries(
      named.map(({ field, inside, key }) => [
        field,
        inside === undefined ? key : `${inside}/${key}`,
      ]),
    ),
    rows,
    inCode,
  }
}

/** A row that is read. `isShared`: other rows read the same canonical field. */
type Read = Pick<Row<never>, 'groups' | 'name'> & {
  read: ((value: unknown, holder: JsonObject) => unknown) | undefined
  index: number
  isShared: boolean
}
type Shared = { row: Read; found: unknown }

/**
 * The known keys of an object. `rows`: which read the value. `inside`: the keys of the value.
 * `isCode`: code reads all that is inside.
 */
type Known = { [key: string]: Entry }
type Entry = { rows: Read[]; inside?: Known; isCode?: true }

function knownIn(rows: readonly Row<never>[], paths: readonly string[]): Known {
  const known: Known = bare()
  const entryOf = ({ outer, key }: Place): Entry => {
    let at = known
    for (const one of outer) {
      at[one] ??= { rows: [] }
      at[one].inside ??= bare()
      at = at[one].inside
    }
    at[key] ??= { rows: [] }
    return at[key]
  }
  for (const [index, row] of rows.entries()) {
    const { field, groups, name, read } = row
    const isShared = rows.some(other => other !== row && other.field === field)
    if (read === false) entryOf(row).isCode = true
    else if (read !== 'never') entryOf(row).rows.push({ groups, name, read, index, isShared })
  }
  for (const path of paths) entryOf(placeOf(path)).isCode = true
  return known
}

/**
 * Sets the fields of an object, key by key, since bodies have few of the keys of a table. Returns
 * what is left. `isKnown`: unknown keys are not left. `shared`: gets what waits for other rows.
 */
function readInto(
  object: JsonObject,
  known: Known,
  into: JsonObject,
  shared: Shared[],
  isKnown: boolean,
): JsonObject | undefined {
  let unknown: JsonObject | undefined
  for (const key in object) {
    const value = object[key]
    if (value === null || value === undefined) continue
    const entry = known[key]
    let left: unknown
    if (!entry) {
      if (!isKnown) left = value
    } else {
      const { rows, inside, isCode = isKnown } = entry
      if (inside && isObject(value)) left = readInto(value, inside, into, shared, isCode)
      else if (rows.length === 0 && !isCode) left = value
      for (const row of rows) {
        const found = row.read ? row.read(value, object) : value
        if (found === undefined) left = value
        else if (found === null) continue
        else if (row.isShared) shared.push({ row, found })
        else put(into, row.groups, row.name, found)
      }
    }
    if (left === undefined) continue
    unknown ??= {}
    setOwn(unknown, key, left)
  }
  return unknown
}

/** The objects of a request whose fields are noted one by one. */
const groups = [
  'output',
  'reasoning',
  'sampling',
  'logprobs',
  'cache',
  'serviceTier',
  'user',
  'state',
  'safety',
  'stream',
] as const satisfies Group[]

/** The keys of the request, and of its groups, that are written. A group that is not named: all. */
function handledIn(
  rows: readonly { field: string }[],
  fields: readonly string[],
): { request: Keys; groups: (readonly [(typeof groups)[number], Keys])[] } {
  const all = [...rows.map(({ field }) => field), ...fields]
  const keys = (prefix: string): Keys =>
    Object.assign(
      bare(),
      Object.fromEntries(
        all
          .filter(field => field.startsWith(prefix))
          .map(field => [field.slice(prefix.length).split('.')[0], true]),
      ),
    )
  const inAll: Partial<Record<keyof CanonicalRequest, true>> = {
    messages: true,
    ext: true,
    source: true,
  }
  const ofGroups = groups.map(key => [key, true])
  return {
    request: Object.assign(keys(''), inAll, Object.fromEntries(ofGroups)),
    groups: groups
      .filter(group => !fields.includes(group))
      .map(group => [group, keys(`${group}.`)] as const),
  }
}

const bare = (): Record<string, never> => Object.create(null) as Record<string, never>

/** The rows by the outermost canonical field, in the order of their first row. */
function byOutermost<Writing>(
  rows: readonly Row<Writing>[],
): (readonly [keyof CanonicalRequest, Row<Writing>[]])[] {
  const outermost = new Map<string, Row<Writing>[]>()
  for (const row of rows) {
    const key = row.group ?? row.name
    outermost.set(key, [...(outermost.get(key) ?? []), row])
  }
  return [...outermost] as [keyof CanonicalRequest, Row<Writing>[]][]
}

function put(into: JsonObject, outer: readonly string[], key: string, value: unknown): void {
  let holder = into
  for (const one of outer) {
    const inner = holder[one]
    if (isObject(inner)) holder = inner
    else {
      const made = {}
      holder[one] = made
      holder = made
    }
  }
  holder[key] = value
}
