/** Events that tell how a tool of the provider is getting on, by the item they are about. */
const byItem: Record<string, readonly string[]> = {
  web_search_call: ['in_progress', 'searching', 'completed'],
  file_search_call: ['in_progress', 'searching', 'completed'],
  code_interpreter_call: ['in_progress', 'interpreting', 'completed'],
  image_generation_call: ['in_progress', 'generating', 'partial_image', 'completed'],
  mcp_call: ['in_progress', 'completed', 'failed'],
  mcp_list_tools: ['in_progress', 'completed', 'failed'],
}

const items = new Map<string, string>(Object.entries(byItem).flatMap(([item, words]) => words.map(word => [`response.${item}.${word}`, item] as const)))
for (const word of ['delta', 'done']) {
  items.set(`response.code_interpreter_call_code.${word}`, 'code_interpreter_call')
  items.set(`response.mcp_call_arguments.${word}`, 'mcp_call')
}

/** Events that clients of this protocol know, though nothing else is made of them. */
export const forwardable: ReadonlySet<string> = new Set(items.keys())

/** Is the event about an item of this type? */
export function belongsTo(event: string, item: unknown): boolean {
  return items.get(event) === item
}
