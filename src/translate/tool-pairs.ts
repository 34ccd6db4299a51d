import type { Message, Part, ToolCallPart, ToolResultPart } from '../canonical/message.ts'
import type { commonNotes, Report } from '../kit/notes/report.ts'
import type { translateNotes } from './notes.ts'

type PairReport = Report<typeof translateNotes & typeof commonNotes>

/**
 * A conversation that every server accepts: a call without a result gets one that says that it was interrupted, and the content of a
 * result without a call becomes text of the user. Clients leave both behind when a session is interrupted or shortened.
 */
export function repairToolPairs(messages: Message[], report: PairReport): Message[] {
  const { dangling, orphans } = unpaired(messages)
  if (dangling.size === 0 && orphans.size === 0) return messages
  const repaired: Message[] = []
  let missing: Message[] = []
  for (const message of messages) {
    // After the last message of the turn: the results of all its calls stand together.
    if (message.role !== 'assistant') {
      repaired.push(...missing)
      missing = []
    }
    repaired.push(...withoutOrphans(message, orphans, report))
    for (const part of message.parts) if (part.type === 'tool-call' && dangling.has(part)) missing.push(interrupted(part))
  }
  return [...repaired, ...missing]
}

/** `turn`: which one the calls belong to. `open`: those without a result, in their order. */
type Asked = { turn: number; open: ToolCallPart[] }

function unpaired(messages: readonly Message[]): { dangling: Set<Part>; orphans: Set<Part> } {
  const dangling = new Set<Part>()
  const orphans = new Set<Part>()
  const asked = new Map<string, Asked>()
  let turn = 0
  for (const { role, parts } of messages) {
    if (role !== 'assistant') turn++
    for (const part of parts)
      if (part.type === 'tool-call') {
        dangling.add(part)
        const before = asked.get(part.id)
        // Several calls of a turn may have one id. In a later turn the id belongs to the new call.
        if (before?.turn === turn) before.open.push(part)
        else asked.set(part.id, { turn, open: [part] })
      } else if (part.type === 'server-tool') {
        if (!asked.has(part.id)) asked.set(part.id, { turn, open: [] })
      } else if (part.type === 'tool-result') {
        const call = asked.get(part.callId)
        const answered = call?.open.shift()
        if (answered) dangling.delete(answered)
        else if (!call && (role === 'tool' || role === 'user')) orphans.add(part)
      }
  }
  return { dangling, orphans }
}

function withoutOrphans(message: Message, orphans: ReadonlySet<Part>, report: PairReport): Message[] {
  if (!message.parts.some(part => orphans.has(part))) return [message]
  const results: Part[] = []
  const told: Part[] = []
  for (const part of message.parts)
    if (part.type === 'tool-result' && orphans.has(part)) {
      report.leave('tool-result.orphan-as-text', part)
      told.push(...part.content.filter(inner => maySay(inner, report)))
    } else if (message.role === 'tool') results.push(part)
    else told.push(part)
  const user: Message = { ...message, role: 'user', parts: told }
  if (results.length > 0)
    return told.length > 0
      ? [
          { ...message, parts: results },
          { role: 'user', origin: message.origin, parts: told },
        ]
      : [{ ...message, parts: results }]
  if (told.length > 0) return [user]
  report.ext(message.ext, message.at)
  return []
}

/** Thoughts, calls and results inside a result are not the user's. */
function maySay({ type, at }: Part, report: PairReport): boolean {
  const isOdd = type === 'reasoning' || type === 'tool-call' || type === 'tool-result'
  if (isOdd) report.add('part.unsupported', at)
  return !isOdd
}

function interrupted(call: ToolCallPart): Message {
  const result: ToolResultPart = {
    type: 'tool-result',
    callId: call.id,
    kind: call.kind,
    content: [{ type: 'text', text: 'This tool call was interrupted and has no result.' }],
    isError: true,
    synthesized: true,
  }
  return { role: 'tool', origin: 'message', parts: [result] }
}
