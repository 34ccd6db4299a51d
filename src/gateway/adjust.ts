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

/** The same for a request that was written for an upstream of another protocol, which has its own names for what its model does not take. */
export function withoutWritten(wire: unknown, to: Protocol, caller: Protocol, fields: readonly string[]): Less {
  return lacking(wire, fields, keys => wirePath(canonicalPath(keys.join('.'), to), caller))
}

/** Takes out what stands under these very names. `placeOf`: where the note says that it was. */
function lacking(body: unknown, fields: readonly string[], placeOf: (keys: string[]) => string): Less {
  const notes: Note[] = []
  let left = body
  for (const field of fields) {
    const keys = field.split('.')
    const less = lackingAt(left, keys)
    if (!less) continue
    left = less
    notes.push(noteAt(placeOf(keys)))
  }
  return { body: left, notes }
}

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
