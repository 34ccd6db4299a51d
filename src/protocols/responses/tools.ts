import type { Place } from '../../canonical/message.ts'
import type { FreeformTool, FunctionTool, ServerTool, Tool } from '../../canonical/tool.ts'
import { asFunction } from '../../kit/client-tools.ts'
import { defined } from '../../kit/defined.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { mapName } from '../../kit/ids.ts'
import { isObject, type JsonObject, same } from '../../kit/json.ts'
import { below, pointerOf } from '../../kit/path.ts'
import { mapSchemas } from '../../kit/schema-subset.ts'
import { decodeMcp, encodeMcp } from './mcp.ts'
import type { ResponsesReport } from './notes.ts'
import { keep, nulls, ownForm, protocolName, wireOf } from './own.ts'
import type { ResponsesCustomTool, ResponsesFunctionTool, ResponsesNamespaceTool, ResponsesTool } from './schema.ts'
import { serverToolKind } from './vocabulary.ts'
import type { Writing } from './writing.ts'

/** `tools` of a request or of an item that adds tools. A namespace is replaced by its tools. */
export function decodeTools(wire: readonly ResponsesTool[], at: Place, report?: ResponsesReport): Tool[] {
  return flatMap(wire, (tool, index) => decodeTool(tool, below(at, index), report))
}

/** The tools of an item that adds some. Undefined: it has no list. */
export function decodeAddedTools({ tools }: JsonObject, at: Place, report?: ResponsesReport): Tool[] | undefined {
  const isTyped = (tool: unknown): tool is ResponsesTool => isObject(tool) && typeof tool['type'] === 'string'
  return Array.isArray(tools) ? decodeTools(tools.filter(isTyped), below(at, 'tools'), report) : undefined
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
      return tool ? decodeServerTool(wire, tool, at) : { type: 'opaque', protocol: protocolName, raw: wire, at }
    }
  }
}

function decodeFunction(wire: ResponsesFunctionTool, at: Place, report?: ResponsesReport): FunctionTool {
  const { type: _, name, description, parameters, strict, defer_loading, allowed_callers, async, output_schema, ...rest } = wire
  const implied = strict === undefined && isStrictSchema(parameters)
  const plain = parameters && withoutAnnotations(parameters)
  if (plain !== parameters) report?.add('tool.annotation', at, 'parameters')
  if (strict === undefined && !implied && parameters) report?.once('tool.schema-normalised', at, 'strict')
  return {
    type: 'function',
    name,
    ...defined({
      description: description ?? undefined,
      parameters: plain,
      strict: implied ? true : strict,
      strictImplied: implied ? (true as const) : undefined,
      deferLoading: defer_loading ?? undefined,
      allowedCallers: allowed_callers ?? undefined,
      async: async ?? undefined,
      output: output_schema ?? undefined,
    }),
    at,
    ...keep(rest, nulls(wire), { ...(implied && { implied }), ...(plain !== parameters && { annotated: parameters }) }),
  }
}

/** Without `encrypted: true`, which clients write on values that only the provider can read. Servers of other protocols refuse unknown keywords. */
export const withoutAnnotations = (schema: JsonObject): JsonObject =>
  mapSchemas(schema, one => {
    const { encrypted, ...plain } = one
    return encrypted === true ? plain : one
  })

/** The schema with the annotations that it came with, unless it has changed since. `annotated`: how it came. */
export const withAnnotations = <Schema extends JsonObject | null | undefined>(schema: Schema, annotated: unknown): Schema | JsonObject =>
  isObject(annotated) && same(withoutAnnotations(annotated), schema) ? annotated : schema

/** Does the schema meet the rules of `strict`: every property required, no additional ones? */
function isStrictSchema(schema: JsonObject | null | undefined): boolean {
  if (schema?.['additionalProperties'] !== false || !isObject(schema['properties'])) return false
  const { required } = schema
  return Array.isArray(required) && Object.keys(schema['properties']).every(key => required.includes(key))
}

function decodeCustom(wire: ResponsesCustomTool, at: Place): FreeformTool {
  const { type: _, name, description, format, defer_loading, allowed_callers, async, ...rest } = wire
  const known = decodeFormat(format)
  return {
    type: 'freeform',
    name,
    ...defined({
      description: description ?? undefined,
      format: known,
      deferLoading: defer_loading ?? undefined,
      allowedCallers: allowed_callers ?? undefined,
      async: async ?? undefined,
    }),
    at,
    ...keep(format && !known ? { ...rest, format } : rest, nulls(wire), {}),
  }
}

function decodeFormat(format: JsonObject | null | undefined): FreeformTool['format'] {
  if (!format) return undefined
  const { type, syntax, definition, ...rest } = format
  if (Object.keys(rest).length > 0) return undefined
  if (type === 'text' && syntax === undefined && definition === undefined) return { type: 'text' }
  if (type === 'grammar' && typeof syntax === 'string' && typeof definition === 'string') return { type: 'grammar', syntax, definition }
  return undefined
}

/** The first inner tool keeps the namespace's own fields. */
function decodeNamespace(wire: ResponsesNamespaceTool, at: Place, report?: ResponsesReport): Tool | Tool[] {
  const { type: _, name: namespace, description, tools, ...rest } = wire
  // A namespace inside a namespace cannot be called, and the schema does not check its tools.
  const isFlat = Array.isArray(tools) && tools.every(tool => isObject(tool) && tool.type !== 'namespace')
  const inner = isFlat ? decodeTools(tools, below(at, 'tools'), report) : []
  if (inner.length === 0 || !inner.every(isCallable)) return { type: 'opaque', protocol: protocolName, raw: wire, at }
  return inner.filter(isCallable).map((tool, index) => {
    const ext = tool.ext?.[protocolName]
    const form = { ...ext?.form, namespace: pointerOf(at), ...(description === null && { namespaceNulls: ['description'] }) }
    const said = { ...(description != null && { namespaceDescription: description }), ...(Object.keys(rest).length > 0 && { namespaceFields: rest }) }
    return { ...tool, namespace, ...(index === 0 && said), ext: { [protocolName]: { ...ext, form } } }
  })
}

const isCallable = (tool: Tool): tool is FunctionTool | FreeformTool => tool.type === 'function' || tool.type === 'freeform'

function decodeServerTool(wire: JsonObject & { type: string }, tool: ServerTool['tool'], at: Place): ServerTool {
  const { filters, search_context_size: size, user_location: place, server_label: label } = wire
  const domains = isObject(filters) && Array.isArray(filters['allowed_domains']) ? filters['allowed_domains'].filter(one => typeof one === 'string') : undefined
  const common: NonNullable<ServerTool['common']> = {
    ...(domains && { allowedDomains: domains }),
    ...((size === 'low' || size === 'medium' || size === 'high') && { contextSize: size }),
    ...(isObject(place) && { userLocation: decodePlace(place) }),
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
    ...(wire.type === 'mcp' && defined({ mcp: decodeMcp(wire) })),
    at,
  }
}

function decodePlace(place: JsonObject) {
  const asText = (key: string) => (typeof place[key] === 'string' ? place[key] : undefined)
  return defined({ city: asText('city'), country: asText('country'), region: asText('region'), timezone: asText('timezone') })
}

/** Tools that cannot be written are left out; neighbours of one namespace are grouped again. */
export function encodeTools(tools: readonly Tool[], writing: Writing): JsonObject[] {
  const out: JsonObject[] = []
  let group: { key: string; tools: JsonObject[] } | undefined
  for (const tool of tools) {
    const wire = encodeTool(tool, writing)
    if (!wire) continue
    const namespace = isCallable(tool) ? tool.namespace : undefined
    if (namespace === undefined || !isCallable(tool)) {
      group = undefined
      out.push(wire)
      continue
    }
    const key = `${namespace} ${String(ownForm(tool.ext)?.['namespace'] ?? '')}`
    if (group?.key !== key) {
      group = { key, tools: [] }
      out.push(encodeNamespace(tool, namespace, group.tools, writing))
    }
    group.tools.push(wire)
  }
  return out
}

function encodeNamespace(tool: FunctionTool | FreeformTool, name: string, tools: JsonObject[], { report }: Writing): JsonObject {
  const { namespaceDescription: description, namespaceFields: fields } = tool
  const form = ownForm(tool.ext)
  const said = description !== undefined ? { description } : form?.['namespaceNulls'] ? { description: null } : {}
  if (!form?.['namespace']) {
    if (description !== undefined) return { type: 'namespace', name, description, tools }
    const wire = { type: 'namespace', name, description: '', tools }
    report.addMade('tool.namespace-description', wire, '/description')
    return wire
  }
  return { ...fields, type: 'namespace', name, ...said, tools }
}

function encodeTool(tool: Tool, writing: Writing): JsonObject | undefined {
  const { report } = writing
  report.ext(tool.ext, tool.at)
  switch (tool.type) {
    case 'function':
      return encodeFunction(tool, writing)
    case 'freeform': {
      const { type: _, name, description, format, deferLoading: _defer, allowedCallers, async, at: _at, ext: _ext, ...rest } = tool
      report.rest(withoutNamespace(rest, tool), tool.at)
      const known = { description, format, defer_loading: encodeDefer(tool, writing), allowed_callers: encodeCallers(allowedCallers, tool, writing), async }
      return wireOf({ type: 'custom', name: encodeName(name, tool.at, writing), ...known }, tool.ext)
    }
    case 'server':
      return encodeServerTool(tool, writing)
    case 'opaque':
      if (tool.protocol === protocolName && isObject(tool.raw)) return tool.raw
      report.add('tool.unknown', tool.at)
      return undefined
    default:
      return tool satisfies never
  }
}

function encodeFunction(tool: FunctionTool, writing: Writing): JsonObject {
  const {
    type: _,
    name,
    description,
    parameters,
    strict,
    strictImplied: _implied,
    output,
    deferLoading: _defer,
    allowedCallers,
    async,
    cache,
    at,
    ext: _ext,
    ...rest
  } = tool
  const { report } = writing
  report.rest(withoutNamespace(rest, tool), at)
  if (cache) report.add('cache.place', at, 'cache')
  const form = ownForm(tool.ext)
  // A tool that the client runs, which other providers have as a function.
  if (isObject(form?.['client'])) return form['client']
  const callers = encodeCallers(allowedCallers, tool, writing)
  const known = { description, defer_loading: encodeDefer(tool, writing), allowed_callers: callers, async, output_schema: output }
  if (!form) return defined({ type: 'function', name: encodeName(name, at, writing), ...known, parameters: parameters ?? null, strict: strict ?? false })
  const said = form['implied'] && strict === true ? undefined : strict
  const shown = withAnnotations(parameters, form['annotated'])
  return wireOf({ type: 'function', name: encodeName(name, at, writing), ...known, parameters: shown, strict: said }, tool.ext)
}

/** `defer_loading`. Left out where no tool search is written: servers refuse it, and nothing would load the tool. */
function encodeDefer({ deferLoading, at }: FunctionTool | FreeformTool, { loads, report }: Writing): boolean | undefined {
  if (!loads || !deferLoading) return deferLoading
  report.add('tool.loaded', at, 'deferLoading')
  return undefined
}

/** Is no tool search written? */
export function lacksSearch(tools: readonly Tool[] = [], { native, options }: Writing): boolean {
  if (native) return false
  return !tools.some(tool => tool.type === 'server' && tool.tool === 'tool_search' && (options.serverTools === 'map' || tool.protocol === protocolName))
}

/** `allowed_callers`; other providers have other values for their code execution. */
function encodeCallers(callers: string[] | undefined, tool: Tool, { native, report, options }: Writing): string[] | undefined {
  if (native || !callers || callers.every(isCaller)) return callers
  const known = [...new Set(flatMap(callers, one => (isCaller(one) ? one : options.foreignCallers === 'map' ? 'programmatic' : [])))]
  report.add(options.foreignCallers === 'map' ? 'tool.callers-mapped' : 'tool.callers', tool.at, 'allowedCallers')
  return known.length > 0 ? known : undefined
}

const isCaller = (word: string) => word === 'direct' || word === 'programmatic'

/** The fields without those that `encodeNamespace` writes around the tool. */
function withoutNamespace(left: JsonObject, tool: Tool): JsonObject {
  const { namespace: _, namespaceDescription: _description, namespaceFields, ...rest } = left
  return ownForm(tool.ext) ? rest : { ...rest, namespaceFields }
}

/** The name of a tool on the wire. A changed name is noted at its first use, and kept for the answer. */
export function encodeName(name: string, at: Place | undefined, { native, report, target, tools }: Writing): string {
  // An answer has the names that the client gave its tools.
  if (native || target === 'output') return name
  const wire = mapName(name, 128)
  if (wire !== name && !Object.hasOwn(tools, wire)) {
    report.add('tool.renamed', at, 'name')
    tools[wire] = { name }
  }
  return wire
}

function encodeServerTool(tool: ServerTool, writing: Writing): JsonObject | undefined {
  const { raw, common, at } = tool
  const { options, report } = writing
  if (tool.protocol === protocolName && isObject(raw)) return raw
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
    const { allowedDomains: _domains, contextSize: _size, userLocation: _place, ...rest } = common ?? {}
    report.rest(rest, at)
  }
  return mapped
}

/** The closest equivalent among the tools of this provider. */
export function nearestOf({ tool, mcp, common }: ServerTool): JsonObject | undefined {
  const { allowedDomains, contextSize, userLocation } = common ?? {}
  switch (tool) {
    case 'web_search':
      return defined({
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
