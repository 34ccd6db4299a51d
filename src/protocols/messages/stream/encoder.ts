import { mergeExt } from '../../../canonical/collect.ts'
import type { EncoderEvent, PartStart } from '../../../canonical/event.ts'
import { type Finish, mergeUsage } from '../../../canonical/response.ts'
import { lostPhase, markCarried, withStreamedPhase } from '../../../kit/conversation/phases.ts'
import { isOtherSpeaker } from '../../../kit/conversation/speaker.ts'
import { endedEarly } from '../../../kit/errors/failed-response.ts'
import { defined } from '../../../kit/fields/defined.ts'
import { isDone } from '../../../kit/stream/block-writer.ts'
import { isCall, isWhole } from '../../../kit/stream/blocks.ts'
import { isLimit, isWholeInput } from '../../../kit/tools/cut-calls.ts'
import type { StreamMachine } from '../../../protocol.ts'
import type { MessagesOptions, Options } from '../options.ts'
import { ownOf } from '../own.ts'
import { encodeFinish, wordOf } from '../response/response.ts'
import { encodeUsage } from '../response/usage.ts'
import type { MessagesEvent, MessagesStop } from '../schema.ts'
import {
  type EmitWire,
  type EncoderState,
  fail,
  failByInput,
  noteUnsigned,
  reportOf,
} from './encoder-state.ts'
import { closeOpen } from './open-block.ts'
import { endPart, startPart, takeDelta } from './part-writer.ts'

/** Canonical events → wire events. `message_delta` waits for the token counts; the last event of a failed response is an error event. */
export const streamEncoder: StreamMachine<
  EncoderEvent,
  MessagesEvent,
  EncoderState,
  MessagesOptions
> = {
  initial: (options: Options = {}) => ({
    notes: [],
    fieldNames: options.fieldNames ?? {},
    truncated: options.truncated ?? 'error',
    fallback: {
      id: options.newId?.('msg_') ?? 'msg_0',
      ...defined({ model: options.context?.request?.model }),
    },
    phase: 'held',
    start: {},
    messages: {},
    lastMessage: 0,
    nextIndex: 0,
    open: undefined,
    closed: {},
    reasoning: 0,
    lastSignature: options.lastSignature ?? 'block',
    carriers: [],
    unsigned: false,
    seen: { calls: false, text: false },
    finish: undefined,
    finishAt: undefined,
    usage: undefined,
    early: undefined,
    sentUsage: undefined,
    promptBlocked: undefined,
    ext: undefined,
  }),

  step(state, event, emit) {
    if (state.phase === 'done') return
    switch (event.type) {
      case 'start': {
        const { type: _, ...start } = event
        state.start = start
        if (start.createdAt !== undefined)
          reportOf(state).add('field.unsupported', undefined, 'createdAt')
        reportOf(state).ext(start.ext, '')
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
        if (state.phase === 'held') state.early ??= event.usage
        return
      case 'update':
        update(state, event)
        return
      case 'ping':
        if (state.phase === 'begun') emit({ type: 'ping' })
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
  // `message_start` has the tier, and no later event has it. If it has none, the default applies.
  if (
    state.phase !== 'held' &&
    serviceTier !== 'default' &&
    serviceTier !== state.start.serviceTier
  )
    report.rest({ serviceTier }, undefined)
  if (serviceTier !== undefined) state.start = { ...state.start, serviceTier }
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
  const { id, model, serviceTier, transformations, ext } = state.start
  const named = model || state.fallback.model
  if (!id) reportOf(state).add('response.id', '/message/id')
  if (named === undefined) reportOf(state).add('response.model', '/message/model')
  const own = ownOf(ext)
  const early = state.early?.input !== undefined
  if (!early) reportOf(state).add('usage.late', '/message/usage')
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = early ? (state.early ?? {}) : {}
  if (early) state.sentUsage = { input, output, cacheRead, cacheWrite }
  emit({
    type: 'message_start',
    message: {
      container: null,
      diagnostics: null,
      ...own,
      id: id || state.fallback.id,
      type: 'message',
      role: 'assistant',
      model: named ?? 'unknown',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: encodeUsage({ input, output, cacheRead, cacheWrite }, serviceTier, reportOf(state)),
      ...defined({ input_transformations: transformations }),
    },
  })
}

function close(state: EncoderState, emit: EmitWire): void {
  if (!state.finish && !state.promptBlocked) {
    // Other candidates have ended, and this one never did.
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
  finishMessage(state, encodeFinish({ finish, at, promptBlocked, seen }, {}, reportOf(state)), emit)
}

/** Usage keys that `message_start` always has, and `message_delta` only if they are known. */
const ofStart: ReadonlySet<string> = new Set(['cache_creation', 'inference_geo', 'speed'])

function finishMessage(state: EncoderState, stop: MessagesStop, emit: EmitWire): void {
  const { container = null, ...beside } = ownOf(state.ext) ?? {}
  noteUnsigned(state)
  for (const { at } of state.carriers)
    reportOf(state).add('reasoning.trailing-signature', at, 'signature')
  state.phase = 'done'
  const usage = encodeUsage(state.usage, undefined, reportOf(state))
  const counts = Object.fromEntries(
    Object.entries(usage).filter(
      ([key, count]) => key !== 'service_tier' && (count !== null || !ofStart.has(key)),
    ),
  )
  emit({ ...beside, type: 'message_delta', delta: { container, ...stop }, usage: counts })
  emit({ type: 'message_stop' })
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
  finishMessage(state, { stop_reason: 'max_tokens', stop_sequence: null, stop_details: null }, emit)
}

/**
 * The finish reason is known: closes the call that was held open. In a response that reached its limit, an incomplete last call gets no
 * `content_block_stop`, as from the vendor's own server; after a normal finish, incomplete JSON is an error.
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
    (reason !== 'error' && wordOf(finish) === 'end_turn')
  )
    failByInput(state, 'whole JSON', emit)
}
