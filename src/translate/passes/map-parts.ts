import type { Message, Part } from '../../canonical/message.ts'

/**
 * The messages with each part replaced; those without a change stay the same objects. Lists are
 * copied only where something changes.
 */
export function mapParts(messages: Message[], change: (part: Part) => Part): Message[] {
  let mapped: Message[] | undefined
  for (const [i, message] of messages.entries()) {
    const { parts } = message
    let changed: Part[] | undefined
    for (let place = 0; place < parts.length; place++) {
      const part = parts[place] as Part
      const other = change(part)
      if (other === part) continue
      changed ??= parts.slice()
      changed[place] = other
    }
    if (!changed) continue
    mapped ??= messages.slice()
    mapped[i] = { ...message, parts: changed }
  }
  return mapped ?? messages
}
