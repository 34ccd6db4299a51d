import type { ServerToolKind, ServerToolPart } from '../../canonical/message.ts'
import type { Finish, FinishReason } from '../../canonical/response.ts'
import type { JsonObject } from '../../kit/json/json.ts'
import { protocolName } from './own.ts'

type BuiltIn = { tool: ServerToolKind; phase: ServerToolPart['phase'] }

/**
 * Items of the provider's own tools: the tool, and whether the item is a call, a result or both.
 */
const builtInItems = new Map<string, BuiltIn>([
  ['web_search_call', { tool: 'web_search', phase: 'call+result' }],
  ['file_search_call', { tool: 'file_search', phase: 'call+result' }],
  ['code_interpreter_call', { tool: 'code_execution', phase: 'call+result' }],
  ['image_generation_call', { tool: 'image_generation', phase: 'call+result' }],
  ['computer_call', { tool: 'computer', phase: 'call' }],
  ['computer_call_output', { tool: 'computer', phase: 'result' }],
  ['local_shell_call', { tool: 'shell', phase: 'call' }],
  ['local_shell_call_output', { tool: 'shell', phase: 'result' }],
  ['shell_call', { tool: 'shell', phase: 'call' }],
  ['shell_call_output', { tool: 'shell', phase: 'result' }],
  ['apply_patch_call', { tool: 'apply_patch', phase: 'call' }],
  ['apply_patch_call_output', { tool: 'apply_patch', phase: 'result' }],
  ['mcp_list_tools', { tool: 'mcp_list', phase: 'call+result' }],
  ['mcp_call', { tool: 'mcp', phase: 'call+result' }],
  ['mcp_approval_request', { tool: 'mcp_approval', phase: 'call' }],
  ['mcp_approval_response', { tool: 'mcp_approval', phase: 'result' }],
  ['tool_search_call', { tool: 'tool_search', phase: 'call' }],
  ['tool_search_output', { tool: 'tool_search', phase: 'result' }],
  ['program', { tool: 'program', phase: 'call' }],
  ['program_output', { tool: 'program', phase: 'result' }],
])

export function builtInItem(type: string): BuiltIn | undefined {
  return builtInItems.get(type)
}

/** Tool definitions of the provider, by `type`. */
const serverTools = new Map<string, ServerToolKind>([
  ['web_search', 'web_search'],
  ['web_search_2025_08_26', 'web_search'],
  ['web_search_preview', 'web_search'],
  ['web_search_preview_2025_03_11', 'web_search'],
  ['file_search', 'file_search'],
  ['code_interpreter', 'code_execution'],
  ['image_generation', 'image_generation'],
  ['mcp', 'mcp'],
  ['computer', 'computer'],
  ['computer_use', 'computer'],
  ['computer_use_preview', 'computer'],
  ['local_shell', 'shell'],
  ['shell', 'shell'],
  ['apply_patch', 'apply_patch'],
  ['tool_search', 'tool_search'],
  ['programmatic_tool_calling', 'program'],
])

export function serverToolKind(type: string): ServerToolKind | undefined {
  return serverTools.get(type)
}

/** `service_tier`. */
export const tiers: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'flex',
  'scale',
  'priority',
  'fast',
  'ultrafast',
])

/**
 * Reasons that mean more than the canonical one: a limit of messages is no limit of tokens, and new
 * input has ended a `steered` turn.
 */
const approximateReasons: ReadonlySet<string> = new Set(['max_messages', 'steered'])

/** `incomplete_details.reason` as it is read. `steered`: the turn can be continued. */
const incompleteReasons: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['max_output_tokens', 'length'],
  ['content_filter', 'content_filter'],
  ['pause_turn', 'pause'],
  ['max_messages', 'length'],
  ['steered', 'pause'],
])

/** `status` and `incomplete_details.reason` → finish. Undefined: the response has not ended. */
export function decodeFinish(
  status: string | undefined,
  reason: string | undefined,
  awaitsClient: boolean,
): Finish | undefined {
  switch (status) {
    case 'completed':
      return { reason: awaitsClient ? 'tool_calls' : 'stop', raw: status, protocol: protocolName }
    case 'incomplete':
      return {
        reason: (reason !== undefined && incompleteReasons.get(reason)) || 'other',
        ...(reason !== undefined && approximateReasons.has(reason) && { approximate: true }),
        raw: reason ?? status,
        protocol: protocolName,
      }
    case 'failed':
      return { reason: 'error', raw: status, protocol: protocolName }
    case 'cancelled':
      return { reason: 'cancelled', raw: status, protocol: protocolName }
    case 'in_progress':
    case 'queued':
    case undefined:
      return undefined
    default:
      return { reason: 'other', raw: status, protocol: protocolName }
  }
}

type Ending = {
  status: 'completed' | 'incomplete' | 'failed' | 'cancelled'
  reason?: string
  exact: boolean
}

/**
 * `status` and `incomplete_details.reason` as they are written. `exact`: decoding it gives the same
 * reason again.
 */
const endings: Record<FinishReason, Ending> = {
  stop: { status: 'completed', exact: true },
  stop_sequence: { status: 'completed', exact: false },
  length: { status: 'incomplete', reason: 'max_output_tokens', exact: true },
  context_window: { status: 'incomplete', reason: 'max_output_tokens', exact: false },
  tool_calls: { status: 'completed', exact: true },
  content_filter: { status: 'incomplete', reason: 'content_filter', exact: true },
  refusal: { status: 'completed', exact: false },
  recitation: { status: 'incomplete', reason: 'content_filter', exact: false },
  pause: { status: 'incomplete', reason: 'pause_turn', exact: false },
  compaction: { status: 'completed', exact: false },
  malformed_tool_call: { status: 'completed', exact: false },
  cancelled: { status: 'cancelled', exact: true },
  error: { status: 'failed', exact: true },
  other: { status: 'completed', exact: false },
}

/**
 * Finish → `status` and `incomplete_details.reason`. A reason of this protocol is written
 * unchanged.
 */
export function encodeFinish({ reason, raw, protocol: of }: Finish): Ending {
  const isOwn = of === protocolName && raw !== undefined
  if (isOwn && incompleteReasons.get(raw) === reason)
    return { status: 'incomplete', reason: raw, exact: true }
  if (isOwn && reason === 'other' && raw !== 'completed')
    return { status: 'incomplete', ...(raw !== 'incomplete' && { reason: raw }), exact: true }
  return endings[reason]
}

/**
 * Progress events of items: the beginning of their types, the type of the item, the endings of
 * their types.
 */
const events: readonly [begins: string, item: string, ends: readonly string[]][] = [
  ['web_search_call', 'web_search_call', ['in_progress', 'searching', 'completed']],
  ['file_search_call', 'file_search_call', ['in_progress', 'searching', 'completed']],
  ['code_interpreter_call', 'code_interpreter_call', ['in_progress', 'interpreting', 'completed']],
  ['code_interpreter_call_code', 'code_interpreter_call', ['delta', 'done']],
  [
    'image_generation_call',
    'image_generation_call',
    ['in_progress', 'generating', 'partial_image', 'completed'],
  ],
  ['mcp_call', 'mcp_call', ['in_progress', 'completed', 'failed']],
  ['mcp_call_arguments', 'mcp_call', ['delta', 'done']],
  ['mcp_list_tools', 'mcp_list_tools', ['in_progress', 'completed', 'failed']],
  ['shell_call_command', 'shell_call', ['added', 'delta', 'done']],
  ['shell_call_output_content', 'shell_call_output', ['delta', 'done']],
  ['compaction', 'compaction', ['compacting']],
]

const items = new Map<string, string>(
  events.flatMap(([begins, item, ends]) =>
    ends.map(end => [`response.${begins}.${end}`, item] as const),
  ),
)

/**
 * Types of events that are only forwarded, to clients of this protocol: they report progress, or
 * what their item repeats at its end.
 */
export const forwardable: ReadonlySet<string> = new Set(items.keys())

/**
 * Is the event about this item? Events about the commands of a shell have no item id, because only
 * one is open at a time.
 */
export function isAbout({ type, item_id: id }: JsonObject, item: JsonObject): boolean {
  return items.get(String(type)) === item['type'] && (id === undefined || id === item['id'])
}
