import type { Message, Part, TextPart } from '../../canonical/message.ts'
import { noteEnvelope } from '../../kit/conversation/envelope.ts'
import { asSystemText } from '../../kit/conversation/system-text.ts'
import { isInstruction, isTurn } from '../../kit/conversation/turns.ts'
import { append } from '../../kit/text/append.ts'
import type { InstructionDemands } from '../../protocol.ts'
import type { PassReport } from '../notes.ts'

const isSystem = (message: Message) => !isTurn(message)

/**
 * System and developer messages where the target takes them: those before the conversation at its
 * front, and later ones as text of the user, at the front, or where they are. Absent demands: the
 * target takes them anywhere, in both roles.
 */
export function placeInstructions(
  messages: Message[],
  wanted: InstructionDemands | undefined,
  report: PassReport,
): Message[] {
  if (!wanted || !messages.some(isSystem) || isPlain(messages)) return messages
  const placing = new Placing(wanted, report)
  for (const message of messages) {
    const known = isSystem(message) ? asInstruction(message, wanted, report) : message
    if (known) placing.add(known)
  }
  return placing.end()
}

/** One text of the role system at the front, as in most requests, is taken everywhere. */
function isPlain([first, ...others]: readonly Message[]): boolean {
  const [part] = first?.parts ?? []
  return (
    first?.role === 'system' &&
    first.origin === 'message' &&
    first.parts.length === 1 &&
    part?.type === 'text' &&
    instructs(part) &&
    !others.some(isSystem)
  )
}

class Placing {
  readonly #wanted: InstructionDemands
  readonly #report: PassReport
  readonly #front: Message[] = []
  /** The one of `#front` that others join. */
  #head: Message | undefined
  readonly #placed: Message[] = []
  /** Instructions for the beginning of the next user message. */
  #waiting: Part[] = []

  constructor(wanted: InstructionDemands, report: PassReport) {
    this.#wanted = wanted
    this.#report = report
  }

  add(message: Message): void {
    if (isSystem(message)) this.#instruct(message)
    else if (message.role === 'user' && this.#waiting.length > 0) {
      this.#placed.push({ ...message, parts: [...this.#waiting, ...message.parts] })
      this.#waiting = []
    } else {
      if (message.role === 'assistant') this.#flushWaiting()
      this.#placed.push(message)
    }
  }

  end(): Message[] {
    this.#flushWaiting()
    return [...this.#front, ...this.#placed]
  }

  #instruct(message: Message): void {
    const { later, joined } = this.#wanted
    const isLeading = this.#placed.length === 0 && this.#waiting.length === 0
    if (later === 'keep' || (!isLeading && later === 'behind-user' && this.#isBehindUser()))
      this.#placed.push(message)
    else if (!isLeading && later !== 'front') {
      if (message.parts.some(instructs))
        this.#report.add('system.mid-conversation-as-user', message.at)
      noteEnvelope(message, this.#report)
      for (const part of message.parts) this.#waiting.push(asTagged(part))
    } else {
      const isInstructing = message.parts.some(instructs)
      const head = joined && isInstructing ? this.#head : undefined
      if (head) {
        this.#report.add(isLeading ? 'system.joined' : 'system.hoisted', message.at)
        noteEnvelope(message, this.#report)
        joinTo(head.parts, message.parts)
      } else {
        if (!isLeading) this.#report.add('system.hoisted', message.at)
        const first = { ...message, parts: message.parts.slice() }
        if (isInstructing) this.#head ??= first
        this.#front.push(first)
      }
    }
  }

  #isBehindUser(): boolean {
    return this.#waiting.length === 0 && this.#placed.at(-1)?.role !== 'assistant'
  }

  /**
   * Waiting instructions that no user message follows join the user message before them, or become
   * one.
   */
  #flushWaiting(): void {
    if (this.#waiting.length === 0) return
    const last = this.#placed.at(-1)
    if (last?.role === 'user')
      this.#placed[this.#placed.length - 1] = { ...last, parts: [...last.parts, ...this.#waiting] }
    else this.#placed.push({ role: 'user', origin: 'message', parts: this.#waiting })
    this.#waiting = []
  }
}

/**
 * The message with the role that the target accepts, and without parts that no instruction can
 * hold. Undefined: nothing is left.
 */
function asInstruction(
  message: Message,
  { developer, joined }: InstructionDemands,
  report: PassReport,
): Message | undefined {
  const { role, origin, at } = message
  const parts = message.parts.filter(part => {
    if (isInstruction(part)) return true
    report.leave('system.not-text', part)
    return false
  })
  const isSilent =
    joined &&
    origin !== 'instructions' &&
    parts.every(
      part => part.type === 'text' && !instructs(part) && !part.cache && !part.citations?.length,
    )
  if (isSilent || (parts.length === 0 && message.parts.length > 0)) {
    noteEnvelope(message, report)
    for (const part of parts) report.ext(part.ext, part.at)
    return undefined
  }
  if (developer) return { ...message, role: origin === 'instructions' ? 'developer' : role, parts }
  if (role === 'developer' && parts.some(instructs))
    report.once('system.developer-role', at, 'role')
  return { ...message, role: 'system', parts }
}

/** Two texts become one, because many servers take only a string here. Changes `before`. */
function joinTo(before: Part[], added: readonly Part[]): void {
  const [first] = before
  const [next] = added
  const isOne =
    before.length === 1 && added.length === 1 && first && next && isBare(first) && isBare(next)
  if (isOne) before[0] = { ...first, text: `${first.text}\n\n${next.text}` }
  else append(before, added)
}

const isBare = (part: Part): part is TextPart =>
  part.type === 'text' && !part.cache && !part.ext && !part.citations

/** Does the part instruct the model? Control parts and empty texts do not. */
const instructs = (part: Part) =>
  part.type !== 'control' && !(part.type === 'text' && part.text === '')

const asTagged = (part: Part): Part =>
  part.type === 'text' && instructs(part) ? { ...part, text: asSystemText(part.text) } : part
