import type { McpServer } from '../../../canonical/tool.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import type { ResponsesHosted } from '../written.ts'

/** MCP servers that the provider calls. */

export function decodeMcp(wire: JsonObject): McpServer | undefined {
  const {
    type: _,
    server_label: label,
    server_url: url,
    authorization,
    allowed_tools,
    require_approval,
    defer_loading,
    ...rest
  } = wire
  if (typeof label !== 'string') return undefined
  const { tool_names, ...filter } = isObject(allowed_tools)
    ? allowed_tools
    : { tool_names: allowed_tools }
  const allowed =
    Array.isArray(tool_names) && tool_names.every(one => typeof one === 'string')
      ? (tool_names as string[])
      : undefined
  const others = Object.fromEntries(
    Object.entries({ ...rest, ...(Object.keys(filter).length > 0 && { allowed_tools }) }).filter(
      ([, value]) => value !== null,
    ),
  )
  return {
    label,
    ...omitUndefined({
      url: typeof url === 'string' ? url : undefined,
      authorization: typeof authorization === 'string' ? authorization : undefined,
      allowed,
      deferLoading: defer_loading === true ? true : undefined,
    }),
    approval: require_approval !== 'never',
    ...(Object.keys(others).length > 0 && { others }),
  }
}

/** Undefined: its URL is not known. */
export function encodeMcp(mcp: McpServer | undefined): ResponsesHosted | undefined {
  if (mcp?.url === undefined) return undefined
  const { label, url, authorization, allowed, deferLoading, approval } = mcp
  // Without `require_approval`, the client has to approve each call.
  return {
    type: 'mcp',
    server_label: label,
    server_url: url,
    ...omitUndefined({ authorization, allowed_tools: allowed, defer_loading: deferLoading }),
    ...(!approval && { require_approval: 'never' }),
  }
}
