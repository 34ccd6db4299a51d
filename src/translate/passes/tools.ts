import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import { isObject } from '../../kit/json/json.ts'
import { toolKey } from '../../kit/tools/tool-names.ts'
import { toolSchema } from '../../kit/tools/tool-schema.ts'
import type { SchemaDialect } from '../../protocol.ts'
import type { PassReport } from '../notes.ts'

/**
 * The tools as the target takes them: schemas in its dialect, and one tool for each name. Tools
 * that need nothing stay the same objects.
 */
export function fitTools(
  request: CanonicalRequest,
  dialect: SchemaDialect,
  report: PassReport,
): CanonicalRequest {
  const { tools } = request
  if (!tools) return request
  const fitting = withoutDuplicates(tools, report).map(tool => withSchema(tool, dialect, report))
  return fitting.length === tools.length && fitting.every((tool, i) => tool === tools[i])
    ? request
    : { ...request, tools: fitting }
}

function withSchema(tool: Tool, dialect: SchemaDialect, report: PassReport): Tool {
  if (tool.type !== 'function' || !isObject(tool.parameters)) return tool
  const { schema, isLess } = toolSchema(tool.parameters, dialect)
  if (isLess) report.add('tool.schema-root', tool.at, 'parameters')
  return schema === tool.parameters ? tool : { ...tool, parameters: schema }
}

/** Of two tools with one name a model can call only the first. */
function withoutDuplicates(tools: readonly Tool[], report: PassReport): readonly Tool[] {
  const first = new Map<string, Tool>()
  return tools.filter(tool => {
    if (tool.type === 'opaque' || tool.type === 'server') return true
    const key = toolKey(tool.name, tool.namespace)
    const before = first.get(key)
    if (!before) {
      first.set(key, tool)
      return true
    }
    if (!isSame(tool, before)) report.add('tool.duplicate', tool.at)
    return false
  })
}

const isSame = ({ at: _, ...one }: Tool, { at: __, ...other }: Tool) =>
  JSON.stringify(one) === JSON.stringify(other)
