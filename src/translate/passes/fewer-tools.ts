import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import { toolKey } from '../../kit/tools/tool-names.ts'
import type { PassReport } from '../notes.ts'

type Room = { most: number | undefined; namespaces: boolean | undefined }

/**
 * The request with as many tools as its server takes. What is chosen and what was called stays, then
 * what is in front: agents list their own tools before those of MCP servers. `namespaces`: the
 * target has them; all tools of one count as one.
 */
export function fewerTools(
  request: CanonicalRequest,
  { most = Infinity, namespaces = false }: Room,
  report: PassReport,
): CanonicalRequest {
  const { tools = [] } = request
  if (tools.length <= most) return request
  const entryOf = (tool: Tool, place: number): string | number =>
    namespaces && 'namespace' in tool ? (tool.namespace ?? place) : place
  const entries = new Set(tools.map(entryOf))
  if (entries.size <= most) return request
  const named = namesIn(request)
  const isNamed = (tool: Tool) =>
    'name' in tool &&
    tool.name !== undefined &&
    named.has(toolKey(tool.name, 'namespace' in tool ? tool.namespace : undefined))
  const wanted = tools.flatMap((tool, i) => (isNamed(tool) ? [entryOf(tool, i)] : []))
  const kept = new Set([...new Set([...wanted, ...entries])].slice(0, most))
  return {
    ...request,
    tools: tools.filter((tool, i) => {
      const stays = kept.has(entryOf(tool, i))
      if (!stays) report.add('tool.too-many', tool.at)
      return stays
    }),
  }
}

/** The tools that the request names: those that it has called, and those of its choice. */
function namesIn({ messages, toolChoice: choice }: CanonicalRequest): Set<string> {
  const all = new Set<string>()
  const add = ({ name, namespace }: { name: string; namespace?: string }) =>
    all.add(toolKey(name, namespace))
  for (const { parts } of messages)
    for (const part of parts) if (part.type === 'tool-call') add(part)
  if (choice?.mode === 'tool') add(choice)
  else if (choice?.mode === 'allowed') choice.tools.forEach(add)
  else if (choice?.mode === 'validated') for (const name of choice.tools ?? []) add({ name })
  return all
}
