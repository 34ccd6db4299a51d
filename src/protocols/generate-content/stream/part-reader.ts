import { copyOf } from '../../../canonical/copy.ts'
import type { Delta } from '../../../canonical/event.ts'
import { takeApart } from '../../../canonical/explode.ts'
import type { Part, Place, TokenLogprob } from '../../../canonical/message.ts'
import type { Note } from '../../../canonical/note.ts'
import { noPhases, type PhasesInFront, takePhase } from '../../../kit/conversation/phases.ts'
import { defined } from '../../../kit/fields/defined.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import { unwrapSignature } from '../../../kit/signatures/envelope.ts'
import type { EmitEvent } from '../../../protocol.ts'
import type { Answer } from '../content/citations.ts'
import { decodePart } from '../content/content.ts'
import { extOf, protocolName } from '../content/own.ts'
import { decodeSignature, ordinalOf, rejoin } from '../content/reasoning.ts'
import type { Reading } from '../content/writing.ts'
import { createGeminiReport, type GeminiReport } from '../notes.ts'
import { isBrokenCall, isContent } from '../response/finish.ts'
import { callId, signedBy } from '../response/response.ts'
import { GeminiPart } from '../schema.ts'
import { addPieces, type StreamedCall } from './streamed-call.ts'

/** Reads the parts of one candidate of a stream: texts are continued from event to event, all other parts come whole. */

export type Open = {
  part: number
  kind: 'text' | 'thought'
  /** The text so far, to which offsets of citations refer; for a thought, one item for each segment. */
  pieces: string[]
  /** It has its signature: the next text begins a new part. */
  signed: boolean
}

export type Answering = {
  candidate: number
  /** JSON pointer to it in the whole reply. */
  at: Place
  begun: boolean
  /** Unknown fields of its content. */
  around: JsonObject | undefined
  nextPart: number
  /** The number of calls that came without an id. */
  unnamed: number
  called: boolean
  /** Some part answers something: see `isContent`. */
  hasContent: boolean
  hasBrokenCall: boolean
  open: Open | undefined
  /** The indexes of the parts that are thoughts, in order. */
  thoughts: number[]
  call: StreamedCall | undefined
  phases: PhasesInFront
  /** The ended texts, in order. */
  answers: Answer[]
  raw: string | undefined
  message: string | undefined
  /** Unknown fields, each with its latest value. */
  fields: JsonObject
  /** `wire`: all so far. `left`: what no citation holds. `last`: of the last event. */
  grounding: { wire: JsonObject; left: JsonObject; last: JsonObject } | undefined
  /** Logprobs of tokens that belong to no text. */
  loose: TokenLogprob[]
}

/** What all candidates share. */
export type Reply = { notes: Note[]; id: string | undefined; model: string | undefined }
export const reportOf = ({ notes }: { notes: Note[] }): GeminiReport => createGeminiReport(undefined, notes)

export function startAnswering(candidate: number, at: Place): Answering {
  return {
    candidate,
    at,
    begun: false,
    around: undefined,
    nextPart: 0,
    unnamed: 0,
    called: false,
    hasContent: false,
    hasBrokenCall: false,
    open: undefined,
    thoughts: [],
    call: undefined,
    phases: noPhases(),
    answers: [],
    raw: undefined,
    message: undefined,
    fields: {},
    grounding: undefined,
    loose: [],
  }
}

/** `around`: unknown fields of the first content. */
export function begin(answering: Answering, emit: EmitEvent, around?: JsonObject): void {
  if (answering.begun) return
  answering.begun = true
  answering.around = around
  const { candidate, at } = answering
  emit({ type: 'message.start', candidate, message: 0, role: 'assistant', at: below(at, 'content'), ...defined({ ext: extOf(around) }) })
}

/**
 * Text is continued from event to event. An empty text before a text or thought in the same event begins a new part; it has no
 * effect on other clients. An empty thought before a thought begins its next segment.
 */
export function takeParts(answering: Answering, wires: readonly unknown[], path: Place, reply: Reply, emit: EmitEvent): void {
  for (const [place, wire] of wires.entries()) {
    const next = wires[place + 1]
    if (isPlainText(wire) && isPlainText(next) && !saysAnything(wire) && saysAnything(next)) divide(answering, wire, emit)
    else takePart(answering, wire, below(path, place), reply, emit)
  }
}

const saysAnything = ({ text, thoughtSignature }: PlainText) => Boolean(text || thoughtSignature)

function divide(answering: Answering, { thought }: PlainText, emit: EmitEvent): void {
  const { open } = answering
  if (!thought) closeParts(answering, emit)
  else if (open?.kind === 'thought' && open.pieces.at(-1)) open.pieces.push('')
}

export const textSoFar = ({ pieces }: Open) => pieces.join('')

function takePart(answering: Answering, wire: unknown, path: Place, reply: Reply, emit: EmitEvent): void {
  if (isPlainText(wire)) {
    takeText(answering, wire, reply, emit)
    return
  }
  if (isObject(wire) && isObject(wire['functionCall']) && takePieces(answering, wire, path, reply, emit)) return
  const part = checkPart(wire, path)
  const whole = readWhole(answering, part, reply)
  closeParts(answering, emit)
  startPart(answering, whole, emit)
  emit({ type: 'part.end', candidate: answering.candidate, part: answering.nextPart - 1 })
}

/** Is it a text without unknown fields, as nearly all parts of a stream are? */
function isPlainText(wire: unknown): wire is PlainText {
  if (!isObject(wire) || typeof wire['text'] !== 'string') return false
  for (const key in wire) {
    const value = wire[key]
    if (key === 'text') continue
    if (key === 'thought' ? typeof value !== 'boolean' : key !== 'thoughtSignature' || typeof value !== 'string') return false
  }
  return true
}

const checkPart = (wire: unknown, path: Place): GeminiPart => check(protocolName, GeminiPart, wire, inner => pointerOf(path) + inner)

function readWhole(answering: Answering, part: GeminiPart, reply: Reply): Part {
  const { id = '', model } = reply
  const reading: Reading = {
    root: '',
    report: reportOf(reply),
    place: pointer => pointer,
    names: {},
    speaks: 'model',
    callId: () => callId(id, answering.candidate, answering.unnamed++),
  }
  const whole = decodePart(part, below(below(below(answering.at, 'content'), 'parts'), answering.nextPart), reading)
  signedBy(model, whole)
  answering.called ||= whole.type === 'tool-call'
  return whole
}

function startPart(answering: Answering, whole: Part, emit: EmitEvent): number {
  const { candidate } = answering
  const part = answering.nextPart++
  takePhase(answering.phases, whole)
  if (whole.type === 'reasoning') answering.thoughts.push(part)
  answering.hasContent ||= isContent(whole)
  answering.hasBrokenCall ||= isBrokenCall(whole)
  const { head, deltas } = takeApart(whole)
  emit({ type: 'part.start', candidate, message: 0, part, head })
  for (const delta of deltas) emit({ type: 'part.delta', candidate, part, delta })
  return part
}

type PlainText = { text: string; thought?: boolean; thoughtSignature?: string }

function takeText(answering: Answering, wire: PlainText, reply: Reply, emit: EmitEvent): void {
  const { text, thought, thoughtSignature } = wire
  const kind = thought === true ? 'thought' : 'text'
  if (!saysAnything(wire) || provesBefore(answering, wire, emit)) return
  const { signature: carried } = text === '' ? decodeSignature(thoughtSignature) : {}
  if (carried?.form === 'phase') {
    closeParts(answering, emit)
    takePhase(answering.phases, { type: 'reasoning', segments: [], signature: carried })
    return
  }
  const { open } = answering
  const goesOn = open?.kind === kind && !open.signed
  const signed = thoughtSignature ? readWhole(answering, wire, reply) : undefined
  // A text with the signature of another protocol's reasoning is that reasoning, not text.
  if (!goesOn || (signed && signed.type !== (kind === 'thought' ? 'reasoning' : 'text'))) {
    closeParts(answering, emit)
    const whole = signed?.type === 'reasoning' ? rejoin(signed, thoughtSignature, []) : (signed ?? readWhole(answering, wire, reply))
    const part = startPart(answering, whole, emit)
    answering.open = { part, kind: whole.type === 'reasoning' ? 'thought' : 'text', pieces: [text], signed: signed !== undefined }
    return
  }
  const tell = (delta: Delta) => emit({ type: 'part.delta', candidate: answering.candidate, part: open.part, delta })
  const segment = open.pieces.length - 1
  open.pieces[segment] += text
  if (text) tell(kind === 'thought' ? { kind: 'reasoning', segment, of: 'summary', text } : { kind: 'text', text })
  if (!signed?.signature) return
  tell({ kind: 'signature', signature: signed.signature })
  open.signed = true
  if (signed.type === 'reasoning') closeThought(answering, open, { whole: signed, value: thoughtSignature }, emit)
}

/** Emits a signature that came after its thought had ended. False: not such a part. */
function provesBefore({ candidate, thoughts }: Answering, { text, thoughtSignature }: PlainText, emit: EmitEvent): boolean {
  const { signature, envelope } = text === '' && thoughtSignature ? decodeSignature(thoughtSignature) : {}
  const part = envelope && thoughts[ordinalOf(envelope) ?? -1]
  if (part === undefined || !signature) return false
  emit({ type: 'part.delta', candidate, part, delta: { kind: 'signature', signature, ...defined({ id: envelope?.id, kinds: envelope?.kinds }) } })
  return true
}

/** Ends a thought whose signature is in an envelope, with the segments that the envelope describes. */
function closeThought(
  answering: Answering,
  { part, pieces }: Open,
  { whole, value }: { whole: Extract<Part, { type: 'reasoning' }>; value: string | undefined },
  emit: EmitEvent,
): void {
  const envelope = value ? unwrapSignature(value) : undefined
  if (!value || !envelope) return
  const segments = pieces.filter(Boolean).map((text, nth) => ({ kind: envelope.kinds?.[nth] ?? ('summary' as const), text }))
  const final = rejoin({ ...whole, segments, at: below(below(below(answering.at, 'content'), 'parts'), part) }, value, [])
  answering.open = undefined
  emit({ type: 'part.end', candidate: answering.candidate, part, final })
}

/** Arguments in pieces: a part with a name begins a call, those without continue it, and one without `willContinue` ends it. False: not such a part. */
function takePieces(answering: Answering, wire: JsonObject, path: Place, reply: Reply, emit: EmitEvent): boolean {
  const call = wire['functionCall'] as JsonObject
  const { partialArgs: pieces, willContinue, ...head } = call
  const continues = willContinue === true
  const isNamed = typeof head['name'] === 'string' && head['name'] !== ''
  if (isNamed && !continues && pieces === undefined) return false
  if (isNamed) {
    const whole = readWhole(answering, checkPart({ ...wire, functionCall: head }, path), reply)
    closeParts(answering, emit)
    if (whole.type !== 'tool-call') return false
    const args = isObject(head['args']) ? copyOf(head['args']) : {}
    answering.call = { part: startPart(answering, { ...whole, input: '' }, emit), args }
  } else if (!answering.call) {
    if (!continues && pieces === undefined && Object.keys(head).length > 0) return false
    answering.hasBrokenCall = true
    reportOf(reply).once('stream.stray-delta', path)
    return true
  } else noteBeside(wire, path, reply)
  const { call: open } = answering
  if (open && Array.isArray(pieces) && !addPieces(open, pieces)) reportOf(reply).once('stream.partial-path', below(below(path, 'functionCall'), 'partialArgs'))
  if (!continues) closeCall(answering, emit)
  return true
}

/** The call is announced already, so whatever else its pieces say has no place. */
function noteBeside({ functionCall, ...wire }: JsonObject, path: Place, reply: Reply): void {
  const { partialArgs, willContinue, name, ...call } = functionCall as JsonObject
  const pieces = Array.isArray(partialArgs) ? partialArgs.filter(isObject) : []
  const strange = defined({ partialArgs: Array.isArray(partialArgs) ? undefined : partialArgs, name: name || undefined })
  noteUnknown({ ...wire }, path, reply)
  noteUnknown({ ...call, ...strange }, below(path, 'functionCall'), reply)
  for (const { jsonPath, stringValue, numberValue, boolValue, nullValue, willContinue: more, ...unknown } of pieces)
    noteUnknown(unknown, below(below(path, 'functionCall'), 'partialArgs'), reply)
}

function noteUnknown(unknown: JsonObject, path: Place, reply: Reply): void {
  for (const key in unknown) if (unknown[key] != null) reportOf(reply).once('field.unknown', below(path, key))
}

function closeCall(answering: Answering, emit: EmitEvent): void {
  const { call, candidate } = answering
  if (!call) return
  answering.call = undefined
  emit({ type: 'part.delta', candidate, part: call.part, delta: { kind: 'input', text: JSON.stringify(call.args) } })
  emit({ type: 'part.end', candidate, part: call.part })
}

export function closeParts(answering: Answering, emit: EmitEvent): void {
  closeCall(answering, emit)
  const { open, candidate } = answering
  if (!open) return
  answering.open = undefined
  if (open.kind === 'text') answering.answers.push({ text: textSoFar(open), place: open.part })
  emit({ type: 'part.end', candidate, part: open.part })
}
