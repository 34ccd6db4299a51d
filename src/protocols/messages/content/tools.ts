import type { Message, Place } from '../../../canonical/message.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import type {
  FunctionTool,
  McpServer,
  ServerTool,
  Tool,
  ToolChoice,
} from '../../../canonical/tool.ts'
import { TranslationError } from '../../../errors.ts'
import { keysOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { accepts } from '../../../kit/schema/guard.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { enforceable, isClosable, isEnforceable } from '../../../kit/tools/enforceable.ts'
import { refuseForeignTools } from '../../../kit/tools/foreign-tools.ts'
import { listedTools } from '../../../kit/tools/listed.ts'
import { objectSchema } from '../../../kit/tools/object-schema.ts'
import { userLocationIn } from '../../../kit/tools/web-search.ts'
import type { Options } from '../options.ts'
import { type MessagesReport, ownUnder, protocolName, wireOf } from '../own.ts'
import { MessagesTool } from '../schema.ts'
import { isCallerType, nearestServerTool, toolFamily } from '../vocabulary.ts'
import type { MessagesMcpServer, MessagesWrittenTool } from '../written.ts'
import { decodeMark, encodeMark, keepMarked, type Mark } from './cache.ts'
import type { RequestWriting } from './writing.ts'

const noServer: FindServer = () => undefined

/**
 * `type` absent, null or `custom` is an ordinary function here: `custom` means something else in
 * other protocols.
 */
export function decodeTool(wire: unknown, at: Place, findServer: FindServer = noServer): Tool {
  if (!accepts(MessagesTool, wire)) return { type: 'opaque', protocol: protocolName, raw: wire, at }
  const tool: MessagesTool = wire
  const { type } = tool
  if (type === undefined || type === null || type === 'custom') {
    if (tool.name === undefined)
      throw new TranslationError(
        { code: 'malformed', protocol: protocolName, path: below(at, 'name') },
        'missing, expected text: every function has a name',
      )
    return decodeFunction({ ...tool, name: tool.name }, at)
  }
  const family = toolFamily(type)
  if (!family) return { type: 'opaque', protocol: protocolName, raw: wire, at }
  return omitNullish({
    type: 'server' as const,
    tool: family.tool,
    protocol: protocolName,
    name: tool.name,
    common: commonOf(tool),
    mcp: family.tool === 'mcp' && isObject(wire) ? decodeToolset(wire, findServer) : undefined,
    clientExecuted: family.clientExecuted || undefined,
    cache: decodeMark(tool.cache_control),
    raw: wire,
    at,
  })
}

const functionKeys = keysOf<MessagesTool>()(
  'type name description input_schema strict defer_loading allowed_callers input_examples',
  'eager_input_streaming cache_control',
)

function decodeFunction(wire: MessagesTool & { name: string }, at: Place): FunctionTool {
  const tool: FunctionTool = omitNullish({
    type: 'function' as const,
    name: wire.name,
    description: wire.description,
    parameters: wire.input_schema,
    strict: wire.strict,
    deferLoading: wire.defer_loading,
    allowedCallers: wire.allowed_callers,
    examples: wire.input_examples,
    eagerStreaming: wire.eager_input_streaming,
    at,
  })
  return keepMarked(tool, wire, functionKeys)
}

function commonOf(tool: MessagesTool): ServerTool['common'] {
  const { max_uses, allowed_domains, blocked_domains, user_location } = tool
  const strings = (value: unknown) =>
    Array.isArray(value) && value.every(one => typeof one === 'string')
      ? (value as string[])
      : undefined
  return omitUndefinedOrNone({
    maxUses: typeof max_uses === 'number' ? max_uses : undefined,
    allowedDomains: strings(allowed_domains),
    blockedDomains: strings(blocked_domains),
    userLocation: userLocationIn(user_location),
  })
}

type ToolWriting = {
  report: MessagesReport
  options: Options
  native: boolean
  toolName(name: string, namespace: string | undefined, at: Place | undefined): string
  marks: Mark[]
  /** Collects the `mcp_servers` of the written toolsets. */
  mcpServers: MessagesMcpServer[]
  /** Deferred tools are loaded from the start, because there is no tool search. */
  loads: boolean
}

/** A tool → its definition here. Undefined: it has none. */
function encodeTool(tool: Tool, writing: ToolWriting): MessagesWrittenTool | undefined {
  const { report, options } = writing
  switch (tool.type) {
    case 'function':
      return encodeFunction(tool, writing)
    case 'freeform':
      // The passes before the encoder have made it a function.
      report.add('tool.unknown', tool.at)
      return undefined
    case 'server': {
      if (tool.protocol === protocolName && isObject(tool.raw)) {
        if (tool.mcp?.url !== undefined) writing.mcpServers.push(serverOf(tool.mcp))
        return asRead(tool.raw)
      }
      const remote =
        options.serverTools === 'map' && tool.tool === 'mcp'
          ? encodeMcp(tool.mcp, tool.at, report)
          : undefined
      if (remote) {
        writing.mcpServers.push(remote.server)
        report.add('tool.server-mapped', tool.at)
        return remote.toolset
      }
      const nearest = nearestOf(tool, options)
      report.add(nearest ? 'tool.server-mapped' : 'tool.server', tool.at)
      return (
        nearest && { ...nearest, ...(tool.tool === 'web_search' && encodeCommon(tool, report)) }
      )
    }
    case 'opaque':
      if (tool.protocol === protocolName && isObject(tool.raw)) return asRead(tool.raw)
      report.add('tool.unknown', tool.at)
      return undefined
    default:
      return tool satisfies never
  }
}

export function nearestOf(
  { tool }: ServerTool,
  { serverTools }: Options,
): { type: string; name: string } | undefined {
  return serverTools === 'map' ? nearestServerTool[tool] : undefined
}

function encodeCommon(
  { common, at }: ServerTool,
  report: MessagesReport,
): Partial<MessagesWrittenTool> {
  const { maxUses, allowedDomains, blockedDomains, userLocation, ...rest } = common ?? {}
  report.rest({ ...rest, ...(allowedDomains && { blockedDomains }) }, at)
  return omitUndefined({
    max_uses: maxUses,
    allowed_domains: allowedDomains,
    blocked_domains: allowedDomains ? undefined : blockedDomains,
    user_location: userLocation && { type: 'approximate', ...userLocation },
  })
}

const written = keysOf<FunctionTool>()(
  'type name namespace description parameters strict strictImplied examples deferLoading',
  'allowedCallers eagerStreaming cache at ext',
)

function encodeFunction(tool: FunctionTool, writing: ToolWriting): MessagesWrittenTool {
  const { report, native, marks, loads } = writing
  const {
    name,
    namespace,
    description,
    parameters,
    strict,
    strictImplied,
    examples,
    deferLoading,
    eagerStreaming,
    cache,
    at,
    ext,
  } = tool
  report.node(tool, written)
  if (loads && deferLoading) report.add('tool.loaded', at, 'deferLoading')
  const enforced = !native && strict === true && parameters
  const isUnfit = enforced && !(strictImplied ? isEnforceable(enforced) : isClosable(enforced))
  if (isUnfit) report.add('tool.strict', at, 'parameters')
  const shown =
    enforced && !strictImplied && !isUnfit
      ? enforceable(enforced, { at, field: 'parameters' }, report)
      : parameters
  const wire = wireOf<MessagesWrittenTool>(
    {
      name: writing.toolName(name, namespace, at),
      description,
      input_schema: native ? parameters : objectSchema(shown),
      strict: (strict && !isUnfit) || undefined,
      defer_loading: loads && deferLoading ? undefined : deferLoading,
      allowed_callers: encodeCallers(tool, writing),
      input_examples: examples,
      eager_input_streaming: eagerStreaming,
    },
    ext,
  )
  if (!cache) return wire
  const mark = encodeMark(cache, ownUnder(ext, 'cache_control'), () =>
    report.add('cache.ttl', at, 'cache.ttl'),
  )
  wire.cache_control = mark
  marks.push({ wire: mark, at, place: 'tools' })
  return wire
}

/** Other providers have other callers for their code. */
function encodeCallers(
  { allowedCallers: callers, at }: FunctionTool,
  { report, native }: ToolWriting,
): string[] | undefined {
  if (native || !callers) return callers
  const own = callers.filter(isCallerType)
  const isForeign = own.length < callers.length
  if (isForeign) report.add('field.unsupported', at, 'allowedCallers')
  return own.length > 0 ? own : undefined
}

/** Does the provider itself run the tool? */
export const isHosted = (tool: Tool): tool is ServerTool =>
  tool.type === 'server' && !tool.clientExecuted

/** `limited`: `maxToolCalls` is written as `max_uses` of the only tool that the provider runs. */
export function encodeTools(
  { tools: all = [], messages, toolChoice, state }: CanonicalRequest,
  writing: RequestWriting,
): { tools?: MessagesWrittenTool[]; mcpServers?: MessagesMcpServer[]; limited: boolean } {
  const { report, options, native } = writing
  const mcpServers: MessagesMcpServer[] = []
  const allowed =
    toolChoice?.mode === 'allowed' ? callable(toolChoice, all, messages, writing) : undefined
  const searches = all.filter(isSearch)
  const hasSearch = searches.some(
    tool => (!allowed || allowed.has(tool)) && (!isForeign(tool) || nearestOf(tool, options)),
  )
  const tooling = {
    report,
    options,
    native,
    toolName: writing.toolName,
    marks: writing.marks,
    mcpServers,
    loads: !native && !hasSearch,
  }
  const hosted: number[] = []
  const wires: MessagesWrittenTool[] = []
  const names = new Set<string | undefined>()
  for (const tool of all) {
    if (allowed && !allowed.has(tool)) continue
    const wire = encodeTool(tool, tooling)
    if (!wire || (isForeign(tool) && wire.name !== undefined && names.has(wire.name))) continue
    names.add(wire.name)
    if (isHosted(tool) && wire.type !== 'mcp_toolset') hosted.push(wires.length)
    wires.push(wire)
  }
  if (wires.length === 0 && all.length > 0 && !native && all.every(({ type }) => type === 'server'))
    refuseForeignTools(
      'tools of the request',
      { protocol: protocolName, path: all[0]?.at ?? '/tools', notes: report.notes },
      options,
    )
  const [only] = hosted
  const limited =
    !native && state?.maxToolCalls !== undefined && hosted.length === 1 && only !== undefined
  if (limited) {
    wires[only] = { ...wires[only], max_uses: state.maxToolCalls }
    report.add('tool.max-uses', undefined, 'state.maxToolCalls')
  }
  return {
    limited,
    ...(wires.length > 0 && { tools: wires }),
    ...(mcpServers.length > 0 && { mcpServers }),
  }
}

const isSearch = (tool: Tool): tool is ServerTool =>
  tool.type === 'server' && tool.tool === 'tool_search'

/** A server tool of another provider. Several of them may be mapped to one tool here. */
export const isForeign = (tool: Tool): boolean =>
  tool.type === 'server' && tool.protocol !== protocolName

/** The tools to send, if only some may be called. Undefined: all are sent. */
function callable(
  choice: Extract<ToolChoice, { mode: 'allowed' }>,
  tools: readonly Tool[],
  messages: readonly Message[],
  { report }: RequestWriting,
): Set<Tool> | undefined {
  const signed = messages.some(({ parts }) =>
    parts.some(({ type, signature }) => type === 'reasoning' && signature?.issuer === protocolName),
  )
  const listed = listedTools(tools, choice.tools)
  if (listed.size === tools.length) return undefined
  if (choice.require && listed.size === 1) return undefined
  if (signed) {
    report.add('tool-choice.subset-not-enforced', undefined, 'toolChoice')
    return undefined
  }
  report.add('tool-choice.subset-filtered', undefined, 'toolChoice')
  for (const tool of tools)
    if (!listed.has(tool)) report.add('tool-choice.subset-filtered', tool.at)
  return listed
}

/**
 * An MCP server has two places in a request: `mcp_servers` has its URL, a toolset in `tools` says
 * which of its tools are offered.
 */

const serverKeys = new Set(['type', 'name', 'url', 'authorization_token'])

/** Do the decoded toolsets hold all of `mcp_servers`, so that the list itself need not be kept? */
export function areCovered(
  servers: unknown,
  toolsets: readonly (McpServer | undefined)[],
): boolean {
  const counts = new Map<unknown, number>()
  for (const one of toolsets) if (one) counts.set(one.label, (counts.get(one.label) ?? 0) + 1)
  return (
    Array.isArray(servers) &&
    servers.every(
      server =>
        isObject(server) &&
        Object.keys(server).every(key => serverKeys.has(key)) &&
        counts.get(server['name']) === 1,
    )
  )
}

/** Finds the server of a name. */
type FindServer = (name: string) => { server: JsonObject; index: number } | undefined

/** For `mcp_servers`. The first server of a name counts. */
export function serverFinder(servers: unknown): FindServer {
  const found = new Map<unknown, { server: JsonObject; index: number }>()
  if (Array.isArray(servers))
    for (const [index, server] of servers.entries())
      if (isObject(server) && !found.has(server['name']))
        found.set(server['name'], { server, index })
  return name => found.get(name)
}

function decodeToolset(wire: JsonObject, find: FindServer): McpServer | undefined {
  const {
    type: _,
    mcp_server_name: label,
    configs,
    default_config,
    cache_control: __,
    ...rest
  } = wire
  if (typeof label !== 'string') return undefined
  const { server, index } = find(label) ?? {}
  const { enabled, defer_loading, ...others } = isObject(default_config) ? default_config : {}
  const named = isObject(configs) ? Object.entries(configs) : []
  const isList =
    enabled === false &&
    named.every(
      ([, config]) =>
        isObject(config) && config['enabled'] === true && Object.keys(config).length === 1,
    )
  const left = {
    ...rest,
    ...(!isList && named.length > 0 && { configs }),
    ...(Object.keys(others).length > 0 && { default_config: others }),
  }
  const text = (key: string) =>
    typeof server?.[key] === 'string' ? (server[key] as string) : undefined
  return {
    label,
    ...(index !== undefined && { at: below('/mcp_servers', index) }),
    ...omitUndefined({
      url: text('url'),
      authorization: text('authorization_token'),
      deferLoading: defer_loading === true ? true : undefined,
    }),
    ...(isList && { allowed: named.map(([tool]) => tool) }),
    approval: false,
    ...(Object.keys(left).length > 0 && { others: left }),
  }
}

/** The entry of `mcp_servers`. */
function serverOf({ label, url, authorization }: McpServer): MessagesMcpServer {
  return omitUndefined<MessagesMcpServer>({
    type: 'url',
    name: label,
    url,
    authorization_token: authorization,
  })
}

/**
 * The entry of `mcp_servers` and the toolset. Undefined: there is no server, or its URL is unknown.
 */
function encodeMcp(
  mcp: McpServer | undefined,
  at: Place | undefined,
  report: MessagesReport,
): { server: MessagesMcpServer; toolset: MessagesWrittenTool } | undefined {
  if (mcp?.url === undefined) return undefined
  const { label, allowed, deferLoading, approval, others } = mcp
  if (approval) report.add('tool.no-approval', at)
  report.rest(others ?? {}, at)
  const config = omitUndefined({ enabled: allowed && false, defer_loading: deferLoading })
  return {
    server: serverOf(mcp),
    toolset: {
      type: 'mcp_toolset',
      mcp_server_name: label,
      ...(Object.keys(config).length > 0 && { default_config: config }),
      ...(allowed && {
        configs: Object.fromEntries(allowed.map(tool => [tool, { enabled: true }])),
      }),
    },
  }
}
