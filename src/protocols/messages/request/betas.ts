import { isObject, type JsonObject } from '../../../kit/json/json.ts'

/**
 * The `anthropic-beta` values without which a server refuses this request. Only for fields that the
 * encoder writes by itself: for the others the client sends the header.
 */
export function betasOf({ thinking, mcp_servers, speed }: JsonObject): string[] {
  const betas: string[] = []
  if (isObject(thinking) && isObject(thinking['block_binding']))
    betas.push('thinking-binding-controls-2026-08-01')
  if (Array.isArray(mcp_servers)) betas.push('mcp-client-2025-11-20')
  if (speed === 'fast') betas.push('fast-mode-2026-02-01')
  return betas
}
