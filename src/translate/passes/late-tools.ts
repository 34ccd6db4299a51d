import type { ControlPart, ServerToolPart } from '../../canonical/message.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import type { Demands } from '../../protocol.ts'
import type { PassReport } from '../notes.ts'

/**
 * The request with the tools that its conversation adds in its list of tools. A server refuses two tools of one name. `protocol`: the
 * target; tools that its own parts add stay there.
 */
export function gatherTools(
  request: CanonicalRequest,
  lateTools: Demands['lateTools'],
  protocol: string,
  report: PassReport,
): CanonicalRequest {
  const all: Tool[] = []
  for (const { parts } of request.messages)
    for (const part of parts) {
      if (
        (part.type !== 'control' && part.type !== 'server-tool') ||
        !part.tools ||
        part.protocol === protocol ||
        staysThere(part, lateTools)
      )
        continue
      if (all.length === 0) all.push(...(request.tools ?? []))
      const before = all.length
      for (const tool of part.tools)
        if (!all.some(other => isNamedAlike(other, tool))) all.push(tool)
      if (all.length > before) report.add('tool.added-late', part.at)
    }
  return all.length > (request.tools?.length ?? 0) ? { ...request, tools: all } : request
}

function staysThere({ type }: ControlPart | ServerToolPart, wanted: Demands['lateTools']): boolean {
  return wanted === 'parts' || (wanted === 'controls' && type === 'control')
}

/** Would a call reach the same tool? Tools of a provider have no name that a caller gave them. */
function isNamedAlike(one: Tool, other: Tool): boolean {
  if (
    one.type === 'opaque' ||
    one.type === 'server' ||
    other.type === 'opaque' ||
    other.type === 'server'
  )
    return false
  return one.name === other.name && one.namespace === other.namespace
}
