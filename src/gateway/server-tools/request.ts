import type { Message, Part, ServerToolPart, ToolCallPart } from '../../canonical/message.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FunctionTool, ServerTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { isObject } from '../../kit/json/json.ts'
import type { ServerToolName } from '../hooks.ts'
import { isCallOf, type McpTool } from './mcp.ts'

/** What the model is told of each tool. */
const definitions = {
  web_search: {
    description:
      'Searches the web. Returns the titles, addresses and texts of pages that fit the query.',
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', description: 'What to search for.' } },
      required: ['query'],
    },
  },
  web_fetch: {
    description: 'Reads the page at an address, and returns its text.',
    parameters: {
      type: 'object',
      properties: { url: { type: 'string', description: 'The address of the page.' } },
      required: ['url'],
    },
  },
} as const satisfies Record<ServerToolName, Pick<FunctionTool, 'description' | 'parameters'>>

/** A tool that searches or reads the web. */
export type WebTool = {
  definition: FunctionTool
  asked: ServerTool & { tool: ServerToolName }
}

/** The tools that the application runs for a request, by the name of the function for the model. */
export type RunTools = ReadonlyMap<string, RunTool>
export type RunTool = WebTool | McpTool

export const isOfMcp = (tool: RunTool): tool is McpTool => 'client' in tool

/** `runs`: what the application runs. `servers`: the tools of MCP servers. */
export function toolsToRun(
  { tools = [] }: CanonicalRequest,
  runs: (name: ServerToolName) => boolean,
  servers: readonly McpTool[],
): RunTools {
  const taken = new Set(tools.flatMap(tool => (tool.type === 'function' ? [tool.name] : [])))
  const found = new Map<string, RunTool>()
  const add = (tool: RunTool, ...names: string[]) => {
    const name = names.map(asName).find(one => !taken.has(one))
    if (name === undefined) return
    taken.add(name)
    found.set(name, tool)
  }
  const web = new Set<ServerToolName>()
  for (const asked of tools) {
    if (!isWeb(asked) || !runs(asked.tool) || web.has(asked.tool)) continue
    const { tool: name } = asked
    web.add(name)
    const definition = { type: 'function', name, ...definitions[name] } as const
    add({ definition, asked }, name, `server_${name}`)
  }
  for (const tool of servers) {
    const { definition, asked } = tool
    add(tool, definition.name, `${asked.mcp.label}_${definition.name}`)
  }
  return found
}

/** Names of functions are so long, and of these letters, with all providers. */
const asName = (name: string): string => name.replace(/[^\w-]/g, '_').slice(0, 64)

const isWeb = (tool: Tool): tool is WebTool['asked'] =>
  tool.type === 'server' && !tool.clientExecuted && Object.hasOwn(definitions, tool.tool)

/** A request is decoded more than once: the same tool has the same key. */
const keyOf = ({ tool, mcp }: ServerTool): string => (mcp ? `mcp ${mcp.label}` : tool)

/**
 * The request with functions instead of these tools, and earlier uses of them as calls of the
 * functions. `rounds`: what this response consists of so far; then no tool is forced again.
 * `isLast`: the model has to answer now.
 */
export function withFunctions(
  request: CanonicalRequest,
  tools: RunTools,
  { rounds, isLast }: { rounds: readonly Message[]; isLast: boolean },
): CanonicalRequest {
  const functions = [...tools].map(([name, { definition }]) => ({ ...definition, name }))
  const run = new Set([...tools.values()].map(({ asked }) => keyOf(asked)))
  const { toolChoice, ...rest } = request
  const others =
    request.tools?.filter(tool => tool.type !== 'server' || !run.has(keyOf(tool))) ?? []
  const choice = isLast && others.length === 0 ? ({ mode: 'none' } as const) : toolChoice
  const offered: RunTools = isLast ? new Map() : tools
  const chosen = choice && named(rounds.length > 0 ? unforced(choice) : choice, offered)
  return {
    ...rest,
    tools: isLast && others.length > 0 ? others : [...others, ...functions],
    messages: [...request.messages.flatMap(message => asCalls(message, tools)), ...rounds],
    ...(chosen && { toolChoice: chosen }),
  }
}

function unforced(choice: ToolChoice): ToolChoice {
  if (choice.mode === 'allowed') return { ...choice, require: false }
  return choice.mode === 'required' || choice.mode === 'tool' ? { mode: 'auto' } : choice
}

/** The functions for chosen tools. A server of several tools cannot be forced as a whole. */
function named(choice: ToolChoice, tools: RunTools): ToolChoice {
  if (choice.mode === 'allowed') {
    const allowed = choice.tools.flatMap(one =>
      one.kind === 'server'
        ? namesOf(one, tools).map(name => ({ kind: 'function', name }) as const)
        : [one],
    )
    return allowed.length > 0 ? { ...choice, tools: allowed } : { mode: 'none' }
  }
  if (choice.mode !== 'tool' || choice.kind !== 'server') return choice
  const names = namesOf(choice, tools)
  const [name] = names
  if (name === undefined) return choice
  return names.length > 1 ? { mode: 'required' } : { mode: 'tool', kind: 'function', name }
}

/** What a client chooses: the kind of a tool, the label of a server, or the name of its tool. */
const namesOf = ({ name }: { name: string }, tools: RunTools): string[] =>
  [...tools].flatMap(([given, { definition, asked }]) =>
    [definition.name, asked.name, asked.tool, asked.mcp?.label].includes(name) ? [given] : [],
  )

/** A message in which the tools were used, as calls and results of the functions. */
function asCalls(message: Message, tools: RunTools): Message[] {
  if (!message.parts.some(part => part.type === 'server-tool' && callName(part, tools)))
    return [message]
  const out: Message[] = []
  const add = (role: Message['role'], part: Part) => {
    const last = out.at(-1)
    if (last?.role === role) last.parts.push(part)
    else out.push({ role, origin: 'message', parts: [part] })
  }
  const called = new Set<string>()
  for (const part of message.parts) {
    const name = part.type === 'server-tool' ? callName(part, tools) : undefined
    if (part.type !== 'server-tool') add(message.role, part)
    else if (name !== undefined) {
      called.add(part.id)
      add('assistant', callOf(part, name))
      if (part.phase === 'call+result') add('tool', resultOf(part))
    } else if (part.phase === 'result' && called.has(part.id)) add('tool', resultOf(part))
    else add(message.role, part)
  }
  return out
}

/** The function that an earlier call of a tool is. Undefined: it is none of these, or a result. */
const callName = (part: ServerToolPart, tools: RunTools): string | undefined =>
  part.phase === 'result'
    ? undefined
    : [...tools].find(([, tool]) =>
        isOfMcp(tool) ? isCallOf(part, tool) : tool.asked.tool === part.tool,
      )?.[0]

function callOf({ id, raw }: ServerToolPart, name: string): ToolCallPart {
  const { input, action, arguments: written } = isObject(raw) ? raw : {}
  const { type: _, sources: __, ...asked } = isObject(action) ? action : {}
  return {
    type: 'tool-call',
    kind: 'function',
    id,
    name,
    input: typeof written === 'string' ? written : JSON.stringify(isObject(input) ? input : asked),
  }
}

function resultOf({ id, raw }: ServerToolPart): Part {
  const { content, results, action, output, error } = isObject(raw) ? raw : {}
  const { sources } = isObject(action) ? action : {}
  const found = [content, results, sources].find(Array.isArray) as unknown[] | undefined
  const lines = [content, output, error, ...(found ?? [])].flatMap(lineOf)
  const text = lines.join('\n') || 'The result is no longer known.'
  return { type: 'tool-result', kind: 'function', callId: id, content: [{ type: 'text', text }] }
}

function lineOf(one: unknown): string[] {
  if (typeof one === 'string') return [one]
  const { url, title, text } = isObject(one) ? one : {}
  if (typeof url === 'string') return [`${String(title ?? '')} ${url}`.trim()]
  return typeof text === 'string' ? [text] : []
}
