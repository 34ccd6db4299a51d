import type { Place } from '../../../canonical/message.ts'
import type {
  FreeformTool,
  FunctionTool,
  McpServer,
  ServerTool,
  Tool,
} from '../../../canonical/tool.ts'
import { bookOf, keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import { asRead, type Undefinable, type Written } from '../../../kit/schema/written.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { asFunction } from '../../../kit/tools/client-tools.ts'
import { mapSchemas } from '../../../kit/tools/schema-subset.ts'
import { contextSizeIn, userLocationIn } from '../../../kit/tools/web-search.ts'
import { keep, protocolName, type ResponsesReport, wireOf } from '../own.ts'
import {
  ResponsesAddedTools,
  type ResponsesCustomTool,
  type ResponsesFunctionTool,
  type ResponsesNamespaceTool,
  type ResponsesTool,
} from '../schema.ts'
import { serverToolKind } from '../vocabulary.ts'
import type { ResponsesHosted, ResponsesWrittenCustom, ResponsesWrittenTool } from '../written.ts'
import type { Writing } from './writing.ts'

/** `tools` of a request or of an item that adds tools. A namespace is replaced by its tools. */
export function decodeTools(
  wire: readonly ResponsesTool[],
  at: Place,
  report?: ResponsesReport,
): Tool[] {
  return flatMap(wire, (tool, index) => decodeTool(tool, below(at, index), report))
}

/**
 * The tools of an item that adds some. Undefined: it has no list. Items are kept as they are, so
 * their schema does not check their tools.
 * @throws TranslationError `malformed` for a tool that cannot be one
 */
export function decodeAddedTools(
  wire: JsonObject,
  at: Place,
  report?: ResponsesReport,
): Tool[] | undefined {
  const path = pointerOf(at)
  const { tools } = check(protocolName, ResponsesAddedTools, wire, inner => path + inner)
  return tools ? decodeTools(tools, below(at, 'tools'), report) : undefined
}

function decodeTool(wire: ResponsesTool, at: Place, report?: ResponsesReport): Tool | Tool[] {
  switch (wire.type) {
    case 'function':
      return decodeFunction(wire as ResponsesFunctionTool, at, report)
    case 'custom':
      return decodeCustom(wire as ResponsesCustomTool, at)
    case 'namespace':
      return decodeNamespace(wire as ResponsesNamespaceTool, at, report)
    default: {
      const tool = serverToolKind(wire.type)
      return tool
        ? decodeServerTool(wire, tool, at)
        : { type: 'opaque', protocol: protocolName, raw: wire, at }
    }
  }
}

const functionKeys = keysOf<ResponsesFunctionTool>()(
  'type name description parameters strict defer_loading allowed_callers async output_schema',
)
const customKeys = keysOf<ResponsesCustomTool>()(
  'type name description format defer_loading allowed_callers async',
)
const namespaceKeys = keysOf<ResponsesNamespaceTool>()('type name description tools')

function decodeFunction(
  wire: ResponsesFunctionTool,
  at: Place,
  report?: ResponsesReport,
): FunctionTool {
  const { description, parameters, strict, output_schema: output } = wire
  const tool: FunctionTool = { type: 'function', name: wire.name, at }
  if (description != null) tool.description = description
  const plain = parameters && withoutAnnotations(parameters)
  if (plain !== parameters) report?.add('tool.annotation', at, 'parameters')
  if (plain !== undefined) tool.parameters = plain
  if (strict !== undefined) tool.strict = strict
  else if (isStrictSchema(parameters)) {
    tool.strict = true
    tool.strictImplied = true
  } else if (parameters) report?.once('tool.schema-normalized', at, 'parameters')
  decodeCalling(tool, wire)
  if (output != null) tool.output = output
  return keep(tool, unknownOf(wire, functionKeys))
}

/** Reads when, how and by whom the tool is called. */
function decodeCalling(
  tool: FunctionTool | FreeformTool,
  wire: ResponsesFunctionTool | ResponsesCustomTool,
): void {
  if (wire.defer_loading != null) tool.deferLoading = wire.defer_loading
  if (wire.allowed_callers != null) tool.allowedCallers = wire.allowed_callers
  if (wire.async != null) tool.async = wire.async
}

/**
 * Without `encrypted: true`, which clients write on values that only the provider can read. Servers
 * of other protocols refuse unknown keywords.
 */
export const withoutAnnotations = (schema: JsonObject): JsonObject =>
  mapSchemas(schema, one => {
    const { encrypted, ...plain } = one
    return encrypted === true ? plain : one
  })

/** Does the schema meet the rules of `strict`: every property required, no additional ones? */
function isStrictSchema(schema: JsonObject | null | undefined): boolean {
  if (schema?.['additionalProperties'] !== false || !isObject(schema['properties'])) return false
  const { required } = schema
  if (!Array.isArray(required)) return false
  const wanted = new Set<unknown>(required)
  return Object.keys(schema['properties']).every(key => wanted.has(key))
}

function decodeCustom(wire: ResponsesCustomTool, at: Place): FreeformTool {
  const { description, format: wireFormat } = wire
  const tool: FreeformTool = { type: 'freeform', name: wire.name, at }
  if (description != null) tool.description = description
  const format = decodeFormat(wireFormat)
  if (format) tool.format = format
  decodeCalling(tool, wire)
  return keep(
    tool,
    unknownOf(wire, customKeys),
    wireFormat && !format ? { format: wireFormat } : undefined,
  )
}

function decodeFormat(format: JsonObject | null | undefined): FreeformTool['format'] {
  if (!format) return undefined
  const { type, syntax, definition, ...rest } = format
  if (Object.keys(rest).length > 0) return undefined
  if (type === 'text' && syntax === undefined && definition === undefined) return { type: 'text' }
  if (type === 'grammar' && typeof syntax === 'string' && typeof definition === 'string')
    return { type: 'grammar', syntax, definition }
  return undefined
}

/** The first inner tool keeps the namespace's own fields. */
function decodeNamespace(
  wire: ResponsesNamespaceTool,
  at: Place,
  report?: ResponsesReport,
): Tool | Tool[] {
  const { name: namespace, description, tools } = wire
  // A namespace inside a namespace cannot be called, and the schema does not check its tools.
  const isFlat =
    Array.isArray(tools) && tools.every(tool => isObject(tool) && tool.type !== 'namespace')
  const inner = isFlat ? decodeTools(tools, below(at, 'tools'), report) : []
  if (inner.length === 0 || !inner.every(isCallable))
    return { type: 'opaque', protocol: protocolName, raw: wire, at }
  for (const tool of inner) tool.namespace = namespace
  const [first] = inner
  const fields = unknownOf(wire, namespaceKeys)
  if (first && description != null) first.namespaceDescription = description
  if (first && fields) first.namespaceFields = fields
  return inner
}

const isCallable = (tool: Tool): tool is FunctionTool | FreeformTool =>
  tool.type === 'function' || tool.type === 'freeform'

function decodeServerTool(
  wire: JsonObject & { type: string },
  tool: ServerTool['tool'],
  at: Place,
): ServerTool {
  const { filters, search_context_size: size, user_location: place, server_label: label } = wire
  const domains =
    isObject(filters) && Array.isArray(filters['allowed_domains'])
      ? filters['allowed_domains'].filter(one => typeof one === 'string')
      : undefined
  const common: NonNullable<ServerTool['common']> = {
    ...(domains && { allowedDomains: domains }),
    ...omitUndefined({ contextSize: contextSizeIn(size), userLocation: userLocationIn(place) }),
  }
  const environment = isObject(wire['environment']) ? wire['environment']['type'] : undefined
  const clientExecuted =
    tool === 'computer' ||
    tool === 'apply_patch' ||
    wire.type === 'local_shell' ||
    environment === 'local' ||
    (tool === 'tool_search' && wire['execution'] === 'client')
  return {
    type: 'server',
    tool,
    protocol: protocolName,
    ...(typeof label === 'string' && { name: label }),
    ...(clientExecuted && { clientExecuted }),
    raw: wire,
    ...(Object.keys(common).length > 0 && { common }),
    ...(wire.type === 'mcp' && omitUndefined({ mcp: decodeMcp(wire) })),
    at,
  }
}

/** Tools that cannot be written are left out; neighbours of one namespace are grouped again. */
export function encodeTools(tools: readonly Tool[], writing: Writing): ResponsesWrittenTool[] {
  const out: ResponsesWrittenTool[] = []
  let group: { namespace: string; tools: ResponsesWrittenTool[] } | undefined
  for (const tool of tools) {
    const wire = encodeTool(tool, writing)
    if (!wire) continue
    const namespace = isCallable(tool) ? tool.namespace : undefined
    if (namespace === undefined || !isCallable(tool)) {
      group = undefined
      out.push(wire)
      continue
    }
    if (group?.namespace !== namespace) {
      group = { namespace, tools: [] }
      out.push(encodeNamespace(tool, namespace, group.tools, writing))
    }
    group.tools.push(wire)
  }
  return out
}

function encodeNamespace(
  tool: FunctionTool | FreeformTool,
  name: string,
  tools: ResponsesWrittenTool[],
  { report, native }: Writing,
): ResponsesWrittenTool {
  const { namespaceDescription: description, namespaceFields } = tool
  const wire: ResponsesWrittenTool = {
    ...(native && namespaceFields),
    type: 'namespace',
    name,
    description: description ?? '',
    tools,
  }
  if (description === undefined) report.addMade('tool.namespace-description', wire, '/description')
  return wire
}

function encodeTool(tool: Tool, writing: Writing): ResponsesWrittenTool | undefined {
  const { report } = writing
  switch (tool.type) {
    case 'function':
      return encodeFunction(tool, writing)
    case 'freeform':
      return encodeFreeform(tool, writing)
    case 'server':
      return encodeServerTool(tool, writing)
    case 'opaque':
      if (tool.protocol === protocolName && isObject(tool.raw)) return asRead(tool.raw)
      report.add('tool.unknown', tool.at)
      return undefined
    default:
      return tool satisfies never
  }
}

const handledOfFreeform = keysOf<FreeformTool>()(
  'type name description format deferLoading allowedCallers async namespace',
  'namespaceDescription namespaceFields at ext',
)

function encodeFreeform(tool: FreeformTool, writing: Writing): ResponsesWrittenTool {
  noteNamespace(tool, writing)
  writing.report.node(tool, handledOfFreeform)
  return wireOf<ResponsesWrittenCustom>(
    { type: 'custom', ...encodeCalling(tool, writing), format: tool.format },
    tool.ext,
  )
}

const handledOfFunction = bookOf<FunctionTool>()(
  { 'cache.unsupported': 'cache' },
  'type name description parameters strict strictImplied output deferLoading allowedCallers',
  'async namespace namespaceDescription namespaceFields builtIn at ext',
)

function encodeFunction(tool: FunctionTool, writing: Writing): ResponsesWrittenTool {
  const { parameters = null, strict, strictImplied } = tool
  const { report, native } = writing
  noteNamespace(tool, writing)
  report.node(tool, handledOfFunction)
  if (isObject(tool.builtIn)) return asRead(tool.builtIn)
  // Without `strict`, the server rewrites the schema.
  const given = strictImplied && strict === true ? undefined : strict
  const strictHere = native ? given : (strict ?? false)
  return wireOf<Written<ResponsesFunctionTool>>(
    {
      type: 'function',
      ...encodeCalling(tool, writing),
      output_schema: tool.output,
      parameters,
      strict: strictHere,
    },
    tool.ext,
  )
}

/** The fields that all tools which the client runs have. */
function encodeCalling(
  tool: FunctionTool | FreeformTool,
  writing: Writing,
): Pick<
  Written<ResponsesFunctionTool>,
  'name' | 'description' | 'defer_loading' | 'allowed_callers' | 'async'
> {
  return {
    name: tool.name,
    description: tool.description,
    defer_loading: encodeDefer(tool, writing),
    allowed_callers: encodeCallers(tool.allowedCallers, tool, writing),
    async: tool.async,
  }
}

/** Unknown keys of a namespace are written by their own protocol only. */
function noteNamespace(
  { namespaceFields, at }: FunctionTool | FreeformTool,
  { native, report }: Writing,
): void {
  if (namespaceFields && !native) report.rest({ namespaceFields }, at)
}

/**
 * `defer_loading`. Left out where no tool search is written: servers refuse it, and nothing would
 * load the tool.
 */
function encodeDefer(
  { deferLoading, at }: FunctionTool | FreeformTool,
  { loads, report }: Writing,
): boolean | undefined {
  if (!loads || !deferLoading) return deferLoading
  report.add('tool.loaded', at, 'deferLoading')
  return undefined
}

/** `allowed_callers`; other providers have other values for their code execution. */
function encodeCallers(
  callers: string[] | undefined,
  tool: Tool,
  { native, report }: Writing,
): string[] | undefined {
  if (native || !callers || callers.every(isCaller)) return callers
  const known = [...new Set(callers.filter(isCaller))]
  report.add('tool.callers', tool.at, 'allowedCallers')
  return known.length > 0 ? known : undefined
}

const isCaller = (word: string) => word === 'direct' || word === 'programmatic'

function encodeServerTool(tool: ServerTool, writing: Writing): ResponsesWrittenTool | undefined {
  const { raw, common, at } = tool
  const { options, report } = writing
  report.ext(tool.ext, at)
  if (tool.protocol === protocolName && isObject(raw)) return asRead(raw)
  const expanded = options.expandClientTools ? asFunction(tool) : undefined
  if (expanded) {
    report.add('tool.expanded', at)
    return encodeFunction(expanded, writing)
  }
  const mapped = options.serverTools === 'map' ? nearestOf(tool) : undefined
  report.add(mapped ? 'tool.server-mapped' : 'tool.server', at)
  if (!mapped && tool.mcp?.at !== undefined) report.add('tool.server', tool.mcp.at)
  if (mapped && tool.tool === 'mcp') report.rest(tool.mcp?.others ?? {}, at)
  if (mapped && tool.tool === 'web_search') {
    const {
      allowedDomains: _domains,
      contextSize: _size,
      userLocation: _place,
      ...rest
    } = common ?? {}
    report.rest(rest, at)
  }
  return mapped
}

/** The closest equivalent among the tools of this provider. */
export function nearestOf({ tool, mcp, common }: ServerTool): ResponsesHosted | undefined {
  const { allowedDomains, contextSize, userLocation } = common ?? {}
  switch (tool) {
    case 'web_search':
      return omitUndefined<Undefinable<Extract<ResponsesHosted, { type: 'web_search' }>>>({
        type: 'web_search',
        filters: allowedDomains && { allowed_domains: allowedDomains },
        search_context_size: contextSize,
        user_location: userLocation && { type: 'approximate', ...userLocation },
      })
    case 'code_execution':
      return { type: 'code_interpreter', container: { type: 'auto' } }
    case 'tool_search':
      return { type: 'tool_search' }
    case 'mcp':
      return encodeMcp(mcp)
    default:
      return undefined
  }
}

/** An MCP server that the provider calls. Undefined: it has no label. */
function decodeMcp(wire: JsonObject): McpServer | undefined {
  const {
    type: _,
    server_label: label,
    server_url: url,
    authorization,
    allowed_tools,
    require_approval,
    defer_loading,
    ...rest
  } = wire
  if (typeof label !== 'string') return undefined
  const { tool_names, ...filter } = isObject(allowed_tools)
    ? allowed_tools
    : { tool_names: allowed_tools }
  const allowed =
    Array.isArray(tool_names) && tool_names.every(one => typeof one === 'string')
      ? (tool_names as string[])
      : undefined
  const others = Object.fromEntries(
    Object.entries({ ...rest, ...(Object.keys(filter).length > 0 && { allowed_tools }) }).filter(
      ([, value]) => value !== null,
    ),
  )
  return {
    label,
    ...omitUndefined({
      url: typeof url === 'string' ? url : undefined,
      authorization: typeof authorization === 'string' ? authorization : undefined,
      allowed,
      deferLoading: defer_loading === true ? true : undefined,
    }),
    approval: require_approval !== 'never',
    ...(Object.keys(others).length > 0 && { others }),
  }
}

/** Undefined: its URL is not known. */
function encodeMcp(mcp: McpServer | undefined): ResponsesHosted | undefined {
  if (mcp?.url === undefined) return undefined
  const { label, url, authorization, allowed, deferLoading, approval } = mcp
  // Without `require_approval`, the client has to approve each call.
  return {
    type: 'mcp',
    server_label: label,
    server_url: url,
    ...omitUndefined({ authorization, allowed_tools: allowed, defer_loading: deferLoading }),
    ...(!approval && { require_approval: 'never' }),
  }
}
