import type { Message, Part, ServerToolPart, ToolCallPart } from '../../canonical/message.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FunctionTool, ServerTool, ToolChoice } from '../../canonical/tool.ts'
import { isObject } from '../../kit/json/json.ts'
import type { ServerToolName } from '../hooks.ts'

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

export const isServerToolName = (name: string): name is ServerToolName =>
  Object.hasOwn(definitions, name)

/** The tools of a request that the application runs, by the name of the function for the model. */
export type RunTools = Map<string, ServerTool & { tool: ServerToolName }>

/** `runs`: what the application runs. Empty: the request has none of it. */
export function toolsToRun(
  { tools = [] }: CanonicalRequest,
  runs: (name: ServerToolName) => boolean,
): RunTools {
  const names = new Set(tools.flatMap(tool => (tool.type === 'function' ? [tool.name] : [])))
  const found: RunTools = new Map()
  for (const tool of tools) {
    if (tool.type !== 'server' || tool.clientExecuted || !isRun(tool, runs)) continue
    const name = names.has(tool.tool) ? `server_${tool.tool}` : tool.tool
    if (!names.has(name)) found.set(name, tool)
  }
  return found
}

const isRun = (
  tool: ServerTool,
  runs: (name: ServerToolName) => boolean,
): tool is ServerTool & { tool: ServerToolName } => isServerToolName(tool.tool) && runs(tool.tool)

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
  const nameOf = new Map([...tools].map(([name, { tool }]) => [tool as string, name]))
  const functions = [...tools].map(
    ([name, { tool }]): FunctionTool => ({ type: 'function', name, ...definitions[tool] }),
  )
  const run = new Set<unknown>(tools.values())
  const { toolChoice, ...rest } = request
  const others = request.tools?.filter(tool => !run.has(tool)) ?? []
  const choice = isLast && others.length === 0 ? ({ mode: 'none' } as const) : toolChoice
  const chosen = choice && (rounds.length > 0 ? unforced(choice) : named(choice, nameOf))
  return {
    ...rest,
    tools: isLast && others.length > 0 ? others : [...others, ...functions],
    messages: [...request.messages.flatMap(message => asCalls(message, nameOf)), ...rounds],
    ...(chosen && { toolChoice: chosen }),
  }
}

const unforced = (choice: ToolChoice): ToolChoice =>
  choice.mode === 'required' || choice.mode === 'tool' ? { mode: 'auto' } : choice

function named(choice: ToolChoice, nameOf: ReadonlyMap<string, string>): ToolChoice {
  const name = choice.mode === 'tool' ? nameOf.get(choice.name) : undefined
  return name === undefined ? choice : { mode: 'tool', kind: 'function', name }
}

/** A message in which the tools were used, as calls and results of the functions. */
function asCalls(message: Message, nameOf: ReadonlyMap<string, string>): Message[] {
  if (!message.parts.some(part => part.type === 'server-tool' && nameOf.has(part.tool)))
    return [message]
  const out: Message[] = []
  const add = (role: Message['role'], part: Part) => {
    const last = out.at(-1)
    if (last?.role === role) last.parts.push(part)
    else out.push({ role, origin: 'message', parts: [part] })
  }
  const called = new Set<string>()
  for (const part of message.parts) {
    const name = part.type === 'server-tool' ? nameOf.get(part.tool) : undefined
    if (part.type !== 'server-tool' || name === undefined) {
      add(message.role, part)
      continue
    }
    if (part.phase !== 'result') {
      called.add(part.id)
      add('assistant', callOf(part, name))
    }
    if (part.phase !== 'call' && called.has(part.id)) add('tool', resultOf(part))
  }
  return out
}

function callOf({ id, raw }: ServerToolPart, name: string): ToolCallPart {
  const { input, action } = isObject(raw) ? raw : {}
  const { type: _, sources: __, ...asked } = isObject(action) ? action : {}
  return {
    type: 'tool-call',
    kind: 'function',
    id,
    name,
    input: JSON.stringify(isObject(input) ? input : asked),
  }
}

function resultOf({ id, raw }: ServerToolPart): Part {
  const { content, results, action } = isObject(raw) ? raw : {}
  const { sources } = isObject(action) ? action : {}
  const found = [content, results, sources].find(Array.isArray) as unknown[] | undefined
  const lines = (found ?? []).flatMap(one =>
    isObject(one) && typeof one['url'] === 'string'
      ? [`${String(one['title'] ?? '')} ${one['url']}`.trim()]
      : [],
  )
  const text = lines.join('\n') || 'The result is no longer known.'
  return { type: 'tool-result', kind: 'function', callId: id, content: [{ type: 'text', text }] }
}
