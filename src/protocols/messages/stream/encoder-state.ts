import type { CanonicalError } from '../../../canonical/error.ts'
import type { CanonicalEvent } from '../../../canonical/event.ts'
import type { ExtMap, Part, Place, Role, Signature } from '../../../canonical/message.ts'
import type { CanonicalResponse, Finish, Usage } from '../../../canonical/response.ts'
import type { StreamedPhase } from '../../../kit/conversation/phases.ts'
import { noteFinish } from '../../../kit/errors/failed-response.ts'
import { type JsonObject, type JsonProgress, parseObject } from '../../../kit/json/json.ts'
import type { SegmentLength } from '../../../kit/signatures/segments.ts'
import type { Emit, FieldNames, MachineState } from '../../../protocol.ts'
import { protocolName } from '../content/own.ts'
import { encodeBareError } from '../errors.ts'
import { createMessagesReport, type MessagesReport } from '../notes.ts'
import type { Seen } from '../response/response.ts'
import type { MessagesEvent, MessagesWrittenBlock } from '../schema.ts'

/** What the files of the stream encoder share: its state, and functions of it. */

export type EmitWire = Emit<MessagesEvent>

/** How a part is written. `whole`: at its end, without deltas. `none`: it has no form here, and its deltas are ignored. */
export type BlockKind = 'text' | 'thinking' | 'redacted' | 'call' | 'freeform' | 'whole' | 'none'

export type Block = {
  key: string
  kind: BlockKind
  head: Part
  /** Undefined: `content_block_start` is not written yet, because it waits for content. */
  index?: number
  /** Text, reasoning or input received so far. */
  text: string
  /** Of reasoning: kind and length of each segment. */
  segments: SegmentLength[]
  /** Of a call: its input begins with `{`, and is written as it comes. */
  streams: boolean
  progress: JsonProgress
  signature?: Signature
  /** Unknown keys of the delta that brought the signature. */
  besideSignature?: JsonObject
  /** The part has ended. The block of a call with incomplete input stays open until the finish reason is known. */
  ended: boolean
  /** Of thinking: the number of thinking blocks before it. */
  thought?: number
}

export type EncoderState = MachineState & {
  fieldNames: FieldNames
  truncated: 'error' | 'length'
  fallback: { id: string; model?: string }
  phase: 'held' | 'begun' | 'done'
  start: Omit<Extract<CanonicalEvent, { type: 'start' }>, 'type'>
  /** By number of the message: the role of its parts, its path in the source, its phase, and whether a text carries that. */
  messages: Record<number, { role?: Role; at?: Place } & StreamedPhase>
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

export const reportOf = ({ notes, fieldNames }: EncoderState): MessagesReport => createMessagesReport(fieldNames, notes)

/** A function, because TypeScript keeps the narrowing of `phase` after a call that changes it. */
export const isDone = ({ phase }: EncoderState): boolean => phase === 'done'

/** Notes an empty signature, unless the response came from this protocol with it. */
export function noteUnsigned(state: EncoderState): void {
  if (state.unsigned && state.finish?.protocol !== protocolName) reportOf(state).once('reasoning.signature-empty', '/content')
}

/** Ends the stream with an error, because a client would take these arguments for none. */
export function failByInput(state: EncoderState, what: string, emit: EmitWire): void {
  state.failure = { status: 502, kind: 'internal', message: `the arguments of a tool call are not ${what}` }
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
  reportOf(state).rest(Object.fromEntries(Object.entries(counts).filter(([key, count]) => before.get(key) !== count)), '', 'usage.')
  reportOf(state).ext(ext, reportOf(state).placeOf('usage'))
}

export const isCall = ({ kind }: Block): boolean => kind === 'call' || kind === 'freeform'

/** The input is complete, so the block may be closed before the end of the part. */
export const isComplete = ({ kind, progress, streams }: Block): boolean => kind === 'call' && progress.whole && streams

/** The call has ended or has complete input, and the input is an object, empty, or can be wrapped into an object. */
export function isWhole(block: Block): boolean {
  if (block.kind === 'freeform') return block.ended
  if (!block.ended && !isComplete(block)) return false
  const text = block.text.trim()
  return !text.startsWith('{') || parseObject(text) !== undefined
}
