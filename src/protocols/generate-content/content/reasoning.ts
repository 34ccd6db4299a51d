import type {
  Part,
  Place,
  ReasoningPart,
  ReasoningSegment,
  Signature,
  TextPart,
} from '../../../canonical/message.ts'
import { phaseSignature } from '../../../kit/conversation/phases.ts'
import { proofOf } from '../../../kit/conversation/turns.ts'
import { type Keys, keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { writtenReasoning } from '../../../kit/fields/written.ts'
import { isObject, type JsonObject, parseJson } from '../../../kit/json/json.ts'
import {
  type Envelope,
  isEnvelope,
  unwrapSignature,
  wrapSignatureInBase64,
} from '../../../kit/signatures/envelope.ts'
import { placeholder } from '../../../kit/signatures/placeholder.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { cutIn } from '../../../kit/text/text.ts'
import { extOf, ownFields, protocolName } from '../own.ts'
import type { GenerateContentPart, GenerateContentPartOf } from '../schema.ts'
import type { GenerateContentWrittenPart } from '../written.ts'
import type { Writing } from './writing.ts'

/** Reasoning, and the signatures of parts of any kind. */

// ---- wire → canonical

/** The signature of a part of any kind, and its envelope if it came in one. */
export function decodeSignature(value: string | null | undefined): {
  signature?: Signature
  envelope?: Envelope
} {
  if (!value || value === placeholder) return {}
  const envelope = unwrapSignature(value)
  const carried = carriedBy(envelope)
  if (carried) return decodeSignature(carried.own)
  // A damaged envelope has no valid signature.
  if (!envelope && isEnvelope(value)) return {}
  return envelope
    ? { signature: envelope.signature, envelope }
    : { signature: { value, issuer: protocolName, form: 'thought' } }
}

/**
 * The unknown keys of a part that is no thought. `known` has `thought`, which there means something
 * only when it is true.
 */
export function unknownOfPart(part: GenerateContentPart, known: Keys): JsonObject | undefined {
  const unknown = unknownOf(part, known)
  return part.thought ? { ...unknown, thought: part.thought } : unknown
}

const knownThought = keysOf<GenerateContentPartOf<'text'>>()('text thought thoughtSignature')

export function decodeThought(
  part: GenerateContentPart & { text?: unknown },
  at: Place,
): ReasoningPart {
  const { text } = part
  const { signature, envelope } = decodeSignature(part.thoughtSignature)
  return {
    type: 'reasoning',
    segments:
      typeof text === 'string' && text
        ? [{ kind: envelope?.kinds?.at(-1) ?? 'summary', text }]
        : [],
    ...omitUndefined({
      signature,
      id: envelope?.id,
      at,
      ext: extOf(unknownOf(part, knownThought)),
    }),
  }
}

const ofReasoning = new Set<Signature['form']>(['thinking', 'redacted', 'encrypted'])

/**
 * Reasoning of another protocol without visible text: an empty text with its signature in an
 * envelope. Undefined: not such a part.
 */
export function decodeHidden(
  part: GenerateContentPart & { text?: unknown },
  at: Place,
): ReasoningPart | undefined {
  const { signature, envelope } = decodeSignature(part.thoughtSignature)
  if (
    !envelope ||
    !signature ||
    signature.issuer === protocolName ||
    (envelope.attach !== undefined && ordinalOf(envelope) === undefined)
  )
    return undefined
  if (part.text !== '' && !ofReasoning.has(signature.form)) return undefined
  return {
    type: 'reasoning',
    segments: [],
    ...omitUndefined({
      redacted: signature.form === 'thinking' ? undefined : true,
      signature,
      id: envelope.id,
      at,
      ext: extOf(unknownOf(part, knownThought)),
    }),
  }
}

/**
 * Joins a thought that was written in chunks (segments or stream events), if the lengths in its
 * envelope match. Removes the earlier chunks from `before`.
 */
export function rejoin(
  part: ReasoningPart,
  value: string | null | undefined,
  before: Part[],
): ReasoningPart {
  const envelope = value ? unwrapSignature(value) : undefined
  const lengths = envelope?.lengths
  if (!envelope || !lengths) return part
  const wanted = lengths.reduce((sum, length) => sum + length, 0)
  let length = lengthOf(part)
  let from = before.length
  while (length < wanted) {
    const earlier = before[from - 1]
    if (earlier?.type !== 'reasoning' || earlier.signature || ownFields(earlier.ext)) break
    length += lengthOf(earlier)
    from--
  }
  if (length !== wanted) return part
  const chunks = [...(before.splice(from) as ReasoningPart[]), part]
  return { ...part, segments: cut(chunks.map(textOf).join(''), envelope) }
}

const lengthOf = ({ segments }: ReasoningPart) =>
  segments.reduce((sum, { text }) => sum + text.length, 0)

const textOf = ({ segments }: ReasoningPart) => segments.map(({ text }) => text).join('')

function cut(text: string, { lengths = [], kinds }: Envelope): ReasoningSegment[] {
  let start = 0
  return lengths.map((length, nth) => {
    const segment = text.slice(start, start + length)
    start += length
    return { kind: kinds?.[nth] ?? ('summary' as const), text: segment }
  })
}

/**
 * Which thought a late signature belongs to, counted from 0 (`r2`: the third). Undefined: not the
 * envelope of a late signature.
 */
export function ordinalOf({ attach }: Envelope): number | undefined {
  const nth = /^r(\d+)$/.exec(attach ?? '')?.[1]
  return nth === undefined ? undefined : Number(nth)
}

/**
 * Puts a late signature on the thought whose length its envelope gives, and joins the chunks of
 * that thought. Changes `parts`. False: no such thought.
 */
export function provesThought(
  { text, thoughtSignature }: GenerateContentPart,
  parts: Part[],
): boolean {
  const { signature, envelope } = decodeSignature(thoughtSignature)
  if (text !== '' || !signature || !envelope || ordinalOf(envelope) === undefined) return false
  const wanted = (envelope.lengths ?? []).reduce((sum, length) => sum + length, 0)
  const found = wanted > 0 ? unsignedOfLength(wanted, parts) : undefined
  if (!found) return false
  const { from, chunks } = found
  parts.splice(from, chunks.length, {
    ...(chunks[0] as ReasoningPart),
    segments: cut(chunks.map(textOf).join(''), envelope),
    signature,
    ...omitUndefined({ id: envelope.id }),
  })
  return true
}

/**
 * No response has so many parts before its late signatures. Further back, each signature would be
 * looked for among all parts.
 */
const farthest = 1000

/**
 * Thoughts in a row without a signature that have this many characters together. The first such
 * ones, if there are several.
 */
function unsignedOfLength(
  wanted: number,
  parts: readonly Part[],
): { from: number; chunks: ReasoningPart[] } | undefined {
  let from = Math.max(0, parts.length - farthest)
  let chunks: ReasoningPart[] = []
  let length = 0
  for (const part of parts.slice(from)) {
    if (part.type !== 'reasoning' || part.signature?.value) {
      from += chunks.length + 1
      chunks = []
      length = 0
      continue
    }
    chunks.push(part)
    length += lengthOf(part)
    while (length > wanted) {
      length -= lengthOf(chunks.shift() as ReasoningPart)
      from++
    }
    if (length === wanted) return { from, chunks }
  }
  return undefined
}

// ---- canonical → wire

/**
 * The signature to write. This provider's own: bare, or in an envelope that has more. Another's: in
 * an envelope for a client, not for a provider.
 */
export function sign(
  part: Part,
  { report, opens, model, unsigned }: Writing,
  beside: Omit<Envelope, 'signature'> = {},
): { thoughtSignature?: string } {
  const { signature, at } = part
  if (signature?.issuer === protocolName) {
    if (!opens && isOtherFamily(signature.model, model)) report.add('reasoning.other-model', at)
    const bare = beside.id === undefined && beside.lengths === undefined
    return {
      thoughtSignature:
        !opens || bare ? signature.value : wrapSignatureInBase64({ signature, ...beside }),
    }
  }
  if (signature && opens)
    return { thoughtSignature: wrapSignatureInBase64({ signature, ...beside }) }
  if (signature) report.add('reasoning.foreign-signature', at, 'signature')
  return unsigned?.has(part) ? { thoughtSignature: placeholder } : {}
}

/** One part for each segment; the last one has the signature. */
export function encodeReasoning(
  part: ReasoningPart,
  writing: Writing,
): GenerateContentWrittenPart[] {
  const { report, opens } = writing
  const { id, signature, at, ext } = part
  report.node(part, writtenReasoning)
  const segments = part.segments.filter(({ text }) => text)
  const isEmpty = segments.length === 0
  const carried = opens && signature !== undefined
  if (!carried) report.onceEach('message.envelope', at, { itemId: id })
  const kinds = segments.some(({ kind }) => kind === 'raw')
    ? segments.map(({ kind }) => kind)
    : undefined
  if (kinds && !carried) report.add('reasoning.kind', at)
  const isOwn = signature?.issuer === protocolName
  if (isEmpty && !opens && signature && !isOwn) {
    report.add('reasoning.foreign-signature', at)
    return []
  }
  const beside = carried
    ? omitUndefined({
        id,
        lengths: isOwn || isEmpty ? undefined : segments.map(({ text }) => text.length),
        kinds,
      })
    : {}
  const signed = sign(part, writing, beside)
  if (isEmpty) {
    if (!signed.thoughtSignature) return []
    // A foreign signature is put on a text, not a thought: clients that drop reasoning keep signed
    // texts.
    return [{ ...ownFields(ext), text: '', ...(isOwn && { thought: true }), ...signed }]
  }
  return segments.map(({ text }, nth) => ({
    ...(nth === 0 && ownFields(ext)),
    text,
    thought: true,
    ...(nth === segments.length - 1 && signed),
  }))
}

/**
 * The part that gives a client the phase of the text after it: an empty text, which other clients
 * do not show.
 */
export function phasePart(phase: NonNullable<TextPart['phase']>): GenerateContentWrittenPart {
  return { text: '', thoughtSignature: wrapSignatureInBase64({ signature: phaseSignature(phase) }) }
}

/**
 * Do the models differ in family (`gemini-3-pro` of `gemini-3-pro-preview-11-2025`)? False when one
 * is unknown.
 */
function isOtherFamily(signer: string | undefined, reader: string | undefined): boolean {
  if (signer === undefined || reader === undefined) return false
  return familyOf(signer) !== familyOf(reader)
}

function familyOf(model: string): string {
  return /^(?:models\/)?(gemini-[\d.]+-[a-z]+)/.exec(model)?.[1] ?? model
}

/**
 * Some clients drop reasoning but keep the signatures of calls. For them the signature of a call
 * carries the reasoning before it, as a list of `[after, thought]`. `after`: the length of the text
 * between the previous call and the thought, in UTF-16 units.
 */

/**
 * The text length in UTF-16 units and the reasoning since the last call. Plain data, because
 * streams keep it in their state.
 */
export type Gathered = { units: number; reasoning: [after: number, thought: JsonObject][] }

export const nothingGathered = (): Gathered => ({ units: 0, reasoning: [] })

/** `attach` of an envelope that carries reasoning. */
const attach = 'reasoning'

/**
 * Puts the gathered reasoning into the signature of a call; gathers any other part. Changes
 * `gathered` and `written`.
 */
export function carryReasoning(
  gathered: Gathered,
  part: Part,
  written: readonly GenerateContentWrittenPart[],
): void {
  if (part.type === 'reasoning') {
    const { segments, redacted, signature, id } = part
    gathered.reasoning.push([gathered.units, omitUndefined({ segments, redacted, signature, id })])
    return
  }
  const [call] = written
  if (part.type !== 'tool-call' || !call) {
    for (const { text, thought } of written)
      if (typeof text === 'string' && thought !== true) gathered.units += text.length
    return
  }
  const { reasoning } = gathered
  if (reasoning.length > 0) {
    const value = JSON.stringify(
      omitUndefined({ reasoning, own: call.thoughtSignature ?? undefined }),
    )
    call.thoughtSignature = wrapSignatureInBase64({
      signature: { value, issuer: protocolName },
      attach,
    })
  }
  Object.assign(gathered, nothingGathered())
}

/**
 * The reasoning that the signature of a call carries, and the call's own signature (`own`).
 * Undefined: it carries none.
 */
export function carriedBy(
  envelope: Envelope | undefined,
): { reasoning: Gathered['reasoning']; own?: string } | undefined {
  if (envelope?.attach !== attach) return undefined
  const { reasoning, own } = asObject(parseJson(envelope.signature.value))
  const isCarried = (one: unknown): one is [number, JsonObject] =>
    Array.isArray(one) && typeof one[0] === 'number' && isObject(one[1])
  return {
    reasoning: Array.isArray(reasoning) ? reasoning.filter(isCarried) : [],
    ...omitUndefined({ own: asText(own) }),
  }
}

/**
 * Puts the carried reasoning of a call back at its positions, replacing what the client kept.
 * `before`: the parts of the same response before the call; changed.
 */
export function restoreReasoning(carried: Gathered['reasoning'], before: Part[], at: Place): void {
  const from = before.findLastIndex(({ type }) => type === 'tool-call') + 1
  const content = before.slice(from).filter(({ type }) => type !== 'reasoning')
  before.length = from
  let units = 0
  let next = 0
  for (const [after, thought] of carried) {
    let part = content[next]
    while (part && units < after && units + unitsOf(part) <= after) {
      units += unitsOf(part)
      before.push(part)
      part = content[++next]
    }
    // Without the thought between them, clients join two texts into one.
    const cut = part?.type === 'text' ? cutIn(part.text, after - units) : 0
    if (part?.type === 'text' && cut > 0) {
      // The signature is for the whole text, so it stays on the last chunk.
      const { signature: _, ext: __, ...head } = part
      before.push({ ...head, text: part.text.slice(0, cut) })
      content[next] = { ...part, text: part.text.slice(cut) }
      units += cut
    }
    const again = readThought(thought, at)
    if (!isRepeatedThought(again, before)) before.push(again)
  }
  for (const part of content.slice(next)) before.push(part)
}

function isRepeatedThought(thought: ReasoningPart, parts: readonly Part[]): boolean {
  const proof = proofOf(thought)
  if (proof === undefined) return false
  for (let i = parts.length - 1; i >= Math.max(0, parts.length - farthest); i--)
    if (proofOf(parts[i] as Part) === proof) return true
  return false
}

const unitsOf = (part: Part) => (part.type === 'text' ? part.text.length : 0)

function readThought({ segments, redacted, signature, id }: JsonObject, at: Place): ReasoningPart {
  const valid = flatMap(
    Array.isArray(segments) ? segments : [],
    (one: unknown): ReasoningSegment[] => {
      const { kind, text } = asObject(one)
      return typeof text === 'string' ? [{ kind: kind === 'raw' ? 'raw' : 'summary', text }] : []
    },
  )
  return {
    type: 'reasoning',
    segments: valid,
    ...(redacted === true && { redacted }),
    ...omitUndefined({ signature: readSignature(signature), id: asText(id) }),
    at,
  }
}

function readSignature(encoded: unknown): Signature | undefined {
  const { value, issuer, model, form: made } = asObject(encoded)
  if (typeof value !== 'string' || typeof issuer !== 'string') return undefined
  return {
    value,
    issuer,
    ...omitUndefined({ model: asText(model), form: asText(made) as Signature['form'] }),
  }
}

const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {})

const asText = (value: unknown) => (typeof value === 'string' ? value : undefined)
