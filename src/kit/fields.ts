import type { CanonicalRequest } from '../canonical/request.ts'
import type { FieldNames } from '../protocol.ts'
import { isObject, type JsonObject, setOwn } from './json.ts'
import type { Keys } from './keys.ts'

/**
 * The request fields of a protocol that hold one value, as a table: where the value is on the wire, and where in the canonical request.
 * Reading, writing, the paths of notes and the removal of fields that a model refuses follow from it.
 */

type Group = {
  [K in keyof CanonicalRequest]-?: NonNullable<CanonicalRequest[K]> extends readonly unknown[] | string | number | boolean ? never : K
}[keyof CanonicalRequest]

/** `model`, or with its group `sampling.topP`. */
type FieldName = (keyof CanonicalRequest & string) | { [K in Group & string]: `${K}.${keyof NonNullable<CanonicalRequest[K]> & string}` }[Group & string]

type ValueOf<Name> = Name extends `${infer G extends Group & string}.${infer K}`
  ? NonNullable<CanonicalRequest[G]>[K & keyof NonNullable<CanonicalRequest[G]>]
  : CanonicalRequest[Name & keyof CanonicalRequest]

type Conversion<Value, Writing> = {
  /** Undefined: the value has no meaning here, and is kept as unknown. */
  read?(value: unknown): Value | undefined
  /**
   * Undefined: nothing is written. What is lost is noted by this function. `field`: the canonical path. `false`: it depends on more than the
   * value, so code writes it.
   */
  write?: false | ((value: NonNullable<Value>, writing: Writing, field: string) => unknown)
}

type Row<Writing> = Place & { field: string; group: string | undefined; name: string } & Conversion<never, Writing>

/** `inside`: the object that holds the key. Undefined: the body. */
type Place = { inside: string | undefined; key: string }

/** Makes the rows of a table. `wire`: the path in the body, e.g. `text/verbosity`. `field`: the canonical path. */
export const rowFor =
  <Writing>() =>
  <Name extends FieldName>(wire: string, field: Name, conversion: Conversion<ValueOf<Name>, Writing> = {}): Row<Writing> => {
    const [outer, inner] = field.split('.') as [string, string | undefined]
    return { ...placeOf(wire), field, group: inner === undefined ? undefined : outer, name: inner ?? outer, ...(conversion as object) }
  }

function placeOf(path: string): Place {
  const [outer = '', inner] = path.split('/')
  return inner === undefined ? { inside: undefined, key: outer } : { inside: outer, key: inner }
}

export type FieldTable<Writing> = {
  /** Sets the fields that the body has. Null means absence. */
  read(body: JsonObject, into: CanonicalRequest): void
  /** A body with the fields of the request. `into`: the body so far, whose keys come first. */
  write(request: CanonicalRequest, writing: Writing, into?: JsonObject): JsonObject
  names: FieldNames
  /** The keys that the table reads from the body, or from an object inside it. */
  keysIn(inside?: string): string[]
  /** The fields of the request, or of a group of it, that the table writes. */
  fieldsOf(group?: string): Keys
}

export function fieldTable<Writing>(rows: readonly Row<Writing>[]): FieldTable<Writing> {
  return {
    read(body, into) {
      for (const { inside, key, group, name, read } of rows) {
        const holder = inside === undefined ? body : body[inside]
        const value = inside === undefined ? body[key] : isObject(holder) ? holder[key] : undefined
        if (value === undefined || value === null) continue
        const known = read ? read(value) : value
        if (known !== undefined) put(into as JsonObject, group, name, known)
      }
    },
    write(request, writing, into = {}) {
      for (const { inside, key, field, group, name, write } of rows) {
        const holder: unknown = group === undefined ? request : request[group as keyof CanonicalRequest]
        const value = isObject(holder) ? holder[name] : undefined
        if (value === undefined || value === null || write === false) continue
        const written = write ? write(value as never, writing, field) : value
        if (written !== undefined) put(into, inside, key, written)
      }
      return into
    },
    names: Object.fromEntries(rows.map(({ field, inside, key }) => [field, inside === undefined ? key : `${inside}/${key}`])),
    keysIn: inside => rows.filter(row => row.inside === inside).map(({ key }) => key),
    fieldsOf: group => Object.assign(Object.create(null), Object.fromEntries(rows.filter(row => row.group === group).map(({ name }) => [name, true]))),
  }
}

function put(into: JsonObject, inside: string | undefined, key: string, value: unknown): void {
  if (inside === undefined) {
    setOwn(into, key, value)
    return
  }
  const holder = into[inside]
  if (isObject(holder)) setOwn(holder, key, value)
  else into[inside] = { [key]: value }
}
