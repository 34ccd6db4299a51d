import type { Message, Part, Place } from '../../../canonical/message.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { FunctionTool, ServerTool, Tool, ToolChoice } from '../../../canonical/tool.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish } from '../../../kit/fields/omit.ts'
import { isObject } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { asFunction } from '../../../kit/tools/client-tools.ts'
import { enforceable, isClosable } from '../../../kit/tools/enforceable.ts'
import { refuseForeignTools } from '../../../kit/tools/foreign-tools.ts'
import { listedTools } from '../../../kit/tools/listed.ts'
import { objectSchema } from '../../../kit/tools/object-schema.ts'
import { refusesSchemas } from '../../../models/claude.ts'
import { blockOf, keepBoth, ownUnder, protocolName, withInner } from '../own.ts'
import type { ConverseTool, ConverseToolSpec } from '../schema.ts'
import { nearestServerTool, systemTools } from '../vocabulary.ts'
import type { ConverseWrittenTool } from '../written.ts'
import { canCache, encodePoint, type Mark, markBefore } from './cache.ts'
import type { Reading, RequestWriting } from './writing.ts'

const entryKeys = keysOf<ConverseTool>()('toolSpec')
const specKeys = keysOf<ConverseToolSpec>()('name description inputSchema strict')
const schemaKeys = keysOf<NonNullable<ConverseToolSpec['inputSchema']>>()('json')

export function decodeTools(wires: readonly ConverseTool[], reading: Reading): Tool[] {
  const tools: Tool[] = []
  wires.forEach((wire, index) => {
    const at = below('/toolConfig/tools', index)
    const before = tools.at(-1)
    if (
      wire.cachePoint &&
      before &&
      'name' in before &&
      markBefore(
        before,
        wire,
        { pointer: pointerOf(before.at ?? at), list: 'tools', index },
        reading.names,
      )
    )
      return
    tools.push(decodeTool(wire, at))
  })
  return tools
}

function decodeTool(wire: ConverseTool, at: Place): Tool {
  const { toolSpec, systemTool } = wire
  if (toolSpec) {
    const { name, description, inputSchema, strict } = toolSpec
    const tool: FunctionTool = omitNullish({
      type: 'function' as const,
      name,
      description,
      parameters: inputSchema?.json,
      strict,
      at: below(at, 'toolSpec'),
    })
    const inside = withInner(
      unknownOf(toolSpec, specKeys),
      'inputSchema',
      inputSchema ? unknownOf(inputSchema, schemaKeys) : undefined,
    )
    return keepBoth(tool, inside, unknownOf(wire, entryKeys))
  }
  const name = systemTool?.name
  if (name != null)
    return {
      type: 'server',
      tool: systemTools.get(name) ?? 'other',
      protocol: protocolName,
      name,
      raw: wire,
      at,
    }
  return { type: 'opaque', protocol: protocolName, raw: wire, at }
}

// ---- canonical → wire

/** The tools as they are sent. Their cache points are among `marks`. */
export function encodeTools(
  { tools: all = [], messages, toolChoice }: CanonicalRequest,
  marks: Mark[],
  writing: RequestWriting,
): ConverseWrittenTool[] {
  const { report, options, native } = writing
  const called = calledIn(messages)
  if (toolChoice?.mode === 'none' && called.length === 0 && !native) {
    for (const { at } of all) report.add('tool-choice.none', at)
    return []
  }
  const allowed = toolChoice && all.length > 0 ? callable(toolChoice, all, writing) : undefined
  const wires: ConverseWrittenTool[] = []
  const systemTools = new Set<unknown>()
  for (const tool of all) {
    if (allowed && !allowed.has(tool)) continue
    const wire = encodeTool(tool, writing)
    if (!wire || (wire.systemTool && systemTools.has(wire.systemTool.name))) continue
    if (wire.systemTool) systemTools.add(wire.systemTool.name)
    wires.push(wire)
    if ('cache' in tool && tool.cache) addPoint(tool, wires, marks, writing)
  }
  if (wires.length === 0 && all.length > 0 && !native && all.every(({ type }) => type === 'server'))
    refuseForeignTools(
      'tools of the request',
      { protocol: protocolName, path: all[0]?.at ?? '/toolConfig/tools', notes: report.notes },
      options,
    )
  if (wires.length === 0 && called.length > 0 && !native)
    for (const name of called) wires.push(fromHistory(name, wires.length, writing))
  return wires
}

function addPoint(
  { cache, at }: Tool & { cache?: FunctionTool['cache'] },
  wires: ConverseWrittenTool[],
  marks: Mark[],
  { report, family, native }: RequestWriting,
): void {
  if (!cache) return
  if (!native && !canCache(family, 'tools')) {
    report.add('cache.unsupported', at, 'cache')
    return
  }
  const wire = encodePoint(cache, () => report.add('cache.ttl', at, 'cache.ttl'))
  marks.push({ wire, at, place: 'tools' })
  wires.push({ cachePoint: wire })
}

/** The names of the tools that the history calls or has results of, in order. */
export function calledIn(messages: readonly Message[]): string[] {
  const names = new Set<string>()
  const see = (part: Part) => {
    if (part.type === 'tool-call') names.add(part.name)
    else if (part.type === 'tool-result' && names.size === 0) names.add('tool')
  }
  for (const { parts } of messages) parts.forEach(see)
  return [...names]
}

function fromHistory(name: string, index: number, { report }: RequestWriting): ConverseWrittenTool {
  report.add('tool.from-history', `/toolConfig/tools/${index}`)
  return { toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } } }
}

/** A tool → its definition here. Undefined: it has none. */
function encodeTool(tool: Tool, writing: RequestWriting): ConverseWrittenTool | undefined {
  const { report } = writing
  switch (tool.type) {
    case 'function':
      return encodeFunction(tool, writing)
    case 'freeform':
      // The passes before the encoder have made it a function.
      report.add('tool.unknown', tool.at)
      return undefined
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

function encodeServerTool(
  tool: ServerTool,
  writing: RequestWriting,
): ConverseWrittenTool | undefined {
  const { report, options, family } = writing
  if (tool.protocol === protocolName && isObject(tool.raw)) return asRead(tool.raw)
  const expanded = options.expandClientTools ? asFunction(tool) : undefined
  if (expanded) {
    report.add('tool.expanded', tool.at)
    return encodeFunction(expanded, writing)
  }
  const nearest =
    options.serverTools === 'map' && family === 'nova2' ? nearestServerTool[tool.tool] : undefined
  report.add(nearest ? 'tool.server-mapped' : 'tool.server', tool.at)
  if (tool.mcp?.at !== undefined) report.add('tool.server', tool.mcp.at)
  if (nearest && tool.common) report.rest(tool.common, tool.at)
  return nearest === undefined ? undefined : { systemTool: { name: nearest } }
}

const written = keysOf<FunctionTool>()(
  'type name namespace description parameters strict strictImplied deferLoading cache at ext',
)

function encodeFunction(tool: FunctionTool, writing: RequestWriting): ConverseWrittenTool {
  const { report, native, family } = writing
  const { name, namespace, description, parameters, strict, strictImplied, deferLoading, at, ext } =
    tool
  report.node(tool, written)
  if (deferLoading) report.add('tool.loaded', at, 'deferLoading')
  const isRefused = strict === true && !native && refusesSchemas(writing.model)
  if (isRefused && !strictImplied) report.add('tool.strict', at, 'strict')
  const isClaude = !native && family === 'claude'
  const isUnfit = strict === true && isClaude && parameters != null && !isClosable(parameters)
  if (isUnfit && !isRefused && !strictImplied) report.add('tool.strict', at, 'strict')
  const isStrict = strict && !isRefused && !isUnfit && (!strictImplied || native)
  const shown =
    isStrict && parameters && isClaude
      ? enforceable(parameters, { at, field: 'parameters' }, report)
      : parameters
  const json = native ? (parameters ?? undefined) : objectSchema(shown)
  // Only a request in this protocol keeps what is the default anyway.
  const lax = native && strict === false ? false : undefined
  const spec = {
    name: writing.toolName(name, namespace, at),
    description: native || description?.trim() ? description : undefined,
    inputSchema: { ...ownUnder(ext, 'inputSchema'), json },
    strict: isStrict ? true : lax,
  }
  return blockOf<ConverseWrittenTool, 'toolSpec'>('toolSpec', spec, ext)
}

/** The tools to send, if only some may be called. Undefined: all are sent. */
function callable(
  choice: ToolChoice,
  tools: readonly Tool[],
  { report, family, native }: RequestWriting,
): Set<Tool> | undefined {
  if (native) return undefined
  // Models of Mistral can be forced to call any tool, but not a certain one.
  const one =
    choice.mode === 'tool' && choice.kind !== 'server' && family === 'mistral'
      ? [choice]
      : undefined
  const wanted = choice.mode === 'allowed' ? choice.tools : one
  if (!wanted) return undefined
  const listed = listedTools(tools, wanted)
  if (listed.size === tools.length) return undefined
  if (choice.mode === 'allowed' && choice.require && listed.size === 1) return undefined
  report.add('tool-choice.subset-filtered', undefined, 'toolChoice')
  for (const tool of tools)
    if (!listed.has(tool)) report.add('tool-choice.subset-filtered', tool.at)
  return listed
}
