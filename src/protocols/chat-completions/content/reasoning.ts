import type { Part, Place, ReasoningPart, Signature } from '../../../canonical/message.ts'
import { proofOf } from '../../../kit/conversation/turns.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, same } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { unwrapSignature, wrapSignature } from '../../../kit/signatures/envelope.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { keep, protocolName, wireOf, withInner } from '../own.ts'
import type { ChatCompletionsThinkingPart } from '../schema.ts'
import type {
  ChatCompletionsBlockOf,
  ChatCompletionsCarriers,
  ChatCompletionsDetail,
  ChatCompletionsProxyBlock,
  ChatCompletionsProxyItem,
} from '../written.ts'
import type { Recorded } from './layout.ts'
import { carriedIssuer, isOwnIssuer, readCarried } from './signatures.ts'

/** The value of `format` in the entries of `reasoning_details` that we create. */
const format = 'xs1'

/**
 * Some servers of this protocol resell models of many vendors. `format` names the vendor that
 * signed, and no vendor accepts the signature of another. It is part of the issuer, so that it
 * survives the way through another protocol.
 */
const issuerOf = (format: unknown): string =>
  typeof format === 'string' && format ? `${protocolName}/${format}` : protocolName

/**
 * An empty signature for unsigned reasoning (see `unsignedReasoning`), for clients that drop
 * unsigned reasoning. Other protocols treat it like any signature of this one: clients get it in an
 * envelope, servers do not get it.
 */
export const emptySignature: Signature = { value: '', issuer: protocolName, form: 'thinking' }

/** The part without an empty signature, which this wire never carries. */
export function withoutEmptySignature(part: Part): Part {
  if (part.signature?.value !== '') return part
  const { signature: _, ...rest } = part
  return rest
}

const formatOf = (issuer: string): string | undefined =>
  issuer.slice(protocolName.length + 1) || undefined

export type DecodedReasoning = Recorded & { parts: ReasoningPart[] }

/**
 * `at`: path of the message; `from`: its sender, from which the issuer of a signature follows when
 * no field names it. The most complete carrier wins: details hold everything, while plain text may
 * be the last fragment only, because some clients overwrite it with each delta.
 */
export function decodeReasoning(
  carriers: JsonObject,
  at: Place,
  from: 'client' | 'server',
): DecodedReasoning {
  const [details, blocks] = [
    listIn(carriers, 'reasoning_details'),
    listIn(carriers, 'thinking_blocks'),
  ]
  const { reasoning_items: items, reasoning_signature: signatures } = carriers
  const placeOf = (key: string) =>
    below(key in carriers ? at : below(at, 'provider_specific_fields'), key)
  const key =
    typeof carriers['reasoning_content'] === 'string' && carriers['reasoning_content']
      ? 'reasoning_content'
      : 'reasoning'
  const text = typeof carriers[key] === 'string' ? (carriers[key] as string) : ''
  const plain: ReasoningPart[] = text
    ? [{ type: 'reasoning', segments: [{ kind: 'raw', text }], at: below(at, key) }]
    : []
  let decoded: DecodedReasoning = { parts: [], textSignatures: [] }
  if (Array.isArray(details) && details.length > 0)
    decoded = decodeDetails(details, placeOf('reasoning_details'))
  else if (isItems(items))
    decoded = {
      ...decoded,
      parts: items.map((item, i) => decodeItem(item, below(placeOf('reasoning_items'), i), from)),
    }
  else if (Array.isArray(blocks)) {
    const place = placeOf('thinking_blocks')
    const parts: ReasoningPart[] = []
    const proofs = new Set<string | undefined>()
    for (const [i, block] of blocks.entries())
      for (const part of decodeLiteBlock(block, below(place, i), from)) {
        const proof = proofOf(part)
        if (proof !== undefined && proofs.has(proof)) continue
        proofs.add(proof)
        parts.push(part)
      }
    decoded = { ...decoded, parts }
  }
  const parts = decoded.parts.some(({ segments }) => segments.length > 0)
    ? decoded.parts
    : [...plain, ...decoded.parts]
  const list = Array.isArray(signatures) ? signatures : [signatures]
  list.forEach((value, k) => {
    const part = parts[k]
    if (typeof value === 'string' && value && part && !part.signature)
      part.signature = readSignature(value, 'thinking').signature
  })
  const { signature: onText } = readCarried(carriers, carriedIssuer[from])
  const { layout, textSignatures } = decoded
  return {
    layout,
    textSignatures:
      onText && textSignatures.length === 0
        ? [{ signature: onText, attach: 'prev' }]
        : textSignatures,
    parts,
  }
}

export function readSignature(
  value: string,
  form: Signature['form'],
  format?: unknown,
): { signature: Signature; id?: string; attach?: string } {
  const envelope = unwrapSignature(value)
  return envelope ?? { signature: omitUndefined({ value, issuer: issuerOf(format), form }) }
}

/**
 * The issuer of signatures in `thinking_blocks`. They are signatures of the messages protocol,
 * passed on unchanged. A client may have got them from any server. A proxy that sends them takes
 * them back only in this shape.
 */
const liteIssuer = { client: 'messages', server: `${protocolName}/thinking_blocks` } as const

/** The list under its own key, or else in `provider_specific_fields`, where some proxies put it. */
export function listIn(fields: JsonObject, key: 'reasoning_details' | 'thinking_blocks'): unknown {
  const { [key]: list, provider_specific_fields: beside } = fields
  return list ?? (isObject(beside) ? beside[key] : undefined)
}

/**
 * A thinking block as a proxy in front of the messages protocol passes it on. An empty list: it is
 * no such block.
 */
export function decodeLiteBlock(
  block: unknown,
  at: Place,
  from: 'client' | 'server',
): ReasoningPart[] {
  if (!isObject(block)) return []
  const { signature, data } = block
  // A signature may arrive without its text.
  const thinking = block['thinking'] ?? (signature ? '' : undefined)
  const issuer = liteIssuer[from]
  if (typeof data === 'string') {
    const envelope = unwrapSignature(data)
    return [
      {
        type: 'reasoning',
        segments: [],
        redacted: true,
        signature: envelope?.signature ?? { value: data, issuer, form: 'redacted' },
        at,
      },
    ]
  }
  if (typeof thinking !== 'string') return []
  const part: ReasoningPart = {
    type: 'reasoning',
    segments: thinking ? [{ kind: 'summary', text: thinking }] : [],
    at,
  }
  if (typeof signature === 'string' && signature)
    part.signature = unwrapSignature(signature)?.signature ?? {
      value: signature,
      issuer,
      form: 'thinking',
    }
  return [part]
}

/**
 * The issuer of signatures in `reasoning_items`, chosen like that of `thinking_blocks`: LiteLLM
 * takes its items back only in this list.
 */
const itemIssuer = { client: 'responses', server: `${protocolName}/reasoning_items` } as const

/** A reasoning item of the responses protocol, as LiteLLM gives it to its clients. */
export type Item = {
  id?: string | null
  encrypted_content?: string | null
  summary?: { text: string }[] | null
}

export const isItems = (value: unknown): value is Item[] =>
  Array.isArray(value) && value.every(isItem)

/** False also for an item with something that reasoning cannot hold. */
function isItem(entry: unknown): entry is Item {
  if (!isObject(entry)) return false
  const { type, id, encrypted_content: encrypted, summary, ...others } = entry
  const isText = (value: unknown) => typeof value === 'string'
  const isSummary = (block: unknown) =>
    isObject(block) &&
    isText(block['text']) &&
    same(block, { type: 'summary_text', text: block['text'] })
  if (type !== 'reasoning' || !Object.values(others).every(value => value === null)) return false
  return (
    isText(id ?? '') &&
    isText(encrypted ?? '') &&
    (summary == null || (Array.isArray(summary) && summary.every(isSummary)))
  )
}

export function decodeItem(
  { id, encrypted_content: encrypted, summary }: Item,
  at: Place,
  from: 'client' | 'server',
): ReasoningPart {
  const part: ReasoningPart = {
    type: 'reasoning',
    segments: (summary ?? []).map(({ text }) => ({ kind: 'summary', text })),
    at,
  }
  const envelope = encrypted ? unwrapSignature(encrypted) : undefined
  const known = envelope?.id ?? id
  if (known) part.id = known
  if (!encrypted) return part
  part.signature = envelope?.signature ?? {
    value: encrypted,
    issuer: itemIssuer[from],
    form: 'encrypted',
  }
  if (part.segments.length === 0 && part.signature.form !== 'thinking') part.redacted = true
  return part
}

/**
 * `lists`: the reasoning parts that came from a proxy in a list of its own, as it takes them back;
 * `left`: the other parts.
 */
export function encodeProxyLists(parts: readonly ReasoningPart[]): {
  lists: Pick<ChatCompletionsCarriers, 'thinking_blocks' | 'reasoning_items'>
  left: ReasoningPart[]
} {
  const blocks: ChatCompletionsProxyBlock[] = []
  const items: ChatCompletionsProxyItem[] = []
  const left = parts.filter(part => {
    const { signature } = part
    const list = proxyListOf(part)
    if (!signature || !list) return true
    if (list === 'reasoning_items') items.push(encodeItem(part, signature))
    else if (part.redacted) blocks.push({ type: 'redacted_thinking', data: signature.value })
    else
      blocks.push({ type: 'thinking', thinking: reasoningText([part]), signature: signature.value })
    return false
  })
  return {
    lists: {
      ...(blocks.length > 0 && { thinking_blocks: blocks }),
      ...(items.length > 0 && { reasoning_items: items }),
    },
    left,
  }
}

/**
 * The list of a proxy that the part came in, from its server or back from a client. Undefined: it
 * came otherwise.
 */
export function proxyListOf({
  signature,
  at,
}: ReasoningPart): 'reasoning_items' | 'thinking_blocks' | undefined {
  const { issuer } = signature ?? {}
  if (issuer === itemIssuer.server) return 'reasoning_items'
  if (issuer === liteIssuer.server) return 'thinking_blocks'
  if (at === undefined || (issuer !== itemIssuer.client && issuer !== liteIssuer.client))
    return undefined
  const [, list] = /\/(reasoning_items|thinking_blocks)\/\d+$/.exec(pointerOf(at)) ?? []
  return list as ReturnType<typeof proxyListOf>
}

function encodeItem(
  { id, segments }: ReasoningPart,
  { value }: Signature,
): ChatCompletionsProxyItem {
  return {
    ...omitUndefined({ id }),
    type: 'reasoning',
    encrypted_content: value,
    summary: segments.map(({ text }) => ({ type: 'summary_text', text })),
  }
}

/**
 * `attach` of an envelope that belongs to a text (see `layout.ts`). Other values were not made for
 * `reasoning_details` and count as `prev`.
 */
const onSomeText = /^(text|x\d+)$/

/**
 * Entries with the same `index` are one reasoning part. Raw texts whose `format` is not ours are
 * fragments of one segment.
 */
function decodeDetails(details: readonly unknown[], at: Place): DecodedReasoning {
  const decoded: DecodedReasoning = { parts: [], textSignatures: [] }
  const byIndex = new Map<number, ReasoningPart>()
  details.forEach((entry, i) => {
    if (!isObject(entry)) return
    const read = decodeDetail(entry)
    if (read.layout) decoded.layout = read.layout
    if (read.attach && read.signature)
      decoded.textSignatures.push({
        signature: read.signature,
        attach: onSomeText.test(read.attach) ? read.attach : 'prev',
      })
    if (read.layout || read.attach) return
    const index = typeof entry['index'] === 'number' ? entry['index'] : undefined
    let part = index === undefined ? undefined : byIndex.get(index)
    if (!part) {
      part = { type: 'reasoning', segments: [], at: below(at, i) }
      decoded.parts.push(part)
      if (index !== undefined) byIndex.set(index, part)
    }
    if (read.text) {
      const last = part.segments.at(-1)
      const kind =
        read.signature?.form === 'thinking' && entry['format'] === format ? 'summary' : read.kind
      if (last && last.kind === kind && kind === 'raw' && entry['format'] !== format)
        last.text += read.text
      else part.segments.push({ kind, text: read.text })
    }
    if (read.id !== undefined) part.id = read.id
    if (read.signature) part.signature = read.signature
  })
  for (const part of decoded.parts) {
    if (part.segments.length === 0 && part.signature && part.signature.form !== 'thinking')
      part.redacted = true
    // The text of a thinking block is a summary, whatever the type of its entry.
    if (part.signature?.form === 'thinking' && !isOwnIssuer(part.signature.issuer))
      for (const segment of part.segments) segment.kind = 'summary'
  }
  decoded.parts = decoded.parts.filter(
    ({ segments, signature, id }) => segments.length > 0 || signature || id !== undefined,
  )
  return decoded
}

type Detail = {
  kind: 'summary' | 'raw'
  text: string
  signature?: Signature
  id?: string
  attach?: string
  layout?: string[]
}

const filled = (value: unknown) => (typeof value === 'string' && value ? value : undefined)

/** One entry of `reasoning_details`, in a message or in a delta. */
export function decodeDetail(entry: JsonObject): Detail {
  const { type, text, summary, data, signature: sealed, id } = entry
  // The kind follows from the field, not from the type: clients that merge entries of one index
  // keep only the last type.
  const summed = typeof text !== 'string' && typeof summary === 'string'
  const given = summed ? summary : text
  const words = typeof given === 'string' ? given : ''
  const opaque = filled(sealed) ?? filled(data)
  const detail: Detail = {
    kind: summed || type === 'reasoning.summary' ? 'summary' : 'raw',
    text: words,
  }
  if (opaque !== undefined) {
    const {
      signature,
      id: inner,
      attach,
    } = readSignature(opaque, opaque === data ? 'encrypted' : 'thinking', entry['format'])
    if ((signature.form as string | undefined) === 'layout')
      return { ...detail, layout: readLayout(signature.value) }
    Object.assign(detail, omitUndefined({ signature, id: inner, attach }))
  }
  if (detail.id === undefined && typeof id === 'string' && id) detail.id = id
  return detail
}

function readLayout(value: string): string[] {
  try {
    const layout: unknown = JSON.parse(value)
    return Array.isArray(layout) ? layout.filter(token => typeof token === 'string') : []
  } catch {
    return []
  }
}

const knownOfThinking = keysOf<ChatCompletionsThinkingPart>()('type thinking signature')

/** A reasoning block inside the content array. */
export function decodeThinkingBlock(wire: ChatCompletionsThinkingPart, at: Place): ReasoningPart {
  const { thinking, signature } = wire
  // Chunks of any type may have text. Their other keys are kept as unknown keys at the same index.
  const left =
    typeof thinking === 'string'
      ? []
      : thinking.map(({ type, text: _text, ...rest }) =>
          type === 'text' ? rest : { type, ...rest },
        )
  const text =
    typeof thinking === 'string' ? thinking : thinking.map(segment => segment.text ?? '').join('')
  const part: ReasoningPart = {
    type: 'reasoning',
    segments: text ? [{ kind: 'raw', text }] : [],
    at,
  }
  if (signature) part.signature = readSignature(signature, 'thinking').signature
  const hasMore = left.some(segment => Object.keys(segment).length > 0)
  return keep(
    part,
    withInner(unknownOf(wire, knownOfThinking), 'thinking', hasMore ? left : undefined),
  )
}

export function encodeThinkingBlock(part: ReasoningPart): ChatCompletionsBlockOf<'thinking'> {
  const { signature } = part
  const sealed = signature && isOwnIssuer(signature.issuer) ? signature.value : undefined
  return wireOf<ChatCompletionsBlockOf<'thinking'>>(
    {
      type: 'thinking',
      thinking: [{ type: 'text', text: reasoningText([part]) }],
      signature: sealed,
    },
    part.ext,
  )
}

/** All segments of all parts as one text. Empty segments are skipped, as in streams. */
export function reasoningText(parts: readonly ReasoningPart[]): string {
  const texts = flatMap(parts, ({ segments }) => segments.map(({ text }) => text))
  return texts.filter(text => text !== '').join('\n\n')
}

/** Is there anything that plain text cannot carry? */
export function needsDetails(parts: readonly ReasoningPart[]): boolean {
  return (
    parts.length > 1 ||
    parts.some(
      ({ signature, redacted, id, segments }) =>
        signature || redacted || id !== undefined || segments.length > 1,
    )
  )
}

export type DetailsOf = Recorded & { parts: readonly ReasoningPart[] }

/**
 * The complete `reasoning_details`. Signatures of other issuers are wrapped in an envelope that
 * names the issuer.
 */
export function encodeDetails({
  parts,
  textSignatures,
  layout,
}: DetailsOf): ChatCompletionsDetail[] {
  const entries: ChatCompletionsDetail[] = []
  parts.forEach((part, index) => {
    const { segments, signature, id } = part
    const sealed = signature && seal(signature, id)
    // What a server of this protocol signed is written with the `format` that it came with, not
    // with ours.
    const ours = signature !== undefined && isOwnIssuer(signature.issuer)
    const rest = omitUndefined({ format: ours ? formatOf(signature.issuer) : format, index })
    const named = omitUndefined({ id })
    // Only the signature of a thinking block is written next to its text; others get an entry of
    // their own.
    const onText = signature?.form === 'thinking'
    segments.forEach(({ kind, text }, i) => {
      const last = onText && i === segments.length - 1
      const naming = !ours || last ? named : {}
      if (kind === 'raw' || onText)
        entries.push({
          type: 'reasoning.text',
          text,
          ...(last && sealed !== undefined && { signature: sealed }),
          ...naming,
          ...rest,
        })
      else entries.push({ type: 'reasoning.summary', summary: text, ...naming, ...rest })
    })
    if (sealed !== undefined && !onText)
      entries.push({ type: 'reasoning.encrypted', data: sealed, ...named, ...rest })
    else if (segments.length === 0 && (sealed !== undefined || id !== undefined))
      entries.push({
        type: 'reasoning.text',
        text: '',
        ...omitUndefined({ signature: sealed }),
        ...named,
        ...rest,
      })
  })
  textSignatures.forEach((sealed, i) => {
    entries.push({
      type: 'reasoning.encrypted',
      data: wrapSignature(sealed),
      format,
      index: parts.length + i,
    })
  })
  if (layout) {
    const signature = {
      value: JSON.stringify(layout),
      issuer: protocolName,
      form: 'layout',
    } as unknown as Signature
    entries.push({
      type: 'reasoning.encrypted',
      data: wrapSignature({ signature }),
      format,
      index: parts.length + Math.max(1, textSignatures.length),
    })
  }
  return entries
}

/**
 * Reasoning with its signatures. `native`: a client of a proxy gets the lists that the proxy takes
 * back, if they hold everything.
 */
export function encodeSignatures(
  of: DetailsOf,
  native: boolean,
): Pick<ChatCompletionsCarriers, 'reasoning_details' | 'thinking_blocks' | 'reasoning_items'> {
  // Of a layout only phases would be missed there: these lists have no place among the other parts.
  if (native && of.textSignatures.length === 0 && !of.layout?.some(token => token.includes('+'))) {
    const { lists, left } = encodeProxyLists(of.parts)
    if (left.length === 0) return lists
  }
  return { reasoning_details: encodeDetails(of) }
}

function seal(signature: Signature, id: string | undefined): string {
  return isOwnIssuer(signature.issuer)
    ? signature.value
    : wrapSignature(omitUndefined({ signature, id }))
}
