import type { CanonicalError } from '../../../canonical/error.ts'
import type { EncoderEvent } from '../../../canonical/event.ts'
import type { ExtMap, Place } from '../../../canonical/message.ts'
import { noteFinish } from '../../../kit/errors/failed-response.ts'
import type { BlockEncoderState } from '../../../kit/stream/block-encoder.ts'
import type { Emit } from '../../../protocol.ts'
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

export type EncoderState = BlockEncoderState & {
  /** Of the model that the client requested. */
  family: ConverseFamily
  start: Pick<Extract<EncoderEvent, { type: 'start' }>, 'serviceTier'>
}

export const reportOf = ({ notes, fieldNames }: EncoderState): ConverseReport =>
  createConverseReport(fieldNames, notes)

/**
 * Notes the unknown keys that only a whole response of this protocol has a place for: its streams
 * have no event for such a node.
 */
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

/** An exception may come at any point of a stream. */
export function fail(state: EncoderState, error: CanonicalError, emit: EmitWire): void {
  const report = reportOf(state)
  const { usage, promptBlocked, start } = state
  report.rest({ promptBlocked, usage, serviceTier: start.serviceTier }, '')
  noteFinish(state.finish, state.finishAt, report)
  const name = exceptionOf(error.kind)
  emit({ [name]: encodeBareError(error, report, name) })
}
