import type { ControlPart, Message, Part, Place } from '../../../canonical/message.ts'
import { noteEnvelope } from '../../../kit/conversation/envelope.ts'
import { lacksUser } from '../../../kit/conversation/leading-user.ts'
import { groupTurns, type Turn as TurnOf } from '../../../kit/conversation/turns.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { isObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { append } from '../../../kit/text/append.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { refuseUnlinked } from '../../../kit/tools/unlinked-calls.ts'
import { refusesPrefill } from '../../../models/claude.ts'
import { signedByProxy } from '../content/calls.ts'
import { decodeBlock, decodeContent, encodeParts, encodeWithCarrier } from '../content/content.ts'
import { contentOf, type RequestWriting } from '../content/writing.ts'
import type { MessagesOptions } from '../options.ts'
import { keep, type MessagesReport, ownOf, protocolName } from '../own.ts'
import type { MessagesMessage, MessagesRawBlock, MessagesRequest } from '../schema.ts'
import type { MessagesWrittenBlock, MessagesWrittenMessage } from '../written.ts'

const billingLine = /^x-anthropic-billing-header:[^\n]*\n*/

export function decodeSystem(
  system: MessagesRequest['system'],
  report: MessagesReport,
  { billingLine }: MessagesOptions,
): Message[] {
  const read = Array.isArray(system)
    ? system.map((block, index) => decodeInstruction(block, index, report))
    : decodeContent(system, '/system', report)
  const parts = billingLine === 'drop' ? withoutBilling(read, report) : read
  return parts.length === 0
    ? []
    : [{ role: 'system', origin: 'instructions', parts, at: '/system' }]
}

/** The line may be in a later block, behind instructions that a gateway added. */
function withoutBilling(parts: readonly Part[], report: MessagesReport): Part[] {
  return flatMap(parts, part => {
    if (part.type !== 'text' || !billingLine.test(part.text)) return [part]
    report.add('system.billing-line', part.at)
    const text = part.text.replace(billingLine, '')
    return text ? [{ ...part, text }] : []
  })
}

/**
 * Instructions are text. Blocks of other types are kept as they are, for servers of this protocol
 * only.
 */
function decodeInstruction(block: MessagesRawBlock, index: number, report: MessagesReport): Part {
  const at = below('/system', index)
  const part = decodeBlock(block, at, report)
  return part.type === 'text' || part.type === 'control'
    ? part
    : { type: 'opaque', protocol: protocolName, raw: block, at }
}

const known = keysOf<MessagesMessage>()('role content')
const knownWithConfig = keysOf<MessagesMessage & { output_config: unknown }>()(
  'role content output_config',
)

export function decodeMessage(wire: MessagesMessage, at: Place, report: MessagesReport): Message {
  const { role, content } = wire
  if (Array.isArray(content))
    for (const [i, block] of content.entries())
      if (block.type === 'tool_use')
        refuseUnlinked(block, 'id', below(below(at, 'content'), i), protocolName)
  const parts = decodeContent(content, below(at, 'content'), report)
  const turn =
    role === 'system'
      ? decodeTurnConfig(wire['output_config'], below(at, 'output_config'))
      : undefined
  if (turn) parts.push(turn)
  const message: Message = {
    role,
    origin: 'message',
    parts: role === 'assistant' ? parts.map(signedByProxy) : parts,
    at,
  }
  return keep(message, unknownOf(wire, turn ? knownWithConfig : known))
}

/**
 * The effort that a system message sets from here on. Undefined: it sets none, or `output_config`
 * has other keys too.
 */
function decodeTurnConfig(raw: unknown, at: Place): ControlPart | undefined {
  if (!isObject(raw) || Object.keys(raw).length !== 1) return undefined
  const { effort } = raw
  return typeof effort === 'string'
    ? { type: 'control', control: 'configuration', protocol: protocolName, raw, effort, at }
    : undefined
}

/**
 * Separates the effort from the other parts: on the wire it is a field of the message, not a block.
 */
function splitConfig(parts: readonly Part[]): {
  content: readonly Part[]
  config?: ControlPart & { effort: string }
} {
  const config = parts.findLast(isEffort)
  return config ? { content: parts.filter(part => !isEffort(part)), config } : { content: parts }
}

/** The effort of the next turn. */
function encodeTurnConfig(
  { effort, at }: ControlPart & { effort: string },
  { native, report }: RequestWriting,
): Pick<MessagesWrittenMessage, 'output_config'> {
  if (native) return { output_config: { effort } }
  report.add('part.unsupported', at)
  return {}
}

const isEffort = (part: Part): part is ControlPart & { effort: string } =>
  part.type === 'control' && part.control === 'configuration' && part.effort !== undefined

/** Encodes a conversation, and the instructions before it as `system`. */
export function encodeMessages(
  messages: readonly Message[],
  writing: RequestWriting,
): { system?: string | MessagesWrittenBlock[]; messages: MessagesWrittenMessage[] } {
  const { native, report } = writing
  for (const message of messages) noteEnvelope(message, report)
  const first = messages.findIndex(({ role, origin }) =>
    native ? origin !== 'instructions' : role !== 'system' && role !== 'developer',
  )
  const leading = first < 0 ? messages : messages.slice(0, first)
  const others = first < 0 ? [] : messages.slice(first)
  const system = encodeSystem(leading, writing)
  const wires = native
    ? others.map(message => encodeNative(message, writing))
    : encodeTurns(others, system.length > 0, writing)
  return system.length === 0 ? { messages: wires } : { system: contentOf(system), messages: wires }
}

function encodeSystem(
  leading: readonly Message[],
  writing: RequestWriting,
): MessagesWrittenBlock[] {
  return flatMap(leading, ({ parts }) =>
    encodeParts(parts, { ...writing, place: 'system' }, 'system'),
  )
}

function nativeRole(role: Message['role']): 'assistant' | 'system' | 'user' {
  if (role === 'assistant' || role === 'system') return role
  return role === 'developer' ? 'system' : 'user'
}

function encodeNative(message: Message, writing: RequestWriting): MessagesWrittenMessage {
  const { role, parts } = message
  const { content, config } = splitConfig(parts)
  const own = { ...ownOf(message.ext), ...(config && { output_config: { effort: config.effort } }) }
  return wireOfMessage({
    role: nativeRole(role),
    blocks: encodeParts(content, writing, role),
    own,
  })
}

/** `own`: further keys. */
type Wire = { role: MessagesWrittenMessage['role']; blocks: MessagesWrittenBlock[]; own: Own }
type Own = Pick<MessagesWrittenMessage, 'output_config'>

/** Only a system message may be without content. */
function wireOfMessage({ role, blocks, own }: Wire): MessagesWrittenMessage {
  return blocks.length === 0 && role === 'system'
    ? { ...own, role }
    : { ...own, role, content: contentOf(blocks) }
}

/** What stands at the end is a turn of the user, or a text that the model goes on with. */
function endTurns(
  wires: Wire[],
  messages: readonly Message[],
  { report, native, continues, model }: RequestWriting,
): void {
  const last = wires.at(-1)
  // An assistant that waits for a tool result has no half text to continue.
  if (last?.role !== 'assistant' || last.blocks.some(({ type }) => type.endsWith('tool_use')))
    return
  if (refusesPrefill(model) || !continues) {
    report.add('message.trailing-user', `/messages/${wires.length}`)
    wires.push({ role: 'user', blocks: [{ type: 'text', text: 'Continue.' }], own: {} })
    return
  }
  const block = last.blocks.at(-1)
  if (native || block?.type !== 'text' || block.text === block.text.trimEnd()) return
  block.text = block.text.trimEnd()
  report.add('text.trimmed', messages.at(-1)?.parts.at(-1)?.at)
}

function encodeTurns(
  messages: readonly Message[],
  instructs: boolean,
  writing: RequestWriting,
): MessagesWrittenMessage[] {
  const { report, options } = writing
  const wires: Wire[] = []
  for (const { role, parts, sources } of groupTurns(messages, 'assistant', joinsResults)) {
    const { content, config } = role === 'system' ? splitConfig(parts) : { content: parts }
    const blocks = flatMap(content, part => encodeWithCarrier(part, writing, role))
    const own: Own = {
      ...(sources.length === 1 && ownOf(sources[0]?.ext)),
      ...(config && encodeTurnConfig(config, writing)),
    }
    const last = wires.at(-1)
    if (role === 'system' && last?.role === 'system') {
      append(last.blocks, blocks)
      Object.assign(last.own, own)
    } else if (blocks.length > 0 || own.output_config !== undefined)
      wires.push({ role, blocks, own })
  }
  const place = { first: wires[0]?.role, instructs, at: '/messages/0' }
  // Its servers accept that.
  if (lacksUser(place, options.leadingUser === 'synthesize' ? 'synthesize' : 'keep', report))
    wires.unshift({ role: 'user', blocks: [{ type: 'text', text: '.' }], own: {} })
  endTurns(wires, messages, writing)
  const wire = wires.map(wireOfMessage)
  report.resolvePending(wire, '/messages')
  return wire
}

type Turn = TurnOf<'user' | 'assistant' | 'system'>

/**
 * Groups messages of another protocol as this one requires: an assistant turn with tools or
 * reasoning is one message, and text of the user after tool results is in the message of the
 * results.
 */
const joinsResults = (turn: Turn, last: Turn) =>
  turn.role === 'user' &&
  last.role === 'user' &&
  last.parts.some(({ type }) => type === 'tool-result')
