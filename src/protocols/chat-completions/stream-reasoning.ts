import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Signature } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import type { Emit } from '../../protocol.ts'
import { add, closePart, opened, openPart } from './open-parts.ts'
import { decodeDetail } from './reasoning.ts'
import type { Choice } from './stream-decoder.ts'

/** Reasoning in the deltas of a stream: plain text, and details that carry proofs. */

/** Does this delta say its reasoning in details too? They tell more, unless plain text is all that came before. */
export function isDetailed({ plain }: Choice, { reasoning_details: details }: JsonObject): boolean {
  return !plain && Array.isArray(details) && details.some(entry => isObject(entry) && (isText(entry['text']) || isText(entry['summary'])))
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''

export function appendPlain(choice: Choice, text: string, emit: Emit<CanonicalEvent>): void {
  choice.plain = true
  appendReasoning(choice, { text, of: 'raw', emit })
}

export function appendReasoning(choice: Choice, { text, of, emit }: { text: string; of: 'raw' | 'summary'; emit: Emit<CanonicalEvent> }): void {
  add(choice, opened(choice, 'reasoning', emit), { delta: { kind: 'reasoning', segment: 0, of, text }, emit })
}

/**
 * Details carry signatures. Their text counts only where no plain field carries it, now or before: some servers repeat all
 * of it at the end.
 */
export function readDetails(choice: Choice, details: readonly unknown[], emit: Emit<CanonicalEvent>): void {
  for (const entry of details) {
    if (!isObject(entry)) continue
    const { kind, text, signature, id, layout, attach } = decodeDetail(entry)
    if (layout || attach) continue
    const index = typeof entry['index'] === 'number' ? entry['index'] : 0
    if (text && !choice.plain) {
      if (choice.open?.kind === 'reasoning' && choice.detail !== index) closePart(choice, emit)
      choice.detail = index
      appendReasoning(choice, { text, of: kind, emit })
    }
    if (signature) sign(choice, { signature, id, index, emit })
  }
}

type Proof = { signature: Signature; id: string | undefined; index: number; emit: Emit<CanonicalEvent> }

function sign(choice: Choice, { signature, id, index, emit }: Proof): void {
  if (choice.open?.kind === 'reasoning' && (choice.detail === undefined || choice.detail === index)) {
    const { part, thought } = choice.open
    if (thought && id !== undefined) thought.id = id
    add(choice, part, { delta: { kind: 'signature', signature }, emit })
    return
  }
  // Its text was ended by what followed, or it has none: only a part of its own can hold it now.
  const redacted = signature.form === 'thinking' ? {} : { redacted: true }
  closePart(choice, emit)
  const part = openPart(choice, { type: 'reasoning', segments: [], signature, ...redacted, ...defined({ id }) }, emit)
  emit({ type: 'part.end', candidate: choice.candidate, part })
}
