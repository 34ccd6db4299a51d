import type { Message, Part } from '../../canonical/message.ts'
import type { PassReport } from '../notes.ts'
import { mapParts } from './map-parts.ts'

/**
 * Parts of tool results that only another protocol than the target knows as text, so that the model
 * can read them.
 */
export function readableResults(
  messages: Message[],
  protocol: string,
  report: PassReport,
): Message[] {
  const isOdd = (part: Part) => part.type === 'opaque' && part.protocol !== protocol
  const asText = (part: Part): Part => {
    if (part.type !== 'opaque' || part.protocol === protocol) return part
    report.add('tool-result.flattened', part.at)
    return {
      type: 'text',
      text: JSON.stringify(part.raw),
      ...(part.at !== undefined && { at: part.at }),
    }
  }
  return mapParts(messages, part =>
    part.type === 'tool-result' && part.content.some(isOdd)
      ? { ...part, content: part.content.map(asText) }
      : part,
  )
}
