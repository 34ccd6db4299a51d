import type { AllowedTool, Tool } from '../../canonical/tool.ts'

/** The tools that a choice names. */
export function listedTools(
  tools: readonly Tool[],
  wanted: readonly Pick<AllowedTool, 'kind' | 'name'>[],
): Set<Tool> {
  const server = new Set<string>()
  const client = new Set<string>()
  for (const { kind, name } of wanted) (kind === 'server' ? server : client).add(name)
  return new Set(
    tools.filter(
      tool =>
        'name' in tool &&
        tool.name !== undefined &&
        (tool.type === 'server' ? server : client).has(tool.name),
    ),
  )
}
