import type { Delta, Proof } from '../../../canonical/event.ts'
import { deltasOf } from '../../../canonical/explode.ts'
import type { Part, Place } from '../../../canonical/message.ts'
import { defined } from '../../../kit/fields/defined.ts'
import { startJson } from '../../../kit/json/json.ts'
import { protocolName } from '../content/own.ts'
import { encodeCarrier } from '../content/reasoning.ts'
import { createMessagesReport } from '../notes.ts'
import { replyCallId } from '../response/response.ts'
import type { MessagesWrittenBlock } from '../schema.ts'
import { type Block, type BlockKind, type EmitWire, type EncoderState, isCall, isComplete, isDone, isWhole, reportOf } from './encoder-state.ts'
import { closeOpen, finalize, openBlock, write, writeWhole } from './open-block.ts'

/** Parts wait for their turn: one block is open at a time, whatever the order of their deltas. */

export function startPart(state: EncoderState, key: string, head: Part, emit: EmitWire): void {
  // A second start of the same part is ignored.
  if (state.open?.key === key || state.queue.some(({ block }) => block.key === key)) return
  const block: Block = {
    key,
    kind: kindOf(head),
    head,
    text: '',
    segments: [],
    streams: false,
    citations: 0,
    progress: startJson(),
    ended: false,
    closed: false,
    ...(head.signature && { signature: head.signature }),
  }
  if (head.type === 'tool-call') state.seen.calls = true
  const first = deltasOf(head)
  if (state.open && isCall(state.open) && isComplete(state.open)) {
    closeOpen(state, emit)
    promote(state, emit)
  }
  if (isDone(state)) return
  if (state.open || state.queue.length > 0) {
    state.queue.push({ block, deltas: first })
    return
  }
  openBlock(state, block, emit)
  for (const delta of first) write(state, block, delta, emit)
}

function kindOf(head: Part): BlockKind {
  switch (head.type) {
    case 'text':
    case 'refusal':
      return 'text'
    case 'reasoning':
      return head.redacted ? 'redacted' : 'thinking'
    case 'tool-call':
      return head.kind === 'freeform' ? 'freeform' : 'call'
    case 'media':
      return head.kind === 'audio' ? 'text' : 'none'
    default:
      return 'whole'
  }
}

export function takeDelta(state: EncoderState, key: string, delta: Delta, emit: EmitWire): void {
  const { open } = state
  if (open?.key === key) {
    write(state, open, delta, emit)
    if (isComplete(open) && state.queue.length > 0) {
      closeOpen(state, emit)
      promote(state, emit)
    }
    return
  }
  const waiting = state.queue.find(({ block }) => block.key === key)
  if (waiting) {
    waiting.deltas.push(delta)
    return
  }
  const closed = Object.hasOwn(state.closed, key) ? state.closed[key] : undefined
  if (!closed) return
  if (delta.kind === 'signature') lateSignature(state, closed, delta, emit)
  else if (delta.kind === 'input' && delta.text.trim()) reportOf(state).once('stream.trailing-arguments', closed.head.at, 'input')
}

/** A signature for a block that is already closed: a carrier block says which call or thinking block it belongs to. */
function lateSignature(state: EncoderState, { head, thought }: Block, proof: Proof, emit: EmitWire): void {
  const attach = head.type === 'tool-call' ? `c:${replyCallId(head.id, head.at, createMessagesReport())}` : `r${thought}`
  const raw = encodeCarrier(proof, attach)
  if (!state.open) writeWhole(state, raw, emit, head.at)
  else state.queue.push({ block: carrierBlock(raw, head.at), deltas: [] })
}

function carrierBlock(raw: MessagesWrittenBlock, at: Place | undefined): Block {
  return {
    key: '',
    kind: 'whole',
    head: { type: 'opaque', protocol: protocolName, raw, ...defined({ at }) },
    text: '',
    segments: [],
    streams: false,
    citations: 0,
    progress: startJson(),
    ended: true,
    closed: false,
  }
}

export function endPart(state: EncoderState, key: string, final: Part | undefined, emit: EmitWire): void {
  const { open } = state
  if (open?.key === key) {
    finalize(state, open, final, emit)
    open.ended = true
    if (isCall(open) && !isWhole(open)) return
    closeOpen(state, emit)
    promote(state, emit)
    return
  }
  const waiting = state.queue.find(({ block }) => block.key === key)
  if (waiting) {
    waiting.block.ended = true
    if (final) waiting.final = final
    return
  }
  const closed = Object.hasOwn(state.closed, key) ? state.closed[key] : undefined
  if (closed && final?.signature && !closed.signature) lateSignature(state, closed, { signature: final.signature }, emit)
}

/** Writes waiting parts until one of them has to stay open. */
export function promote(state: EncoderState, emit: EmitWire): void {
  while (!state.open && !isDone(state)) {
    const next = state.queue.shift()
    if (!next) return
    const { block, deltas, final } = next
    openBlock(state, block, emit)
    for (const delta of deltas) write(state, block, delta, emit)
    if (block.ended) finalize(state, block, final, emit)
    const due = block.ended ? !isCall(block) || isWhole(block) : isComplete(block) && state.queue.length > 0
    if (!due) return
    closeOpen(state, emit)
  }
}
