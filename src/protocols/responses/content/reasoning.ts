import { addDelta } from '../../../canonical/collect.ts'
import type { PlacedSignature } from '../../../canonical/event.ts'
import type {
  Message,
  Part,
  Place,
  ReasoningPart,
  ReasoningSegment,
  Signature,
} from '../../../canonical/message.ts'
import { keysOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { type JsonObject, same } from '../../../kit/json/json.ts'
import { unwrapSignature, wrapSignature } from '../../../kit/signatures/envelope.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { protocolName, type ResponsesReport, wireOf } from '../own.ts'
import type { ResponsesReasoning } from '../schema.ts'
import type { ResponsesItemOf } from '../written.ts'
import { itemOf, opensEnvelopes, type Writing, withHead } from './writing.ts'

/**
 * Owner of a signature in an item of its own: the part after or before the item, or the nth
 * reasoning of the turn, from 0 (`r0`).
 */
export type Attachment = 'next' | 'prev' | (string & {})

/**
 * Deletes an id that was made up for a client, because this protocol requires one: its signature's
 * envelope has no id. Changes the message, which is not shared yet.
 */
export function forgetMadeUpId(
  message: Message,
  { encrypted_content: encrypted }: JsonObject,
): void {
  const [part] = message.parts
  if (part?.type !== 'reasoning' || part.id === undefined || typeof encrypted !== 'string') return
  const envelope = unwrapSignature(encrypted)
  if (!envelope || envelope.id !== undefined) return
  delete part.id
}

/** `proven`: id and segment kinds of the reasoning that the carried signature belongs to. */
export type DecodedItem = { message: Message; attach?: Attachment; proven?: Proven }

export type Proven = Omit<PlacedSignature, 'signature'>

const known = keysOf<ResponsesReasoning>()('type id summary content encrypted_content status')

/**
 * Undefined: it has something that canonical reasoning lacks, so the item is kept whole. `model`:
 * which made it, if known.
 */
export function decodeReasoning(
  wire: ResponsesReasoning,
  at: Place,
  model?: string,
): DecodedItem | undefined {
  const { id, summary, content, encrypted_content: encrypted } = wire
  const summaries = decodeSegments(summary ?? [], ['summary_text'], 'summary')
  const raws = decodeSegments(content ?? [], rawTypes, 'raw')
  if (!summaries || !raws) return undefined
  const envelope = encrypted ? unwrapSignature(encrypted) : undefined
  const signature: Signature | undefined =
    envelope?.signature ??
    (encrypted
      ? {
          value: encrypted,
          issuer: protocolName,
          ...(model !== undefined && { model }),
          form: 'encrypted',
        }
      : undefined)
  const part: ReasoningPart = { type: 'reasoning', segments: [...summaries, ...raws], at }
  if (
    part.segments.length === 0 &&
    (signature?.form === 'encrypted' || signature?.form === 'redacted')
  )
    part.redacted = true
  const itemId = envelope?.id ?? (typeof id === 'string' && id !== '' ? id : undefined)
  if (itemId !== undefined) part.id = itemId
  if (signature) part.signature = signature
  const message = withHead(itemOf('assistant', part, at), wire, known)
  // Its id is that of the part.
  delete message.id
  if (!envelope) return { message }
  return omitUndefined({
    message,
    attach: envelope.attach,
    proven: omitUndefined({ id: envelope.id, kinds: envelope.kinds }),
  })
}

/** LiteLLM sends the text of reasoning as `output_text`, with empty lists next to it. */
const rawTypes: readonly unknown[] = ['reasoning_text', 'output_text']

function decodeSegments(
  list: readonly JsonObject[],
  types: readonly unknown[],
  kind: ReasoningSegment['kind'],
): ReasoningSegment[] | undefined {
  const segments: ReasoningSegment[] = []
  for (const { type: segmentType, text, ...rest } of list) {
    if (
      !types.includes(segmentType) ||
      typeof text !== 'string' ||
      !Object.values(rest).every(value => segmentType === 'output_text' && same(value, []))
    )
      return undefined
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
  if (kind === 'summary' || options.rawReasoning !== 'summary') return kind
  report.once('reasoning.kind', at)
  return 'summary'
}

/**
 * Undefined: it may not be sent, which is noted. Signatures of other issuers are sent to a client
 * in an envelope, and never to an upstream, which would refuse them. `issuer`: of the signature,
 * given apart where the signature comes later.
 */
export function encodeReasoning(
  part: ReasoningPart,
  message: Message,
  writing: Writing,
  issuer = part.signature?.issuer,
): ResponsesItemOf<'reasoning'> | undefined {
  const { signature, id, at } = part
  const { report, target, native } = writing
  report.ext(part.ext, at)
  if (part.cache) report.add('cache.unsupported', at, 'cache')
  if (target === 'input') {
    if (signature && signature.issuer !== protocolName && !opensEnvelopes(writing)) {
      report.add('reasoning.foreign-signature', at)
      return undefined
    }
    if (!signature && !native) {
      report.add('reasoning.unsigned', at)
      return undefined
    }
  }
  const segments =
    target === 'input' || native
      ? part.segments
      : part.segments.map(({ kind, text }) => ({ kind: shownAs(kind, at, writing), text }))
  const content = segments
    .filter(({ kind }) => kind === 'raw')
    .map(({ text }) => ({ type: 'reasoning_text' as const, text }))
  const shown =
    target === 'output' ? writing.itemId?.(id, 'rs_', issuer === protocolName || undefined) : id
  // A signature holds the id that its item had elsewhere. In a stream the signature is known at the
  // end, when there are segments.
  if (target === 'output' && !native && issuer === undefined && segments.length > 0)
    report.rest({ id }, at)
  return wireOf<ResponsesItemOf<'reasoning'>>(
    {
      type: 'reasoning',
      id: shown,
      summary: segments
        .filter(({ kind }) => kind === 'summary')
        .map(({ text }) => ({ type: 'summary_text' as const, text })),
      content: content.length > 0 ? content : undefined,
      encrypted_content:
        signature &&
        encodeSignature(signature, id, id !== undefined && target === 'output' && shown !== id),
      status: message.status,
    },
    message.ext,
  )
}

/**
 * `renamed`: the item got another id than the one that its issuer may compare with, which the
 * envelope keeps.
 */
function encodeSignature(signature: Signature, id: string | undefined, renamed: boolean): string {
  if (signature.issuer === protocolName && !renamed) return signature.value
  return wrapSignature({ signature, ...(id !== undefined && { id }) })
}

/** An item that only carries the signature of the part next to it. */
export function carrierItem(
  signature: Signature,
  attach: Attachment,
  writing: Writing,
  proven?: Proven,
): ResponsesItemOf<'reasoning'> {
  return {
    type: 'reasoning',
    id: writing.itemId?.(undefined, 'rs_'),
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
  proven?: Proven | undefined
  at?: Place
}

/** Puts carried signatures back on their parts. Changes the messages, which are not shared yet. */
export function attachCarriers(
  messages: Message[],
  carriers: readonly (Carrier & { index: number })[],
  report: ResponsesReport,
): void {
  for (const { attach, signature, proven, index, at } of carriers) {
    const owner = ownerOf(messages, index, attach)
    if (!owner) noteOrphan(at, report)
    else if (owner.type !== 'reasoning') owner.signature = signature
    else {
      // Its id was made up for the client.
      delete owner.id
      addDelta(owner, { kind: 'signature', signature, ...proven })
    }
  }
}

/** Notes the signature of a part that is not there. `at`: path of the item that carries it. */
export const noteOrphan = (at: Place | undefined, report: ResponsesReport) =>
  report.add('reasoning.signature-orphaned', at)

/** `index`: number of messages before the carrier. */
function ownerOf(messages: Message[], index: number, attach: Attachment): Part | undefined {
  if (attach === 'next') return accepts(messages[index]?.parts[0])
  if (attach === 'prev') return accepts(messages[index - 1]?.parts.at(-1))
  const nth = ordinalOf(attach)
  if (nth === undefined) return undefined
  let start = index
  while (messages[start - 1]?.role === 'assistant') start--
  const reasoning = flatMap(messages.slice(start, index), ({ parts }) =>
    parts.filter(part => part.type === 'reasoning'),
  )
  return reasoning[nth]
}

/** The number of the reasoning (`r0` → 0). Undefined: another attachment. */
export function ordinalOf(attach: Attachment): number | undefined {
  const nth = /^r(\d+)$/.exec(attach)?.[1]
  return nth === undefined ? undefined : Number(nth)
}

/** The part, if its signature may be in an item next to it; else undefined. */
export function accepts(part: Part | undefined): Part | undefined {
  if (part?.type === 'server-tool') return part.tool === 'image_generation' ? part : undefined
  return part?.type === 'tool-call' ||
    part?.type === 'text' ||
    part?.type === 'media' ||
    part?.type === 'refusal'
    ? part
    : undefined
}
