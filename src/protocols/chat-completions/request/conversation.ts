import type {
  ControlPart,
  MediaPart,
  Message,
  Part,
  Place,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/message.ts'
import { bookOf, keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { below } from '../../../kit/notes/path.ts'
import { splitId } from '../../../kit/signatures/envelope.ts'
import { isUnresolvable } from '../../../kit/signatures/state.ts'
import { append } from '../../../kit/text/append.ts'
import { OpenCalls } from '../../../kit/tools/open-calls.ts'
import { decodeAssistant, encodeAssistant } from '../content/assistant.ts'
import { isDirect } from '../content/calls.ts'
import { decodeContent, encodeParts, plainly } from '../content/content.ts'
import { putBack } from '../content/signatures.ts'
import {
  encodeMark,
  encodeMessageMark,
  opensEnvelopes,
  type Reading,
  takeMessageMark,
  type Writing,
  withMark,
} from '../content/writing.ts'
import type { ChatCompletionsOptions } from '../options.ts'
import { type ChatCompletionsReport, keep, wireOf } from '../own.ts'
import type { ChatCompletionsMessage } from '../schema.ts'
import type { ChatCompletionsBlock, ChatCompletionsWrittenMessage } from '../written.ts'

type PlainMessage = Extract<ChatCompletionsMessage, { role: 'user' | 'system' | 'developer' }>
type ResultMessage = Extract<ChatCompletionsMessage, { role: 'tool' | 'function' }>

const knownOfPlain = keysOf<PlainMessage>()('role content name')
const knownOfResult = keysOf<ResultMessage>()('role content tool_call_id name')

/** `messages` → canonical messages, one for each. */
export function decodeMessages(
  wire: readonly ChatCompletionsMessage[],
  report: ChatCompletionsReport,
  { storedSignatures }: Pick<ChatCompletionsOptions, 'storedSignatures'> = {},
): Message[] {
  const calls = new Map<string, ToolCallPart>()
  const open = new OpenCalls()
  let legacy = 0
  const decode = (raw: ChatCompletionsMessage, i: number): Message => {
    const at = below('/messages', i)
    if (raw.role === 'tool' || raw.role === 'function')
      return decodeResult(raw, at, { calls, open, report })
    if (raw.role !== 'assistant') return decodePlain(raw, at, report)
    const reading: Reading = {
      from: 'client',
      report,
      idOf: ordinal => `call_${i}_${ordinal}`,
      legacyId: () => `call_fn_${legacy++}`,
    }
    const message = decodeAssistant(putBack(raw, storedSignatures), at, reading)
    for (const part of message.parts)
      if (part.type === 'tool-call') {
        calls.set(part.id, part)
        open.add(part)
      }
    return message
  }
  return wire.map((raw, i) => takeMessageMark(decode(raw, i)))
}

function decodePlain(wire: PlainMessage, at: Place, report: ChatCompletionsReport): Message {
  const { role, content, name } = wire
  const message: Message = {
    role,
    origin: 'message',
    parts: decodeContent(content, at, report),
    at,
  }
  if (name !== undefined && name !== null) message.name = name
  return keep(message, unknownOf(wire, knownOfPlain))
}

type Calls = { calls: Map<string, ToolCallPart>; open: OpenCalls; report: ChatCompletionsReport }

/**
 * A message without a call id (old clients leave it out) is the result of the oldest call that has
 * none yet.
 */
function decodeResult(wire: ResultMessage, at: Place, { calls, open, report }: Calls): Message {
  const {
    role,
    content,
    tool_call_id: given,
    name,
  } = wire as {
    role: string
    content?: PlainMessage['content']
    tool_call_id?: unknown
    name?: unknown
  }
  const isLegacy = role === 'function'
  const { id: linked } = splitId(typeof given === 'string' ? given : '')
  const unlinkedCall = () => {
    if (!isLegacy) return open.oldest()
    return typeof name === 'string' ? open.named(name, true) : undefined
  }
  const linkedCall = linked ? calls.get(linked) : unlinkedCall()
  if (!linked && !isLegacy) report.add('tool-result.call-id', at)
  if (linkedCall) open.close(linkedCall)
  const part: ToolResultPart = {
    type: 'tool-result',
    callId: linked || linkedCall?.id || 'call_unknown',
    kind: linkedCall?.kind ?? 'function',
    content: content === '' ? [] : decodeContent(content, at, report),
    at,
  }
  if (typeof name === 'string') part.name = name
  return keep(
    { role: 'tool', origin: 'message', parts: [part], at },
    unknownOf(wire, knownOfResult),
  )
}

/**
 * A conversation → `messages`. Those of other protocols are regrouped: one assistant
 * message per turn, then the results of its calls in the order of the calls, then everything else.
 */
export function encodeMessages(
  messages: readonly Message[],
  writing: Writing,
): ChatCompletionsWrittenMessage[] {
  const turns = writing.native ? [...messages] : regroup(messages, writing)
  const inToolTurns = toolTurns(turns)
  const written: ChatCompletionsWrittenMessage[] = []
  let media: ChatCompletionsBlock[] = []
  for (const turn of turns) {
    const mark = encodeMessageMark(turn, writing)
    if (turn.role !== 'tool' && media.length > 0) {
      written.push({ role: 'user', content: media })
      media = []
    }
    switch (turn.role) {
      case 'assistant': {
        const message = encodeHistory(turn, inToolTurns.has(turn), writing)
        if (message) written.push(Object.assign(message, mark))
        break
      }
      case 'tool':
        for (const part of turn.parts) {
          if (part.type !== 'tool-result') writing.report.add('part.unsupported', part.at)
          else {
            const message = encodeResult(part, turn, { writing, media })
            if (part.synthesized) writing.report.addMade('tool-result.synthesized', message)
            written.push(Object.assign(message, mark))
          }
        }
        break
      case 'user':
      case 'system':
      case 'developer': {
        const message = encodePlain(turn, turn.role, writing)
        if (message) written.push(Object.assign(message, mark))
        break
      }
      default:
        turn.role satisfies never
    }
  }
  if (media.length > 0) written.push({ role: 'user', content: media })
  return written
}

/**
 * The assistant messages between two user messages of which one holds a tool call. DeepSeek wants
 * the reasoning of all of them back.
 */
function toolTurns(messages: readonly Message[]): ReadonlySet<Message> {
  const found = new Set<Message>()
  let turn: Message[] = []
  const endTurn = () => {
    if (turn.some(({ parts }) => parts.some(({ type }) => type === 'tool-call')))
      for (const message of turn) found.add(message)
    turn = []
  }
  for (const message of messages)
    if (message.role === 'assistant') turn.push(message)
    else if (message.role === 'user') endTurn()
  endTurn()
  return found
}

function encodeHistory(
  message: Message,
  inToolTurn: boolean,
  writing: Writing,
): ChatCompletionsWrittenMessage | undefined {
  const { parts, name, at, ext } = message
  const wanted =
    writing.options.reasoningInHistory ??
    (writing.native || opensEnvelopes('server', writing.options) ? 'always' : 'tool-turns')
  const reasoning = wanted === 'always' || (wanted === 'tool-turns' && inToolTurn) ? 'all' : 'none'
  return encodeAssistant({ parts, reasoning, recipient: 'server', name, at, ext }, writing)
}

function encodePlain(
  message: Message,
  role: 'user' | 'system' | 'developer',
  writing: Writing,
): ChatCompletionsWrittenMessage | undefined {
  const { parts, name, ext } = message
  noteEnvelope(message, writing.report)
  const blocks = encodeParts(parts, writing)
  // All parts were left out, with notes. Servers would refuse an empty message.
  if (blocks.length === 0 && !writing.native) return undefined
  return wireOf<ChatCompletionsWrittenMessage>(
    { role, content: blocks.length === 0 ? undefined : plainly(blocks), name },
    ext,
  )
}

function noteEnvelope(
  { id, status, phase, at, ext }: Message,
  report: ChatCompletionsReport,
): void {
  report.onceEach('message.ids', at, { itemId: id, status })
  if (phase !== undefined && phase !== null) report.add('message.phase', at, 'phase')
  report.ext(ext, at)
}

const handled = bookOf<ToolResultPart>()(
  { 'message.ids': 'itemId status' },
  'type callId name namespace kind content structured isError synthesized caller cache at ext',
)

/** One `tool` message. Media, which it cannot hold, are added to `media`. */
function encodeResult(
  part: ToolResultPart,
  { ext, at: messageAt }: Message,
  { writing, media }: { writing: Writing; media: ChatCompletionsBlock[] },
): ChatCompletionsWrittenMessage {
  const { callId, name, namespace, content, isError, synthesized, caller, cache, at } = part
  const { report, options, native } = writing
  report.node(part, handled)
  if (!isDirect(caller)) report.rest({ caller }, at)
  if (isError && !synthesized) report.add('tool-result.error-flag', at, 'isError')
  report.ext(ext, messageAt)

  if (!native) report.rest({ name, namespace }, at)
  const texts = native ? content : content.filter(inner => inner.type !== 'media')
  if (!native)
    for (const inner of content)
      if (inner.type === 'media') moveMedia(inner, callId, { writing, media })
  const marks = native || options.cacheMarks === 'cache_control'
  const blocks = encodeParts(marks ? texts : texts.map(unmarked(report)), writing)
  if (cache && !native && marks && blocks.length > 0) withMark(blocks, encodeMark(part, writing))
  else if (cache && !native) report.add('cache.unsupported', at, 'cache')
  if (isError && options.errorPrefix) prefix(blocks, options.errorPrefix)
  return wireOf<ChatCompletionsWrittenMessage>(
    {
      role: 'tool',
      tool_call_id: callId,
      content: plainly(blocks),
      name: native ? name : undefined,
    },
    ext,
  )
}

/** Removes the cache breakpoint, for which OpenAI has no place in tool messages. */
const unmarked =
  (report: ChatCompletionsReport) =>
  (part: Part): Part => {
    if (!part.cache) return part
    report.add('cache.unsupported', part.at, 'cache')
    const { cache: _, ...rest } = part
    return rest as Part
  }

function prefix(blocks: ChatCompletionsBlock[], text: string): void {
  const first = blocks[0]
  if (first?.type === 'text') blocks[0] = { ...first, text: text + first.text }
  else blocks.unshift({ type: 'text', text })
}

function moveMedia(
  part: MediaPart,
  callId: string,
  { writing, media }: { writing: Writing; media: ChatCompletionsBlock[] },
): void {
  const blocks = encodeParts([part], writing)
  if (blocks.length === 0) return
  writing.report.add('tool-result.media-moved', part.at)
  media.push({ type: 'text', text: `[${part.kind} for ${callId}]` }, ...blocks)
}

/**
 * Joins messages of a turn of the model, and gives each result a message. Leaves out control parts.
 */
function regroup(messages: readonly Message[], writing: Writing): Message[] {
  const { report } = writing
  const turns: Message[] = []
  /** The turn whose list of parts is no message's own. */
  let joined: Message | undefined
  for (const message of messages) {
    const parts = message.parts.some(isControl)
      ? message.parts.filter(part => !isControl(part))
      : message.parts
    for (const part of message.parts) if (isControl(part)) noteControl(part, writing)
    const { role, origin, at, ext, name } = message
    if (parts.length === 0 && message.parts.length > 0) report.ext(ext, at)
    else if (role === 'assistant') {
      noteEnvelope(message, report)
      const last = turns.at(-1)
      if (last?.role === 'assistant') {
        if (last !== joined) last.parts = last.parts.slice()
        joined = last
        append(last.parts, parts)
      } else turns.push(omitUndefined({ role, origin, name, at, ext, parts }))
    } else if (role !== 'tool')
      turns.push(parts === message.parts ? message : { ...message, parts })
    else {
      report.onceEach('message.ids', at, { itemId: message.id, status: message.status })
      // A message that is split has no place for its own unknown keys.
      if (parts.length > 1) report.ext(ext, at)
      for (const part of parts)
        turns.push(
          omitUndefined({
            role,
            origin,
            at,
            ext: parts.length === 1 ? ext : undefined,
            parts: [part],
          }),
        )
    }
  }
  return turns
}

const isControl = (part: Part): part is ControlPart => part.type === 'control'

/**
 * A control part, such as a reference to an item that only another provider stores.
 * @throws TranslationError `inexpressible` when the conversation cannot be understood without it
 */
function noteControl(part: ControlPart, { report, options }: Writing): void {
  // The added tools are written with all others.
  const { control, at, tools } = part
  if (control === 'tool-addition' && tools) return
  if (isUnresolvable(part)) report.unresolvable(at, undefined, options)
  else report.add('part.unsupported', at)
}
