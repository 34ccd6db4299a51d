import type { Place } from '../../../canonical/message.ts'
import type {
  FunctionTool,
  JsonSchema,
  McpServer,
  ServerTool,
  Tool,
} from '../../../canonical/tool.ts'
import { TranslationError } from '../../../errors.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined } from '../../../kit/fields/omit.ts'
import { withDigitsOf } from '../../../kit/json/digits.ts'
import { isObject, type JsonObject, setOwn } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { append } from '../../../kit/text/append.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { asFunction } from '../../../kit/tools/client-tools.ts'
import { refuseForeignTools } from '../../../kit/tools/foreign-tools.ts'
import { extOf, ownFields, protocolName } from '../own.ts'
import type { GenerateContentDeclaration, GenerateContentTool } from '../schema.ts'
import { nearestServerTool, serverTools } from '../vocabulary.ts'
import type {
  GenerateContentWrittenDeclaration,
  GenerateContentWrittenTool,
  GenerateContentWrittenToolConfig,
} from '../written.ts'
import type { Reading, RequestWriting } from './writing.ts'

// ---- wire → canonical

/** One entry may hold several tools. */
export function decodeTools(
  wires: GenerateContentTool | readonly GenerateContentTool[],
  reading: Reading,
): Tool[] {
  return isList(wires)
    ? flatMap(wires, (wire, entry) => decodeEntry(wire, `${reading.root}/tools/${entry}`, reading))
    : decodeEntry(wires, `${reading.root}/tools`, reading)
}

const isList = (
  wires: GenerateContentTool | readonly GenerateContentTool[],
): wires is readonly GenerateContentTool[] => Array.isArray(wires)

function decodeEntry(wire: GenerateContentTool, at: Place, reading: Reading): Tool[] {
  // A misplaced function: servers of this protocol do not know these fields, and for another
  // protocol the function would be lost.
  if (
    typeof wire['name'] === 'string' &&
    (isObject(wire['parameters']) || isObject(wire['parametersJsonSchema']))
  )
    throw new TranslationError(
      { code: 'malformed', protocol: protocolName, path: reading.place(at) },
      'functions must be in a list under functionDeclarations',
    )
  const tools: Tool[] = (wire.functionDeclarations ?? []).map((declaration, index) =>
    decodeFunction(
      declaration,
      reading.place(below(below(at, 'functionDeclarations'), index)),
      reading,
    ),
  )
  for (const key in wire)
    if (key !== 'functionDeclarations' && wire[key] !== null)
      append(tools, decodeOther(key, wire[key], reading.place(below(at, key))))
  return tools
}

const knownDeclaration = keysOf<GenerateContentDeclaration>()(
  'name description parameters parametersJsonSchema response responseJsonSchema behavior',
)

function decodeFunction(
  wire: GenerateContentDeclaration,
  at: Place,
  { names }: Reading,
): FunctionTool {
  const { name, description, parametersJsonSchema, responseJsonSchema, behavior } = wire
  const parameters = isObject(parametersJsonSchema) ? parametersJsonSchema : wire.parameters
  const output = isObject(responseJsonSchema) ? responseJsonSchema : wire.response
  if (parameters && parameters === wire.parameters)
    names[`${pointerOf(at)}:parameters`] = 'parameters'
  if (output && output === wire.response) names[`${pointerOf(at)}:output`] = 'response'
  return {
    type: 'function',
    name,
    ...omitNullish({
      description,
      parameters: parameters && decodeSchema(parameters),
      output: output && decodeSchema(output),
      async: behavior === 'NON_BLOCKING' || undefined,
    }),
    at,
    ...omitUndefined({
      ext: extOf({
        ...unknownOf(wire, knownDeclaration),
        parametersJsonSchema:
          parametersJsonSchema === parameters ? undefined : parametersJsonSchema,
        parameters: wire.parameters === parameters ? undefined : wire.parameters,
        responseJsonSchema: responseJsonSchema === output ? undefined : responseJsonSchema,
        response: wire.response === output ? undefined : wire.response,
        behavior: behavior != null && behaviors.has(behavior) ? undefined : behavior,
      }),
    }),
  }
}

const behaviors = new Set(['BLOCKING', 'NON_BLOCKING'])

function decodeOther(key: string, value: unknown, at: Place): Tool[] {
  const tool = serverTools.get(key)
  if (tool === undefined)
    return [{ type: 'opaque', protocol: protocolName, raw: { [key]: value }, at }]
  if (tool === 'mcp' && Array.isArray(value) && value.length > 0)
    return value.map(
      (server: unknown, index): ServerTool => ({
        type: 'server',
        tool,
        protocol: protocolName,
        ...omitUndefined({ mcp: decodeServer(server) }),
        raw: { [key]: [server] },
        at: below(at, index),
      }),
    )
  const blockedDomains = isObject(value)
    ? stringsOf(value['excludeDomains'] ?? value['exclude_domains'])
    : undefined
  return [
    {
      type: 'server',
      tool,
      protocol: protocolName,
      raw: { [key]: value },
      ...(blockedDomains && { common: { blockedDomains } }),
      at,
    },
  ]
}

function stringsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.length > 0 && value.every(one => typeof one === 'string')
    ? (value as string[])
    : undefined
}

function decodeServer(server: unknown): McpServer | undefined {
  if (
    !isObject(server) ||
    typeof server['name'] !== 'string' ||
    !isObject(server['streamableHttpTransport'])
  )
    return undefined
  const { name: label, streamableHttpTransport, ...others } = server
  const { url, headers, ...transport } = streamableHttpTransport
  const bearer =
    isObject(headers) && Object.keys(headers).length === 1
      ? /^Bearer (.+)$/i.exec(String(headers['Authorization'] ?? headers['authorization']))
      : null
  const left = { ...others, ...transport, ...(headers !== undefined && !bearer && { headers }) }
  return {
    label,
    ...omitUndefined({
      url: typeof url === 'string' ? url : undefined,
      authorization: bearer?.[1],
    }),
    approval: false,
    ...(Object.keys(left).length > 0 && { others: left }),
  }
}

// ---- canonical → wire

/** All functions are written in one entry, each other tool in its own. */
export function encodeTools(
  tools: readonly Tool[],
  writing: RequestWriting,
): GenerateContentWrittenTool[] | undefined {
  const { report, options, native } = writing
  const written: GenerateContentWrittenTool[] = []
  let functions: GenerateContentWrittenDeclaration[] | undefined
  for (const tool of tools) {
    const wire = encodeTool(tool, writing)
    if (!wire) continue
    if (!('function' in wire)) written.push(wire)
    else if (functions) functions.push(wire.function)
    else {
      functions = [wire.function]
      written.push({ functionDeclarations: functions })
    }
  }
  if (
    written.length === 0 &&
    tools.length > 0 &&
    !native &&
    tools.every(({ type }) => type === 'server')
  )
    refuseForeignTools(
      'tools of the request',
      { protocol: protocolName, path: tools[0]?.at ?? '/tools', notes: report.notes },
      options,
    )
  return written.length > 0 || native ? written : undefined
}

/**
 * Gemini's own servers accept functions together with server tools only if the response may report
 * the server tools' invocations.
 */
export function askForInvocations(
  written: readonly GenerateContentWrittenTool[] | undefined,
  { native, options, report }: RequestWriting,
): GenerateContentWrittenToolConfig | undefined {
  const keys = new Set(flatMap(written ?? [], entry => Object.keys(entry)))
  if (
    native ||
    options.toolInvocations === 'omit' ||
    !keys.has('functionDeclarations') ||
    keys.size < 2
  )
    return undefined
  report.add('tool.invocations', '/toolConfig/includeServerSideToolInvocations')
  return { includeServerSideToolInvocations: true }
}

/**
 * A function's declaration under `function`, or the fields of an entry for another tool. Undefined:
 * it cannot be written.
 */
function encodeTool(
  tool: Tool,
  writing: RequestWriting,
): GenerateContentWrittenTool | { function: GenerateContentWrittenDeclaration } | undefined {
  const { report } = writing
  switch (tool.type) {
    case 'function':
      return { function: encodeFunction(tool, writing) }
    case 'freeform':
      // The passes before the encoder have made it a function.
      report.add('tool.unknown', tool.at)
      return undefined
    case 'server':
      return encodeServerTool(tool, writing)
    case 'opaque':
      if (tool.protocol === protocolName && isObject(tool.raw))
        return asRead<GenerateContentWrittenTool>(tool.raw)
      report.add('tool.unknown', tool.at)
      return undefined
    default:
      return tool satisfies never
  }
}

/**
 * A tool that the client runs itself, as a function. Undefined: it is none, or it was not
 * requested.
 */
export function asDeclared(
  tool: Tool,
  { serverTools: all, expandClientTools }: RequestWriting['options'],
): FunctionTool | undefined {
  return tool.type === 'server' && (all === 'map' || expandClientTools)
    ? asFunction(tool)
    : undefined
}

function encodeServerTool(
  tool: ServerTool,
  writing: RequestWriting,
): GenerateContentWrittenTool | { function: GenerateContentWrittenDeclaration } | undefined {
  const { report, options } = writing
  if (tool.protocol === protocolName && isObject(tool.raw))
    return asRead<GenerateContentWrittenTool>(tool.raw)
  const known = asDeclared(tool, options)
  if (known) {
    report.add('tool.server-mapped', tool.at)
    return { function: encodeFunction(known, writing) }
  }
  const { mcp } = tool
  if (
    options.serverTools === 'map' &&
    tool.tool === 'mcp' &&
    mcp?.url !== undefined &&
    mcp.allowed === undefined &&
    !mcp.approval
  ) {
    report.add('tool.server-mapped', tool.at)
    report.rest(omitUndefined({ deferLoading: mcp.deferLoading || undefined }), mcp.at ?? tool.at)
    const headers =
      mcp.authorization === undefined
        ? {}
        : { headers: { Authorization: `Bearer ${mcp.authorization}` } }
    return {
      mcpServers: [{ name: mcp.label, streamableHttpTransport: { url: mcp.url, ...headers } }],
    }
  }
  if (mcp?.at !== undefined) report.add('tool.server', mcp.at)
  const nearest = options.serverTools === 'map' ? nearestServerTool[tool.tool] : undefined
  report.add(nearest ? 'tool.server-mapped' : 'tool.server', tool.at)
  if (nearest === undefined) return undefined
  const { blockedDomains, ...rest } = tool.common ?? {}
  report.rest(
    { ...rest, ...(nearest !== 'googleSearch' && omitUndefined({ blockedDomains })) },
    tool.at,
  )
  return {
    [nearest]: nearest === 'googleSearch' ? omitUndefined({ excludeDomains: blockedDomains }) : {},
  }
}

const handledOfFunction = keysOf<FunctionTool>()(
  'type name namespace description parameters strict strictImplied output deferLoading',
  'allowedCallers async eagerStreaming at ext',
)

function encodeFunction(
  tool: FunctionTool,
  { report, toolName }: RequestWriting,
): GenerateContentWrittenDeclaration {
  const {
    name,
    namespace,
    description,
    parameters,
    strict,
    output,
    deferLoading,
    allowedCallers,
    async,
    eagerStreaming,
    at,
    ext,
  } = tool
  report.node(tool, handledOfFunction)
  if (deferLoading) report.rest({ deferLoading }, at)
  if (allowedCallers?.some(caller => caller !== 'direct')) report.rest({ allowedCallers }, at)
  if (eagerStreaming) report.rest({ eagerStreaming }, at)
  if (strict) report.rest({ strict }, at)
  return {
    ...ownFields(ext),
    name: toolName(name, namespace, at),
    ...omitNullish<Omit<GenerateContentWrittenDeclaration, 'name'>>({
      description,
      parametersJsonSchema: parameters,
      responseJsonSchema: output,
      behavior: async ? 'NON_BLOCKING' : undefined,
    }),
  }
}

/** The schema dialect of this protocol: types in upper case, `nullable`, and counts as strings. */

const types = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'])
const counts = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])
/** Keys that hold a map whose values are schemas. */
const maps = new Set(['properties', 'defs', '$defs', 'definitions', 'patternProperties'])
const lists = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const inner = new Set(['items', 'additionalProperties', 'not'])

/** Schema of this protocol → JSON Schema. What is JSON Schema already stays as it is. */
export function decodeSchema(schema: JsonObject): JsonSchema {
  const written: JsonObject = withDigitsOf({}, schema)
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'nullable' && typeof value === 'boolean') continue
    // Redundant next to the list in `enum`.
    if (key === 'format' && value === 'enum') continue
    if (key === 'type' && value === 'TYPE_UNSPECIFIED') continue
    setOwn(written, key, decodeValue(key, value))
  }
  if (isObject(written['properties']) && Array.isArray(schema['propertyOrdering'])) {
    // In other protocols the order is that of the keys.
    written['properties'] = ordered(written['properties'], schema['propertyOrdering'])
    delete written['propertyOrdering']
  }
  if (schema['nullable'] !== true) return written
  const { type, anyOf, enum: words } = written
  if (Array.isArray(words) && !words.includes(null)) written['enum'] = [...words, null]
  if (typeof type === 'string') written['type'] = type === 'null' ? type : [type, 'null']
  else if (Array.isArray(anyOf)) written['anyOf'] = [...anyOf, { type: 'null' }]
  return written
}

function decodeValue(key: string, value: unknown): unknown {
  if (key === 'type') return Array.isArray(value) ? value.map(typeOf) : typeOf(value)
  if (counts.has(key))
    return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (maps.has(key) && isObject(value)) return mapped(value)
  if (lists.has(key) && Array.isArray(value))
    return value.map(one => (isObject(one) ? decodeSchema(one) : (one as unknown)))
  return inner.has(key) && isObject(value) ? decodeSchema(value) : value
}

function mapped(schemas: JsonObject): JsonObject {
  const written: JsonObject = {}
  for (const [key, schema] of Object.entries(schemas))
    setOwn(written, key, isObject(schema) ? decodeSchema(schema) : schema)
  return written
}

function ordered(properties: JsonObject, order: readonly unknown[]): JsonObject {
  const place = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length)
  const written: JsonObject = {}
  for (const [key, schema] of Object.entries(properties).sort(
    ([one], [other]) => place(one) - place(other),
  ))
    setOwn(written, key, schema)
  return written
}

const typeOf = (word: unknown): unknown =>
  typeof word === 'string' && types.has(word) ? word.toLowerCase() : word
