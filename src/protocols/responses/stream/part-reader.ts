import type { ReasoningSegment } from '../../../canonical/message.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import { readInput } from '../../../kit/tools/object-input.ts'
import type { EmitEvent } from '../../../protocol.ts'
import { noteArguments } from '../content/calls.ts'
import { decodeCitation, decodeContent, decodeTokens } from '../content/content.ts'
import { protocolName } from '../own.ts'
import { ResponsesContent } from '../schema.ts'
import {
  type DecoderState,
  indexOf,
  malformed,
  type OpenItem,
  type OpenPart,
  placeOf,
  reportOf,
  textOf,
} from './decoder-state.ts'
import {
  completeContent,
  give,
  giveSegment,
  itemFor,
  missing,
  openPart,
  openPartOf,
  segmentText,
} from './item-reader.ts'

function contentOf(event: JsonObject): ResponsesContent {
  return check(protocolName, ResponsesContent, event['part'])
}

export function addContent(state: DecoderState, event: JsonObject, emit: EmitEvent): void {
  const { part } = event
  if (isObject(part) && part['type'] === 'reasoning_text') {
    delete state.items[indexOf(state, event) ?? -1]?.raw
    return
  }
  const place = `c${placeOf(event, 'content_index')}`
  const item = itemFor(state, event, 'message', emit)
  if (!item || item.parts[place]) return
  const at = `/output/${indexOf(state, event) ?? 0}/content/${place.slice(1)}`
  openPart(state, item, place, decodeContent(contentOf(event), at, item.whole.role), emit)
}

export function finishContent(state: DecoderState, event: JsonObject, emit: EmitEvent): void {
  const { part } = event
  if (isObject(part) && part['type'] === 'reasoning_text') return
  const index = placeOf(event, 'content_index')
  const item = itemFor(state, event, 'message', emit)
  const at = `/output/${indexOf(state, event) ?? 0}/content/${index}`
  if (item)
    completeContent(
      state,
      item,
      `c${index}`,
      decodeContent(contentOf(event), at, item.whole.role),
      emit,
    )
}

/** `whole`: the complete text, in a `done` event. */
function textPart(
  state: DecoderState,
  event: JsonObject,
  { type, whole }: { type: 'output_text' | 'refusal'; whole?: string },
  emit: EmitEvent,
): OpenPart | undefined {
  const item = itemFor(state, event, 'message', emit)
  if (!item) return stray(state, event, whole)
  const index = placeOf(event, 'content_index')
  const at = `/output/${indexOf(state, event) ?? 0}/content/${index}`
  const kind = type === 'refusal' ? 'refusal' : 'text'
  const open =
    item.parts[`c${index}`] ??
    openPartOf(item, whole === undefined ? { type: kind } : { type: kind, text: whole }) ??
    openPart(state, item, `c${index}`, { type: kind, text: '', at }, emit)
  return open.ended || open.value.type !== kind ? stray(state, event, whole) : open
}

/**
 * Notes a chunk of content that has no place. `whole`: it is from a `done` event, which may repeat
 * what was emitted.
 */
function stray(state: DecoderState, event: JsonObject, whole?: string): undefined {
  const index = indexOf(state, event)
  if (whole === undefined)
    reportOf(state).once('stream.stray-delta', index === undefined ? '' : below('/output', index))
  return undefined
}

export function textDelta(
  state: DecoderState,
  event: JsonObject,
  type: 'output_text' | 'refusal',
  emit: EmitEvent,
): void {
  const text = textOf(event, 'delta')
  const open = textPart(state, event, { type }, emit)
  state.latest = open
  if (!open) return
  const { logprobs } = event
  if (logprobs != null && !Array.isArray(logprobs))
    reportOf(state).once('field.unknown', below(open.value.at ?? '', 'logprobs'))
  if (Array.isArray(logprobs) && logprobs.length > 0) {
    const before = open.value.type === 'text' ? (open.value.logprobs?.length ?? 0) : 0
    give(
      open,
      {
        kind: 'logprobs',
        logprobs: decodeTokens(logprobs, below(open.value.at ?? '', 'logprobs'), before),
      },
      emit,
    )
  }
  if (text) give(open, { kind: 'text', text }, emit)
}

export function textDone(
  state: DecoderState,
  event: JsonObject,
  type: 'output_text' | 'refusal',
  key: 'text' | 'refusal',
  emit: EmitEvent,
): void {
  const whole = textOf(event, key)
  const open = textPart(state, event, { type, whole }, emit)
  if (!open || (open.value.type !== 'text' && open.value.type !== 'refusal')) return
  const text = missing(open.value.text, whole)
  if (text) give(open, { kind: 'text', text }, emit)
  open.isReported = true
}

export function addAnnotation(state: DecoderState, event: JsonObject, emit: EmitEvent): void {
  const { annotation } = event
  // The newest types allow null, which says nothing.
  if (annotation === null) return
  if (!isObject(annotation)) throw malformed('/annotation', 'expected an annotation')
  const open = textPart(state, event, { type: 'output_text' }, emit)
  if (open) give(open, { kind: 'citation', citation: decodeCitation(annotation) }, emit)
}

function callPart(
  state: DecoderState,
  event: JsonObject,
  type: 'function_call' | 'custom_tool_call',
  emit: EmitEvent,
): OpenPart | undefined {
  const open = itemFor(state, event, type, emit)?.parts['']
  return open && !open.ended && open.value.type === 'tool-call' ? open : undefined
}

export function inputDelta(
  state: DecoderState,
  event: JsonObject,
  type: 'function_call' | 'custom_tool_call',
  emit: EmitEvent,
): void {
  const text = textOf(event, 'delta')
  const open = callPart(state, event, type, emit)
  state.latest = open
  if (!open) stray(state, event)
  else if (text) give(open, { kind: 'input', text }, emit)
}

export function inputDone(
  state: DecoderState,
  event: JsonObject,
  type: 'function_call' | 'custom_tool_call',
  key: 'arguments' | 'input',
  emit: EmitEvent,
): void {
  const whole = isObject(event[key]) ? readInput(event[key]) : textOf(event, key)
  const open = callPart(state, event, type, emit)
  if (open?.value.type !== 'tool-call') return
  noteArguments(event, open.value.at ?? '', reportOf(state))
  const text = missing(open.value.input, whole)
  if (text) give(open, { kind: 'input', text }, emit)
}

/** A summary is announced, so the item has text and is opened. */
export function beginReasoning(state: DecoderState, event: JsonObject, emit: EmitEvent): void {
  itemFor(state, event, 'reasoning', emit)
}

export function reasoningDelta(
  state: DecoderState,
  event: JsonObject,
  of: ReasoningSegment['kind'],
  emit: EmitEvent,
): void {
  const text = textOf(event, 'delta')
  const item = itemFor(state, event, 'reasoning', emit)
  const open = item?.parts['']
  state.latest = open
  if (!item || !open || open.ended) stray(state, event)
  else if (text) giveSegment(item, open, segmentPlace(item, event, of), of, text, emit)
}

export function reasoningDone(
  state: DecoderState,
  event: JsonObject,
  of: ReasoningSegment['kind'],
  emit: EmitEvent,
): void {
  const whole = textOf(event, 'text')
  const item = itemFor(state, event, 'reasoning', emit)
  const open = item?.parts['']
  if (!item || !open || open.ended || open.value.type !== 'reasoning') return
  const place = segmentPlace(item, event, of)
  if (of === 'raw') delete item.raw
  const text = missing(segmentText(item, open, place), whole)
  // An empty segment is kept, too.
  if (text || item.segments[place] === undefined) giveSegment(item, open, place, of, text, emit)
}

/**
 * Raw reasoning stays at its first place until its `done` event: some servers increase the index
 * with every delta.
 */
function segmentPlace(item: OpenItem, event: JsonObject, of: ReasoningSegment['kind']): string {
  if (of === 'summary') return `s${placeOf(event, 'summary_index')}`
  item.raw ??= `c${placeOf(event, 'content_index')}`
  return item.raw
}
