import type { CanonicalError } from '../../../canonical/error.ts'
import type { CanonicalEvent } from '../../../canonical/event.ts'
import type { ExtMap, Place, Role } from '../../../canonical/message.ts'
import type { CanonicalResponse, Finish, Usage } from '../../../canonical/response.ts'
import type { StreamedPhase } from '../../../kit/conversation/phases.ts'
import { noteFinish } from '../../../kit/errors/failed-response.ts'
import type { Block } from '../../../kit/stream/blocks.ts'
import type { Emit, FieldNames, MachineState } from '../../../protocol.ts'
import { encodeBareError } from '../errors.ts'
import { createMessagesReport, type MessagesReport } from '../notes.ts'
import { protocolName } from '../own.ts'
import type { Seen } from '../response/response.ts'
import type { MessagesEvent, MessagesWrittenBlock } from '../schema.ts'

/** What the files of the stream encoder share: its state, and functions of it. */

export type EmitWire = Emit<MessagesEvent>

export type EncoderState = MachineState & {
  fieldNames: FieldNames
  truncated: 'error' | 'length'
  fallback: { id: string; model?: string }
  phase: 'held' | 'begun' | 'done'
  start: Omit<Extract<CanonicalEvent, { type: 'start' }>, 'type'>
  /** By number of the message: the role of its parts, its path in the source, its phase, and whether a text carries that. */
  messages: Record<number, { role?: Role; at?: Place } & StreamedPhase>
  /** The message whose part has begun last. */
  lastMessage: number
  nextIndex: number
  /** One block is open at a time, because clients apply deltas to the newest one. */
  open: Block | undefined
  /** Blocks whose signature may still come: thinking, and calls that were closed as soon as their input was complete. */
  closed: Record<string, Block>
  /** The number of thinking blocks so far. */
  reasoning: number
  /** The option `lastSignature`: may a response end in the carrier block for the signature of its text? */
  lastSignature: 'block' | 'drop'
  /** Carrier blocks that wait until another block follows. `at`: path of the part with the signature. */
  carriers: { raw: MessagesWrittenBlock; at?: Place }[]
  /** A thinking block without a signature was written. */
  unsigned: boolean
  /** Of the parts so far, what the end of the response depends on. `text`: it has a text block. */
  seen: Seen & { text: boolean }
  finish: Finish | undefined
  finishAt: Place | undefined
  usage: Usage | undefined
  /** The first counts, if they came before the response began. */
  early: Usage | undefined
  /** The counts that were written in `message_start`. Undefined: they were not known then. */
  sentUsage: Usage | undefined
  promptBlocked: CanonicalResponse['promptBlocked']
  ext: ExtMap | undefined
}

export const reportOf = ({ notes, fieldNames }: EncoderState): MessagesReport =>
  createMessagesReport(fieldNames, notes)

/** Notes an empty signature, unless the response came from this protocol with it. */
export function noteUnsigned(state: EncoderState): void {
  if (state.unsigned && state.finish?.protocol !== protocolName)
    reportOf(state).once('reasoning.signature-empty', '/content')
}

/** Ends the stream with an error, because a client would take these arguments for none. */
export function failByInput(state: EncoderState, what: string, emit: EmitWire): void {
  state.failure = {
    status: 502,
    kind: 'internal',
    message: `the arguments of a tool call are not ${what}`,
  }
  fail(state, state.failure, emit)
}

export function fail(state: EncoderState, error: CanonicalError, emit: EmitWire): void {
  const { id, model, serviceTier } = state.start
  const report = reportOf(state)
  if (state.phase === 'held') report.rest({ id, model, serviceTier }, '')
  report.rest({ promptBlocked: state.promptBlocked }, '')
  noteFinish(state.finish, state.finishAt, report)
  noteUnsigned(state)
  state.phase = 'done'
  const body = encodeBareError(error, report)
  noteUsage(state)
  emit(body)
}

/** Notes the counts of a failed stream: it has no `message_delta` to hold them. */
function noteUsage(state: EncoderState): void {
  const { usage, sentUsage } = state
  if (!usage) return
  if (!sentUsage) {
    reportOf(state).rest({ usage }, '')
    return
  }
  const { ext, ...counts } = usage
  const before = new Map<string, unknown>(Object.entries(sentUsage))
  reportOf(state).rest(
    Object.fromEntries(Object.entries(counts).filter(([key, count]) => before.get(key) !== count)),
    '',
    'usage.',
  )
  reportOf(state).ext(ext, reportOf(state).placeOf('usage'))
}
