import type { Source } from '../../canonical/message.ts'
import type { Note } from '../../canonical/note.ts'
import type { Decoded, Encoded, Protocol, WireTypes } from '../../protocol.ts'
import { isObject, type JsonObject, same, setOwn } from '../json/json.ts'

type Plain<Options extends object, Wire extends WireTypes> = Pick<
  Protocol<Options, Wire>,
  'decodeRequest' | 'encodeRequest' | 'decodeResponse' | 'encodeResponse'
>

/** `withModel`: where the codecs do not write the model into every body that may have it. */
type Codecs<Options extends object, Wire extends WireTypes> = Plain<Options, Wire> &
  Partial<Pick<Protocol<Options>, 'withModel'>>

/**
 * Codecs that keep the body in the value decoded from it. Their encoders write this body with what
 * was edited since. Toward another protocol this costs nothing.
 */
export function keepingSource<Options extends object, Wire extends WireTypes>(
  protocol: string,
  plain: Codecs<Options, Wire>,
): Plain<Options, Wire> {
  const { withModel } = plain
  const request = withSource(protocol, {
    decode: plain.decodeRequest,
    encode: plain.encodeRequest,
    withModel,
  })
  const response = withSource(protocol, {
    decode: plain.decodeResponse,
    encode: plain.encodeResponse,
    withModel,
  })
  return {
    decodeRequest: request.decode,
    encodeRequest: request.encode,
    decodeResponse: response.decode,
    encodeResponse: response.encode,
  }
}

/** The value without its body, so that its own protocol writes everything anew. */
export function withoutWire<Value extends Sourced>(value: Value): Value {
  if (!value.source) return value
  const { wire: _, ...source } = value.source
  return { ...value, source }
}

type Sourced = { source?: Source; model?: string }

type Codec<Value, Options, Wire> = {
  decode(wire: unknown, options?: Options): Decoded<Value>
  encode(value: Value, options?: Options): Encoded<Wire>
  withModel: ((wire: unknown, model: string) => unknown) | undefined
}

function withSource<Value extends Sourced, Options, Wire>(
  protocol: string,
  codec: Codec<Value, Options, Wire>,
): Omit<Codec<Value, Options, Wire>, 'withModel'> {
  return {
    decode(wire, options) {
      const decoded = codec.decode(wire, options)
      const { source } = decoded.value
      decoded.value.source = source ? { ...source, wire } : { protocol, wire }
      return decoded
    },
    encode(value, options) {
      const { source } = value
      const isOwn = source?.protocol === protocol && source.wire !== undefined
      return isOwn ? encodeEdits(value, source, codec, options) : codec.encode(value, options)
    },
  }
}

/**
 * The differences between the decoded body and the value, as they are encoded, are written into the
 * body.
 */
function encodeEdits<Value extends Sourced, Options, Wire>(
  value: Value,
  source: Source,
  { decode, encode, withModel }: Codec<Value, Options, Wire>,
  options: Options | undefined,
): Encoded<Wire> {
  const { value: original } = decode(source.wire, options)
  original.source = source
  let { wire } = source
  if (withModel && value.model !== undefined && value.model !== original.model) {
    wire = withModel(wire, value.model)
    original.model = value.model
  }
  const after = encode(withoutWire(value), options)
  // A body of this protocol that was read, with what the encoder writes put in, is one that it
  // writes.
  if (same(value, original)) return { ...after, wire: wire as Wire, notes: [] }
  const before = encode(withoutWire(original), options)
  return {
    ...after,
    wire: patched(wire, before.wire, after.wire) as Wire,
    notes: newNotes(before.notes, after.notes),
  }
}

/** What was not edited is written unchanged, so its notes do not apply. */
function newNotes(before: readonly Note[], after: readonly Note[]): Note[] {
  const keyOf = ({ code, path }: Note) => `${code} ${path}`
  const known = new Set(before.map(keyOf))
  return after.filter(note => !known.has(keyOf(note)))
}

function patched(source: unknown, before: unknown, after: unknown): unknown {
  if (same(before, after)) return source
  if (Array.isArray(source) && Array.isArray(before) && Array.isArray(after))
    return patchedList(source, before, after)
  if (isObject(source) && isObject(before) && isObject(after))
    return patchedObject(source, before, after)
  return after
}

function patchedObject(source: JsonObject, before: JsonObject, after: JsonObject): JsonObject {
  const changed = new Set(
    [...Object.keys(before), ...Object.keys(after)].filter(key => !same(before[key], after[key])),
  )
  // The source has this field under an older name, or in another place: only its lists and objects
  // that are the same are kept, as a word such as `type` may name the older form.
  const isRenamed = [...changed].some(
    key => before[key] !== undefined && !Object.hasOwn(source, key),
  )
  const wire: JsonObject = {}
  for (const key of new Set([...Object.keys(isRenamed ? after : source), ...changed])) {
    const isOwn = Object.hasOwn(source, key)
    const isKept = isOwn && !(isRenamed && typeof source[key] !== 'object')
    const renamed = isRenamed ? after[key] : undefined
    let one = isKept ? source[key] : renamed
    if (changed.has(key)) one = isOwn ? patched(source[key], before[key], after[key]) : after[key]
    if (one !== undefined) setOwn(wire, key, one)
  }
  return wire
}

/**
 * The members before and after the edited ones are kept, and of edited ones what is the same. A
 * list whose members the encoder joins or splits is written anew, unless only members were added to
 * it.
 */
function patchedList(
  source: readonly unknown[],
  before: readonly unknown[],
  after: readonly unknown[],
): readonly unknown[] {
  if (source.length !== before.length) {
    const isLonger = after.length > before.length && before.every((one, i) => same(one, after[i]))
    return isLonger ? [...source, ...after.slice(before.length)] : after
  }
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && same(before[start], after[start])) start++
  let end = 0
  while (end < shorter - start && same(before.at(-1 - end), after.at(-1 - end))) end++
  const isPaired = before.length === after.length
  const edited = after
    .slice(start, after.length - end)
    .map((one, i) => (isPaired ? patched(source[start + i], before[start + i], one) : one))
  return [...source.slice(0, start), ...edited, ...source.slice(source.length - end)]
}
