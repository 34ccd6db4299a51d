import type { Message, Part, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { withoutStaleResults } from '../../kit/stale-results.ts'
import { joinAssistants, matchResults, noResult, type Turn as TurnOf } from '../../kit/turns.ts'
import type { GeminiReport } from './notes.ts'
import type { GeminiOptions } from './options.ts'
import { isInner } from './writing.ts'

/** Contents as this wire groups them: all results of a turn are together, in a content of their own. */
export type Turn = TurnOf<'user' | 'model' | 'system' | 'results'>

type Repair = NonNullable<GeminiOptions['repairToolPairs']>

/** The call that each result answers. */
export type Pairs = Map<ToolResultPart, ToolCallPart>

/**
 * Groups messages of another protocol as this one requires: a turn with calls or thoughts is one content, and the next one holds
 * the results of all its calls, in the order of the calls, and nothing else.
 */
export function groupTurns(messages: readonly Message[], report: GeminiReport, repair: Repair): { turns: Turn[]; pairs: Pairs; invented: ReadonlySet<Part> } {
  const joined: Turn[] = joinAssistants(withoutStaleResults(messages, report), 'model')
  const answers = matchResults(joined, 'model')
  const pairs: Pairs = new Map()
  for (const [call, result] of answers) pairs.set(result, call)
  const invented = new Set<Part>()
  const turns: Turn[] = []
  let results: Turn | undefined
  for (const turn of joined) {
    if (turn.role === 'model') {
      const calls = turn.parts.filter(part => part.type === 'tool-call')
      const dangling = calls.filter(call => !answers.has(call))
      if (repair === 'drop' && dangling.length > 0) {
        for (const call of dangling) report.leave('tool-call.dangling', call)
        turn.parts = turn.parts.filter(part => !dangling.includes(part as ToolCallPart))
      }
      turns.push(turn)
      results = undefined
      const answerParts = flatMap(calls, call => answerOf(call, answers.get(call), repair, { invented, pairs }))
      if (answerParts.length === 0) continue
      results = { role: 'results', parts: answerParts, sources: [] }
      turns.push(results)
      continue
    }
    const isRight = results !== undefined && turns.at(-1) === results
    const parts: Part[] = []
    turn.parts.forEach((part, index) => {
      if (part.type !== 'tool-result') parts.push(part)
      else if (pairs.has(part)) {
        if (!isRight || turn.parts.slice(0, index).some(({ type }) => type !== 'tool-result')) report.add('tool-result.moved', part.at)
      } else parts.push(...orphan(part, repair, report))
    })
    if (parts.length > 0 || turn.parts.length === 0) turns.push({ ...turn, parts })
    else if (results) results.sources.push(...turn.sources)
  }
  return { turns: flatMap(turns, splitOrphans), pairs, invented }
}

function answerOf(call: ToolCallPart, result: ToolResultPart | undefined, repair: Repair, { invented, pairs }: { invented: Set<Part>; pairs: Pairs }): Part[] {
  if (result) return [result]
  if (repair !== 'synthesize') return []
  const made = { ...noResult(call), isError: true }
  invented.add(made)
  pairs.set(made, call)
  return [made]
}

function orphan(part: ToolResultPart, repair: Repair, report: GeminiReport): Part[] {
  if (repair === 'keep') return [part]
  report.leave(repair === 'drop' ? 'tool-result.orphan' : 'tool-result.orphan-as-text', part)
  return repair === 'drop' ? [] : part.content.filter(inner => !isInner(inner, report))
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
