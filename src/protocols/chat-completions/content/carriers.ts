import type { Part, Place, ReasoningPart } from '../../../canonical/message.ts'
import { mapCallId } from '../../../kit/conversation/ids.ts'
import { keysOf } from '../../../kit/fields/keys.ts'
import { isObject, type JsonObject, merge, only, same, without } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import type { ChatCompletionsReport } from '../notes.ts'
import { defaults } from '../options.ts'
import { protocolName } from '../own.ts'
import type { ChatCompletionsCarriers, ChatCompletionsSignatureFields } from '../written.ts'
import { validCallId } from './calls.ts'
import { isOutOfOrder, type LayoutPart, needsOrder, record, recordsLayout } from './layout.ts'
import {
  encodeProxyLists,
  encodeSignatures,
  isItems,
  needsDetails,
  proxyListOf,
  reasoningText,
} from './reasoning.ts'
import { encodeCarried, isTaken, readCarried } from './signatures.ts'
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

/**
 * State of reading reasoning between tags in text, as raw templates of open models write it.
 * `held`: text that may be the start of a tag; `found`: there was a tag.
 */
export type Tags = { inside: boolean; held: string; found: boolean }

export const noTags = (): Tags => ({ inside: false, held: '', found: false })

export type TaggedText = { kind: 'text' | 'reasoning'; text: string }

const opening = ['<think>', '<thinking>', '<thought>']
const closing = ['</think>', '</thinking>', '</thought>']

/**
 * One of the tags. To look for each of them by itself would go through the whole text for each that
 * is not in it.
 */
const anOpening = /<(?:think|thinking|thought)>/g
const aClosing = /<\/(?:think|thinking|thought)>/g

/** Notes that reasoning was between tags. `at`: path of the message. */
export const noteTags = (at: Place, report: ChatCompletionsReport) =>
  report.once('reasoning.think-tags', at, 'content')

/** Splits the next text at its tags and removes them. Changes `tags`. */
export function splitTags(tags: Tags, text: string): TaggedText[] {
  const spans: TaggedText[] = []
  const put = (span: string) => {
    if (span) spans.push({ kind: tags.inside ? 'reasoning' : 'text', text: span })
  }
  const all = tags.held + text
  let from = 0
  for (;;) {
    const pattern = tags.inside ? aClosing : anOpening
    pattern.lastIndex = from
    const next = pattern.exec(all)
    if (!next) break
    put(all.slice(from, next.index))
    tags.inside = !tags.inside
    tags.found = true
    from = next.index + next[0].length
  }
  const rest = all.slice(from)
  const half = rest.lastIndexOf('<')
  const wanted = tags.inside ? closing : opening
  const begun = half >= 0 && wanted.some(tag => tag.startsWith(rest.slice(half)))
  tags.held = begun ? rest.slice(half) : ''
  put(begun ? rest.slice(0, half) : rest)
  return spans
}

/** Returns the held text, which is no tag after all. */
export function flushTags(tags: Tags): TaggedText[] {
  const { held, inside } = tags
  tags.held = ''
  return held ? [{ kind: inside ? 'reasoning' : 'text', text: held }] : []
}

/**
 * The parts of a complete response, with reasoning between tags as parts of its own. The same list
 * if there is none.
 */
export function extractTags(parts: readonly Part[]): readonly Part[] {
  if (!parts.some(part => part.type === 'text' && opening.some(tag => part.text.includes(tag))))
    return parts
  return flatMap(parts, (part): Part[] => {
    if (part.type !== 'text') return [part]
    const tags = noTags()
    const spans = [...splitTags(tags, part.text), ...flushTags(tags)]
    const { at } = part
    const last = spans.findLastIndex(({ kind }) => kind === 'text')
    const where = at === undefined ? {} : { at }
    // The other fields of the text stay with its last chunk.
    return spans.map(({ kind, text }, i) => {
      if (kind === 'reasoning')
        return { type: 'reasoning', segments: [{ kind: 'raw', text }], ...where }
      return i === last ? { ...part, text } : { type: 'text', text, ...where }
    })
  })
}
