import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import { toolKey } from '../../kit/tools/tool-names.ts'
import type { Demands } from '../../protocol.ts'
import type { PassReport } from '../notes.ts'

/**
 * The request with the tools that its conversation adds in its list of tools. A server refuses two
 * tools of one name. `protocol`: the target; tools that its own parts add stay there.
 */
export function gatherTools(
  request: CanonicalRequest,
  lateTools: Demands['lateTools'],
  protocol: string,
  report: PassReport,
): CanonicalRequest {
  if (lateTools === 'parts') return request
  const all: Tool[] = []
  const names = new Set<string>()
  for (const { parts } of request.messages)
    for (const part of parts) {
      if (
        (part.type !== 'control' && part.type !== 'server-tool') ||
        !part.tools ||
        part.protocol === protocol
      )
        continue
      if (all.length === 0)
        for (const tool of request.tools ?? []) {
          names.add(nameOf(tool) ?? '')
          all.push(tool)
        }
      const before = all.length
      for (const tool of part.tools) {
        const name = nameOf(tool)
        if (name !== undefined && names.has(name)) continue
        names.add(name ?? '')
        all.push(tool)
      }
      if (all.length > before) report.add('tool.added-late', part.at)
    }
  return all.length > (request.tools?.length ?? 0) ? { ...request, tools: all } : request
}

/**
 * Calls of tools with the same name reach the same tool. Tools of a provider have no name that a
 * caller gave them.
 */
function nameOf(tool: Tool): string | undefined {
  return tool.type === 'opaque' || tool.type === 'server'
    ? undefined
    : toolKey(tool.name, tool.namespace)
}
