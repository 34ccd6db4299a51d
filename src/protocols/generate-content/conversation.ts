import type { Message, Part, Place, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { below, pointerOf } from '../../kit/path.ts'
import { isInstruction } from '../../kit/turns.ts'
import { joinContinued } from './calls.ts'
import { decodeParts, encodePart, encodeParts } from './content.ts'
import { keep, nulls, ownForm, ownKeys, protocolName } from './own.ts'
import type { GeminiContent, GeminiPart } from './schema.ts'
import { groupTurns, type Turn } from './turns.ts'
import type { Reading, RequestWriting } from './writing.ts'

// ---- wire → canonical

export function decodeSystem(wire: GeminiContent, reading: Reading): Message {
  const at = reading.place(`${reading.root}/systemInstruction`)
  const { role, parts, ...fields } = wire
  return {
    role: 'system',
    origin: 'instructions',
    parts: decodeParts(parts ?? [], below(at, 'parts'), { ...reading, speaks: 'instructions' }),
    at,
    ...keep(fields, nulls({ parts }), { role: role === undefined ? 'absent' : role, ...(parts === undefined && { parts: 'absent' }) }),
  }
}

/**
 * Contents → messages. Clients that keep stream events as they came send one answer as many contents of the model in a row: they
 * become one message, in which texts are joined across contents.
 */
export function decodeContents(contents: readonly GeminiContent[], reading: Reading): Message[] {
  const messages: Message[] = []
  const calls = new OpenCalls()
  let index = 0
  const answered: Reading['answered'] = (result, at) => calls.answeredBy(result, at)
  const ofModel: Reading = { ...reading, answered, speaks: 'model', callId: idFrom }
  const ofUser: Reading = { ...reading, answered, speaks: 'user', callId: idFrom }
  let run: { message: Message; counts: number[] } | undefined
  for (const content of contents) {
    const at = `${reading.root}/contents/${index}`
    const inside = content.role === 'model' ? ofModel : ofUser
    const plain = content.role === 'model' && Array.isArray(content.parts) && Object.keys(content).length === 2
    if (run && plain) {
      const { parts } = run.message
      const before = parts.length
      const count = content.parts?.length ?? 0
      const isNext = run.counts.at(-1) !== 0
      decodeParts(content.parts ?? [], below(at, 'parts'), inside, parts)
      run.counts.push(count)
      if (isNext && parts.length === before + count) join(parts, before)
    } else {
      const message = decodeContent(content, at, inside)
      messages.push(message)
      run = plain ? { message, counts: [content.parts?.length ?? 0] } : undefined
    }
    if (run && run.counts.length > 1) run.message.ext = { [protocolName]: { form: { ...ownForm(run.message.ext), contents: [...run.counts] } } }
    for (const part of messages.at(-1)?.parts ?? []) if (part.type === 'tool-call') calls.ask(part)
    if (content.role !== 'model' && content.parts?.some(part => part['functionResponse'] == null)) calls.forget()
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

/** Joins a text or thought with the first part of the next content (an empty one ends it), unless either is signed or has kept fields. Changes `parts`. */
function join(parts: Part[], from: number): void {
  const [before, part] = [parts[from - 1], parts[from]]
  if (!before || !part || !isPiece(before) || !isPiece(part)) return
  const ext = { [protocolName]: { form: { pieces: [...piecesOf(before), ...piecesOf(part)] } } }
  if (before.type === 'text' && part.type === 'text') parts.splice(from - 1, 2, { ...before, text: before.text + part.text, ext })
  else if (before.type === 'reasoning' && part.type === 'reasoning') {
    const segments = [{ kind: 'summary' as const, text: textOf(before) + textOf(part) }]
    parts.splice(from - 1, 2, { ...before, segments, ext })
  }
}

/** Is it a text or thought with nothing but its text? */
function isPiece({ ext, signature, type }: Part): boolean {
  const own = ext?.[protocolName]
  if (signature || (type !== 'text' && type !== 'reasoning')) return false
  return own === undefined || (own.fields === undefined && Object.keys(own.form ?? {}).every(key => key === 'pieces'))
}

const textOf = (part: Part): string => (part.type === 'text' ? part.text : part.type === 'reasoning' ? part.segments.map(({ text }) => text).join('') : '')

function piecesOf(part: Part): number[] {
  const pieces = ownForm(part.ext)?.['pieces']
  return Array.isArray(pieces) && pieces.every(length => typeof length === 'number') ? (pieces as number[]) : [textOf(part).length]
}

/** The roles of this wire, and of its older clients. Servers take no others; one that is absent is the user's. */
const roles = new Set<unknown>(['user', 'model', 'system', 'function', '', null, undefined])

function decodeContent({ role, parts, ...others }: GeminiContent, at: Place, reading: Reading): Message {
  const fields = roles.has(role) ? others : { ...others, role }
  const ours = role === 'model' ? 'assistant' : role === 'system' ? 'system' : 'user'
  return {
    role: ours,
    origin: 'message',
    parts: decodeParts(parts ?? [], below(at, 'parts'), reading),
    at,
    ...keep(fields, nulls({ parts }), {
      native: true,
      ...(role !== 'user' && role !== 'model' && { role: role === undefined ? 'absent' : role }),
      ...(parts === undefined && { parts: 'absent' }),
    }),
  }
}

/** Matches results to calls: by id if both have one, else by name and order. */
class OpenCalls {
  readonly #asked = new Set<ToolCallPart>()
  readonly #ids = new Set<string>()
  #open: ToolCallPart[] = []

  ask(call: ToolCallPart): void {
    if (this.#asked.has(call)) return
    this.#asked.add(call)
    this.#ids.add(call.id)
    this.#open.push(call)
  }

  /** The id of the call that a result answers. The call is no longer open then. */
  answeredBy({ id, name }: { id: string | undefined; name: string | undefined }, at: Place): string {
    const open = this.#open
    const call =
      open.find(one => id !== undefined && one.id === id) ??
      open.find(one => one.name === name && (id === undefined || one.idOrigin === 'synthesized')) ??
      (name === undefined ? open[0] : undefined)
    if (!call) return id ?? idFrom(at)
    this.#open = open.filter(one => one !== call)
    // A client may send the id only with the result.
    if (id !== undefined && call.idOrigin === 'synthesized' && !this.#ids.has(id)) {
      call.id = id
      this.#ids.add(id)
    }
    return call.id
  }

  forget(): void {
    this.#open = []
  }
}

// ---- canonical → wire

export type Conversation = { systemInstruction?: JsonObject; contents: JsonObject[] }

export function encodeConversation(messages: readonly Message[], writing: RequestWriting): Conversation {
  for (const message of messages) encodeEnvelope(message, writing)
  return writing.native ? encodeNative(messages, writing) : encodeForeign(messages, writing)
}

/** Notes the fields of a message that cannot be written here. */
function encodeEnvelope({ at, ext, name, id, status, phase }: Message, { report }: RequestWriting): void {
  report.ext(ext, at)
  if (name !== undefined) report.add('message.name', at, 'name')
  report.onceEach('message.envelope', at, { itemId: id, status })
  if (phase !== undefined && phase !== null) report.add('field.unsupported', at, 'phase')
}

function encodeNative(messages: readonly Message[], writing: RequestWriting): Conversation {
  const [first, ...others] = messages
  const system = first?.origin === 'instructions' ? first : undefined
  const signed = {
    ...writing,
    unsigned: writing.opens ? undefined : unsignedCalls(messages, ({ signature }) => signature !== undefined && signature.issuer !== protocolName),
  }
  const contents = flatMap(system ? others : messages, message => {
    const wires = flatMap(message.parts, part => inPieces(part, encodeParts([part], signed)))
    return inContents(wires, message)
  })
  return { ...(system && { systemInstruction: contentOf(encodeParts(system.parts, signed), system, 'system') }), contents }
}

/** A text in the pieces in which it came, if its length is unchanged. */
function inPieces(part: Part, written: GeminiPart[]): GeminiPart[] {
  const pieces = piecesOf(part)
  const said = textOf(part)
  const [only] = written
  if (!only || pieces.length < 2 || pieces.reduce((sum, length) => sum + length, 0) !== said.length) return written
  let start = 0
  return pieces.map(length => {
    const text = said.slice(start, start + length)
    start += length
    return { ...only, text }
  })
}

/** The parts of a message in the contents in which they came, if their number is unchanged. */
function inContents(wires: GeminiPart[], message: Message): JsonObject[] {
  const counts = ownForm(message.ext)?.['contents']
  const role = message.role === 'assistant' ? 'model' : message.role === 'system' || message.role === 'developer' ? 'system' : 'user'
  if (!Array.isArray(counts) || counts.reduce((sum: number, count) => sum + Number(count), 0) !== wires.length) return [contentOf(wires, message, role)]
  let start = 0
  return counts.map(count => {
    const parts = wires.slice(start, start + Number(count))
    start += Number(count)
    return { role, parts }
  })
}

function contentOf(parts: GeminiPart[], message: Message, role: string): JsonObject {
  const form = ownForm(message.ext)
  const spelled = form?.['role']
  const silent = parts.length === 0 && (form?.['parts'] === 'absent' || (isObject(form?.['nothing']) && form['nothing']['parts'] === null))
  return { ...(spelled !== 'absent' && { role: spelled === undefined ? role : spelled }), ...ownKeys(message.ext), ...(!silent && { parts }) }
}

/** The first call of each step, if its signature is lost: servers of the newest models refuse it without one. */
function unsignedCalls(messages: readonly { parts: readonly Part[] }[], lost: (call: ToolCallPart) => boolean): ReadonlySet<Part> {
  const found = new Set<Part>()
  for (const { parts } of messages) {
    const first = parts.find(part => part.type === 'tool-call')
    if (first && lost(first)) found.add(first)
  }
  return found
}

/** Earlier models (Gemini 1 and 2) sign nothing. */
export const signsNothing = (model: string | undefined) => model !== undefined && /gemini-(?:1|2)(?:\.|-|$)/.test(model)

function encodeForeign(messages: readonly Message[], writing: RequestWriting): Conversation {
  const { report, options, model } = writing
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const leading = first < 0 ? messages : messages.slice(0, first)
  const developer = leading.find(({ role, parts }) => role === 'developer' && parts.some(({ type }) => type !== 'control'))
  if (developer) report.once('system.developer-role', developer.at, 'role')
  const system = encodeInstructions(leading, writing)
  const { turns, pairs } = groupTurns(first < 0 ? [] : messages.slice(first), report)
  const unsigned = signsNothing(model) ? undefined : unsignedCalls(turns, ({ signature }) => (writing.opens ? !signature : signature?.issuer !== protocolName))
  const callOf = (result: ToolResultPart) => pairs.get(result)
  const contents = encodeTurns(turns, { ...writing, unsigned, callOf }, parts => system.push(...parts))
  if (options.amLeadingUser === 'synthesize' && (contents[0]?.['role'] === 'model' || (contents.length === 0 && system.length > 0))) {
    report.add('message.leading-user', '/contents/0')
    contents.unshift({ role: 'user', parts: [{ text: '.' }] })
  }
  report.settle(contents, '/contents')
  return system.length > 0 ? { systemInstruction: { parts: system }, contents } : { contents }
}

function encodeInstructions(messages: readonly Message[], writing: RequestWriting): GeminiPart[] {
  const instructions = flatMap(messages, ({ parts }) =>
    parts.filter(part => {
      if (isInstruction(part)) return true
      writing.report.leave('system.not-text', part)
      return false
    }),
  )
  return instructions.length === 0 ? [] : encodeParts(instructions, { ...writing, instructs: true })
}

type Wire = { role: 'user' | 'model'; parts: GeminiPart[]; isResults: boolean }

function encodeTurns(turns: readonly Turn[], writing: RequestWriting, hoist: (parts: GeminiPart[]) => void): JsonObject[] {
  const { report, options } = writing
  const hoists = options.systemPlacement === 'hoist'
  const wires: Wire[] = []
  for (const { role, parts, sources } of turns) {
    if (role === 'system') {
      const [source] = sources
      const written = source ? encodeInstructions([{ ...source, parts }], writing) : []
      if (written.length === 0) continue
      if (source?.role === 'developer') report.once('system.developer-role', source.at, 'role')
      report.add(hoists ? 'system.hoisted' : 'system.mid-conversation-as-user', source?.at)
      if (hoists) hoist(written)
      else instruct(wires, written)
      continue
    }
    const isResults = parts.some(({ type }) => type === 'tool-result')
    const written = flatMap(parts, part => {
      const one = encodePart(part, writing)
      if (part.type === 'tool-result' && part.synthesized) for (const made of one) report.addMade('tool-result.synthesized', made)
      const [first] = one
      if (first && writing.unsigned?.has(part)) report.addMade('reasoning.placeholder-signature', first, '/thoughtSignature')
      return one
    })
    if (written.length > 0) wires.push({ role: role === 'model' ? 'model' : 'user', parts: written, isResults })
  }
  return wires.map(({ role, parts }) => ({ role, parts }))
}

/** Instructions in mid-conversation: at the end of the user content before them, or in one of their own. */
function instruct(wires: Wire[], told: GeminiPart[]): void {
  const tagged = told.map(part => (typeof part['text'] === 'string' ? { ...part, text: `<system>${part['text']}</system>` } : part))
  const before = wires.at(-1)
  if (before?.role === 'user' && !before.isResults) before.parts.push(...tagged)
  else wires.push({ role: 'user', parts: tagged, isResults: false })
}
