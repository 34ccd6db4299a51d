import { addDelta } from '../../canonical/collect.ts'
import { copyOf } from '../../canonical/copy.ts'
import type { Delta } from '../../canonical/event.ts'
import type { ExtMap, Part, Signature } from '../../canonical/message.ts'
import { advanceJson, type JsonProgress, parseObject } from '../json/json.ts'
import { lengthOf, type SegmentLength } from '../signatures/segments.ts'

/** A part in a stream whose parts are blocks: what has come of it, and what is written. */

/** How a part is written. `whole`: at its end, without deltas. */
export type BlockKind = 'text' | 'reasoning' | 'redacted' | 'call' | 'freeform' | 'whole'

export type Block = {
  key: string
  kind: BlockKind
  head: Part
  /** Undefined: nothing of it is written yet, because it waits for content. */
  index?: number
  /** Text, reasoning or input received so far. */
  text: string
  /** Of reasoning: kind and length of each segment. */
  segments: SegmentLength[]
  /** Of a call: its input begins with `{`, and is written as it comes. */
  streams: boolean
  /** Of a call: the first character of its input that is no white space. */
  first?: string | undefined
  progress: JsonProgress
  signature?: Signature
  /** Of the delta that brought the signature. */
  signatureExt?: ExtMap
  /**
   * The part has ended. The block of a call with incomplete input stays open until the finish
   * reason is known.
   */
  ended: boolean
  /** The head is a copy, to which deltas are added. */
  ownsHead?: boolean
  /** Of reasoning: the number of reasoning blocks before it. */
  nth?: number
}

export const isCall = ({ kind }: Block): boolean => kind === 'call' || kind === 'freeform'

/** The input is complete, so the block may be closed before the end of the part. */
export const isComplete = ({ kind, progress, streams }: Block): boolean =>
  kind === 'call' && progress.whole && streams

/**
 * The call has ended or has complete input, and the input is an object, empty, or can be wrapped
 * into an object.
 */
export function isWhole(block: Block): boolean {
  if (block.kind === 'freeform') return block.ended
  if (!block.ended && !isComplete(block)) return false
  const text = block.text.trim()
  return !text.startsWith('{') || parseObject(text) !== undefined
}

/** Adds reasoning to its segment. Returns the text to write: an empty line separates segments. */
export function addReasoning(
  { segments }: Block,
  { segment, of, text }: Extract<Delta, { kind: 'reasoning' }>,
): string {
  const before = segments.length
  while (segments.length <= segment) segments.push({ kind: of, length: 0 })
  const joint = '\n\n'.repeat(before === 0 ? segments.length - 1 : segments.length - before)
  const current = segments[segment]
  if (current) current.length += text.length
  return joint + text
}

/**
 * Adds input to a call. It is written as soon as it begins with `{`; any other is held, and wrapped
 * into an object at its end. `written`: what to write now; undefined: nothing. `trailing`: what
 * follows the object.
 */
export function addInput(
  block: Block,
  { text: given, ext }: Extract<Delta, { kind: 'input' }>,
): { written?: string; trailing: string } {
  if (block.progress.whole && block.streams) return { trailing: given }
  const end = advanceJson(block.progress, given)
  // Of a text that grows, the beginning is looked at only once: that makes one string of all its
  // chunks.
  block.first ??= /\S/.exec(given)?.[0]
  const isWholeObject = block.progress.whole && block.first === '{'
  const text = isWholeObject ? given.slice(0, end) : given
  const trailing = isWholeObject ? given.slice(end) : ''
  block.text += text
  if (!text && !ext) return { trailing }
  if (block.streams || !text) return { written: text, trailing }
  block.streams = block.first === '{'
  return block.streams ? { written: block.text, trailing } : { trailing }
}

/** Adds a delta to what is written at the end of the block. */
export function addToHead(block: Block, delta: Delta): void {
  const { head } = block
  // Once a copy: the head belongs to the event that it came with.
  if (!block.ownsHead) block.head = copyOf(head)
  block.ownsHead = true
  addDelta(block.head, delta)
}

/** Takes the late fields that are written at the end of the block: those of reasoning. */
export function takeFields(block: Block, delta: Extract<Delta, { kind: 'fields' }>): void {
  if (block.head.type !== 'reasoning') return
  addToHead(block, delta)
  if (delta.fields.segments) block.segments = delta.fields.segments.map(lengthOf)
}
