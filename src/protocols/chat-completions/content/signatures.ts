import type { Part, Place, Signature } from '../../../canonical/message.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, merge, parseObject } from '../../../kit/json/json.ts'
import { isEnvelope, unwrapSignature, wrapSignature } from '../../../kit/signatures/envelope.ts'
import { placeholder } from '../../../kit/signatures/placeholder.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { type ChatCompletionsReport, protocolName } from '../own.ts'
import type { ChatCompletionsSignatureFields, ChatCompletionsWrittenAssistant } from '../written.ts'

/** Only under this key a signature is in a list. */
const listKey = 'thought_signatures'

/**
 * The protocol defines no field for the signature of a call or a text. These are the paths that its
 * servers and clients use.
 */
const places = [
  // What only this library reads. It says more than a bare signature does.
  ['extra_content', 'wireglot', 'signature'],
  // Google's compatible endpoint.
  ['extra_content', 'google', 'thought_signature'],
  // Gateways in front of its cloud.
  ['extra_content', 'vertex', 'thought_signature'],
  // Other proxies.
  ['provider_specific_fields', 'thought_signature'],
  ['function', 'provider_specific_fields', 'thought_signature'],
  // The same as a list, of which the first is that of the call.
  ['provider_specific_fields', listKey],
  ['function', 'provider_specific_fields', listKey],
] as const
const [ours, ofGoogle, ofCloud, ofProxy] = places

type Carried = {
  signature?: Signature
  /** Reasoning details that the signature of a call carries. */
  load?: Load
  /** The fields that held it, unchanged. */
  original: JsonObject
  /** The node without these fields. */
  left: JsonObject
}

/**
 * The issuer of a signature in these fields, by sender. A client sends back what was written for
 * it. The signature of a server of this protocol must come back to that server, the only one known
 * to take it in this shape.
 */
export const carriedIssuer = {
  client: 'generate-content',
  server: `${protocolName}/google`,
} as const

/** The same for a server that is a proxy: it looks for the signature in its own field. */
const proxyIssuer = `${protocolName}/proxy`
const cloudIssuer = `${protocolName}/vertex`

/** The issuer of a signature of a server at this path. */
const issuerAt = (path: (typeof places)[number], issuer: string): string => {
  if (issuer !== carriedIssuer.server || path === ofGoogle) return issuer
  return path === ofCloud ? cloudIssuer : proxyIssuer
}

/** `node`: a call, a message or a delta; `issuer`: one of `carriedIssuer`. */
export function readCarried(node: JsonObject, issuer: string): Carried {
  const carried: Carried = { original: {}, left: node }
  for (const path of places) {
    if (carried.left[path[0]] === undefined) continue
    const { value, original, left } = take(carried.left, path)
    if (value === undefined) continue
    const { signature, load } = open(value, issuerAt(path, issuer))
    if (signature) carried.signature ??= signature
    if (load) carried.load ??= load
    carried.original = merge(carried.original, nest(path, original))
    carried.left = left ?? {}
  }
  return carried
}

function open(value: string, issuer: string): Pick<Carried, 'signature' | 'load'> {
  if (!isEnvelope(value)) return { signature: { value, issuer, form: 'thought' } }
  const envelope = unwrapSignature(value)
  // A damaged envelope gives no signature.
  if (envelope?.attach !== attach) return omitUndefined({ signature: envelope?.signature })
  const { details, units, own } = parseObject(envelope.signature.value) ?? {}
  const load = {
    details: Array.isArray(details) ? details : [],
    units: typeof units === 'number' ? units : 0,
  }
  return omitUndefined({
    signature: typeof own === 'string' ? open(own, issuer).signature : undefined,
    load,
  })
}

/**
 * What LiteLLM puts between the id of a call and its signature, for clients that keep nothing but
 * ids.
 */
const separator = '__thought__'

/**
 * The signature inside an id of a call as LiteLLM writes it. The id stays as it is: the result of
 * the call has it, too.
 */
export function thoughtInId(id: string, issuer: string): Signature | undefined {
  const cut = id.indexOf(separator)
  const value = cut > 0 ? id.slice(cut + separator.length) : ''
  if (value === '') return undefined
  return { value, issuer: issuer === carriedIssuer.server ? proxyIssuer : issuer, form: 'thought' }
}

/** The path to the first leaf of `original`. */
export function pathIn(original: JsonObject): string {
  const [[key, value] = ['', undefined]] = Object.entries(original)
  return isObject(value) ? `${key}/${pathIn(value)}` : key
}

/**
 * Takes the text at the end of a path out, or the list that begins with it. `left` is undefined
 * when nothing else remains.
 */
function take(
  from: JsonObject,
  [key = '', ...inner]: readonly string[],
): { value?: string; original?: unknown; left: JsonObject | undefined } {
  const found = from[key]
  const inside: ReturnType<typeof take> =
    isObject(found) && inner.length > 0 ? take(found, inner) : { left: undefined }
  const first: unknown = key === listKey && Array.isArray(found) ? found[0] : found
  const leaf = typeof first === 'string' && first ? first : undefined
  const value = inner.length > 0 ? inside.value : leaf
  if (value === undefined) return { left: from }
  const { [key]: _, ...rest } = from
  return {
    value,
    original: inner.length > 0 ? inside.original : found,
    left: some(inside.left ? { ...rest, [key]: inside.left } : rest),
  }
}

const nest = ([key = '', ...inner]: readonly string[], value: unknown): JsonObject => ({
  [key]: inner.length > 0 ? nest(inner, value) : value,
})

const some = (object: JsonObject) => (Object.keys(object).length > 0 ? object : undefined)

/**
 * The wire fields of a signature. A signature of Google is bare in its field, so that Google's
 * endpoint accepts the history too; the rest is in other fields.
 */
export function encodeCarried(signature: Signature): ChatCompletionsSignatureFields {
  if (signature.issuer === proxyIssuer) return nest(ofProxy, signature.value)
  if (signature.issuer === cloudIssuer) return nest(ofCloud, signature.value)
  const bare = isGoogles(signature) ? nest(ofGoogle, signature.value) : {}
  return isGoogles(signature) && signature.model === undefined
    ? bare
    : merge(bare, nest(ours, wrapSignature({ signature })))
}

/** A call with what servers of Gemini accept instead of its signature. The same if it has one. */
export const withPlaceholder = (call: JsonObject): JsonObject =>
  readCarried(call, carriedIssuer.server).signature
    ? call
    : (merge(call, nest(ofGoogle, placeholder)) as JsonObject)

const isGoogles = ({ issuer, form }: Signature) =>
  Object.values<string>(carriedIssuer).includes(issuer) && form === 'thought'

/**
 * Does a server that does not open envelopes take the signature? One of Google's that came bare
 * belongs to the server that the client speaks to.
 */
export const isTaken = (signature: Signature, { native }: { native: boolean }): boolean =>
  isOwnIssuer(signature.issuer) || (native && signature.model === undefined && isGoogles(signature))

/** Was it signed by a server of this protocol? */
export const isOwnIssuer = (issuer: string): boolean =>
  issuer === protocolName || issuer.startsWith(`${protocolName}/`)

const textOf = (signature: Signature) =>
  isGoogles(signature) && signature.model === undefined
    ? signature.value
    : wrapSignature({ signature })

/** Reasoning details, and the UTF-16 units of text between the previous call and this one. */
export type Load = { details: readonly unknown[]; units: number }

/** The `attach` value of an envelope that carries a `Load`. */
const attach = 'details'

/** The same with a load. `signature`: the call's own, if it has one. */
export function encodeLoaded(
  load: Load,
  signature: Signature | undefined,
): ChatCompletionsSignatureFields {
  const value = JSON.stringify(omitUndefined({ ...load, own: signature && textOf(signature) }))
  return nest(ofGoogle, wrapSignature({ signature: { value, issuer: protocolName }, attach }))
}

/**
 * Signatures of reasoning that the caller stores, for clients that send back only the fields they
 * know. They are returned next to the message as text, by the id of its first call: a tool loop
 * needs them, and of what such a client sends back only the call id is sure to be unique among
 * conversations. Nothing is stored here: the caller gets the text and passes it in again, so that
 * translation stays pure, whatever the store is and however slow.
 */
export type StoredSignatures = Record<string, string>

/**
 * Moves the signatures of a complete message into `stored`. Changes the message. False: it has
 * signatures, but no call whose id could be the key.
 */
export function takeOut(
  message: ChatCompletionsWrittenAssistant,
  stored: StoredSignatures,
): boolean {
  const { reasoning_details: details, tool_calls } = message
  const calls = callsOf(tool_calls)
  const extra = Object.fromEntries(
    flatMap(calls, call =>
      'extra_content' in call ? [[String(call['id']), call['extra_content']]] : [],
    ),
  )
  delete message.reasoning_details
  for (const call of calls) delete call['extra_content']
  return keep(stored, calls[0]?.['id'], { details, extra })
}

/** Puts signatures into `stored`, with the same result as `takeOut`. */
export function keep(
  stored: StoredSignatures,
  id: unknown,
  { details, extra }: { details: unknown; extra: JsonObject },
): boolean {
  const some = Array.isArray(details) && details.length > 0
  if (!some && Object.keys(extra).length === 0) return true
  if (typeof id !== 'string') return false
  Object.defineProperty(stored, id, {
    value: JSON.stringify({ ...(some && { details }), extra }),
    enumerable: true,
    configurable: true,
    writable: true,
  })
  return true
}

/** Makes the note for signatures of a message at this path that `keep` did not take. */
export function noteUnstored(
  parts: readonly Part[],
  at: Place | undefined,
  report: ChatCompletionsReport,
): void {
  const signed = parts.find(part => part.type === 'reasoning' && part.signature)
  report.add('reasoning.signature-dropped', signed ? signed.at : at, signed && 'signature')
}

/** Restores the stored fields of a message. Fields that the message already has are not changed. */
export function putBack<T extends JsonObject>(
  message: T,
  lookUp: ((callId: string) => string | undefined) | undefined,
): T {
  const calls = callsOf(message['tool_calls'])
  const id = calls[0]?.['id']
  const found = lookUp && typeof id === 'string' ? lookUp(id) : undefined
  const stored = found === undefined ? undefined : parseObject(found)
  if (!stored) return message
  const { details, extra } = stored
  const signatures = new Map(Object.entries(isObject(extra) ? extra : {}))
  return {
    ...message,
    ...(message['reasoning_details'] == null &&
      details !== undefined && { reasoning_details: details }),
    tool_calls: calls.map(call => {
      const signature = signatures.get(String(call['id']))
      return call['extra_content'] == null && signature !== undefined
        ? { ...call, extra_content: signature }
        : call
    }),
  }
}

/** The call ids that `putBack` will ask for. */
export function storedSignatureKeys(request: unknown): string[] {
  const messages = isObject(request) ? request['messages'] : undefined
  return flatMap(callsOf(messages), message => {
    const id = callsOf(message['tool_calls'])[0]?.['id']
    return typeof id === 'string' ? [id] : []
  })
}

const callsOf = (calls: unknown): JsonObject[] =>
  Array.isArray(calls) ? calls.filter(isObject) : []
