import { addDelta } from '../../../canonical/collect.ts'
import type { Delta, PlacedSignature } from '../../../canonical/event.ts'
import type { ReasoningPart } from '../../../canonical/message.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { carrierItem, encodeReasoning, shownAs } from '../content/reasoning.ts'
import type { ResponsesSegmentPlace } from '../schema.ts'
import {
  type EmitWire,
  type EncoderState,
  type OpenPart,
  placeOf,
  reportOf,
  write,
  writingOf,
} from './encoder-state.ts'
import { addItem, closeMessageItem, headOf, hold, wholeItem } from './open-items.ts'

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
    { ...segmentPlace(state, part, value, delta.segment), delta: delta.text },
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
  return segments[index]?.kind === 'summary'
    ? { ...placeOf(state, part), summary_index: place }
    : { ...placeOf(state, part), content_index: place }
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
    {
      ...segmentPlace(state, part, value, index),
      part: { type: summary ? 'summary_text' : 'reasoning_text', text: '' },
    },
    emit,
  )
}

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
    { ...place, text },
    emit,
  )
  const type = summary ? 'response.reasoning_summary_part.done' : 'response.content_part.done'
  write(
    state,
    type,
    { ...place, part: { type: summary ? 'summary_text' : 'reasoning_text', text } },
    emit,
  )
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
