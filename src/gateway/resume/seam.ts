import { addDelta } from '../../canonical/collect.ts'
import { copyOf } from '../../canonical/copy.ts'
import type {
  CanonicalEvent,
  Delta,
  MessageEnd,
  MessageStart,
  PartDelta,
  PartEnd,
  PartStart,
} from '../../canonical/event.ts'
import type { Part, ToolCallPart } from '../../canonical/message.ts'
import type { Usage } from '../../canonical/response.ts'
import { Overlap } from './overlap.ts'
import { plusUsage } from './plus-usage.ts'

/**
 * One stream of several attempts: each continues what the client has of those before. What an
 * attempt repeats is left out. Ends of parts and messages wait for what follows them: when an
 * attempt breaks, its decoder ends whatever was open, but the client goes on with it.
 */
export class Seam {
  /** The response has ended properly: there is nothing to continue. */
  isFinished = false
  readonly #parts: SentPart[] = []
  readonly #messages: SentMessage[] = []
  #waiting: (PartEnd | MessageEnd)[] = []
  /** The part that the attempt has begun last. */
  #last = -1
  /** In UTF-16 units. */
  #length = 0
  #hasStarted = false
  #spent: Usage | undefined
  #isStrange = false
  /** Absent: this is the first attempt, whose events pass. */
  #again: Attempt | undefined

  /** What the client gets of an event. @throws Mismatch when it cannot follow what was sent */
  take(event: CanonicalEvent): CanonicalEvent[] {
    const out: CanonicalEvent[] = []
    if (event.type === 'part.end' || event.type === 'message.end') {
      if (!this.#again) this.#waiting.push(event)
      else if (event.type === 'part.end') this.#endAgain(event, this.#again)
      else this.#endMessageAgain(event, this.#again)
      return out
    }
    if ('candidate' in event && event.candidate > 0) {
      if (this.#again) throw new Mismatch()
      this.#isStrange = true
    }
    if (this.#isInterleaved(event)) {
      if (this.#again && !this.#again.isAnew) throw new Mismatch()
      this.#isStrange = true
    }
    if (this.#again) this.#takeAgain(event, this.#again, out)
    else {
      if (event.type !== 'usage' && event.type !== 'ping') this.#flush(out)
      this.#send(event, out)
    }
    return out
  }

  /** Does it add to a part that is not the last one? */
  #isInterleaved(event: CanonicalEvent): boolean {
    if (event.type === 'part.start') this.#last = event.part
    return event.type === 'part.delta' && 'text' in event.delta && event.part !== this.#last
  }

  /** The text that the next attempt continues; empty: it begins anew. Undefined: it may not. */
  get sent(): string | undefined {
    if (this.isFinished || this.#isStrange || this.#length > mostLength) return undefined
    return this.#texts()[0]
  }

  /** What an attempt has used: usage adds up. */
  spend(used: Usage | undefined): void {
    if (used) this.#spent = plusUsage(this.#spent, used)
  }

  /** The attempt has broken off; the next one begins. `isAnew`: it repeats nothing. */
  cut({ isAnew = false } = {}): void {
    this.#waiting = []
    this.#again = {
      parts: new Map(),
      messages: new Map(),
      calls: isAnew ? [] : this.#parts.filter(({ part }) => part.type === 'tool-call'),
      overlap: new Overlap(isAnew ? '' : (this.#texts().at(-1) ?? '')),
      hasText: isAnew,
      hasBegun: false,
      isAhead: isAnew,
      isAnew,
    }
  }

  /** The text before the first call, between calls, and after the last one. */
  #texts(): string[] {
    const texts = ['']
    for (const { part } of this.#parts)
      if (part.type === 'tool-call') texts.push('')
      else if (part.type === 'text') texts.push((texts.pop() ?? '') + part.text)
    return texts
  }

  #takeAgain(event: Exclude<CanonicalEvent, PartEnd | MessageEnd>, again: Attempt, out: Out): void {
    switch (event.type) {
      case 'message.start':
        again.messages.set(event.message, { start: event })
        return
      case 'part.start':
        this.#startAgain(event, again, out)
        return
      case 'part.delta':
        this.#addAgain(event, again, out)
        return
      case 'usage':
        this.#send({ ...event, usage: plusUsage(this.#spent, event.usage) }, out)
        return
      case 'finish': {
        if (again.calls.length > 0) throw new Mismatch()
        this.#release(again, out)
        this.#flush(out)
        this.#endOpen(undefined, undefined, out)
        this.#send(event, out)
        return
      }
      case 'end':
      case 'error':
        this.#flush(out)
        this.#send(event, out)
        return
      case 'ping':
        this.#send(event, out)
        return
      case 'start':
        if (!this.#hasStarted) this.#send(event, out)
        return
      case 'update':
      case 'opaque':
        if (again.isAnew) this.#send(event, out)
        // Of another response, which the client does not know of.
        return
      default:
        event satisfies never
    }
  }

  #startAgain(event: PartStart, again: Attempt, out: Out): void {
    const { head, part } = event
    if (head.type === 'reasoning' && this.#parts.length > 0 && !again.isAhead) return
    const [call] = again.calls
    // Before a call that was sent there is no room for other text.
    if (head.type === 'text' && call) return
    if (head.type !== 'text') this.#release(again, out)
    this.#flush(out)
    if (call) {
      if (head.type !== 'tool-call' || !isSameCall(head, call.part)) throw new Mismatch()
      again.calls.shift()
      this.#begin(event, again, call, out)
      const found: Matched = { kind: 'call', sent: call, wanted: call.part.input, seen: '' }
      again.parts.set(part, found)
      this.#addInput(found, head.input, out)
    } else if (head.type === 'text' && !(again.hasText && again.overlap.isOver)) {
      again.hasText = true
      const last = this.#openText()
      const sent = last ?? this.#open({ ...event, head: { ...head, text: '' } }, again, out)
      if (last) this.#begin(event, again, last, out)
      again.parts.set(part, { kind: 'text', sent })
      this.#addText(sent, head.text, again, out)
    } else {
      const { number } = this.#open(event, again, out)
      again.isAhead = true
      again.parts.set(part, { kind: 'new', number })
    }
  }

  /** A new part. */
  #open(event: PartStart, again: Attempt, out: Out): SentPart {
    const message = this.#messageFor(event.message, again)
    const part = this.#parts.length
    this.#begin(event, again, { message }, out)
    this.#send({ ...event, message, part }, out)
    return this.#parts[part] as SentPart
  }

  /** The client's number of the message of a new part. */
  #messageFor(given: number, { messages }: Attempt): number {
    const { start, number } = messages.get(given) ?? {}
    if (number !== undefined) return number
    const last = this.#messages.at(-1)
    return last?.isOpen && isOne(last.origin) && isOne(start?.origin)
      ? last.number
      : this.#messages.length
  }

  /** A part of an attempt begins, in a message of the client. */
  #begin(event: PartStart, again: Attempt, at: SentPart | { message: number }, out: Out): void {
    const { calls, hasBegun } = again
    if (!hasBegun) this.#endOpen(at, calls, out)
    again.hasBegun = true
    const known = again.messages.get(event.message)
    if (!known) throw new Mismatch()
    known.number ??= at.message
    if (at.message === this.#messages.length)
      this.#send({ ...known.start, message: at.message }, out)
  }

  /**
   * Ends what earlier attempts have left open: parts other than `kept` and those of `calls`, and
   * messages of which nothing is open.
   */
  #endOpen(
    kept: SentPart | { message: number } | undefined,
    calls: readonly SentPart[] | undefined,
    out: Out,
  ): void {
    const stays = new Set<unknown>(calls ? [kept, this.#openText(), ...calls] : [kept])
    for (const sent of this.#parts)
      if (sent.isOpen && !stays.has(sent))
        this.#send({ type: 'part.end', candidate: 0, part: sent.number }, out)
    const open = new Set(this.#parts.filter(({ isOpen }) => isOpen).map(({ message }) => message))
    for (const { number, isOpen } of this.#messages)
      if (isOpen && number !== kept?.message && !open.has(number))
        this.#send({ type: 'message.end', candidate: 0, message: number }, out)
  }

  #addAgain({ part, delta }: PartDelta, again: Attempt, out: Out): void {
    const target = again.parts.get(part)
    if (!target) return
    this.#flush(out)
    if (target.kind === 'new')
      this.#send({ type: 'part.delta', candidate: 0, part: target.number, delta }, out)
    else if (target.kind === 'call') {
      if (delta.kind === 'input') this.#addInput(target, delta.text, out)
    } else if (delta.kind === 'text') this.#addText(target.sent, delta.text, again, out)
    else if (delta.kind === 'citation' && again.isAhead) this.#add(target.sent, delta, out)
  }

  #addText(sent: SentPart, text: string, { overlap }: Attempt, out: Out): void {
    const more = overlap.take(text)
    if (more !== '') this.#add(sent, { kind: 'text', text: more }, out)
  }

  #addInput(found: Matched, text: string, out: Out): void {
    const { wanted, seen } = found
    const left = wanted.length - seen.length
    if (wanted.slice(seen.length, seen.length + text.length) !== text.slice(0, Math.max(0, left)))
      throw new Mismatch()
    if (left > 0) found.seen = wanted.slice(0, seen.length + text.length)
    const more = text.slice(Math.max(0, left))
    if (more === '') return
    if (!found.sent.isOpen) throw new Mismatch()
    this.#add(found.sent, { kind: 'input', text: more }, out)
  }

  #add({ number }: SentPart, delta: Delta, out: Out): void {
    this.#send({ type: 'part.delta', candidate: 0, part: number, delta }, out)
  }

  #endAgain({ part, final }: PartEnd, again: Attempt): void {
    const target = again.parts.get(part)
    if (!target) return
    if (target.kind === 'new') {
      const end = { type: 'part.end', candidate: 0, part: target.number } as const
      this.#waiting.push(final ? { ...end, final } : end)
      return
    }
    if (target.kind === 'call' && target.seen.length < target.wanted.length) throw new Mismatch()
    // What was held back may go on in the next part.
    if (target.kind === 'text' && !again.overlap.isOver) return
    this.#waiting.push({ type: 'part.end', candidate: 0, part: target.sent.number })
  }

  /** The text that could have been a repetition, and is none. */
  #release(again: Attempt, out: Out): void {
    const last = this.#openText()
    if (!again.hasText || !last) return
    const more = again.overlap.end()
    if (more !== '') this.#add(last, { kind: 'text', text: more }, out)
  }

  #endMessageAgain({ message, ...event }: MessageEnd, again: Attempt): void {
    const number = again.messages.get(message)?.number
    const ending = new Set(this.#waiting.map(one => (one.type === 'part.end' ? one.part : -1)))
    const stays = this.#parts.some(
      one => one.message === number && one.isOpen && !ending.has(one.number),
    )
    // Its text may go on in the next message.
    if (number !== undefined && !stays) this.#waiting.push({ ...event, message: number })
  }

  /** The text that the client has last, if it may go on. */
  #openText(): SentPart | undefined {
    const last = this.#parts.at(-1)
    return last?.part.type === 'text' && last.isOpen ? last : undefined
  }

  #flush(out: Out): void {
    for (const event of this.#waiting.splice(0)) this.#send(event, out)
  }

  /** Sends an event, and remembers what the client has. */
  #send(event: CanonicalEvent, out: Out): void {
    switch (event.type) {
      case 'message.start': {
        const { message: number, origin } = event
        this.#messages.push({ number, isOpen: true, origin })
        break
      }
      case 'part.start': {
        const { part: number, message, head } = event
        if (!continued.has(head.type)) this.#isStrange = true
        this.#parts.push({ number, message, part: copyOf(head), isOpen: true })
        break
      }
      case 'part.delta':
        this.#remember(event)
        if (this.#again) this.#again.isAhead = true
        break
      case 'part.end': {
        const sent = this.#partOf(event.part)
        // Adapters of one wire end what another has ended.
        if (sent && !sent.isOpen) return
        if (sent) sent.isOpen = false
        break
      }
      case 'message.end': {
        const sent = this.#messages.find(({ number }) => number === event.message)
        if (sent && !sent.isOpen) return
        if (sent) sent.isOpen = false
        break
      }
      case 'finish':
        this.isFinished = true
        break
      case 'start':
        this.#hasStarted = true
        break
      default:
    }
    out.push(event)
  }

  #remember({ part, delta }: PartDelta): void {
    if ('text' in delta) this.#length += delta.text.length
    if (delta.kind === 'media') this.#isStrange = true
    const sent = this.#partOf(part)
    if (sent && this.#length <= mostLength) addDelta(sent.part, copyOf(delta))
  }

  /** Parts are numbered in the order in which they begin. */
  #partOf(number: number): SentPart | undefined {
    const sent = this.#parts[number]
    return sent?.number === number ? sent : this.#parts.find(one => one.number === number)
  }
}

/** An attempt does not continue what the client has. */
export class Mismatch extends Error {}

type Out = CanonicalEvent[]
type SentPart = { number: number; message: number; part: Part; isOpen: boolean }
type SentMessage = { number: number; isOpen: boolean; origin: MessageStart['origin'] }

/**
 * A further attempt. `parts`, `messages`: its own numbers, and what becomes of them; a part that is
 * left out is not listed. `calls`: those that it has to repeat.
 */
type Attempt = {
  parts: Map<number, { kind: 'text'; sent: SentPart } | Matched | { kind: 'new'; number: number }>
  messages: Map<number, { start: MessageStart; number?: number }>
  calls: SentPart[]
  overlap: Overlap
  /** It has continued text. */
  hasText: boolean
  /** A part of it is one that the client has, or a new one. */
  hasBegun: boolean
  /** It has added something. */
  isAhead: boolean
  /** It repeats nothing. */
  isAnew: boolean
}

/** `wanted`: the arguments that the client has. `seen`: those that the attempt has repeated. */
type Matched = { kind: 'call'; sent: SentPart; wanted: string; seen: string }

/** Further parts, such as pictures and tools of the provider, cannot be continued. */
const continued: ReadonlySet<Part['type']> = new Set(['text', 'reasoning', 'tool-call'])

/** In UTF-16 units. Longer responses are not continued. */
const mostLength = 1024 * 1024

const isSameCall = (head: ToolCallPart, part: Part): part is ToolCallPart =>
  part.type === 'tool-call' && part.name === head.name && part.kind === head.kind

/** Wires with items have a message for each of them. */
const isOne = (origin: MessageStart['origin']) => origin === undefined || origin === 'message'
