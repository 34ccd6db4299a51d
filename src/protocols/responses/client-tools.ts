import type { ControlPart, Message, Place, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import type { FunctionTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined } from '../../kit/defined.ts'
import { isObject, type JsonObject, parseObject } from '../../kit/json.ts'
import { below } from '../../kit/path.ts'
import { flatName } from '../../kit/tool-names.ts'
import { idOf, statusOf } from './item-head.ts'
import type { ResponsesReport } from './notes.ts'
import { keep, ownForm, protocolName } from './own.ts'
import { decodeAddedTools } from './tools.ts'

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const milliseconds = { type: 'integer', description: 'Milliseconds after which the command is stopped.' }

/** A built-in tool that the client runs. `fields`: those of its call, from the arguments of a function. */
type ClientTool = { description: string; parameters: JsonObject; call: string; prefix: string; fields(input: JsonObject): JsonObject | undefined }

const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(one => typeof one === 'string')

const clientTools = new Map<string, ClientTool>([
  [
    'shell',
    {
      description: 'Runs shell commands on the machine of the user and returns their output.',
      parameters: {
        type: 'object',
        properties: { commands: texts, timeout_ms: milliseconds, max_output_length: { type: 'integer', description: 'Number of characters to return.' } },
        required: ['commands'],
      },
      call: 'shell_call',
      prefix: 'sh_',
      fields({ commands, timeout_ms: timeout = null, max_output_length: length = null }) {
        return isTexts(commands) ? { action: { commands, timeout_ms: timeout, max_output_length: length }, environment: { type: 'local' } } : undefined
      },
    },
  ],
  [
    'local_shell',
    {
      description: 'Runs one command on the machine of the user and returns its output.',
      parameters: {
        type: 'object',
        properties: { command: texts, env: { type: 'object', additionalProperties: text }, working_directory: text, timeout_ms: milliseconds, user: text },
        required: ['command'],
      },
      call: 'local_shell_call',
      prefix: 'lsh_',
      fields: ({ command, env, ...rest }) => (isTexts(command) ? { action: { type: 'exec', command, env: isObject(env) ? env : {}, ...rest } } : undefined),
    },
  ],
  [
    'apply_patch',
    {
      description: 'Creates, updates or deletes a file. `diff` is a V4A diff: the new content, or the changes with their context.',
      parameters: {
        type: 'object',
        properties: { type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] }, path: text, diff: text },
        required: ['type', 'path'],
      },
      call: 'apply_patch_call',
      prefix: 'apc_',
      fields({ type, path, diff }) {
        if (typeof path !== 'string') return undefined
        if (type === 'delete_file') return { operation: { type, path } }
        return (type === 'create_file' || type === 'update_file') && typeof diff === 'string' ? { operation: { type, path, diff } } : undefined
      },
    },
  ],
  // Its description and parameters are those that the request gives.
  ['tool_search', { description: '', parameters: {}, call: 'tool_search_call', prefix: 'tsc_', fields: input => ({ execution: 'client', arguments: input }) }],
])

const nameOfCall = new Map([...clientTools].map(([name, { call }]) => [call, name]))

/** The types of items that call such a tool. */
export const clientCalls: ReadonlySet<string> = new Set(nameOfCall.keys())

/** A search that says itself how it is called is a function for every model; other tools of the client are, if `expandClientTools` says so. */
const isExpanded = (name: string, all: boolean) => all || name === 'tool_search'

/**
 * Built-in tools that the client runs, as functions for models of other providers. A function of the same name goes first. `all`: also
 * those whose parameters the request does not give.
 */
export function expandTools(tools: readonly Tool[], report: ResponsesReport, all = false): readonly Tool[] {
  if (!tools.some(tool => tool.type === 'server' && tool.clientExecuted)) return tools
  return tools.map(tool => {
    if (tool.type !== 'server' || !tool.clientExecuted || !isObject(tool.raw)) return tool
    const name = String(tool.raw['type'])
    const known = clientTools.get(name)
    if (!known || !isExpanded(name, all) || tools.some(other => (other.type === 'function' || other.type === 'freeform') && other.name === name)) return tool
    report.add('tool.expanded', tool.at)
    const { description = known.description, parameters = known.parameters } = tool.raw
    const expanded: FunctionTool = {
      type: 'function',
      name,
      ...(typeof description === 'string' && description && { description }),
      ...(isObject(parameters) && { parameters }),
      strict: false,
      ...defined({ at: tool.at }),
      ...keep({}, {}, { client: tool.raw }),
    }
    return expanded
  })
}

/** A choice of such a tool is a choice of its function. */
export function expandChoice(choice: ToolChoice, tools: readonly Tool[]): ToolChoice {
  const isExpanded = (name: string) => tools.some(tool => tool.type === 'function' && tool.name === name && ownForm(tool.ext)?.['client'])
  const { mode } = choice
  if (mode === 'tool') return choice.kind === 'server' && isExpanded(choice.name) ? { mode, kind: 'function', name: choice.name } : choice
  if (mode !== 'allowed') return choice
  const allowed = choice.tools.map(tool =>
    tool.kind === 'server' && isExpanded(tool.name) ? { kind: 'function' as const, name: tool.name, ...defined({ at: tool.at }) } : tool,
  )
  return { ...choice, tools: allowed }
}

/** The names of the functions that such tools became, in the request of a response. */
export const expandedIn = (tools: readonly Tool[] | undefined): string[] =>
  (tools ?? []).flatMap(tool => (tool.type === 'function' && ownForm(tool.ext)?.['client'] ? [tool.name] : []))

/** By call id, and by the id of the item, which results of the older shell repeat: the call id of each call that the client runs. */
export function clientCallIds(items: readonly JsonObject[], all = false): Map<unknown, string> {
  const ids = new Map<unknown, string>()
  for (const item of items) {
    const { type, id, call_id: call, environment, execution } = item
    const name = nameOfCall.get(String(type))
    const isRemote = name === 'tool_search' ? execution !== 'client' : isObject(environment) && environment['type'] !== 'local'
    if (name === undefined || !isExpanded(name, all) || isRemote || typeof call !== 'string') continue
    ids.set(call, call)
    if (typeof id === 'string') ids.set(id, call)
  }
  return ids
}

type Expanding = { at: Place; ids: ReadonlyMap<unknown, string>; report: ResponsesReport }

/** A call of such a tool, or its result, as those of a function. Undefined: the item is something else, or its call is not in `ids`. */
export function expandItem(wire: JsonObject, type: string, { at, ids, report }: Expanding): Message | undefined {
  const { type: _, id, call_id: call, status: _status, caller, ...rest } = wire
  const callId = ids.get(call ?? id)
  const name = nameOfCall.get(type) ?? nameOfCall.get(type.replace(/_output$/, '')) ?? nameOfCall.get(type.replace(/_output$/, '_call'))
  if (callId === undefined || name === undefined) return undefined
  const form = { item: type, whole: wire }
  const head = { origin: 'item' as const, ...idOf(id), ...statusOf(wire), at }
  const called = caller != null && { caller }
  if (type === 'tool_search_output') {
    const { tools: _tools, execution: _execution, ...fields } = rest
    const found = decodeAddedTools(wire, at, report) ?? []
    const result: ToolResultPart = {
      type: 'tool-result',
      callId,
      name,
      kind: 'function',
      content: [{ type: 'text', text: namesOf(found), at: below(at, 'tools') }],
      ...called,
      at,
    }
    const loaded = found.map(tool => withoutDefer(tool, report))
    const added: ControlPart = { type: 'control', control: 'tool-addition', protocol: protocolName, raw: wire, tools: loaded, at }
    return { role: 'tool', parts: loaded.length > 0 ? [result, added] : [result], ...head, ...keep(fields, {}, form) }
  }
  if (type === 'tool_search_call') {
    const { arguments: asked, execution: _execution, ...fields } = rest
    const part: ToolCallPart = { type: 'tool-call', id: callId, idOrigin: 'wire', name, kind: 'function', input: JSON.stringify(asked ?? {}), ...called, at }
    return { role: 'assistant', parts: [part], ...head, ...keep(fields, {}, form) }
  }
  if (type.endsWith('_output')) {
    const { output, max_output_length: _length, ...fields } = rest
    const said = typeof output === 'string' ? output : output == null ? String(wire['status'] ?? '') : JSON.stringify(output)
    const isError = wire['status'] === 'failed'
    const part: ToolResultPart = {
      type: 'tool-result',
      callId,
      name,
      kind: 'function',
      content: said === '' ? [] : [{ type: 'text', text: said, at: below(at, 'output') }],
      ...(isError && { isError }),
      ...called,
      at,
    }
    return { role: 'tool', parts: [part], ...head, ...keep(fields, {}, form) }
  }
  const { action, operation, environment: _environment, ...fields } = rest
  const { type: kind, ...asked } = isObject(operation) ? operation : isObject(action) ? action : {}
  const input = Object.fromEntries(Object.entries(isObject(operation) ? { type: kind, ...asked } : asked).filter(([, value]) => value !== null))
  const part: ToolCallPart = { type: 'tool-call', id: callId, idOrigin: 'wire', name, kind: 'function', input: JSON.stringify(input), ...called, at }
  return { role: 'assistant', parts: [part], ...head, ...keep(fields, {}, form) }
}

/** The search has found the tool: nothing else will load it. */
function withoutDefer(tool: Tool, report: ResponsesReport): Tool {
  if ((tool.type !== 'function' && tool.type !== 'freeform') || !tool.deferLoading) return tool
  report.add('tool.loaded', tool.at, 'defer_loading')
  const { deferLoading: _, ...loaded } = tool
  return loaded
}

/** What a search has found, for the model: the tools themselves are declared with all others, and called by these names. */
function namesOf(tools: readonly Tool[]): string {
  const names = tools.flatMap(tool =>
    tool.type === 'function' || tool.type === 'freeform' ? [{ name: flatName(tool.name, tool.namespace), description: tool.description }] : [],
  )
  return JSON.stringify({ tools: names })
}

/** The item as it came, if the message was read from a call or result of such a tool. */
export function wholeItemOf({ ext }: Message): JsonObject | undefined {
  const whole = ext?.[protocolName]?.form?.['whole']
  return isObject(whole) ? whole : undefined
}

/** A call of the function as a call of the tool; undefined if its arguments are none of the tool. `prefix`: how ids of such items begin. */
export function encodeClientCall({ name, input }: ToolCallPart): { prefix: string; fields: JsonObject } | undefined {
  const tool = clientTools.get(name)
  const given = parseObject(input)
  const fields = tool && given && tool.fields(given)
  return fields && { prefix: tool.prefix, fields: { type: tool.call, ...fields } }
}
