import { mergeExt } from '../../../canonical/collect.ts'
import type { CanonicalError } from '../../../canonical/error.ts'
import type { EncoderEvent } from '../../../canonical/event.ts'
import { mergeUsage } from '../../../canonical/response.ts'
import { noteIds, noteSpeaker } from '../../../kit/conversation/envelope.ts'
import { lostPhase, markCarried, withStreamedPhase } from '../../../kit/conversation/phases.ts'
import { endedEarly, noteFinish } from '../../../kit/errors/failed-response.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { holdCutCalls, isWholeInput } from '../../../kit/tools/cut-calls.ts'
import type { StreamMachine } from '../../../protocol.ts'
import { encodeBareError } from '../errors.ts'
import type { GenerateContentOptions, Options } from '../options.ts'
import { ownFields, ownObject, protocolName } from '../own.ts'
import { encodeBlocked, encodeFinish, isForeignFailure } from '../response/finish.ts'
import { isSameGrounding, joinGrounding, writeLogprobs } from '../response/response.ts'
import { encodeUsage } from '../usage.ts'
import type {
  GenerateContentGrounding,
  GenerateContentWire,
  GenerateContentWrittenCandidate,
} from '../written.ts'
import {
  type EmitWire,
  type EncoderState,
  headOf,
  type Lane,
  laneOf,
  reportOf,
} from './encoder-state.ts'
import { endPart, flushPending, startPart, takeDelta } from './part-writer.ts'

/**
 * Canonical events → wire events, each a chunk of the response. Calls are written whole. The last
 * event has the finish reasons of all candidates and the usage; it also has parts, because without
 * them clients drop the whole turn. A failed response ends with an error.
 */
export const streamEncoder: StreamMachine<
  EncoderEvent,
  GenerateContentWire['event'],
  EncoderState,
  GenerateContentOptions
> = {
  initial: (options: Options = {}) => ({
    notes: [],
    fieldNames: options.fieldNames ?? {},
    truncated: options.truncated ?? 'error',
    carries: options.signedReasoning === 'calls',
    done: false,
    begun: false,
    start: {},
    lanes: {},
    usage: undefined,
    promptBlocked: undefined,
    ext: undefined,
    late: new Map(),
  }),

  step: holdCutCalls(isUnfinished, (state, event, emit) => {
    if (state.done) return
    switch (event.type) {
      case 'start': {
        // The fields of the response are already written.
        if (state.begun) return
        const { type: _, ...start } = event
        state.start = start
        reportOf(state).ext(start.ext, '')
        return
      }
      case 'message.start':
        startMessage(state, event)
        return
      case 'part.start':
        laneOf(state, event.candidate).message = event.message
        startPart(
          state,
          partLane(state, event),
          `${event.part}`,
          withStreamedPhase(laneOf(state, event.candidate).phases[event.message], event),
          emit,
        )
        return
      case 'part.delta':
        takePartDelta(state, event, emit)
        return
      case 'part.end':
        endPart(state, laneOf(state, event.candidate), event, emit)
        return
      case 'message.end': {
        const opened = laneOf(state, event.candidate).phases[event.message]
        reportOf(state).rest(lostPhase(opened), opened?.at)
        noteIds(event, reportOf(state))
        reportOf(state).ext(event.ext, event.at)
        return
      }
      case 'finish': {
        const lane = laneOf(state, event.candidate)
        lane.finish = event.finish
        lane.finishAt = event.at
        lane.logprobs = event.logprobs
        lane.grounding = event.grounding
        lane.ext = event.ext
        reportOf(state).ext(event.ext, event.at)
        return
      }
      case 'usage':
        state.usage = mergeUsage(state.usage, event.usage)
        return
      case 'update':
        update(state, event)
        return
      case 'ping':
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
  }),

  end(state, emit) {
    if (!state.done) cutOff(state, emit)
  },
}

/** Is it the end of a call without whole arguments? */
function isUnfinished(state: EncoderState, { candidate, part }: EventOf<'part.end'>): boolean {
  const open = state.lanes[candidate]?.open
  const pending = open?.key === `${part}` ? open : undefined
  const call = pending?.part
  // Servers of this protocol send whole calls, with or without arguments.
  if (state.start.source?.protocol === protocolName) return false
  return call?.type === 'tool-call' && call.kind === 'function' && !isWholeInput(call.input)
}

type EventOf<Type extends EncoderEvent['type']> = Extract<EncoderEvent, { type: Type }>

function takePartDelta(state: EncoderState, event: EventOf<'part.delta'>, emit: EmitWire): void {
  const lane = laneOf(state, event.candidate)
  markCarried(lane.phases[lane.message], event)
  takeDelta(state, lane, `${event.part}`, event.delta, emit)
}

function startMessage(state: EncoderState, event: EventOf<'message.start'>): void {
  const { type: _, candidate, message, role, origin: __, id: ___, phase, at, ext, ...rest } = event
  const report = reportOf(state)
  report.rest(rest, at)
  report.ext(ext, at)
  noteIds(event, report)
  const lane = laneOf(state, candidate)
  lane.around = { ...lane.around, ...ownFields(ext) }
  if (role !== 'assistant') lane.voices[message] = { role, at }
  if (phase) lane.phases[message] = { phase, at }
}

/** The candidate of a part. Notes that somebody other than the model speaks. */
function partLane(state: EncoderState, { candidate, message, head }: EventOf<'part.start'>): Lane {
  const lane = laneOf(state, candidate)
  const speaker = lane.voices[message]
  if (speaker) noteSpeaker(speaker, [head], reportOf(state))
  return lane
}

function update(
  state: EncoderState,
  { type: _, serviceTier, completedAt, promptBlocked, ext, ...rest }: EventOf<'update'>,
): void {
  const report = reportOf(state)
  report.rest({ completedAt, ...rest }, undefined)
  report.ext(ext, '')
  if (serviceTier !== undefined) state.start = { ...state.start, serviceTier }
  if (promptBlocked) state.promptBlocked = promptBlocked
  if (ext) state.ext = mergeExt(state.ext, ext)
}

function close(state: EncoderState, emit: EmitWire): void {
  const lanes = Object.values(state.lanes)
  const failed = lanes.find(({ finish }) => isForeignFailure(finish))?.finish
  if (failed)
    fail(
      state,
      { status: 500, kind: 'internal', message: failed.message ?? 'the upstream failed' },
      emit,
    )
  // A source that left a part open was cut off.
  else if (
    lanes.some(isOpen) ||
    lanes.some(({ finish }) => !finish) ||
    (lanes.length === 0 && !state.promptBlocked)
  )
    cutOff(state, emit)
  else finish(state, lanes, emit)
}

const isOpen = ({ open }: Lane) => open !== undefined

/**
 * The source stopped early. A call with incomplete arguments is not written: it makes the end an
 * error.
 */
function cutOff(state: EncoderState, emit: EmitWire): void {
  const lanes = Object.values(state.lanes)
  const isCut = lanes.some(({ open }) => open?.part.type === 'tool-call')
  if (state.truncated === 'error' || isCut || !state.begun) {
    fail(state, endedEarly, emit)
    return
  }
  for (const lane of lanes) if (lane.open) endPart(state, lane, { part: lane.open.key }, emit)
  finish(state, lanes, emit)
}

function fail(state: EncoderState, error: CanonicalError, emit: EmitWire): void {
  const { promptBlocked, start, usage } = state
  const { id, model, createdAt, serviceTier } = start
  const report = reportOf(state)
  for (const lane of Object.values(state.lanes)) flushPending(state, lane, emit)
  state.done = true
  const body = encodeBareError(error, report)
  // These would be in the last event, which is not written.
  report.rest({ usage, serviceTier, promptBlocked }, '')
  for (const { finish: ending, finishAt: at, logprobs } of Object.values(state.lanes)) {
    report.rest({ logprobs }, at)
    noteFinish(ending, at, report)
  }
  if (!state.begun) report.rest({ id, model, createdAt }, '')
  emit(body)
}

/** Writes the end of all candidates in one event: if it is missing, the stream was cut off. */
function finish(state: EncoderState, lanes: readonly Lane[], emit: EmitWire): void {
  const { start, promptBlocked, ext } = state
  const report = reportOf(state)
  const candidates = lanes.map(lane => lastOf(state, lane))
  state.done = true
  const usage = encodeUsage(state.usage, start.serviceTier, report)
  emit({
    ...ownFields(start.ext),
    ...ownFields(ext),
    ...(candidates.length > 0 && { candidates }),
    ...(promptBlocked && { promptFeedback: encodeBlocked(promptBlocked) }),
    ...omitUndefined({ usageMetadata: usage }),
    ...headOf(state),
  })
}

function lastOf(state: EncoderState, lane: Lane): GenerateContentWrittenCandidate {
  const {
    candidate,
    around,
    pending,
    signatures,
    called,
    texts,
    grounded,
    grounding,
    finishAt: at,
    logprobs: loose,
    ext,
  } = lane
  const report = reportOf(state)
  const { logprobsResult, groundingMetadata: _, ...own } = ownFields(ext) ?? {}
  // Logprobs of the last text may not be written yet: they go into one object with what else the
  // candidate has.
  const logprobs =
    (loose || logprobsResult) && pending?.beside.logprobsResult ? texts.slice(-1) : []
  const written = pending?.beside.groundingMetadata
  const isWhole = !grounded && isSameGrounding(texts, grounding)
  return {
    ...own,
    index: candidate,
    content: {
      ...around,
      role: 'model',
      parts:
        pending || signatures.length === 0
          ? [pending?.part ?? { text: '' }, ...signatures]
          : signatures,
    },
    ...pending?.beside,
    ...omitUndefined({
      logprobsResult: writeLogprobs(
        [{ logprobs: loose, at }, ...logprobs],
        logprobsResult,
        at,
        report,
      ),
      groundingMetadata: isWhole
        ? asRead<GenerateContentGrounding>(grounding)
        : joinGrounding(ownObject(ext, 'groundingMetadata'), written, at, report),
    }),
    ...encodeFinish(lane.finish, { hasCalls: called, at, truncated: state.truncated }, report),
  }
}
