import type { Part, Place, ToolCallPart } from '../../canonical/message.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { defined } from '../../kit/defined.ts'
import { holdsEnvelope, joinId, splitId } from '../../kit/envelope.ts'
import { wrapInput } from '../../kit/freeform.ts'
import { hashId, mapCallId } from '../../kit/ids.ts'
import { isObject, type JsonObject, merge, same } from '../../kit/json.ts'
import type { TranslationContext } from '../../protocol.ts'
import type { ChatReport } from './notes.ts'
import { keep, ownForm, ownOf, protocolName, splitNulls, under, wireOf } from './own.ts'
import type { Reading } from './reading.ts'
import { isOwnIssuer } from './reasoning.ts'
import type { ChatToolCall } from './schema.ts'
import { carriedIssuer, encodeCarried, readCarried, thoughtInId } from './signatures.ts'
import { noteName } from './tools.ts'
import { opensEnvelopes, type Writing } from './writing.ts'

/** Call ids that every server of this protocol accepts. */
export const validCallId = /^[\x21-\x7e]{1,40}$/

/** The id of a call as the receiver accepts it. `mistralIds` concerns only servers. */
export function encodeCallId(id: string, towards: 'client' | 'server', { native, options }: Writing): string {
  if (native) return id
  if (towards === 'client' || !options.mistralIds) return mapCallId(id, validCallId)
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hashId(id, 9)
}

export function readInput(input: unknown): { input: string } {
  if (typeof input === 'string') return { input }
  return { input: input === undefined || input === null ? '' : JSON.stringify(input) }
}

/** One of `tool_calls`. `ordinal`: its index in the list. */
export function decodeCall(wire: ChatToolCall, { at, ordinal, reading }: { at: Place; ordinal: number; reading: Reading }): Part {
  const { present: call, nothing } = splitNulls(wire)
  const { id, type, index, ...others } = call
  // An `index` equal to the place in the list is not kept as an unknown key.
  const whole = index === undefined || index === ordinal ? others : { ...others, index }
  const { signature: beside, came, left: more } = readCarried(whole, carriedIssuer[reading.from])
  const { id: called, signature = beside ?? thoughtInId(id ?? '', carriedIssuer[reading.from]) } = splitId(id ?? '')
  const link = called ? { id: called } : { id: reading.idOf(ordinal), idOrigin: 'synthesized' as const }
  const form = {
    id: id === '' || id !== called ? id : undefined,
    typeless: type === undefined || undefined,
    extra: beside && came,
    index: index === ordinal ? index : undefined,
  }
  const [kind, key, word] = type === 'custom' ? (['freeform', 'custom', 'input'] as const) : (['function', 'function', 'arguments'] as const)
  const { [key]: body, ...unknown } = more
  if (isObject(body) && (type === undefined || type === key)) {
    const { name, [word]: input, ...inner } = body as { name: string; input?: unknown; arguments?: unknown }
    if (isObject(input)) reading.report.add('tool-call.input-object', at, 'function/arguments')
    const spelled = typeof input === 'string' ? {} : word in body ? { input } : { inputless: true }
    return {
      type: 'tool-call',
      ...link,
      name,
      kind,
      ...readInput(input),
      at,
      ...(signature && { signature }),
      ...keep({ ...unknown, ...under(key, inner) }, nothing, { ...form, ...spelled }),
    }
  }
  return { type: 'opaque', protocol: protocolName, raw: wire, at, ...keep({}, {}, { place: 'tool_calls' }) }
}

/** Does the client know only the older `function_call`, of which a reply has one? This is so if it declared `functions` and no `tools`. */
export function takesOneCall({ from, request }: Partial<TranslationContext> = {}): boolean {
  const callable = request?.tools?.filter(({ type }) => type !== 'server') ?? []
  return from === protocolName && callable.length > 0 && callable.every(({ ext }) => ownForm(ext)?.['legacy'] === true)
}

/** The part of a request that `takesOneCall` needs when the reply is encoded. */
export function remembered(request: CanonicalRequest): Pick<CanonicalRequest, 'tools'> {
  const { tools = [] } = request
  return takesOneCall({ from: protocolName, request }) ? { tools: tools.filter(({ type }) => type !== 'server') } : {}
}

export function encodeLegacyCall(part: ToolCallPart, writing: Writing): JsonObject {
  const { report } = writing
  noteBeside(part, report)
  if (part.signature) report.add('reasoning.signature-dropped', part.at, 'signature')
  const wire = wireOf({ name: writing.nameOf(part.name, part.namespace), arguments: spelledInput(part) }, part.ext)
  if (isMadeUp(part)) report.addMade('tool-call.empty-input', wire, '/arguments')
  return wire
}

/** Makes notes for the fields of a call that no spelling of calls has. */
export function noteBeside(part: ToolCallPart, report: ChatReport): void {
  const { type: _, id: _id, idOrigin, name, namespace, kind, input, signature, itemId, status, caller, async, cache, cut, at, ext, ...rest } = part
  report.rest(rest, at)
  if (!isDirect(caller)) report.rest({ caller }, at)
  if (async) report.rest({ async }, at)
  if (cache) report.add('cache.place', at, 'cache')
  report.onceEach('message.ids', at, { itemId, status })
  report.ext(ext, at)
}

export function encodeCall(part: ToolCallPart, towards: 'client' | 'server', writing: Writing): JsonObject {
  const { id, idOrigin, name, namespace, at, ext } = part
  const wraps = towards === 'server' && writing.wraps === true && part.kind === 'freeform'
  const kind = wraps ? 'function' : part.kind
  const { report } = writing
  const form = ownForm(ext) ?? {}
  const isOwn = ownOf(ext) !== undefined
  noteBeside(part, report)
  writing.calls.set(id, part)
  const written = encodeCallId(id, towards, writing)
  if (written !== id) report.add('tool-call.id', at, 'id')
  const proof = encodeProof(part, written, { towards, writing })
  const shownId = isOwn && idOrigin === 'synthesized' ? (form['id'] as string | undefined) : proof.id
  const type = form['typeless'] ? undefined : kind === 'function' ? 'function' : 'custom'
  const text = wraps ? wrapInput(part.input) : spelledInput(part)
  if (wraps) report.add('freeform.wrapped', at)
  const called = noteName(name, namespace, { at, writing })
  const inner = kind === 'function' ? { function: defined({ name: called, arguments: text }) } : { custom: defined({ name: called, input: text }) }
  const wire = wireOf(merge({ id: shownId, type, ...inner, ...(isOwn && { index: form['index'] }) }, proof.beside), ext)
  if (isMadeUp(part)) report.addMade('tool-call.empty-input', wire, '/function/arguments')
  return wire
}

/** Does the model itself call, which is not told here? */
export const isDirect = (caller: unknown): boolean => caller === undefined || same(caller, { type: 'direct' })

/** The arguments to write: as they came if they are unchanged. Those of a function are never empty, see `isMadeUp`. */
function spelledInput(part: ToolCallPart): unknown {
  const { input, ext } = part
  const form = ownForm(ext) ?? {}
  if (form['inputless'] && input === '') return undefined
  if ('input' in form && readInput(form['input']).input === input) return form['input']
  return isMadeUp(part) ? '{}' : input
}

/** Does the call get made-up arguments? Function calls without arguments get an empty object, because servers parse the arguments. */
function isMadeUp({ input, kind, cut, ext }: ToolCallPart): boolean {
  return input.trim() === '' && kind === 'function' && !cut && !ownOf(ext)
}

/**
 * Writes the signature of a call into its id or beside it, as it came if it is unchanged. A server that does not open envelopes
 * must not get one that a client sent back.
 */
function encodeProof(
  { signature, ext, at }: ToolCallPart,
  id: string,
  { towards, writing }: { towards: 'client' | 'server'; writing: Writing },
): { id: string; beside: JsonObject } {
  if (!signature || thoughtInId(id, '')?.value === signature.value) return { id, beside: {} }
  const { extra, id: came } = ownForm(ext) ?? {}
  const beside = isObject(extra) ? extra : {}
  const inId = towards === 'client' && typeof came === 'string' && same(splitId(came), { id, signature })
  const opens = opensEnvelopes(towards, writing.options)
  const sendable = opens || !holdsEnvelope(beside)
  if (inId || (sendable && same(readCarried(beside, signature.issuer).signature, signature))) return { id: inId ? came : id, beside }
  const { ccSignature } = writing.options
  if (towards === 'client' && ccSignature === 'id') return { id: joinId(id, signature), beside: {} }
  if (towards === 'client' ? ccSignature !== 'none' : opens || isOwnIssuer(signature.issuer)) return { id, beside: encodeCarried(signature) }
  writing.report.add(towards === 'client' ? 'reasoning.signature-dropped' : 'reasoning.foreign-signature', at, 'signature')
  return { id, beside: {} }
}
