import type { Message } from '../../../canonical/message.ts'
import { joinAssistants, type Turn as TurnOf } from '../../../kit/conversation/turns.ts'
import { append } from '../../../kit/text/append.ts'

export type Turn = TurnOf<'user' | 'assistant' | 'system'>

/**
 * Groups messages of another protocol as this one requires: an assistant turn with tools or
 * reasoning is one message, and text of the user after tool results is in the message of the
 * results.
 */
export function groupTurns(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = []
  for (const turn of joinAssistants(messages, 'assistant')) {
    const last = turns.at(-1)
    if (
      turn.role === 'user' &&
      last?.role === 'user' &&
      last.parts.some(({ type }) => type === 'tool-result')
    ) {
      append(last.parts, turn.parts)
      append(last.sources, turn.sources)
    } else turns.push(turn)
  }
  return turns
}
