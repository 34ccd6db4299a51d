import type { PartDelta, PartStart } from '../../canonical/event.ts'
import type { Message, Part, Signature, TextPart } from '../../canonical/message.ts'

/**
 * The phase of a message, for clients whose protocol has none: it is carried like a signature of
 * its own, in front of the text.
 */

type Phase = NonNullable<TextPart['phase']>

export const phaseSignature = (phase: Phase): Signature => ({
  value: phase,
  issuer: 'phase',
  form: 'phase',
})

/**
 * The parts of a message, each text with the phase of the message. So has a refusal after it: where
 * that is written as text, it has the phase of the text before.
 */
export function withPhase({ parts, phase }: Pick<Message, 'parts' | 'phase'>): Part[] {
  if (!phase) return parts
  const first = parts.findIndex(part => part.type === 'text' && part.text !== '')
  return parts.map((part, index) =>
    part.type === 'text' || (part.type === 'refusal' && first >= 0 && index > first)
      ? Object.assign({}, part, { phase })
      : part,
  )
}

/** Can its texts hold the phase of the message? Not if it has no text. */
export const hasWords = (parts: readonly Part[]) =>
  parts.some(part => part.type === 'text' && part.text !== '')

/**
 * The phase of a streamed message. `texts`: the numbers of the parts that may carry it. `carried`:
 * one of these has words.
 */
export type StreamedPhase = { phase?: Phase | undefined; texts?: Set<number>; carried?: true }

/**
 * Notices that a text has words. Changes the phase that it carries. `opened`: of the message whose
 * part has begun last.
 */
export function markCarried(opened: StreamedPhase | undefined, { part, delta }: PartDelta): void {
  if (delta.kind === 'text' && delta.text !== '' && opened?.texts?.has(part)) opened.carried = true
}

/**
 * The part with the phase of its message, if it is a text or a refusal behind one: those carry it
 * to the client. Changes `opened`.
 */
export function withStreamedPhase(
  opened: StreamedPhase | undefined,
  { part, head }: PartStart,
): Part {
  if (!opened?.phase || (head.type !== 'text' && !(head.type === 'refusal' && opened.carried)))
    return head
  opened.texts ??= new Set()
  opened.texts.add(part)
  return Object.assign({}, head, { phase: opened.phase })
}

/** The phase of a message that had no text to carry it. */
export const lostPhase = ({ phase, carried }: StreamedPhase = {}): { phase?: Phase } =>
  phase && !carried ? { phase } : {}

/**
 * The phases that wait for the texts behind them. Several wait if a client moved them to the front.
 */
export type PhasesInFront = { waiting: Phase[]; current: Phase | undefined }

export const noPhases = (): PhasesInFront => ({ waiting: [], current: undefined })

/**
 * Takes the phase that a part carries, or gives one to a text. Changes both. True: the part carries
 * nothing else.
 */
export function takePhase(phases: PhasesInFront, part: Part): boolean {
  const isCarrier = part.signature?.form === 'phase'
  const phase = isCarrier ? phaseOf(part.signature?.value) : undefined
  if (isCarrier) delete part.signature
  if (phase) phases.waiting.push(phase)
  if (part.type === 'tool-call') phases.current = undefined
  if (part.type !== 'text') return isCarrier && part.type === 'reasoning'
  phases.current = phases.waiting.shift() ?? phases.current
  if (phases.current) part.phase = phases.current
  return false
}

const phaseOf = (word: string | undefined): Phase | undefined =>
  word === 'commentary' || word === 'final_answer' ? word : undefined
