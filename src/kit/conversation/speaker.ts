import type { Part, Role } from '../../canonical/message.ts'

/**
 * Does this message of a response contain text of another speaker than the model? Most wires cannot
 * express that.
 */
export function isOtherSpeaker(role: Role, parts: readonly Part[]): boolean {
  return role !== 'assistant' && role !== 'tool' && parts.some(isSpoken)
}

const isSpoken = ({ type }: Part) => type === 'text' || type === 'refusal' || type === 'media'
