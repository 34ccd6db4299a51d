import { mergeExt } from '../../canonical/collect.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import type { EncoderEvent } from '../../canonical/event.ts'
import type { ExtMap, Place, Role } from '../../canonical/message.ts'
import {
  type CanonicalResponse,
  type Finish,
  mergeUsage,
  type Usage,
} from '../../canonical/response.ts'
import type { CodecOptions, Emit, FieldNames, MachineState, StreamMachine } from '../../protocol.ts'
import { noteSpeaker } from '../conversation/envelope.ts'
import {
  lostPhase,
  markCarried,
  type StreamedPhase,
  withStreamedPhase,
} from '../conversation/phases.ts'
import { endedEarly } from '../errors/failed-response.ts'
import { omitUndefined } from '../fields/omit.ts'
import { isLimit, isWholeInput } from '../tools/cut-calls.ts'
import { type BlockState, type BlockWire, createBlockWriter, isDone } from './block-writer.ts'
import { isCall, isWhole } from './blocks.ts'

/**
 * The stream encoder of a protocol whose responses are blocks: one is open at a time, and each has
 * an index.
 */

export type BlockEncoderState = BlockState &
  MachineState & {
    fieldNames: FieldNames
    /**
     * By number of the message: the role of its parts, its path in the source, its phase, and
     * whether a text carries that.
     */
    messages: Record<number, { role?: Role; at?: Place } & StreamedPhase>
    /** The message whose part has begun last. */
    lastMessage: number
    finish: Finish | undefined
    finishAt: Place | undefined
    usage: Usage | undefined
    promptBlocked: CanonicalResponse['promptBlocked']
    ext: ExtMap | undefined
  }

export const startBlocks = (
  options: Pick<CodecOptions, 'fieldNames' | 'truncated'>,
): BlockEncoderState => ({
  notes: [],
  fieldNames: options.fieldNames ?? {},
  truncated: options.truncated ?? 'error',
  phase: 'held',
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
})

export type EventOf<Type extends EncoderEvent['type']> = Extract<EncoderEvent, { type: Type }>

/** What is around the blocks. */
type Frame<State, Event> = {
  ping: Event
  start(state: State, event: EventOf<'start'>): void
  update(state: State, event: EventOf<'update'>): void
  /** Of a message: what else is noted. */
  noteMessage?(state: State, event: EventOf<'message.start'>): void
  takeUsage?(state: State, event: EventOf<'usage'>): void
  /** Emits what begins the response. */
  begin(state: State, emit: Emit<Event>): void
  /** Emits the end, once all blocks are closed. */
  finish(state: State, emit: Emit<Event>): void
  /** The same for a response that was cut off, and is to look as if a limit had ended it. */
  finishCut(state: State, emit: Emit<Event>): void
  /** Emits the end of a failed response. */
  fail(state: State, error: CanonicalError, emit: Emit<Event>): void
  /** Would the client be told that the model has ended its turn? */
  endsTurn(finish: Finish): boolean
}

type Wire<State extends BlockEncoderState, Event, Written, WireDelta> = Omit<
  BlockWire<State, Emit<Event>, Written, WireDelta>,
  'fail'
> &
  Frame<State, Event>

export function createBlockEncoder<State extends BlockEncoderState, Event, Written, WireDelta>(
  wire: Wire<State, Event, Written, WireDelta>,
): Pick<StreamMachine<EncoderEvent, Event, State>, 'step' | 'end'> {
  type EmitWire = Emit<Event>
  const { reportOf } = wire
  const { startPart, takeDelta, endPart, closeOpen } = createBlockWriter<
    State,
    EmitWire,
    Written,
    WireDelta
  >({ ...wire, fail: failByInput })

  function failByInput(state: State, what: string, emit: EmitWire): void {
    state.failure = {
      status: 502,
      kind: 'internal',
      message: `the arguments of a tool call are not ${what}`,
    }
    fail(state, state.failure, emit)
  }

  function fail(state: State, error: CanonicalError, emit: EmitWire): void {
    wire.fail(state, error, emit)
    state.phase = 'done'
  }

  function begin(state: State, emit: EmitWire): void {
    if (state.phase !== 'held') return
    state.phase = 'begun'
    wire.begin(state, emit)
  }

  function startMessage(state: State, event: EventOf<'message.start'>): void {
    const {
      type: _,
      candidate: __,
      message,
      role,
      origin: ___,
      id,
      phase,
      at,
      ext,
      ...rest
    } = event
    const report = reportOf(state)
    report.rest(rest, at)
    report.ext(ext, at)
    wire.noteMessage?.(state, event)
    report.onceEach('message.envelope', at, { itemId: id })
    state.messages[message] = omitUndefined({ role, at, phase: phase ?? undefined })
  }

  function close(state: State, emit: EmitWire): void {
    const { finish, promptBlocked } = state
    if (!finish && !promptBlocked) {
      // Other candidates have ended, and this one never did.
      if (state.truncated === 'error' || state.phase === 'held') state.failure = endedEarly
      cutOff(state, emit)
      return
    }
    if (finish?.reason === 'error') {
      const message = finish.message ?? 'the upstream failed'
      fail(state, { status: 500, kind: 'internal', message }, emit)
      return
    }
    begin(state, emit)
    if (finish) closeOpenAtFinish(state, finish, emit)
    if (isDone(state)) return
    // A part is still open, so the source was cut off although its end is `clean`.
    if (state.open && !isCall(state.open)) {
      fail(state, endedEarly, emit)
      return
    }
    wire.finish(state, emit)
    state.phase = 'done'
  }

  /** The source was cut off. A call that was cut off is never closed. */
  function cutOff(state: State, emit: EmitWire): void {
    const { open } = state
    const cut = open && isCall(open) && !isWhole(open)
    if (state.truncated === 'error' || cut || state.phase === 'held') {
      fail(state, endedEarly, emit)
      return
    }
    closeOpen(state, emit)
    if (isDone(state)) return
    reportOf(state).add('finish.truncated-as-length', undefined)
    wire.finishCut(state, emit)
    state.phase = 'done'
  }

  /**
   * The finish reason is known: closes the call that was held open. In a response that reached its
   * limit, the block of an incomplete last call is not closed, as by the vendors' own servers;
   * after a normal finish, incomplete JSON is an error.
   */
  function closeOpenAtFinish(state: State, finish: Finish, emit: EmitWire): void {
    const { open, phase } = state
    if (!open || phase !== 'begun') return
    const { reason } = finish
    const isCut = isLimit(finish) && open.kind !== 'freeform' && !isWholeInput(open.text)
    if (!isCall(open) || (!isCut && isWhole(open))) closeOpen(state, emit)
    else if (
      reason === 'stop' ||
      reason === 'tool_calls' ||
      (reason !== 'error' && wire.endsTurn(finish))
    )
      failByInput(state, 'whole JSON', emit)
  }

  return {
    step(state, event, emit) {
      if (state.phase === 'done') return
      switch (event.type) {
        case 'start':
          wire.start(state, event)
          return
        case 'message.start':
          startMessage(state, event)
          begin(state, emit)
          return
        case 'part.start':
          begin(state, emit)
          noteSpeaker(state.messages[event.message], [event.head], reportOf(state))
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
          wire.takeUsage?.(state, event)
          return
        case 'update': {
          const { type: _, serviceTier: __, promptBlocked, completedAt, ext, ...rest } = event
          const report = reportOf(state)
          report.rest({ completedAt, ...rest }, undefined)
          report.ext(ext, '')
          wire.update(state, event)
          if (promptBlocked) state.promptBlocked = promptBlocked
          if (ext) state.ext = mergeExt(state.ext, ext)
          return
        }
        case 'ping':
          if (state.phase === 'begun') emit(wire.ping)
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
}
