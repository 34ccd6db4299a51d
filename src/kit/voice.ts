import type { Part, Role } from '../canonical/message.ts'

/** Is something in a reply said in another name than the model's? Wires whose replies have one voice cannot tell. */
export function isOtherVoice(role: Role, parts: readonly Part[]): boolean {
  return role !== 'assistant' && role !== 'tool' && parts.some(isSaid)
}

const isSaid = ({ type }: Part) => type === 'text' || type === 'refusal' || type === 'media'
