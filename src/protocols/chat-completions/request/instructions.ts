import type { Message, Part, TextPart } from '../../../canonical/message.ts'
import { isInstruction } from '../../../kit/conversation/turns.ts'
import type { Writing } from '../content/writing.ts'

const isSystem = ({ role }: Message) => role === 'system' || role === 'developer'

/**
 * Places system and developer messages where every server takes them: one at the front, and later ones as text of the user, unless
 * `systemPlacement` says otherwise.
 */
export function placeInstructions(messages: readonly Message[], writing: Writing): Message[] {
  const { report, options } = writing
  const told = messages.map(message => (isSystem(message) ? asInstruction(message, writing) : message)).filter(message => message !== undefined)
  const placement = options.systemPlacement ?? 'auto'
  if (placement === 'keep') return told
  const placed: Message[] = []
  let head: Message | undefined
  /** Instructions for the beginning of the next user message. */
  let waiting: Part[] = []
  const flush = () => {
    if (waiting.length === 0) return
    const last = placed.at(-1)
    if (last?.role === 'user') placed[placed.length - 1] = { ...last, parts: [...last.parts, ...waiting] }
    else placed.push({ role: 'user', origin: 'message', parts: waiting })
    waiting = []
  }
  for (const message of told) {
    if (isSystem(message)) {
      const isLeading = placed.length === 0 && waiting.length === 0
      if (!isLeading && placement !== 'hoist') {
        report.add('system.mid-conversation-as-user', message.at)
        report.rest({ name: message.name }, message.at)
        report.ext(message.ext, message.at)
        waiting.push(...message.parts.map(asTagged))
      } else if (head) {
        report.add(isLeading ? 'system.joined' : 'system.hoisted', message.at)
        report.rest({ name: message.name }, message.at)
        report.ext(message.ext, message.at)
        head.parts = joined(head.parts, message.parts)
      } else {
        if (!isLeading) report.add('system.hoisted', message.at)
        head = { ...message }
      }
    } else if (message.role === 'user' && waiting.length > 0) {
      placed.push({ ...message, parts: [...waiting, ...message.parts] })
      waiting = []
    } else {
      if (message.role === 'assistant') flush()
      placed.push(message)
    }
  }
  flush()
  return head ? [head, ...placed] : placed
}

/** The message with the role that the server accepts, and without parts that no instruction can hold. Undefined: nothing is left. */
function asInstruction(message: Message, { report, options }: Writing): Message | undefined {
  const parts = message.parts.filter(part => {
    if (isInstruction(part)) return true
    report.leave('system.not-text', part)
    return false
  })
  const isSilent = parts.every(part => part.type === 'text' && part.text === '' && !part.cache) && message.origin !== 'instructions'
  if (isSilent || (parts.length === 0 && message.parts.length > 0)) {
    report.ext(message.ext, message.at)
    report.rest({ name: message.name }, message.at)
    return undefined
  }
  if (options.instructionsRole === 'developer') return { ...message, role: message.origin === 'instructions' ? 'developer' : message.role, parts }
  if (message.role === 'developer') report.once('system.developer-role', message.at, 'role')
  return { ...message, role: 'system', parts }
}

/** Two texts become one, because many servers take only a string here. */
function joined(before: readonly Part[], added: readonly Part[]): Part[] {
  const [first] = before
  const [next] = added
  const isOne = before.length === 1 && added.length === 1 && first && next && isPlain(first) && isPlain(next)
  return isOne ? [{ ...first, text: `${first.text}\n\n${next.text}` }] : [...before, ...added]
}

const isPlain = (part: Part): part is TextPart => part.type === 'text' && !part.cache && !part.ext && !part.citations

const asTagged = (part: Part): Part => (part.type === 'text' ? { ...part, text: `<system>${part.text}</system>` } : part)
