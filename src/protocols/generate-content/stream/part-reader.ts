import { isContent } from '../../../canonical/content.ts'
import { copyOf } from '../../../canonical/copy.ts'
import type { Delta } from '../../../canonical/event.ts'
import { takeApart } from '../../../canonical/explode.ts'
import type { Part, Place, TokenLogprob } from '../../../canonical/message.ts'
import type { Note } from '../../../canonical/note.ts'
import { noPhases, type PhasesInFront, takePhase } from '../../../kit/conversation/phases.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { writeExact } from '../../../kit/json/digits.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import { unwrapSignature } from '../../../kit/signatures/envelope.ts'
import type { EmitEvent } from '../../../protocol.ts'
import type { TextAtPart } from '../content/citations.ts'
import { decodePart } from '../content/content.ts'
import { decodeSignature, ordinalOf, rejoin } from '../content/reasoning.ts'
import type { Reading } from '../content/writing.ts'
import { createGeminiReport, extOf, type GenerateContentReport, protocolName } from '../own.ts'
import { isBrokenCall } from '../response/finish.ts'
import { callIdInResponse, signedBy } from '../response/response.ts'
import { GenerateContentPart } from '../schema.ts'
import { addPartialArgs, type StreamedCall } from './streamed-call.ts'

/**
 * Reads the parts of one candidate of a stream: texts are continued from event to event, all other
 * parts come whole.
 */

export type Open = {
  part: number
  kind: 'text' | 'thought'
  /** The text so far; for a thought, one item for each segment. */
  chunks: string[]
  /** Of a text that has citations. */
  cited?: TextAtPart
  /** It has its signature: the next text begins a new part. */
  signed: boolean
}

export type CandidateState = {
  candidate: number
  /** JSON pointer to it in the whole response. */
  at: Place
  begun: boolean
  /** Unknown fields of its content. */
  around: JsonObject | undefined
  nextPart: number
  /** The number of calls that came without an id. */
  unnamed: number
  called: boolean
  /** Some part has content for the user: see `isContent`. */
  hasContent: boolean
  hasBrokenCall: boolean
  open: Open | undefined
  /** The indexes of the parts that are reasoning, in order. */
  reasoning: number[]
  call: StreamedCall | undefined
  phases: PhasesInFront
  /** The ended texts, in order. */
  textsAtParts: TextAtPart[]
  raw: string | undefined
  message: string | undefined
  /** Unknown fields, each with its latest value. */
  fields: JsonObject
  /**
   * `chunks`: all sources so far. `wire`: all so far. `left`: what no citation holds. `last`: of
   * the last event.
   */
  grounding: { chunks: unknown[]; wire: JsonObject; left: JsonObject; last: JsonObject } | undefined
  /** Logprobs of tokens that belong to no text. */
  loose: TokenLogprob[]
}

/** What all candidates share. */
export type ResponseHead = { notes: Note[]; id: string | undefined; model: string | undefined }
export const reportOf = ({ notes }: { notes: Note[] }): GenerateContentReport =>
  createGeminiReport(undefined, notes)

export function startCandidate(candidate: number, at: Place): CandidateState {
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
    reasoning: [],
    call: undefined,
    phases: noPhases(),
    textsAtParts: [],
    raw: undefined,
    message: undefined,
    fields: {},
    grounding: undefined,
    loose: [],
  }
}

/** `around`: unknown fields of the first content. */
export function begin(candidateState: CandidateState, emit: EmitEvent, around?: JsonObject): void {
  if (candidateState.begun) return
  candidateState.begun = true
  candidateState.around = around
  const { candidate, at } = candidateState
  emit({
    type: 'message.start',
    candidate,
    message: 0,
    role: 'assistant',
    at: below(at, 'content'),
    ...omitUndefined({ ext: extOf(around) }),
  })
}

/**
 * Text is continued from event to event. An empty text before a text or thought in the same event
 * begins a new part; it has no effect on other clients. An empty thought before a thought begins
 * its next segment.
 */
export function takeParts(
  candidateState: CandidateState,
  wires: readonly unknown[],
  path: Place,
  response: ResponseHead,
  emit: EmitEvent,
): void {
  for (const [place, wire] of wires.entries()) {
    const next = wires[place + 1]
    if (isPlainText(wire) && isPlainText(next) && !saysAnything(wire) && saysAnything(next))
      divide(candidateState, wire, emit)
    else takePart(candidateState, wire, below(path, place), response, emit)
  }
}

const saysAnything = ({ text, thoughtSignature }: PlainText) => Boolean(text || thoughtSignature)

function divide(candidateState: CandidateState, { thought }: PlainText, emit: EmitEvent): void {
  const { open } = candidateState
  if (!thought) closeParts(candidateState, emit)
  else if (open?.kind === 'thought' && open.chunks.at(-1)) open.chunks.push('')
}

/** Adds a text to the last chunk. */
export function addText({ chunks, cited }: Open, text: string): void {
  chunks[chunks.length - 1] += text
  cited?.fresh?.push(text)
}

/** The text so far, to which offsets of citations refer. */
export function citedText(open: Open): TextAtPart {
  open.cited ??= { text: open.chunks.join(''), place: open.part, fresh: [] }
  return open.cited
}

function takePart(
  candidateState: CandidateState,
  wire: unknown,
  path: Place,
  response: ResponseHead,
  emit: EmitEvent,
): void {
  if (isPlainText(wire)) {
    takeText(candidateState, wire, response, emit)
    return
  }
  if (
    isObject(wire) &&
    isObject(wire['functionCall']) &&
    takePartialArgs(candidateState, wire, path, response, emit)
  )
    return
  const part = checkPart(wire, path)
  const whole = readWhole(candidateState, part, response)
  closeParts(candidateState, emit)
  startPart(candidateState, whole, emit)
  emit({ type: 'part.end', candidate: candidateState.candidate, part: candidateState.nextPart - 1 })
}

/** Is it a text without unknown fields, as nearly all parts of a stream are? */
function isPlainText(wire: unknown): wire is PlainText {
  if (!isObject(wire) || typeof wire['text'] !== 'string') return false
  for (const key in wire) {
    const value = wire[key]
    if (key === 'text') continue
    if (
      key === 'thought'
        ? typeof value !== 'boolean'
        : key !== 'thoughtSignature' || typeof value !== 'string'
    )
      return false
  }
  return true
}

const checkPart = (wire: unknown, path: Place): GenerateContentPart =>
  check(protocolName, GenerateContentPart, wire, inner => pointerOf(path) + inner)

function readWhole(
  candidateState: CandidateState,
  part: GenerateContentPart,
  response: ResponseHead,
): Part {
  const { id = '', model } = response
  const reading: Reading = {
    root: '',
    report: reportOf(response),
    place: pointer => pointer,
    names: {},
    speaks: 'model',
    inventedCallId: () => callIdInResponse(id, candidateState.candidate, candidateState.unnamed++),
  }
  const whole = decodePart(
    part,
    below(below(below(candidateState.at, 'content'), 'parts'), candidateState.nextPart),
    reading,
  )
  signedBy(model, whole)
  candidateState.called ||= whole.type === 'tool-call'
  return whole
}

function startPart(candidateState: CandidateState, whole: Part, emit: EmitEvent): number {
  const { candidate } = candidateState
  const part = candidateState.nextPart++
  takePhase(candidateState.phases, whole)
  if (whole.type === 'reasoning') candidateState.reasoning.push(part)
  candidateState.hasContent ||= isContent(whole)
  candidateState.hasBrokenCall ||= isBrokenCall(whole)
  const { head, deltas } = takeApart(whole)
  emit({ type: 'part.start', candidate, message: 0, part, head })
  for (const delta of deltas) emit({ type: 'part.delta', candidate, part, delta })
  return part
}

type PlainText = { text: string; thought?: boolean; thoughtSignature?: string }

function takeText(
  candidateState: CandidateState,
  wire: PlainText,
  response: ResponseHead,
  emit: EmitEvent,
): void {
  const { text, thought, thoughtSignature } = wire
  const kind = thought === true ? 'thought' : 'text'
  if (!saysAnything(wire) || provesBefore(candidateState, wire, emit)) return
  const { signature: carried } = text === '' ? decodeSignature(thoughtSignature) : {}
  if (carried?.form === 'phase') {
    closeParts(candidateState, emit)
    takePhase(candidateState.phases, { type: 'reasoning', segments: [], signature: carried })
    return
  }
  const { open } = candidateState
  const isContinued = open?.kind === kind && !open.signed
  const signed = thoughtSignature ? readWhole(candidateState, wire, response) : undefined
  // A text with the signature of another protocol's reasoning is that reasoning, not text.
  if (!isContinued || (signed && signed.type !== (kind === 'thought' ? 'reasoning' : 'text'))) {
    closeParts(candidateState, emit)
    const whole =
      signed?.type === 'reasoning'
        ? rejoin(signed, thoughtSignature, [])
        : (signed ?? readWhole(candidateState, wire, response))
    const part = startPart(candidateState, whole, emit)
    candidateState.open = {
      part,
      kind: whole.type === 'reasoning' ? 'thought' : 'text',
      chunks: [text],
      signed: signed !== undefined,
    }
    return
  }
  const emitDelta = (delta: Delta) =>
    emit({ type: 'part.delta', candidate: candidateState.candidate, part: open.part, delta })
  const segment = open.chunks.length - 1
  addText(open, text)
  if (text)
    emitDelta(
      kind === 'thought'
        ? { kind: 'reasoning', segment, of: 'summary', text }
        : { kind: 'text', text },
    )
  if (!signed?.signature) return
  emitDelta({ kind: 'signature', signature: signed.signature })
  open.signed = true
  if (signed.type === 'reasoning')
    closeThought(candidateState, open, { whole: signed, value: thoughtSignature }, emit)
}

/** Emits a signature that came after its thought had ended. False: not such a part. */
function provesBefore(
  { candidate, reasoning }: CandidateState,
  { text, thoughtSignature }: PlainText,
  emit: EmitEvent,
): boolean {
  const { signature, envelope } =
    text === '' && thoughtSignature ? decodeSignature(thoughtSignature) : {}
  const part = envelope && reasoning[ordinalOf(envelope) ?? -1]
  if (part === undefined || !signature) return false
  emit({
    type: 'part.delta',
    candidate,
    part,
    delta: {
      kind: 'signature',
      signature,
      ...omitUndefined({ id: envelope?.id, kinds: envelope?.kinds }),
    },
  })
  return true
}

/**
 * Ends a thought whose signature is in an envelope, with the segments that the envelope describes.
 */
function closeThought(
  candidateState: CandidateState,
  { part, chunks }: Open,
  { whole, value }: { whole: Extract<Part, { type: 'reasoning' }>; value: string | undefined },
  emit: EmitEvent,
): void {
  const envelope = value ? unwrapSignature(value) : undefined
  if (!value || !envelope) return
  const segments = chunks
    .filter(Boolean)
    .map((text, nth) => ({ kind: envelope.kinds?.[nth] ?? ('summary' as const), text }))
  const final = rejoin(
    { ...whole, segments, at: below(below(below(candidateState.at, 'content'), 'parts'), part) },
    value,
    [],
  )
  candidateState.open = undefined
  emit({ type: 'part.end', candidate: candidateState.candidate, part, final })
}

/**
 * Arguments in chunks: a part with a name begins a call, those without continue it, and one without
 * `willContinue` ends it. False: not such a part.
 */
function takePartialArgs(
  candidateState: CandidateState,
  wire: JsonObject,
  path: Place,
  response: ResponseHead,
  emit: EmitEvent,
): boolean {
  const call = wire['functionCall'] as JsonObject
  const { partialArgs, willContinue, ...head } = call
  const continues = willContinue === true
  const isNamed = typeof head['name'] === 'string' && head['name'] !== ''
  if (isNamed && !continues && partialArgs === undefined) return false
  if (isNamed) {
    const whole = readWhole(
      candidateState,
      checkPart({ ...wire, functionCall: head }, path),
      response,
    )
    closeParts(candidateState, emit)
    if (whole.type !== 'tool-call') return false
    const args = isObject(head['args']) ? copyOf(head['args']) : {}
    candidateState.call = { part: startPart(candidateState, { ...whole, input: '' }, emit), args }
  } else if (!candidateState.call) {
    if (!continues && partialArgs === undefined && Object.keys(head).length > 0) return false
    candidateState.hasBrokenCall = true
    reportOf(response).once('stream.stray-delta', path)
    return true
  } else noteBeside(wire, path, response)
  const { call: open } = candidateState
  if (open && Array.isArray(partialArgs) && !addPartialArgs(open, partialArgs))
    reportOf(response).once(
      'stream.partial-path',
      below(below(path, 'functionCall'), 'partialArgs'),
    )
  if (!continues) closeCall(candidateState, emit)
  return true
}

/** The call is announced already, so other fields of its chunks have no place. */
function noteBeside(
  { functionCall, ...wire }: JsonObject,
  path: Place,
  response: ResponseHead,
): void {
  const { partialArgs, willContinue, name, ...call } = functionCall as JsonObject
  const entries = Array.isArray(partialArgs) ? partialArgs.filter(isObject) : []
  const strange = omitUndefined({
    partialArgs: Array.isArray(partialArgs) ? undefined : partialArgs,
    name: name || undefined,
  })
  noteUnknown({ ...wire }, path, response)
  noteUnknown({ ...call, ...strange }, below(path, 'functionCall'), response)
  for (const {
    jsonPath,
    stringValue,
    numberValue,
    boolValue,
    nullValue,
    willContinue: more,
    ...unknown
  } of entries)
    noteUnknown(unknown, below(below(path, 'functionCall'), 'partialArgs'), response)
}

function noteUnknown(unknown: JsonObject, path: Place, response: ResponseHead): void {
  for (const key in unknown)
    if (unknown[key] != null) reportOf(response).once('field.unknown', below(path, key))
}

function closeCall(candidateState: CandidateState, emit: EmitEvent): void {
  const { call, candidate } = candidateState
  if (!call) return
  candidateState.call = undefined
  emit({
    type: 'part.delta',
    candidate,
    part: call.part,
    delta: { kind: 'input', text: writeExact(call.args) },
  })
  emit({ type: 'part.end', candidate, part: call.part })
}

export function closeParts(candidateState: CandidateState, emit: EmitEvent): void {
  closeCall(candidateState, emit)
  const { open, candidate } = candidateState
  if (!open) return
  candidateState.open = undefined
  if (open.kind === 'text') candidateState.textsAtParts.push(citedText(open))
  emit({ type: 'part.end', candidate, part: open.part })
}
