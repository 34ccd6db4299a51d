import type { CanonicalError } from '../../../canonical/error.ts'
import type { CanonicalEvent, PartDelta } from '../../../canonical/event.ts'
import type { Place } from '../../../canonical/message.ts'
import type { Usage } from '../../../canonical/response.ts'
import { noteFinish } from '../../../kit/errors/failed-response.ts'
import { advanceJson } from '../../../kit/json/json.ts'
import type { BlockEncoderState } from '../../../kit/stream/block-encoder.ts'
import type { Emit, MachineState } from '../../../protocol.ts'
import { encodeBareError } from '../errors.ts'
import { createMessagesReport, type MessagesReport } from '../own.ts'
import { type Fallbacks, noteUnsigned } from '../response/response.ts'
import type { MessagesWrittenBlock, MessagesWrittenEvent } from '../written.ts'

/** What the files of the stream encoder share: its state, and functions of it. */

export type EmitWire = Emit<MessagesWrittenEvent>

export type EncoderState = BlockEncoderState & {
  fallback: Fallbacks
  start: Omit<Extract<CanonicalEvent, { type: 'start' }>, 'type'>
  /**
   * The option `lastSignature`: may a response end in the carrier block for the signature of its
   * text?
   */
  lastSignature: 'block' | 'drop'
  /**
   * Carrier blocks that wait until another block follows. `at`: path of the part with the
   * signature.
   */
  carriers: { raw: MessagesWrittenBlock; at?: Place }[]
  /** A thinking block without a signature was written. */
  unsigned: boolean
  /** The first counts, if they came before the response began. */
  early: Usage | undefined
  /** The counts that were written in `message_start`. Undefined: they were not known then. */
  sentUsage: Usage | undefined
}

export const reportOf = ({ notes, fieldNames }: EncoderState): MessagesReport =>
  createMessagesReport(fieldNames, notes)

export function fail(state: EncoderState, error: CanonicalError, emit: EmitWire): void {
  const { id, model, serviceTier } = state.start
  const report = reportOf(state)
  if (state.phase === 'held') report.rest({ id, model, serviceTier }, '')
  report.rest({ promptBlocked: state.promptBlocked }, '')
  noteFinish(state.finish, state.finishAt, report)
  noteUnsigned(state.unsigned, state.finish, report)
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

/** See `ClientHalf`. */
export function writeDelta(
  state: MachineState,
  { part, delta }: PartDelta,
  literal: string,
): string | undefined {
  const { phase, open: block } = state as EncoderState
  if (phase !== 'begun' || block?.index === undefined || block.key !== String(part))
    return undefined
  switch (delta.kind) {
    case 'text':
      if (block.kind !== 'text') return undefined
      block.text += delta.text
      return frame(block.index, ',"delta":{"type":"text_delta","text":', literal)
    case 'reasoning': {
      const segment = block.segments[delta.segment]
      if (block.kind !== 'reasoning' || !segment) return undefined
      segment.length += delta.text.length
      block.text += delta.text
      return frame(block.index, ',"delta":{"type":"thinking_delta","thinking":', literal)
    }
    case 'input': {
      if (block.kind !== 'call' || !block.streams || block.progress.whole) return undefined
      const progress = { ...block.progress }
      // Text after the end of the arguments is not written.
      if (advanceJson(progress, delta.text) < delta.text.length) return undefined
      block.progress = progress
      block.text += delta.text
      return frame(block.index, ',"delta":{"type":"input_json_delta","partial_json":', literal)
    }
    default:
      return undefined
  }
}

const frame = (index: number, before: string, literal: string) =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index}${before}${literal}}}\n\n`
