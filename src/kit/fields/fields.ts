import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FieldNames } from '../../protocol.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import type { Keys } from './keys.ts'

/**
 * The request fields of a protocol that hold one value, as a table: where the value is on the wire,
 * and where in the canonical request. Reading, writing, the paths of notes and the removal of
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
   * unknown. Null: it means absence. `false`: the canonical field is only written here, and never
   * read.
   */
  read?: false | ((value: unknown, holder: JsonObject) => Value | null | undefined)
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

export type FieldTable<Writing> = {
  /**
   * Sets the fields that the body has. Null means absence. Returns the values that have no meaning
   * here, where they were in the body.
   */
  read(body: JsonObject, into: CanonicalRequest): JsonObject | undefined
  /** A body with the fields of the request. `into`: the body so far, whose keys come first. */
  write(request: CanonicalRequest, writing: Writing, into?: JsonObject): JsonObject
  names: FieldNames
  /** The keys that the table reads from the body, or from an object inside it. */
  keysIn(inside?: string): string[]
  /** The fields of the request, or of a group of it, that the table writes. */
  fieldsOf(group?: string): Keys
}

/** Where several rows read one canonical field, the last one that the body has counts. */
export function fieldTable<Writing>(rows: readonly Row<Writing>[]): FieldTable<Writing> {
  const isRead = rows.filter(({ read }) => read !== false)
  const written = byOutermost(rows.filter(({ write }) => write !== false))
  return {
    read(body, into) {
      let unread: JsonObject | undefined
      let holder: JsonObject | undefined = body
      let at: string | undefined
      for (const { inside, outer, key, groups, name, read } of isRead) {
        if (inside !== at) holder = holderIn(body, outer)
        at = inside
        const value = holder?.[key]
        if (!holder || value === undefined || value === null) continue
        const known = read ? read(value, holder) : value
        if (known === undefined) {
          unread ??= {}
          put(unread, outer, key, value)
        } else if (known !== null) put(into as JsonObject, groups, name, known)
      }
      return unread
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
    names: Object.fromEntries(
      isRead.map(({ field, inside, key }) => [
        field,
        inside === undefined ? key : `${inside}/${key}`,
      ]),
    ),
    keysIn: inside => isRead.filter(row => row.inside === inside).map(({ key }) => key),
    fieldsOf: group =>
      Object.assign(
        Object.create(null),
        Object.fromEntries(rows.filter(row => row.group === group).map(({ name }) => [name, true])),
      ),
  }
}

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
