import { addDelta } from '../../../canonical/collect.ts'
import { copyOf } from '../../../canonical/copy.ts'
import type { Delta, PlacedSignature } from '../../../canonical/event.ts'
import type { Part, ReasoningSegment, TextPart } from '../../../canonical/message.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { wrapSignatureInBase64 } from '../../../kit/signatures/envelope.ts'
import { encodeGrounding } from '../content/citations.ts'
import { encodePart } from '../content/content.ts'
import { carryReasoning, phasePart, sign } from '../content/reasoning.ts'
import { ownFields } from '../own.ts'
import { encodeLogprobs, noteLogprobs } from '../response/finish.ts'
import { isCalled, responseWriting, textParts } from '../response/response.ts'
import type { GenerateContentWrittenPart } from '../written.ts'
import {
  type Beside,
  type EmitWire,
  type EncoderState,
  type Lane,
  type Pending,
  reportOf,
  writeParts,
} from './encoder-state.ts'

/**
 * Writes the parts of one candidate in a stream: texts and reasoning as their deltas come, all
 * other parts whole.
 */

export function startPart(
  state: EncoderState,
  lane: Lane,
  key: string,
  head: Part,
  emit: EmitWire,
): void {
  // The source was cut off before the end of the open part. A call that was cut off makes the end
  // of the stream an error.
  if (lane.open) {
    if (state.truncated === 'error' || lane.open.part.type === 'tool-call') return
    endPart(state, lane, { part: lane.open.key }, emit)
  }
  lane.called ||= isCalled(head)
  lane.open = { key, part: copyOf(head), sent: 0 }
  flush(state, lane, lane.open, emit)
}

export function takeDelta(
  state: EncoderState,
  lane: Lane,
  key: string,
  delta: Delta,
  emit: EmitWire,
): void {
  const { open } = lane
  if (open?.key !== key) {
    if (delta.kind === 'signature') proveLate(lane, key, delta)
    return
  }
  const added = addedBy(open, delta)
  addDelta(open.part, delta.kind === 'fields' ? ofStreamed(open.part, delta) : delta)
  write(
    state,
    lane,
    { pending: open, chunks: added ? [added] : unsent(open.part, open.sent) },
    emit,
  )
}

/**
 * The chunk of a delta that only adds to the end. Undefined: what is unsent must be looked for, in
 * a text that has grown long.
 */
function addedBy({ part, sent }: Pending, delta: Delta): Chunk | undefined {
  if (delta.kind === 'text' && delta.text && (part.type === 'text' || part.type === 'refusal'))
    return part.text.length === sent ? { text: delta.text, divided: false } : undefined
  if (delta.kind !== 'reasoning' || !delta.text || part.type !== 'reasoning') return undefined
  const { segments } = part
  if (delta.segment < segments.length - 1) return undefined
  // What the deltas before brought is sent.
  return { text: delta.text, divided: sent > 0 && !segments[delta.segment]?.text }
}

/**
 * Late fields without segments that would change the written text: an empty line that was streamed
 * is not between them.
 */
function ofStreamed(part: Part, delta: Extract<Delta, { kind: 'fields' }>): Delta {
  const { segments, ...fields } = delta.fields
  if (!segments || wordsOf(part) === joined(segments)) return delta
  return { ...delta, fields }
}

/**
 * A signature that comes after its thought has ended is put on an empty text, with the index of the
 * thought.
 */
function proveLate(
  { reasoning, signatures }: Lane,
  key: string,
  { signature, id, kinds }: PlacedSignature,
): void {
  const thought = Object.hasOwn(reasoning, key) ? reasoning[key] : undefined
  if (!thought) return
  const { nth, lengths } = thought
  signatures.push({
    text: '',
    thoughtSignature: wrapSignatureInBase64({
      signature,
      attach: `r${nth}`,
      lengths,
      ...omitUndefined({ id, kinds }),
    }),
  })
}

type Ending = { part: string | number; cut?: boolean }

export function endPart(
  state: EncoderState,
  lane: Lane,
  { part, cut }: Ending,
  emit: EmitWire,
): void {
  const { open } = lane
  if (open?.key !== `${part}`) return
  if (cut && open.part.type === 'tool-call') open.part.cut = true
  close(state, lane, open, emit)
}

const wordsOf = (part: Part): string => {
  if (part.type === 'text' || part.type === 'refusal') return part.text
  if (part.type === 'reasoning') return joined(part.segments)
  return ''
}

const joined = (segments: readonly ReasoningSegment[]) => segments.map(({ text }) => text).join('')

/** Writes the text that is not written yet. */
function flush(state: EncoderState, lane: Lane, pending: Pending, emit: EmitWire): void {
  write(state, lane, { pending, chunks: unsent(pending.part, pending.sent) }, emit)
}

type Unsent = { pending: Pending; chunks: readonly Chunk[] }

function write(state: EncoderState, lane: Lane, { pending, chunks }: Unsent, emit: EmitWire): void {
  const { part, sent } = pending
  if (chunks.length === 0) return
  flushPending(state, lane, emit)
  const thought = part.type === 'reasoning' && { thought: true }
  const parts: JsonObject[] = []
  for (const { text, divided } of chunks) {
    pending.sent += text.length
    // An empty thought before the chunk begins the next segment.
    parts.push(...(divided ? [{ text: '', thought: true }] : []), { text, ...thought })
  }
  const [first, ...rest] = parts
  const front =
    (part.type === 'text' || part.type === 'refusal') && part.phase ? [phasePart(part.phase)] : []
  writeParts(
    state,
    lane,
    sent === 0
      ? [...apart(lane, [...front, { ...ownFields(part.ext), ...first }]), ...rest]
      : parts,
    {},
    emit,
  )
}

/** Text that is not written yet. `divided`: the chunk begins a segment that is not the first. */
type Chunk = { text: string; divided: boolean }

/** The chunks of a part that are not written yet. */
function unsent(part: Part, sent: number): Chunk[] {
  if (part.type !== 'reasoning') {
    const text = wordsOf(part).slice(sent)
    return text ? [{ text, divided: false }] : []
  }
  const chunks: Chunk[] = []
  let start = 0
  for (const { text } of part.segments) {
    const left = text.slice(Math.max(0, sent - start))
    if (left) chunks.push({ text: left, divided: start > 0 && sent <= start })
    start += text.length
  }
  return chunks
}

/**
 * Decoders append a text to a previous one of the same kind: an empty text between them marks a new
 * part.
 */
function apart(
  lane: Lane,
  parts: readonly GenerateContentWrittenPart[],
): GenerateContentWrittenPart[] {
  return parts.flatMap(part => {
    const { text, thought, thoughtSignature } = part
    if (text === '' && thoughtSignature === undefined) return [part]
    const kindOfText = thought === true ? 'thought' : 'text'
    const kind = typeof text === 'string' ? kindOfText : undefined
    const divided = kind !== undefined && kind === lane.openKind
    lane.openKind = thoughtSignature === undefined ? kind : undefined
    return divided ? [{ text: '' }, part] : [part]
  })
}

function close(state: EncoderState, lane: Lane, pending: Pending, emit: EmitWire): void {
  flush(state, lane, pending, emit)
  lane.open = undefined
  const { part, sent } = pending
  const report = reportOf(state)
  const writing = responseWriting(report, false, text => lane.texts.push(text))
  const written = encodePart(part, writing)
  if (lane.gathered) carryReasoning(lane.gathered, part, written)
  if (part.type !== 'text') for (const text of written.flatMap(textParts)) countText(lane, text)
  if (part.type === 'reasoning' && written.length > 0)
    lane.reasoning[pending.key] = {
      nth: lane.thoughts++,
      lengths: part.segments.map(({ text }) => text.length).filter(Boolean),
    }
  if (sent === 0) {
    // A part of which nothing is written does not count as the next part.
    if (written.length > 0) flushPending(state, lane, emit)
    const parts = apart(lane, written)
    report.resolvePending(parts, '/candidates/0/content/parts')
    writeParts(state, lane, parts, {}, emit)
    return
  }
  if (part.type === 'reasoning') {
    const { thoughtSignature } = written.at(-1) ?? {}
    if (!thoughtSignature) return
    lane.openKind = undefined
    writeParts(state, lane, [{ text: '', thought: true, thoughtSignature }], {}, emit)
    return
  }
  const signed = sign(part, writing, { attach: 'prev' })
  const beside = part.type === 'text' ? besideText(state, lane, part) : {}
  if (signed.thoughtSignature || Object.keys(beside).length > 0)
    lane.pending = { part: { text: '', ...signed }, beside }
}

function countText(lane: Lane, part: TextPart): void {
  lane.texts.push(part)
  lane.written.bytes += byteLength(part.text)
}

const byteLength = (text: string) => new TextEncoder().encode(text).length

/** The logprobs and citations of a text, which are fields of its candidate. */
function besideText(
  state: EncoderState,
  lane: Lane,
  { text, citations = [], logprobs, at }: Extract<Part, { type: 'text' }>,
): Beside {
  const report = reportOf(state)
  const lost = (_: number, loss: 'some' | 'all') =>
    report.add(loss === 'all' ? 'citation.unsupported' : 'citation.approximated', at, 'citations')
  const grounding =
    citations.length > 0 ? encodeGrounding([{ text, citations }], lost, lane.written) : undefined
  lane.written.bytes += byteLength(text)
  if (logprobs) noteLogprobs(logprobs, at, report)
  return omitUndefined({
    logprobsResult: logprobs && encodeLogprobs(logprobs),
    groundingMetadata: grounding,
  })
}

/** Writes what follows a text (signature, logprobs, citations) before the next part begins. */
export function flushPending(state: EncoderState, lane: Lane, emit: EmitWire): void {
  const { pending } = lane
  if (!pending) return
  lane.pending = undefined
  lane.grounded ||= pending.beside.groundingMetadata !== undefined
  if (pending.part.thoughtSignature !== undefined) lane.openKind = undefined
  writeParts(state, lane, [pending.part], pending.beside, emit)
}
