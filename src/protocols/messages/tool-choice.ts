import type { Message } from '../../canonical/message.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { PlainToolChoice, ServerTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { TranslationError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import type { PlainRequest } from '../../kit/strict-tools.ts'
import type { TranslationContext } from '../../protocol.ts'
import { protocolName } from './own.ts'
import type { MessagesRawBlock, MessagesToolChoice } from './schema.ts'
import { encodeTool, nearestOf } from './tools.ts'
import { malformed, type RequestWriting } from './writing.ts'

export function decodeToolChoice(wire: MessagesToolChoice, tools: readonly Tool[] = []): ToolChoice {
  switch (wire.type) {
    case 'auto':
      return { mode: 'auto' }
    case 'any':
      return { mode: 'required' }
    case 'none':
      return { mode: 'none' }
    case 'tool':
      if (wire.name === undefined) throw malformed('/tool_choice/name', 'a chosen tool has a name')
      if (tools.some(tool => isProviders(tool) && tool.name === wire.name))
        return { mode: 'tool', kind: 'server', name: wire.name, protocol: protocolName, raw: wire }
      return { mode: 'tool', kind: 'function', name: wire.name }
    default:
      return { mode: 'opaque', protocol: protocolName, raw: wire }
  }
}

/** Run by the provider itself. */
const isProviders = (tool: Tool): tool is ServerTool => tool.type === 'server' && !tool.clientExecuted

export function unknownOfToolChoice({ type, name, disable_parallel_tool_use: _, ...rest }: MessagesToolChoice): JsonObject {
  return type === 'tool' || name === undefined ? rest : { ...rest, name }
}

/** Names of the tools that alone may be called, as this wire knows them; undefined: any. */
export function allowedNames(context: TranslationContext | undefined): string[] | undefined {
  const choice = context?.request?.toolChoice
  const names = choice?.mode === 'allowed' ? choice.tools.map(({ name }) => name) : choice?.mode === 'validated' ? choice.tools : undefined
  const renamed = Object.entries(context?.tools ?? {})
  return names?.map(name => renamed.find(([, { name: own }]) => own === name)?.[0] ?? name)
}

// ---- canonical → wire

export function encodeTools(
  { tools, messages, toolChoice, state }: PlainRequest,
  writing: RequestWriting,
): { tools?: JsonObject[]; mcpServers?: JsonObject[]; limited: boolean } {
  const { report, options, native } = writing
  const mcpServers: JsonObject[] = []
  const merges = options.amToolAddition !== 'block'
  // A tool that is there already needs no second entry, and a server takes none.
  const all = [...(tools ?? [])]
  for (const { parts } of messages)
    for (const part of parts) {
      if ((part.type !== 'control' && part.type !== 'server-tool') || part.protocol === protocolName || !part.tools) continue
      const isFound = part.type === 'server-tool'
      const added = part.tools.filter(tool => !all.some(other => isNamedAlike(other, tool)))
      // What a search has found is no addition that a block could tell.
      if (isFound ? added.length === 0 : !merges) continue
      report.add('tool.added-late', part.at)
      all.push(...added)
    }
  const allowed = toolChoice?.mode === 'allowed' ? callable(toolChoice, all, messages, writing) : undefined
  const searches = all.filter(isSearch)
  const isFound = searches.some(tool => (!allowed || allowed.has(tool)) && (!isForeign(tool) || nearestOf(tool, options)))
  const tooling = { report, options, toolName: writing.nameTool, marks: writing.marks, mcpServers, loads: searches.length > 0 && !isFound }
  if (!merges) writing.addTool = tool => additionOf(encodeTool(tool, tooling))
  const server: number[] = []
  const wires: JsonObject[] = []
  for (const tool of all) {
    if (allowed && !allowed.has(tool)) continue
    const wire = encodeTool(tool, tooling)
    if (!wire || (isForeign(tool) && wire['name'] !== undefined && wires.some(({ name: other }) => other === wire['name']))) continue
    if (isProviders(tool) && wire['type'] !== 'mcp_toolset') server.push(wires.length)
    wires.push(wire)
  }
  if (wires.length === 0 && all.length > 0 && all.every(({ type }) => type === 'server') && !native) {
    if (options.onUnresolvable !== 'note') throw onlyElsewhere(all[0]?.at ?? '/tools', writing)
  }
  const [only] = server
  const limited = !native && state?.maxToolCalls !== undefined && server.length === 1 && only !== undefined
  if (limited) {
    wires[only] = { ...wires[only], max_uses: state.maxToolCalls }
    report.add('tool.max-uses', undefined, 'state.maxToolCalls')
  }
  return { limited, ...((wires.length > 0 || (tools && native)) && { tools: wires }), ...(mcpServers.length > 0 && { mcpServers }) }
}

/** Without such a tool the model would answer something else. */
function onlyElsewhere(path: string, { report }: RequestWriting): TranslationError {
  return new TranslationError(
    { code: 'inexpressible', protocol: protocolName, path, notes: report.notes },
    'only another provider knows the tools of the request',
  )
}

const isSearch = (tool: Tool): tool is ServerTool => tool.type === 'server' && tool.tool === 'tool_search'

/** Several tools of another provider may be mapped to one. */
const isForeign = (tool: Tool): boolean => tool.type === 'server' && tool.protocol !== protocolName

function additionOf(definition: JsonObject | undefined): MessagesRawBlock[] {
  return definition ? [{ type: 'tool_addition', tool: { type: 'tool_definition', definition } }] : []
}

function isNamedAlike(one: Tool, other: Tool): boolean {
  if (one.type === 'opaque' || one.type === 'server' || other.type === 'opaque' || other.type === 'server') return false
  return one.name === other.name && one.namespace === other.namespace
}

/** The tools that may be called; undefined: all are sent. */
function callable(
  choice: Extract<PlainToolChoice, { mode: 'allowed' }>,
  tools: readonly Tool[],
  messages: readonly Message[],
  { report, options: { amAllowedTools } }: RequestWriting,
): Set<Tool> | undefined {
  const signed = messages.some(({ parts }) => parts.some(({ type, signature }) => type === 'reasoning' && signature?.issuer === protocolName))
  const names = new Set(choice.tools.map(({ name }) => name))
  const listed = tools.filter(tool => 'name' in tool && tool.name !== undefined && names.has(tool.name))
  if (listed.length === tools.length) return undefined
  if (choice.require && listed.length === 1) return undefined
  if (amAllowedTools === 'keep' || (amAllowedTools === undefined && signed)) {
    report.add('tool_choice.subset-not-enforced', undefined, 'toolChoice')
    return undefined
  }
  report.add('tool_choice.subset-filtered', undefined, 'toolChoice')
  for (const tool of tools) if (!listed.includes(tool)) report.add('tool_choice.subset-filtered', tool.at)
  return new Set(listed)
}

export function encodeToolChoice(request: PlainRequest, hasTools: boolean, writing: RequestWriting): JsonObject | undefined {
  const { toolChoice: choice, parallelToolCalls: parallel } = request
  const { report, native } = writing
  if (!choice && parallel !== false) return undefined
  if (!hasTools && !native) {
    if (choice && choice.mode !== 'auto' && choice.mode !== 'none') report.add('tool_choice.without-tools', undefined, 'toolChoice')
    if (parallel === false) report.add('tool_choice.without-tools', undefined, 'parallelToolCalls')
    return undefined
  }
  const word = (choice && encodeMode(choice, request, writing)) ?? (parallel === false ? { type: 'auto' } : undefined)
  if (!word) return undefined
  const single = parallel === false && word['type'] !== 'none' ? { disable_parallel_tool_use: true } : {}
  return { ...word, ...single, ...(native && parallel === false && { disable_parallel_tool_use: true }) }
}

function encodeMode(choice: PlainToolChoice, { tools }: CanonicalRequest, writing: RequestWriting): JsonObject | undefined {
  const { report, options } = writing
  switch (choice.mode) {
    case 'auto':
      return { type: 'auto' }
    case 'none':
      return { type: 'none' }
    case 'required':
      return { type: 'any' }
    case 'tool': {
      const { name, namespace, kind } = choice
      const server = kind === 'server' ? tools?.filter(isProviders).find(tool => (tool.name ?? tool.tool) === name) : undefined
      const mapped = server && isForeign(server) ? nearestOf(server, options)?.name : server && name
      if (mapped !== undefined) return { type: 'tool', name: mapped }
      if (kind === 'server') {
        if (options.onUnresolvable !== 'note') throw onlyElsewhere('/tool_choice', writing)
        report.add('tool.server', undefined, 'toolChoice')
        return undefined
      }
      const owner = tools?.find(tool => (tool.type === 'function' || tool.type === 'freeform') && tool.name === name)
      const space = namespace ?? (owner && 'namespace' in owner ? owner.namespace : undefined)
      return { type: 'tool', name: writing.nameTool(name, space, undefined, kind === 'freeform') }
    }
    case 'allowed': {
      const [only] = choice.tools
      if (choice.require && choice.tools.length === 1 && only)
        return { type: 'tool', name: writing.nameTool(only.name, undefined, undefined, only.kind === 'freeform') }
      return { type: choice.require ? 'any' : 'auto' }
    }
    case 'opaque':
      if (choice.protocol === protocolName && isObject(choice.raw)) return choice.raw
      report.add('field.unsupported', undefined, 'toolChoice.raw')
      return undefined
    default:
      return choice satisfies never
  }
}
