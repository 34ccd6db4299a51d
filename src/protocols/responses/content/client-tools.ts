import type { Message, Place, ToolCallPart, ToolResultPart } from '../../../canonical/message.ts'
import type { FunctionTool, Tool, ToolChoice } from '../../../canonical/tool.ts'
import { keysOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, parseJson, parseObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { flatName } from '../../../kit/tools/tool-names.ts'
import { protocolName, type ResponsesReport } from '../own.ts'
import type { ResponsesClientCall, ResponsesClientResult } from '../written.ts'
import { decodeAddedTools } from './tools.ts'
import { itemOf, withHead } from './writing.ts'

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const milliseconds = {
  type: 'integer',
  description: 'Milliseconds after which the command is stopped.',
}

/**
 * A built-in tool that the client runs. `fields`: those of its call, from the arguments of a
 * function.
 */
type ClientTool = {
  description: string
  parameters: JsonObject
  call: ResponsesClientCall['type']
  prefix: string
  fields(input: JsonObject): ClientFields | undefined
}
type ClientFields = Omit<ResponsesClientCall, 'type' | 'id' | 'call_id' | 'status'>

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every(one => typeof one === 'string')

const clientTools = new Map<string, ClientTool>([
  [
    'shell',
    {
      description: 'Runs shell commands on the machine of the user and returns their output.',
      parameters: {
        type: 'object',
        properties: {
          commands: texts,
          timeout_ms: milliseconds,
          max_output_length: { type: 'integer', description: 'Number of characters to return.' },
        },
        required: ['commands'],
      },
      call: 'shell_call',
      prefix: 'sh_',
      fields({ commands, timeout_ms: timeout = null, max_output_length: length = null }) {
        return isTexts(commands)
          ? {
              action: { commands, timeout_ms: timeout, max_output_length: length },
              environment: { type: 'local' },
            }
          : undefined
      },
    },
  ],
  [
    'local_shell',
    {
      description: 'Runs one command on the machine of the user and returns its output.',
      parameters: {
        type: 'object',
        properties: {
          command: texts,
          env: { type: 'object', additionalProperties: text },
          working_directory: text,
          timeout_ms: milliseconds,
          user: text,
        },
        required: ['command'],
      },
      call: 'local_shell_call',
      prefix: 'lsh_',
      fields: ({ command, env, ...rest }) =>
        isTexts(command)
          ? { action: { type: 'exec', command, env: isObject(env) ? env : {}, ...rest } }
          : undefined,
    },
  ],
  [
    'apply_patch',
    {
      description:
        'Creates, updates or deletes a file. `diff` is a V4A diff: the new content, or the changes with their context.',
      parameters: {
        type: 'object',
        properties: {
          type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
          path: text,
          diff: text,
        },
        required: ['type', 'path'],
      },
      call: 'apply_patch_call',
      prefix: 'apc_',
      fields({ type, path, diff }) {
        if (typeof path !== 'string') return undefined
        if (type === 'delete_file') return { operation: { type, path } }
        return (type === 'create_file' || type === 'update_file') && typeof diff === 'string'
          ? { operation: { type, path, diff } }
          : undefined
      },
    },
  ],
  // Its description and parameters are those that the request gives.
  [
    'tool_search',
    {
      description: '',
      parameters: {},
      call: 'tool_search_call',
      prefix: 'tsc_',
      fields: input => ({ execution: 'client', arguments: input }),
    },
  ],
])

const nameOfCall = new Map<string, string>([...clientTools].map(([name, { call }]) => [call, name]))

/** The types of items that call such a tool. */
export const clientCalls: ReadonlySet<string> = new Set(nameOfCall.keys())

/**
 * A search that says itself how it is called is a function for every model; other tools of the
 * client are, if `expandClientTools` says so.
 */
const isExpanded = (name: string, all: boolean) => all || name === 'tool_search'

/**
 * Built-in tools that the client runs, as functions for models of other providers. A function of
 * the same name goes first. `all`: also those whose parameters the request does not give.
 */
export function expandTools(
  tools: readonly Tool[],
  report: ResponsesReport,
  all = false,
): readonly Tool[] {
  if (!tools.some(tool => tool.type === 'server' && tool.clientExecuted)) return tools
  const functions = new Set<string>()
  for (const tool of tools)
    if (tool.type === 'function' || tool.type === 'freeform') functions.add(tool.name)
  return tools.map(tool => {
    if (tool.type !== 'server' || !tool.clientExecuted || !isObject(tool.raw)) return tool
    const name = String(tool.raw['type'])
    const known = clientTools.get(name)
    if (!known || !isExpanded(name, all) || functions.has(name)) return tool
    report.add('tool.expanded', tool.at)
    const { description = known.description, parameters = known.parameters } = tool.raw
    const expanded: FunctionTool = {
      type: 'function',
      name,
      ...(typeof description === 'string' && description && { description }),
      ...(isObject(parameters) && { parameters }),
      strict: false,
      builtIn: tool.raw,
      ...omitUndefined({ at: tool.at }),
    }
    return expanded
  })
}

/** A choice of such a tool is a choice of its function. */
export function expandChoice(choice: ToolChoice, tools: readonly Tool[]): ToolChoice {
  const names = expandedIn(tools)
  const isExpanded = (name: string) => names.has(name)
  const { mode } = choice
  if (mode === 'tool')
    return choice.kind === 'server' && isExpanded(choice.name)
      ? { mode, kind: 'function', name: choice.name }
      : choice
  if (mode !== 'allowed') return choice
  const allowed = choice.tools.map(tool =>
    tool.kind === 'server' && isExpanded(tool.name)
      ? { kind: 'function' as const, name: tool.name, ...omitUndefined({ at: tool.at }) }
      : tool,
  )
  return { ...choice, tools: allowed }
}

/** The names of the functions that such tools became, in the request of a response. */
export function expandedIn(tools: readonly Tool[] | undefined): Set<string> {
  const names = new Set<string>()
  for (const tool of tools ?? []) if (tool.type === 'function' && tool.builtIn) names.add(tool.name)
  return names
}

/**
 * By call id, and by the id of the item, which results of the older shell repeat: the call id of
 * each call that the client runs.
 */
export function clientCallIds(items: readonly JsonObject[], all = false): Map<unknown, string> {
  const ids = new Map<unknown, string>()
  for (const item of items) {
    const { type, id, call_id: call, environment, execution } = item
    const name = nameOfCall.get(String(type))
    const isRemote =
      name === 'tool_search'
        ? execution !== 'client'
        : isObject(environment) && environment['type'] !== 'local'
    if (name === undefined || !isExpanded(name, all) || isRemote || typeof call !== 'string')
      continue
    ids.set(call, call)
    if (typeof id === 'string') ids.set(id, call)
  }
  return ids
}

type Expanding = { at: Place; ids: ReadonlyMap<unknown, string>; report: ResponsesReport }

type Key =
  | 'type'
  | 'id'
  | 'call_id'
  | 'status'
  | 'caller'
  | 'arguments'
  | 'execution'
  | 'action'
  | 'operation'
  | 'environment'
  | 'tools'
  | 'output'
  | 'max_output_length'
const keys = keysOf<Record<Key, unknown>>()
const itemKeys = ['type', 'id', 'call_id', 'status', 'caller'] as const
const callKeys = keys(...itemKeys, 'action', 'operation', 'environment')
const outputKeys = keys(...itemKeys, 'output', 'max_output_length')
const searchCallKeys = keys(...itemKeys, 'arguments', 'execution')
const searchOutputKeys = keys(...itemKeys, 'tools', 'execution')

/**
 * A call of such a tool, or its result, as those of a function. Undefined: the item is something
 * else, or its call is not in `ids`.
 */
export function expandItem(
  wire: JsonObject,
  type: string,
  { at, ids, report }: Expanding,
): Message | undefined {
  const { id, call_id: call, caller } = wire
  const callId = ids.get(call ?? id)
  const name =
    nameOfCall.get(type) ??
    nameOfCall.get(type.replace(/_output$/, '')) ??
    nameOfCall.get(type.replace(/_output$/, '_call'))
  if (callId === undefined || name === undefined) return undefined
  if (!type.endsWith('_output')) {
    const part: ToolCallPart = {
      type: 'tool-call',
      id: callId,
      idOrigin: 'wire',
      name,
      kind: 'function',
      input: JSON.stringify(inputOf(wire)),
      at,
    }
    if (caller != null) part.caller = caller
    return withHead(
      itemOf('assistant', part, at),
      wire,
      name === 'tool_search' ? searchCallKeys : callKeys,
    )
  }
  const result: ToolResultPart = {
    type: 'tool-result',
    callId,
    name,
    kind: 'function',
    content: [],
    at,
  }
  if (caller != null) result.caller = caller
  const message = itemOf('tool', result, at)
  if (name !== 'tool_search') {
    const { output, status } = wire
    const text = outputText(output, status)
    if (text !== '') result.content = [{ type: 'text', text, at: below(at, 'output') }]
    const isError = status === 'failed'
    if (isError) result.isError = true
    return withHead(message, isError ? { ...wire, status: undefined } : wire, outputKeys)
  }
  const found = decodeAddedTools(wire, at, report) ?? []
  result.content = [{ type: 'text', text: namesOf(found), at: below(at, 'tools') }]
  const tools = found.map(tool => withoutDefer(tool, report))
  if (tools.length > 0)
    message.parts.push({
      type: 'control',
      control: 'tool-addition',
      protocol: protocolName,
      raw: wire,
      tools,
      at,
    })
  return withHead(message, wire, searchOutputKeys)
}

function outputText(output: unknown, status: unknown): string {
  if (typeof output === 'string') return output
  return output == null ? String(status ?? '') : JSON.stringify(output)
}

/** The arguments of a call. */
function inputOf({ type, arguments: args, action, operation }: JsonObject): unknown {
  if (type === 'tool_search_call') return args ?? {}
  if (isObject(operation))
    return Object.fromEntries(Object.entries(operation).filter(([, value]) => value !== null))
  return Object.fromEntries(
    Object.entries(isObject(action) ? action : {}).filter(
      ([key, value]) => key !== 'type' && value !== null,
    ),
  )
}

/** The search has found the tool: nothing else will load it. */
function withoutDefer(tool: Tool, report: ResponsesReport): Tool {
  if ((tool.type !== 'function' && tool.type !== 'freeform') || !tool.deferLoading) return tool
  report.add('tool.loaded', tool.at, 'defer_loading')
  const { deferLoading: _, ...loaded } = tool
  return loaded
}

/**
 * What a search has found, for the model: the tools themselves are declared with all others, and
 * called by these names.
 */
function namesOf(tools: readonly Tool[]): string {
  const names = tools.flatMap(tool =>
    tool.type === 'function' || tool.type === 'freeform'
      ? [{ name: flatName(tool.name, tool.namespace), description: tool.description }]
      : [],
  )
  return JSON.stringify({ tools: names })
}

/**
 * A call of the function as a call of the tool; undefined if its arguments are none of the tool.
 * `prefix`: how ids of such items begin.
 */
export function encodeClientCall({
  name,
  input,
}: ToolCallPart):
  | { prefix: string; fields: ClientFields & Pick<ResponsesClientCall, 'type'> }
  | undefined {
  const tool = clientTools.get(name)
  const given = parseObject(input)
  const fields = tool && given && tool.fields(given)
  return fields && { prefix: tool.prefix, fields: { type: tool.call, ...fields } }
}

/** Is the result of a search in the same item as the tools that it adds? */
export const isWithTools = ({ parts }: Message): boolean =>
  parts.some(
    part =>
      part.type === 'control' &&
      part.protocol === protocolName &&
      isObject(part.raw) &&
      part.raw['type'] === 'tool_search_output',
  )

/** The result of such a call. */
export function encodeClientResult(
  { callId, content, isError }: ToolResultPart,
  name: string,
): ResponsesClientResult {
  const text = content.map(part => (part.type === 'text' ? part.text : '')).join('')
  switch (name) {
    case 'tool_search':
      return { type: 'tool_search_output', call_id: callId, execution: 'client', tools: [] }
    case 'local_shell':
      return { type: 'local_shell_call_output', id: callId, output: text }
    case 'apply_patch':
      return {
        type: 'apply_patch_call_output',
        call_id: callId,
        status: isError ? 'failed' : 'completed',
        output: text,
      }
    default:
      return { type: 'shell_call_output', call_id: callId, output: outputOf(text, isError) }
  }
}

function outputOf(text: string, isError: boolean | undefined): unknown[] {
  const list = parseJson(text)
  return Array.isArray(list)
    ? list
    : [{ stdout: text, stderr: '', outcome: { type: 'exit', exit_code: isError ? 1 : 0 } }]
}
