import type { Message } from '../../canonical/message.ts'
import type { Note } from '../../canonical/note.ts'
import { pointerOf } from '../../canonical/place.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { gatewayNote } from '../../kit/notes/gateway.ts'
import { refuseIfStrict, type Settings } from '../../translate/settings.ts'
import { changedRequest, decoded } from '../body/changed-request.ts'
import { inTime } from '../in-time.ts'
import type { RequestContext, Service, Trace } from '../request-context.ts'
import type { Deployment } from '../upstream/catalog.ts'
import { isMcpAsked, listed, type McpAsked, type McpTool } from './mcp.ts'
import { type RunTools, toolsToRun, withFunctions } from './request.ts'

/** So many MCP servers of one request are asked for their tools, each so long. In milliseconds. */
const mostServers = 16
const mostListMs = 10_000

/** A request some of whose tools the application runs. */
export type Running = { incoming: RequestContext; tools: RunTools; strict: Settings['strict'] }

/** Undefined: the application runs none of its tools. */
export async function runningOf(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
): Promise<Running | undefined> {
  const { serverTools } = service.hooks
  if (!serverTools || incoming.operation !== 'generate') return undefined
  if (!incoming.candidates.some(candidate => isRunHere(incoming, candidate))) return undefined
  const value = decoded(incoming)
  if ((value.candidateCount ?? 1) > 1) return undefined
  const servers = await serversOf(service, incoming, trace, value.tools?.filter(isMcpAsked) ?? [])
  const tools = toolsToRun(value, name => serverTools[name] !== undefined, servers)
  if (tools.size === 0) return undefined
  const { strict } = service.config.defaults
  return { tools, strict, incoming: inRound({ incoming, tools, strict }, []) }
}

/** The tools of MCP servers that the application is connected to. */
async function serversOf(
  { hooks: { serverTools }, log }: Service,
  { request: { signal } }: RequestContext,
  { requestId, request, identity = {} }: Trace,
  all: readonly McpAsked[],
): Promise<McpTool[]> {
  const lists = all.slice(0, mostServers).map(async asked => {
    const { label, url, authorization } = asked.mcp
    try {
      return await inTime(signal, mostListMs, async end => {
        const server = { label, ...omitUndefined({ url, authorization }) }
        const client = await serverTools?.mcp?.(server, { request, identity, signal: end })
        return client ? listed(client, asked) : []
      })
    } catch (error) {
      log('warn', { requestId, server: label, error }, 'the tools of an MCP server are not known')
      return []
    }
  })
  return (await Promise.all(lists)).flat()
}

/** Servers of the caller's protocol run its tools themselves. */
export const isRunHere = (
  { protocol }: RequestContext,
  { protocol: to, entry }: Deployment,
): boolean => to !== protocol || entry.serverTools === 'app'

export const notesOf = (tools: RunTools): Note[] =>
  [...new Set([...tools.values()].map(({ asked }) => asked))].map(({ at }) =>
    gatewayNote('gateway.server-tool', at ? pointerOf(at) : ''),
  )

/** The same request in a later round, which goes on with these messages. */
export function inRound(
  { incoming, tools, strict }: Running,
  rounds: readonly Message[],
  isLast = false,
): RequestContext {
  const { bodyFor: _, ...plain } = incoming
  return {
    ...plain,
    bodyFor: candidate => {
      if (!isRunHere(incoming, candidate)) return incoming.body
      return changedRequest(incoming, asked => {
        refuseIfStrict(notesOf(tools), strict, candidate.protocol.name)
        return withFunctions(asked, tools, { rounds, isLast })
      })
    },
  }
}
