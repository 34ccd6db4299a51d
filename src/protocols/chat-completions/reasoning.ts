import type { Part, ReasoningPart, Signature } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { unwrapSignature, wrapSignature } from '../../kit/envelope.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { isObject, type JsonObject, same } from '../../kit/json.ts'
import type { Recorded } from './layout.ts'
import { keep, ownForm, protocolName } from './own.ts'
import type { ChatThinkingPart } from './schema.ts'
import { carriedIssuer, readCarried } from './signatures.ts'

/** Written into `format` of every entry of `reasoning_details` that was made here. */
const format = 'xs1'

/**
 * Servers of this wire resell models of many vendors and tell in `format` whose proof it is; none takes another's. The
 * vendor is part of the issuer, so that it is neither lost nor mixed up on the way through another protocol.
 */
const issuerOf = (told: unknown): string => (typeof told === 'string' && told ? `${protocolName}/${told}` : protocolName)

/**
 * Stands for the proof of reasoning that nothing proves, for clients that forget such reasoning. The other protocols treat it as
 * they treat any signature of this one: in an envelope toward clients, not at all toward other servers.
 */
export const emptyProof: Signature = { value: '', issuer: protocolName, form: 'thinking' }

/** The part as this wire has it, where an empty proof has no place. */
export function withoutEmptyProof(part: Part): Part {
  if (part.signature?.value !== '') return part
  const { signature: _, ...rest } = part
  return rest
}

/** Made by a server of this wire? */
export const isOwnIssuer = (issuer: string): boolean => issuer === protocolName || issuer.startsWith(`${protocolName}/`)

const formatOf = (issuer: string): string | undefined => issuer.slice(protocolName.length + 1) || undefined

export type DecodedReasoning = Recorded & { parts: ReasoningPart[] }

/**
 * `at`: the message; `from`: who said it, by which it is known who signed what does not say it. The most telling carrier wins: details say everything, plain text may be the last fragment only,
 * because clients overwrite it delta by delta.
 */
export function decodeReasoning(carriers: JsonObject, at: string, from: 'client' | 'server'): DecodedReasoning {
  const { reasoning_details: details, thinking_blocks: blocks = blocksOfProxy(carriers), reasoning_signature: signatures } = carriers
  const key = typeof carriers['reasoning_content'] === 'string' && carriers['reasoning_content'] ? 'reasoning_content' : 'reasoning'
  const text = typeof carriers[key] === 'string' ? (carriers[key] as string) : ''
  const plain: ReasoningPart[] = text ? [{ type: 'reasoning', segments: [{ kind: 'raw', text }], at: `${at}/${key}` }] : []
  let decoded: DecodedReasoning = { parts: [], textSignatures: [] }
  if (Array.isArray(details) && details.length > 0) decoded = decodeDetails(details, `${at}/reasoning_details`)
  else if (Array.isArray(blocks)) {
    const place = `${at}${'thinking_blocks' in carriers ? '' : '/provider_specific_fields'}/thinking_blocks`
    decoded = { ...decoded, parts: flatMap(blocks, (block, i) => decodeLiteBlock(block, `${place}/${i}`, from)) }
  }
  const parts = decoded.parts.some(({ segments }) => segments.length > 0) ? decoded.parts : [...plain, ...decoded.parts]
  const list = Array.isArray(signatures) ? signatures : [signatures]
  list.forEach((value, k) => {
    const part = parts[k]
    if (typeof value === 'string' && value && part && !part.signature) part.signature = readSignature(value, 'thinking').signature
  })
  const { signature: onText } = readCarried(carriers, carriedIssuer[from])
  const { layout, textSignatures } = decoded
  return { layout, textSignatures: onText && textSignatures.length === 0 ? [{ signature: onText, attach: 'prev' }] : textSignatures, parts }
}

export function readSignature(value: string, form: Signature['form'], told?: unknown): { signature: Signature; id?: string; attach?: string } {
  const envelope = unwrapSignature(value)
  return envelope ?? { signature: defined({ value, issuer: issuerOf(told), form }) }
}

/**
 * Whose proofs stand in blocks of thinking. They are those of the messages protocol, passed on untouched: a client that sends
 * them may have got them anywhere. A proxy that says them takes them back in this shape and no other.
 */
const liteIssuer = { client: 'messages', server: `${protocolName}/thinking_blocks` } as const

/** The proxy's other place for the same blocks. */
export function blocksOfProxy({ provider_specific_fields: beside }: JsonObject): unknown {
  return isObject(beside) ? beside['thinking_blocks'] : undefined
}

/** A block as a proxy in front of the messages protocol passes it on; none: it is no such block. */
export function decodeLiteBlock(block: unknown, at: string, from: 'client' | 'server'): ReasoningPart[] {
  if (!isObject(block)) return []
  const { thinking, signature, data } = block
  const issuer = liteIssuer[from]
  if (typeof data === 'string') {
    const envelope = unwrapSignature(data)
    return [{ type: 'reasoning', segments: [], redacted: true, signature: envelope?.signature ?? { value: data, issuer, form: 'redacted' }, at }]
  }
  if (typeof thinking !== 'string') return []
  const part: ReasoningPart = { type: 'reasoning', segments: thinking ? [{ kind: 'summary', text: thinking }] : [], at }
  if (typeof signature === 'string' && signature) part.signature = unwrapSignature(signature)?.signature ?? { value: signature, issuer, form: 'thinking' }
  return [part]
}

/** Those of the reasoning that a proxy said in such blocks, as it takes them back; and what is left. */
export function encodeLiteBlocks(parts: readonly ReasoningPart[]): { blocks: JsonObject[]; left: ReasoningPart[] } {
  const blocks: JsonObject[] = []
  const left = parts.filter(part => {
    const { signature } = part
    if (signature?.issuer !== liteIssuer.server) return true
    if (part.redacted) blocks.push({ type: 'redacted_thinking', data: signature.value })
    else blocks.push({ type: 'thinking', thinking: reasoningText([part]), signature: signature.value })
    return false
  })
  return { blocks, left }
}

/** `attach` of an envelope that belongs to a text (see `layout.ts`); any other was not made for `reasoning_details`. */
const onSomeText = /^(text|x\d+)$/

/** Entries of one `index` are one reasoning part; texts that are not ours are fragments of one segment. */
function decodeDetails(details: readonly unknown[], at: string): DecodedReasoning {
  const decoded: DecodedReasoning = { parts: [], textSignatures: [] }
  const byIndex = new Map<number, ReasoningPart>()
  details.forEach((entry, i) => {
    if (!isObject(entry)) return
    const read = decodeDetail(entry)
    if (read.layout) decoded.layout = read.layout
    if (read.attach && read.signature) decoded.textSignatures.push({ signature: read.signature, attach: onSomeText.test(read.attach) ? read.attach : 'prev' })
    if (read.layout || read.attach) return
    const index = typeof entry['index'] === 'number' ? entry['index'] : undefined
    let part = index === undefined ? undefined : byIndex.get(index)
    if (!part) {
      part = { type: 'reasoning', segments: [], at: `${at}/${i}` }
      decoded.parts.push(part)
      if (index !== undefined) byIndex.set(index, part)
    }
    if (read.text) {
      const last = part.segments.at(-1)
      const kind = read.signature?.form === 'thinking' && entry['format'] === format ? 'summary' : read.kind
      if (last && last.kind === kind && kind === 'raw' && entry['format'] !== format) last.text += read.text
      else part.segments.push({ kind, text: read.text })
    }
    if (read.id !== undefined) part.id = read.id
    if (read.signature) part.signature = read.signature
  })
  for (const part of decoded.parts) {
    if (part.segments.length === 0 && part.signature && part.signature.form !== 'thinking') part.redacted = true
    // A thinking block shows a summary, whatever the entry that carried it is called.
    if (part.signature?.form === 'thinking' && !isOwnIssuer(part.signature.issuer)) for (const segment of part.segments) segment.kind = 'summary'
  }
  decoded.parts = decoded.parts.filter(({ segments, signature, id }) => segments.length > 0 || signature || id !== undefined)
  return decoded
}

type Detail = { kind: 'summary' | 'raw'; text: string; signature?: Signature; id?: string; attach?: string; layout?: string[] }

/** One entry of `reasoning_details`, in a message or in a delta. */
export function decodeDetail(entry: JsonObject): Detail {
  const { type, text, summary, data, signature: proof, id } = entry
  // Told by its field rather than by its type: clients that merge entries of one index keep the last of the types.
  const summed = typeof text !== 'string' && typeof summary === 'string'
  const told = typeof text === 'string' ? text : summed ? summary : ''
  const opaque = typeof proof === 'string' && proof ? proof : typeof data === 'string' && data ? data : undefined
  const detail: Detail = { kind: summed || type === 'reasoning.summary' ? 'summary' : 'raw', text: told }
  if (opaque !== undefined) {
    const { signature, id: inner, attach } = readSignature(opaque, opaque === data ? 'encrypted' : 'thinking', entry['format'])
    if ((signature.form as string | undefined) === 'layout') return { ...detail, layout: readLayout(signature.value) }
    Object.assign(detail, defined({ signature, id: inner, attach }))
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

/** A block of reasoning inside the content array. */
export function decodeThinkingBlock(wire: ChatThinkingPart, at: string): ReasoningPart {
  const { type: _, thinking, signature, ...unknown } = wire
  // Text of any type is text; what else a piece says stands where it stood.
  const left = typeof thinking === 'string' ? [] : thinking.map(({ type, text: _text, ...rest }) => (type === 'text' ? rest : { type, ...rest }))
  const text = typeof thinking === 'string' ? thinking : thinking.map(piece => piece.text ?? '').join('')
  return {
    type: 'reasoning',
    segments: text ? [{ kind: 'raw', text }] : [],
    at,
    ...(signature && { signature: readSignature(signature, 'thinking').signature }),
    ...keep(left.some(piece => Object.keys(piece).length > 0) ? { ...unknown, thinking: left } : unknown, {}, { block: wire }),
  }
}

/** Undefined: the part did not come as a block. As it came while it means the same, else the same kind of block anew. */
export function encodeThinkingBlock(part: ReasoningPart): JsonObject | undefined {
  const { block } = ownForm(part.ext) ?? {}
  if (!isObject(block)) return undefined
  if (same(decodeThinkingBlock(block as ChatThinkingPart, part.at ?? ''), { at: '', ...part })) return block
  const { signature } = part
  return defined({
    ...block,
    thinking: [{ type: 'text', text: reasoningText([part]) }],
    signature: signature && isOwnIssuer(signature.issuer) ? signature.value : undefined,
  })
}

/** All segments of all parts as one text. Those without a word are no lines of their own: a stream has not written them either. */
export function reasoningText(parts: readonly ReasoningPart[]): string {
  const texts = flatMap(parts, ({ segments }) => segments.map(({ text }) => text))
  return texts.filter(text => text !== '').join('\n\n')
}

/** Is there anything that plain text does not carry? */
export function needsDetails(parts: readonly ReasoningPart[]): boolean {
  return parts.length > 1 || parts.some(({ signature, redacted, id, segments }) => signature || redacted || id !== undefined || segments.length > 1)
}

export type DetailsOf = Recorded & { parts: readonly ReasoningPart[] }

/** `reasoning_details`, complete. Signatures of others are wrapped together with who made them. */
export function encodeDetails({ parts, textSignatures, layout }: DetailsOf): JsonObject[] {
  const entries: JsonObject[] = []
  parts.forEach((part, index) => {
    const { segments, signature, id } = part
    const proof = signature && seal(signature, id)
    // What another server made is written back as it came, without our mark.
    const ours = signature !== undefined && isOwnIssuer(signature.issuer)
    const rest = defined({ format: ours ? formatOf(signature.issuer) : format, index })
    const named = defined({ id })
    // Only a thinking block's signature belongs to its text; others are blobs of their own.
    const onText = signature?.form === 'thinking'
    segments.forEach(({ kind, text }, i) => {
      const last = onText && i === segments.length - 1
      const told = !ours || last ? named : {}
      if (kind === 'raw' || onText) entries.push(defined({ type: 'reasoning.text', text, signature: last ? proof : undefined, ...told, ...rest }))
      else entries.push({ type: 'reasoning.summary', summary: text, ...told, ...rest })
    })
    if (proof !== undefined && !onText) entries.push({ type: 'reasoning.encrypted', data: proof, ...named, ...rest })
    else if (segments.length === 0 && (proof !== undefined || id !== undefined))
      entries.push(defined({ type: 'reasoning.text', text: '', signature: proof, ...named, ...rest }))
  })
  textSignatures.forEach((proof, i) => {
    entries.push({ type: 'reasoning.encrypted', data: wrapSignature(proof), format, index: parts.length + i })
  })
  if (layout) {
    const signature = { value: JSON.stringify(layout), issuer: protocolName, form: 'layout' } as unknown as Signature
    entries.push({ type: 'reasoning.encrypted', data: wrapSignature({ signature }), format, index: parts.length + Math.max(1, textSignatures.length) })
  }
  return entries
}

function seal(signature: Signature, id: string | undefined): string {
  return isOwnIssuer(signature.issuer) ? signature.value : wrapSignature(defined({ signature, id }))
}
