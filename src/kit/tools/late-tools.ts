import type { ControlPart, Message, Place, ServerToolPart } from '../../canonical/message.ts'
import type { Tool } from '../../canonical/tool.ts'

/** A part that may add tools in mid-conversation. */
type Adding = ControlPart | ServerToolPart

type Gathering = {
  /** The protocol that is written. Tools that its own parts add stay there. */
  protocol: string
  report: { add(code: 'tool.added-late', at: Place | undefined): void }
  /** Does this part of another protocol have a form on the wire, which holds its tools? Absent: none has. */
  hasPlace?(part: Adding): boolean
}

/** The tools of a request and those that its conversation adds, for the one list of a wire. A server refuses two tools of one name. */
export function gatherTools(
  { tools = [], messages }: { tools?: readonly Tool[] | undefined; messages: readonly Message[] },
  { protocol, report, hasPlace }: Gathering,
): Tool[] {
  const all = [...tools]
  for (const { parts } of messages)
    for (const part of parts) {
      if ((part.type !== 'control' && part.type !== 'server-tool') || !part.tools || part.protocol === protocol || hasPlace?.(part)) continue
      const before = all.length
      for (const tool of part.tools) if (!all.some(other => isNamedAlike(other, tool))) all.push(tool)
      if (all.length > before) report.add('tool.added-late', part.at)
    }
  return all
}

/** Would a call reach the same tool? Tools of a provider have no name that a caller gave them. */
function isNamedAlike(one: Tool, other: Tool): boolean {
  if (one.type === 'opaque' || one.type === 'server' || other.type === 'opaque' || other.type === 'server') return false
  return one.name === other.name && one.namespace === other.namespace
}
