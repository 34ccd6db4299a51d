import type { Part } from '../canonical/message.ts'
import { defined } from './defined.ts'

/** What a tool gave is for the model to read, whatever another protocol calls it: parts that only that one knows, as text. */
export function readable(content: readonly Part[], protocol: string, note: (at: string | undefined) => void): Part[] {
  return content.map(part => {
    if (part.type !== 'opaque' || part.protocol === protocol) return part
    note(part.at)
    return { type: 'text', text: JSON.stringify(part.raw), ...defined({ at: part.at }) }
  })
}
