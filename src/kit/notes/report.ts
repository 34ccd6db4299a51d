import type { ExtMap, Place } from '../../canonical/message.ts'
import { isNeutral } from '../../canonical/neutral.ts'
import type { Note } from '../../canonical/note.ts'
import { TranslationError } from '../../errors.ts'
import type { CodecOptions, FieldNames, NoteTable } from '../../protocol.ts'
import type { Book, Keys } from '../fields/keys.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { few, keysOfNotes } from './noted.ts'
import { containerOf, pointer, pointerOf, step } from './path.ts'
import { commonNotes, notedOnce, type SharedNotes, sharedNotes } from './shared.ts'

export function createReport<Table extends NoteTable>(
  protocol: string,
  table: Table,
  fieldNames: FieldNames = {},
  into?: Note[],
): Report<Table & SharedNotes> {
  return new Report(protocol, table, fieldNames, into)
}

type Placed = { at?: Place | undefined; ext?: ExtMap | undefined }
type Left = { at?: Place; ext?: ExtMap; signature?: unknown }
type Made = { code: string; made: object; field: string }

/**
 * Collects the notes of one codec call. Cheap until the first note, since streams create one for
 * each event.
 */
export class Report<Table extends NoteTable> {
  readonly notes: Note[]
  readonly #protocol: string
  readonly #table: NoteTable
  readonly #fieldNames: FieldNames
  /**
   * Paths of the notes so far, by code. Not used when `notes` is a list of the caller, which may
   * contain others.
   */
  #seen: Map<string, Set<string>> | undefined
  readonly #isShared: boolean
  #pending: Made[] | undefined

  constructor(
    protocol: string,
    table: NoteTable,
    fieldNames: FieldNames,
    into: Note[] | undefined,
  ) {
    this.notes = into ?? []
    this.#protocol = protocol
    this.#table = table
    this.#fieldNames = fieldNames
    this.#isShared = into !== undefined
  }

  /**
   * `at`: JSON pointer of a node; `field`: a canonical field of it, with dots between levels, which
   * is translated to the source's name.
   */
  add(code: keyof Table & string, at: Place | undefined, field?: string): void {
    this.#push(code, at, field)
  }

  /**
   * As `add`, for a part that is left out. Also notes what belonged to it in the source but was
   * outside of it.
   */
  leave(code: keyof Table & string, { at: place, ext, signature }: Left): void {
    this.add(code, place)
    if (place === undefined) return
    const at = pointerOf(place)
    for (const { fields = {} } of Object.values(ext ?? {}))
      for (const key in fields)
        if (key.startsWith('../')) this.#unknown({ [key]: fields[key] }, at, true)
    if (signature && !this.#pathOf(at, 'signature').startsWith(`${at}/`))
      this.#push('field.unsupported', at, 'signature')
  }

  /** As `add`, but only once for each field, whatever the indexes of lists in its path are. */
  once(code: keyof Table & string, at: Place | undefined, field?: string): void {
    const path = this.#pathOf(at, field)
    const name = keysOf(path)
    const isKnown =
      this.notes.length < few
        ? this.notes.some(note => note.code === code && keysOf(note.path) === name)
        : keysOfNotes(this.notes, fieldKey).has(`${code} ${name}`)
    if (!isKnown) this.#pushAt(code, path, false)
  }

  /**
   * As `add`, for an object whose keys may be directly in the node on the source's wire: then each
   * key gets its own note.
   */
  addKeys(code: keyof Table & string, at: Place | undefined, field: string, value: unknown): void {
    const path = this.#pathOf(at, field)
    if (path !== this.#placeOf(at) || !isObject(value)) this.#pushAt(code, path, true)
    else for (const key of Object.keys(value)) this.#pushAt(code, path + step(key), true)
  }

  /** As `once`, for each key that is defined. */
  onceEach(code: keyof Table & string, at: Place | undefined, fields: object): void {
    for (const key in fields) if (fields[key as never] !== undefined) this.once(code, at, key)
  }

  /**
   * For references that only the provider of the source can resolve. Without them the model would
   * get another question, so there is a note only with `onUnresolvable: 'note'`.
   * @throws TranslationError `inexpressible` otherwise
   */
  unresolvable(
    at: Place | undefined,
    field: string | undefined,
    { onUnresolvable }: CodecOptions,
  ): void {
    const code = 'state.unresolvable'
    if (onUnresolvable !== 'note')
      throw new TranslationError(
        { code: 'inexpressible', protocol: this.#protocol, path: this.#pathOf(at, field) },
        `${commonNotes[code].meaning} Pass a resolver, or set \`onUnresolvable: 'note'\`.`,
      )
    this.add(code, at, field)
  }

  /**
   * Notes a synthesized value. The path of `made` in the target is known only when everything is
   * written: call `resolvePending` then.
   */
  addMade(code: keyof Table & string, made: object, field = ''): void {
    this.#pending ??= []
    this.#pending.push({ code, made, field })
  }

  /** Makes the notes of `addMade`, with their paths. `at`: JSON pointer of `wire` in the target. */
  resolvePending(wire: unknown, at = ''): void {
    const pending = this.#pending
    if (!pending) return
    const places = new Map(pending.map(({ made }) => [made, at]))
    findPlaces(wire, [], (made, keys) => places.has(made) && places.set(made, at + pointer(keys)))
    for (const { code, made, field } of pending)
      this.#push(code, `${places.get(made) ?? at}${field}`)
    this.#pending = undefined
  }

  /**
   * Notes each remaining key of an object whose written fields were taken out, unless its value
   * means the same as no value.
   */
  rest(left: object, at: Place | undefined, prefix = ''): void {
    for (const key in left) this.#unwritten(key, left[key as never], at, prefix)
  }

  /**
   * Notes each key of a node that its encoder does not write, unless its value means the same as no
   * value. `handled`: the keys it does.
   */
  unwritten(node: object, handled: Keys, at: Place | undefined, prefix = ''): void {
    for (const key in node) if (!handled[key]) this.#unwritten(key, node[key as never], at, prefix)
  }

  #unwritten(key: string, value: unknown, at: Place | undefined, prefix: string): void {
    if (value === undefined || isNeutral(prefix + key, value)) return
    const path = this.#pathOf(at, prefix + key)
    // `value` holds unknown keys of an object that the node is inside of.
    if (isObject(value) && this.#placeOf(at).startsWith(`${path}/`))
      this.#unknown(value, path, true)
    else this.#push('field.unsupported', at, prefix + key)
  }

  /** Notes what an encoder does not write of a node, and what other protocols keep in it. */
  node(node: Placed, book: Book<keyof Table & string>): void {
    const { at } = node
    for (const key in node) {
      const entry = book[key]
      if (entry === true) continue
      const value = node[key as never]
      if (entry === undefined) this.#unwritten(key, value, at, '')
      else if (value !== undefined && value !== null)
        if (notedOnce.has(entry)) this.once(entry, at, key)
        else this.#push(entry, at, key)
    }
    this.ext(node.ext, at)
  }

  /** JSON pointer of a canonical field in the source. `at` absent: a field of the top level. */
  placeOf(field: string, at?: Place): string {
    return this.#pathOf(at, field)
  }

  /** Notes each unknown field that was kept for a protocol other than the written one. */
  ext(ext: ExtMap | undefined, at: Place | undefined): void {
    if (!ext) return
    for (const name in ext) {
      const fields = name === this.#protocol ? undefined : ext[name]?.fields
      if (fields) this.#unknown(fields, this.#placeOf(at), at !== undefined)
    }
  }

  /** Notes unknown fields of a node, whatever protocol they are of. */
  unknown(fields: JsonObject, at: Place | undefined): void {
    this.#unknown(fields, this.#placeOf(at), at !== undefined)
  }

  #placeOf(at: Place | undefined): string {
    return at ? pointerOf(at) : (this.#fieldNames[''] ?? '')
  }

  #pathOf(at: Place | undefined, field: string | undefined): string {
    return pathOf(this.#placeOf(at), field, this.#fieldNames)
  }

  #push(code: string, at: Place | undefined, field?: string): void {
    this.#pushAt(code, this.#pathOf(at, field), at !== undefined)
  }

  #pushAt(code: string, path: string, isPlaced: boolean): void {
    const entry =
      this.#table[code] ?? (commonNotes as NoteTable)[code] ?? (sharedNotes as NoteTable)[code]
    if (!entry) throw new Error(`no note ${code} in the table of ${this.#protocol}`)
    // One fact, one note; `isReported` also remembers it. Synthesized nodes have no path: their
    // notes cannot be distinguished, so all are kept.
    if (path !== '' && this.#isReported(code, path) && isPlaced) return
    this.notes.push({ kind: entry.kind, path, code, reason: entry.meaning, target: this.#protocol })
  }

  #isReported(code: string, path: string): boolean {
    if (this.notes.length < few)
      return this.notes.some(
        note => note.code === code && note.path === path && note.target === this.#protocol,
      )
    if (this.#isShared)
      return keysOfNotes(this.notes, placeKey).has(`${this.#protocol} ${code} ${path}`)
    if (!this.#seen) {
      this.#seen = new Map()
      for (const note of this.notes) see(this.#seen, note.code, note.path)
    }
    return see(this.#seen, code, path)
  }

  /**
   * Keys are relative paths as in `FieldNames`: `../key` is outside of the node. A real key that
   * begins with `../` is escaped as `./../`.
   */
  #unknown(fields: object, at: string, isPlaced: boolean): void {
    for (const [key, value] of Object.entries(fields)) {
      const name = this.#fieldNames[`${key}/*`]
      const isKnown = name !== undefined
      const place = key.startsWith('../')
        ? containerOf(at).inside + step(key.slice(3))
        : at + step(name || key.replace(/^\.\/(?=\.{1,2}\/)/, ''))
      if (isObject(value) && isKnown) this.#unknown(value, place, isPlaced)
      else if (Array.isArray(value) && isKnown) this.#unknownIn(value, place, isPlaced)
      else this.#pushAt('field.unknown', place, isPlaced)
    }
  }

  /** A list of known members: for each, an object of its unknown fields, or nothing. */
  #unknownIn(list: unknown[], at: string, isPlaced: boolean): void {
    for (const [index, value] of list.entries())
      if (isObject(value)) this.#unknown(value, at + step(index), isPlaced)
      else this.#pushAt('field.unknown', at + step(index), isPlaced)
  }
}

/** What tells a note from another one, in a list with notes of several protocols. */
const placeKey = ({ target, code, path }: Note) => `${target} ${code} ${path}`
/** The same for all places of a field. */
const fieldKey = ({ code, path }: Note) => `${code} ${keysOf(path)}`

/**
 * Was there a note of this code and path before? Two levels of maps: hashing joined keys took a
 * twentieth of the time of a small request.
 */
function see(seen: Map<string, Set<string>>, code: string, path: string): boolean {
  const places = seen.get(code)
  if (places?.has(path)) return true
  if (places) places.add(path)
  else seen.set(code, new Set([path]))
  return false
}

/** A path without the indexes of lists. */
function keysOf(path: string): string {
  return path.replaceAll(/\/\d+(?=\/|$)/g, '/')
}

type See = (value: object, keys: readonly PropertyKey[]) => void

function findPlaces(value: unknown, keys: PropertyKey[], see: See): void {
  if (typeof value !== 'object' || value === null) return
  see(value, keys)
  // `for … in` over a list would make strings of its indexes.
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) findBelow(i, value[i], keys, see)
  else for (const key in value) findBelow(key, value[key as never], keys, see)
}

function findBelow(key: PropertyKey, value: unknown, keys: PropertyKey[], see: See): void {
  keys.push(key)
  findPlaces(value, keys, see)
  keys.pop()
}

function pathOf(at: string, field: string | undefined, fieldNames: FieldNames): string {
  if (field === undefined) return at
  const container = containerOf(at)
  let name =
    fieldNames[`${at}:${field}`] ??
    fieldNames[`${container.name}:${field}`] ??
    fieldNames[field] ??
    memberOf(field, fieldNames) ??
    field.replaceAll('.', '/')
  let place = at
  while (name.startsWith('../')) {
    place = containerOf(place).inside
    name = name.slice(3)
  }
  return name === '' ? place : `${place}/${name}`
}

/** A member of a list whose name differs in the source. */
function memberOf(field: string, fieldNames: FieldNames): string | undefined {
  const [, list, nth] = /^(.+)\.(\d+)$/.exec(field) ?? []
  const place = list === undefined ? undefined : fieldNames[list]
  return place === undefined ? undefined : `${place}/${nth}`
}
