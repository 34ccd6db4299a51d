import type { Message, Part } from '../../canonical/message.ts'
import { partsInText } from '../../kit/conversation/foreign-parts.ts'
import { flatMap } from '../../kit/text/flat-map.ts'
import type { PassReport } from '../notes.ts'
import { mapParts } from './map-parts.ts'

/** The parts that only another protocol has, as what they are for others. */
export function plainParts(messages: Message[], protocol: string, report: PassReport): Message[] {
  const plain = (part: Part): Part => {
    if (part.type !== 'opaque' || !part.plain || part.protocol === protocol) return part
    report.add('part.foreign', part.at)
    return part.plain
  }
  return mapParts(messages, part =>
    part.type === 'tool-result' && part.content.some(({ type }) => type === 'opaque')
      ? { ...part, content: part.content.map(plain) }
      : plain(part),
  )
}

/**
 * Parts of tool results so that the model can read them: those that only another protocol than the
 * target knows become text, and a text that is a list of parts becomes these parts.
 */
export function readableResults(
  messages: Message[],
  protocol: string,
  report: PassReport,
): Message[] {
  const readable = (part: Part): readonly Part[] | undefined => {
    if (part.type === 'text' && !part.ext && !part.citations) {
      const parts = partsInText(part.text, part.at ?? '')
      const last = parts?.at(-1)
      if (!last) return undefined
      report.add('part.foreign', part.at)
      return part.cache ? parts?.with(-1, { ...last, cache: part.cache }) : parts
    }
    if (part.type !== 'opaque' || part.protocol === protocol) return undefined
    report.add('tool-result.flattened', part.at)
    return [
      {
        type: 'text',
        text: JSON.stringify(part.raw),
        ...(part.at !== undefined && { at: part.at }),
      },
    ]
  }
  return mapParts(messages, part => {
    if (part.type !== 'tool-result') return part
    const parts = part.content.map(readable)
    if (parts.every(one => one === undefined)) return part
    return { ...part, content: flatMap(part.content, (one, i) => parts[i] ?? one) }
  })
}
