import type { Message } from '../../../canonical/message.ts'
import { joinAssistants, type Turn as TurnOf } from '../../../kit/conversation/turns.ts'
import { append } from '../../../kit/text/append.ts'

/**
 * Contents as this wire groups them: all results of a turn are together, in a content of their own.
 */
export type Turn = TurnOf<'user' | 'model' | 'system'>

/**
 * Groups messages of another protocol as this one requires: a turn with calls or reasoning is one
 * content, and so are the results of its calls.
 */
export function groupTurns(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = []
  for (const turn of joinAssistants(messages, 'model')) {
    const last = turns.at(-1)
    if (holdsResults(turn) && last && holdsResults(last)) {
      append(last.parts, turn.parts)
      append(last.sources, turn.sources)
    } else turns.push(turn)
  }
  return turns
}

const holdsResults = ({ role, parts }: Turn) =>
  role === 'user' && parts.some(({ type }) => type === 'tool-result')
