import type { Note } from '../../canonical/note.ts'
import { isObject, type JsonObject, without as outOf } from '../../kit/json.ts'
import { pointer } from '../../kit/path.ts'
import type { Protocol } from '../../protocol.ts'
import { streamOptions } from './streaming.ts'

// Removes the fields that a model refuses (`unsupported` in its configuration) from requests, with a note for each.

type Less<Body> = { body: Body; notes: Note[] }
type Keys = readonly string[]

/** Options for writing a request again in its own protocol: whose proofs may stay in it is the translation's affair. */
const rewriting: object = { foreignProofs: 'wrap' }

/** The caller's request. `fields`: names as the caller's protocol spells them, or canonical ones, with dots between levels. */
export function without(body: unknown, protocol: Protocol, fields: readonly string[]): Less<unknown> {
  if (fields.length === 0) return { body, notes: [] }
  const said = takeOut(body, fields.map(keysOf), keys => pointer(keys))
  const { value } = protocol.decodeRequest(said.body)
  const meant = takeOut(
    value,
    fields.map(field => canonicalPath(field, protocol)),
    path => wirePath(path, protocol),
  )
  if (meant.notes.length === 0) return said
  return { body: protocol.encodeRequest(meant.body, rewriting).wire, notes: [...said.notes, ...meant.notes] }
}

type Translated = { to: Protocol; caller: Protocol; body: unknown; notes: Note[] }

/**
 * The same for a translated request, whose protocol has its own names for the fields. `body`: of the caller. `notes`: of the translation.
 * Removing a synthesized field removes its note as well.
 */
export function withoutWritten(wire: unknown, fields: readonly string[], { to, caller, body, notes }: Translated): Less<unknown> {
  if (fields.length === 0) return { body: wire, notes }
  const isMade = ({ kind, path }: Note, place: string) => kind === 'synthesized' && path === place
  const made = new Set<string>()
  const demanded = to.outputLimit && to.fieldNames['maxOutputTokens']
  // Encoders ask for usage in streams by themselves.
  const asked = streamOptions(to).map(keys => keys.join('/'))
  const less = takeOut(
    wire,
    // A protocol that requires an output limit is not one whose models refuse it.
    fields.map(keysOf).filter(keys => keys.join('/') !== demanded),
    keys => {
      const place = pointer(keys)
      const isAsked = asked.some(one => `/${one}/`.startsWith(`${place}/`))
      if (!isAsked && !notes.some(note => isMade(note, place))) return saidAt(canonicalPath(keys.join('.'), to), caller, body)
      made.add(place)
      return undefined
    },
  )
  return { body: less.body, notes: [...notes.filter(note => !made.has(note.path) || !isMade(note, note.path)), ...less.notes] }
}

/** Does the body have any of these fields? */
export const saysAny = (body: unknown, fields: readonly string[]): boolean => fields.some(field => lackingAt(body, keysOf(field)))

const keysOf = (field: string): Keys => field.split('.')

/** Removes fields. `placeOf`: the path for the note; undefined: no note. */
function takeOut<Body>(body: Body, fields: readonly Keys[], placeOf: (keys: Keys) => string | undefined): Less<Body> {
  const notes: Note[] = []
  let left = body
  for (const keys of fields) {
    const less = lackingAt(left, keys)
    if (!less) continue
    left = less as Body
    const path = placeOf(keys)
    if (path !== undefined) notes.push({ kind: 'dropped', reason: 'the configuration says that this model does not take it', path, code: 'model.unsupported' })
  }
  return { body: left, notes }
}

/** A copy without the field at these keys. Undefined: the field is not there. */
function lackingAt(value: unknown, [key, ...rest]: Keys): JsonObject | undefined {
  if (key === undefined || !isObject(value) || !Object.hasOwn(value, key)) return undefined
  if (rest.length === 0) return outOf(value, [key])
  const inner = lackingAt(value[key], rest)
  return inner && { ...value, [key]: inner }
}

/** These fields are converted into each other. */
const effort = ['effort', 'budgetTokens', 'mode'].map(name => ['reasoning', name])

/** The field's path in the caller's body. */
function saidAt(path: Keys, caller: Protocol, body: unknown): string {
  const places = [path, ...(path[0] === 'reasoning' ? effort : [])].map(one => wirePath(one, caller))
  return places.find(place => lackingAt(body, place.slice(1).split('/'))) ?? ''
}

function canonicalPath(field: string, { fieldNames }: Protocol): Keys {
  for (const [canonical, wire] of Object.entries(fieldNames)) if (wire === field || wire.replaceAll('/', '.') === field) return canonical.split('.')
  for (const canonical of Object.keys(fieldNames)) if (canonical === field || canonical.endsWith(`.${field}`)) return canonical.split('.')
  return samplingFields.has(field) ? ['sampling', field] : keysOf(field)
}

const samplingFields: ReadonlySet<string> = new Set(['temperature', 'topP', 'topK', 'frequencyPenalty', 'presencePenalty', 'seed', 'logitBias'])

function wirePath(path: Keys, { fieldNames }: Protocol): string {
  const name = fieldNames[path.join('.')]
  return name === undefined ? pointer(path) : `/${name}`
}
