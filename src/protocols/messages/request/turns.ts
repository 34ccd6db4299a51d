import type { Message, Part, ToolCallPart, ToolResultPart } from '../../../canonical/message.ts'
import { mapCallId } from '../../../kit/conversation/ids.ts'
import { joinAssistants, matchResults, type Turn as TurnOf } from '../../../kit/conversation/turns.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import type { MessagesReport } from '../notes.ts'

export type Turn = TurnOf<'user' | 'assistant' | 'system'>

const idRule = /^[a-zA-Z0-9_-]{1,64}$/

type Pairs = { results: Map<ToolCallPart, ToolResultPart>; ids: Map<Part, string> }

/**
 * Groups messages of another protocol as this one requires: an assistant turn with tools or reasoning is one message, and
 * the next message begins with the results of all its calls, in the order of the calls.
 */
export function groupTurns(messages: readonly Message[], report: MessagesReport): { turns: Turn[]; ids: Map<Part, string> } {
  const joined: Turn[] = joinAssistants(messages, 'assistant')
  const pairs = pair(joined, report)
  const placed = new Set<Part>(pairs.results.values())
  const turns: Turn[] = []
  let results: Turn | undefined
  for (const turn of joined) {
    if (turn.role === 'assistant') {
      turns.push(turn)
      results = undefined
      const answers: Part[] = []
      for (const part of turn.parts) {
        const result = part.type === 'tool-call' ? pairs.results.get(part) : undefined
        if (result) answers.push(result)
      }
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
    const parts = flatMap(turn.parts, part => leftOver(part, placed, pairs, report))
    if (results) {
      noteMoved(turn.parts, results.parts, report)
      results.parts.push(...parts)
      results.sources.push(...turn.sources)
    } else {
      for (const part of turn.parts) if (part.type === 'tool-result' && placed.has(part)) report.add('tool-result.moved', part.at)
      turns.push({ ...turn, parts })
    }
  }
  return { turns: turns.filter(({ parts, sources }) => parts.length > 0 || sources.length > 0), ids: pairs.ids }
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

/** A part of a user message, once results have moved to their calls. Empty: it has moved. */
function leftOver(part: Part, placed: ReadonlySet<Part>, { ids }: Pairs, report: MessagesReport): Part[] {
  if (part.type !== 'tool-result') return [part]
  if (placed.has(part)) return []
  if (ids.has(part)) return [] // an earlier result of the same call, noted as a duplicate
  // Without its call nothing on the wire has the name of the tool.
  if (part.name !== undefined) report.add('field.unsupported', part.at, 'name')
  if (fittingId(part.callId) !== part.callId) report.add('tool-call.id', part.at, 'callId')
  return [part]
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
