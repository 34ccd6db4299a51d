import type { JsonObject } from '../../../kit/json/json.ts'

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
