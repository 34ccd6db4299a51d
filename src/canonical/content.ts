import type { Part } from './message.ts'

/** Does the part have content for the user, or is it a call with a name? */
export function isContent(part: Part): boolean {
  if (part.type === 'text' || part.type === 'refusal') return part.text !== ''
  return part.type === 'tool-call'
    ? part.name !== ''
    : part.type !== 'reasoning' && part.type !== 'opaque'
}
