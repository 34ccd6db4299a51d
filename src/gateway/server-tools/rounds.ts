import { addDelta, collectEvent, startCollecting } from '../../canonical/collect.ts'
import { copyOf } from '../../canonical/copy.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Message, ToolCallPart } from '../../canonical/message.ts'
import type { Note } from '../../canonical/note.ts'
import { pointerOf } from '../../canonical/place.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { parseObject } from '../../kit/json/json.ts'
import { gatewayNote } from '../../kit/notes/gateway.ts'
import { refuseIfStrict, type Settings } from '../../translate/settings.ts'
import { changedRequest, decoded } from '../body/changed-request.ts'
import type { ServerToolName, ServerToolResult } from '../hooks.ts'
import { inTime } from '../in-time.ts'
import { newNotes } from '../new-notes.ts'
import type { RequestContext, Service, Trace } from '../request-context.ts'
import { Seam } from '../resume/seam.ts'
import type { Reading, Stream } from '../stream-hook.ts'
import type { Deployment } from '../upstream/catalog.ts'
import { forgetCall } from '../use.ts'
import type { RunTools } from './request.ts'
import { toolsToRun, withFunctions } from './request.ts'
import {
  citationsIn,
  clientPart,
  type Found,
  type Returned,
  resultPart,
  returnedOf,
} from './result.ts'

/** How often a model may use tools before it has to answer. */
const mostRounds = 8

/** In milliseconds, for one use of a tool. */
const mostMs = 60_000

/** A request some of whose tools the application runs. */
export type Running = { incoming: RequestContext; tools: RunTools; strict: Settings['strict'] }

/** Undefined: the application runs none of its tools. */
export function runningOf(service: Service, incoming: RequestContext): Running | undefined {
  const { serverTools } = service.hooks
  if (!serverTools || incoming.operation !== 'generate') return undefined
  const value = decoded(incoming)
  if ((value.candidateCount ?? 1) > 1) return undefined
  const tools = toolsToRun(value, name => serverTools[name] !== undefined)
  if (tools.size === 0) return undefined
  const { strict } = service.config.defaults
  return { tools, strict, incoming: inRound({ incoming, tools, strict }, []) }
}

/** Servers of the caller's protocol run its tools themselves. */
const isRunHere = ({ protocol }: RequestContext, { protocol: to, entry }: Deployment): boolean =>
  to !== protocol || entry.serverTools === 'app'

const notesOf = (tools: RunTools): Note[] =>
  [...tools.values()].map(({ at }) => gatewayNote('gateway.server-tool', at ? pointerOf(at) : ''))

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
        return withFunctions(asked, toolsIn(asked, tools), { rounds, isLast })
      })
    },
  }
}

/** The tools of a request that was decoded again. */
const toolsIn = (request: Parameters<typeof toolsToRun>[0], known: RunTools): RunTools =>
  toolsToRun(request, name => [...known.values()].some(({ tool }) => tool === name))

/**
 * The events of a response in which the model uses tools of the application: they are run, and the
 * model is asked again, until it answers.
 */
export async function* rounds(
  first: Stream,
  running: Running,
  reading: Reading,
): AsyncGenerator<CanonicalEvent, undefined> {
  const { service, trace } = reading
  const seam = new Seam()
  const messages: Message[] = []
  const found: Found[] = []
  const uses: Record<string, number> = {}
  let stream = first
  let incoming = running.incoming
  for (let round = 1; ; round++) {
    if (round === 1 && isRunHere(incoming, first.opened.candidate))
      trace.notes.unshift(...notesOf(running.tools))
    seam.cut({ isAnew: true })
    const heard = new Round(running.tools, found)
    for await (const event of reading.read(stream, incoming))
      for (const one of heard.take(event)) yield* seam.take(withUses(one, uses))
    Object.assign(first, omitUndefined({ isRead: stream.isRead, signatures: stream.signatures }))
    const { calls } = heard
    if (heard.hasFailed || calls.length === 0 || round > mostRounds) {
      for (const event of heard.ending) yield* seam.take(withUses(event, uses))
      return undefined
    }
    const returned = await Promise.all(
      calls.map(call => run(service, trace, running.tools, call, incoming)),
    )
    for (const [nth, call] of calls.entries()) {
      const result = returned[nth] as Returned
      found.push(...result.found)
      const { tool = '' } = running.tools.get(call.name) ?? {}
      uses[tool] = (uses[tool] ?? 0) + 1
      for (const event of heard.shown(call, result)) yield* seam.take(event)
    }
    if (heard.callsClient) {
      for (const event of heard.ending) yield* seam.take(withUses(event, uses))
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

/** Usage with the number of uses of each tool, as providers count them. */
const withUses = (event: CanonicalEvent, uses: Record<string, number>): CanonicalEvent =>
  event.type === 'usage' && Object.keys(uses).length > 0
    ? { ...event, usage: { ...event.usage, serverTools: { ...uses } } }
    : event

/** Never throws: the model reads that the tool has failed. */
async function run(
  { hooks, log }: Service,
  { requestId, request, identity = {} }: Trace,
  tools: RunTools,
  { name, input }: ToolCallPart,
  { request: { signal } }: RequestContext,
): Promise<Returned> {
  const tool = tools.get(name)?.tool as ServerToolName
  const given = parseObject(input)
  if (!given) return { text: 'The arguments are not a JSON object.', found: [], error: true }
  try {
    const runs = hooks.serverTools?.[tool] as
      | ((input: object, call: object) => ServerToolResult | Promise<ServerToolResult>)
      | undefined
    const result = await inTime(signal, mostMs, end =>
      runs?.(given, { request, identity, signal: end }),
    )
    return returnedOf(result)
  } catch (error) {
    log('warn', { requestId, tool, error }, 'a tool of the application failed')
    return { text: 'The tool failed.', found: [], error: true }
  }
}

type Call = ToolCallPart

/** The events of one round. */
class Round {
  readonly calls: Call[] = []
  /** How the response ends: `finish` and what follows it. */
  readonly ending: CanonicalEvent[] = []
  hasFailed = false
  callsClient = false
  readonly #tools: RunTools
  readonly #found: readonly Found[]
  readonly #into = startCollecting()
  readonly #held = new Map<number, { call: Call; message: number }>()
  readonly #texts = new Map<number, string>()
  #parts = 0

  /** `found`: what earlier rounds have found. */
  constructor(tools: RunTools, found: readonly Found[]) {
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
        this.#held.set(part, { call, message })
        return []
      }
      case 'part.delta': {
        const { part, delta } = event
        const held = this.#held.get(part)
        if (held) addDelta(held.call, copyOf(delta))
        const text = this.#texts.get(part)
        if (text !== undefined && delta.kind === 'text') this.#texts.set(part, text + delta.text)
        return held ? [] : [event]
      }
      case 'part.end': {
        const held = this.#held.get(event.part)
        if (!held) return [...this.#citations(event), event]
        if (event.final?.type === 'tool-call') Object.assign(held.call, copyOf(event.final))
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

  /** How the client sees a call, after all other parts of its round. */
  shown(call: Call, result: Returned): CanonicalEvent[] {
    const tool = this.#tools.get(call.name)?.tool
    const head = tool && clientPart(call, tool, result)
    const held = [...this.#held.values()].find(one => one.call === call)
    if (!head || !held) return []
    const part = this.#parts++
    const { message } = held
    return [
      { type: 'part.start', candidate: 0, message, part, head },
      { type: 'part.end', candidate: 0, part },
    ]
  }

  /** The round for the next one: what the model wrote, and the results. */
  messages(returned: readonly Returned[]): Message[] {
    const said = this.#into.response.candidates[0]?.messages ?? []
    const parts = this.calls.map((call, nth) => resultPart(call, returned[nth] as Returned))
    return [...said, { role: 'tool', origin: 'message', parts }]
  }

  #citations(event: CanonicalEvent & { type: 'part.end' }): CanonicalEvent[] {
    const text = this.#texts.get(event.part)
    if (text === undefined || this.#found.length === 0) return []
    return citationsIn(text, this.#found).map(citation => ({
      type: 'part.delta',
      candidate: event.candidate,
      part: event.part,
      delta: { kind: 'citation', citation },
    }))
  }
}
