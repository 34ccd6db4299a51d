import type { Message, Part, Place, TextPart, TokenLogprob } from '../../canonical/message.ts'
import type { Candidate, CanonicalResponse } from '../../canonical/response.ts'
import { indexOf } from '../../kit/candidates.ts'
import { check } from '../../kit/check.ts'
import { markCut } from '../../kit/cut-calls.ts'
import { defined } from '../../kit/defined.ts'
import { noteUntold } from '../../kit/failed-reply.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { hashId } from '../../kit/ids.ts'
import { isObject, type JsonObject, same } from '../../kit/json.ts'
import { noteTokens } from '../../kit/logprobs.ts'
import { below, pointerOf } from '../../kit/path.ts'
import { hasWords, withPhase } from '../../kit/phases.ts'
import { replyToolName } from '../../kit/tool-names.ts'
import { isOtherVoice } from '../../kit/voice.ts'
import type { Decoded, Encoded, FieldNames, Outcome } from '../../protocol.ts'
import { carryThoughts, type Gathered, nothingGathered } from './carried-thoughts.ts'
import { type Answer, decodeGrounding, encodeGrounding, type Found } from './citations.ts'
import { decodeParts, encodePart } from './content.ts'
import { decodeErrorInside, encodeErrorBody, isErrorBody, noteError } from './error.ts'
import { decodeBlocked, decodeFinish, encodeBlocked, encodeFinish, isBrokenCall, isContent, isForeignFailure } from './finish.ts'
import { decodeLogprobs, encodeLogprobs, hasOwnBytes } from './logprobs.ts'
import { createGeminiReport, type GeminiReport } from './notes.ts'
import type { Options } from './options.ts'
import { emptyTexts, keep, nulls, ownForm, ownKeys, protocolName } from './own.ts'
import { type GeminiCandidate, type GeminiPart, GeminiResponse } from './schema.ts'
import { asItCame, inCamelCase, inSpelling, placesOf } from './spelling.ts'
import { decodeTier, decodeUsage, encodeUsage } from './usage.ts'
import { finishWord } from './vocabulary.ts'
import { asBeside, asInside, splitBeside, unwrapReply, wrapAgain } from './wrapper.ts'
import type { Reading, Writing } from './writing.ts'

/** @throws TranslationError `malformed` when the body is not a reply of this protocol. An error body becomes a reply with `error`. */
export function decodeResponse(wire: unknown, options: Options = {}): Decoded<CanonicalResponse> {
  const { body: told, at: root, beside } = unwrapReply(wire, options)
  if (isErrorBody(told)) return { value: { candidates: [], error: decodeErrorInside(told, root, beside) }, notes: [] }
  const report = createGeminiReport()
  const spelling = inCamelCase(told)
  const place = placesOf(spelling, root)
  const body = check(protocolName, GeminiResponse, spelling.wire, path => pointerOf(place(root + path)))
  const { candidates, promptFeedback, usageMetadata, modelVersion, responseId, createTime, ...fields } = body
  const blocked = decodeBlocked(promptFeedback)
  const createdAt = readTime(createTime)
  const names: FieldNames = root ? { '': root } : {}
  const reading = { report, root, place, names, responseId: responseId ?? '' }
  const taken = new Set<number>()
  const value: CanonicalResponse = {
    candidates: (candidates ?? []).map((candidate, nth) => decodeCandidate(candidate, indexOf(candidate.index, nth, taken), nth, reading)),
    ...defined({ id: responseId || undefined, model: modelVersion || undefined, createdAt, serviceTier: decodeTier(usageMetadata) }),
    ...(usageMetadata && { usage: decodeUsage(usageMetadata) }),
    ...(blocked && { promptBlocked: blocked }),
    ...keep(
      {
        ...asInside(fields),
        ...asBeside(beside),
        ...(promptFeedback && !blocked && { promptFeedback }),
        ...(createTime && createdAt === undefined && { createTime }),
      },
      { ...asInside(nulls(body)), ...emptyTexts({ modelVersion, responseId, createTime }) },
      {
        native: true,
        ...(root && { wrapper: root }),
        ...(candidates?.length === 0 && { candidates: 'empty' }),
        ...(createdAt !== undefined && { createTime }),
        ...(spelling.snake.length > 0 && { snake: spelling.snake }),
      },
    ),
  }
  for (const { messages } of value.candidates) for (const { parts } of messages) for (const part of parts) signedBy(value.model, part)
  const spelled = inSpelling(names, spelling)
  return { value, notes: report.notes, ...(Object.keys(spelled).length > 0 && { fieldNames: spelled }) }
}

/** Usage and error of a reply, as `decodeResponse` reads them; nothing else is read. */
export function outcome(wire: unknown, options: Options = {}): Outcome {
  const { body, at, beside } = unwrapReply(wire, options)
  if (isErrorBody(body)) return { error: decodeErrorInside(body, at, beside) }
  if (!isObject(body)) return {}
  const { usageMetadata, usage_metadata } = body
  const counts = inCamelCase(usageMetadata ?? usage_metadata).wire
  return isObject(counts) ? { usage: decodeUsage(counts) } : {}
}

/** Adds to a signature the model that made it, which later requests need. Changes the part. */
export function signedBy(model: string | undefined, part: Part): void {
  if (model !== undefined && part.signature?.issuer === protocolName && part.signature.model === undefined) part.signature = { ...part.signature, model }
}

/** RFC 3339 time → Unix seconds, without the fraction, which `form` keeps. Undefined: not such a time. */
export function readTime(text: unknown): number | undefined {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)) return undefined
  const seconds = Math.floor(Date.parse(text) / 1000)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

export function writeTime(createdAt: number | undefined): string | undefined {
  const time = createdAt === undefined ? undefined : new Date(createdAt * 1000)
  return time && Number.isFinite(time.getTime()) ? time.toISOString().replace('.000Z', 'Z') : undefined
}

/** The id of a call that came without one. `ordinal`: the number of such calls before it, so that the same reply always gets the same ids. */
export function callId(responseId: string, candidate: number, ordinal: number): string {
  return `call_${hashId(`${responseId}/${candidate}/${ordinal}`)}`
}

type ReadingReply = Omit<Reading, 'speaks' | 'callId'> & { responseId: string }

function decodeCandidate(wire: GeminiCandidate, index: number, nth: number, { report, root, place, names, responseId }: ReadingReply): Candidate {
  const { content, finishReason, finishMessage, index: told, logprobsResult, groundingMetadata, ...fields } = wire
  let unnamed = 0
  const reading: Reading = { report, root, place, names, speaks: 'model', callId: () => callId(responseId, index, unnamed++) }
  const at = `${root}/candidates/${nth}`
  const parts = decodeParts(content?.parts ?? [], below(below(at, 'content'), 'parts'), reading)
  const odds = logprobsResult ? attachLogprobs(parts, logprobsResult) : {}
  const left = groundingMetadata ? attachCitations(parts, groundingMetadata, () => report.add('citation.rounded', below(at, 'groundingMetadata'))) : {}
  const hasCalls = parts.some(({ type }) => type === 'tool-call')
  const finish = decodeFinish(finishReason, finishMessage, { hasCalls, hasContent: parts.some(isContent), hasBrokenCall: parts.some(isBrokenCall) })
  return {
    index,
    at,
    messages: content ? [messageOf(content, parts, below(at, 'content'))] : [],
    ...defined({ finish, logprobs: odds.loose }),
    ...keep(
      {
        ...fields,
        ...(!finish && finishMessage != null && { finishMessage }),
        ...(odds.left && { logprobsResult: odds.left }),
        ...(Object.keys(left).length > 0 && { groundingMetadata: left }),
      },
      { ...nulls(wire), ...emptyTexts({ finishReason, ...(finish && { finishMessage }) }) },
      {
        native: true,
        ...(typeof finishReason === 'number' && { finish: finishReason }),
        ...(told !== index && { index: told === undefined ? 'absent' : told }),
        ...(logprobsResult && { logprobs: logprobsResult }),
        ...(groundingMetadata && { grounding: groundingMetadata }),
      },
    ),
  }
}

function messageOf({ role, parts: wire, ...fields }: NonNullable<GeminiCandidate['content']>, parts: Part[], at: Place): Message {
  const form = {
    native: true,
    ...(role !== 'model' && { role: role === undefined ? 'absent' : role }),
    ...(wire === undefined ? { parts: 'absent' } : wire === null ? { parts: 'null' } : {}),
  }
  return { role: 'assistant', origin: 'message', parts, at, ...keep(fields, {}, form) }
}

/** Puts the logprobs on the first text that is not empty. `loose`: there is none. `left`: unknown fields. Changes the part. */
function attachLogprobs(parts: readonly Part[], result: JsonObject): { loose?: TokenLogprob[]; left?: JsonObject } {
  const { tokens, left } = decodeLogprobs(result)
  const text = parts.find(part => part.type === 'text' && part.text !== '')
  if (text?.type === 'text' && tokens.length > 0) text.logprobs = tokens
  return { ...(!text && tokens.length > 0 && { loose: tokens }), ...(left && { left }) }
}

/** The texts of an answer, to which the offsets of grounding refer. */
const answersIn = (parts: readonly Part[]): (Answer & { part: TextPart })[] =>
  flatMap(parts, (part, place) => (part.type === 'text' ? [{ part, text: part.text, place: placeIn(part.at) ?? place }] : []))

/** The index of a part on the wire, from its pointer: joining thoughts shifts the index in the list. */
const placeIn = (at: Place | undefined) => (at === undefined ? undefined : Number(/(?<!\d)\d+$/.exec(pointerOf(at))?.[0]))

/** Adds the citations to the texts, which it changes. Returns the fields of grounding that no citation holds. */
function attachCitations(parts: readonly Part[], grounding: JsonObject, rounded: () => void): JsonObject {
  const answers = answersIn(parts)
  const { found, left, rounded: isRounded } = decodeGrounding(grounding, answers)
  if (isRounded) rounded()
  for (const { answer, citation } of found) {
    const part = answers[answer]?.part
    if (part) part.citations = [...(part.citations ?? []), citation]
  }
  return left
}

/**
 * All candidates as one reply. An error or a failed candidate becomes an error body.
 * @throws TranslationError `truncated` for a reply without a finish (see `options.truncated`)
 */
export function encodeResponse(response: CanonicalResponse, options: Options = {}): Encoded<unknown> {
  const report = createGeminiReport(options.fieldNames)
  const { id, model, createdAt, completedAt, candidates, usage, promptBlocked, serviceTier, error, ext, ...rest } = response
  if (error) {
    noteError(error, report)
    noteUntold(response, report)
    return { wire: encodeErrorBody(error), notes: report.notes }
  }
  const failed = candidates.find(({ finish }) => isForeignFailure(finish))?.finish
  if (failed) {
    noteUntold(response, report)
    return { wire: encodeErrorBody({ status: 500, kind: 'internal', message: failed.message ?? 'the upstream failed' }), notes: report.notes }
  }
  report.rest({ ...rest, ...defined({ completedAt }) }, undefined)
  report.ext(ext, undefined)
  const form = ownForm(response.ext)
  const native = form?.['native'] === true
  if (candidates.length === 0 && !promptBlocked && !native) encodeFinish(undefined, { hasCalls: false, at: undefined }, report)
  const written = candidates.map(candidate => encodeCandidate(markCut(candidate), { native, options, report }))
  const createTime = native && readTime(form['createTime']) === createdAt ? form['createTime'] : writeTime(createdAt)
  const { inside, beside } = splitBeside(ownKeys(response.ext))
  const wire: JsonObject = {
    ...inside,
    ...((written.length > 0 || form?.['candidates'] === 'empty') && { candidates: written }),
    ...(promptBlocked && { promptFeedback: encodeBlocked(promptBlocked) }),
    ...defined({ usageMetadata: encodeUsage(usage, serviceTier, report), modelVersion: model || undefined, responseId: id || undefined, createTime }),
  }
  report.settle(wire)
  return { wire: wrapAgain(asItCame(wire, form?.['snake']), form?.['wrapper'], beside), notes: report.notes }
}

function encodeCandidate(candidate: Candidate, { native, options, report }: { native: boolean; options: Options; report: GeminiReport }): JsonObject {
  const { index, at, messages, finish, logprobs, ext, ...rest } = candidate
  report.rest(rest, at)
  report.ext(ext, at)
  const form = ownForm(candidate.ext)
  const own = native && form?.['native'] === true
  const sources = new Map<GeminiPart, TextPart>()
  const writing = replyWriting(report, own, (part, written) => sources.set(written, part))
  const gathered = options.gcThoughts === 'calls' && !own ? nothingGathered() : undefined
  const contents = messages.map(message => encodeMessage(message, writing, gathered))
  const parts = flatMap(contents, content => content.parts)
  const texts = flatMap(parts, part => sources.get(part) ?? standIn(part))
  const hasCalls = messages.some(message => message.parts.some(isCalled))
  const ending = own && !finish ? {} : encodeFinish(finish, { hasCalls, at, truncated: options.truncated }, report)
  if (finish?.raw !== undefined && finishWord(form?.['finish']) === ending['finishReason']) ending['finishReason'] = form?.['finish']
  const keys = withoutLeft(ownKeys(candidate.ext))
  const spelledIndex = form?.['index']
  const [content] = contents
  return {
    ...keys,
    ...(spelledIndex === 'absent' ? {} : { index: spelledIndex === undefined ? index : spelledIndex }),
    ...(own
      ? content && contentOf(content.around, parts)
      : { content: { ...content?.around, role: 'model', parts: parts.length > 0 ? parts : [{ text: '' }] } }),
    ...ending,
    ...defined({
      logprobsResult: writeLogprobs([{ logprobs, at }, ...texts], form?.['logprobs'], report),
      groundingMetadata: writeGrounding(texts, form?.['grounding'], report),
    }),
  }
}

/** The text that was written for a part of another type, such as a refusal: offsets of citations count it, too. */
export function standIn({ text, thought }: JsonObject): TextPart[] {
  return typeof text === 'string' && thought !== true ? [{ type: 'text', text }] : []
}

/** Is it a call that a client can answer? One without a name is not. */
export const isCalled = (part: Part) => part.type === 'tool-call' && part.name !== ''

/** Without the unknown keys of grounding and logprobs, which are kept only for notes: both objects are written back whole elsewhere. */
export function withoutLeft(keys: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(keys).filter(([key, value]) => value === null || (key !== 'groundingMetadata' && key !== 'logprobsResult')))
}

/** `around`: the other fields of a content, and how it was spelled. */
type Content = { around: JsonObject; parts: GeminiPart[] }

function contentOf(around: JsonObject, parts: GeminiPart[]): JsonObject {
  const { role, parts: spelled, ...keys } = around
  return {
    content: {
      ...keys,
      ...(role === 'absent' ? {} : { role: role === undefined ? 'model' : role }),
      ...(parts.length > 0 || spelled === undefined ? { parts } : spelled === 'null' ? { parts: null } : {}),
    },
  }
}

/** `gathered`: the text length and thoughts since the last call, for the next one to carry; changed. */
function encodeMessage(message: Message, writing: Writing, gathered: Gathered | undefined): Content {
  const { report } = writing
  const { role, parts, origin: _, id, status, phase, name, at, ext, ...rest } = message
  report.rest({ ...rest, ...defined({ name }), ...(phase && !hasWords(parts) && { phase }) }, at)
  if (isOtherVoice(role, parts)) report.add('message.role', at, 'role')
  report.onceEach('message.envelope', at, { itemId: id, ...(status !== 'completed' && { status }) })
  report.ext(ext, at)
  const { native: __, nothing: ___, ...form } = ownForm(message.ext) ?? {}
  const write = (part: Part) => {
    const written = encodePart(part, writing)
    if (gathered) carryThoughts(gathered, part, written)
    return written
  }
  return { around: { ...ownKeys(message.ext), ...form }, parts: flatMap(withPhase(message), write) }
}

/** Context for writing parts of a reply. */
export function replyWriting(report: GeminiReport, native: boolean, beside: (part: TextPart, written: GeminiPart) => void): Writing {
  return {
    report,
    to: 'client',
    opens: true,
    native,
    toolName: (name, namespace, at) => replyToolName(name, namespace, at, report),
    callId: (id, part) => (id === '' || (part.type === 'tool-call' && part.idOrigin === 'synthesized' && part.ext?.[protocolName]) ? undefined : id),
    unresolvable: part => report.add('state.unresolvable', part.at),
    beside,
  }
}

/** Logprobs, and the JSON pointer of their node. */
type Odds = { logprobs?: TokenLogprob[] | undefined; at?: Place | undefined }

/** `came`, if the logprobs are still the same; else written anew. Undefined: there are none. */
export function writeLogprobs(odds: readonly Odds[], came: unknown, report: GeminiReport): JsonObject | undefined {
  const tokens = flatMap(odds, ({ logprobs }) => logprobs ?? [])
  if (isObject(came) && same(decodeLogprobs(came).tokens, tokens)) return came
  if (tokens.length === 0) return undefined
  noteTokens(tokens, protocolName, report)
  for (const { logprobs, at } of odds) if (logprobs && hasOwnBytes(logprobs)) report.add('logprobs.bytes', at, 'logprobs')
  return encodeLogprobs(tokens)
}

function writeGrounding(texts: readonly TextPart[], came: unknown, report: GeminiReport): JsonObject | undefined {
  const again = isObject(came) ? groundingAsItCame(texts, came) : undefined
  if (again) return again
  const cited = texts.map(({ text, citations = [] }) => ({ text, citations }))
  return encodeGrounding(cited, (text, loss) => report.add(loss === 'all' ? 'citation.unsupported' : 'citation.approximated', texts[text]?.at, 'citations'))
}

/** `came`, if the citations are still the same. Undefined: they have changed. */
export function groundingAsItCame(texts: readonly TextPart[], came: JsonObject): JsonObject | undefined {
  return same(placed(decodeGrounding(came, answersIn(texts)).found), placed(standing(texts))) ? came : undefined
}

const standing = (texts: readonly TextPart[]): Found[] => flatMap(texts, ({ citations }, answer) => (citations ?? []).map(citation => ({ answer, citation })))

/** In the order of the texts. */
const placed = (found: readonly Found[]) => found.toSorted((a, b) => a.answer - b.answer)
