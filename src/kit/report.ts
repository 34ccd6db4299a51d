import type { ExtMap } from '../canonical/message.ts'
import { isNeutral } from '../canonical/neutral.ts'
import type { Note } from '../canonical/note.ts'
import { TranslationError } from '../errors.ts'
import type { CodecOptions, FieldNames, NoteTable } from '../protocol.ts'
import { isObject } from './json.ts'
import { containerOf, pointer, step } from './path.ts'

/** Notes that every encoder may make. */
export const commonNotes = {
  'field.unsupported': { kind: 'dropped', reason: 'the target protocol has no field for this', source: '0.2 rule 1' },
  'field.unknown': { kind: 'dropped', reason: 'a field this library does not know, kept only within its own protocol', source: '0.3' },
  'part.unsupported': { kind: 'dropped', reason: 'the target protocol has no content of this kind here', source: '2.3' },
  'part.unknown': { kind: 'dropped', reason: 'content of a type this library does not know, kept only within its own protocol', source: '0.3' },
  'tool.unknown': { kind: 'dropped', reason: 'a tool of a type this library does not know, kept only within its own protocol', source: '0.3' },
  'state.unresolvable': { kind: 'dropped', reason: 'refers to something that only its own provider can look up', source: '2.14' },
  'event.unknown': { kind: 'dropped', reason: 'an event of a stream that only its own protocol knows', source: '3.2' },
} as const satisfies NoteTable

export function createReport<Table extends NoteTable>(
  protocol: string,
  table: Table,
  fieldNames: FieldNames = {},
  into?: Note[],
): Report<Table & typeof commonNotes> {
  return new Report(protocol, table, fieldNames, into)
}

type Left = { at?: string; ext?: ExtMap; signature?: unknown }
type Made = { code: string; made: object; field: string }

/** Gathers the notes of one codec call. Streams make one for each event, and most have no notes: so it costs little until the first. */
export class Report<Table extends NoteTable> {
  readonly notes: Note[]
  readonly #protocol: string
  readonly #table: NoteTable
  readonly #fieldNames: FieldNames
  /** Places of notes by code; those in a list of others are looked for there. */
  #seen: Map<string, Set<string>> | undefined
  readonly #isShared: boolean
  #pending: Made[] | undefined

  constructor(protocol: string, table: NoteTable, fieldNames: FieldNames, into: Note[] | undefined) {
    this.notes = into ?? []
    this.#protocol = protocol
    this.#table = table
    this.#fieldNames = fieldNames
    this.#isShared = into !== undefined
  }

  /** `at`: JSON pointer of a node; `field`: a canonical field of it in dots, which is written as the source spells it. */
  add(code: keyof Table & string, at: string | undefined, field?: string): void {
    this.#push(code, at, field)
  }

  /** As `add`, for a part that is left out: what stood beside it in the source goes with it. */
  leave(code: keyof Table & string, { at, ext, signature }: Left): void {
    this.add(code, at)
    if (at === undefined) return
    for (const { fields = {} } of Object.values(ext ?? {})) for (const key in fields) if (key.startsWith('../')) this.#unknown({ [key]: fields[key] }, at, true)
    if (signature && !this.#pathOf(at, 'signature').startsWith(`${at}/`)) this.#push('field.unsupported', at, 'signature')
  }

  /** As `add`, but the code is reported one time only for each field. */
  once(code: keyof Table & string, at: string | undefined, field?: string): void {
    const path = this.#pathOf(at, field)
    const name = keysOf(path)
    if (!this.notes.some(note => note.code === code && keysOf(note.path) === name)) this.#pushAt(code, path, false)
  }

  /** As `add`, for an object whose keys may stand directly in the node on the source's wire: then each key gets a note of its own. */
  addKeys(code: keyof Table & string, at: string | undefined, field: string, value: unknown): void {
    const path = this.#pathOf(at, field)
    if (path !== this.#placeOf(at) || !isObject(value)) this.#pushAt(code, path, true)
    else for (const key of Object.keys(value)) this.#pushAt(code, path + step(key), true)
  }

  /** As `once`, for each key that is there. */
  onceEach(code: keyof Table & string, at: string | undefined, fields: object): void {
    for (const key in fields) if (fields[key as never] !== undefined) this.once(code, at, key)
  }

  /**
   * What only the provider of the source can look up: without it the model would answer another question. So it is noted only where
   * that is asked for.
   * @throws TranslationError `inexpressible` otherwise
   */
  unresolvable(at: string | undefined, field: string | undefined, { onUnresolvable }: CodecOptions): void {
    const code = 'state.unresolvable'
    if (onUnresolvable !== 'note')
      throw new TranslationError({ code: 'inexpressible', protocol: this.#protocol, path: this.#pathOf(at, field) }, commonNotes[code].reason)
    this.add(code, at, field)
  }

  /** A note on something made up. Where `made` stands in the target is known only when all is written: `settle` has to follow. */
  addMade(code: keyof Table & string, made: object, field = ''): void {
    this.#pending ??= []
    this.#pending.push({ code, made, field })
  }

  /** Gives the notes on what was made up their places. `at`: where `wire` stands in the target. */
  settle(wire: unknown, at = ''): void {
    const pending = this.#pending
    if (!pending) return
    const places = new Map(pending.map(({ made }) => [made, at]))
    findPlaces(wire, [], (made, keys) => places.has(made) && places.set(made, at + pointer(keys)))
    for (const { code, made, field } of pending) this.#push(code, `${places.get(made) ?? at}${field}`)
    this.#pending = undefined
  }

  /** Everything that is left in an object whose written fields were taken out: one note for each key that says something. */
  rest(left: object, at: string | undefined, prefix = ''): void {
    for (const key in left) {
      const value: unknown = left[key as never]
      if (value === undefined || isNeutral(prefix + key, value)) continue
      const path = this.#pathOf(at, prefix + key)
      // `value` holds unknown keys of an object that the node stands inside of.
      if (isObject(value) && at?.startsWith(`${path}/`)) this.#unknown(value, path, true)
      else this.#push('field.unsupported', at, prefix + key)
    }
  }

  /** Where the source has a field of a node; without `at`, of its top level. */
  placeOf(field: string, at?: string): string {
    return this.#pathOf(at, field)
  }

  /** Unknown fields of protocols other than the writing one: one note for each, where it stood. */
  ext(ext: ExtMap | undefined, at: string | undefined): void {
    if (!ext) return
    for (const name in ext) {
      const fields = name === this.#protocol ? undefined : ext[name]?.fields
      if (fields) this.#unknown(fields, this.#placeOf(at), at !== undefined)
    }
  }

  #placeOf(at: string | undefined): string {
    return at || (this.#fieldNames[''] ?? '')
  }

  #pathOf(at: string | undefined, field: string | undefined): string {
    return pathOf(this.#placeOf(at), field, this.#fieldNames)
  }

  #push(code: string, at: string | undefined, field?: string): void {
    this.#pushAt(code, this.#pathOf(at, field), at !== undefined)
  }

  #pushAt(code: string, path: string, isPlaced: boolean): void {
    const entry = this.#table[code] ?? (commonNotes as NoteTable)[code]
    if (!entry) throw new Error(`no note ${code} in the table of ${this.#protocol}`)
    // One fact, one note. A node that was made here has no place, so its notes cannot be told apart: all are kept.
    if (isPlaced && path !== '' && this.#isTold(code, path)) return
    this.notes.push({ kind: entry.kind, path, code, reason: entry.reason, target: this.#protocol })
  }

  #isTold(code: string, path: string): boolean {
    if (this.#isShared) return this.notes.some(note => note.code === code && note.path === path && note.target === this.#protocol)
    // Two maps in place of one with joined keys: hashing those took a twentieth of a small request.
    this.#seen ??= new Map()
    const places = this.#seen.get(code)
    if (places?.has(path)) return true
    if (places) places.add(path)
    else this.#seen.set(code, new Set([path]))
    return false
  }

  /** A key that begins with `../` stands beside the container of the node, as in field names; one that only looks so begins with `./`. */
  #unknown(fields: object, at: string, isPlaced: boolean): void {
    for (const [key, value] of Object.entries(fields)) {
      const place = key.startsWith('../') ? containerOf(at).inside + step(key.slice(3)) : at + step(key.replace(/^\.\/(?=\.{1,2}\/)/, ''))
      const isKnown = this.#fieldNames[`${key}/*`] !== undefined
      if (isObject(value) && isKnown) this.#unknown(value, place, isPlaced)
      else if (Array.isArray(value) && isKnown) this.#unknownIn(value, place, isPlaced)
      else this.#pushAt('field.unknown', place, isPlaced)
    }
  }

  /** Known members of a list have left nothing, or an object of what is unknown. */
  #unknownIn(list: unknown[], at: string, isPlaced: boolean): void {
    for (const [index, value] of list.entries())
      if (isObject(value)) this.#unknown(value, at + step(index), isPlaced)
      else this.#pushAt('field.unknown', at + step(index), isPlaced)
  }
}

/** A path without the numbers of the members that it leads through. */
function keysOf(path: string): string {
  return path.replaceAll(/\/\d+(?=\/|$)/g, '/')
}

type See = (value: object, keys: readonly PropertyKey[]) => void

function findPlaces(value: unknown, keys: PropertyKey[], see: See): void {
  if (typeof value !== 'object' || value === null) return
  see(value, keys)
  // A loop over keys makes texts of the numbers of a list.
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
    fieldNames[`${at}:${field}`] ?? fieldNames[`${container.name}:${field}`] ?? fieldNames[field] ?? memberOf(field, fieldNames) ?? field.replaceAll('.', '/')
  let place = at
  while (name.startsWith('../')) {
    place = containerOf(place).inside
    name = name.slice(3)
  }
  return name === '' ? place : `${place}/${name}`
}

/** A member of a list that the source has under another name. */
function memberOf(field: string, fieldNames: FieldNames): string | undefined {
  const [, list, nth] = /^(.+)\.(\d+)$/.exec(field) ?? []
  const place = list === undefined ? undefined : fieldNames[list]
  return place === undefined ? undefined : `${place}/${nth}`
}
