import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Finish } from '../../canonical/response.ts'
import { TranslationError } from '../../errors.ts'
import { defined, some } from '../../kit/defined.ts'
import { isObject, type JsonObject, same } from '../../kit/json.ts'
import { step } from '../../kit/path.ts'
import type { EmitEvent, MachineState, StreamMachine } from '../../protocol.ts'
import { decodeGrounding, listIn } from './citations.ts'
import { decodeErrorInside, isErrorBody } from './error.ts'
import { decodeBlocked, decodeFinish } from './finish.ts'
import { decodeLogprobs } from './logprobs.ts'
import type { GeminiOptions, Options } from './options.ts'
import { keep, protocolName, told } from './own.ts'
import { type Answering, begin, closeParts, reportOf, startAnswering, takeParts, textSoFar } from './part-reader.ts'
import { indexOf, readTime } from './response.ts'
import { inCamelCase } from './spelling.ts'
import { decodeTier, decodeUsage } from './usage.ts'
import { finishWord } from './vocabulary.ts'
import { asBeside, asInside, unwrapReply } from './wrapper.ts'

export type DecoderState = MachineState & {
  gcWrapper: NonNullable<GeminiOptions['gcWrapper']>
  /** Where replies stand in their events. */
  root: string
  phase: 'before' | 'inside' | 'ended'
  id: string | undefined
  model: string | undefined
  /** By index. */
  candidates: Record<string, Answering>
  blocked: boolean
  /** The counts that came last and were not told yet. */
  usage: JsonObject | undefined
  countsTold: boolean
  serviceTier: string | undefined
  /** Unknown keys of events, by what they held when that was told. */
  told: Record<string, string>
}

/**
 * Wire events → canonical events. Every event is a piece of a reply, and holds what is new in each candidate:
 *
 *     { candidates: [{ index, content: { parts }, finishReason? }], usageMetadata, modelVersion, responseId }
 *
 * Nothing ends the stream but its end. It was cut off unless every candidate has said how it ended, or the prompt was
 * refused. Servers go on after a finish reason, with metadata or with another one: so all is held open until the end.
 *
 * @throws TranslationError `malformed` for an event that cannot be read
 */
export const streamDecoder: StreamMachine<unknown, CanonicalEvent, DecoderState, GeminiOptions> = {
  initial: ({ gcWrapper }: Options = {}) => ({
    notes: [],
    gcWrapper: gcWrapper ?? 'refuse',
    root: '',
    phase: 'before',
    id: undefined,
    model: undefined,
    candidates: {},
    blocked: false,
    usage: undefined,
    countsTold: false,
    serviceTier: undefined,
    told: {},
  }),

  step(state, wire, emit) {
    if (state.phase === 'ended' || wire === '[DONE]') return
    try {
      // Without `alt=sse` the stream is one list of the same objects.
      for (const event of Array.isArray(wire) ? (wire as unknown[]) : [wire]) take(state, event, emit)
    } catch (error) {
      // Whoever reports the fault does it inside a stream that has begun.
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
      for (const answering of all) close(answering, emit)
      for (const answering of all) finish(state, answering, emit)
    }
    tellUsage(state, emit)
    emit({ type: 'end', clean })
  },
}

const fault = (path: string, message: string) => new TranslationError({ code: 'malformed', protocol: protocolName, path }, message)

function take(state: DecoderState, given: unknown, emit: EmitEvent): void {
  if (state.phase === 'ended') return
  const { body, at, beside } = unwrapReply(given, state)
  if (!isObject(body)) throw fault(at, 'expected an event')
  if (at && state.phase === 'before') {
    state.root = at
    state.places = { '': at }
  }
  // Some servers between spell their fields in the other way.
  const wire = inCamelCase(body).wire as JsonObject
  if (isErrorBody(wire)) {
    fail(state, { wire, at, beside }, emit)
    return
  }
  const { candidates, promptFeedback, usageMetadata, modelVersion, responseId, createTime, ...fields } = wire
  start(state, { modelVersion, responseId, createTime }, emit)
  // Counts go first: some protocols tell the input tokens in the first event of a stream.
  if (isObject(usageMetadata)) takeUsage(state, usageMetadata, emit)
  if (candidates !== undefined && candidates !== null) {
    if (!Array.isArray(candidates)) throw fault(`${at}/candidates`, 'expected the candidates')
    const taken = new Set<number>()
    const came = (candidates as unknown[]).map((candidate, place) => ({
      wire: candidate,
      number: indexOf(isObject(candidate) ? candidate['index'] : undefined, place, taken),
      path: `${at}/candidates/${place}`,
    }))
    for (const candidate of came.sort((a, b) => a.number - b.number)) takeCandidate(state, candidate, emit)
  }
  if (isObject(promptFeedback)) takeFeedback(state, promptFeedback, emit)
  tellFields(state, at ? { ...asInside(fields), ...asBeside(beside) } : fields, emit)
}

function start(state: DecoderState, { modelVersion, responseId, createTime }: JsonObject, emit: EmitEvent): void {
  if (state.phase !== 'before') return
  state.phase = 'inside'
  state.id = textOf(responseId)
  state.model = textOf(modelVersion)
  emit({ type: 'start', ...defined({ id: state.id, model: state.model, createdAt: readTime(createTime) }) })
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** `number`: which answer it is of; `path`: where it is. */
type Came = { wire: unknown; number: number; path: string }

function takeCandidate(state: DecoderState, { wire, number, path }: Came, emit: EmitEvent): void {
  if (!isObject(wire)) throw fault(path, 'expected a candidate')
  const { index: _, content, finishReason, finishMessage, groundingMetadata, logprobsResult, ...fields } = wire
  const known = Object.hasOwn(state.candidates, number) ? state.candidates[number] : undefined
  const answering = known ?? startAnswering(number, `${state.root}/candidates/${Object.keys(state.candidates).length}`)
  state.candidates[number] = answering
  if (content !== undefined && content !== null) takeContent(state, answering, content, `${path}/content`, emit)
  answering.raw = lastWord(answering.raw, finishWord(finishReason))
  if (typeof finishMessage === 'string') answering.message = finishMessage
  for (const [key, value] of Object.entries(fields)) if (value !== null) answering.fields[key] = value
  if (isObject(logprobsResult)) takeLogprobs(answering, logprobsResult, emit)
  if (isObject(groundingMetadata)) takeGrounding(state, answering, groundingMetadata, emit)
}

const vague = new Set<string | undefined>([undefined, 'STOP', 'FINISH_REASON_UNSPECIFIED'])

/** The last finish reason counts, but a usual end does not take back an earlier reason why the answer was cut off. */
function lastWord(earlier: string | undefined, later: string | undefined): string | undefined {
  if (later === undefined) return earlier
  return vague.has(later) && !vague.has(earlier) && earlier !== 'CONTINUATION' ? earlier : later
}

function takeContent(state: DecoderState, answering: Answering, content: unknown, path: string, emit: EmitEvent): void {
  if (!isObject(content)) throw fault(path, 'expected the content')
  const { parts, role: _, ...fields } = content
  const { told: unknown } = told(fields)
  begin(answering, emit, unknown)
  // Later ones come when the message has begun, so nothing can hold them any more.
  for (const key in unknown) if (!same(unknown[key], answering.around[key])) reportOf(state).once('field.unknown', `${answering.at}/content${step(key)}`)
  if (parts === undefined || parts === null) return
  if (!Array.isArray(parts)) throw fault(`${path}/parts`, 'expected the parts')
  takeParts(answering, parts as unknown[], `${path}/parts`, state, emit)
}

/** Odds of tokens belong to the text that is open. */
function takeLogprobs(answering: Answering, wire: JsonObject, emit: EmitEvent): void {
  const { tokens, left } = decodeLogprobs(wire)
  const { open, candidate } = answering
  if (open?.kind !== 'text') answering.loose.push(...tokens)
  else if (tokens.length > 0) emit({ type: 'part.delta', candidate, part: open.part, delta: { kind: 'logprobs', logprobs: tokens } })
  if (left) answering.fields['logprobsResult'] = left
  answering.logprobs = joined(answering.logprobs, wire, ['chosenCandidates', 'topCandidates'])
}

/** Sources come in pieces and are numbered through all of them. A citation of a text that has ended comes too late. */
function takeGrounding(state: DecoderState, answering: Answering, wire: JsonObject, emit: EmitEvent): void {
  const { open, answers, grounding, candidate, at } = answering
  if (grounding && JSON.stringify(grounding.last) === JSON.stringify(wire)) return
  const chunks = [...listIn(grounding?.wire ?? {}, 'groundingChunks'), ...listIn(wire, 'groundingChunks')]
  const texts = open?.kind === 'text' ? [...answers, { text: textSoFar(open), place: open.part }] : answers
  const { found, left, rounded } = decodeGrounding(wire, texts, chunks)
  const isHeard = open?.kind === 'text' && found.every(({ answer }) => answer === answers.length)
  if (isHeard) for (const { citation } of found) emit({ type: 'part.delta', candidate, part: open.part, delta: { kind: 'citation', citation } })
  if (isHeard && rounded) reportOf(state).once('citation.rounded', `${at}/groundingMetadata`)
  answering.grounding = {
    wire: joined(grounding?.wire, wire, groundingLists),
    left: joined(grounding?.left, isHeard ? left : wire, groundingLists),
    last: wire,
  }
}

const groundingLists = ['groundingChunks', 'groundingSupports']

/** An object that came in pieces: later values replace earlier ones, but `lists` are continued. */
function joined(earlier: JsonObject | undefined, later: JsonObject, lists: readonly string[]): JsonObject {
  if (!earlier) return later
  const both: JsonObject = { ...earlier, ...later }
  for (const key of lists)
    if (Array.isArray(earlier[key]) && Array.isArray(later[key])) both[key] = [...(earlier[key] as unknown[]), ...(later[key] as unknown[])]
  return both
}

function takeFeedback(state: DecoderState, feedback: JsonObject, emit: EmitEvent): void {
  const promptBlocked = decodeBlocked(feedback)
  if (!promptBlocked) tellFields(state, { promptFeedback: feedback }, emit)
  else if (!state.blocked) emit({ type: 'update', promptBlocked })
  state.blocked ||= promptBlocked !== undefined
}

/** Counts are of all that came so far, so only the first and the last of them are told. */
function takeUsage(state: DecoderState, wire: JsonObject, emit: EmitEvent): void {
  const tier = decodeTier(wire)
  if (tier !== undefined && tier !== state.serviceTier) emit({ type: 'update', serviceTier: tier })
  state.serviceTier = tier ?? state.serviceTier
  state.usage = wire
  if (!state.countsTold) tellUsage(state, emit)
}

function tellUsage(state: DecoderState, emit: EmitEvent): void {
  if (!state.usage) return
  emit({ type: 'usage', usage: decodeUsage(state.usage) })
  state.usage = undefined
  state.countsTold = true
}

function tellFields(state: DecoderState, fields: JsonObject, emit: EmitEvent): void {
  const news: JsonObject = {}
  for (const [key, value] of Object.entries(fields)) {
    const text = JSON.stringify(value)
    if (value === null || (Object.hasOwn(state.told, key) && state.told[key] === text)) continue
    Object.defineProperty(state.told, key, { value: text, enumerable: true, configurable: true, writable: true })
    Object.defineProperty(news, key, { value, enumerable: true, configurable: true, writable: true })
  }
  const { ext } = keep(news, {})
  if (ext) emit({ type: 'update', ext })
}

function close(answering: Answering, emit: EmitEvent): void {
  begin(answering, emit)
  closeParts(answering, emit)
  emit({ type: 'message.end', candidate: answering.candidate, message: 0 })
}

/** An answer that has no end of its own was ended by what blocked the prompt. */
function finish(state: DecoderState, { candidate, at, raw, message, called, fields, grounding, logprobs, loose }: Answering, emit: EmitEvent): void {
  const told: Finish | undefined = decodeFinish(raw, message, called) ?? (state.blocked ? { reason: 'content_filter' } : undefined)
  if (!told) return
  const left = grounding && Object.keys(grounding.left).length > 0 ? { groundingMetadata: grounding.left } : {}
  const odds = loose.length > 0 && { logprobs: loose }
  emit({ type: 'finish', candidate, finish: told, ...odds, at, ...keep({ ...fields, ...left }, {}, some({ grounding: grounding?.wire, logprobs })) })
}

function fail(state: DecoderState, { wire, at, beside }: { wire: JsonObject; at: string; beside: JsonObject }, emit: EmitEvent): void {
  start(state, {}, emit)
  tellUsage(state, emit)
  state.phase = 'ended'
  emit({ type: 'error', error: decodeErrorInside(wire, at, beside) })
  emit({ type: 'end', clean: false })
}
