import { addDelta } from '../../../canonical/collect.ts'
import { copyOf } from '../../../canonical/copy.ts'
import type { CanonicalError } from '../../../canonical/error.ts'
import type { CanonicalEvent, Delta } from '../../../canonical/event.ts'
import type { Part } from '../../../canonical/message.ts'
import type { Candidate } from '../../../canonical/response.ts'
import { endedEarly } from '../../../kit/errors/failed-response.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { encodeContent, encodeContentPart, encodeWords, isContent } from '../content/content.ts'
import { encodeMessage, encodeRaw } from '../content/items.ts'
import { isInlineImage } from '../content/media.ts'
import { carrierItem, unsigned } from '../content/reasoning.ts'
import { failureOf, noteFailure, streamError } from '../errors.ts'
import { protocolName } from '../own.ts'
import { itemIdOf, snapshot } from '../response/envelope.ts'
import { encodeEnding, makeRefusal, noteBlocked } from '../response/response.ts'
import { encodeUsage } from '../usage.ts'
import { isAbout } from '../vocabulary.ts'
import type { ResponsesWrittenContent, ResponsesWrittenItem } from '../written.ts'
import {
  addItem,
  closeMessageItem,
  contentOf,
  type EmitWire,
  type EncoderState,
  endClosing,
  enterItem,
  envelopeOf,
  finishItem,
  flushHeld,
  headOf,
  hold,
  type Item,
  leaveItem,
  messageItem,
  type OpenMessage,
  type OpenPart,
  open,
  placeOf,
  reportOf,
  startPartState,
  wholeItem,
  write,
  writingOf,
} from './encoder-state.ts'
import { endReasoning, endText, inputKey, startText } from './part-writer.ts'

/** Writes the last events: the ending, or a failure. `clean`: the source was not cut off. */
export function conclude(state: EncoderState, clean: boolean, emit: EmitWire): void {
  const complete = clean && (state.finish !== undefined || state.blocked !== undefined)
  if (!complete) {
    if (state.options.truncated === 'length') endAsLength(state, emit)
    else {
      // Other candidates have ended, and this one never did.
      if (clean) state.failure = endedEarly
      fail(state, endedEarly, emit)
    }
    return
  }
  if (state.finish?.reason === 'error') {
    noteBlocked(state.blocked, reportOf(state))
    fail(
      state,
      {
        status: 502,
        kind: 'internal',
        message: state.finish.message ?? 'the model did not finish its response',
      },
      emit,
    )
    return
  }
  open(state, emit)
  flushHeld(state, emit)
  // A source that left an item open was cut off.
  if (state.items.some(({ done }) => !done)) fail(state, endedEarly, emit)
  else terminate(state, emit)
}

/** Writes an `error` event, then a failed response with the output so far. */
export function fail(state: EncoderState, error: CanonicalError, emit: EmitWire): void {
  open(state, emit)
  noteFailure(error, false, reportOf(state))
  write(state, 'error', streamError(error), emit)
  const response = snapshot(envelopeOf(state), {
    status: 'failed',
    output: outputOf(state),
    error: failureOf(error),
    usage: usageOf(state),
  })
  write(state, 'response.failed', { response }, emit)
  done(state, emit)
}

function done(state: EncoderState, emit: EmitWire): void {
  state.phase = 'ended'
  emit('[DONE]')
}

/** The items as they are now; those that are not done are incomplete. */
function outputOf(state: EncoderState): ResponsesWrittenItem[] {
  for (const part of state.parts.values()) takeSoFar(state, part)
  return state.items.map(({ wire, done }, index) => {
    const unfinished =
      !done && index !== state.held && wire.type !== 'reasoning' && 'status' in wire
    return copyOf(unfinished ? { ...wire, status: 'incomplete' } : wire)
  })
}

/** Puts the content so far of an open part into its item. */
function takeSoFar(state: EncoderState, { value, item: index, content }: OpenPart): void {
  const item = index === undefined ? undefined : state.items[index]
  if (!item) return
  if (value.type === 'tool-call') item.wire = { ...item.wire, [inputKey(value)]: value.input }
  else if (value.type === 'text' || value.type === 'refusal')
    contentOf(item)[content] = encodeWords(unsigned(value), 'assistant', writingOf(state))
  else if (value.type === 'reasoning' && item.wire.type === 'reasoning') {
    const of = <Type extends string>(kind: 'summary' | 'raw', type: Type) =>
      value.segments.filter(one => one.kind === kind).map(({ text }) => ({ type, text }))
    const raws = of('raw', 'reasoning_text')
    item.wire = {
      ...item.wire,
      summary: of('summary', 'summary_text'),
      ...(raws.length > 0 && { content: raws }),
    }
  }
}

const usageOf = (state: EncoderState) =>
  encodeUsage(state.usage, { mayLack: true }, reportOf(state)) ?? null

/** Usage of a response that did not fail. */
const finalUsageOf = (state: EncoderState) =>
  encodeUsage(state.usage, { mayLack: envelopeOf(state).native }, reportOf(state)) ?? null

/**
 * Ends a cut-off stream as `incomplete`. Open texts end where they were cut; an open call gets no
 * `done` event.
 */
function endAsLength(state: EncoderState, emit: EmitWire): void {
  open(state, emit)
  for (const [part, opened] of state.parts) {
    const { value } = opened
    if (value.type !== 'text' && value.type !== 'refusal' && value.type !== 'reasoning') continue
    const item = opened.item === undefined ? undefined : state.items[opened.item]
    if (typeof item?.wire.status === 'string') item.wire = { ...item.wire, status: 'incomplete' }
    leaveItem(state, opened)
    state.parts.delete(part)
    const kept = state.messages.get(opened.message)?.kept
    if (kept) kept.push(value)
    else if (value.type === 'reasoning') endReasoning(state, opened, value, emit)
    else endText(state, opened, value, emit)
  }
  for (const message of state.messages.keys()) closeMessageItem(state, message, 'incomplete', emit)
  flushHeld(state, emit)
  terminate(state, emit)
}

function terminate(state: EncoderState, emit: EmitWire): void {
  const candidate: Candidate = {
    index: 0,
    messages: [],
    ...omitUndefined({ finish: state.finish, ext: state.finishExt, at: state.finishAt }),
  }
  const { blocked, called, items } = state
  const context = {
    called,
    waits: waits(items),
    output: items.map(({ wire }) => wire),
    ...(blocked && { blocked }),
  }
  const { status, details, refusal } = encodeEnding(candidate, context, writingOf(state))
  if (refusal !== undefined) explain(state, refusal, emit)
  const usage = finalUsageOf(state)
  const response = snapshot(envelopeOf(state), {
    status,
    output: outputOf(state),
    ...(details !== undefined && { incomplete: details }),
    ...(usage && { usage }),
  })
  write(state, lastEvent(status), { response }, emit)
  done(state, emit)
}

function lastEvent(status: ReturnType<typeof encodeEnding>['status']) {
  if (status === 'completed') return 'response.completed'
  return status === 'failed' ? 'response.failed' : 'response.incomplete'
}

const callTypes = new Set<unknown>(['function_call', 'custom_tool_call'])

const callIdIn = (wire: ResponsesWrittenItem) => ('call_id' in wire ? wire.call_id : undefined)

/** Is there a call without a result? */
function waits(items: Item[]): boolean {
  const withResult = new Set(
    flatMap(items, ({ wire }) => (callTypes.has(wire.type) ? [] : [callIdIn(wire)])),
  )
  return items.some(({ wire }) => callTypes.has(wire.type) && !withResult.has(callIdIn(wire)))
}

/** Writes the refusal, where the output has none. */
function explain(state: EncoderState, text: string, emit: EmitWire): void {
  const refusal = makeRefusal(text, reportOf(state))
  const message = state.messages.size + state.items.length
  const head = { role: 'assistant', origin: 'message', parts: [] } satisfies OpenMessage['head']
  state.messages.set(message, { head, item: undefined })
  const part = startPartState(message, refusal)
  startText(state, part, refusal, emit)
  leaveItem(state, part)
  endText(state, part, refusal, emit)
  closeMessageItem(state, message, undefined, emit)
  state.messages.delete(message)
  if (state.held !== undefined) finishItem(state, state.held, emit)
  state.held = undefined
}

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
