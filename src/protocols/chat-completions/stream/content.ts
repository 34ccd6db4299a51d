import { copyOf } from '../../../canonical/copy.ts'
import type { MediaPart, Place } from '../../../canonical/message.ts'
import { hashId } from '../../../kit/conversation/ids.ts'
import { omitNullish, omitNullishOrNone } from '../../../kit/fields/omit.ts'
import {
  advanceJson,
  isObject,
  type JsonObject,
  merge,
  mergeInto,
  saysMore,
  startJson,
} from '../../../kit/json/json.ts'
import { below, pointerOf, step } from '../../../kit/notes/path.ts'
import { append } from '../../../kit/text/append.ts'
import { readInput } from '../../../kit/tools/object-input.ts'
import type { EmitEvent } from '../../../protocol.ts'
import { callPart, noteInput, readCall } from '../content/calls.ts'
import { decodeAnnotation, decodeLogprobs, placedIn, unreadOfLogprobs } from '../content/content.ts'
import { decodeImages } from '../content/media.ts'
import { carriedIssuer } from '../content/signatures.ts'
import { protocolName } from '../own.ts'
import {
  add,
  type Beside,
  type Call,
  type Choice,
  closePart,
  count,
  type DecoderState,
  opened,
  openPart,
  placeOf,
  reportOf,
} from './decoder-state.ts'
import { appendReasoning } from './reasoning.ts'

/**
 * What a delta holds besides reasoning and calls: text, blocks, citations, log probabilities,
 * images, audio.
 */

export function appendText(
  choice: Choice,
  kind: 'text' | 'refusal',
  { text, emit }: { text: string; emit: EmitEvent },
): void {
  const part = opened(choice, kind, emit)
  count(choice, part, { kind, text })
  add(choice, part, { delta: { kind: 'text', text }, emit })
  const logprobs = choice.logprobs[kind]
  if (logprobs.length === 0) return
  add(choice, part, { delta: { kind: 'logprobs', logprobs }, emit })
  choice.logprobs[kind] = []
}

/** Servers that send content as blocks put reasoning into blocks, too. */
export function readBlock(
  state: DecoderState,
  choice: Choice,
  { block, emit }: { block: JsonObject; emit: EmitEvent },
): void {
  const { type, text, thinking, ...unknown } = block
  const thought = type === 'thinking' ? thoughtIn(thinking) : undefined
  if (type === 'text' && typeof text === 'string') {
    noteUnknown(state, choice, unknown)
    if (text) appendText(choice, 'text', { text, emit })
  } else if (thought !== undefined) {
    noteUnknown(state, choice, unknown)
    if (thought) appendReasoning(choice, { text: thought, of: 'raw', emit })
  } else {
    closePart(choice, emit)
    const part = openPart(choice, { type: 'opaque', protocol: protocolName, raw: block }, emit)
    emit({ type: 'part.end', candidate: choice.candidate, part })
  }
}

/** Texts run on from delta to delta, so what else a block says has no place. */
function noteUnknown(state: DecoderState, choice: Choice, unknown: JsonObject): void {
  for (const key in omitNullish(unknown))
    reportOf(state).once('field.unknown', `${pointerOf(placeOf(choice))}/content${step(key)}`)
}

/** Undefined: it is neither a text nor a list of texts. */
function thoughtIn(thinking: unknown): string | undefined {
  if (!Array.isArray(thinking)) return typeof thinking === 'string' ? thinking : undefined
  const isPlain = (entry: unknown): entry is { text: string } =>
    isObject(entry) &&
    typeof entry['text'] === 'string' &&
    Object.keys(entry).every(key => key === 'text' || key === 'type')
  return thinking.every(isPlain) ? thinking.map(({ text }) => text).join('') : undefined
}

export function cite(choice: Choice, annotation: unknown, emit: EmitEvent): void {
  const part = opened(choice, 'text', emit)
  const citation = placedIn(decodeAnnotation(annotation), choice.open?.before ?? 0)
  add(choice, part, { delta: { kind: 'citation', citation }, emit })
}

export function readLogprobs(choice: Choice, logprobs: JsonObject, emit: EmitEvent): void {
  const { content, refusal } = logprobs
  const { candidate, tokens } = choice
  const decoded = {
    text: decodeLogprobs(
      content,
      below(below(below('/choices', candidate), 'logprobs'), 'content'),
      tokens.text,
    ),
    refusal: decodeLogprobs(
      refusal,
      below(below(below('/choices', candidate), 'logprobs'), 'refusal'),
      tokens.refusal,
    ),
  }
  for (const kind of ['text', 'refusal'] as const) {
    const read = decoded[kind]
    if (!read) continue
    tokens[kind] += read.length
    if (choice.open?.kind === kind)
      add(choice, choice.open.part, { delta: { kind: 'logprobs', logprobs: read }, emit })
    else append(choice.logprobs[kind], read)
  }
  const unread = unreadOfLogprobs(logprobs)
  if (Object.keys(unread).length > 0) choice.fields = { ...choice.fields, logprobs: unread }
}

/** What is in the place of a text. */
const wordless = (value: unknown): unknown => (typeof value === 'string' ? null : (value ?? null))

export function readImages(choice: Choice, images: unknown, emit: EmitEvent): void {
  const parts = decodeImages(images, placeOf(choice))
  if (!parts) choice.delta = { ...choice.delta, images }
  for (const head of parts ?? []) {
    closePart(choice, emit)
    emit({ type: 'part.end', candidate: choice.candidate, part: openPart(choice, head, emit) })
  }
}

export function readAudio(
  choice: Choice,
  { id, data, transcript, ...unknown }: JsonObject,
  emit: EmitEvent,
): void {
  const late: JsonObject = omitNullish({
    ...unknown,
    id: wordless(id),
    data: wordless(data),
    transcript: wordless(transcript),
  })
  if (choice.audio === undefined) {
    closePart(choice, emit)
    const head: MediaPart = { type: 'media', kind: 'audio', source: { type: 'base64', data: '' } }
    if (typeof id === 'string' && id) head.id = id
    choice.audio = { part: openPart(choice, head, emit), id }
  } else if (typeof id === 'string' && id !== choice.audio.id) late['id'] = id
  const { part } = choice.audio
  if (typeof transcript === 'string' && transcript)
    add(choice, part, { delta: { kind: 'text', text: transcript }, emit })
  if (typeof data === 'string' && data)
    add(choice, part, { delta: { kind: 'media', base64: data }, emit })
  if (Object.keys(late).length > 0) choice.delta = merge(choice.delta, { audio: late })
}

export type Into = { delta: JsonObject; emit: EmitEvent }

export const isText = (value: unknown) => typeof value === 'string' && value !== ''

export function takeCall(state: DecoderState, choice: Choice, { delta, emit }: Into): void {
  const read = readCall(delta, carriedIssuer.server)
  const { id, index, name, kind, input, signature, unknown } = read
  const place = findCall(choice, { index, id, name, input })
  if (place === undefined) {
    for (const earlier of choice.named.splice(0)) announce(state, choice, earlier, emit)
    addCall(choice, startCall(name, kind, choice.calls.length))
    if (typeof index === 'number') choice.byIndex.set(index, choice.calls.length - 1)
  }
  const call = choice.calls[place ?? choice.calls.length - 1]
  if (!call) return
  if (!call.id) identify(choice, call, id)
  setName(choice, call, call.name || name)
  const at = `${pointerOf(placeOf(choice))}/tool_calls/${call.place}`
  noteInput(read, at, reportOf(state))
  addInput(state, choice, { call, input, emit, at, beside: { signature, unknown } })
}

/**
 * The place in `calls` of the call that a delta belongs to. Undefined: a new call. The index
 * decides, but some servers leave it out, and some give all calls of a response the same: then a
 * new id, or a name after complete arguments, begins a new call.
 */
function findCall(
  choice: Choice,
  { index, id, name, input }: { index: unknown; id: string; name: string; input: string },
): number | undefined {
  const { calls, byIndex } = choice
  const byId = id ? (choice.byId.get(id) ?? -1) : -1
  const place = typeof index === 'number' ? byIndex.get(index) : placeWithoutIndex(choice, id, byId)
  const call = place === undefined ? undefined : calls[place]
  if (!call || place === undefined) return undefined
  if (id && call.id && id !== call.id) {
    if (byId >= 0) return byId
    if (name) return undefined
  }
  const another = name && !id && call.json.whole && (name !== call.name || input.trim() !== '')
  return another ? undefined : place
}

/** An unknown id begins a new call; a delta without one belongs to the last call. */
function placeWithoutIndex({ calls }: Choice, id: string, byId: number): number | undefined {
  if (byId >= 0) return byId
  return id || calls.length === 0 ? undefined : calls.length - 1
}

export function readLegacyCall(state: DecoderState, choice: Choice, { delta, emit }: Into): void {
  let call = choice.calls[0]
  // Some servers send an empty call with every text.
  if (!call && !isText(delta['name']) && readInput(delta['arguments']) === '') return
  if (!call) {
    call = startCall('', 'function', 0)
    call.isLegacy = true
    addCall(choice, call)
    identify(choice, call, 'call_fn_0')
  }
  if (isText(delta['name'])) setName(choice, call, call.name || (delta['name'] as string))
  const { name: _, arguments: input, ...unknown } = delta
  addInput(state, choice, {
    call,
    input: readInput(input),
    emit,
    at: `${pointerOf(placeOf(choice))}/function_call`,
    beside: { unknown: omitNullishOrNone(unknown) },
  })
}

const startCall = (name: string, kind: Call['kind'], place: number): Call => ({
  place,
  id: '',
  name,
  input: '',
  kind,
  part: undefined,
  json: startJson(),
  beside: { unknown: undefined },
  isLegacy: false,
})

function addCall(choice: Choice, call: Call): void {
  choice.calls.push(call)
  if (call.name) choice.named.push(call)
}

/** Gives a call its id. The first call of an id is the one that it names. */
function identify({ byId }: Choice, call: Call, id: string): void {
  call.id = id
  if (id && call.place <= (byId.get(id) ?? Infinity)) byId.set(id, call.place)
}

function setName(choice: Choice, call: Call, name: string): void {
  if (!call.name && name) choice.named.push(call)
  call.name = name
}

type CallDelta = { call: Call; input: string; emit: EmitEvent; at: Place; beside: Beside }

function addInput(
  state: DecoderState,
  choice: Choice,
  { call, input, emit, at, beside }: CallDelta,
): void {
  advanceJson(call.json, input)
  const { signature, unknown } = beside
  if (call.part !== undefined) {
    if (signature) add(choice, call.part, { delta: { kind: 'signature', signature }, emit })
    if (input) add(choice, call.part, { delta: { kind: 'input', text: input }, emit })
    // The part has already been announced, so unknown keys that come now have no place.
    if (unknown && saysMore(call.beside.unknown ?? {}, unknown))
      reportOf(state).once('field.unknown', at)
    return
  }
  call.input += input
  call.at ??= at
  call.beside.signature = signature ?? call.beside.signature
  if (call.beside.signature) choice.callProofs.add(call.beside.signature.value)
  if (unknown && call.beside.unknown) mergeInto(call.beside.unknown, unknown)
  else if (unknown) call.beside.unknown = copyOf(unknown)
  announce(state, choice, call, emit)
}

/** Starts the part of a call once the call has a name. */
export function announce(state: DecoderState, choice: Choice, call: Call, emit: EmitEvent): void {
  if (!call.name || call.part !== undefined) return
  closePart(choice, emit)
  const isMadeUp = !call.id || call.isLegacy
  if (!call.id)
    identify(choice, call, `call_${hashId(`${state.id}/${choice.candidate}/${call.place}`)}`)
  const { id, name, kind, beside, at = placeOf(choice) } = call
  const part = callPart({ id, name, kind, input: '', ...beside }, isMadeUp, at)
  call.part = openPart(choice, part, emit)
  choice.byPart.set(call.part, call)
  if (call.input) add(choice, call.part, { delta: { kind: 'input', text: call.input }, emit })
  call.input = ''
}
