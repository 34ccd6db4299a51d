import { mergeExt } from '../../../canonical/collect.ts'
import type { EncoderEvent, PartStart } from '../../../canonical/event.ts'
import { type Finish, mergeUsage } from '../../../canonical/response.ts'
import { lostPhase, markCarried, withStreamedPhase } from '../../../kit/conversation/phases.ts'
import { isOtherSpeaker } from '../../../kit/conversation/speaker.ts'
import { endedEarly } from '../../../kit/errors/failed-response.ts'
import { defined } from '../../../kit/fields/defined.ts'
import { isObject } from '../../../kit/json/json.ts'
import { isDone } from '../../../kit/stream/block-writer.ts'
import { isCall, isWhole } from '../../../kit/stream/blocks.ts'
import { isLimit, isWholeInput } from '../../../kit/tools/cut-calls.ts'
import type { StreamMachine } from '../../../protocol.ts'
import { familyOf } from '../models.ts'
import type { ConverseOptions, Options } from '../options.ts'
import { ownOf, protocolName } from '../own.ts'
import {
  encodeFinish,
  encodeTier,
  noteNames,
  refusalText,
  tierOf,
  wordOf,
} from '../response/response.ts'
import { encodeUsage } from '../response/usage.ts'
import type { ConverseEvent, ConverseStop } from '../schema.ts'
import {
  type EmitWire,
  type EncoderState,
  fail,
  failByInput,
  noteOwn,
  reportOf,
} from './encoder-state.ts'
import { closeOpen, writeBlock } from './open-block.ts'
import { endPart, startPart, takeDelta } from './part-writer.ts'

/** Canonical events → wire events. `messageStop` waits for the end of the source; the last event of a failed response is an exception. */
export const streamEncoder: StreamMachine<
  EncoderEvent,
  ConverseEvent,
  EncoderState,
  ConverseOptions
> = {
  initial: (options: Options = {}) => ({
    notes: [],
    fieldNames: options.fieldNames ?? {},
    truncated: options.truncated ?? 'error',
    family: familyOf(options.context?.request?.model, options),
    phase: 'held',
    start: {},
    messages: {},
    lastMessage: 0,
    nextIndex: 0,
    open: undefined,
    closed: {},
    reasoningCount: 0,
    seen: { calls: false, text: false },
    finish: undefined,
    finishAt: undefined,
    usage: undefined,
    promptBlocked: undefined,
    ext: undefined,
  }),

  step(state, event, emit) {
    if (state.phase === 'done') return
    switch (event.type) {
      case 'start': {
        const { type: _, id, model, serviceTier, ext, ...rest } = event
        state.start = defined({ serviceTier })
        noteNames({ id, model }, reportOf(state))
        reportOf(state).rest(rest, undefined)
        reportOf(state).ext(ext, '')
        if (ext) state.ext = ext
        return
      }
      case 'message.start':
        startMessage(state, event)
        begin(state, emit)
        return
      case 'part.start':
        begin(state, emit)
        noteSpeaker(state, event)
        state.lastMessage = event.message
        startPart(
          state,
          `${event.part}`,
          withStreamedPhase(state.messages[event.message], event),
          emit,
        )
        return
      case 'part.delta':
        markCarried(state.messages[state.lastMessage], event)
        takeDelta(state, `${event.part}`, event.delta, emit)
        return
      case 'part.end':
        endPart(state, `${event.part}`, emit)
        return
      case 'message.end': {
        const opened = state.messages[event.message]
        reportOf(state).rest(lostPhase(opened), opened?.at)
        if (event.status !== 'completed')
          reportOf(state).onceEach('message.envelope', event.at, { status: event.status })
        reportOf(state).ext(event.ext, event.at)
        return
      }
      case 'finish':
        begin(state, emit)
        state.finish = event.finish
        state.finishAt = event.at
        reportOf(state).ext(event.ext, event.at)
        reportOf(state).rest({ logprobs: event.logprobs }, event.at)
        closeOpenAtFinish(state, event.finish, emit)
        return
      case 'usage':
        state.usage = mergeUsage(state.usage, event.usage)
        return
      case 'update':
        update(state, event)
        return
      case 'ping':
        if (state.phase === 'begun') emit({ ping: {} })
        return
      case 'opaque':
        reportOf(state).once('event.progress', undefined)
        return
      case 'error':
        fail(state, event.error, emit)
        return
      case 'end':
        if (event.clean) close(state, emit)
        else cutOff(state, emit)
        return
      default:
        event satisfies never
    }
  },

  end(state, emit) {
    if (state.phase !== 'done') cutOff(state, emit)
  },
}

type EventOf<Type extends EncoderEvent['type']> = Extract<EncoderEvent, { type: Type }>

function startMessage(state: EncoderState, event: EventOf<'message.start'>): void {
  const { type: _, candidate: __, message, role, origin: ___, id, phase, at, ext, ...rest } = event
  const report = reportOf(state)
  report.rest(rest, at)
  report.ext(ext, at)
  noteOwn(state, ext, at)
  report.onceEach('message.envelope', at, { itemId: id })
  state.messages[message] = defined({ role, at, phase: phase ?? undefined })
}

function update(
  state: EncoderState,
  { type: _, serviceTier, completedAt, promptBlocked, ext, ...rest }: EventOf<'update'>,
): void {
  const report = reportOf(state)
  report.rest({ ...rest, ...defined({ completedAt }) }, undefined)
  report.ext(ext, '')
  if (serviceTier !== undefined) state.start = { serviceTier }
  if (promptBlocked) state.promptBlocked = promptBlocked
  if (ext) state.ext = mergeExt(state.ext, ext)
}

function noteSpeaker(state: EncoderState, { message, head }: PartStart): void {
  const { role = 'assistant', at } = state.messages[message] ?? {}
  if (isOtherSpeaker(role, [head])) reportOf(state).add('message.role', at, 'role')
}

// ---- the frame around the blocks

function begin(state: EncoderState, emit: EmitWire): void {
  if (state.phase !== 'held') return
  state.phase = 'begun'
  emit({ messageStart: { role: 'assistant' } })
}

function close(state: EncoderState, emit: EmitWire): void {
  if (!state.finish && !state.promptBlocked) {
    // Other candidates ended, and this one did not.
    if (state.truncated === 'error' || state.phase === 'held') state.failure = endedEarly
    cutOff(state, emit)
    return
  }
  if (state.finish?.reason === 'error') {
    fail(
      state,
      { status: 500, kind: 'internal', message: state.finish.message ?? 'the upstream failed' },
      emit,
    )
    return
  }
  begin(state, emit)
  if (state.finish) closeOpenAtFinish(state, state.finish, emit)
  if (isDone(state)) return
  // A part is still open, so the source was cut off although its end is `clean`.
  if (state.open && !isCall(state.open)) {
    fail(state, endedEarly, emit)
    return
  }
  const { finish, finishAt: at, promptBlocked, seen } = state
  const refusal = refusalText({ finish, promptBlocked }, seen.text)
  // A call that was cut off stays open, and only the end follows.
  if (refusal !== undefined && !state.open) writeBlock(state, { text: refusal }, emit)
  const explained = refusal !== undefined && !state.open
  finishMessage(
    state,
    encodeFinish(
      { finish, at, promptBlocked, calls: seen.calls, explained, streamed: true },
      {},
      reportOf(state),
    ),
    emit,
  )
}

function finishMessage(state: EncoderState, stop: ConverseStop, emit: EmitWire): void {
  const { additionalModelResponseFields, output, metrics, serviceTier, ...own } =
    ownOf(state.ext) ?? {}
  const report = reportOf(state)
  state.phase = 'done'
  emit({
    messageStop: {
      ...stop,
      ...(additionalModelResponseFields !== undefined && { additionalModelResponseFields }),
    },
  })
  if (output !== undefined) noteOwn(state, { [protocolName]: { fields: { output } } }, '')
  const tier = tierOf(
    encodeTier(state.start.serviceTier ?? state.usage?.serviceTier, report),
    serviceTier,
  )
  const usage = defined(encodeUsage(state.usage, report))
  emit({
    metadata: defined({
      ...own,
      usage,
      metrics: { ...(isObject(metrics) && metrics), latencyMs: 0 },
      serviceTier: tier,
    }),
  })
}

/** The source was cut off. A call that was cut off is never closed. */
function cutOff(state: EncoderState, emit: EmitWire): void {
  const { open } = state
  const cut = open && isCall(open) && !isWhole(open)
  if (state.truncated === 'error' || cut || state.phase === 'held') {
    fail(state, endedEarly, emit)
    return
  }
  closeOpen(state, emit)
  if (isDone(state)) return
  reportOf(state).add('finish.truncated-as-length', undefined)
  finishMessage(state, { stopReason: 'max_tokens' }, emit)
}

/**
 * The finish reason is known: closes the call that was held open. In a response that reached its limit, an incomplete last call gets no
 * `contentBlockStop`; after a normal finish, incomplete JSON is an error.
 */
function closeOpenAtFinish(state: EncoderState, finish: Finish, emit: EmitWire): void {
  const { open, phase } = state
  if (!open || phase !== 'begun') return
  const { reason } = finish
  const isCut = isLimit(finish) && open.kind !== 'freeform' && !isWholeInput(open.text)
  if (!isCall(open) || (!isCut && isWhole(open))) closeOpen(state, emit)
  else if (
    reason === 'stop' ||
    reason === 'tool_calls' ||
    (reason !== 'error' && wordOf(finish).word === 'end_turn')
  )
    failByInput(state, 'whole JSON', emit)
}
