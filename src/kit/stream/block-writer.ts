import type { Delta, PlacedSignature } from '../../canonical/event.ts'
import { deltasOf } from '../../canonical/explode.ts'
import type { Citation, ExtMap, Part, Place, TextPart } from '../../canonical/message.ts'
import { mapCallId } from '../conversation/ids.ts'
import { omitUndefined } from '../fields/omit.ts'
import { parseObject, startJson } from '../json/json.ts'
import type { Report } from '../notes/report.ts'
import type { commonNotes, sharedNotes } from '../notes/shared.ts'
import { isNullInput } from '../tools/object-input.ts'
import {
  addInput,
  addReasoning,
  addToHead,
  type Block,
  type BlockKind,
  isCall,
  isWhole,
  takeFields,
} from './blocks.ts'

/** The notes that all such protocols make. */
type BlockNotes = typeof commonNotes &
  Pick<
    typeof sharedNotes,
    | 'citation.foreign'
    | 'finish.truncated-as-length'
    | 'refusal.as-text'
    | 'stream.trailing-arguments'
    | 'text.blank'
    | 'tool-call.input'
  >

/**
 * `open`: the block that is open. `closed`: those whose signature may still come: reasoning, and
 * calls that were closed as soon as their input was complete.
 */
export type BlockState = {
  phase: 'held' | 'begun' | 'done'
  truncated: 'error' | 'length'
  nextIndex: number
  open: Block | undefined
  closed: Record<string, Block>
  /** The number of reasoning blocks so far. */
  reasoningCount: number
  /**
   * Of the parts so far, what the end of the response depends on. `text`: a block of text was
   * written.
   */
  seen: { calls: boolean; text: boolean; refusal?: { text: string; at?: Place } }
}

/** A function, because TypeScript keeps the narrowing of `phase` after a call that changes it. */
export const isDone = ({ phase }: Pick<BlockState, 'phase'>): boolean => phase === 'done'

/**
 * How one protocol writes its blocks. `Written`: a whole block; `WireDelta`: what a delta event holds.
 */
export type BlockWire<State extends BlockState, Emit, Written, WireDelta> = {
  reportOf(state: State): Report<BlockNotes>
  /** The blocks of a whole part: what writes them in a complete response, with its notes. */
  encode(state: State, part: Part): Written[]
  writeWhole(state: State, block: Written, emit: Emit, at?: Place): void
  /**
   * Gives the block its index, and emits what begins it, if there is such an event. `call`: its
   * whole block, without input.
   */
  open(state: State, block: Block, emit: Emit, call?: Written): void
  /** `source`: the canonical delta with the unknown keys to write, if it was made from one. */
  writeDelta(index: number, made: WireDelta, emit: Emit, source?: Delta): void
  stop(index: number, emit: Emit): void
  deltas: {
    text(text: string): WireDelta
    reasoning(text: string): WireDelta
    input(json: string): WireDelta
    signature(value: string, ext: ExtMap | undefined): WireDelta
    /** Notes what is lost of one that has a form. */
    citation(state: State, citation: Citation, at: Place | undefined): WireDelta | undefined
  }
  /** What a call without arguments has for input. */
  noInput: string
  /** Of a text, its reasoning or refusal: what else is noted when it begins. */
  noteHead?(state: State, block: Block): void
  /** Reasoning without a signature was written. */
  markUnsigned?(state: State): void
  /** What a block of reasoning holds besides its text. Undefined: it is written whole. */
  sealed(block: Written): { signature?: string | null | undefined } | undefined
  carrier(placed: PlacedSignature, attach?: string): Written
  phase(phase: NonNullable<TextPart['phase']>): Written
  /** Matches the ids that a call may have. */
  validCallId: RegExp
  /** Ends the stream with an error, because a client would take these arguments for none. */
  fail(state: State, what: string, emit: Emit): void
}

/** Writes parts as blocks, one after the other: the normalizer has ordered them. */
export type BlockWriter<State extends BlockState, Emit> = {
  startPart(state: State, key: string, head: Part, emit: Emit): void
  takeDelta(state: State, key: string, delta: Delta, emit: Emit): void
  endPart(state: State, key: string, emit: Emit): void
  /** Closes the open block, and writes its signature and what was held back. */
  closeOpen(state: State, emit: Emit): void
}

export function createBlockWriter<State extends BlockState, Emit, Written, WireDelta>(
  wire: BlockWire<State, Emit, Written, WireDelta>,
): BlockWriter<State, Emit> {
  const { deltas, reportOf } = wire

  /**
   * Closes the block that is still open when the next part starts. False: nothing more can be
   * written.
   */
  function leaveOpen(state: State, emit: Emit): boolean {
    const { open } = state
    if (open?.ended) {
      wire.fail(state, 'whole JSON', emit)
      return false
    }
    // The source was cut off before the end of the open part. A call that was cut off makes the end
    // of the stream an error.
    if (open && (state.truncated === 'error' || isCall(open))) return false
    closeOpen(state, emit)
    return !isDone(state)
  }

  function open(state: State, block: Block, emit: Emit): void {
    state.open = block
    const { head, kind } = block
    if (isCall(block)) {
      // The blocks in front hold its signature.
      const written = wire.encode(state, { ...head, input: '' } as Part)
      const call = written.pop()
      for (const one of written) wire.writeWhole(state, one, emit)
      wire.open(state, block, emit, call)
      if (kind === 'freeform') writeDelta(block, deltas.input('{"input":"'), emit)
    } else if (head.type !== 'media' && kind !== 'whole') {
      reportOf(state).ext(head.ext, head.at)
      wire.noteHead?.(state, block)
    }
  }

  /** Begins a block of text or reasoning, once. */
  function begin(state: State, block: Block, emit: Emit): void {
    if (block.index !== undefined) return
    const { head, kind } = block
    if (kind === 'reasoning') block.nth = state.reasoningCount++
    if ((head.type === 'text' || head.type === 'refusal') && head.phase)
      wire.writeWhole(state, wire.phase(head.phase), emit)
    if (kind === 'text') state.seen.text = true
    wire.open(state, block, emit)
  }

  function writeDelta({ index }: Block, made: WireDelta, emit: Emit, source?: Delta): void {
    if (index !== undefined) wire.writeDelta(index, made, emit, source)
  }

  function stop({ index }: Block, emit: Emit): void {
    if (index !== undefined) wire.stop(index, emit)
  }

  /** Writes a delta of the open block. */
  function write(state: State, block: Block, delta: Delta, emit: Emit): void {
    const { kind } = block
    if (delta.ext) reportOf(state).ext(delta.ext, delta.at)
    switch (delta.kind) {
      case 'text':
        if (kind === 'text' && (delta.text || delta.ext)) {
          begin(state, block, emit)
          block.text += delta.text
          writeDelta(block, deltas.text(delta.text), emit, delta)
        } else if (kind === 'whole') addToHead(block, delta)
        return
      case 'citation': {
        if (kind !== 'text') return
        const made = deltas.citation(state, delta.citation, block.head.at)
        if (made === undefined) {
          reportOf(state).add('citation.foreign', block.head.at, 'citations')
          return
        }
        begin(state, block, emit)
        writeDelta(block, made, emit, delta)
        return
      }
      case 'reasoning': {
        if (kind === 'redacted' && delta.text) block.kind = 'reasoning'
        if (block.kind !== 'reasoning') return
        const added = addReasoning(block, delta)
        if (!added && !delta.ext) return
        begin(state, block, emit)
        block.text += added
        writeDelta(block, deltas.reasoning(added), emit, delta)
        return
      }
      case 'input':
        if (kind === 'freeform') {
          block.text += delta.text
          if (delta.text)
            writeDelta(block, deltas.input(JSON.stringify(delta.text).slice(1, -1)), emit)
        } else if (kind === 'call') {
          const { written, trailing } = addInput(block, delta)
          if (trailing.trim())
            reportOf(state).once('stream.trailing-arguments', block.head.at, 'input')
          if (written !== undefined) writeDelta(block, deltas.input(written), emit, delta)
        }
        return
      case 'signature':
        block.signature = delta.signature
        if (delta.ext) block.signatureExt = delta.ext
        return
      case 'logprobs':
        reportOf(state).once('field.unsupported', block.head.at, 'logprobs')
        return
      case 'media':
        if (kind === 'whole') addToHead(block, delta)
        return
      case 'fields':
        takeFields(block, delta)
        return
      case 'whole': {
        const { whole } = delta
        addToHead(block, delta)
        // Of a part that is written at its end they are noted then.
        if (kind !== 'whole') reportOf(state).ext(whole.ext, block.head.at)
        if (whole.signature) block.signature = whole.signature
        return
      }
      default:
        delta satisfies never
    }
  }

  function closeOpen(state: State, emit: Emit): void {
    const block = state.open
    if (!block) return
    state.open = undefined
    switch (block.kind) {
      case 'text':
        closeText(state, block, emit)
        return
      case 'reasoning':
      case 'redacted':
        closeReasoning(state, block, emit)
        return
      case 'call':
        closeCall(state, block, emit)
        return
      case 'freeform':
        writeDelta(block, deltas.input('"}'), emit)
        stop(block, emit)
        carryBehind(state, block, emit)
        return
      case 'whole': {
        const { head, signature } = block
        for (const one of wire.encode(state, signature ? { ...head, signature } : head))
          wire.writeWhole(state, one, emit, head.at)
        return
      }
      default:
        block.kind satisfies never
    }
  }

  function closeText(state: State, block: Block, emit: Emit): void {
    const { head, signature, index, text } = block
    if (head.type === 'refusal') {
      state.seen.refusal ??= { text, ...omitUndefined({ at: head.at }) }
      if (text) reportOf(state).add('refusal.as-text', head.at)
    }
    if (head.type === 'media') {
      // What is written of it is known now, and so is what is lost.
      const { signature: _, ...media } = head
      wire.encode(state, { ...media, transcript: text })
    } else if (head.cache && head.type === 'text' && index === undefined)
      reportOf(state).add('text.blank', head.at)
    stop(block, emit)
    // The signature belongs to the block before it, or to a text that was too empty to be written.
    // Media that are left out take theirs with them.
    const attach = index === undefined ? undefined : 'prev'
    if (signature && (index !== undefined || head.type !== 'media'))
      wire.writeWhole(
        state,
        wire.carrier({ signature }, attach ?? (head.type === 'text' ? 'text' : undefined)),
        emit,
        head.at,
      )
  }

  function closeReasoning(state: State, block: Block, emit: Emit): void {
    const { signature, index } = block
    const [written] = wire.encode(state, reasoningOf(block))
    const sealed = written && wire.sealed(written)
    if (written && !sealed) {
      state.reasoningCount++
      wire.writeWhole(state, written, emit, block.head.at)
      return
    }
    if (signature && sealed?.signature != null) {
      begin(state, block, emit)
      writeDelta(block, deltas.signature(sealed.signature, block.signatureExt), emit)
    } else {
      if (index === undefined) return
      wire.markUnsigned?.(state)
    }
    if (!signature?.value) state.closed[block.key] = { ...block, text: '' }
    stop(block, emit)
  }

  function closeCall(state: State, block: Block, emit: Emit): void {
    const text = block.text.trim()
    if (text && !text.startsWith('{')) {
      reportOf(state).add('tool-call.input', block.head.at, 'input')
      if (!isNullInput(text))
        writeDelta(block, deltas.input(JSON.stringify({ __raw: block.text })), emit)
    } else if (text && !parseObject(text)) {
      wire.fail(state, 'JSON', emit)
      return
    }
    if (!text || isNullInput(text)) writeDelta(block, deltas.input(wire.noInput), emit)
    stop(block, emit)
    state.closed[block.key] = { ...block, text: '' }
    carryBehind(state, block, emit)
  }

  /** The signature of a call that came after its start. */
  function carryBehind(state: State, { head, signature }: Block, emit: Emit): void {
    if (signature && signature !== head.signature)
      wire.writeWhole(state, wire.carrier({ signature }, 'prev'), emit)
  }

  return {
    closeOpen,

    startPart(state, key, head, emit) {
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
      }
      if (head.signature) block.signature = head.signature
      if (head.type === 'tool-call') state.seen.calls = true
      open(state, block, emit)
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
      const attach =
        head.type === 'tool-call' ? `c:${mapCallId(head.id, wire.validCallId)}` : `r${nth}`
      wire.writeWhole(state, wire.carrier(delta, attach), emit, head.at)
    },

    endPart(state, key, emit) {
      const { open } = state
      if (open?.key !== key) return
      open.ended = true
      // Until the finish reason is known, an incomplete call stays open.
      if (!isCall(open) || isWhole(open)) closeOpen(state, emit)
    },
  }
}

/** All of a reasoning part, whose text has been written. */
function reasoningOf({ head, text, segments, signature }: Block): Part {
  let start = 0
  const cut = segments.map(({ kind, length }) => {
    const segment = { kind, text: text.slice(start, start + length) }
    start += length + '\n\n'.length
    return segment
  })
  const whole = { type: 'reasoning', segments: cut, ...(signature && { signature }) }
  return Object.assign({}, head, whole) as Part
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
