import type { Part, Place, ReasoningPart } from '../../../canonical/message.ts'
import { mapCallId } from '../../../kit/conversation/ids.ts'
import { keysOf } from '../../../kit/fields/keys.ts'
import { isObject, type JsonObject, merge, only, same, without } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { type ChatCompletionsOptions, defaults } from '../options.ts'
import { type ChatCompletionsReport, protocolName } from '../own.ts'
import type { ChatCompletionsCarriers, ChatCompletionsSignatureFields } from '../written.ts'
import { validCallId } from './calls.ts'
import {
  type Carrier,
  isOutOfOrder,
  type LayoutPart,
  needsOrder,
  record,
  recordsLayout,
} from './layout.ts'
import {
  decodeReasoning,
  encodeDetails,
  encodeProxyLists,
  encodeSignatures,
  isItems,
  listIn,
  needsDetails,
  proxyListOf,
  reasoningText,
} from './reasoning.ts'
import {
  carriedIssuer,
  encodeCarried,
  encodeLoaded,
  isTaken,
  pathIn,
  readCarried,
} from './signatures.ts'
import { type AssistantToWrite, opensEnvelopes, type PartWriting, type Writing } from './writing.ts'

/**
 * The protocol defines no field for reasoning. These are the fields that its servers and clients
 * use, in request messages, responses and deltas alike.
 */
const carrierKeys = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking_blocks',
  'reasoning_signature',
  'reasoning_items',
] as const

/**
 * Takes the carriers of reasoning out of a message. Those of an unexpected type stay among the
 * unknown keys.
 */
export function splitCarriers(unknown: JsonObject): { carriers: JsonObject; rest: JsonObject } {
  const { original, left } = readCarried(unknown, protocolName)
  const taken = carrierKeys.filter(key => carries(key, unknown[key]))
  const carriers = Object.assign({}, original, only(unknown, taken))
  const rest = taken.length === 0 ? left : without(left, taken)
  const { original: again, left: others } = splitProxyFields(rest, carriers)
  return { carriers: merge(carriers, again), rest: others }
}

/**
 * Takes lists of reasoning out of `provider_specific_fields`, where proxies put or repeat them.
 * `carriers`: the top-level fields, which may say something else.
 */
export function splitProxyFields(
  fields: JsonObject,
  carriers: JsonObject,
): { original: JsonObject; left: JsonObject } {
  const { provider_specific_fields: beside, ...left } = fields
  if (!isObject(beside)) return { original: {}, left: fields }
  const taken = listKeys.filter(
    key => Array.isArray(beside[key]) && same(carriers[key] ?? beside[key], beside[key]),
  )
  if (taken.length === 0) return { original: {}, left: fields }
  const others = without(beside, taken)
  return {
    original: { provider_specific_fields: only(beside, taken) },
    left: Object.keys(others).length > 0 ? { ...left, provider_specific_fields: others } : left,
  }
}

/** Entries come in lists, texts as they are; several signatures come in a list, too. */
function carries(key: (typeof carrierKeys)[number], value: unknown): boolean {
  if (key === 'reasoning_items') return isItems(value)
  if (typeof value === 'string') return key !== 'reasoning_details' && key !== 'thinking_blocks'
  return Array.isArray(value) && key !== 'reasoning_content' && key !== 'reasoning'
}

const carried: [key: string, known: ReadonlySet<string>][] = [
  [
    'reasoning_details',
    new Set(['type', 'text', 'summary', 'data', 'signature', 'id', 'format', 'index']),
  ],
  ['thinking_blocks', new Set(['type', 'thinking', 'signature', 'data'])],
]
const listKeys = carried.map(([key]) => key)

/** Unknown keys of the entries of carriers, under the key of the list that holds them. */
export function unknownOfCarriers(carriers: JsonObject): JsonObject {
  const unknown: JsonObject = {}
  for (const [key, known] of carried) {
    const entries = carriers[key]
    if (!Array.isArray(entries)) continue
    const left = entries.map((entry: unknown) =>
      isObject(entry) ? unknownOf(entry, known) : entry,
    )
    if (left.some(one => !isObject(one) || Object.keys(one).length > 0)) unknown[key] = left
  }
  const { provider_specific_fields: beside } = carriers
  if (!isObject(beside)) return unknown
  const left = unknownOfCarriers(without(beside, Object.keys(carriers)))
  return Object.keys(left).length > 0 ? { ...unknown, provider_specific_fields: left } : unknown
}

/**
 * The unknown keys of a message, without those of entries that are not written so. `known`: the
 * written lists.
 */
export function unknownBeside(
  fields: JsonObject,
  known: JsonObject,
  { at, report }: { at: Place | undefined; report: ChatCompletionsReport },
): JsonObject {
  const left = { ...fields }
  const { provider_specific_fields: ofProxy } = fields
  if (isObject(ofProxy)) left['provider_specific_fields'] = { ...ofProxy }
  for (const from of [left, left['provider_specific_fields']])
    for (const key of listKeys) {
      const unknown = isObject(from) ? from[key] : undefined
      const list = from === left ? known[key] : undefined
      if (
        !isObject(from) ||
        !Array.isArray(unknown) ||
        (Array.isArray(list) && list.length === unknown.length)
      )
        continue
      delete from[key]
      report.add('field.unknown', below(at ?? '', key))
    }
  return left
}

const types = new Set<unknown>([
  'reasoning.text',
  'reasoning.summary',
  'reasoning.encrypted',
  'thinking',
  'redacted_thinking',
])

/**
 * The unknown keys of an entry. A known key with a value of another type also counts as unknown.
 */
function unknownOf(entry: JsonObject, known: ReadonlySet<string>): JsonObject {
  const isKnown = (name: string, value: unknown) =>
    value === null ||
    (known.has(name) &&
      (name === 'type'
        ? types.has(value)
        : typeof value === (name === 'index' ? 'number' : 'string')))
  return Object.fromEntries(Object.entries(entry).filter(([name, value]) => !isKnown(name, value)))
}

type Carrying = Pick<AssistantToWrite, 'parts' | 'recipient' | 'reasoning' | 'at'>

/** Writes the carriers of reasoning. */
export function encodeCarriers(
  reasoning: readonly ReasoningPart[],
  from: Carrying,
  writing: PartWriting,
): ChatCompletionsCarriers {
  return finishCarriers(
    reasoning.filter(part => takesReasoning(part, from, writing)),
    from,
    writing,
  )
}

const isAllowed = ({ reasoning }: Pick<Carrying, 'reasoning'>, { options }: PartWriting) =>
  reasoning === 'all' && options.reasoningField !== 'omit'

/** Is reasoning written? What is lost of it before its text and signature are known is noted. */
export function takesReasoning(
  part: ReasoningPart,
  from: Pick<Carrying, 'reasoning' | 'recipient'>,
  writing: PartWriting,
): boolean {
  const { report } = writing
  const { at } = part
  if (!isAllowed(from, writing)) {
    report.add('reasoning.dropped', at)
    return false
  }
  if (part.cache && from.recipient === 'server') report.add('cache.unsupported', at, 'cache')
  report.node(part, handled)
  return true
}

/** Writes the carriers of the reasoning that `takesReasoning` has let through. */
export function finishCarriers(
  reasoning: readonly ReasoningPart[],
  from: Carrying,
  writing: PartWriting,
): ChatCompletionsCarriers {
  const { report, options, native } = writing
  const { parts, recipient, at } = from
  const opens = opensEnvelopes(recipient, options)
  const allowed = isAllowed(from, writing)
  const layoutParts = layoutPartsOf(parts, writing).filter(
    ({ kind }) => allowed || kind !== 'reasoning',
  )
  const ownText = encodeTextSignature(from, writing)
  if (!native && !(opens && allowed) && isOutOfOrder(layoutParts))
    report.add('parts.order-lost', at)
  if (!allowed) return ownText
  // Servers get no layout.
  const recorded = opens ? record(layoutParts) : undefined
  const { reasoningField: field = defaults.reasoningField } = options
  const usable = reasoning.map(part => keepSignature(part, recipient, writing))
  const text = reasoningText(usable)
  const written: ChatCompletionsCarriers = {}
  if (text && field !== 'details') written[textField(options)] = text
  const telling = usable.filter(
    ({ segments, signature, id }) => segments.length > 0 || signature || id !== undefined,
  )
  const records = recorded !== undefined && recordsLayout(options)
  const proves = records && (recorded.textSignatures.length > 0 || hasPhase(parts))
  const { lists, left } = recorded ? { lists: {}, left: telling } : encodeProxyLists(telling)
  Object.assign(written, lists)
  const isWanted = recipient === 'client' || usable.some(({ signature }) => signature)
  const detailed =
    field === 'details' || (isWanted && options.signatures !== 'none' && needsDetails(usable))
  const isWritten = proves || (detailed && left.length > 0)
  if (isWritten)
    Object.assign(
      written,
      encodeSignatures({ textSignatures: [], ...(records && recorded), parts: left }, native),
    )
  if (!(isWritten && records) && recorded && !native && needsOrder(layoutParts))
    report.add('parts.order-lost', at)
  if (!isWritten) for (const { id, at } of left) report.onceEach('message.ids', at, { itemId: id })
  if (Object.keys(written).length > 0) {
    for (const part of telling) noteDialect(part.at ?? at, writing)
    if (telling.length === 0 && recorded?.textSignatures.length) noteDialect(at, writing)
  }
  return written
}

/** Notes that reasoning is written in fields that the protocol does not define. */
export function noteDialect(at: Place | undefined, { report, native }: PartWriting): void {
  if (!native) report.once('reasoning.dialect-field', at)
}

/** Where the text of reasoning is written, unless it is in details only. */
export const textField = ({
  reasoningField: field = defaults.reasoningField,
}: {
  reasoningField?: Writing['options']['reasoningField'] | undefined
}): 'reasoning' | 'reasoning_content' => (field === 'reasoning' ? field : 'reasoning_content')

export const hasPhase = (parts: readonly Part[]) =>
  parts.some(part => part.type === 'text' && part.phase && part.text !== '')

/** The parts that a layout records, in their order. */
export function layoutPartsOf(
  parts: readonly Part[],
  { native }: Pick<Writing, 'native'>,
): LayoutPart[] {
  return flatMap(parts, (part): LayoutPart[] => {
    if (part.type === 'reasoning') return [{ kind: 'reasoning' }]
    if (part.type === 'text')
      return [
        {
          kind: 'text',
          text: part.text,
          phase: part.phase ?? undefined,
          signature: part.signature,
        },
      ]
    return part.type === 'tool-call'
      ? [{ kind: 'call', id: native ? part.id : mapCallId(part.id, validCallId) }]
      : []
  })
}

/**
 * Signatures of texts. Who opens envelopes gets them with the layout. Another server gets only that
 * of the last signed text, if a server of this protocol signed it.
 */
function encodeTextSignature(
  { parts, recipient }: Pick<AssistantToWrite, 'parts' | 'recipient'>,
  writing: PartWriting,
): ChatCompletionsSignatureFields {
  const { report, options } = writing
  const signed = flatMap(parts, part =>
    part.type === 'text' && part.signature ? [{ at: part.at, signature: part.signature }] : [],
  )
  if (recipient === 'client') {
    if (options.signatures === 'none' || options.reasoningField === 'omit')
      for (const { at } of signed) report.add('reasoning.signature-dropped', at, 'signature')
    return {}
  }
  if (opensEnvelopes(recipient, options)) return {}
  const last = signed.at(-1)
  const written = last && isTaken(last.signature, writing) ? last : undefined
  for (const one of signed)
    if (one !== written) report.add('reasoning.foreign-signature', one.at, 'signature')
  return written ? encodeCarried(written.signature) : {}
}

const handled = keysOf<ReasoningPart>()('type segments redacted id signature cache at ext')

/** The part, without its signature if the receiver cannot use it. */
function keepSignature(
  part: ReasoningPart,
  recipient: 'client' | 'server',
  writing: PartWriting,
): ReasoningPart {
  const { signature, ...rest } = part
  const { report, options, native } = writing
  if (!signature) return part
  if (recipient === 'client' && options.signatures !== 'none') return part
  if (
    recipient === 'server' &&
    (isTaken(signature, writing) ||
      (native && proxyListOf(part)) ||
      opensEnvelopes(recipient, options))
  )
    return part
  report.add(
    recipient === 'client' ? 'reasoning.signature-dropped' : 'reasoning.foreign-signature',
    part.at,
    part.redacted ? 'redacted' : 'signature',
  )
  return rest
}

/** Notes that reasoning was between tags. `at`: path of the message. */
export const noteTags = (at: Place, report: ChatCompletionsReport) =>
  report.once('reasoning.think-tags', at, 'content')

/**
 * Some clients keep only the plain text of reasoning, but also the signatures of calls. For them
 * the signature of a call carries the reasoning details of the parts between the previous call and
 * this one.
 */
export function carriesReasoning({
  signedReasoning,
  signatures = 'field',
  reasoningField,
}: ChatCompletionsOptions): boolean {
  return signedReasoning === 'calls' && signatures === 'field' && reasoningField !== 'omit'
}

/**
 * The fields to write next to `call`, with the details of the parts since the previous call.
 * Undefined: plain text carries everything.
 */
export function carryReasoning(
  since: readonly Part[],
  call: Part,
): ChatCompletionsSignatureFields | undefined {
  const parts = since.filter(
    (part): part is ReasoningPart => part.type === 'reasoning' && says(part),
  )
  const recorded = record(layoutPartsOf(since, { native: true }))
  if (!needsDetails(parts) && recorded.textSignatures.length === 0 && !hasPhase(since))
    return undefined
  const units = since.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0)
  return encodeLoaded({ details: encodeDetails({ parts, ...recorded }), units }, call.signature)
}

const says = ({ segments, signature, id }: ReasoningPart) =>
  segments.length > 0 || signature !== undefined || id !== undefined

/**
 * What the calls of a client's message carry, by their index. Undefined: nothing, or the client has
 * kept `reasoning_details`.
 */
export function carriersIn(
  calls: readonly JsonObject[] | null | undefined,
  message: JsonObject,
  at: Place,
): Map<number, Carrier> | undefined {
  const kept = listIn(message, 'reasoning_details')
  if (!calls || (Array.isArray(kept) && kept.length > 0)) return undefined
  const carriers = new Map<number, Carrier>()
  calls.forEach((call, i) => {
    if (!isObject(call)) return
    const { load, original } = readCarried(call, carriedIssuer.client)
    if (!load) return
    const place = `${pointerOf(at)}/tool_calls/${i}/${pathIn(original)}`
    const reasoning = decodeReasoning({ reasoning_details: load.details }, place, 'client')
    carriers.set(i, { reasoning, units: load.units, at: place })
  })
  return carriers.size > 0 ? carriers : undefined
}
