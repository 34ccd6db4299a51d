import { addDelta } from '../../../canonical/collect.ts'
import { isContent } from '../../../canonical/content.ts'
import type { Delta } from '../../../canonical/event.ts'
import type { Part, ReasoningPart } from '../../../canonical/message.ts'
import { pointerOf } from '../../../kit/notes/path.ts'
import { lengthOf } from '../../../kit/text/text.ts'
import type { EmitEvent } from '../../../protocol.ts'
import type { ReceivedPart } from '../content/layout.ts'
import { emptySignature } from '../content/reasoning.ts'
import { type Choice, placeOf } from './decoder-state.ts'

export function openPart(choice: Choice, head: Part, emit: EmitEvent): number {
  const part = choice.nextPart++
  choice.hasContent ||= isContent(head)
  const kind = kinds.get(head.type)
  if (kind) {
    const received: ReceivedPart = { part, kind, length: 0 }
    choice.received.push(received)
    if (kind === 'x') choice.texts.push(received)
  }
  emit({
    type: 'part.start',
    candidate: choice.candidate,
    message: 0,
    part,
    head: { at: `${pointerOf(placeOf(choice))}${fieldOf(head)}`, ...head },
  })
  return part
}

const kinds = new Map<Part['type'], ReceivedPart['kind']>([
  ['reasoning', 'r'],
  ['text', 'x'],
  ['tool-call', 'c'],
])

/** The path of the field that holds a part, if it has one of its own. */
const fieldOf = ({ type }: Part) => {
  if (type === 'text') return '/content'
  if (type === 'refusal') return '/refusal'
  if (type === 'media') return '/audio'
  return ''
}

export function closePart(choice: Choice, emit: EmitEvent): void {
  if (!choice.open) return
  const { part, thought } = choice.open
  // Not recorded in `thought`, so that a signature that comes later still finds this part unsigned.
  const seal =
    choice.seals && thought && !thought.signature ? { signature: emptySignature } : undefined
  if (seal)
    emit({
      type: 'part.delta',
      candidate: choice.candidate,
      part,
      delta: { kind: 'signature', ...seal },
    })
  // The id of reasoning is known only at its end.
  emit({
    type: 'part.end',
    candidate: choice.candidate,
    part,
    ...(thought?.id !== undefined && { final: { at: placeOf(choice), ...thought, ...seal } }),
  })
  choice.open = undefined
}

/** The open part of this kind, opened if needed. A part of another kind is closed first. */
export function opened(
  choice: Choice,
  kind: 'text' | 'refusal' | 'reasoning',
  emit: EmitEvent,
): number {
  if (choice.open?.kind === kind) return choice.open.part
  closePart(choice, emit)
  const thought: ReasoningPart | undefined =
    kind === 'reasoning' ? { type: kind, segments: [] } : undefined
  const part = openPart(
    choice,
    kind === 'reasoning' ? { type: kind, segments: [] } : { type: kind, text: '' },
    emit,
  )
  if (thought) choice.reasoning.push({ part, content: thought, detail: undefined })
  choice.open = { kind, part, before: choice.points, ...(thought && { thought }) }
  return part
}

/** Counts text, because citations and layouts refer to texts by length. */
export function count(
  choice: Choice,
  part: number,
  { kind, text }: { kind: 'text' | 'refusal'; text: string },
): void {
  choice.hasContent = true
  if (kind === 'refusal') return
  choice.points += lengthOf(text)
  const entry = choice.texts.at(-1)
  if (entry?.part === part) entry.length += text.length
}

export function add(
  choice: Choice,
  part: number,
  { delta, emit }: { delta: Delta; emit: EmitEvent },
): void {
  const { thought, part: current } = choice.open ?? {}
  if (thought && part === current) addDelta(thought, delta)
  emit({ type: 'part.delta', candidate: choice.candidate, part, delta })
}
