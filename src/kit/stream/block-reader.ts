import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent, Delta } from '../../canonical/event.ts'
import { takeApart } from '../../canonical/explode.ts'
import type { Part, Place, Signature } from '../../canonical/message.ts'
import type { Finish } from '../../canonical/response.ts'
import type { EmitEvent, MachineState } from '../../protocol.ts'
import { noPhases, type PhasesInFront, takePhase } from '../conversation/phases.ts'
import type { JsonObject } from '../json/json.ts'
import { type Carried, ordinalOf, signedBy } from '../signatures/carried.ts'
import { isLimit } from '../tools/cut-calls.ts'

/** What is known of a response whose parts come as blocks. `Open`: a block that has not stopped. */
export type BlockReading<Open> = MachineState & {
  phase: 'before' | 'started' | 'inside' | 'finished' | 'ended'
  model: string | undefined
  /** By their indexes. */
  open: Map<string, Open>
  /** The open block that got the last delta. */
  latest?: Open
  nextPart: number
  /**
   * The part whose block has stopped on the wire. Its `part.end` waits, because a carrier block may
   * still bring its signature.
   */
  closing: { part: number; final?: Part; isEmpty?: boolean } | undefined
  /** Numbers of the reasoning parts, in order. */
  reasoning: number[]
  /** The signature of a carrier block, for the part after it. */
  waiting: { signature: Signature; at: Place } | undefined
  phases: PhasesInFront
  finish: Finish | undefined
  usage: JsonObject
}

export const beforeBlocks = <Open>(model: string | undefined): BlockReading<Open> => ({
  notes: [],
  phase: 'before',
  model,
  open: new Map(),
  nextPart: 0,
  closing: undefined,
  reasoning: [],
  waiting: undefined,
  phases: noPhases(),
  finish: undefined,
  usage: {},
})

/** What differs between protocols whose parts are blocks. `at`: of the message in the response. */
type BlockWire<State> = {
  protocol: string
  at?: Place
  reportOf(state: State): { add(code: 'reasoning.signature-orphaned', at: Place): void }
  /** Who makes the signatures of the response. */
  issuer(state: State): string
}

type Start = Omit<Extract<CanonicalEvent, { type: 'start' }>, 'type'>

/** Canonical events from blocks that start, grow and stop. */
export function createBlockReader<State extends BlockReading<unknown>>(wire: BlockWire<State>) {
  const place = wire.at === undefined ? {} : { at: wire.at }

  function begin(state: State, emit: EmitEvent, start: Start = {}): void {
    if (state.phase !== 'before') return
    state.phase = 'started'
    emit({ type: 'start', ...start })
  }

  /**
   * `message.start` comes with the first block, so that a response that fails before it has no
   * message.
   */
  function enter(state: State, emit: EmitEvent): void {
    begin(state, emit)
    if (state.phase !== 'started') return
    state.phase = 'inside'
    emit({ type: 'message.start', candidate: 0, message: 0, role: 'assistant', ...place })
  }

  const orphan = (state: State, at: Place) =>
    wire.reportOf(state).add('reasoning.signature-orphaned', at)

  /** Notes the signature of a carrier block whose part never came, or has one of its own. */
  function loseWaiting(state: State): void {
    if (state.waiting) orphan(state, state.waiting.at)
    state.waiting = undefined
  }

  /**
   * The number of a part that begins, which gets the phase and signature that wait for it. Changes
   * `part`. Undefined: it only carried a phase.
   */
  function numberOf(state: State, part: Part, emit: EmitEvent): number | undefined {
    enter(state, emit)
    flushClosing(state, emit)
    if (takePhase(state.phases, part)) return undefined
    if (state.waiting && !part.signature) {
      part.signature = state.waiting.signature
      state.waiting = undefined
    }
    loseWaiting(state)
    if (part.signature) part.signature = signed(state, part.signature)
    const number = state.nextPart++
    if (part.type === 'reasoning') state.reasoning.push(number)
    return number
  }

  const signed = (state: State, signature: Signature) =>
    signedBy(state.model, wire.issuer(state), signature)

  /** Begins a part with everything that is known of it. */
  function startPart(state: State, part: Part, emit: EmitEvent): number | undefined {
    const number = numberOf(state, part, emit)
    if (number === undefined) return undefined
    const isText = part.type === 'text' || (part.type === 'reasoning' && !part.redacted)
    const { head, deltas } = isText ? takeApart(part) : { head: part, deltas: [] }
    emit({ type: 'part.start', candidate: 0, message: 0, part: number, head })
    for (const delta of deltas) emitDelta(number, delta, emit)
    return number
  }

  /** Emits a part that is complete but for a signature that may follow. */
  function wholePart(state: State, part: Part, emit: EmitEvent): void {
    const number = startPart(state, part, emit)
    if (number !== undefined) state.closing = { part: number }
  }

  function takeCarrier(state: State, carried: Carried, at: Place, emit: EmitEvent): void {
    const { attach, ...placed } = carried
    const { signature } = placed
    const proven = state.reasoning[ordinalOf(attach) ?? -1]
    if (attach === 'text') wholePart(state, { type: 'text', text: '', signature, at }, emit)
    else if (attach === 'next') {
      loseWaiting(state)
      state.waiting = { signature, at }
    } else if (proven !== undefined) emitDelta(proven, { kind: 'signature', ...placed }, emit)
    else if (attach === 'prev' && state.closing)
      emitDelta(state.closing.part, { kind: 'signature', signature }, emit)
    else orphan(state, at)
  }

  /**
   * `isLast`: nothing of the response follows. A call without input is complete, unless it is the
   * last one and a limit ended the response.
   */
  function flushClosing(state: State, emit: EmitEvent, isLast = false): void {
    if (!state.closing) return
    const { isEmpty, ...closing } = state.closing
    state.closing = undefined
    const isCut = isLast && state.finish !== undefined && isLimit(state.finish)
    if (isEmpty && !isCut) emitDelta(closing.part, { kind: 'input', text: '{}' }, emit)
    emit({ type: 'part.end', candidate: 0, ...closing })
  }

  /** Ends the message and its candidate, but not the stream. */
  function closeMessage(state: State, emit: EmitEvent): void {
    enter(state, emit)
    loseWaiting(state)
    emit({ type: 'message.end', candidate: 0, message: 0 })
    const finish = state.finish ?? { reason: 'other', protocol: wire.protocol }
    emit({ type: 'finish', candidate: 0, finish })
  }

  function end(state: State, clean: boolean, emit: EmitEvent): void {
    state.phase = 'ended'
    emit({ type: 'end', clean })
  }

  function fail(state: State, error: CanonicalError, emit: EmitEvent): void {
    begin(state, emit)
    flushClosing(state, emit)
    emit({ type: 'error', error })
    end(state, false, emit)
  }

  /** The step of a machine that takes events until the response has ended. */
  const stepOf =
    (take: (state: State, event: unknown, emit: EmitEvent) => void) =>
    (state: State, event: unknown, emit: EmitEvent): void => {
      if (state.phase === 'ended' || event === '[DONE]') return
      try {
        take(state, event, emit)
      } catch (error) {
        // The error is reported inside the stream, which must have begun for that.
        begin(state, emit)
        throw error
      }
    }

  return {
    begin,
    enter,
    signed,
    startPart,
    wholePart,
    takeCarrier,
    flushClosing,
    closeMessage,
    end,
    fail,
    stepOf,
  }
}

export function emitDelta(part: number, delta: Delta, emit: EmitEvent): void {
  emit({ type: 'part.delta', candidate: 0, part, delta })
}
