import type { Message, Part, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { mapCallId } from '../../kit/ids.ts'
import { joinAssistants, matchResults, noResult, type Turn as TurnOf } from '../../kit/turns.ts'
import type { MessagesReport } from './notes.ts'
import type { MessagesOptions } from './options.ts'

export type Turn = TurnOf<'user' | 'assistant' | 'system'>

const idRule = /^[a-zA-Z0-9_-]{1,64}$/

type Pairs = { results: Map<ToolCallPart, ToolResultPart>; ids: Map<Part, string> }

/**
 * Groups messages of another protocol as this one requires: an assistant turn with tools or reasoning is one message, and
 * the next message begins with the results of all its calls, in the order of the calls.
 */
export function groupTurns(
  messages: readonly Message[],
  report: MessagesReport,
  repair: NonNullable<MessagesOptions['repairToolPairs']>,
): { turns: Turn[]; ids: Map<Part, string>; invented: Set<Part> } {
  const joined: Turn[] = joinAssistants(messages, 'assistant')
  const pairs = pair(joined, report)
  const placed = new Set<Part>(pairs.results.values())
  const invented = new Set<Part>()
  const turns: Turn[] = []
  let results: Turn | undefined
  for (const turn of joined) {
    if (turn.role === 'assistant') {
      const calls = turn.parts.filter(part => part.type === 'tool-call')
      const dangling = calls.filter(call => !pairs.results.has(call))
      if (repair === 'drop' && dangling.length > 0) {
        for (const call of dangling) report.leave('tool-call.dangling', call)
        turn.parts = turn.parts.filter(part => !dangling.includes(part as ToolCallPart))
      }
      turns.push(turn)
      results = undefined
      const answers = flatMap(calls, call => answerOf(call, pairs, repair, invented))
      if (answers.length > 0) {
        results = { role: 'user', parts: answers, sources: [] }
        turns.push(results)
      }
      continue
    }
    if (turn.role === 'system') {
      turns.push(turn)
      results = undefined
      continue
    }
    const parts = flatMap(turn.parts, part => leftOver(part, placed, pairs, repair, report))
    if (results) {
      noteMoved(turn.parts, results.parts, report)
      results.parts.push(...parts)
      results.sources.push(...turn.sources)
    } else {
      for (const part of turn.parts) if (part.type === 'tool-result' && placed.has(part)) report.add('tool-result.moved', part.at)
      turns.push({ ...turn, parts })
    }
  }
  return { turns: turns.filter(({ parts, sources }) => parts.length > 0 || sources.length > 0), ids: pairs.ids, invented }
}

/** Finds the result of each call, and the id that both are written with. */
function pair(turns: readonly Turn[], report: MessagesReport): Pairs {
  const ids = new Map<Part, string>()
  const used = new Set<string>()
  const results = matchResults(turns, 'assistant', {
    call(part) {
      const id = unused(fittingId(part.id), used)
      ids.set(part, id)
      if (id !== part.id) report.add('tool-call.id', part.at, 'id')
    },
    result(part, call, earlier) {
      if (earlier) report.leave('tool-result.duplicate', earlier)
      if (part.name !== undefined && part.name !== call.name) report.add('field.unsupported', part.at, 'name')
      ids.set(part, ids.get(call) ?? part.callId)
    },
  })
  return { results, ids }
}

/** The id, replaced if the server would refuse it. */
export const fittingId = (id: string): string => mapCallId(id, idRule)

function unused(id: string, used: Set<string>): string {
  let candidate = id
  for (let count = 2; used.has(candidate); count++) candidate = `${id.slice(0, 60)}_${count}`
  used.add(candidate)
  return candidate
}

function answerOf(call: ToolCallPart, { results, ids }: Pairs, repair: string, invented: Set<Part>): Part[] {
  const result = results.get(call)
  if (result) return [result]
  if (repair !== 'synthesize') return []
  const made = { ...noResult(call), isError: true }
  ids.set(made, ids.get(call) ?? call.id)
  invented.add(made)
  return [made]
}

/** A part of a user message, once results have moved to their calls. Empty: it has moved, or is left out. */
function leftOver(part: Part, placed: ReadonlySet<Part>, { ids }: Pairs, repair: string, report: MessagesReport): Part[] {
  if (part.type !== 'tool-result') return [part]
  if (placed.has(part)) return []
  if (ids.has(part)) return [] // an earlier result of the same call, noted as a duplicate
  if (repair === 'keep') {
    // Without its call nothing on the wire has the name of the tool.
    if (part.name !== undefined) report.add('field.unsupported', part.at, 'name')
    if (fittingId(part.callId) !== part.callId) report.add('tool-call.id', part.at, 'callId')
    return [part]
  }
  report.leave(repair === 'drop' ? 'tool-result.orphan' : 'tool-result.orphan-as-text', part)
  return repair === 'drop' ? [] : part.content
}

/** Notes results that were moved because they came after other content. */
function noteMoved(before: readonly Part[], placed: readonly Part[], report: MessagesReport): void {
  const first = before.findIndex(({ type }) => type !== 'tool-result')
  const other = first >= 0 || placed.some(({ type }) => type !== 'tool-result')
  if (!other) return
  before.forEach((part, index) => {
    const late = placed.some(({ type }) => type !== 'tool-result') || (first >= 0 && index > first)
    if (part.type === 'tool-result' && placed.includes(part) && late) report.add('tool-result.moved', part.at)
  })
}
