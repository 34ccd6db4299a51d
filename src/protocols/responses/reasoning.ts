import { addDelta } from '../../canonical/collect.ts'
import type { Proof } from '../../canonical/event.ts'
import type { Message, Part, Place, ReasoningPart, ReasoningSegment, Signature } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { unwrapSignature, wrapSignature } from '../../kit/envelope.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { isObject, type JsonObject, same } from '../../kit/json.ts'
import { itemStatus, ownItem } from './item-head.ts'
import { absentOf, keep, ownForm, ownOf, protocolName, wireOf } from './own.ts'
import type { ResponsesReasoning } from './schema.ts'
import { opensEnvelopes, type Writing } from './writing.ts'

/** Owner of a signature in an item of its own: the part after or before the item, or the nth reasoning of the turn, from 0 (`r0`). */
export type Attachment = 'next' | 'prev' | (string & {})

/**
 * Deletes an id that was made up for a client, because this protocol requires one: its signature's envelope has no id. The
 * same protocol still writes the id, from the form. Changes the message, which is not shared yet.
 */
export function forgetMadeUpId(message: Message, { encrypted_content: encrypted }: JsonObject): void {
  const [part] = message.parts
  if (part?.type !== 'reasoning' || part.id === undefined || typeof encrypted !== 'string') return
  const envelope = unwrapSignature(encrypted)
  if (!envelope || envelope.id !== undefined) return
  delete part.id
}

/** `proven`: id and segment kinds of the reasoning that the carried signature belongs to. */
type DecodedReasoning = { part: ReasoningPart; fields: JsonObject; form: JsonObject; attach?: Attachment; proven?: Proven }

export type Proven = Omit<Proof, 'signature'>

/** Undefined: it has something that canonical reasoning lacks, so the item is kept whole. `model`: which made it, if known. */
export function decodeReasoning(wire: ResponsesReasoning, at: Place, model?: string): DecodedReasoning | undefined {
  const { type: _, id, summary, content, encrypted_content: encrypted, status: _status, ...fields } = wire
  const summaries = decodeSegments(summary ?? [], ['summary_text'], 'summary')
  const raws = decodeSegments(content ?? [], rawTypes, 'raw')
  if (!summaries || !raws) return undefined
  const segments = [...summaries, ...raws]
  const envelope = encrypted ? unwrapSignature(encrypted) : undefined
  const signature: Signature | undefined =
    envelope?.signature ?? (encrypted ? { value: encrypted, issuer: protocolName, ...(model !== undefined && { model }), form: 'encrypted' } : undefined)
  const hidden = segments.length === 0 && (signature?.form === 'encrypted' || signature?.form === 'redacted')
  const known = envelope?.id ?? (typeof id === 'string' && id !== '' ? id : undefined)
  const part: ReasoningPart = {
    type: 'reasoning',
    segments,
    ...(hidden && { redacted: true }),
    ...(known !== undefined && { id: known }),
    ...(signature && { signature }),
    at,
  }
  return {
    part,
    fields,
    // An empty seal or id means the same as none, and an envelope is opened: they are written again as they came.
    form: {
      ...(typeof id === 'string' && { id }),
      ...((envelope || encrypted === '') && { sealed: encrypted }),
      ...(content?.some(({ type }) => type !== 'reasoning_text') && { content }),
      ...absentOf(wire, ['summary', 'content', 'encrypted_content']),
    },
    ...defined({ attach: envelope?.attach, proven: envelope && defined({ id: envelope.id, kinds: envelope.kinds }) }),
  }
}

/** LiteLLM sends the text of reasoning as `output_text`, with empty lists beside it. */
const rawTypes: readonly unknown[] = ['reasoning_text', 'output_text']

function decodeSegments(list: readonly JsonObject[], types: readonly unknown[], kind: ReasoningSegment['kind']): ReasoningSegment[] | undefined {
  const segments: ReasoningSegment[] = []
  for (const { type: said, text, ...rest } of list) {
    if (!types.includes(said) || typeof text !== 'string' || !Object.values(rest).every(value => said === 'output_text' && same(value, []))) return undefined
    segments.push({ kind, text })
  }
  return segments
}

/** The kind under which a client gets a segment of this kind. */
export function shownAs(
  kind: ReasoningSegment['kind'],
  at: Place | undefined,
  { report, options }: Pick<Writing, 'report' | 'options'>,
): ReasoningSegment['kind'] {
  if (kind === 'summary' || options.rsRawReasoning !== 'summary') return kind
  report.once('reasoning.kind', at)
  return 'summary'
}

/**
 * Undefined: it may not be sent, which is noted. Signatures of other issuers are sent to a client in an envelope, and never
 * to an upstream, which would refuse them. `issuer`: of the signature, given apart where the signature comes later.
 */
export function encodeReasoning(part: ReasoningPart, message: Message, writing: Writing, issuer = part.signature?.issuer): JsonObject | undefined {
  const { signature, id, at, ext, cache } = part
  const { report, options, target } = writing
  report.ext(ext, at)
  if (cache) report.add('cache.place', at, 'cache')
  const own = ownItem(message, 'reasoning')
  const form = ownForm(own?.ext)
  const said = id ?? (typeof form?.['id'] === 'string' ? form['id'] : undefined)
  if (target === 'input') {
    if (options.retryWithoutReasoning) {
      report.add('reasoning.left-out', at)
      return undefined
    }
    if (signature && signature.issuer !== protocolName && !opensEnvelopes(writing)) {
      report.add('reasoning.foreign-signature', at)
      return undefined
    }
    if (!signature && (!own || (writing.storeless && id !== undefined && part.segments.length === 0))) {
      report.add('reasoning.unsigned', at)
      return undefined
    }
  }
  const segments = target === 'input' || own ? part.segments : part.segments.map(({ kind, text }) => ({ kind: shownAs(kind, at, writing), text }))
  const content = segments.filter(({ kind }) => kind === 'raw').map(({ text }) => ({ type: 'reasoning_text', text }))
  const shown =
    target === 'output' ? writing.itemId?.(said, 'rs_', own, issuer === protocolName || undefined) : options.rsReasoningId === 'omit' ? undefined : said
  // A proof holds the id that its item had elsewhere. In a stream the proof is known at the end, when there are segments.
  if (target === 'output' && !own && issuer === undefined && segments.length > 0) report.rest({ id }, at)
  const known = {
    type: 'reasoning',
    id: shown,
    summary: segments.filter(({ kind }) => kind === 'summary').map(({ text }) => ({ type: 'summary_text', text })),
    content: cameAs(content, form) ?? (own || content.length > 0 ? content : undefined),
    encrypted_content: signature
      ? (cameSealed(signature, form) ?? encodeSignature(signature, id, id !== undefined && target === 'output' && !own && shown !== id))
      : form?.['sealed'] === ''
        ? ''
        : undefined,
    status: itemStatus(message),
  }
  return wireOf(known, own?.ext)
}

/** The content as it came, if it has the same texts. */
function cameAs(content: readonly { text: string }[], form: JsonObject | undefined): unknown {
  const came = form?.['content']
  if (!Array.isArray(came)) return undefined
  const texts = came.map((block: unknown) => (isObject(block) ? block['text'] : undefined))
  return same(
    texts,
    content.map(({ text }) => text),
  )
    ? came
    : undefined
}

/** The envelope that a signature came in, if it still holds the same signature. */
function cameSealed({ value, issuer }: Signature, form: JsonObject | undefined): string | undefined {
  const sealed = form?.['sealed']
  if (typeof sealed !== 'string') return undefined
  const held = unwrapSignature(sealed)?.signature
  return held?.value === value && held.issuer === issuer ? sealed : undefined
}

/** `renamed`: the item got another id than the one that its issuer may compare with, which the envelope keeps. */
function encodeSignature(signature: Signature, id: string | undefined, renamed: boolean): string {
  if (signature.issuer === protocolName && !renamed) return signature.value
  return wrapSignature({ signature, ...(id !== undefined && { id }) })
}

/** An item that only carries the signature of the part beside it. */
export function carrierItem(signature: Signature, attach: Attachment, writing: Writing, { owner, proven }: { owner?: Part; proven?: Proven } = {}): JsonObject {
  const id = ownForm(owner?.ext)?.['carrier']
  return {
    type: 'reasoning',
    id: writing.native && typeof id === 'string' ? id : writing.itemId?.(undefined, 'rs_'),
    summary: [],
    encrypted_content: wrapSignature({ signature, attach, ...proven }),
  }
}

/** The part without its signature, which is written elsewhere. */
export function unsigned<P extends Part>({ signature: _, ...part }: P): P {
  return part as P
}

export type Carrier = {
  attach: Attachment
  signature: Signature
  id?: string | undefined
  proven?: Proven | undefined
  at?: Place
  before: Message | undefined
}

/** Puts carried signatures back on their parts. Changes the messages, which are not shared yet. */
export function attachCarriers(messages: Message[], carriers: readonly (Carrier & { index: number })[], orphaned: (at: Place | undefined) => void): void {
  for (const { attach, signature, id, proven, index, at } of carriers) {
    const owner = ownerOf(messages, index, attach)
    if (!owner) orphaned(at)
    else if (owner.type !== 'reasoning') Object.assign(owner, bearing(owner, { signature, id }))
    else {
      // Its id was made up for the client.
      delete owner.id
      addDelta(owner, { kind: 'signature', signature, ...proven })
    }
  }
}

/** What a part takes from the item that carried its signature: the signature, and the item's id in the form. */
export function bearing(part: Part, { signature, id }: { signature: Signature; id?: unknown }): Pick<Part, 'signature' | 'ext'> {
  if (id === undefined) return { signature }
  return { signature, ext: { ...part.ext, ...keep(ownOf(part.ext)?.fields ?? {}, {}, { ...ownForm(part.ext), carrier: id }).ext } }
}

/** `index`: number of messages before the carrier. */
function ownerOf(messages: Message[], index: number, attach: Attachment): Part | undefined {
  if (attach === 'next') return accepts(messages[index]?.parts[0])
  if (attach === 'prev') return accepts(messages[index - 1]?.parts.at(-1))
  const nth = ordinalOf(attach)
  if (nth === undefined) return undefined
  let start = index
  while (messages[start - 1]?.role === 'assistant') start--
  const reasoning = flatMap(messages.slice(start, index), ({ parts }) => parts.filter(part => part.type === 'reasoning'))
  return reasoning[nth]
}

/** The number of the reasoning (`r0` → 0). Undefined: another attachment. */
export function ordinalOf(attach: Attachment): number | undefined {
  const nth = /^r(\d+)$/.exec(attach)?.[1]
  return nth === undefined ? undefined : Number(nth)
}

/** The part, if its signature may be in an item beside it; else undefined. */
export function accepts(part: Part | undefined): Part | undefined {
  if (part?.type === 'server-tool') return part.tool === 'image_generation' ? part : undefined
  return part?.type === 'tool-call' || part?.type === 'text' || part?.type === 'media' || part?.type === 'refusal' ? part : undefined
}
