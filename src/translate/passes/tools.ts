import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FunctionTool, Tool } from '../../canonical/tool.ts'
import { instructed } from '../../kit/conversation/instructed.ts'
import { isObject } from '../../kit/json/json.ts'
import { jsonInstruction } from '../../kit/response/json-instruction.ts'
import { isEnforceable } from '../../kit/tools/enforceable.ts'
import { fitGrammar, fitsAsFormat, grammarBudget } from '../../kit/tools/grammar-limits.ts'
import { withObjectArguments } from '../../kit/tools/object-schema.ts'
import { outputSchema } from '../../kit/tools/output-schema.ts'
import { resolveReferences } from '../../kit/tools/schema-references.ts'
import { isInStrictSubset } from '../../kit/tools/strict-subset.ts'
import { toolKey } from '../../kit/tools/tool-names.ts'
import { toolSchema } from '../../kit/tools/tool-schema.ts'
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
  const fitted = inFormat(fitFormat(request, dialect, report), dialect.strict, report)
  return fitTools(fitted, dialect, report)
}

function fitFormat(
  request: CanonicalRequest,
  dialect: SchemaDialect,
  report: PassReport,
): CanonicalRequest {
  const format = request.output?.format
  if (!format || !('schema' in format)) return request
  const { schema, lost } = outputSchema(format.schema, dialect)
  for (const code of lost) report.add(code, undefined, 'output.format.schema')
  return schema === format.schema
    ? request
    : { ...request, output: { ...request.output, format: { ...format, schema } } }
}

/** A schema of the response that cannot be enforced is asked for in the instructions. */
export function inFormat(
  request: CanonicalRequest,
  strictness: SchemaDialect['strict'],
  report: PassReport,
): CanonicalRequest {
  const { format, ...output } = request.output ?? {}
  if (typeof strictness !== 'object' || format?.type !== 'schema') return request
  const { schema } = format
  if (fitsAsFormat(schema, strictness)) return request
  report.add('output.format-instructed', undefined, 'output.format')
  return { ...request, output, messages: instructed(request.messages, jsonInstruction(schema)) }
}

function fitTools(
  request: CanonicalRequest,
  dialect: SchemaDialect,
  report: PassReport,
): CanonicalRequest {
  const { tools } = request
  if (!tools) return request
  const fitted = withoutDuplicates(tools, report).map(tool => withSchema(tool, dialect, report))
  const fitting = withFewStrict({ ...request, tools: fitted }, dialect.strict, report)
  return fitting.length === tools.length && fitting.every((tool, i) => tool === tools[i])
    ? request
    : { ...request, tools: [...fitting] }
}

function withSchema(given: Tool, dialect: SchemaDialect, report: PassReport): Tool {
  const described = withOutput(given, dialect, report)
  if (described.type !== 'function') return described
  const tool = withObjectArguments(described, report)
  if (!isObject(tool.parameters)) return tool
  const { schema, lost, words } = toolSchema(tool.parameters, dialect)
  for (const code of lost) report.add(code, tool.at, 'parameters')
  const fitted = schema === tool.parameters ? tool : { ...tool, parameters: schema }
  if (words !== undefined) fitted.description = [tool.description, words].filter(Boolean).join(' ')
  return dialect.strict === 'closed' ? withStrictness(fitted, report) : fitted
}

/** A server that does not take the schema of a strict function refuses the whole request. */
function withStrictness(tool: FunctionTool, report: PassReport): FunctionTool {
  const { parameters } = tool
  if (tool.strict !== true || !parameters || isInStrictSubset(parameters)) return tool
  return withoutStrictness(tool, report)
}

export function withoutStrictness(tool: FunctionTool, report: PassReport): FunctionTool {
  report.add('tool.strict', tool.at, 'strict')
  const { strictImplied: _, ...lax } = tool
  return { ...lax, strict: false }
}

/** What enforces grammars takes few strict functions, and refuses the request with more. */
export function withFewStrict(
  { tools = [], output }: Pick<CanonicalRequest, 'tools' | 'output'>,
  strictness: SchemaDialect['strict'],
  report: PassReport,
): readonly Tool[] {
  if (typeof strictness !== 'object') return tools
  const format = output?.format && 'schema' in output.format ? output.format.schema : undefined
  const strict = tools.filter(isStrict)
  if (fitGrammar([format, ...strict.map(({ parameters }) => parameters)], strictness)) return tools
  const left = grammarBudget(format, strictness)
  return tools.map(tool => {
    const stays = !isStrict(tool) || isLaxAnyway(tool) || left.takes(tool.parameters)
    return stays ? tool : withoutStrictness(tool, report)
  })
}

const isStrict = (tool: Tool): tool is FunctionTool =>
  tool.type === 'function' && tool.strict === true

/** Where nobody asked for it, it is left out with a schema that cannot be enforced. */
const isLaxAnyway = ({ strictImplied, parameters }: FunctionTool) =>
  strictImplied === true && isObject(parameters) && !isEnforceable(parameters)

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
