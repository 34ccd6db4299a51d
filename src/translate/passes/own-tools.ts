import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FunctionTool, Tool } from '../../canonical/tool.ts'
import { isObject, type JsonObject, parseJson } from '../../kit/json/json.ts'
import { enforceable, isClosable, isEnforceable } from '../../kit/tools/enforceable.ts'
import { fitGrammar, fitsAsFormat } from '../../kit/tools/grammar-limits.ts'
import { allowsObject, withObjectArguments } from '../../kit/tools/object-schema.ts'
import { areSpelled } from '../../kit/tools/property-names.ts'
import { isInStrictSubset } from '../../kit/tools/strict-subset.ts'
import { toolSchema } from '../../kit/tools/tool-schema.ts'
import type {
  CodecOptions,
  Demands,
  SchemaDialect,
  ToolOptions,
  UpstreamHalf,
} from '../../protocol.ts'
import type { PassReport } from '../notes.ts'
import { nameTools } from './tool-names.ts'
import { inFormat, withFewStrict, withoutDuplicates, withoutStrictness } from './tools.ts'

/**
 * Between equal protocols a named vendor gets the tools that it takes, too: one of each name, names
 * and properties that it accepts, and strict ones that it can enforce. What else is in schemas, the
 * protocol fits in what is written. So it gets a format of the response that it can enforce.
 */
export function mendTools(
  given: CanonicalRequest,
  { toolNames, schemas }: Demands,
  report: PassReport,
): ReturnType<typeof nameTools> {
  const request = inFormat(given, schemas?.strict, report)
  const { spell, spellProperty, longest } = toolNames
  const { output } = request
  const tools =
    request.tools &&
    withoutDuplicates(request.tools, report).map(tool => enforced(tool, schemas, report))
  const few = tools && withFewStrict({ tools, ...(output && { output }) }, schemas?.strict, report)
  return nameTools(
    few ? { ...request, tools: [...few] } : request,
    { spell, longest, namespaces: true, ...(spellProperty && { spellProperty }) },
    report,
  )
}

function enforced(given: Tool, schemas: SchemaDialect = {}, report: PassReport): Tool {
  if (given.type !== 'function') return given
  const tool = withObjectArguments(given, report)
  const { parameters, strict, strictImplied } = tool
  // What the request does not say its server decides.
  if (strictImplied || strict !== true || !parameters || isEnforced(parameters, schemas))
    return tool
  return typeof schemas.strict === 'object'
    ? inGrammar(tool, report)
    : withoutStrictness(tool, report)
}

/**
 * Does a server of this dialect enforce the schema of a strict function? Asked of what is written: a
 * type that is misspelled is one then.
 */
function isEnforced(parameters: JsonObject, schemas: SchemaDialect): boolean {
  const { strict } = schemas
  if (strict === undefined) return true
  const { schema } = toolSchema(parameters, schemas)
  if (strict === 'closed') return isInStrictSubset(schema)
  return schema === parameters && isEnforceable(schema)
}

function inGrammar(tool: FunctionTool, report: PassReport): FunctionTool {
  const { parameters, at } = tool
  if (!parameters) return tool
  const { schema, lost } = toolSchema(parameters, { plainRoot: true })
  if (isClosable(schema)) {
    for (const code of lost) report.add(code, at, 'parameters')
    return { ...tool, parameters: enforceable(schema, { at, field: 'parameters' }, report) }
  }
  report.add('tool.strict', at, 'strict')
  return { ...tool, strict: false }
}

/** A function as it stands in a body of any protocol. */
type Declared = { name: unknown; schema: unknown; strict: unknown; space: unknown }

/**
 * Has `mendTools` something to do? Reads only what the body declares, so that most requests are
 * neither decoded nor written anew.
 */
export function hasOddTools(
  body: unknown,
  to: UpstreamHalf,
  model: string | undefined,
  options: CodecOptions & ToolOptions,
): boolean {
  const { schemas: taken = 'keep', mostTools: most = Infinity } = options
  if ((!checking.has(taken) && most === Infinity) || !isObject(body)) return false
  // Of two lists of tools, the server decides which one counts.
  if (body['functions'] !== undefined) return false
  const tools = [...declaredIn(body['tools']), ...declaredIn(toolsOf(body['toolConfig']))]
  if (tools.length > most && countOf(tools) > most) return true
  if (!checking.has(taken)) return false
  const format = formatIn(body)
  if (tools.length === 0 && !format) return false
  const request = { messages: [], ...(model !== undefined && { model }) }
  const { toolNames, schemas } = to.demands(request, options)
  const { spellProperty } = toolNames
  const strict = tools.filter(tool => tool.strict === true).map(({ schema }) => schema)
  if (typeof schemas?.strict === 'object') {
    if (format && !fitsAsFormat(format, schemas.strict)) return true
    if (!fitGrammar([format, ...strict], schemas.strict)) return true
  }
  if (format && spellProperty && !areSpelled(format, spellProperty)) return true
  const seen = new Set<string>()
  return tools.some(tool => {
    if (typeof tool.name !== 'string') return false
    const key = JSON.stringify([tool.space, tool.name])
    if (seen.has(key) || toolNames.spell(tool.name) !== tool.name) return true
    seen.add(key)
    return isObject(tool.schema) && isOdd(tool.schema, tool.strict === true, toolNames, schemas)
  })
}

/** All of a namespace count as one. */
const countOf = (tools: readonly Declared[]): number =>
  new Set(tools.map(({ space }, i) => space ?? i)).size

/** Vendors that check tools. */
const checking: ReadonlySet<string> = new Set(['fitting', 'linear', 'plain', 'typed', 'flat'])

function isOdd(
  schema: JsonObject,
  isStrict: boolean,
  { spellProperty }: Demands['toolNames'],
  schemas: SchemaDialect = {},
): boolean {
  if (!allowsObject(schema)) return true
  if (spellProperty && !areSpelled(schema, spellProperty)) return true
  return isStrict && !isEnforced(schema, schemas)
}

/** The schema of the response, in the protocols that have demands on its properties. */
function formatIn({ output_config: config, outputConfig }: JsonObject): JsonObject | undefined {
  const at = (value: unknown, ...keys: string[]) =>
    keys.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value)
  const text = at(outputConfig, 'textFormat', 'structure', 'jsonSchema', 'schema')
  const found =
    typeof text === 'string' ? parseJson(text) : (text ?? at(config, 'format', 'schema'))
  return isObject(found) ? found : undefined
}

const toolsOf = (config: unknown) => (isObject(config) ? config['tools'] : undefined)

/** The functions in a list of tools; those of a namespace are in a list of its own. */
function declaredIn(list: unknown, space?: unknown): Declared[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((tool: unknown): Declared[] => {
    if (!isObject(tool)) return []
    const { function: inner, toolSpec, functionDeclarations, tools } = tool
    if (functionDeclarations) return declaredIn(functionDeclarations)
    if (tools) return declaredIn(tools, tool['name'])
    const holder = [inner, toolSpec].find(isObject) ?? tool
    const { name, strict, parameters, parametersJsonSchema, input_schema, inputSchema } = holder
    const json = isObject(inputSchema) ? inputSchema['json'] : undefined
    const schema = input_schema ?? parameters ?? parametersJsonSchema ?? json
    // Tools of the server have no schema, and names of its own.
    return schema === undefined && holder === tool && tool['type'] !== 'function'
      ? []
      : [{ name, schema, strict, space }]
  })
}
