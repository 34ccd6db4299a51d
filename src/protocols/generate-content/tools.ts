import type { Place } from '../../canonical/message.ts'
import type { FunctionTool, McpServer, ServerTool, Tool } from '../../canonical/tool.ts'
import { TranslationError } from '../../errors.ts'
import { asFunction } from '../../kit/client-tools.ts'
import { defined } from '../../kit/defined.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { refuseForeignTools } from '../../kit/foreign-tools.ts'
import { wrapFreeform } from '../../kit/freeform.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { below, pointerOf } from '../../kit/path.ts'
import { asItStood, decodeSchema } from './json-schema.ts'
import { keep, nulls, ownForm, ownKeys, protocolName } from './own.ts'
import type { GeminiDeclaration, GeminiTool } from './schema.ts'
import { nearestServerTool, serverTools } from './vocabulary.ts'
import type { Reading, RequestWriting } from './writing.ts'

// ---- wire → canonical

/** One entry may hold several tools: each keeps the index of its entry, to be written back there. */
export function decodeTools(wires: GeminiTool | readonly GeminiTool[], reading: Reading): Tool[] {
  return isList(wires)
    ? flatMap(wires, (wire, entry) => decodeEntry(wire, entry, `${reading.root}/tools/${entry}`, reading))
    : decodeEntry(wires, 0, `${reading.root}/tools`, reading)
}

const isList = (wires: GeminiTool | readonly GeminiTool[]): wires is readonly GeminiTool[] => Array.isArray(wires)

function decodeEntry(wire: GeminiTool, entry: number, at: Place, reading: Reading): Tool[] {
  const { functionDeclarations, ...others } = wire
  // A misplaced function: servers of this protocol do not know these fields, and for another protocol the function would be lost.
  if (typeof wire['name'] === 'string' && (isObject(wire['parameters']) || isObject(wire['parametersJsonSchema'])))
    throw new TranslationError({ code: 'malformed', protocol: protocolName, path: reading.place(at) }, 'functions stand in a list under functionDeclarations')
  const functions = (functionDeclarations ?? []).map((declaration, index) =>
    decodeFunction(declaration, reading.place(below(below(at, 'functionDeclarations'), index)), { entry, names: reading.names }),
  )
  const rest: JsonObject = { ...others, ...(functionDeclarations !== undefined && !functionDeclarations?.length && { functionDeclarations }) }
  const beside = flatMap(Object.entries(rest), ([key, value]) => decodeOther(key, value, reading.place(below(at, key)), entry))
  const tools = [...functions, ...beside]
  return tools.length > 0 ? tools : [{ type: 'opaque', protocol: protocolName, raw: wire, at, ...keep({}, {}, { entry }) }]
}

function decodeFunction(wire: GeminiDeclaration, at: Place, { entry, names }: { entry: number; names: Reading['names'] }): FunctionTool {
  const { name, description, parameters, parametersJsonSchema, response, responseJsonSchema, behavior, ...fields } = wire
  const taken = isObject(parametersJsonSchema) ? parametersJsonSchema : (parameters ?? undefined)
  const given = isObject(responseJsonSchema) ? responseJsonSchema : (response ?? undefined)
  if (taken && taken === parameters) names[`${pointerOf(at)}:parameters`] = 'parameters'
  if (given && given === response) names[`${pointerOf(at)}:output`] = 'response'
  const odd = (value: unknown) => value !== undefined && value !== null && !isObject(value)
  return {
    type: 'function',
    name,
    ...defined({
      description: description ?? undefined,
      parameters: taken && decodeSchema(taken),
      output: given && decodeSchema(given),
      async: behavior === 'NON_BLOCKING' || undefined,
    }),
    at,
    ...keep(
      {
        ...fields,
        ...(odd(parametersJsonSchema) && { parametersJsonSchema }),
        ...(odd(responseJsonSchema) && { responseJsonSchema }),
        ...(isObject(parametersJsonSchema) && parameters && { parameters }),
        ...(isObject(responseJsonSchema) && response && { response }),
        ...(behavior != null && !behaviors.has(behavior) && { behavior }),
      },
      { ...nulls(wire), ...(behavior === 'BLOCKING' && { behavior }) },
      {
        entry,
        ...(taken && { parameters: taken, parametersIn: taken === parameters ? 'parameters' : 'parametersJsonSchema' }),
        ...(given && { response: given, responseIn: given === response ? 'response' : 'responseJsonSchema' }),
      },
    ),
  }
}

const behaviors = new Set(['BLOCKING', 'NON_BLOCKING'])

function decodeOther(key: string, value: unknown, at: Place, entry: number): Tool[] {
  const tool = serverTools.get(key)
  const own = keep({}, {}, { entry })
  if (tool === undefined || value === null) return [{ type: 'opaque', protocol: protocolName, raw: { [key]: value }, at, ...own }]
  if (tool === 'mcp' && Array.isArray(value) && value.length > 0)
    return value.map(
      (server: unknown, index): ServerTool => ({
        type: 'server',
        tool,
        protocol: protocolName,
        ...defined({ mcp: decodeServer(server) }),
        raw: { [key]: [server] },
        at: below(at, index),
        ...own,
      }),
    )
  const blockedDomains = isObject(value) ? stringsOf(value['excludeDomains'] ?? value['exclude_domains']) : undefined
  return [{ type: 'server', tool, protocol: protocolName, raw: { [key]: value }, ...(blockedDomains && { common: { blockedDomains } }), at, ...own }]
}

function stringsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.length > 0 && value.every(one => typeof one === 'string') ? (value as string[]) : undefined
}

function decodeServer(server: unknown): McpServer | undefined {
  if (!isObject(server) || typeof server['name'] !== 'string' || !isObject(server['streamableHttpTransport'])) return undefined
  const { name: label, streamableHttpTransport, ...others } = server
  const { url, headers, ...transport } = streamableHttpTransport
  const bearer =
    isObject(headers) && Object.keys(headers).length === 1 ? /^Bearer (.+)$/i.exec(String(headers['Authorization'] ?? headers['authorization'])) : null
  const left = { ...others, ...transport, ...(headers !== undefined && !bearer && { headers }) }
  return {
    label,
    ...defined({ url: typeof url === 'string' ? url : undefined, authorization: bearer?.[1] }),
    approval: false,
    ...(Object.keys(left).length > 0 && { others: left }),
  }
}

// ---- canonical → wire

/** All functions are written in one entry, unless they came in several. */
export function encodeTools(tools: readonly Tool[], writing: RequestWriting): JsonObject[] | undefined {
  const { report, options, native } = writing
  const entries = new Map<string, JsonObject>()
  const entryOf = (tool: Tool, otherwise: string): JsonObject => {
    const entryIndex = native ? ownForm(tool.ext)?.['entry'] : undefined
    const key = typeof entryIndex === 'number' ? `#${entryIndex}` : otherwise
    const entry = entries.get(key) ?? {}
    entries.set(key, entry)
    return entry
  }
  for (const [index, tool] of tools.entries()) {
    const wire = encodeTool(tool, writing)
    if (!wire) continue
    const entry = entryOf(tool, 'function' in wire ? 'functions' : `other ${index}`)
    if (!('function' in wire)) merge(entry, wire)
    else if (Array.isArray(entry['functionDeclarations'])) entry['functionDeclarations'].push(wire['function'])
    else entry['functionDeclarations'] = [wire['function']]
  }
  const written = [...entries.values()]
  if (written.length === 0 && tools.length > 0 && !native && tools.every(({ type }) => type === 'server'))
    refuseForeignTools('tools of the request', { protocol: protocolName, path: tools[0]?.at ?? '/tools', notes: report.notes }, options)
  return written.length > 0 || native ? written : undefined
}

/** Gemini's own servers accept functions beside server tools only if the reply may report the server tools' invocations. */
export function askForInvocations(written: readonly JsonObject[] | undefined, { native, options, report }: RequestWriting): JsonObject | undefined {
  const keys = new Set(flatMap(written ?? [], entry => Object.keys(entry)))
  if (native || options.gcToolInvocations === 'omit' || !keys.has('functionDeclarations') || keys.size < 2) return undefined
  report.add('tool.invocations', '/toolConfig/includeServerSideToolInvocations')
  return { includeServerSideToolInvocations: true }
}

/** Adds a tool to an entry; lists (of MCP servers) are concatenated. */
function merge(entry: JsonObject, wire: JsonObject): void {
  for (const [key, value] of Object.entries(wire)) {
    const before = entry[key]
    entry[key] = Array.isArray(before) && Array.isArray(value) ? [...before, ...(value as unknown[])] : value
  }
}

/** A function's declaration under `function`, or the fields of an entry for another tool. Undefined: it cannot be written. */
function encodeTool(tool: Tool, writing: RequestWriting): JsonObject | undefined {
  const { report } = writing
  switch (tool.type) {
    case 'function':
      return { function: encodeFunction(tool, writing) }
    case 'freeform':
      report.add('freeform.wrapped', tool.at)
      return { function: encodeFunction(wrapFreeform(tool), writing, true) }
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

/** A tool that the client runs itself, as a function. Undefined: it is none, or nobody asked for it. */
export function asDeclared(tool: Tool, { serverTools: all, expandClientTools }: RequestWriting['options']): FunctionTool | undefined {
  return tool.type === 'server' && (all === 'map' || expandClientTools) ? asFunction(tool) : undefined
}

function encodeServerTool(tool: ServerTool, writing: RequestWriting): JsonObject | undefined {
  const { report, options } = writing
  if (tool.protocol === protocolName && isObject(tool.raw)) return tool.raw
  const known = asDeclared(tool, options)
  if (known) {
    report.add('tool.server-mapped', tool.at)
    return { function: encodeFunction(known, writing) }
  }
  const { mcp } = tool
  if (options.serverTools === 'map' && tool.tool === 'mcp' && mcp?.url !== undefined && mcp.allowed === undefined && !mcp.approval) {
    report.add('tool.server-mapped', tool.at)
    report.rest(defined({ deferLoading: mcp.deferLoading || undefined }), mcp.at ?? tool.at)
    const headers = mcp.authorization === undefined ? {} : { headers: { Authorization: `Bearer ${mcp.authorization}` } }
    return { mcpServers: [{ name: mcp.label, streamableHttpTransport: { url: mcp.url, ...headers } }] }
  }
  if (mcp?.at !== undefined) report.add('tool.server', mcp.at)
  const nearest = options.serverTools === 'map' ? nearestServerTool[tool.tool] : undefined
  report.add(nearest ? 'tool.server-mapped' : 'tool.server', tool.at)
  if (nearest === undefined) return undefined
  const { blockedDomains, ...rest } = tool.common ?? {}
  report.rest({ ...rest, ...(nearest !== 'googleSearch' && defined({ blockedDomains })) }, tool.at)
  return { [nearest]: nearest === 'googleSearch' ? defined({ excludeDomains: blockedDomains }) : {} }
}

function encodeFunction(tool: FunctionTool, { report, toolName }: RequestWriting, wrapped = false): JsonObject {
  const {
    type: _,
    name,
    namespace,
    namespaceDescription,
    namespaceFields,
    description,
    parameters,
    strict,
    strictImplied: _implied,
    output,
    examples,
    deferLoading,
    allowedCallers,
    async,
    eagerStreaming,
    cache,
    at,
    ext,
    ...rest
  } = tool
  const callers = allowedCallers?.every(caller => caller === 'direct') ? undefined : allowedCallers
  report.rest(
    {
      ...rest,
      ...defined({
        namespaceDescription,
        namespaceFields,
        examples,
        deferLoading: deferLoading || undefined,
        allowedCallers: callers,
        eagerStreaming: eagerStreaming || undefined,
        cache,
        strict: strict || undefined,
      }),
    },
    at,
  )
  report.ext(ext, at)
  const form = ownForm(tool.ext)
  const place = (key: unknown, otherwise: string) => (typeof key === 'string' ? key : otherwise)
  const taken = form && asItStood(parameters, form['parameters'])
  const given = form && asItStood(output, form['response'])
  return {
    ...ownKeys(tool.ext),
    name: toolName(name, namespace, at, wrapped),
    ...defined({ description }),
    ...(parameters && { [taken ? place(form?.['parametersIn'], 'parametersJsonSchema') : 'parametersJsonSchema']: taken ?? parameters }),
    ...(output !== undefined && output !== null && { [given ? place(form?.['responseIn'], 'responseJsonSchema') : 'responseJsonSchema']: given ?? output }),
    ...(async && { behavior: 'NON_BLOCKING' }),
  }
}
