import type { Place } from '../../../canonical/message.ts'
import type { McpServer } from '../../../canonical/tool.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import type { MessagesReport } from '../notes.ts'
import type { MessagesMcpServer, MessagesWrittenTool } from '../schema.ts'

/**
 * An MCP server has two places in a request: `mcp_servers` has its URL, a toolset in `tools` says
 * which of its tools are offered.
 */

const serverKeys = new Set(['type', 'name', 'url', 'authorization_token'])

/** Do the decoded toolsets hold all of `mcp_servers`, so that the list itself need not be kept? */
export function areCovered(
  servers: unknown,
  toolsets: readonly (McpServer | undefined)[],
): boolean {
  const counts = new Map<unknown, number>()
  for (const one of toolsets) if (one) counts.set(one.label, (counts.get(one.label) ?? 0) + 1)
  return (
    Array.isArray(servers) &&
    servers.every(
      server =>
        isObject(server) &&
        Object.keys(server).every(key => serverKeys.has(key)) &&
        counts.get(server['name']) === 1,
    )
  )
}

/** Finds the server of a name. */
export type FindServer = (name: string) => { server: JsonObject; index: number } | undefined

/** For `mcp_servers`. The first server of a name counts. */
export function serverFinder(servers: unknown): FindServer {
  const found = new Map<unknown, { server: JsonObject; index: number }>()
  if (Array.isArray(servers))
    for (const [index, server] of servers.entries())
      if (isObject(server) && !found.has(server['name']))
        found.set(server['name'], { server, index })
  return name => found.get(name)
}

export function decodeToolset(wire: JsonObject, find: FindServer): McpServer | undefined {
  const {
    type: _,
    mcp_server_name: label,
    configs,
    default_config,
    cache_control: __,
    ...rest
  } = wire
  if (typeof label !== 'string') return undefined
  const { server, index } = find(label) ?? {}
  const { enabled, defer_loading, ...others } = isObject(default_config) ? default_config : {}
  const named = isObject(configs) ? Object.entries(configs) : []
  const isList =
    enabled === false &&
    named.every(
      ([, config]) =>
        isObject(config) && config['enabled'] === true && Object.keys(config).length === 1,
    )
  const left = {
    ...rest,
    ...(!isList && named.length > 0 && { configs }),
    ...(Object.keys(others).length > 0 && { default_config: others }),
  }
  const text = (key: string) =>
    typeof server?.[key] === 'string' ? (server[key] as string) : undefined
  return {
    label,
    ...(index !== undefined && { at: below('/mcp_servers', index) }),
    ...omitUndefined({
      url: text('url'),
      authorization: text('authorization_token'),
      deferLoading: defer_loading === true ? true : undefined,
    }),
    ...(isList && { allowed: named.map(([tool]) => tool) }),
    approval: false,
    ...(Object.keys(left).length > 0 && { others: left }),
  }
}

/** The entry of `mcp_servers`. */
export function serverOf({ label, url, authorization }: McpServer): MessagesMcpServer {
  return omitUndefined<MessagesMcpServer>({
    type: 'url',
    name: label,
    url,
    authorization_token: authorization,
  })
}

/**
 * The entry of `mcp_servers` and the toolset. Undefined: there is no server, or its URL is unknown.
 */
export function encodeMcp(
  mcp: McpServer | undefined,
  at: Place | undefined,
  report: MessagesReport,
): { server: MessagesMcpServer; toolset: MessagesWrittenTool } | undefined {
  if (mcp?.url === undefined) return undefined
  const { label, allowed, deferLoading, approval, others } = mcp
  if (approval) report.add('tool.no-approval', at)
  report.rest(others ?? {}, at)
  const config = omitUndefined({ enabled: allowed && false, defer_loading: deferLoading })
  return {
    server: serverOf(mcp),
    toolset: {
      type: 'mcp_toolset',
      mcp_server_name: label,
      ...(Object.keys(config).length > 0 && { default_config: config }),
      ...(allowed && {
        configs: Object.fromEntries(allowed.map(tool => [tool, { enabled: true }])),
      }),
    },
  }
}
