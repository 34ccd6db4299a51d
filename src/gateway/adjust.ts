import type { Note } from '../canonical/note.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { isObject, type JsonObject, without as outOf } from '../kit/json.ts'
import { pointer } from '../kit/path.ts'
import type { Protocol } from '../protocol.ts'

/** Notes on what is taken out of a request because the configuration says that its model refuses it. */
export const adjustNotes = {
  'model.unsupported': { kind: 'dropped', reason: 'the configuration says that this model does not take it' },
} as const

/** The same request, asking for a stream or not. It is read and written by its own protocol, so that nothing else changes. */
export function withStreaming(body: unknown, protocol: Protocol, enabled: boolean): unknown {
  const rewritten = rewrite(body, protocol, request => ({ ...request, stream: { ...request.stream, enabled } }))
  return enabled ? rewritten : withoutStreamOptions(rewritten, protocol)
}

/** The same request without options of streams: servers refuse them where a whole reply is asked for, and some always do. */
export function withoutStreamOptions(body: unknown, { fieldNames }: Protocol): unknown {
  if (!isObject(body)) return body
  const left = { ...body }
  for (const [canonical, wire] of Object.entries(fieldNames)) {
    const [field, inside] = wire.split('/')
    if (canonical.startsWith('stream.') && field && inside) delete left[field]
  }
  return left
}

type Less = { body: unknown; notes: Note[] }

/**
 * The same request without what its model does not take, and a note for each field that was there. `fields`: names as the
 * caller's protocol spells them, or canonical ones, with dots between levels.
 */
export function without(body: unknown, protocol: Protocol, fields: readonly string[]): Less {
  if (fields.length === 0) return { body, notes: [] }
  const spelled = lacking(body, fields, keys => pointer(keys))
  const notes: Note[] = []
  const rewritten = rewrite(spelled.body, protocol, request => {
    const left = structuredClone(request)
    for (const field of fields) {
      const path = canonicalPath(field, protocol)
      if (remove(left, path)) notes.push(noteAt(wirePath(path, protocol)))
    }
    return left
  })
  return { body: notes.length > 0 ? rewritten : spelled.body, notes: [...spelled.notes, ...notes] }
}

/**
 * The same for a request that was written for an upstream of another protocol, which has its own names for what its model does
 * not take. `body`: the caller's; `notes`: of the translation. A field that was made up needs no note on either.
 */
export function withoutWritten(wire: unknown, fields: readonly string[], { to, caller, body, notes }: Translated): Less {
  const isMade = ({ kind, path }: Note, keys: readonly string[]) => kind === 'synthesized' && path === pointer(keys)
  const taken = fields.map(field => field.split('.')).filter(keys => !isDemanded(keys, to) && lackingAt(wire, keys))
  const made = taken.filter(keys => isOfStream(keys, to) || notes.some(note => isMade(note, keys)))
  const less = lacking(
    wire,
    taken.map(keys => keys.join('.')),
    keys => (made.some(one => one.join() === keys.join()) ? undefined : saidAt(canonicalPath(keys.join('.'), to), caller, body)),
  )
  return { body: less.body, notes: [...notes.filter(note => !made.some(keys => isMade(note, keys))), ...less.notes] }
}

type Translated = { to: Protocol; caller: Protocol; body: unknown; notes: readonly Note[] }

/** A limit has to be said to some, so a model that does not take it is another one. */
const isDemanded = (keys: readonly string[], { outputLimit, fieldNames }: Protocol) =>
  outputLimit !== undefined && keys.join('/') === fieldNames['maxOutputTokens']

/** Encoders ask for the counts of a stream by themselves. */
function isOfStream(keys: readonly string[], { fieldNames }: Protocol): boolean {
  const path = keys.join('/')
  return Object.entries(fieldNames).some(([canonical, wire]) => canonical.startsWith('stream.') && (wire === path || wire.startsWith(`${path}/`)))
}

/** They become each other. */
const effort = ['effort', 'budgetTokens', 'mode'].map(name => ['reasoning', name])

/** Where the caller's body says it. */
function saidAt(path: readonly string[], caller: Protocol, body: unknown): string {
  const places = [path, ...(path[0] === 'reasoning' ? effort : [])].map(one => wirePath(one, caller))
  return places.find(place => lackingAt(body, place.slice(1).split('/'))) ?? ''
}

/** Takes out what stands under these very names. `placeOf`: where the note says that it was; undefined: it needs none. */
function lacking(body: unknown, fields: readonly string[], placeOf: (keys: string[]) => string | undefined): Less {
  const notes: Note[] = []
  let left = body
  for (const field of fields) {
    const keys = field.split('.')
    const less = lackingAt(left, keys)
    if (!less) continue
    left = less
    const place = placeOf(keys)
    if (place !== undefined) notes.push(noteAt(place))
  }
  return { body: left, notes }
}

/** Does the body say any of these fields, under these very names? */
export const saysAny = (body: unknown, fields: readonly string[]): boolean => fields.some(field => lackingAt(body, field.split('.')))

/** Undefined: there is nothing at these keys. */
function lackingAt(value: unknown, [key, ...rest]: readonly string[]): JsonObject | undefined {
  if (key === undefined || !isObject(value) || !Object.hasOwn(value, key)) return undefined
  if (rest.length === 0) return outOf(value, [key])
  const inner = lackingAt(value[key], rest)
  return inner && { ...value, [key]: inner }
}

const noteAt = (path: string): Note => ({ ...adjustNotes['model.unsupported'], path, code: 'model.unsupported' })

function rewrite(body: unknown, protocol: Protocol, change: (request: CanonicalRequest) => CanonicalRequest): unknown {
  return protocol.encodeRequest(change(protocol.decodeRequest(body).value)).wire
}

function canonicalPath(field: string, { fieldNames }: Protocol): string[] {
  for (const [canonical, wire] of Object.entries(fieldNames)) if (wire === field || wire.replaceAll('/', '.') === field) return canonical.split('.')
  for (const canonical of Object.keys(fieldNames)) if (canonical === field || canonical.endsWith(`.${field}`)) return canonical.split('.')
  return samplingFields.has(field) ? ['sampling', field] : field.split('.')
}

const samplingFields: ReadonlySet<string> = new Set(['temperature', 'topP', 'topK', 'frequencyPenalty', 'presencePenalty', 'seed', 'logitBias'])

function wirePath(path: readonly string[], { fieldNames }: Protocol): string {
  const name = fieldNames[path.join('.')]
  return name === undefined ? pointer(path) : `/${name}`
}

function remove(from: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined || !isObject(from) || !Object.hasOwn(from, key)) return false
  if (rest.length > 0) return remove(from[key], rest)
  delete from[key]
  return true
}
