import type { Part, ReasoningPart } from '../../canonical/message.ts'
import { holdsEnvelope } from '../../kit/envelope.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { mapCallId } from '../../kit/ids.ts'
import { isObject, type JsonObject, merge, only, same, without } from '../../kit/json.ts'
import { validCallId } from './calls.ts'
import { isOutOfOrder, needsOrder, type Piece, type Recorded, record, type TextSignature } from './layout.ts'
import { protocolName } from './own.ts'
import { blocksOfProxy, decodeReasoning, encodeDetails, encodeLiteBlocks, isOwnIssuer, needsDetails, reasoningText } from './reasoning.ts'
import { encodeCarried, readCarried } from './signatures.ts'
import { type AssistantToWrite, opensEnvelopes, type Writing } from './writing.ts'

/**
 * The protocol defines no field for reasoning. These are the fields that its servers and clients use, in request messages,
 * replies and deltas alike.
 */
const carrierKeys = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks', 'reasoning_signature'] as const

/** Takes the carriers of reasoning out of a message. Those of an unexpected type stay among the unknown keys. */
export function splitCarriers(unknown: JsonObject): { carriers: JsonObject; rest: JsonObject } {
  // Most messages have no further keys.
  if (Object.keys(unknown).length === 0) return { carriers: {}, rest: unknown }
  const { came, left } = readCarried(unknown, protocolName)
  const taken = carrierKeys.filter(key => carries(key, unknown[key]))
  const carriers = Object.assign({}, came, only(unknown, taken))
  const rest = taken.length === 0 ? left : without(left, taken)
  const { came: again, left: others } = splitProxyBlocks(rest, carriers['thinking_blocks'])
  return { carriers: merge(carriers, again), rest: others }
}

/** Takes `thinking_blocks` out of `provider_specific_fields`, where a proxy repeats them. `blocks`: the value of its top-level field. */
export function splitProxyBlocks(fields: JsonObject, blocks: unknown): { came: JsonObject; left: JsonObject } {
  const again = blocksOfProxy(fields)
  const { provider_specific_fields: beside, ...left } = fields
  if (!isObject(beside) || !Array.isArray(again) || (blocks !== undefined && !same(blocks, again))) return { came: {}, left: fields }
  const { thinking_blocks, ...others } = beside
  return {
    came: { provider_specific_fields: { thinking_blocks } },
    left: Object.keys(others).length > 0 ? { ...left, provider_specific_fields: others } : left,
  }
}

/** Entries come in lists, texts as they are; several signatures come in a list, too. */
function carries(key: (typeof carrierKeys)[number], value: unknown): boolean {
  if (typeof value === 'string') return key !== 'reasoning_details' && key !== 'thinking_blocks'
  return Array.isArray(value) && key !== 'reasoning_content' && key !== 'reasoning'
}

const carried: [key: string, known: ReadonlySet<string>][] = [
  ['reasoning_details', new Set(['type', 'text', 'summary', 'data', 'signature', 'id', 'format', 'index'])],
  ['thinking_blocks', new Set(['type', 'thinking', 'signature', 'data'])],
]

/** Unknown keys of the entries of carriers, under the key of the list that holds them. */
export function unknownOfCarriers(carriers: JsonObject): JsonObject {
  const unknown: JsonObject = {}
  for (const [key, known] of carried) {
    const entries = carriers[key]
    if (!Array.isArray(entries)) continue
    const left = entries.map((entry: unknown) => (isObject(entry) ? unknownOf(entry, known) : entry))
    if (left.some(one => !isObject(one) || Object.keys(one).length > 0)) unknown[key] = left
  }
  const blocks = carriers['thinking_blocks'] === undefined ? blocksOfProxy(carriers) : undefined
  if (!Array.isArray(blocks)) return unknown
  const left = unknownOfCarriers({ thinking_blocks: blocks })
  return Object.keys(left).length > 0 ? { ...unknown, provider_specific_fields: left } : unknown
}

/** Removes unknown keys that were restored for entries of a carrier (such as `reasoning_details`) that is not written. */
export function withoutRemains(message: JsonObject, carriers: unknown, written: JsonObject): JsonObject {
  if (!isObject(carriers)) return message
  const left = { ...message }
  for (const [key] of carried) if (Array.isArray(carriers[key]) && !Object.hasOwn(written, key)) delete left[key]
  const { provider_specific_fields: beside } = left
  if (!blocksOfProxy(carriers) || written['provider_specific_fields'] || !isObject(beside)) return left
  const { thinking_blocks: _, ...others } = beside
  return { ...left, provider_specific_fields: others }
}

const types = new Set<unknown>(['reasoning.text', 'reasoning.summary', 'reasoning.encrypted', 'thinking', 'redacted_thinking'])

/** The unknown keys of an entry. A known key with a value of another type also counts as unknown. */
function unknownOf(entry: JsonObject, known: ReadonlySet<string>): JsonObject {
  const isKnown = (name: string, value: unknown) =>
    value === null || (known.has(name) && (name === 'type' ? types.has(value) : typeof value === (name === 'index' ? 'number' : 'string')))
  return Object.fromEntries(Object.entries(entry).filter(([name, value]) => !isKnown(name, value)))
}

/** Writes the carriers of reasoning. Those that came are written again if the parts are unchanged. */
export function encodeCarriers(
  reasoning: readonly ReasoningPart[],
  from: AssistantToWrite,
  { form, writing }: { form: JsonObject; writing: Writing },
): JsonObject {
  const { report, options } = writing
  const { towards, at } = from
  const { carriers } = form
  const opens = opensEnvelopes(towards, options)
  const allowed = from.reasoning === 'all' && options.ccReasoning !== 'omit'
  const pieces = piecesOf(from.parts, writing).filter(({ kind }) => allowed || kind !== 'reasoning')
  // Servers get no layout, and most messages came without carriers to compare with.
  const recorded: Recorded = opens || isObject(carriers) ? record(pieces) : { textSignatures: [] }
  const { textSignatures } = recorded
  // A server that does not open envelopes must not get one that a client sent back.
  const sendable = opens || !holdsEnvelope(carriers)
  if (isObject(carriers) && sendable && (allowed || (writing.native && options.ccReasoningInHistory === undefined && towards === 'server'))) {
    const again = decodeReasoning(carriers, at ?? '', towards === 'server' ? 'client' : 'server')
    const proofs = (list: readonly TextSignature[]) => list.map(({ signature }) => signature)
    if (same(again.parts, reasoning) && same(proofs(again.textSignatures), proofs(textSignatures))) return carriers
  }
  const ownText = encodeTextProof(from, writing)
  const noteOrder = () => {
    if (!writing.native && isOutOfOrder(pieces)) report.add('parts.order-lost', at)
  }
  if (!opens || !allowed) noteOrder()
  if (!allowed) {
    for (const part of reasoning) report.add('reasoning.dropped', part.at)
    return ownText
  }
  for (const part of reasoning) noteReasoning(part, towards, writing)
  const usable = reasoning.map(part => keepSignature(part, towards, writing))

  const field = options.ccReasoning ?? 'reasoning_content'
  const text = reasoningText(usable)
  const written: JsonObject = {}
  if (text && field !== 'details') written[field] = text
  const parts = usable.filter(({ segments, signature, id }) => segments.length > 0 || signature || id !== undefined)
  const detailed =
    (towards === 'client' || usable.some(({ signature }) => signature) || field === 'details') &&
    (field === 'details' ? usable.length > 0 : needsDetails(usable))
  const { blocks, left } = opens ? { blocks: [], left: parts } : encodeLiteBlocks(parts)
  if (blocks.length > 0) written['thinking_blocks'] = blocks
  const details: Recorded = opens ? recorded : { textSignatures: [] }
  const proves = details.textSignatures.length > 0 || (opens && hasPhase(from.parts))
  if ((detailed || proves) && options.ccSignature !== 'none' && (opens || left.length > 0))
    written['reasoning_details'] = encodeDetails({ parts: left, ...details })
  else if (opens && !writing.native && needsOrder(pieces)) report.add('parts.order-lost', at)
  if (!written['reasoning_details']) for (const { id, at } of left) report.onceEach('message.ids', at, { itemId: id })
  if (!writing.native && Object.keys(written).length > 0) {
    for (const part of usable) report.once('reasoning.dialect-field', part.at ?? at)
    if (usable.length === 0 && details.textSignatures.length > 0) report.once('reasoning.dialect-field', at)
  }
  return { ...written, ...ownText }
}

export const hasPhase = (parts: readonly Part[]) => parts.some(part => part.type === 'text' && part.phase && part.text !== '')

/** The parts that a layout records, in their order. */
export function piecesOf(parts: readonly Part[], { native }: Pick<Writing, 'native'>): Piece[] {
  return flatMap(parts, (part): Piece[] => {
    if (part.type === 'reasoning') return [{ kind: 'reasoning' }]
    if (part.type === 'text') return [{ kind: 'text', text: part.text, phase: part.phase ?? undefined, signature: part.signature }]
    return part.type === 'tool-call' ? [{ kind: 'call', id: native ? part.id : mapCallId(part.id, validCallId) }] : []
  })
}

/** Signatures of texts. Who opens envelopes gets them with the layout. Another server gets only that of the last signed text, if a server of this protocol signed it. */
function encodeTextProof({ parts, towards }: AssistantToWrite, { report, options }: Writing): JsonObject {
  const signed = flatMap(parts, part => (part.type === 'text' && part.signature ? [{ at: part.at, signature: part.signature }] : []))
  if (towards === 'client') {
    if (options.ccSignature === 'none' || options.ccReasoning === 'omit')
      for (const { at } of signed) report.add('reasoning.signature-dropped', at, 'signature')
    return {}
  }
  if (opensEnvelopes(towards, options)) return {}
  const last = signed.at(-1)
  const written = last && isOwnIssuer(last.signature.issuer) ? last : undefined
  for (const one of signed) if (one !== written) report.add('reasoning.foreign-signature', one.at, 'signature')
  return written ? encodeCarried(written.signature) : {}
}

function noteReasoning(
  { at, ext, cache, type: _, segments: _segments, redacted: _redacted, id: _id, signature: _signature, ...rest }: ReasoningPart,
  towards: string,
  { report }: Writing,
): void {
  if (cache && towards === 'server') report.add('cache.place', at, 'cache')
  report.rest(rest, at)
  report.ext(ext, at)
}

/** The part, without its signature if the receiver cannot use it. */
function keepSignature(part: ReasoningPart, towards: 'client' | 'server', { report, options }: Writing): ReasoningPart {
  const { signature, ...rest } = part
  if (!signature) return part
  if (towards === 'client' && options.ccSignature !== 'none') return part
  if (towards === 'server' && (isOwnIssuer(signature.issuer) || opensEnvelopes(towards, options))) return part
  report.add(towards === 'client' ? 'reasoning.signature-dropped' : 'reasoning.foreign-signature', part.at, part.redacted ? 'redacted' : 'signature')
  return rest
}
