import type { Delta, PlacedSignature } from '../../canonical/event.ts'
import { deltasOf } from '../../canonical/explode.ts'
import type { Part, Place } from '../../canonical/message.ts'
import { startJson } from '../json/json.ts'
import { type Block, type BlockKind, isCall, isWhole } from './blocks.ts'

/** `open`: the block that is open. `closed`: those whose signature may still come: reasoning, and calls that were closed as soon as their input was complete. */
export type BlockState = {
  phase: string
  truncated: 'error' | 'length'
  open: Block | undefined
  closed: Record<string, Block>
  seen: { calls: boolean }
}

/** A function, because TypeScript keeps the narrowing of `phase` after a call that changes it. */
export const isDone = ({ phase }: Pick<BlockState, 'phase'>): boolean => phase === 'done'

/**
 * How one protocol writes its blocks. `media`: how media other than audio are written. `carry`: writes a block with a late signature, for the
 * call or reasoning block that `attach` names.
 */
export type BlockWriting<State extends BlockState, Emit> = {
  media: BlockKind
  open(state: State, block: Block, emit: Emit): void
  write(state: State, block: Block, delta: Delta, emit: Emit): void
  close(state: State, emit: Emit): void
  fail(state: State, what: string, emit: Emit): void
  callId(id: string, at: Place | undefined): string
  carry(
    state: State,
    late: { placed: PlacedSignature; attach: string; at: Place | undefined },
    emit: Emit,
  ): void
}

/** Writes parts as blocks, one after the other: the normalizer has ordered them. */
export type BlockWriter<State extends BlockState, Emit> = {
  startPart(state: State, key: string, head: Part, emit: Emit): void
  takeDelta(state: State, key: string, delta: Delta, emit: Emit): void
  endPart(state: State, key: string, emit: Emit): void
}

export function createBlockWriter<State extends BlockState, Emit>(
  writing: BlockWriting<State, Emit>,
): BlockWriter<State, Emit> {
  const { media, open: openBlock, write, close, fail, callId, carry } = writing

  /** Closes the block that is still open when the next part starts. False: nothing more can be written. */
  function leaveOpen(state: State, emit: Emit): boolean {
    const { open } = state
    if (open?.ended) {
      fail(state, 'whole JSON', emit)
      return false
    }
    // The source was cut off before the end of the open part. A call that was cut off makes the end of the stream an error.
    if (open && (state.truncated === 'error' || isCall(open))) return false
    close(state, emit)
    return !isDone(state)
  }

  return {
    startPart(state, key, head, emit) {
      if (!leaveOpen(state, emit)) return
      const block: Block = {
        key,
        kind: kindOf(head, media),
        head,
        text: '',
        segments: [],
        streams: false,
        progress: startJson(),
        ended: false,
      }
      if (head.signature) block.signature = head.signature
      if (head.type === 'tool-call') state.seen.calls = true
      openBlock(state, block, emit)
      // A block that is written at its end takes its content from the head.
      if (block.kind !== 'whole')
        for (const delta of deltasOf(head)) write(state, block, delta, emit)
    },

    takeDelta(state, key, delta, emit) {
      const { open, closed } = state
      if (open?.key === key) write(state, open, delta, emit)
      // Only where the source was cut off is another block open.
      const late =
        !open && delta.kind === 'signature' && Object.hasOwn(closed, key) ? closed[key] : undefined
      if (!late || delta.kind !== 'signature') return
      const { head, nth } = late
      const attach = head.type === 'tool-call' ? `c:${callId(head.id, head.at)}` : `r${nth}`
      carry(state, { placed: delta, attach, at: head.at }, emit)
    },

    endPart(state, key, emit) {
      const { open } = state
      if (open?.key !== key) return
      open.ended = true
      // Until the finish reason is known, an incomplete call stays open.
      if (!isCall(open) || isWhole(open)) close(state, emit)
    },
  }
}

function kindOf(head: Part, media: BlockKind): BlockKind {
  switch (head.type) {
    case 'text':
    case 'refusal':
      return 'text'
    case 'reasoning':
      return head.redacted ? 'redacted' : 'reasoning'
    case 'tool-call':
      return head.kind === 'freeform' ? 'freeform' : 'call'
    case 'media':
      return head.kind === 'audio' ? 'text' : media
    default:
      return 'whole'
  }
}
