import type { ServerToolPart, ToolCallPart } from '../../canonical/message.ts'
import type { FunctionTool, McpServer, ServerTool } from '../../canonical/tool.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { isObject, parseObject } from '../../kit/json/json.ts'
import { protocols } from '../../protocols/index.ts'
import type { McpClient, ServerToolCall, ServerToolResult } from '../hooks.ts'
import { type Found, type Returned, returnedOf } from './result.ts'

/** A tool of an MCP server. `definition`: for the model, still with the server's name. */
export type McpTool = { definition: FunctionTool; client: McpClient; asked: McpAsked }

/** The tool of a request that names an MCP server. */
export type McpAsked = ServerTool & { mcp: McpServer }

/** So many pages of its list, and so many tools, are read of a server. */
const mostLists = 10
const mostTools = 128

/** Servers whose calls the client has to approve are not among them. */
export const isMcpAsked = (tool: unknown): tool is McpAsked =>
  isObject(tool) &&
  tool['type'] === 'server' &&
  isObject(tool['mcp']) &&
  tool['mcp']['approval'] === false

/** The tools that a request wants of a server. @throws what the client throws */
export async function listed(client: McpClient, asked: McpAsked): Promise<McpTool[]> {
  const found: McpTool[] = []
  let cursor: string | undefined
  for (let nth = 0; nth < mostLists; nth++) {
    const { tools, nextCursor } = await client.listTools(omitUndefined({ cursor }))
    for (const { name, description, inputSchema, annotations } of tools) {
      if (typeof name !== 'string' || name === '') continue
      if (!isWanted(asked, name, annotations?.readOnlyHint === true)) continue
      const parameters = inputSchema as FunctionTool['parameters']
      const definition = { type: 'function', name, ...omitUndefined({ description, parameters }) }
      found.push({ definition: definition as FunctionTool, client, asked })
    }
    cursor = nextCursor
    if (cursor === undefined || found.length >= mostTools) break
  }
  return found.slice(0, mostTools)
}

/** Toolsets of messages turn single tools on and off, allowed tools of responses read alone. */
function isWanted({ mcp, raw }: McpAsked, name: string, onlyReads: boolean): boolean {
  const { configs, default_config, allowed_tools } = isObject(raw) ? raw : {}
  const [own, others] = [isObject(configs) ? configs[name] : undefined, default_config].map(
    config => (isObject(config) ? config['enabled'] : undefined),
  )
  const readsOnly = isObject(allowed_tools) && allowed_tools['read_only'] === true
  return (
    (mcp.allowed?.includes(name) ?? true) && (own ?? others) !== false && (!readsOnly || onlyReads)
  )
}

/** The result of a tool, which the server or its client has made. */
export function returnedByMcp(result: unknown): Returned {
  const { content, structuredContent, isError } = isObject(result) ? result : {}
  const parts = Array.isArray(content) ? content.filter(isObject) : []
  const said = parts.map(textOfPart).join('\n\n')
  const text = said || (structuredContent === undefined ? '' : JSON.stringify(structuredContent))
  const results = [...parts.flatMap(linkIn), ...addressesIn(text)]
  return {
    text: returnedOf(text).text,
    found: returnedOf({ results }).found,
    ...(isError === true && { error: true }),
  }
}

function textOfPart(part: Record<string, unknown>): string {
  const { type, text, resource, uri, name, mimeType } = part
  if (typeof text === 'string') return text
  if (isObject(resource)) return textOfPart({ ...resource, type: 'resource' })
  if (type === 'resource_link') return [name, uri].filter(one => typeof one === 'string').join('\n')
  return `[Here was ${String(mimeType ?? type)}, which is no text.]`
}

function linkIn({ type, uri, title, name }: Record<string, unknown>): Found[] {
  if (type !== 'resource_link' || typeof uri !== 'string') return []
  const known = [title, name].find(one => typeof one === 'string')
  return [{ url: uri, ...omitUndefined({ title: known as string | undefined }) }]
}

/** Addresses of pages in a text. */
const addressesIn = (text: string): Found[] =>
  [...new Set(text.match(/https?:\/\/[^\s<>"'`\\()[\]{}|^]*[^\s<>"'`\\()[\]{}|^.,;:!?]/g))].map(
    url => ({
      url,
    }),
  )

/**
 * A tool of an MCP server, for the hook `serverTools`. `client`: connected, such as `Client` of
 * `@modelcontextprotocol/sdk`. `argumentsOf`: what the tool gets, if its arguments have other names.
 * Addresses in its text count as found pages.
 * @example
 * import { mcpTool } from 'wireglot/gateway'
 *
 * const client = {
 *   listTools: async () => ({ tools: [] }),
 *   callTool: async () => ({ content: [{ type: 'text', text: 'Wires: https://example.org/wires' }] }),
 * }
 * const web_search = mcpTool(client, 'search', ({ query }: { query: string }) => ({ q: query }))
 * const { signal } = new AbortController()
 * const result = await web_search({ query: 'wires' }, { signal })
 * console.log(JSON.stringify(result)) // {"text":"Wires: https://example.org/wires","results":[…
 */
export function mcpTool<Input extends Record<string, unknown>>(
  client: McpClient,
  name: string,
  argumentsOf: (input: Input) => Record<string, unknown> = input => input,
): (input: Input, call: Pick<ServerToolCall, 'signal'>) => Promise<ServerToolResult> {
  return async (input, { signal }) => {
    const result = await client.callTool({ name, arguments: argumentsOf(input) }, undefined, {
      signal,
    })
    const { text, found, error } = returnedByMcp(result)
    if (error) throw new Error(text)
    return { text, results: found }
  }
}

/** For the client: a call in the words of its protocol. None: it has none. */
export function mcpParts(
  protocol: string,
  { id: called, input }: ToolCallPart,
  { definition: { name }, asked: { mcp } }: McpTool,
  { text, error }: Returned,
): ServerToolPart[] {
  const part = (phase: ServerToolPart['phase'], id: string, raw: object): ServerToolPart => ({
    type: 'server-tool',
    phase,
    tool: 'mcp',
    id,
    protocol,
    raw,
  })
  if (protocol === protocols.messages.name) {
    const id = `mcptoolu_${called}`
    const content = [{ type: 'text', text }]
    return [
      part('call', id, {
        type: 'mcp_tool_use',
        id,
        name,
        server_name: mcp.label,
        input: parseObject(input) ?? {},
      }),
      part('result', id, {
        type: 'mcp_tool_result',
        tool_use_id: id,
        is_error: error === true,
        content,
      }),
    ]
  }
  if (protocol !== protocols.responses.name) return []
  const id = `mcp_${called}`
  const raw = {
    type: 'mcp_call',
    id,
    server_label: mcp.label,
    name,
    arguments: input,
    output: error ? null : text,
    error: error ? text : null,
    approval_request_id: null,
    status: error ? 'failed' : 'completed',
  }
  return [part('call+result', id, raw)]
}

/** Does an earlier call belong to this tool? */
export function isCallOf({ tool, raw }: ServerToolPart, { definition, asked }: McpTool): boolean {
  if (tool !== 'mcp' || !isObject(raw)) return false
  const { name, server_label, server_name } = raw
  return name === definition.name && (server_label ?? server_name) === asked.mcp.label
}
