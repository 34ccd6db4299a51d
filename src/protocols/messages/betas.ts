import { flatMap } from '../../kit/flat-map.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'

/**
 * The `anthropic-beta` words without which a server refuses what stands in this request. Only what an encoder writes of its
 * own accord is asked about: a client that writes the rest says so itself.
 */
export function betasOf({ thinking, mcp_servers, speed, messages }: JsonObject): string[] {
  const list = Array.isArray(messages) ? messages.filter(isObject) : []
  const blocks = flatMap(list, ({ content }) => (Array.isArray(content) ? content.filter(isObject) : []))
  const added = blocks.filter(({ type }) => type === 'tool_addition').map(({ tool }) => (isObject(tool) ? tool : {}))
  const uses: [word: string, used: boolean][] = [
    ['thinking-binding-controls-2026-08-01', isObject(thinking) && isObject(thinking['block_binding'])],
    ['mcp-client-2025-11-20', Array.isArray(mcp_servers)],
    ['fast-mode-2026-02-01', speed === 'fast'],
    ['mid-conversation-tool-changes-2026-07-01', added.length > 0],
    ['inline-tools-2026-09-15', added.some(({ type }) => type === 'tool_definition')],
    ['mid-conversation-output-config-2026-07-01', list.some(({ output_config }) => isObject(output_config))],
  ]
  return uses.filter(([, used]) => used).map(([word]) => word)
}
