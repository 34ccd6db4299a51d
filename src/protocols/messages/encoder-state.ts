import type { CanonicalError } from '../../canonical/error.ts'
import type { CanonicalEvent, Delta } from '../../canonical/event.ts'
import type { ExtMap, Part, Role, Signature } from '../../canonical/message.ts'
import type { CanonicalResponse, Finish, Usage } from '../../canonical/response.ts'
import { type JsonObject, type JsonProgress, parseObject } from '../../kit/json.ts'
import type { EmitWire, FieldNames, MachineState } from '../../protocol.ts'
import { encodeErrorBody, noteError } from './error.ts'
import { createMessagesReport, type MessagesReport } from './notes.ts'
import { protocolName } from './own.ts'
import type { SegmentLength } from './reasoning.ts'

/** What the files of the stream encoder share: its state, and what can be asked of it. */

/** How a part is written. `none`: it has no form here, and its deltas are passed over. */
export type BlockKind = 'text' | 'thinking' | 'redacted' | 'call' | 'freeform' | 'whole' | 'none'

export type Block = {
  key: string
  kind: BlockKind
  head: Part
  /** Set once `content_block_start` is written, which waits until there is something to say. */
  index?: number
  /** What was taken in so far: text, reasoning or input. */
  text: string
  /** Of reasoning: what its segments are and how long. */
  segments: SegmentLength[]
  /** Of a call: its input is seen to be an object, and goes out as it comes. */
  streams: boolean
  citations: number
  progress: JsonProgress
  signature?: Signature
  /** Keys that nobody knows of the delta that told it. */
  besideSignature?: JsonObject
  /** The part has ended. A call whose input is not whole is held open until the reply says how it ended. */
  ended: boolean
  closed: boolean
  /** Of thinking: how many such blocks stand before it. */
  thought?: number
}

export type Waiting = { block: Block; deltas: Delta[]; final?: Part }

export type EncoderState = MachineState & {
  fieldNames: FieldNames
  truncated: 'error' | 'length'
  fallback: { id: string; model?: string }
  phase: 'held' | 'begun' | 'done'
  start: Omit<Extract<CanonicalEvent, { type: 'start' }>, 'type'>
  /** By message: whose words its parts are, and where it stood. */
  messages: Record<number, { role?: Role; at?: string }>
  nextIndex: number
  /** One block is open at a time: clients address the newest one. */
  open: Block | undefined
  queue: Waiting[]
  /** Blocks that a proof may still come for: thinking, and calls that were closed as soon as their input was whole. */
  closed: Record<string, Block>
  /** Blocks of thinking so far. */
  thoughts: number
  /** Does a reply end in what carries the signature of its text? */
  lastProof: 'block' | 'drop'
  /** Blocks that only carry a signature, and wait for another to stand before; where the signature was. */
  carriers: { raw: JsonObject; at?: string }[]
  /** What finish and refusals need to know of the parts. */
  seen: { calls: boolean; text: boolean; refusal?: { text: string; at?: string } }
  finish: Finish | undefined
  finishAt: string | undefined
  usage: Usage | undefined
  /** What the start has told of it. */
  toldUsage: Usage | undefined
  promptBlocked: CanonicalResponse['promptBlocked']
  ext: ExtMap | undefined
}

export const reportOf = ({ notes, fieldNames }: EncoderState): MessagesReport => createMessagesReport(fieldNames, notes)

/** The reply was read from this protocol: what it left out is left out again, without a note. */
export const isNative = ({ start }: EncoderState): boolean => start.ext?.[protocolName] !== undefined

/** `isDone` keeps the narrowing of `phase` from outliving a call that changes it. */
export const isDone = ({ phase }: EncoderState): boolean => phase === 'done'

export function fail(state: EncoderState, error: CanonicalError, emit: EmitWire): void {
  const { id, model, serviceTier } = state.start
  const report = reportOf(state)
  if (state.phase === 'held') report.rest({ id, model, serviceTier }, '')
  report.rest({ promptBlocked: state.promptBlocked }, '')
  if (state.finish && state.finish.reason !== 'error') report.add('field.unsupported', state.finishAt, 'finish.reason')
  state.phase = 'done'
  noteError(error, report)
  noteUsage(state)
  emit(encodeErrorBody(error))
}

/** Notes the counts of a stream that fails: they would have stood in its end. */
function noteUsage(state: EncoderState): void {
  const { usage, toldUsage } = state
  if (!usage) return
  if (!toldUsage) {
    reportOf(state).rest({ usage }, '')
    return
  }
  const { ext, ...counts } = usage
  const told = new Map<string, unknown>(Object.entries(toldUsage))
  reportOf(state).rest(Object.fromEntries(Object.entries(counts).filter(([key, count]) => told.get(key) !== count)), '', 'usage.')
  reportOf(state).ext(ext, reportOf(state).placeOf('usage'))
}

export const isCall = ({ kind }: Block): boolean => kind === 'call' || kind === 'freeform'

/** Only white space can follow: the call may be closed before its end. */
export const isComplete = ({ kind, progress, streams }: Block): boolean => kind === 'call' && progress.whole && streams

/** The call has ended and its input is an object, or nothing, or something that can be wrapped into one. */
export function isWhole(block: Block): boolean {
  if (block.kind === 'freeform') return block.ended
  if (!block.ended && !isComplete(block)) return false
  const text = block.text.trim()
  return !text.startsWith('{') || parseObject(text) !== undefined
}
