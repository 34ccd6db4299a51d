import { addDelta } from '../../../canonical/collect.ts'
import type { CanonicalEvent, Delta } from '../../../canonical/event.ts'
import type { Part } from '../../../canonical/message.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { encodeMessage } from '../content/items.ts'
import { isInlineImage } from '../content/media.ts'
import { encodeContent, encodeContentPart, isContent } from '../content/message-item.ts'
import { encodeRaw } from '../content/raw-items.ts'
import { carrierItem } from '../content/reasoning.ts'
import { protocolName } from '../own.ts'
import { itemIdOf } from '../response/envelope.ts'
import type { ResponsesWrittenContent, ResponsesWrittenItem } from '../schema.ts'
import {
  type EmitWire,
  type EncoderState,
  envelopeOf,
  type Item,
  type OpenPart,
  open,
  placeOf,
  reportOf,
  write,
  writingOf,
} from './encoder-state.ts'
import {
  addItem,
  closeMessageItem,
  contentOf,
  endClosing,
  enterItem,
  headOf,
  hold,
  messageItem,
  wholeItem,
} from './open-items.ts'
import { isAbout } from './status-events.ts'

/** Opens an item that only this protocol has: complete at once, or growing until its end. */
export function startRaw(state: EncoderState, part: OpenPart, emit: EmitWire): void {
  const { value } = part
  if (value.type === 'opaque' && isOwnMessage(state, part)) {
    startContent(state, part, emit)
    return
  }
  const wire = rawItem(state, value)
  if (!wire) return
  closeMessageItem(state, part.message, undefined, emit)
  part.item = addItem(state, part.message, wire, emit)
}

/**
 * Was it decoded from a `message` item of this protocol? Then all of its content can be written
 * into one again.
 */
export const isOwnMessage = (state: EncoderState, { message }: OpenPart) =>
  envelopeOf(state).native && headOf(state, message).origin === 'message'

/** Opens a content part of a `message` item that is written whole. */
export function startContent(state: EncoderState, part: OpenPart, emit: EmitWire): void {
  const wire = encodeContentPart(part.value, 'assistant', writingOf(state))
  if (!wire) return
  const content = contentOf(enterItem(state, part, emit))
  part.content = content.length
  content.push(wire)
  write(
    state,
    'response.content_part.added',
    { ...placeOf(state, part), content_index: part.content, part: wire },
    emit,
  )
}

/**
 * An item of this protocol unchanged, with the ids that a response's items must have. Undefined:
 * there is nothing to write.
 */
function rawItem(state: EncoderState, value: Part): ResponsesWrittenItem | undefined {
  if (value.type !== 'server-tool' && value.type !== 'control' && value.type !== 'opaque')
    return undefined
  if (value.protocol !== protocolName) return encodeRaw(value, writingOf(state))[0]
  const raw = isObject(value.raw) ? value.raw : {}
  const { type } = raw
  if (typeof type !== 'string' || modelled.has(type)) {
    reportOf(state).add('part.unknown', value.at)
    return undefined
  }
  const id = itemIdOf(
    typeof raw['id'] === 'string' ? raw['id'] : undefined,
    prefixes.get(type) ?? 'item_',
    { ...envelopeOf(state), native: true },
    state.usedIds,
  )
  const call =
    needsCallId.has(type) && (typeof raw['call_id'] !== 'string' || raw['call_id'] === '')
      ? { call_id: `call_${id}` }
      : {}
  return asRead({ ...raw, id, ...call })
}

/** Items that are always written from canonical parts, never unchanged. */
const modelled = new Set(['message', 'function_call', 'custom_tool_call'])
const needsCallId = new Set(['shell_call', 'shell_call_output'])

/** How ids of items begin. */
const prefixes = new Map([
  ['web_search_call', 'ws_'],
  ['file_search_call', 'fs_'],
  ['code_interpreter_call', 'ci_'],
  ['image_generation_call', 'ig_'],
  ['reasoning', 'rs_'],
])

/** Takes a part that is complete only at its end. An item that is open already keeps its ids. */
export function takeWhole(
  state: EncoderState,
  part: OpenPart,
  delta: Extract<Delta, { kind: 'whole' }>,
): void {
  const { whole } = delta
  if (whole.type !== part.value.type) return
  addDelta(part.value, delta)
  const item = part.item === undefined ? undefined : state.items[part.item]
  if (!item || !('raw' in whole) || !isObject(whole.raw)) return
  const { raw } = whole
  if (item.wire.type === 'message') contentOf(item)[part.content] = asRead(raw)
  else if (raw['type'] === item.wire.type) {
    const { id, call_id: call }: JsonObject = item.wire
    item.wire = asRead({ ...raw, id, ...(call !== undefined && { call_id: call }) })
  }
}

export function endRaw(state: EncoderState, part: OpenPart, emit: EmitWire): void {
  if (part.item === undefined) return
  if (state.items[part.item]?.wire.type === 'message') {
    endContent(state, part, part.item, emit)
    return
  }
  hold(state, part.item, emit)
  const { signature } = part.value
  if (signature)
    wholeItem(state, part.message, carrierItem(signature, 'prev', writingOf(state)), emit)
}

function endContent(state: EncoderState, part: OpenPart, item: number, emit: EmitWire): void {
  const wire = contentOf(state.items[item])[part.content]
  if (wire)
    write(
      state,
      'response.content_part.done',
      { ...placeOf(state, part), content_index: part.content, part: wire },
      emit,
    )
  endClosing(state, item, emit)
}

/** Ends a part that is written whole. */
export function endWhole(state: EncoderState, part: OpenPart, whole: Part, emit: EmitWire): void {
  if (part.item !== undefined) {
    endContent(state, part, part.item, emit)
    return
  }
  const writing = writingOf(state)
  const isDrawn = whole.type === 'media' && isInlineImage(whole)
  if (!isDrawn && isContent(whole)) {
    for (const wire of encodeContent(whole, 'assistant', writing))
      emitContent(state, part, wire, emit)
    return
  }
  const items = encodeMessage({ ...headOf(state, part.message), parts: [whole] }, writing)
  writing.report.resolvePending(items, `/output/${state.items.length}`)
  if (items.length > 0) closeMessageItem(state, part.message, undefined, emit)
  for (const item of items) hold(state, addItem(state, part.message, item, emit), emit)
}

/** Writes whole content. Text gets a delta too, for readers that know only deltas. */
function emitContent(
  state: EncoderState,
  part: OpenPart,
  wire: ResponsesWrittenContent,
  emit: EmitWire,
): void {
  const item = messageItem(state, part.message, emit)
  const content = contentOf(state.items[item])
  const place = { ...placeOf(state, { ...part, item }), content_index: content.length }
  content.push(wire)
  if (wire.type !== 'output_text')
    write(state, 'response.content_part.added', { ...place, part: wire }, emit)
  else {
    const { text, annotations, logprobs } = wire
    write(
      state,
      'response.content_part.added',
      { ...place, part: { ...wire, text: '', annotations: [] } },
      emit,
    )
    if (text !== '')
      write(state, 'response.output_text.delta', { ...place, delta: text, logprobs: [] }, emit)
    for (const [index, annotation] of annotations.entries())
      write(
        state,
        'response.output_text.annotation.added',
        { ...place, annotation_index: index, annotation },
        emit,
      )
    write(state, 'response.output_text.done', { ...place, text, logprobs: logprobs ?? [] }, emit)
  }
  write(state, 'response.content_part.done', { ...place, part: wire }, emit)
  endClosing(state, item, emit)
}

/**
 * Forwards events of this protocol about an open item; others mean nothing to a client of this
 * protocol, and are noted.
 */
export function forward(
  state: EncoderState,
  { protocol: of, raw }: CanonicalEvent & { type: 'opaque' },
  emit: EmitWire,
): void {
  const event = of === protocolName && isObject(raw) ? raw : undefined
  while (state.items[state.firstOpen]?.done) state.firstOpen++
  let index = state.firstOpen
  while (event && index < state.items.length && !isOpenFor(event, state.items[index])) index++
  if (!event || index >= state.items.length) {
    reportOf(state).once('event.unknown', undefined)
    return
  }
  open(state, emit)
  const { type, sequence_number: _number, ...payload } = event
  const number = state.sequence++
  emit(asRead({ type: String(type), sequence_number: number, ...payload, output_index: index }))
}

const isOpenFor = (event: JsonObject, item: Item | undefined) =>
  item !== undefined && !item.done && isAbout(event, item.wire)
