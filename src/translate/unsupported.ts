import type { Note } from '../canonical/note.ts'
import { isObject, type JsonObject, without as outOf } from '../kit/json/json.ts'
import { pointer } from '../kit/notes/path.ts'
import type { Protocol, ProtocolFacts } from '../protocol.ts'
import { translateNotes } from './notes.ts'

// Removes the fields that a model or its vendor refuses from requests, with a note for each.

const refused = translateNotes['model.unsupported']

type Less<Body> = { body: Body; notes: Note[] }
type Keys = readonly string[]

/**
 * The caller's request, in its own protocol. `fields`: names as this protocol spells them, or
 * canonical ones, with dots between levels, and `*` for every entry of a list.
 */
export function without(
  body: unknown,
  protocol: ProtocolFacts,
  fields: readonly string[],
): Less<unknown> {
  if (fields.length === 0) return { body, notes: [] }
  return takeOut(
    body,
    fields.flatMap(field => placesOf(field, protocol)),
    keys => pointer(keys),
  )
}

const placesIn = new WeakMap<ProtocolFacts, Map<string, Keys[]>>()

/**
 * Every place of a field in a body, as protocols may have older names for it. Searched once: the
 * fields are those of vendors, models and configurations.
 */
export function placesOf(field: string, protocol: ProtocolFacts): Keys[] {
  const known = placesIn.get(protocol) ?? new Map<string, Keys[]>()
  const places = known.get(field) ?? searchPlaces(field, protocol)
  placesIn.set(protocol, known.set(field, places))
  return places
}

function searchPlaces(field: string, { fieldNames, olderNames = {} }: ProtocolFacts): Keys[] {
  const places = [keysOf(field)]
  for (const [canonical, wire] of Object.entries(fieldNames)) {
    const isMeant =
      canonical === field ||
      canonical.startsWith(`${field}.`) ||
      wire.replaceAll('/', '.') === field
    if (isMeant && !canonical.includes(':') && wire !== '')
      places.push(wire.split('/'), ...(olderNames[canonical] ?? []).map(name => name.split('/')))
  }
  return places
}

type Translated = {
  to: ProtocolFacts & Pick<Protocol, 'outputLimit'>
  caller: ProtocolFacts
  body: unknown
  notes: Note[]
}

/**
 * The same for a translated request, whose protocol has its own names for the fields. `body`: of
 * the caller. `notes`: of the translation. Removing a synthesized field removes its note as well.
 */
export function withoutWritten(
  wire: unknown,
  fields: readonly string[],
  { to, caller, body, notes }: Translated,
): Less<unknown> {
  if (fields.length === 0) return { body: wire, notes }
  const synthesized = new Set(notes.filter(isSynthesized).map(({ path }) => path))
  const made = new Set<string>()
  const demanded = to.outputLimit && to.fieldNames['maxOutputTokens']
  // Encoders ask for usage in streams by themselves.
  const optionKeys = streamOptions(to).map(keys => keys.join('/'))
  const less = takeOut(
    wire,
    // A protocol that requires an output limit is not one whose models refuse it.
    fields.map(keysOf).filter(keys => keys.join('/') !== demanded),
    keys => {
      const place = pointer(keys)
      const isRequested = optionKeys.some(one => `/${one}/`.startsWith(`${place}/`))
      if (!isRequested && !synthesized.has(place))
        return pointerIn(canonicalPath(keys.join('.'), to), caller, body)
      made.add(place)
      return undefined
    },
  )
  return {
    body: less.body,
    notes: [...notes.filter(note => !made.has(note.path) || !isSynthesized(note)), ...less.notes],
  }
}

const isSynthesized = ({ kind }: Note) => kind === 'synthesized'

/** Does the body have any of these fields? */
export const hasAnyField = (body: unknown, fields: readonly string[]): boolean =>
  fields.some(field => eachOf(body, keysOf(field)).some(keys => foundAt(body, keys)))

const keysOf = (field: string): Keys => field.split('.')

/**
 * Removes fields. `placeOf`: the path for the note of what was at these keys; undefined: no note.
 */
function takeOut(
  body: unknown,
  fields: readonly Keys[],
  placeOf: (keys: Keys) => string | undefined,
): Less<unknown> {
  const notes: Note[] = []
  const onFound = (keys: Keys) => {
    const path = placeOf(keys)
    if (path !== undefined)
      notes.push({ kind: refused.kind, reason: refused.meaning, path, code: 'model.unsupported' })
  }
  const left = fields.reduce((one, keys) => lacking(one, keys, [], onFound), body)
  return { body: left, notes }
}

/**
 * A copy without what is at these keys, and without an object that this leaves empty. The same value
 * if nothing is there. `*` is every entry of a list, all of which are taken out in one walk.
 */
function lacking(
  value: unknown,
  [key = '', ...rest]: Keys,
  before: Keys,
  onFound: (keys: Keys) => void,
): unknown {
  if (Array.isArray(value)) {
    const left = value.map((entry: unknown, i) =>
      key === '*' || key === String(i)
        ? lacking(entry, rest, [...before, String(i)], onFound)
        : entry,
    )
    return left.some((entry, i) => entry !== value[i]) ? left : value
  }
  if (!isObject(value)) return value
  const own = Object.hasOwn(value, key) ? key : spelledIn(value, key)
  if (own === undefined) return value
  const keys = [...before, own]
  if (rest.length === 0) onFound(keys)
  const inner = rest.length > 0 ? lacking(value[own], rest, keys, onFound) : undefined
  if (rest.length > 0 && inner === value[own]) return value
  return Array.isArray(inner) || (isObject(inner) && Object.keys(inner).length > 0)
    ? { ...value, [own]: inner }
    : outOf(value, [own])
}

/** The path of each list entry that `*` matches. */
function eachOf(value: unknown, keys: Keys, before: Keys = []): Keys[] {
  const star = keys.indexOf('*')
  if (star < 0) return [[...before, ...keys]]
  const outer = keys.slice(0, star)
  const found = foundAt(value, outer)
  const list = found && valueAt(value, found)
  if (!found || !Array.isArray(list)) return []
  return list.flatMap((entry: unknown, i) =>
    eachOf(entry, keys.slice(star + 1), [...before, ...found, String(i)]),
  )
}

export const valueAt = (value: unknown, keys: Keys): unknown =>
  keys.reduce<unknown>(
    (inner, key) =>
      isObject(inner) || Array.isArray(inner) ? (inner as JsonObject)[key] : undefined,
    value,
  )

/** The keys as this body spells them. Undefined: the field is not there. */
export function foundAt(value: unknown, [key, ...rest]: Keys): string[] | undefined {
  if (key === undefined) return []
  if (Array.isArray(value)) {
    if (!Object.hasOwn(value, key)) return undefined
    const inner = foundAt(value[Number(key)], rest)
    return inner && [key, ...inner]
  }
  if (!isObject(value)) return undefined
  const own = Object.hasOwn(value, key) ? key : spelledIn(value, key)
  const inner = own === undefined ? undefined : foundAt(value[own], rest)
  return inner && [own as string, ...inner]
}

/** Some protocols are written in camelCase and in snake_case. */
function spelledIn(object: JsonObject, key: string): string | undefined {
  for (const name in object) if (isSpelled(name, key)) return name
  return undefined
}

const underscore = 0x5f

/** Are the names equal but for underscores and small or capital letters? */
function isSpelled(name: string, other: string): boolean {
  for (let i = 0, j = 0; ; i++, j++) {
    while (name.charCodeAt(i) === underscore) i++
    while (other.charCodeAt(j) === underscore) j++
    if (i >= name.length || j >= other.length) return i >= name.length && j >= other.length
    if ((name.charCodeAt(i) | 0x20) !== (other.charCodeAt(j) | 0x20)) return false
  }
}

/** These fields are converted into each other. */
const effort = ['effort', 'budgetTokens', 'mode'].map(name => ['reasoning', name])

/** The field's path in the caller's body. */
function pointerIn(path: Keys, caller: ProtocolFacts, body: unknown): string {
  const places = [path, ...(path[0] === 'reasoning' ? effort : [])].map(one =>
    wirePath(one, caller),
  )
  return places.find(place => foundAt(body, place.slice(1).split('/'))) ?? ''
}

/**
 * A path in a written request as one in the caller's body: that of its innermost field that is
 * known, or none.
 */
export function pathIn(
  path: string,
  to: ProtocolFacts,
  { caller, body }: { caller: ProtocolFacts; body: unknown },
): string {
  const keys = path.slice(1).split('/')
  const { byWire } = namesOf(to)
  const known = keys.findLastIndex((_, i) => i > 0 && byWire.has(keys.slice(0, i + 1).join('/')))
  const field = keys.slice(0, Math.max(known, 0) + 1).join('/')
  return pointerIn(canonicalPath(field, to), caller, body)
}

function canonicalPath(field: string, protocol: ProtocolFacts): Keys {
  const { byWire, byEnd } = namesOf(protocol)
  const known = byWire.get(field) ?? byEnd.get(field)
  if (known) return known
  return samplingFields.has(field) ? ['sampling', field] : keysOf(field)
}

/**
 * The canonical path of each field: `byWire` by its path on the wire, with slashes and with dots;
 * `byEnd` by its canonical name, also without what is in front of a dot.
 */
type Names = { byWire: Map<string, Keys>; byEnd: Map<string, Keys> }

const namesIn = new WeakMap<ProtocolFacts, Names>()

function namesOf(protocol: ProtocolFacts): Names {
  const known = namesIn.get(protocol)
  if (known) return known
  const names: Names = { byWire: new Map(), byEnd: new Map() }
  const add = (map: Map<string, Keys>, name: string, path: Keys) =>
    map.has(name) || map.set(name, path)
  for (const [canonical, wire] of Object.entries(protocol.fieldNames)) {
    const path = keysOf(canonical)
    add(names.byWire, wire, path)
    add(names.byWire, wire.replaceAll('/', '.'), path)
    for (let i = 0; i < path.length; i++) add(names.byEnd, path.slice(i).join('.'), path)
  }
  namesIn.set(protocol, names)
  return names
}

const samplingFields: ReadonlySet<string> = new Set([
  'temperature',
  'topP',
  'topK',
  'frequencyPenalty',
  'presencePenalty',
  'seed',
  'logitBias',
])

function wirePath(path: Keys, { fieldNames }: ProtocolFacts): string {
  const name = fieldNames[path.join('.')]
  return name === undefined ? pointer(path) : `/${name}`
}

/** The paths of a protocol's stream options, as lists of keys. */
export function streamOptions(protocol: ProtocolFacts): readonly string[][] {
  const known = optionsOf.get(protocol)
  if (known) return known
  const found = Object.entries(protocol.fieldNames).flatMap(([canonical, wire]) =>
    canonical.startsWith('stream.') && wire.includes('/') ? [wire.split('/')] : [],
  )
  optionsOf.set(protocol, found)
  return found
}

/** Searched once: searching all fields takes 10 µs. */
const optionsOf = new WeakMap<ProtocolFacts, string[][]>()
