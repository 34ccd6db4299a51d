import { addDelta, collectEvent, startCollecting } from '../../canonical/collect.ts'
import { copyOf } from '../../canonical/copy.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Message, ServerToolPart, ToolCallPart } from '../../canonical/message.ts'
import type { Note } from '../../canonical/note.ts'
import { pointerOf } from '../../canonical/place.ts'
import type { ServerTool } from '../../canonical/tool.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { parseObject } from '../../kit/json/json.ts'
import { gatewayNote } from '../../kit/notes/gateway.ts'
import { refuseIfStrict, type Settings } from '../../translate/settings.ts'
import { changedRequest, decoded } from '../body/changed-request.ts'
import { inTime } from '../in-time.ts'
import { newNotes } from '../new-notes.ts'
import type { RequestContext, Service, Trace } from '../request-context.ts'
import { Seam } from '../resume/seam.ts'
import type { Reading, Stream } from '../stream-hook.ts'
import type { Deployment } from '../upstream/catalog.ts'
import { forgetCall } from '../use.ts'
import { isMcpAsked, listed, type McpAsked, type McpTool, mcpParts } from './mcp.ts'
import { isOfMcp, type RunTools, toolsToRun, withFunctions } from './request.ts'
import { citationsIn, type Found, failed, type Returned, resultPart, webParts } from './result.ts'
import { runTool } from './run.ts'

/** How often a model may use tools before it has to answer. */
const mostRounds = 8

/** In milliseconds, for one use of a tool. */
const mostMs = 60_000

/** So many calls of one round are run, and so many servers of one request are asked. */
const mostCalls = 16
const mostServers = 16

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
      return await inTime(signal, mostMs, async end => {
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
const isRunHere = ({ protocol }: RequestContext, { protocol: to, entry }: Deployment): boolean =>
  to !== protocol || entry.serverTools === 'app'

const notesOf = (tools: RunTools): Note[] =>
  [...new Set([...tools.values()].map(({ asked }) => asked))].map(({ at }) =>
    gatewayNote('gateway.server-tool', at ? pointerOf(at) : ''),
  )

/** The same request in a later round, which goes on with these messages. */
function inRound(
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

/**
 * The events of a response in which the model uses tools of the application: they are run, and the
 * model is asked again, until it answers.
 */
export async function* rounds(
  first: Stream,
  running: Running,
  reading: Reading,
): AsyncGenerator<CanonicalEvent, undefined> {
  const { trace } = reading
  const seam = new Seam()
  const messages: Message[] = []
  const use = new Use(running, reading)
  let stream = first
  let incoming = running.incoming
  for (let round = 1; ; round++) {
    if (round === 1 && isRunHere(incoming, first.opened.candidate))
      trace.notes.unshift(...notesOf(running.tools))
    seam.cut({ isAnew: true })
    const heard = new Round(running.tools, use.found)
    for await (const event of reading.read(stream, incoming))
      for (const one of heard.take(event)) yield* seam.take(use.counted(one))
    Object.assign(first, omitUndefined({ isRead: stream.isRead, signatures: stream.signatures }))
    const { calls } = heard
    const isOver = heard.hasFailed || calls.length === 0 || round > mostRounds
    const returned = isOver ? [] : await use.results(calls)
    for (const [nth, result] of returned.entries())
      for (const part of use.shown(calls[nth] as Call, result))
        for (const event of heard.added(part)) yield* seam.take(event)
    if (isOver || heard.callsClient) {
      for (const event of heard.ending) yield* seam.take(use.counted(event))
      return undefined
    }
    messages.push(...heard.messages(returned))
    seam.spend(forgetCall(trace))
    const { notes } = trace
    incoming = inRound(running, messages, round === mostRounds)
    stream = await reading.ask(incoming)
    trace.notes.unshift(...newNotes(trace.notes, notes))
  }
}

/** How a response uses the tools. */
class Use {
  /** What they have found, by address. */
  readonly found = new Map<string, Found>()
  readonly #running: Running
  readonly #reading: Reading
  readonly #counts = new Map<ServerTool, number>()
  readonly #ids = new Set<string>()

  constructor(running: Running, reading: Reading) {
    this.#running = running
    this.#reading = reading
  }

  /** Runs the calls of one round. */
  async results(calls: readonly Call[]): Promise<Returned[]> {
    const all = await Promise.all(
      calls.map((call, nth) => (nth < mostCalls ? this.#run(call) : tooMany)),
    )
    for (const { found } of all)
      for (const page of found) if (!this.found.has(page.url)) this.found.set(page.url, page)
    return all
  }

  /** How the client sees a call. Servers repeat their ids in each response. */
  shown(call: Call, result: Returned): ServerToolPart[] {
    const tool = this.#running.tools.get(call.name)
    if (!tool) return []
    let { id } = call
    for (let nth = 2; this.#ids.has(id); nth++) id = `${call.id}_${nth}`
    this.#ids.add(id)
    const { protocol } = this.#running.incoming
    return isOfMcp(tool)
      ? mcpParts(protocol.name, { ...call, id }, tool, result)
      : webParts({ ...call, id }, tool.asked.tool, result)
  }

  /** Usage with the number of uses of each tool, as providers count them. */
  counted(event: CanonicalEvent): CanonicalEvent {
    if (event.type !== 'usage') return event
    const counts = [...this.#counts].filter(([{ mcp }]) => !mcp)
    if (counts.length === 0) return event
    const serverTools = Object.fromEntries(counts.map(([{ tool }, count]) => [tool, count]))
    return { ...event, usage: { ...event.usage, serverTools } }
  }

  /** Never throws: the model reads that the tool has failed. */
  async #run({ name, input }: Call): Promise<Returned> {
    const { service, trace } = this.#reading
    const { signal } = this.#running.incoming.request
    const tool = this.#running.tools.get(name)
    const given = parseObject(input)
    if (!tool || !given) return failed('The arguments are not a JSON object.')
    const { asked } = tool
    const count = this.#counts.get(asked) ?? 0
    if (count >= (asked.common?.maxUses ?? Infinity))
      return failed('The tool may not be used again.')
    this.#counts.set(asked, count + 1)
    try {
      const { request, identity = {} } = trace
      return await inTime(signal, mostMs, async end =>
        runTool(service, tool, given, { request, identity, signal: end }),
      )
    } catch (error) {
      const { requestId } = trace
      service.log('warn', { requestId, tool: name, error }, 'a tool of the application failed')
      return failed('The tool failed.')
    }
  }
}

type Call = ToolCallPart

const tooMany = failed('These are too many calls at once.')

/** The events of one round. */
class Round {
  readonly calls: Call[] = []
  /** How the response ends: `finish` and what follows it. */
  readonly ending: CanonicalEvent[] = []
  hasFailed = false
  callsClient = false
  readonly #tools: RunTools
  readonly #found: ReadonlyMap<string, Found>
  readonly #into = startCollecting()
  readonly #held = new Map<number, Call>()
  #message = 0
  readonly #texts = new Map<number, string>()
  #parts = 0

  /** `found`: what earlier rounds have found. */
  constructor(tools: RunTools, found: ReadonlyMap<string, Found>) {
    this.#tools = tools
    this.#found = found
  }

  /** What the client gets of an event. */
  take(event: CanonicalEvent): CanonicalEvent[] {
    collectEvent(this.#into, event)
    switch (event.type) {
      case 'part.start': {
        const { head, part, message } = event
        this.#parts = Math.max(this.#parts, part + 1)
        if (head.type === 'text') this.#texts.set(part, head.text)
        if (head.type !== 'tool-call') return [event]
        if (!this.#tools.has(head.name)) {
          this.callsClient = true
          return [event]
        }
        const call = copyOf(head)
        this.calls.push(call)
        this.#held.set(part, call)
        this.#message = message
        return []
      }
      case 'part.delta': {
        const { part, delta } = event
        const held = this.#held.get(part)
        if (held) addDelta(held, copyOf(delta))
        const text = this.#texts.get(part)
        if (text !== undefined && delta.kind === 'text') this.#texts.set(part, text + delta.text)
        return held ? [] : [event]
      }
      case 'part.end': {
        const held = this.#held.get(event.part)
        if (!held) return this.#cited(event)
        if (event.final?.type === 'tool-call') Object.assign(held, copyOf(event.final))
        return []
      }
      case 'finish': {
        const { reason } = event.finish
        // The client sees no call.
        const isAnswer = reason === 'tool_calls' && this.calls.length > 0 && !this.callsClient
        this.ending.push(
          isAnswer ? { ...event, finish: { ...event.finish, reason: 'stop' } } : event,
        )
        return []
      }
      case 'end':
      case 'error':
        this.hasFailed ||= event.type === 'error' || (event.type === 'end' && !event.clean)
        this.ending.push(event)
        return []
      case 'usage':
        if (this.ending.length === 0) return [event]
        this.ending.push(event)
        return []
      default:
        return [event]
    }
  }

  /** A further part, after all others of the round. */
  added(head: ServerToolPart): CanonicalEvent[] {
    const part = this.#parts++
    return [
      { type: 'part.start', candidate: 0, message: this.#message, part, head },
      { type: 'part.end', candidate: 0, part },
    ]
  }

  /** The round for the next one: what the model wrote, and the results. */
  messages(returned: readonly Returned[]): Message[] {
    const said = this.#into.response.candidates[0]?.messages ?? []
    const parts = this.calls.map((call, nth) => resultPart(call, returned[nth] as Returned))
    return [...said, { role: 'tool', origin: 'message', parts }]
  }

  /** The end of a part, with what its text cites. */
  #cited(event: CanonicalEvent & { type: 'part.end' }): CanonicalEvent[] {
    const { candidate, part, final } = event
    const text = this.#texts.get(part)
    if (text === undefined) return [event]
    const citations = citationsIn(text, this.#found.values())
    if (final?.type === 'text') {
      const all = [...(final.citations ?? []), ...citations]
      return [{ ...event, final: { ...final, ...(all.length > 0 && { citations: all }) } }]
    }
    const deltas = citations.map(
      citation =>
        ({ type: 'part.delta', candidate, part, delta: { kind: 'citation', citation } }) as const,
    )
    return [...deltas, event]
  }
}
