import { isObject, type JsonObject } from '../../../kit/json/json.ts'

/**
 * The `anthropic-beta` values without which a server refuses this request. Only for fields that the
 * encoder writes by itself: for the others the client sends the header.
 */
export function betasOf({ thinking, mcp_servers, speed, messages }: JsonObject): string[] {
  const betas: string[] = []
  if (isObject(thinking) && isObject(thinking['block_binding']))
    betas.push('thinking-binding-controls-2026-08-01')
  if (Array.isArray(mcp_servers)) betas.push('mcp-client-2025-11-20')
  if (speed === 'fast') betas.push('fast-mode-2026-02-01')
  const { adds, defines, configures } = usesOf(messages)
  if (adds) betas.push('mid-conversation-tool-changes-2026-07-01')
  if (defines) betas.push('inline-tools-2026-09-15')
  if (configures) betas.push('mid-conversation-output-config-2026-07-01')
  return betas
}

/**
 * Which beta features the messages use: adding tools, defining them inline, changing
 * `output_config`.
 */
function usesOf(messages: unknown): { adds: boolean; defines: boolean; configures: boolean } {
  const uses = { adds: false, defines: false, configures: false }
  for (const message of listOf(messages)) {
    if (!isObject(message)) continue
    if (isObject(message['output_config'])) uses.configures = true
    for (const block of listOf(message['content'])) {
      if (!isObject(block) || block['type'] !== 'tool_addition') continue
      uses.adds = true
      if (isObject(block['tool']) && block['tool']['type'] === 'tool_definition')
        uses.defines = true
    }
  }
  return uses
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
