import { copyOf } from '../../../canonical/copy.ts'
import type { CanonicalError } from '../../../canonical/error.ts'
import type { Candidate } from '../../../canonical/response.ts'
import { endedEarly } from '../../../kit/errors/failed-response.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { encodeWords } from '../content/message-item.ts'
import { unsigned } from '../content/reasoning.ts'
import { failureOf, noteFailure, streamError } from '../errors.ts'
import { snapshot } from '../response/envelope.ts'
import { encodeEnding, makeRefusal, noteBlocked } from '../response/response.ts'
import type { ResponsesWrittenItem } from '../schema.ts'
import { encodeUsage } from '../usage.ts'
import { inputKey } from './call-items.ts'
import {
  type EmitWire,
  type EncoderState,
  envelopeOf,
  type Item,
  type OpenPart,
  open,
  reportOf,
  startPartState,
  write,
  writingOf,
} from './encoder-state.ts'
import { closeMessageItem, contentOf, finishItem, flushHeld, leaveItem } from './open-items.ts'
import { endReasoning } from './segments.ts'
import { endText, startText } from './text-parts.ts'

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
  for (const part of Object.values(state.parts)) takeSoFar(state, part)
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
  for (const [part, opened] of Object.entries(state.parts)) {
    const { value } = opened
    if (value.type !== 'text' && value.type !== 'refusal' && value.type !== 'reasoning') continue
    const item = opened.item === undefined ? undefined : state.items[opened.item]
    if (typeof item?.wire.status === 'string') item.wire = { ...item.wire, status: 'incomplete' }
    leaveItem(state, opened)
    delete state.parts[Number(part)]
    const kept = state.messages[opened.message]?.kept
    if (kept) kept.push(value)
    else if (value.type === 'reasoning') endReasoning(state, opened, value, emit)
    else endText(state, opened, value, emit)
  }
  for (const message of Object.keys(state.messages))
    closeMessageItem(state, Number(message), 'incomplete', emit)
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
  const message = Object.keys(state.messages).length + state.items.length
  state.messages[message] = {
    head: { role: 'assistant', origin: 'message', parts: [] },
    item: undefined,
  }
  const part = startPartState(message, refusal)
  startText(state, part, refusal, emit)
  leaveItem(state, part)
  endText(state, part, refusal, emit)
  closeMessageItem(state, message, undefined, emit)
  delete state.messages[message]
  if (state.held !== undefined) finishItem(state, state.held, emit)
  state.held = undefined
}
