import { addDelta } from '../../../canonical/collect.ts'
import type { Delta, PlacedSignature } from '../../../canonical/event.ts'
import type {
  Citation,
  Part,
  Place,
  ReasoningPart,
  RefusalPart,
  TextPart,
  TokenLogprob,
  ToolCallPart,
} from '../../../canonical/message.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { append } from '../../../kit/text/append.ts'
import { lengthLater } from '../../../kit/text/text.ts'
import { encodeCall } from '../content/calls.ts'
import { encodeCitation, encodeToken, encodeWords } from '../content/content.ts'
import { carrierItem, encodeReasoning, shownAs, unsigned } from '../content/reasoning.ts'
import { startWriting } from '../content/writing.ts'
import { createResponsesReport, protocolName } from '../own.ts'
import { callIdOf } from '../response/envelope.ts'
import type { ResponsesSegmentPlace, ResponsesWrittenContent } from '../written.ts'
import {
  addItem,
  closeMessageItem,
  contentOf,
  type EmitWire,
  type EncoderState,
  endClosing,
  enterItem,
  headOf,
  hold,
  type OpenPart,
  placeOf,
  reportOf,
  wholeItem,
  write,
  writingOf,
} from './encoder-state.ts'

/** Opens a reasoning item. Its `encrypted_content` is written at its end, when it is complete. */
export function startReasoning(
  state: EncoderState,
  part: OpenPart,
  head: ReasoningPart,
  emit: EmitWire,
): void {
  closeMessageItem(state, part.message, undefined, emit)
  const writing = writingOf(state)
  const bare = { ...head, segments: [] }
  delete bare.signature
  const wire = encodeReasoning(bare, headOf(state, part.message), writing, head.signature?.issuer)
  if (!wire) return
  delete wire.status
  part.item = addItem(state, part.message, wire, emit)
  const value: ReasoningPart = { ...head, segments: [] }
  part.value = value
  for (const [segment, { kind, text }] of head.segments.entries())
    giveReasoning(state, part, value, { kind: 'reasoning', segment, of: kind, text }, emit)
}

/**
 * Writes a delta of a segment, and announces the segments up to it. A delta for a segment that has
 * ended is added to the last one.
 */
export function giveReasoning(
  state: EncoderState,
  part: OpenPart,
  value: ReasoningPart,
  streamed: Delta & { kind: 'reasoning' },
  emit: EmitWire,
): void {
  if (streamed.segment >= value.segments.length + 64) return
  const of = state.envelope?.native
    ? streamed.of
    : shownAs(streamed.of, value.at, { report: reportOf(state), options: state.options })
  const delta = { ...streamed, of, segment: Math.max(streamed.segment, part.segments - 1) }
  addDelta(value, delta)
  while (part.segments < value.segments.length) {
    if (part.segments > 0) endSegment(state, part, value, part.segments - 1, emit)
    startSegment(state, part, value, part.segments++, emit)
  }
  const segment = value.segments[delta.segment]
  if (!segment || delta.text === '') return
  const type =
    segment.kind === 'summary'
      ? 'response.reasoning_summary_text.delta'
      : 'response.reasoning_text.delta'
  write(
    state,
    type,
    Object.assign(segmentPlace(state, part, value, delta.segment), { delta: delta.text }),
    emit,
  )
}

function segmentPlace(
  state: EncoderState,
  part: OpenPart,
  { segments }: ReasoningPart,
  index: number,
): ResponsesSegmentPlace {
  const place = part.places[index] ?? 0
  const { item_id, output_index } = placeOf(state, part)
  return segments[index]?.kind === 'summary'
    ? { item_id, output_index, summary_index: place }
    : { item_id, output_index, content_index: place }
}

function startSegment(
  state: EncoderState,
  part: OpenPart,
  value: ReasoningPart,
  index: number,
  emit: EmitWire,
): void {
  const kind = value.segments[index]?.kind ?? 'raw'
  part.places[index] = part.ofKind[kind]
  part.ofKind[kind]++
  const summary = kind === 'summary'
  const type = summary ? 'response.reasoning_summary_part.added' : 'response.content_part.added'
  write(
    state,
    type,
    Object.assign(segmentPlace(state, part, value, index), { part: segmentOf(summary, '') }),
    emit,
  )
}

const segmentOf = (summary: boolean, text: string) => ({
  type: summary ? ('summary_text' as const) : ('reasoning_text' as const),
  text,
})

function endSegment(
  state: EncoderState,
  part: OpenPart,
  value: ReasoningPart,
  index: number,
  emit: EmitWire,
): void {
  const { kind, text } = value.segments[index] ?? { kind: 'raw', text: '' }
  const place = segmentPlace(state, part, value, index)
  const summary = kind === 'summary'
  write(
    state,
    summary ? 'response.reasoning_summary_text.done' : 'response.reasoning_text.done',
    Object.assign({}, place, { text }),
    emit,
  )
  const type = summary ? 'response.reasoning_summary_part.done' : 'response.content_part.done'
  write(state, type, Object.assign(place, { part: segmentOf(summary, text) }), emit)
}

/** Ends the last segment and the item. */
export function endReasoning(
  state: EncoderState,
  part: OpenPart,
  value: ReasoningPart,
  emit: EmitWire,
): void {
  if (part.item === undefined) return
  if (part.segments > 0) endSegment(state, part, value, part.segments - 1, emit)
  const item = state.items[part.item]
  const id = item?.wire.id
  const writing = writingOf(state)
  writing.itemId = () => String(id)
  const head = headOf(state, part.message)
  const wire = encodeReasoning(value, head, writing)
  if (item && wire) item.wire = wire
  hold(state, part.item, emit)
}

/**
 * Writes the signature of reasoning whose item has ended, in an item that has the number of that
 * reasoning.
 */
export function proveLate(
  state: EncoderState,
  part: number,
  { signature, id, kinds }: PlacedSignature,
  emit: EmitWire,
): void {
  const thought = state.reasoning[part]
  if (thought)
    wholeItem(
      state,
      thought.message,
      carrierItem(signature, `r${thought.nth}`, writingOf(state), omitUndefined({ id, kinds })),
      emit,
    )
}

/** Opens a text or a refusal in the `message` item of its message. */
export function startText(
  state: EncoderState,
  part: OpenPart,
  { text, ...head }: TextPart | RefusalPart,
  emit: EmitWire,
): void {
  const item = enterItem(state, part, emit)
  const content = contentOf(item)
  part.content = content.length
  const wire: ResponsesWrittenContent =
    head.type === 'refusal'
      ? { type: 'refusal', refusal: '' }
      : { type: 'output_text', text: '', annotations: [], logprobs: [] }
  content.push(wire)
  part.value = head.type === 'refusal' ? { text: '', ...head } : withoutLists(head)
  const { item_id, output_index } = placeOf(state, part)
  write(
    state,
    'response.content_part.added',
    { item_id, output_index, content_index: part.content, part: wire },
    emit,
  )
  if (head.type === 'text')
    for (const citation of head.citations ?? []) takeCitation(state, part, citation, emit)
  if (text && isText(part.value)) giveText(state, part, part.value, text, emit)
  if (head.logprobs) takeLogprobs(part, head.logprobs)
}

/** The head without its lists, which are written as deltas. */
function withoutLists({ citations: _c, logprobs: _l, ...head }: Omit<TextPart, 'text'>): TextPart {
  return { text: '', ...head }
}

const isText = (part: Part): part is TextPart | RefusalPart =>
  part.type === 'text' || part.type === 'refusal'

/**
 * Writes a text delta. Each event is one literal, because deltas are nearly all of a stream and
 * every spread would cost time in each.
 */
export function giveText(
  state: EncoderState,
  part: OpenPart,
  value: TextPart | RefusalPart,
  text: string,
  emit: EmitWire,
): void {
  if (text === '') return
  value.text += text
  const { item: output_index, content: content_index, waiting } = part
  const item_id = output_index === undefined ? undefined : state.items[output_index]?.wire.id
  const sequence_number = state.sequence++
  if (value.type === 'refusal') {
    emit({
      type: 'response.refusal.delta',
      sequence_number,
      item_id,
      output_index,
      content_index,
      delta: text,
    })
    return
  }
  const logprobs =
    waiting.logprobs.length > 0 ? waiting.logprobs.map(one => encodeToken(one, false)) : []
  if (waiting.logprobs.length > 0) waiting.logprobs = []
  emit({
    type: 'response.output_text.delta',
    sequence_number,
    item_id,
    output_index,
    content_index,
    delta: text,
    logprobs,
  })
}

/** Keeps log probabilities until the text delta that they are written in. */
export function takeLogprobs(part: OpenPart, logprobs: TokenLogprob[]): void {
  addDelta(part.value, { kind: 'logprobs', logprobs })
  if (part.value.type === 'refusal') return
  append(part.waiting.logprobs, logprobs)
}

/**
 * Writes a citation at once if its offsets are known, else at the end of the text, with all that
 * follow it: `annotation_index` counts them.
 */
export function takeCitation(
  state: EncoderState,
  part: OpenPart,
  citation: Citation,
  emit: EmitWire,
): void {
  const { value } = part
  if (value.type !== 'text') return
  addDelta(value, { kind: 'citation', citation })
  if (placed(citation) && part.waiting.citations.length === 0)
    giveCitation(state, part, { citation, length: lengthLater(value.text), at: value.at }, emit)
  else part.waiting.citations.push(citation)
}

/** Are the offsets known, so that the citation need not wait for the end of the text? */
const placed = ({ start, end, protocol: of, kind }: Citation) =>
  of === protocolName || kind !== 'url' || (start !== undefined && end !== undefined)

function giveCitation(
  state: EncoderState,
  part: OpenPart,
  { citation, length, at }: { citation: Citation; length: () => number; at: Place | undefined },
  emit: EmitWire,
): void {
  // What it loses is noted when the text ends.
  const annotation = encodeCitation(citation, length, createResponsesReport(), at)
  if (!annotation) return
  const { item_id, output_index } = placeOf(state, part)
  const place = {
    item_id,
    output_index,
    content_index: part.content,
    annotation_index: part.waiting.annotations++,
    annotation,
  }
  write(state, 'response.output_text.annotation.added', place, emit)
}

function giveWaiting(state: EncoderState, part: OpenPart, value: TextPart, emit: EmitWire): void {
  const length = lengthLater(value.text)
  for (const citation of part.waiting.citations)
    giveCitation(state, part, { citation, length, at: value.at ?? '' }, emit)
}

/** Ends the part, and writes its signature in an item after it. */
export function endText(
  state: EncoderState,
  part: OpenPart,
  value: TextPart | RefusalPart,
  emit: EmitWire,
): void {
  if (value.type === 'text') giveWaiting(state, part, value, emit)
  const writing = writingOf(state)
  const wire = encodeWords(unsigned(value), 'assistant', writing)
  const { item_id, output_index } = placeOf(state, part)
  const place = { item_id, output_index, content_index: part.content }
  if (value.type === 'refusal')
    write(state, 'response.refusal.done', Object.assign({}, place, { refusal: value.text }), emit)
  else
    write(
      state,
      'response.output_text.done',
      Object.assign({}, place, {
        text: value.text,
        logprobs: (wire.type === 'output_text' && wire.logprobs) || [],
      }),
      emit,
    )
  write(state, 'response.content_part.done', Object.assign(place, { part: wire }), emit)
  const item = part.item === undefined ? undefined : state.items[part.item]
  contentOf(item)[part.content] = wire
  endClosing(state, part.item, emit)
  const { signature } = value
  if (!signature) return
  closeMessageItem(state, part.message, undefined, emit)
  wholeItem(state, part.message, carrierItem(signature, 'prev', writing), emit)
}

/** Opens the item of a call; its signature is written in an item before it. */
export function startCall(
  state: EncoderState,
  part: OpenPart,
  head: ToolCallPart,
  emit: EmitWire,
): void {
  closeMessageItem(state, part.message, undefined, emit)
  const writing = writingOf(state)
  if (head.signature)
    wholeItem(state, part.message, carrierItem(head.signature, 'next', writing), emit)
  const { signature: _, input, ...call } = head
  const muted = startWriting('output', writing.native, state.options)
  if (writing.itemId) muted.itemId = writing.itemId
  const wire = {
    ...encodeCall({ input: ' ', ...call }, headOf(state, part.message), muted),
    status: 'in_progress',
    [inputKey(head)]: '',
  }
  wire.call_id = callIdOf(
    String(wire.call_id) || `call_${String(wire.id)}`,
    state.usedCalls,
    head,
    writing.report,
  )
  part.item = addItem(state, part.message, wire, emit)
  part.value = { input: '', ...call }
  giveInput(state, part, part.value, input, emit)
}

/** The key for the input of a call in its item. */
export const inputKey = ({ kind }: ToolCallPart) => (kind === 'freeform' ? 'input' : 'arguments')

export function giveInput(
  state: EncoderState,
  part: OpenPart,
  value: ToolCallPart,
  text: string,
  emit: EmitWire,
): void {
  if (text === '') return
  value.input += text
  const type =
    value.kind === 'freeform'
      ? 'response.custom_tool_call_input.delta'
      : 'response.function_call_arguments.delta'
  const { item_id, output_index } = placeOf(state, part)
  write(state, type, { item_id, output_index, delta: text }, emit)
}

export function endCall(
  state: EncoderState,
  part: OpenPart,
  value: ToolCallPart,
  emit: EmitWire,
): void {
  if (part.item === undefined) return
  const item = state.items[part.item]
  const before = item?.wire
  const head = headOf(state, part.message)
  const writing = writingOf(state)
  writing.itemId = () => String(before?.id)
  const wire = encodeCall(unsigned(value), head, writing)
  writing.report.resolvePending(wire, `/output/${part.item}`)
  const fields: JsonObject = wire
  const due = String(fields[inputKey(value)] ?? '')
  if (value.input.trim() === '' && value.input !== due) giveInput(state, part, value, due, emit)
  // White space streamed before an empty input became `{}` stays in the input: the item must equal
  // the sum of its deltas.
  const input = due !== '' && value.input.trim() === due ? value.input : due
  Object.assign(wire, { [inputKey(value)]: input })
  const { item_id, output_index } = placeOf(state, part)
  if (value.kind === 'freeform')
    write(state, 'response.custom_tool_call_input.done', { item_id, output_index, input }, emit)
  else
    write(
      state,
      'response.function_call_arguments.done',
      { item_id, output_index, name: 'name' in wire ? wire.name : '', arguments: input },
      emit,
    )
  if (item)
    item.wire = { ...wire, ...(before && 'call_id' in before && { call_id: before.call_id }) }
  const { signature: late } = value
  hold(state, part.item, emit)
  if (late) wholeItem(state, part.message, carrierItem(late, 'prev', writingOf(state)), emit)
}
