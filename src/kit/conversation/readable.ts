import type { Part, Place } from '../../canonical/message.ts'
import { defined } from '../fields/defined.ts'

/** The content of a tool result with parts that only another protocol knows turned into text, so that the model can read them. */
export function readable(content: readonly Part[], protocol: string, note: (at: Place | undefined) => void): Part[] {
  return content.map(part => {
    if (part.type !== 'opaque' || part.protocol === protocol) return part
    note(part.at)
    return { type: 'text', text: JSON.stringify(part.raw), ...defined({ at: part.at }) }
  })
}
