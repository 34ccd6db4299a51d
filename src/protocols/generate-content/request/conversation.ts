import type { Message, Part, Place, ToolCallPart } from '../../../canonical/message.ts'
import { noteEnvelope } from '../../../kit/conversation/envelope.ts'
import { lacksUser } from '../../../kit/conversation/leading-user.ts'
import { groupTurns, type Turn as TurnOf } from '../../../kit/conversation/turns.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { OpenCalls } from '../../../kit/tools/open-calls.ts'
import { signsCalls } from '../../../models/gemini.ts'
import { joinContinued, repeatedBy } from '../content/calls.ts'
import { decodeParts, encodePart, encodeParts } from '../content/content.ts'
import type { Reading, RequestWriting } from '../content/writing.ts'
import { defaults } from '../options.ts'
import { extOf, ownFields, protocolName } from '../own.ts'
import type { GenerateContentContent } from '../schema.ts'
import type {
  GenerateContentBody,
  GenerateContentWrittenContent,
  GenerateContentWrittenPart,
} from '../written.ts'

// ---- wire → canonical

const knownContent = keysOf<GenerateContentContent>()('role parts')

export function decodeSystem(wire: GenerateContentContent, reading: Reading): Message {
  const at = reading.place(`${reading.root}/systemInstruction`)
  const parts = decodeParts(wire.parts ?? [], below(at, 'parts'), {
    ...reading,
    speaks: 'instructions',
  })
  return {
    role: 'system',
    origin: 'instructions',
    parts,
    at,
    ...omitUndefined({ ext: extOf(unknownOf(wire, knownContent)) }),
  }
}

/**
 * Contents → messages. Clients that keep stream events unchanged send one response as many contents
 * of the model in a row: they become one message, in which texts are joined across contents.
 */
export function decodeContents(
  contents: readonly GenerateContentContent[],
  reading: Reading,
): Message[] {
  const messages: Message[] = []
  const calls = new Calls()
  const resultCallId: Reading['resultCallId'] = (result, at) => calls.callIdOf(result, at)
  const ofModel: Reading = { ...reading, resultCallId, speaks: 'model', inventedCallId: idFrom }
  const ofUser: Reading = { ...reading, resultCallId, speaks: 'user', inventedCallId: idFrom }
  let index = 0
  /**
   * The parts of a response that the next content may continue, and the number of parts in its last
   * content.
   */
  let open: { parts: Part[]; last: number } | undefined
  for (const content of contents) {
    const at = `${reading.root}/contents/${index}`
    const inside = content.role === 'model' ? ofModel : ofUser
    const isPlain =
      content.role === 'model' && Array.isArray(content.parts) && Object.keys(content).length === 2
    const count = content.parts?.length ?? 0
    /** The number of parts of the last message that earlier contents had. */
    let known = 0
    if (open && isPlain) {
      const { parts, last } = open
      known = parts.length
      decodeParts(content.parts ?? [], below(at, 'parts'), inside, parts)
      open.last = count
      if (last !== 0 && parts.length === known + count) join(parts, known)
    } else {
      const message = decodeContent(content, at, inside)
      messages.push(message)
      open = isPlain ? { parts: message.parts, last: count } : undefined
    }
    const { parts: all = [] } = messages.at(-1) ?? {}
    for (let i = known; i < all.length; i++) {
      const part = all[i]
      if (part?.type === 'tool-call') calls.ask(part)
    }
    if (content.role !== 'model' && content.parts?.some(part => part['functionResponse'] == null))
      calls.forget()
    index++
  }
  joinContinued(messages)
  return messages
}

/** `call_2_0` for a call at `/contents/2/parts/0`. */
function idFrom(place: Place): string {
  const [content, , part] = pointerOf(place).split('/').slice(-3)
  return `call_${content}_${part}`
}

/**
 * Joins a text or thought with the first part of the next content (an empty one ends it), unless
 * either is signed or has unknown fields. Changes `parts`.
 */
function join(parts: Part[], from: number): void {
  const [before, part] = [parts[from - 1], parts[from]]
  if (!before || !part || before.signature || part.signature || before.ext || part.ext) return
  if (before.type === 'text' && part.type === 'text')
    parts.splice(from - 1, 2, { ...before, text: before.text + part.text })
  else if (before.type === 'reasoning' && part.type === 'reasoning' && part.segments.length > 0) {
    let text = ''
    for (const segment of [...before.segments, ...part.segments]) text += segment.text
    parts.splice(from - 1, 2, { ...before, segments: [{ kind: 'summary', text }] })
  }
}

/**
 * The roles of this wire, and of its older clients. Servers take no others; one that is absent is
 * the user's.
 */
const roles = new Set<unknown>(['user', 'model', 'system', 'function', '', null, undefined])

function roleOf(role: GenerateContentContent['role']): Message['role'] {
  if (role === 'model') return 'assistant'
  return role === 'system' ? 'system' : 'user'
}

function decodeContent(content: GenerateContentContent, at: Place, reading: Reading): Message {
  const { role, parts } = content
  const unknown = unknownOf(content, knownContent)
  return {
    role: roleOf(role),
    origin: 'message',
    parts: decodeParts(parts ?? [], below(at, 'parts'), reading),
    at,
    ...omitUndefined({ ext: extOf(roles.has(role) ? unknown : { ...unknown, role }) }),
  }
}

/** Matches results to calls: by id if both have one, else by name and order. */
class Calls {
  readonly #ids = new Set<string>()
  readonly #open = new OpenCalls()

  ask(call: ToolCallPart): void {
    this.#ids.add(call.id)
    this.#open.add(call)
  }

  /** The id of the call that a result belongs to. Closes the call. */
  callIdOf({ id, name }: { id: string | undefined; name: string | undefined }, at: Place): string {
    const open = this.#open
    const call =
      (id === undefined ? undefined : open.withId(id)) ??
      (name === undefined ? undefined : open.named(name, id !== undefined)) ??
      (name === undefined ? open.oldest() : undefined)
    if (!call) return id ?? idFrom(at)
    open.close(call)
    // A client may send the id only with the result.
    if (id !== undefined && call.idOrigin === 'synthesized' && !this.#ids.has(id)) {
      call.id = id
      call.idOrigin = 'wire'
      this.#ids.add(id)
    }
    return call.id
  }

  forget(): void {
    this.#open.forget()
  }
}

// ---- canonical → wire

export type Conversation = Pick<GenerateContentBody, 'systemInstruction' | 'contents'>

export function encodeConversation(
  messages: readonly Message[],
  writing: RequestWriting,
): Conversation {
  for (const message of messages) noteEnvelope(message, writing.report)
  return writing.native ? encodeOwn(messages, writing) : encodeForeign(messages, writing)
}

/** One content for each message of a request that came in this protocol. */
function encodeOwn(messages: readonly Message[], writing: RequestWriting): Conversation {
  const [first, ...others] = messages
  const system = first?.origin === 'instructions' ? first : undefined
  const repeated = repeatedBy(messages)
  const unsigned = unsignedCalls(messages, writing)
  const inner: RequestWriting = { ...writing, unsigned, repeated }
  const contents = (system ? others : messages).map(({ role, parts, ext }) => ({
    role: ownRole(role),
    ...ownFields(ext),
    parts: encodeParts(parts, inner),
  }))
  return system
    ? {
        systemInstruction: { ...ownFields(system.ext), parts: encodeParts(system.parts, inner) },
        contents,
      }
    : { contents }
}

function ownRole(role: Message['role']): 'model' | 'system' | 'user' {
  if (role === 'assistant') return 'model'
  return role === 'system' || role === 'developer' ? 'system' : 'user'
}

/**
 * The first call of each step, if its signature is lost: servers of the newest models refuse it
 * without one. Earlier models sign nothing.
 */
function unsignedCalls(
  messages: readonly { parts: readonly Part[] }[],
  { model, opens }: RequestWriting,
): ReadonlySet<Part> | undefined {
  if (!signsCalls(model)) return undefined
  const found = new Set<Part>()
  for (const { parts } of messages) {
    const first = parts.find(part => part.type === 'tool-call')
    if (first && (opens ? !first.signature : first.signature?.issuer !== protocolName))
      found.add(first)
  }
  return found
}

function encodeForeign(messages: readonly Message[], writing: RequestWriting): Conversation {
  const { report, options } = writing
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const leading = first < 0 ? messages : messages.slice(0, first)
  const system = encodeInstructions(leading, writing)
  const turns = groupTurns(first < 0 ? [] : messages.slice(first), 'model', areResults)
  const unsigned = unsignedCalls(turns, writing)
  const contents = encodeTurns(turns, { ...writing, unsigned })
  const place = { first: contents[0]?.role, instructs: system.length > 0, at: '/contents/0' }
  if (lacksUser(place, options.leadingUser ?? defaults.leadingUser, report))
    contents.unshift({ role: 'user', parts: [{ text: '.' }] })
  report.resolvePending(contents, '/contents')
  return system.length > 0 ? { systemInstruction: { parts: system }, contents } : { contents }
}

function encodeInstructions(
  messages: readonly Message[],
  writing: RequestWriting,
): GenerateContentWrittenPart[] {
  const instructions = flatMap(messages, ({ parts }) => parts)
  return instructions.length === 0 ? [] : encodeParts(instructions, { ...writing, instructs: true })
}

function encodeTurns(
  turns: readonly Turn[],
  writing: RequestWriting,
): GenerateContentWrittenContent[] {
  const { report } = writing
  return flatMap(turns, ({ role, parts }) => {
    const written = flatMap(parts, part => {
      const one = encodePart(part, writing)
      if (part.type === 'tool-result' && part.synthesized)
        for (const made of one) report.addMade('tool-result.synthesized', made)
      const [first] = one
      if (first && writing.unsigned?.has(part))
        report.addMade('reasoning.placeholder-signature', first, '/thoughtSignature')
      return one
    })
    return written.length > 0 ? [{ role: role === 'model' ? 'model' : 'user', parts: written }] : []
  })
}

/**
 * Contents as this wire groups them: all results of a turn are together, in a content of their own.
 */
type Turn = TurnOf<'user' | 'model' | 'system'>

/** A turn with calls or reasoning is one content, and so are the results of its calls. */
const areResults = (turn: Turn, last: Turn) => holdsResults(turn) && holdsResults(last)

const holdsResults = ({ role, parts }: Turn) =>
  role === 'user' && parts.some(({ type }) => type === 'tool-result')
