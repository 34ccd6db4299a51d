import type { CanonicalEvent, PartDelta } from '../../../canonical/event.ts'
import type { Place } from '../../../canonical/message.ts'
import type { Finish } from '../../../canonical/response.ts'
import { TranslationError } from '../../../errors.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, same, setOwn } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { asksForOne, countedFrom, indexOf } from '../../../kit/response/candidates.ts'
import { append } from '../../../kit/text/append.ts'
import type { EmitEvent, MachineState, Shortcut, StreamMachine } from '../../../protocol.ts'
import { decodeGrounding, listIn } from '../content/citations.ts'
import { decodeErrorInside, isErrorBody } from '../errors.ts'
import type { GenerateContentOptions, Options } from '../options.ts'
import { extOf, protocolName } from '../own.ts'
import { inCamelCase } from '../request/spelling.ts'
import { decodeBlocked, decodeFinish, decodeLogprobs } from '../response/finish.ts'
import { noteRounded, readTime } from '../response/response.ts'
import type { GenerateContentContent } from '../schema.ts'
import { decodeTier, decodeUsage } from '../usage.ts'
import { finishWord } from '../vocabulary.ts'
import {
  addText,
  begin,
  type CandidateState,
  citedText,
  closeParts,
  reportOf,
  startCandidate,
  takeParts,
} from './part-reader.ts'

export type DecoderState = MachineState & {
  phase: 'before' | 'inside' | 'ended'
  id: string | undefined
  model: string | undefined
  /** The wire index of candidate 0. Undefined: no candidate has arrived yet. */
  first: number | undefined
  /**
   * By candidate index. `came`: their number, `unfinished`: that of those without a finish reason.
   */
  candidates: Record<string, CandidateState>
  came: number
  unfinished: number
  blocked: boolean
  finishes: number
  /** The latest usage, if it is not emitted yet. */
  usage: JsonObject | undefined
  usageEmitted: boolean
  serviceTier: string | undefined
  /** The value of each unknown key when it was last emitted, as JSON. */
  seen: Record<string, string>
}

/**
 * Wire events → canonical events. Every event is a chunk of the response, with what is new in each
 * candidate:
 *
 *     { candidates: [{ index, content: { parts }, finishReason? }], usageMetadata, modelVersion, responseId }
 *
 * No event ends the stream. When it ends, it is complete if every candidate has a finish reason or
 * the prompt was blocked, else cut off. Servers may send metadata or another finish reason after a
 * finish reason, so everything stays open until the end.
 *
 * @throws TranslationError `malformed` for an event that cannot be read
 */
export const streamDecoder: StreamMachine<
  unknown,
  CanonicalEvent,
  DecoderState,
  GenerateContentOptions
> = {
  initial: (options: Options = {}) => ({
    notes: [],
    phase: 'before',
    id: undefined,
    model: undefined,
    first: asksForOne(options) ? undefined : 0,
    candidates: {},
    came: 0,
    unfinished: 0,
    blocked: false,
    finishes: 0,
    usage: undefined,
    usageEmitted: false,
    serviceTier: undefined,
    seen: {},
  }),

  step(state, wire, emit) {
    if (state.phase === 'ended' || wire === '[DONE]') return
    try {
      // Without `alt=sse` the stream is one array of the same objects.
      for (const event of Array.isArray(wire) ? (wire as unknown[]) : [wire])
        take(state, event, emit)
    } catch (error) {
      // The error is reported inside the stream, so that has to begin first.
      start(state, {}, emit)
      throw error
    }
  },

  end(state, emit) {
    if (state.phase === 'ended') return
    start(state, {}, emit)
    state.phase = 'ended'
    const all = Object.values(state.candidates)
    const clean = state.blocked || (all.length > 0 && all.every(({ raw }) => raw !== undefined))
    if (clean) {
      for (const candidateState of all) close(candidateState, emit)
      for (const candidateState of all) finish(state, candidateState, emit)
    }
    emitUsage(state, emit)
    emit({ type: 'end', clean })
  },
}

const fault = (path: Place, message: string) =>
  new TranslationError({ code: 'malformed', protocol: protocolName, path }, message)

function take(state: DecoderState, given: unknown, emit: EmitEvent): void {
  if (state.phase === 'ended') return
  if (!isObject(given)) throw fault('', 'expected an event')
  // Some intermediaries write snake_case.
  const wire = inCamelCase(given).wire as JsonObject
  if (isErrorBody(wire)) {
    fail(state, wire, emit)
    return
  }
  const {
    candidates,
    promptFeedback,
    usageMetadata,
    modelVersion,
    responseId,
    createTime,
    ...fields
  } = wire
  start(state, { modelVersion, responseId, createTime }, emit)
  const isPlain =
    isText(modelVersion) &&
    isText(responseId) &&
    isText(createTime) &&
    isHeld(usageMetadata) &&
    isHeld(promptFeedback)
  if (!isPlain)
    noteStrange(state, wire, '', {
      modelVersion: isText,
      responseId: isText,
      createTime: isText,
      usageMetadata: isHeld,
      promptFeedback: isHeld,
    })
  // Usage goes first: some protocols have the input tokens in the first event of a stream.
  if (isObject(usageMetadata)) takeUsage(state, usageMetadata, emit)
  if (candidates !== undefined && candidates !== null) {
    if (!Array.isArray(candidates)) throw fault('/candidates', 'expected the candidates')
    const taken = new Set<number>()
    const received = (candidates as unknown[]).map((candidate, place) => ({
      wire: candidate,
      number: indexOf(isObject(candidate) ? candidate['index'] : undefined, place, taken),
      path: below('/candidates', place),
    }))
    received.sort((a, b) => a.number - b.number)
    for (const candidate of received) {
      state.first ??= candidate.number
      candidate.number = countedFrom(state.first, candidate.number)
      takeCandidate(state, candidate, emit)
    }
  }
  if (isObject(promptFeedback)) takeFeedback(state, promptFeedback, emit)
  emitFields(state, fields, emit)
}

function start(
  state: DecoderState,
  { modelVersion, responseId, createTime }: JsonObject,
  emit: EmitEvent,
): void {
  if (state.phase !== 'before') return
  state.phase = 'inside'
  state.id = textOf(responseId)
  state.model = textOf(modelVersion)
  emit({
    type: 'start',
    ...omitUndefined({ id: state.id, model: state.model, createdAt: readTime(createTime) }),
  })
}

// What a known field can have; it may always be absent.
const isText = (value: unknown): boolean => value == null || typeof value === 'string'
const isWord = (value: unknown): boolean => isText(value) || typeof value === 'number'
const isHeld = (value: unknown): boolean => value == null || isObject(value)
const isIndex = (value: unknown): boolean => value == null || Number.isSafeInteger(value)

/**
 * Notes known fields with values that they cannot have. Callers ask first whether there is one: a
 * look through this table costs more than all the checks.
 */
function noteStrange(
  state: DecoderState,
  wire: JsonObject,
  path: Place,
  kinds: Record<string, (value: unknown) => boolean>,
): void {
  for (const key in kinds)
    if (!kinds[key]?.(wire[key])) reportOf(state).once('field.unknown', below(path, key))
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** `number`: the index of the candidate. `path`: JSON pointer to it in its event. */
type Came = { wire: unknown; number: number; path: Place }

function takeCandidate(state: DecoderState, { wire, number, path }: Came, emit: EmitEvent): void {
  if (!isObject(wire)) throw fault(path, 'expected a candidate')
  const {
    index,
    content,
    finishReason,
    finishMessage,
    groundingMetadata,
    logprobsResult,
    ...fields
  } = wire
  const known = Object.hasOwn(state.candidates, number) ? state.candidates[number] : undefined
  const candidateState = known ?? startCandidate(number, `/candidates/${state.came}`)
  state.candidates[number] = candidateState
  if (!known) {
    state.came++
    state.unfinished++
  }
  if (content !== undefined && content !== null)
    takeContent(state, candidateState, content, below(path, 'content'), emit)
  const isPlain =
    isWord(finishReason) &&
    isText(finishMessage) &&
    isHeld(groundingMetadata) &&
    isHeld(logprobsResult) &&
    isIndex(index)
  if (!isPlain)
    noteStrange(state, wire, candidateState.at, {
      finishReason: isWord,
      finishMessage: isText,
      groundingMetadata: isHeld,
      logprobsResult: isHeld,
      index: isIndex,
    })
  const word = finishWord(finishReason)
  if (word !== undefined && candidateState.raw === undefined) state.unfinished--
  candidateState.raw = lastWord(candidateState.raw, word)
  if (word !== undefined || !known) state.finishes = state.unfinished === 0 ? state.finishes + 1 : 0
  if (typeof finishMessage === 'string') candidateState.message = finishMessage
  for (const [key, value] of Object.entries(fields))
    if (value !== null) candidateState.fields[key] = value
  if (isObject(logprobsResult)) takeLogprobs(candidateState, logprobsResult, emit)
  if (isObject(groundingMetadata)) takeGrounding(state, candidateState, groundingMetadata, emit)
}

const vague = new Set<string | undefined>([undefined, 'STOP', 'FINISH_REASON_UNSPECIFIED'])

/**
 * The last finish reason counts, but `STOP` or an unspecified one does not replace an earlier one
 * that explains why the response was cut off.
 */
function lastWord(earlier: string | undefined, later: string | undefined): string | undefined {
  if (later === undefined) return earlier
  return vague.has(later) && !vague.has(earlier) && earlier !== 'CONTINUATION' ? earlier : later
}

const knownContent = keysOf<GenerateContentContent>()('role parts')

function takeContent(
  state: DecoderState,
  candidateState: CandidateState,
  content: unknown,
  path: Place,
  emit: EmitEvent,
): void {
  if (!isObject(content)) throw fault(path, 'expected the content')
  const unknown = unknownOf(content, knownContent)
  begin(candidateState, emit, unknown)
  // The start of the message holds unknown fields; later ones cannot be kept, so they are noted.
  for (const key in unknown)
    if (!same(unknown[key], candidateState.around?.[key]))
      reportOf(state).once('field.unknown', below(below(candidateState.at, 'content'), key))
  const { parts } = content
  if (parts === undefined || parts === null) return
  if (!Array.isArray(parts)) throw fault(below(path, 'parts'), 'expected the parts')
  takeParts(candidateState, parts as unknown[], below(path, 'parts'), state, emit)
}

/** Logprobs belong to the open text, or without one to the candidate. */
function takeLogprobs(candidateState: CandidateState, wire: JsonObject, emit: EmitEvent): void {
  const { tokens, left } = decodeLogprobs(wire, below(candidateState.at, 'logprobsResult'))
  const { open, candidate } = candidateState
  if (open?.kind !== 'text') append(candidateState.loose, tokens)
  else if (tokens.length > 0)
    emit({
      type: 'part.delta',
      candidate,
      part: open.part,
      delta: { kind: 'logprobs', logprobs: tokens },
    })
  if (left) candidateState.fields['logprobsResult'] = left
}

/**
 * Sources come over several events and are indexed across all of them. A citation of a text that
 * has ended comes too late: it stays in `left`.
 */
function takeGrounding(
  state: DecoderState,
  candidateState: CandidateState,
  wire: JsonObject,
  emit: EmitEvent,
): void {
  const { open, textsAtParts, candidate, at } = candidateState
  const known = candidateState.grounding
  if (known && JSON.stringify(known.last) === JSON.stringify(wire)) return
  const grounding = known ?? { chunks: [], wire: {}, left: {}, last: wire }
  candidateState.grounding = grounding
  append(grounding.chunks, listIn(wire, 'groundingChunks'))
  const ended = textsAtParts.length
  // The open text is only here for a while.
  if (open?.kind === 'text') textsAtParts.push(citedText(open))
  const { found, left, rounded } = decodeGrounding(wire, textsAtParts, grounding.chunks)
  textsAtParts.length = ended
  const isOpenText = open?.kind === 'text' && found.every(({ textIndex }) => textIndex === ended)
  if (isOpenText)
    for (const { citation } of found)
      emit({
        type: 'part.delta',
        candidate,
        part: open.part,
        delta: { kind: 'citation', citation },
      })
  if (isOpenText && rounded) noteRounded(at, reportOf(state))
  addGrounding(grounding.wire, wire)
  addGrounding(grounding.left, isOpenText ? left : wire)
  grounding.last = wire
}

/**
 * Merges grounding that arrived in chunks: later values replace earlier ones, but sources and
 * supports are concatenated. Changes `all`.
 */
function addGrounding(all: JsonObject, later: JsonObject): void {
  for (const key in later) {
    const [before, value] = [all[key], later[key]]
    const isList = key === 'groundingChunks' || key === 'groundingSupports'
    if (!isList || !Array.isArray(value)) setOwn(all, key, value)
    else if (Array.isArray(before)) append(before, value)
    else all[key] = value.slice()
  }
}

function takeFeedback(state: DecoderState, feedback: JsonObject, emit: EmitEvent): void {
  const promptBlocked = decodeBlocked(feedback)
  if (!promptBlocked) emitFields(state, { promptFeedback: feedback }, emit)
  else if (!state.blocked) emit({ type: 'update', promptBlocked })
  if (promptBlocked && !state.blocked) state.finishes++
  state.blocked ||= promptBlocked !== undefined
}

/** Counts are cumulative, so only the first and the last are emitted. */
function takeUsage(state: DecoderState, wire: JsonObject, emit: EmitEvent): void {
  const tier = decodeTier(wire)
  if (tier !== undefined && tier !== state.serviceTier) emit({ type: 'update', serviceTier: tier })
  state.serviceTier = tier ?? state.serviceTier
  state.usage = wire
  if (!state.usageEmitted) emitUsage(state, emit)
}

function emitUsage(state: DecoderState, emit: EmitEvent): void {
  if (!state.usage) return
  emit({ type: 'usage', usage: decodeUsage(state.usage) })
  state.usage = undefined
  state.usageEmitted = true
}

function emitFields(state: DecoderState, fields: JsonObject, emit: EmitEvent): void {
  const news: JsonObject = {}
  for (const [key, value] of Object.entries(fields)) {
    const text = JSON.stringify(value)
    if (value === null || (Object.hasOwn(state.seen, key) && state.seen[key] === text)) continue
    Object.defineProperty(state.seen, key, {
      value: text,
      enumerable: true,
      configurable: true,
      writable: true,
    })
    Object.defineProperty(news, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  const ext = extOf(news)
  if (ext) emit({ type: 'update', ext })
}

function close(candidateState: CandidateState, emit: EmitEvent): void {
  begin(candidateState, emit)
  closeParts(candidateState, emit)
  emit({ type: 'message.end', candidate: candidateState.candidate, message: 0 })
}

/** A candidate without a finish reason ended because the prompt was blocked. */
function finish(state: DecoderState, candidateState: CandidateState, emit: EmitEvent): void {
  const {
    candidate,
    at,
    raw,
    message,
    called,
    hasContent,
    hasBrokenCall,
    fields,
    grounding,
    loose,
  } = candidateState
  const ending: Finish | undefined =
    decodeFinish(raw, message, { hasCalls: called, hasContent, hasBrokenCall }) ??
    (state.blocked ? { reason: 'content_filter' } : undefined)
  if (!ending) return
  const ext = extOf({
    ...fields,
    groundingMetadata: grounding && omitUndefinedOrNone(grounding.left),
  })
  emit({
    type: 'finish',
    candidate,
    finish: ending,
    at,
    ...omitUndefined({
      logprobs: loose.length > 0 ? loose : undefined,
      grounding: grounding?.wire,
      ext,
    }),
  })
}

function fail(state: DecoderState, wire: JsonObject, emit: EmitEvent): void {
  start(state, {}, emit)
  emitUsage(state, emit)
  state.phase = 'ended'
  emit({ type: 'error', error: decodeErrorInside(wire) })
  emit({ type: 'end', clean: false })
}

/** See `UpstreamHalf`. */
export const shortcut: Shortcut = {
  text: new Set(['text']),
  padding: new Set(),
  read: (state, delta) => takeAlike(state as DecoderState, delta),
}

function takeAlike({ candidates }: DecoderState, { candidate, part, delta }: PartDelta): boolean {
  const open = Object.hasOwn(candidates, candidate) ? candidates[candidate]?.open : undefined
  if (open?.part !== part || open.signed || (delta.kind !== 'text' && delta.kind !== 'reasoning'))
    return false
  const last = open.chunks.length - 1
  if (delta.kind === 'reasoning' && delta.segment !== last) return false
  addText(open, delta.text)
  return true
}
