import { addDelta, mergeExt } from '../../../canonical/collect.ts'
import { copyOf } from '../../../canonical/copy.ts'
import type {
  Delta,
  EncodedPartEnd,
  EncoderEvent,
  MessageEnd,
  MessageStart,
  PartDelta,
  PartStart,
} from '../../../canonical/event.ts'
import { mergeUsage } from '../../../canonical/response.ts'
import { type PlacedTier, tierIn } from '../../../kit/response/usage.ts'
import { startNames } from '../../../kit/text/free-names.ts'
import { holdCutCalls } from '../../../kit/tools/cut-calls.ts'
import type { StreamMachine } from '../../../protocol.ts'
import { expandedIn } from '../content/client-tools.ts'
import type { ResponsesOptions } from '../options.ts'
import { fallbacks, startIds, tierOf } from '../response/envelope.ts'
import { isCall } from '../response/response.ts'
import type { ResponsesWire } from '../written.ts'
import {
  closeMessageItem,
  type EmitWire,
  type EncoderState,
  envelopeOf,
  flushHeld,
  leaveItem,
  type OpenMessage,
  type OpenPart,
  open,
  reportOf,
  startPartState,
} from './encoder-state.ts'
import {
  conclude,
  endRaw,
  endWhole,
  fail,
  forward,
  isOwnMessage,
  startContent,
  startRaw,
  takeWhole,
} from './ending.ts'
import {
  endCall,
  endReasoning,
  endText,
  giveInput,
  giveReasoning,
  giveText,
  proveLate,
  startCall,
  startReasoning,
  startText,
  takeCitation,
  takeLogprobs,
} from './part-writer.ts'

/**
 * Canonical events → events, each with its `sequence_number`, and `[DONE]`. Items are opened in the
 * order in which their parts begin, and several may be open at once. The last event always has the
 * final status: accumulators take a stream without it for a success.
 */
export const streamEncoder: StreamMachine<
  EncoderEvent,
  ResponsesWire['event'],
  EncoderState,
  ResponsesOptions
> = {
  initial: (options = {}) => ({
    notes: [],
    phase: 'before',
    options: {
      ...(options.truncated && { truncated: options.truncated }),
      ...(options.rawReasoning && { rawReasoning: options.rawReasoning }),
      ...(options.fieldNames && { fieldNames: options.fieldNames }),
    },
    fallbacks: fallbacks(options),
    start: {},
    envelope: undefined,
    usedIds: startIds(),
    usedCalls: startNames(),
    expanded: expandedIn(options.context?.request?.tools),
    sequence: 0,
    items: [],
    firstOpen: 0,
    messages: new Map(),
    parts: new Map(),
    held: undefined,
    reasoning: {},
    thoughts: 0,
    called: false,
    finish: undefined,
    finishExt: undefined,
    finishAt: undefined,
    blocked: undefined,
    usage: undefined,
    late: new Map(),
  }),

  step: holdCutCalls(hasNoInput, (state, event, emit) => {
    if (state.phase === 'ended') return
    take(state, event, emit)
  }),

  end(state, emit) {
    if (state.phase !== 'ended') conclude(state, false, emit)
  },
}

/** Is it the end of a call without arguments? */
function hasNoInput({ parts }: EncoderState, { part }: EncodedPartEnd): boolean {
  const value = parts.get(part)?.value
  return value?.type === 'tool-call' && value.kind === 'function' && !value.input.trim()
}

function take(state: EncoderState, event: EncoderEvent, emit: EmitWire): void {
  switch (event.type) {
    case 'start': {
      const { type: _, ...start } = event
      state.start = copyOf(start)
      reportOf(state).ext(start.ext, '')
      state.phase = 'held'
      return
    }
    case 'ping':
      return
    case 'update':
      update(state, event)
      return
    case 'message.start':
      startMessage(state, event, emit)
      return
    case 'part.start':
      startPart(state, event, emit)
      return
    case 'part.delta':
      partDelta(state, event, emit)
      return
    case 'part.end':
      endPart(state, event, emit)
      return
    case 'message.end':
      endMessage(state, event, emit)
      return
    case 'finish':
      state.finish = event.finish
      state.finishExt = event.ext
      state.finishAt = event.at
      reportOf(state).ext(event.ext, event.at)
      reportOf(state).rest({ logprobs: event.logprobs }, event.at)
      flushHeld(state, emit)
      return
    case 'usage':
      state.usage = mergeUsage(state.usage, event.usage)
      // Some servers send the tier only here.
      if (!state.start.serviceTier) writeTier(state, tierIn(undefined, state.usage))
      return
    case 'error':
      fail(state, event.error, emit)
      return
    case 'opaque':
      forward(state, event, emit)
      return
    case 'end':
      conclude(state, event.clean, emit)
      return
    default:
      event satisfies never
  }
}

function update(
  state: EncoderState,
  { serviceTier, completedAt, promptBlocked, echo, ext }: EncoderEvent & { type: 'update' },
): void {
  reportOf(state).ext(ext, '')
  if (serviceTier !== undefined) state.start.serviceTier = serviceTier
  if (echo) state.start.echo = { ...state.start.echo, ...echo }
  if (ext) state.start.ext = { ...state.start.ext, ...ext }
  if (promptBlocked) state.blocked = promptBlocked
  const { envelope } = state
  if (!envelope) {
    if (completedAt !== undefined) envelopeOf(state).completedAt = completedAt
    return
  }
  writeTier(state, tierIn(serviceTier, undefined))
  if (completedAt !== undefined) envelope.completedAt = completedAt
  if (ext) envelope.ext = { ...envelope.ext, ...ext }
  if (echo && envelope.native) envelope.echo = { ...envelope.echo, ...echo }
}

/** Before there is an envelope, it is not known whose words the response has. */
function writeTier(state: EncoderState, tier: PlacedTier): void {
  const { envelope } = state
  if (envelope) Object.assign(envelope, tierOf(tier, envelope.native, reportOf(state)))
}

function startMessage(
  state: EncoderState,
  { type: _t, candidate: _c, message, ...head }: MessageStart,
  emit: EmitWire,
): void {
  open(state, emit)
  const opened: OpenMessage = { head: { origin: 'message', parts: [], ...head }, item: undefined }
  state.messages.set(message, opened)
  reportOf(state).rest({ name: head.name }, head.at)
  if (head.role !== 'assistant' && head.role !== 'tool') opened.kept = []
}

function startPart(state: EncoderState, { message, part, head }: PartStart, emit: EmitWire): void {
  open(state, emit)
  const { head: around } = state.messages.get(message) ?? {}
  if (around && head.type === 'text' && head.phase) around.phase ??= head.phase
  const opened = startPartState(message, head)
  state.parts.set(part, opened)
  if (isCall(head)) state.called = true
  if (state.messages.get(message)?.kept) return
  switch (head.type) {
    case 'text':
    case 'refusal':
      startText(state, opened, head, emit)
      return
    case 'reasoning':
      startReasoning(state, opened, head, emit)
      if (opened.item !== undefined) state.reasoning[part] = { nth: state.thoughts++, message }
      return
    case 'tool-call':
      // The item of a built-in tool is written whole.
      if (head.kind === 'function' && state.expanded.has(head.name)) return
      startCall(state, opened, head, emit)
      return
    case 'server-tool':
    case 'control':
    case 'opaque':
      startRaw(state, opened, emit)
      return
    case 'media':
      if (isOwnMessage(state, opened)) startContent(state, opened, emit)
      return
    case 'tool-result':
    case 'search-result':
      return
    default:
      head satisfies never
  }
}

function partDelta(state: EncoderState, { part, delta }: PartDelta, emit: EmitWire): void {
  if (delta.ext) reportOf(state).ext(delta.ext, delta.at)
  const opened = state.parts.get(part)
  if (opened) partGiven(state, opened, delta, emit)
  else if (delta.kind === 'signature') proveLate(state, part, delta, emit)
}

function partGiven(state: EncoderState, part: OpenPart, delta: Delta, emit: EmitWire): void {
  const { value } = part
  if (state.messages.get(part.message)?.kept) {
    addDelta(value, delta)
    return
  }
  switch (delta.kind) {
    case 'text':
      if (value.type === 'text' || value.type === 'refusal')
        giveText(state, part, value, delta.text, emit)
      else addDelta(value, delta)
      return
    case 'input':
      if (value.type === 'tool-call' && part.item !== undefined)
        giveInput(state, part, value, delta.text, emit)
      else addDelta(value, delta)
      return
    case 'reasoning':
      if (value.type === 'reasoning') giveReasoning(state, part, value, delta, emit)
      return
    case 'citation':
      takeCitation(state, part, delta.citation, emit)
      return
    case 'logprobs':
      takeLogprobs(part, delta.logprobs)
      return
    case 'fields':
      takeFields(part, delta)
      return
    case 'whole':
      takeWhole(state, part, delta)
      return
    case 'signature':
    case 'media':
      addDelta(value, delta)
      return
    default:
      delta satisfies never
  }
}

/** Takes what arrives only at the end of a part, for its last events. */
function takeFields(part: OpenPart, delta: Extract<Delta, { kind: 'fields' }>): void {
  const { value } = part
  // What is written already stays as it is: the segments of reasoning, the id of a call.
  const { segments: _, ...unwritten } = delta.fields
  if (value.type === 'tool-call' && part.item !== undefined) {
    delete unwritten.id
    delete unwritten.kind
  }
  addDelta(value, { ...delta, fields: unwritten })
}

function endPart(state: EncoderState, { part: number, cut }: EncodedPartEnd, emit: EmitWire): void {
  const part = state.parts.get(number)
  if (!part) return
  leaveItem(state, part)
  state.parts.delete(number)
  const { value } = part
  if (cut && value.type === 'tool-call') value.cut = true
  const kept = state.messages.get(part.message)?.kept
  if (kept) {
    kept.push(value)
    return
  }
  switch (value.type) {
    case 'text':
    case 'refusal':
      endText(state, part, value, emit)
      return
    case 'reasoning':
      endReasoning(state, part, value, emit)
      return
    case 'tool-call':
      if (part.item === undefined) endWhole(state, part, value, emit)
      else endCall(state, part, value, emit)
      return
    case 'server-tool':
    case 'control':
    case 'opaque':
      endRaw(state, part, emit)
      return
    case 'media':
    case 'tool-result':
    case 'search-result':
      endWhole(state, part, value, emit)
      return
    default:
      value satisfies never
  }
}

function endMessage(
  state: EncoderState,
  { message, status, ext }: MessageEnd,
  emit: EmitWire,
): void {
  const opened = state.messages.get(message)
  if (!opened) return
  if (ext) opened.head.ext = mergeExt(opened.head.ext, ext)
  if (!opened.kept) reportOf(state).ext(opened.head.ext, opened.head.at)
  closeMessageItem(state, message, status, emit)
  state.messages.delete(message)
  const held = state.held === undefined ? undefined : state.items[state.held]
  if (!status || held?.message !== message) return
  const { type } = held.wire
  if (typeof held.wire['status'] === 'string' || type === 'reasoning')
    held.wire = { ...held.wire, status }
}
