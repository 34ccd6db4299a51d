import { addDelta, collectEvent, startCollecting } from '../../canonical/collect.ts'
import { copyOf } from '../../canonical/copy.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Message, ServerToolPart, ToolCallPart } from '../../canonical/message.ts'
import { eventLength } from '../event-length.ts'
import { bounded } from '../upstream/response.ts'
import type { RunTools } from './request.ts'
import { citationsIn, type Found, type Returned, resultPart } from './result.ts'

/** The events of one round. */
export class Round {
  readonly calls: ToolCallPart[] = []
  /** How the response ends: `finish` and what follows it. */
  readonly ending: CanonicalEvent[] = []
  hasFailed = false
  callsClient = false
  readonly #tools: RunTools
  readonly #found: ReadonlyMap<string, Found>
  readonly #into = startCollecting()
  readonly #held = new Map<number, ToolCallPart>()
  #message = 0
  readonly #texts = new Map<number, string>()
  #parts = 0
  #length = 0

  /** `found`: what earlier rounds have found. */
  constructor(tools: RunTools, found: ReadonlyMap<string, Found>) {
    this.#tools = tools
    this.#found = found
  }

  /** What the client gets of an event. @throws GatewayError when the round is too long */
  take(event: CanonicalEvent): CanonicalEvent[] {
    this.#length = bounded(this.#length + eventLength(event))
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
