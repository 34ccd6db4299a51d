import type { ServerTool } from '../../canonical/tool.ts'
import type { ServerToolCall, ServerToolResult, WebToolCall } from '../hooks.ts'
import type { Service } from '../request-context.ts'
import { returnedByMcp } from './mcp.ts'
import { isOfMcp, type RunTool } from './request.ts'
import { failed, type Returned, returnedOf } from './result.ts'

/** Calls the application, or its MCP client. @throws what it throws */
export async function runTool(
  { hooks: { serverTools } }: Service,
  tool: RunTool,
  input: Record<string, unknown>,
  call: ServerToolCall,
): Promise<Returned> {
  if (isOfMcp(tool)) {
    const { client, definition } = tool
    const asked = { name: definition.name, arguments: input }
    return returnedByMcp(await client.callTool(asked, undefined, { signal: call.signal }))
  }
  const { asked } = tool
  const { common: settings = {}, tool: name } = asked
  const needed = name === 'web_search' ? 'query' : 'url'
  if (typeof input[needed] !== 'string') return failed(`The argument ${needed} is missing.`)
  const isAllowed = (url: string) => isOfDomains(url, settings)
  if (name === 'web_fetch' && !isAllowed(input[needed]))
    return failed('This address is not allowed.')
  const run = serverTools?.[name] as Run | undefined
  return returnedOf(await run?.(input, { ...call, settings }), isAllowed)
}

type Run = (input: object, call: WebToolCall) => ServerToolResult | Promise<ServerToolResult>

type Domains = Pick<NonNullable<ServerTool['common']>, 'allowedDomains' | 'blockedDomains'>

/** A domain stands for those below it, too. It may have a path. */
function isOfDomains(address: string, { allowedDomains, blockedDomains }: Domains): boolean {
  if (!allowedDomains && !blockedDomains) return true
  if (!URL.canParse(address)) return false
  const { hostname: given, pathname } = new URL(address)
  const hostname = given.replace(/\.$/, '')
  const isIn = (domain: string) => {
    const [host = '', ...path] = domain
      .toLowerCase()
      .replace(/^https?:\/\//, '')
      .split('/')
    const isBelow = hostname === host || hostname.endsWith(`.${host}`)
    return isBelow && pathname.toLowerCase().startsWith(`/${path.join('/')}`)
  }
  return (allowedDomains?.some(isIn) ?? true) && !blockedDomains?.some(isIn)
}
