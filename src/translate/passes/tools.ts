import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FunctionTool, Tool } from '../../canonical/tool.ts'
import { isObject } from '../../kit/json/json.ts'
import { withObjectArguments } from '../../kit/tools/object-schema.ts'
import { refusedPatterns } from '../../kit/tools/patterns.ts'
import { resolveReferences } from '../../kit/tools/schema-references.ts'
import { fitSchema } from '../../kit/tools/schema-subset.ts'
import { isInStrictSubset } from '../../kit/tools/strict-subset.ts'
import { toolKey } from '../../kit/tools/tool-names.ts'
import { toolSchema, validSchema } from '../../kit/tools/tool-schema.ts'
import type { SchemaDialect } from '../../protocol.ts'
import type { PassReport } from '../notes.ts'

/**
 * The tools as the target takes them: schemas in its dialect, as that of the response, and one tool
 * for each name. Tools that need nothing stay the same objects.
 */
export function fitSchemas(
  request: CanonicalRequest,
  dialect: SchemaDialect,
  report: PassReport,
): CanonicalRequest {
  return fitTools(fitFormat(request, dialect, report), dialect, report)
}

function fitFormat(
  request: CanonicalRequest,
  dialect: SchemaDialect,
  report: PassReport,
): CanonicalRequest {
  const { references, patterns } = dialect
  const format = request.output?.format
  if (!format || !('schema' in format)) return request
  const field = 'output.format.schema'
  const valid = validSchema(format.schema, dialect)
  for (const code of valid.lost) report.add(code, undefined, field)
  const resolved = references ? resolveReferences(valid.schema, references) : undefined
  if (resolved?.isLess && !valid.lost.includes('schema.reference'))
    report.add('schema.reference', undefined, field)
  const bare = resolved?.schema ?? valid.schema
  const schema = patterns ? fitSchema(bare, refusedPatterns[patterns]) : bare
  if (schema !== bare) report.add('schema.keywords', undefined, field)
  return schema === format.schema
    ? request
    : { ...request, output: { ...request.output, format: { ...format, schema } } }
}

function fitTools(
  request: CanonicalRequest,
  dialect: SchemaDialect,
  report: PassReport,
): CanonicalRequest {
  const { tools } = request
  if (!tools) return request
  const fitting = withFewStrict(
    withoutDuplicates(tools, report).map(tool => withSchema(tool, dialect, report)),
    dialect.strict,
    report,
  )
  return fitting.length === tools.length && fitting.every((tool, i) => tool === tools[i])
    ? request
    : { ...request, tools: fitting }
}

function withSchema(given: Tool, dialect: SchemaDialect, report: PassReport): Tool {
  const described = withOutput(given, dialect, report)
  if (described.type !== 'function') return described
  const tool = withObjectArguments(described, report)
  if (!isObject(tool.parameters)) return tool
  const { schema, lost, words } = toolSchema(tool.parameters, dialect)
  for (const code of lost) report.add(code, tool.at, 'parameters')
  const description = [tool.description, words].filter(Boolean).join(' ')
  const fitted =
    schema === tool.parameters
      ? tool
      : { ...tool, parameters: schema, ...(words !== undefined && { description }) }
  return dialect.strict === 'closed' ? withStrictness(fitted, report) : fitted
}

/** A server that does not take the schema of a strict function refuses the whole request. */
export function withStrictness(tool: FunctionTool, report: PassReport): FunctionTool {
  const { parameters } = tool
  if (tool.strict !== true || !parameters || isInStrictSubset(parameters)) return tool
  report.add('tool.strict', tool.at, 'strict')
  const { strictImplied: _, ...lax } = tool
  return { ...lax, strict: false }
}

/** Source: https://platform.claude.com/docs/en/build-with-claude/structured-outputs */
const mostStrict = 20

/** Are there more strict functions than what enforces grammars takes? */
export const areManyStrict = (
  tools: readonly object[],
  strictness: SchemaDialect['strict'],
): boolean =>
  strictness === 'grammar' &&
  tools.length > mostStrict &&
  tools.filter(tool => 'strict' in tool && tool.strict === true).length > mostStrict

/** What enforces grammars takes few strict functions, and refuses the request with more. */
export function withFewStrict(
  tools: Tool[],
  strictness: SchemaDialect['strict'],
  report: PassReport,
): Tool[] {
  if (!areManyStrict(tools, strictness)) return tools
  let strict = 0
  return tools.map(tool => {
    if (tool.type !== 'function' || tool.strict !== true || ++strict <= mostStrict) return tool
    report.add('tool.strict', tool.at, 'strict')
    return { ...tool, strict: false }
  })
}

function withOutput(tool: Tool, { references }: SchemaDialect, report: PassReport): Tool {
  if (!references || tool.type !== 'function' || !isObject(tool.output)) return tool
  const { schema, isLess } = resolveReferences(tool.output, references)
  if (isLess) report.add('schema.reference', tool.at, 'output')
  return schema === tool.output ? tool : { ...tool, output: schema }
}

/** Of two tools with one name a model can call only the first. */
export function withoutDuplicates(tools: readonly Tool[], report: PassReport): readonly Tool[] {
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
