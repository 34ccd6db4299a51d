import type { Message, Part, ToolCallPart, ToolResultPart } from '../../../canonical/message.ts'
import { withoutStaleResults } from '../../../kit/conversation/stale-results.ts'
import { joinAssistants, matchResults, type Turn as TurnOf } from '../../../kit/conversation/turns.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import type { GeminiReport } from '../notes.ts'

/** Contents as this wire groups them: all results of a turn are together, in a content of their own. */
export type Turn = TurnOf<'user' | 'model' | 'system' | 'results'>

/** The call that each result answers. */
export type Pairs = Map<ToolResultPart, ToolCallPart>

/**
 * Groups messages of another protocol as this one requires: a turn with calls or thoughts is one content, and the next one holds
 * the results of all its calls, in the order of the calls, and nothing else.
 */
export function groupTurns(messages: readonly Message[], report: GeminiReport): { turns: Turn[]; pairs: Pairs } {
  const joined: Turn[] = joinAssistants(withoutStaleResults(messages, report), 'model')
  const answers = matchResults(joined, 'model')
  const pairs: Pairs = new Map()
  for (const [call, result] of answers) pairs.set(result, call)
  const turns: Turn[] = []
  let results: Turn | undefined
  for (const turn of joined) {
    if (turn.role === 'model') {
      turns.push(turn)
      results = undefined
      const given: Part[] = []
      for (const part of turn.parts) {
        const answer = part.type === 'tool-call' ? answers.get(part) : undefined
        if (answer) given.push(answer)
      }
      if (given.length === 0) continue
      results = { role: 'results', parts: given, sources: [] }
      turns.push(results)
      continue
    }
    const isRight = results !== undefined && turns.at(-1) === results
    const parts: Part[] = []
    turn.parts.forEach((part, index) => {
      if (part.type !== 'tool-result') parts.push(part)
      else if (pairs.has(part)) {
        if (!isRight || turn.parts.slice(0, index).some(({ type }) => type !== 'tool-result')) report.add('tool-result.moved', part.at)
      } else parts.push(part)
    })
    if (parts.length > 0 || turn.parts.length === 0) turns.push({ ...turn, parts })
    else if (results) results.sources.push(...turn.sources)
  }
  return { turns: flatMap(turns, splitOrphans), pairs }
}

/** Results without a call also get a content of their own: this wire mixes results with nothing else. */
function splitOrphans(turn: Turn): Turn[] {
  if (turn.role !== 'user') return [turn]
  const results = turn.parts.filter(({ type }) => type === 'tool-result')
  if (results.length === 0 || results.length === turn.parts.length) return [turn]
  return [
    { ...turn, parts: results },
    { ...turn, parts: turn.parts.filter(({ type }) => type !== 'tool-result') },
  ]
}
