import type { Part, Place, Signature, ToolCallPart } from '../../../canonical/message.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import { mapCallId } from '../../../kit/conversation/ids.ts'
import { bookOf, keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullishOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, same } from '../../../kit/json/json.ts'
import { pointerOf } from '../../../kit/notes/path.ts'
import { joinId, splitId } from '../../../kit/signatures/envelope.ts'
import { objectText, readInput } from '../../../kit/tools/object-input.ts'
import { flatName, responseToolName } from '../../../kit/tools/tool-names.ts'
import type { TranslationContext } from '../../../protocol.ts'
import { type ChatCompletionsReport, keep, protocolName, wireOf, withInner } from '../own.ts'
import type { ChatCompletionsFunctionCall, ChatCompletionsToolCall } from '../schema.ts'
import type {
  ChatCompletionsCalled,
  ChatCompletionsSignatureFields,
  ChatCompletionsWrittenCall,
} from '../written.ts'
import { carriedIssuer, encodeCarried, isTaken, readCarried, thoughtInId } from './signatures.ts'
import { opensEnvelopes, type PartWriting, type Reading } from './writing.ts'

/** Call ids that every server of this protocol accepts. */
export const validCallId = /^[\x21-\x7e]{1,40}$/

type CallHead = Pick<ToolCallPart, 'id' | 'name' | 'kind' | 'input'> & {
  signature?: Signature | undefined
  unknown: JsonObject | undefined
}

/** What a call says, or a delta of one. Without an id, it is empty. */
export type CallRead = CallHead & { index: unknown; isObjectInput: boolean }

/** `issuer`: of a signature that the call carries. */
export function readCall(wire: JsonObject, issuer: string): CallRead {
  const { signature: beside, left } = readCarried(wire, issuer)
  const { id, type, index, ...fields } = left
  const isFreeform = type === 'custom' || (!type && isObject(fields['custom']))
  const key = isFreeform ? 'custom' : 'function'
  const word = isFreeform ? 'input' : 'arguments'
  const { [key]: body, ...outer } = fields
  const { name, [word]: input, ...inner } = isObject(body) ? body : ({} as JsonObject)
  const given = typeof id === 'string' ? id : ''
  const { id: called, signature = beside ?? thoughtInId(given, issuer) } = splitId(given)
  const strange = {
    id: typeof id === 'string' ? null : id,
    type: type === '' || type === 'function' || type === 'custom' ? null : type,
    [key]: isObject(body) ? null : body,
    index: typeof index === 'number' ? null : index,
  }
  return {
    id: called,
    index,
    name: typeof name === 'string' ? name : '',
    kind: isFreeform ? 'freeform' : 'function',
    input: readInput(input),
    isObjectInput: isObject(input),
    signature,
    unknown: withInner(omitNullishOrNone({ ...outer, ...strange }), key, omitNullishOrNone(inner)),
  }
}

export const noteInput = (read: CallRead, at: Place, report: ChatCompletionsReport): void =>
  read.isObjectInput ? report.add('tool-call.input-object', at, 'function/arguments') : undefined

/** The part of a call. `isMadeUp`: its id. */
export function callPart(
  { id, name, kind, input, signature, unknown }: CallHead,
  isMadeUp: boolean,
  at: Place,
): ToolCallPart {
  const part: ToolCallPart = { type: 'tool-call', id, name, kind, input, at }
  if (isMadeUp) part.idOrigin = 'synthesized'
  if (signature) part.signature = signature
  return keep(part, unknown)
}

/** One of `tool_calls`. `ordinal`: its index in the list. */
export function decodeCall(
  wire: ChatCompletionsToolCall,
  { at, ordinal, reading }: { at: Place; ordinal: number; reading: Reading },
): Part {
  const { type } = wire
  const read = readCall(wire, carriedIssuer[reading.from])
  const { id, index, kind, unknown } = read
  const key = kind === 'freeform' ? 'custom' : 'function'
  if (!isObject(wire[key]) || (type && type !== key))
    return { type: 'opaque', protocol: protocolName, raw: wire, at }
  noteInput(read, at, reading.report)
  // An `index` equal to the place in the list is not kept as an unknown key.
  if (typeof index === 'number' && index !== ordinal) read.unknown = { ...unknown, index }
  return callPart({ ...read, id: id || reading.idOf(ordinal) }, id === '', at)
}

const legacyKeys = keysOf<ChatCompletionsFunctionCall>()('name arguments')

/** The older single call of a message. */
export const decodeLegacyCall = (
  wire: ChatCompletionsFunctionCall,
  at: Place,
  id: string,
): ToolCallPart => {
  const { name, arguments: input } = wire
  const unknown = unknownOf(wire, legacyKeys)
  return callPart({ id, name, kind: 'function', input: readInput(input), unknown }, true, at)
}

/**
 * Does the client know only the older `function_call`, of which a response has one? This is so if
 * it declared `functions` and no `tools`.
 */
export function takesOneCall({ from, request }: Partial<TranslationContext> = {}): boolean {
  const callable = request?.tools?.filter(({ type }) => type !== 'server') ?? []
  return (
    from === protocolName &&
    callable.length > 0 &&
    callable.every(({ at }) => at !== undefined && pointerOf(at).startsWith('/functions/'))
  )
}

/** The part of a request that `takesOneCall` needs when the response is encoded. */
export function remembered(request: CanonicalRequest): Pick<CanonicalRequest, 'tools'> {
  const { tools = [] } = request
  return takesOneCall({ from: protocolName, request })
    ? { tools: tools.filter(({ type }) => type !== 'server') }
    : {}
}

/**
 * Is it a second call, for a client that knows one only? Then it is left out. `has`: one is written.
 */
export function isOneTooMany({ at }: ToolCallPart, has: boolean, { report }: PartWriting): boolean {
  if (has) report.add('tool-call.single', at)
  return has
}

/** Makes the note for the signature of a call that the client does not get. */
export const noteLostSignature = ({ at }: ToolCallPart, { report }: PartWriting) =>
  report.add('reasoning.signature-dropped', at, 'signature')

export function encodeLegacyCall(part: ToolCallPart, writing: PartWriting): ChatCompletionsCalled {
  const { report } = writing
  noteBeside(part, writing)
  if (part.signature) noteLostSignature(part, writing)
  const wire = wireOf<ChatCompletionsCalled>(
    { name: flatName(part.name, part.namespace), arguments: inputOf(part, 'client', writing) },
    part.ext,
  )
  if (isMadeUp(part, writing)) report.addMade('tool-call.empty-input', wire, '/arguments')
  return wire
}

const handled = bookOf<ToolCallPart>()(
  { 'message.ids': 'itemId status' },
  'type id idOrigin name namespace kind input signature caller async cache cut at ext',
)

/** Makes notes for the fields of a call that no spelling of calls has. */
function noteBeside(part: ToolCallPart, { report, native }: PartWriting): void {
  const { caller, async, at } = part
  report.node(part, handled)
  if (!isDirect(caller)) report.rest({ caller }, at)
  if (async) report.rest({ async }, at)
  if (part.cache && !native) report.add('cache.unsupported', at, 'cache')
}

export function encodeCall(
  part: ToolCallPart,
  recipient: 'client' | 'server',
  writing: PartWriting,
): ChatCompletionsWrittenCall {
  const { id, name, namespace, at } = part
  const { report } = writing
  noteBeside(part, writing)
  // In a request, the passes over the conversation have set it.
  const written = recipient === 'server' || writing.native ? id : mapCallId(id, validCallId)
  if (written !== id) report.add('tool-call.id', at, 'id')
  const signature = encodeSignature(part, written, { recipient, writing })
  const called = responseToolName(name, namespace, at, report)
  const known: ChatCompletionsWrittenCall =
    part.kind === 'function'
      ? {
          id: signature.id,
          type: 'function',
          function: { name: called, arguments: inputOf(part, recipient, writing) },
        }
      : { id: signature.id, type: 'custom', custom: { name: called, input: part.input } }
  const wire = wireOf<ChatCompletionsWrittenCall>(
    signature.beside ? Object.assign(known, signature.beside) : known,
    part.ext,
  )
  if (isMadeUp(part, writing)) report.addMade('tool-call.empty-input', wire, '/function/arguments')
  return wire
}

/** True if the model made the call: the default, which this wire cannot express. */
export const isDirect = (caller: unknown): boolean =>
  caller === undefined || same(caller, { type: 'direct' })

/** Many servers parse the arguments of earlier calls, and refuse or drop what is no object. */
function inputOf(part: ToolCallPart, recipient: 'client' | 'server', writing: PartWriting): string {
  if (isMadeUp(part, writing)) return '{}'
  if (recipient === 'client' || writing.native || part.kind === 'freeform') return part.input
  const text = objectText(part.input)
  if (text !== part.input) writing.report.add('tool-call.input', part.at, 'input')
  return text
}

/**
 * Does the call get made-up arguments? Function calls without arguments get an empty object,
 * because servers parse the arguments.
 */
function isMadeUp({ input, kind, cut }: ToolCallPart, { native }: PartWriting): boolean {
  return !native && kind === 'function' && !cut && !/\S/.test(input)
}

/**
 * Writes the signature of a call into its id, unless that is empty, or next to it. A server that does not open envelopes
 * must not get one that a client sent back.
 */
export function encodeSignature(
  { signature, at }: ToolCallPart,
  id: string,
  { recipient, writing }: { recipient: 'client' | 'server'; writing: PartWriting },
): { id: string; beside?: ChatCompletionsSignatureFields } {
  if (!signature || thoughtInId(id, '')?.value === signature.value) return { id }
  const { signatures } = writing.options
  if (recipient === 'client' && signatures === 'id' && id) return { id: joinId(id, signature) }
  const opens = opensEnvelopes(recipient, writing.options)
  if (recipient === 'client' ? signatures !== 'none' : opens || isTaken(signature, writing))
    return { id, beside: encodeCarried(signature) }
  writing.report.add(
    recipient === 'client' ? 'reasoning.signature-dropped' : 'reasoning.foreign-signature',
    at,
    'signature',
  )
  return { id }
}
