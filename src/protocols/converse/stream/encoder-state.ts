import type { CanonicalError } from '../../../canonical/error.ts'
import type { EncoderEvent } from '../../../canonical/event.ts'
import type { ExtMap, Place, Role } from '../../../canonical/message.ts'
import type { CanonicalResponse, Finish, Usage } from '../../../canonical/response.ts'
import type { StreamedPhase } from '../../../kit/conversation/phases.ts'
import { noteFinish } from '../../../kit/errors/failed-response.ts'
import type { Block } from '../../../kit/stream/blocks.ts'
import type { Emit, FieldNames, MachineState } from '../../../protocol.ts'
import type { Writing } from '../content/writing.ts'
import { encodeBareError, exceptionOf } from '../errors.ts'
import { type ConverseReport, createConverseReport } from '../notes.ts'
import type { Options } from '../options.ts'
import { protocolName } from '../own.ts'
import { responseWriting } from '../response/response.ts'
import type { ConverseEvent } from '../schema.ts'
import type { ConverseFamily } from '../vocabulary.ts'

/** What the files of the stream encoder share: its state, and functions of it. */

export type EmitWire = Emit<ConverseEvent>

export type EncoderState = MachineState & {
  fieldNames: FieldNames
  truncated: 'error' | 'length'
  /** Of the model that the client requested. */
  family: ConverseFamily
  phase: 'held' | 'begun' | 'done'
  start: Pick<Extract<EncoderEvent, { type: 'start' }>, 'serviceTier'>
  /** By number of the message: the role of its parts, its path in the source, its phase, and whether a text carries that. */
  messages: Record<number, { role?: Role; at?: Place } & StreamedPhase>
  /** The message whose part has begun last. */
  lastMessage: number
  nextIndex: number
  /** One block is open at a time. */
  open: Block | undefined
  /** Blocks whose signature may still come: reasoning, and calls that were closed as soon as their input was complete. */
  closed: Record<string, Block>
  /** The number of reasoning blocks so far. */
  reasoningCount: number
  /** Of the parts so far, what the end of the response depends on. */
  seen: { calls: boolean; text: boolean }
  finish: Finish | undefined
  finishAt: Place | undefined
  usage: Usage | undefined
  promptBlocked: CanonicalResponse['promptBlocked']
  ext: ExtMap | undefined
}

export const reportOf = ({ notes, fieldNames }: EncoderState): ConverseReport =>
  createConverseReport(fieldNames, notes)

/** Notes the unknown keys that only a whole response of this protocol has a place for: its streams have no event for such a node. */
export function noteOwn(state: EncoderState, ext: ExtMap | undefined, at: Place | undefined): void {
  const own = ext?.[protocolName]?.fields
  if (!own) return
  // Citations are written unchanged.
  const { citations: _, ...fields } = own
  reportOf(state).unknown(fields, at)
}

/** How parts are written that are written whole. */
export const writingOf = (state: EncoderState): Writing => ({
  ...responseWriting(reportOf(state), noOptions),
  family: state.family,
})

const noOptions: Options = {}

/** Ends the stream with an error, because a client would take these arguments for none. */
export function failByInput(state: EncoderState, what: string, emit: EmitWire): void {
  state.failure = {
    status: 502,
    kind: 'internal',
    message: `the arguments of a tool call are not ${what}`,
  }
  fail(state, state.failure, emit)
}

/** An exception may come at any point of a stream. */
export function fail(state: EncoderState, error: CanonicalError, emit: EmitWire): void {
  const report = reportOf(state)
  const { usage, promptBlocked, start } = state
  report.rest({ promptBlocked, usage, serviceTier: start.serviceTier }, '')
  noteFinish(state.finish, state.finishAt, report)
  state.phase = 'done'
  const name = exceptionOf(error.kind)
  emit({ [name]: encodeBareError(error, report, name) })
}
