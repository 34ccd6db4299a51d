import type { Message, Part } from '../../canonical/message.ts'

/** The messages with each part replaced; those without a change stay the same objects. */
export function mapParts(messages: Message[], change: (part: Part) => Part): Message[] {
  let anyChanged = false
  const mapped = messages.map(message => {
    let isChanged = false
    const parts = message.parts.map(part => {
      const changed = change(part)
      isChanged ||= changed !== part
      return changed
    })
    anyChanged ||= isChanged
    return isChanged ? { ...message, parts } : message
  })
  return anyChanged ? mapped : messages
}
