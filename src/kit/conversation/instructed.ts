import type { Message } from '../../canonical/message.ts'

/** The conversation with one more instruction. */
export function instructed(messages: readonly Message[], text: string): Message[] {
  const [first, ...others] = messages
  if (first?.role !== 'system')
    return [
      { role: 'system', origin: 'instructions', parts: [{ type: 'text', text }] },
      ...messages,
    ]
  return [{ ...first, parts: [...first.parts, { type: 'text', text: `\n\n${text}` }] }, ...others]
}
