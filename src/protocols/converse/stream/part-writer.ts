import type { Delta, PlacedSignature } from '../../../canonical/event.ts'
import { deltasOf } from '../../../canonical/explode.ts'
import type { Part } from '../../../canonical/message.ts'
import { startJson } from '../../../kit/json/json.ts'
import { encodeCarrier } from '../content/reasoning.ts'
import { createConverseReport } from '../notes.ts'
import { responseCallId } from '../response/response.ts'
import { type Block, type BlockKind, type EmitWire, type EncoderState, failByInput, isCall, isDone, isWhole } from './encoder-state.ts'
import { closeOpen, openBlock, write, writeBlock } from './open-block.ts'

/** Parts as blocks, one after the other: the normalizer has ordered them. */

export function startPart(state: EncoderState, key: string, head: Part, emit: EmitWire): void {
  if (!leaveOpen(state, emit)) return
  const block: Block = {
    key,
    kind: kindOf(head),
    head,
    text: '',
    segments: [],
    streams: false,
    progress: startJson(),
    ended: false,
    ...(head.signature && { signature: head.signature }),
  }
  if (head.type === 'tool-call') state.seen.calls = true
  openBlock(state, block, emit)
  // A block that is written at its end takes its content from the head.
  if (block.kind !== 'whole') for (const delta of deltasOf(head)) write(state, block, delta, emit)
}

/** Closes the block that is still open when the next part starts. False: nothing more can be written. */
function leaveOpen(state: EncoderState, emit: EmitWire): boolean {
  const { open } = state
  if (open?.ended) {
    failByInput(state, 'whole JSON', emit)
    return false
  }
  // The source was cut off before the end of the open part. A call that was cut off makes the end of the stream an error.
  if (open && (state.truncated === 'error' || isCall(open))) return false
  closeOpen(state, emit)
  return !isDone(state)
}

function kindOf(head: Part): BlockKind {
  switch (head.type) {
    case 'text':
    case 'refusal':
      return 'text'
    case 'reasoning':
      return head.redacted ? 'redacted' : 'reasoning'
    case 'tool-call':
      return head.kind === 'freeform' ? 'freeform' : 'call'
    case 'media':
      return head.kind === 'audio' ? 'text' : 'whole'
    default:
      return 'whole'
  }
}

export function takeDelta(state: EncoderState, key: string, delta: Delta, emit: EmitWire): void {
  const { open, closed } = state
  if (open?.key === key) write(state, open, delta, emit)
  // Only where the source was cut off is another block open.
  else if (!open && delta.kind === 'signature' && Object.hasOwn(closed, key)) lateSignature(state, closed[key], delta, emit)
}

/** A signature for a block that is already closed: a carrier block says which call or reasoning block it belongs to. */
function lateSignature(state: EncoderState, closed: Block | undefined, placed: PlacedSignature, emit: EmitWire): void {
  if (!closed) return
  const { head, nth } = closed
  const attach = head.type === 'tool-call' ? `c:${responseCallId(head.id, head.at, createConverseReport())}` : `r${nth}`
  writeBlock(state, encodeCarrier(placed, attach), emit, head.at)
}

export function endPart(state: EncoderState, key: string, emit: EmitWire): void {
  const { open } = state
  if (open?.key !== key) return
  open.ended = true
  // Until the finish reason is known, an incomplete call stays open.
  if (!isCall(open) || isWhole(open)) closeOpen(state, emit)
}
