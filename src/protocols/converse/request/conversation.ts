import type { Message, Part, Place } from '../../../canonical/message.ts'
import { noteEnvelope } from '../../../kit/conversation/envelope.ts'
import { lacksUser } from '../../../kit/conversation/leading-user.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { append } from '../../../kit/text/append.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { refuseUnlinked } from '../../../kit/tools/unlinked-calls.ts'
import { addPoint, type Mark, noteCache } from '../content/cache.ts'
import { decodeContent, encodeWithCarrier } from '../content/content.ts'
import type { Reading, RequestWriting } from '../content/writing.ts'
import { defaults } from '../options.ts'
import { keep, ownOf, protocolName } from '../own.ts'
import type { ConverseBlock, ConverseMessage } from '../schema.ts'
import type { ConverseFamily } from '../vocabulary.ts'
import type { ConverseWrittenBlock, ConverseWrittenMessage } from '../written.ts'

// ---- wire → canonical

export function decodeSystem(system: readonly ConverseBlock[], reading: Reading): Message[] {
  const parts = decodeContent(system, '/system', reading, 'system').map((part): Part => {
    if (part.type === 'text' || part.type === 'control' || part.type === 'opaque') return part
    // Instructions are text: other blocks are kept as they are.
    const [, index] = /^\/system\/(\d+)/.exec(pointerOf(part.at ?? '')) ?? []
    return {
      type: 'opaque',
      protocol: protocolName,
      raw: system[Number(index)],
      at: below('/system', Number(index)),
    }
  })
  return parts.length === 0
    ? []
    : [{ role: 'system', origin: 'instructions', parts, at: '/system' }]
}

const known = keysOf<ConverseMessage>()('role content')

export function decodeMessage(wire: ConverseMessage, at: Place, reading: Reading): Message {
  const { role, content } = wire
  for (const [i, { toolUse }] of (content ?? []).entries())
    refuseUnlinked(
      toolUse,
      'toolUseId',
      below(below(below(at, 'content'), i), 'toolUse'),
      protocolName,
    )
  return keep<Message>(
    { role, origin: 'message', parts: decodeContent(content, below(at, 'content'), reading), at },
    unknownOf(wire, known),
  )
}

// ---- canonical → wire

export type Conversation = { system: ConverseWrittenBlock[]; messages: ConverseWrittenMessage[] }

/**
 * The conversation, and the instructions before it. Adds their cache points to `marks`. `auto`: a
 * cache point at the end of the last user message.
 */
export function encodeConversation(
  messages: readonly Message[],
  marks: Mark[],
  writing: RequestWriting,
): Conversation {
  const { native, report } = writing
  for (const message of messages) noteEnvelope(message, writing.report)
  const first = messages.findIndex(({ role, origin }) =>
    native ? origin !== 'instructions' : role !== 'system' && role !== 'developer',
  )
  const leading = first < 0 ? messages : messages.slice(0, first)
  const others = first < 0 ? [] : messages.slice(first)
  const system: ConverseWrittenBlock[] = []
  for (const { parts, role } of leading) {
    if (role === 'developer') report.once('system.developer-role', undefined, 'messages')
    encodeBlocks(parts, { role: 'system', place: 'system', into: system, marks }, writing)
  }
  return {
    system,
    messages: native
      ? others.map(message => encodeNative(message, marks, writing))
      : encodeTurns(others, system.length > 0, marks, writing),
  }
}

type Into = {
  role: Message['role']
  place: Mark['place']
  into: ConverseWrittenBlock[]
  marks: Mark[]
}

/** Parts → blocks, with their cache points. */
function encodeBlocks(
  parts: readonly Part[],
  { role, place, into, marks }: Into,
  writing: RequestWriting,
): void {
  for (const part of parts) {
    const blocks =
      role === 'system' &&
      !writing.native &&
      part.type !== 'text' &&
      part.type !== 'opaque' &&
      part.type !== 'control'
        ? notText(part, writing)
        : encodeWithCarrier(part, writing, role)
    append(into, blocks)
    // A part without a block has a note already.
    const marked = markedBy(part, writing)
    if (marked && blocks.length > 0)
      addPoint(marked, into, place, {
        report: writing.report,
        marks,
        family: writing.family,
        native: writing.native,
      })
    else if (marked && part.type !== 'text') noteCache(marked, writing.report)
  }
}

/**
 * The part whose cache mark is written behind this one. The content of a tool result has no marks
 * here: one at its end is as good behind the result.
 */
function markedBy(part: Part, { report }: RequestWriting): Part | undefined {
  if (part.type !== 'tool-result') return part.cache ? part : undefined
  const last = part.content.at(-1)
  const markedInside = last?.cache ? last : undefined
  const marked = part.cache ? part : markedInside
  for (const inner of part.content) if (inner !== marked) noteCache(inner, report)
  return marked
}

function notText(part: Part, { report }: RequestWriting): [] {
  report.add('part.unsupported', part.at)
  return []
}

function nativeRole(role: Message['role']): 'assistant' | 'system' | 'user' {
  if (role === 'assistant' || role === 'system') return role
  return role === 'developer' ? 'system' : 'user'
}

function encodeNative(
  message: Message,
  marks: Mark[],
  writing: RequestWriting,
): ConverseWrittenMessage {
  const { role, parts, ext } = message
  const content: ConverseWrittenBlock[] = []
  encodeBlocks(parts, { role, place: 'conversation', into: content, marks }, writing)
  return { ...ownOf(ext), role: nativeRole(role), content }
}

/** Models that take tool results only alone. */
const alone: ReadonlySet<ConverseFamily> = new Set(['llama', 'mistral', 'writer'])

function encodeTurns(
  messages: readonly Message[],
  instructs: boolean,
  marks: Mark[],
  writing: RequestWriting,
): ConverseWrittenMessage[] {
  const { report, options, family } = writing
  const wires: ConverseWrittenMessage[] = []
  for (const { role, parts } of messages) {
    const word = role === 'assistant' ? 'assistant' : 'user'
    const last = wires.at(-1)
    const into = last?.role === word ? last.content : []
    const isBehindResults =
      word === 'user' &&
      alone.has(family) &&
      into.at(-1)?.toolResult !== undefined &&
      !parts.some(({ type }) => type === 'tool-result')
    const content = isBehindResults ? [] : into
    encodeBlocks(parts, { role: word, place: 'conversation', into: content, marks }, writing)
    if (content.length === 0 || content === last?.content) continue
    if (isBehindResults) {
      const separator: ConverseWrittenBlock = { text: '.' }
      report.addMade('message.separator', separator)
      wires.push({ role: 'assistant', content: [separator] })
    }
    wires.push({ role: word, content })
  }
  for (const { role, content } of wires) if (role === 'user') completeDocuments(content, writing)
  const place = { first: wires[0]?.role, instructs, at: '/messages/0' }
  if (lacksUser(place, options.leadingUser ?? defaults.leadingUser, report))
    wires.unshift({ role: 'user', content: [{ text: '.' }] })
  trimEnd(wires, messages, writing)
  report.resolvePending(wires, '/messages')
  return wires
}

/** A message with a document also has a text. */
function completeDocuments(content: ConverseWrittenBlock[], { report }: RequestWriting): void {
  if (!content.some(({ document }) => document) || content.some(({ text }) => text !== undefined))
    return
  const text: ConverseWrittenBlock = { text: '.' }
  report.addMade('media.document-text', text)
  content.splice(content.findLastIndex(({ toolResult }) => toolResult) + 1, 0, text)
}

/** The last text of the assistant, which the model continues, must not end with white space. */
function trimEnd(
  wires: readonly ConverseWrittenMessage[],
  messages: readonly Message[],
  { report }: RequestWriting,
): void {
  const last = wires.at(-1)
  const block = last?.role === 'assistant' ? last.content.at(-1) : undefined
  if (block?.text === undefined || block.text === block.text.trimEnd()) return
  block.text = block.text.trimEnd()
  const part = flatMap(messages, ({ parts }) => parts).findLast(
    ({ type }) => type === 'text' || type === 'refusal',
  )
  report.add('text.trimmed', part?.at)
}
