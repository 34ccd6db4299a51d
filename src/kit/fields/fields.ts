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
  const isRead = named.filter(({ read }) => read !== false)
  const known = knownIn(named, inCode.wire)
  const handled = handledIn(rows, inCode.fields)
  const written = byOutermost(rows.filter(({ write }) => write !== false))
  return {
    read(body, into) {
      let unknown = unknownIn(body, known)
      let holder: JsonObject | undefined = body
      let at: string | undefined
      for (const { inside, outer, key, groups, name, read } of isRead) {
        if (inside !== at) holder = holderIn(body, outer)
        at = inside
        const value = holder?.[key]
        if (!holder || value === undefined || value === null) continue
        const found = typeof read === 'function' ? read(value, holder) : value
        if (found === undefined) {
          unknown ??= {}
          put(unknown, outer, key, value)
        } else if (found !== null) put(into as JsonObject, groups, name, found)
      }
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

/** The known keys of an object. `inside`: those of its value; absent: all. `isRead`: by a row. */
type Known = { [key: string]: { inside?: Known; isRead?: true } }

function knownIn(rows: readonly (Place & { read?: unknown })[], paths: readonly string[]): Known {
  const known: Known = bare()
  const holderOf = (outer: readonly string[]): Known => {
    let at = known
    for (const key of outer) {
      const entry = at[key] ?? {}
      at[key] = entry
      entry.inside ??= bare()
      at = entry.inside
    }
    return at
  }
  for (const { outer, key, read } of rows) {
    const holder = holderOf(outer)
    if (read !== false) holder[key] = { ...holder[key], isRead: true }
  }
  // Last, and the outermost at the end, since code reads all that is inside.
  const byCode = [...rows.filter(({ read }) => read === false), ...paths.map(placeOf)]
  byCode.sort((one, other) => other.outer.length - one.outer.length)
  for (const { outer, key } of byCode) holderOf(outer)[key] = {}
  return known
}

function unknownIn(body: JsonObject, known: Known): JsonObject | undefined {
  let unknown: JsonObject | undefined
  for (const key in body) {
    const value = body[key]
    const entry = known[key]
    if (value === null || value === undefined || (entry && !entry.inside)) continue
    let left: unknown = value
    if (entry?.inside && isObject(value)) left = unknownIn(value, entry.inside)
    else if (entry?.isRead) continue
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

function holderIn(body: JsonObject, outer: readonly string[]): JsonObject | undefined {
  let holder = body
  for (const key of outer) {
    const inner = holder[key]
    if (!isObject(inner)) return undefined
    holder = inner
  }
  return holder
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
