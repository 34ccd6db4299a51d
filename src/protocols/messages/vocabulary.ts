import type { CacheTtl, ServerToolKind } from '../../canonical/message.ts'
import type { FinishReason } from '../../canonical/response.ts'
import { twoWay } from '../../kit/fields/two-way.ts'
import { isObject } from '../../kit/json/json.ts'

/** `stop_reason` as it is read. */
export const stopReasons: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop_sequence'],
  ['max_tokens', 'length'],
  ['tool_use', 'tool_calls'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'context_window'],
  ['compaction', 'compaction'],
  // Values of compatible servers.
  ['stop', 'stop'],
  ['length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['sensitive', 'content_filter'],
])

/** `stop_reason` as it is written. `exact: false`: the nearest one. */
export const finishWords: Record<FinishReason, { word: string; exact: boolean }> = {
  stop: { word: 'end_turn', exact: true },
  stop_sequence: { word: 'stop_sequence', exact: true },
  length: { word: 'max_tokens', exact: true },
  context_window: { word: 'model_context_window_exceeded', exact: true },
  tool_calls: { word: 'tool_use', exact: true },
  content_filter: { word: 'refusal', exact: false },
  refusal: { word: 'refusal', exact: true },
  recitation: { word: 'refusal', exact: false },
  pause: { word: 'pause_turn', exact: true },
  compaction: { word: 'compaction', exact: true },
  malformed_tool_call: { word: 'end_turn', exact: false },
  cancelled: { word: 'end_turn', exact: false },
  error: { word: 'end_turn', exact: false },
  other: { word: 'end_turn', exact: false },
}

/** `service_tier` of a request. */
export const requestTier = twoWay<string, string>([
  ['auto', 'auto'],
  ['standard_only', 'default'],
])

/** `usage.service_tier` of a response; other values are the same on both sides. */
export const responseTier = twoWay<string, string>([
  ['standard', 'default'],
  ['priority', 'priority'],
])

/** `ttl` of a cache mark. */
export const ttlWords: Record<CacheTtl, '5m' | '1h'> = {
  '5m': '5m',
  '30m': '1h',
  '1h': '1h',
  '12h': '1h',
}

export function isTtl(word: unknown): word is '5m' | '1h' {
  return word === '5m' || word === '1h'
}

/** Is it a caller of this protocol: the model itself, or code that the provider runs? */
export function isCallerType(type: unknown): boolean {
  return type === 'direct' || (typeof type === 'string' && type.startsWith('code_execution_'))
}

/** Undefined: the model itself. */
export const isCaller = (caller: unknown): boolean =>
  caller === undefined || (isObject(caller) && isCallerType(caller['type']))

const callNames = new Map<string, ServerToolKind>([
  ['web_search', 'web_search'],
  ['web_fetch', 'web_fetch'],
  ['code_execution', 'code_execution'],
  ['bash_code_execution', 'code_execution'],
  ['text_editor_code_execution', 'code_execution'],
  ['tool_search_tool_regex', 'tool_search'],
  ['tool_search_tool_bm25', 'tool_search'],
  ['advisor', 'advisor'],
])

/** `name` of a `server_tool_use` block. */
export function serverToolOfName(word: unknown): ServerToolKind {
  return (typeof word === 'string' && callNames.get(word)) || 'other'
}

/** Block types of server tools other than `server_tool_use`. */
export const serverBlocks = new Map<string, { phase: 'call' | 'result'; tool: ServerToolKind }>([
  ['web_search_tool_result', { phase: 'result', tool: 'web_search' }],
  ['web_fetch_tool_result', { phase: 'result', tool: 'web_fetch' }],
  ['code_execution_tool_result', { phase: 'result', tool: 'code_execution' }],
  ['bash_code_execution_tool_result', { phase: 'result', tool: 'code_execution' }],
  ['text_editor_code_execution_tool_result', { phase: 'result', tool: 'code_execution' }],
  ['tool_search_tool_result', { phase: 'result', tool: 'tool_search' }],
  ['advisor_tool_result', { phase: 'result', tool: 'advisor' }],
  ['mcp_tool_use', { phase: 'call', tool: 'mcp' }],
  ['mcp_tool_result', { phase: 'result', tool: 'mcp' }],
  ['mcp_tool_listing', { phase: 'result', tool: 'mcp_list' }],
])

/** Block types of control parts. */
export const controlBlocks = new Map<
  string,
  'compaction' | 'fallback' | 'container-upload' | 'tool-addition' | 'tool-removal'
>([
  ['compaction', 'compaction'],
  ['fallback', 'fallback'],
  ['container_upload', 'container-upload'],
  ['tool_addition', 'tool-addition'],
  ['tool_removal', 'tool-removal'],
])

/**
 * Families of tools with a dated `type`. `client`: the client runs the tool, and the provider only
 * knows its schema.
 */
const toolFamilies: readonly (readonly [
  prefix: string,
  tool: ServerToolKind,
  runs: 'server' | 'client',
])[] = [
  ['web_search_', 'web_search', 'server'],
  ['web_fetch_', 'web_fetch', 'server'],
  ['code_execution_', 'code_execution', 'server'],
  ['tool_search_tool_', 'tool_search', 'server'],
  ['advisor_', 'advisor', 'server'],
  ['mcp_toolset', 'mcp', 'server'],
  ['bash_', 'shell', 'client'],
  ['text_editor_', 'text_editor', 'client'],
  ['memory_', 'memory', 'client'],
  ['computer_', 'computer', 'client'],
  ['browser_toolset_', 'computer', 'client'],
]

/** The family of a tool that is no function, by its `type`. Undefined: it is unknown. */
export function toolFamily(
  type: string,
): { tool: ServerToolKind; clientExecuted: boolean } | undefined {
  const row = toolFamilies.find(([prefix]) => type.startsWith(prefix))
  return row && { tool: row[1], clientExecuted: row[2] === 'client' }
}

/** The nearest tool here for one of another provider, with `serverTools: 'map'`. */
export const nearestServerTool: Partial<Record<ServerToolKind, { type: string; name: string }>> = {
  web_search: { type: 'web_search_20250305', name: 'web_search' },
  web_fetch: { type: 'web_fetch_20250910', name: 'web_fetch' },
  url_context: { type: 'web_fetch_20250910', name: 'web_fetch' },
  code_execution: { type: 'code_execution_20250825', name: 'code_execution' },
  tool_search: { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
}
