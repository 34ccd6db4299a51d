import { isContent } from '../../../canonical/content.ts'
import type { Message, Part, Place, TextPart, TokenLogprob } from '../../../canonical/message.ts'
import type { Candidate, CanonicalResponse } from '../../../canonical/response.ts'
import { noteResponseEnvelope } from '../../../kit/conversation/envelope.ts'
import { hashId } from '../../../kit/conversation/ids.ts'
import { withPhase } from '../../../kit/conversation/phases.ts'
import { reportDroppedContent } from '../../../kit/errors/failed-response.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, same } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { indexOf } from '../../../kit/response/candidates.ts'
import { check } from '../../../kit/schema/check.ts'
import { asRead, type Undefinable } from '../../../kit/schema/written.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { markCut } from '../../../kit/tools/cut-calls.ts'
import { responseToolName } from '../../../kit/tools/tool-names.ts'
import type { Decoded, Encoded, FieldNames, Outcome } from '../../../protocol.ts'
import {
  decodeGrounding,
  encodeGrounding,
  type Found,
  type TextAtPart,
} from '../content/citations.ts'
import { decodeParts, encodePart } from '../content/content.ts'
import { carryReasoning, type Gathered, nothingGathered } from '../content/reasoning.ts'
import type { Reading, Writing } from '../content/writing.ts'
import { decodeErrorInside, encodeBareError, encodeErrorBody, isErrorBody } from '../errors.ts'
import type { Options } from '../options.ts'
import {
  createGeminiReport,
  extOf,
  type GenerateContentReport,
  ownFields,
  ownObject,
  protocolName,
  withLeft,
} from '../own.ts'
import { inCamelCase, inSpelling, placesOf } from '../request/spelling.ts'
import { type GenerateContentCandidate, GenerateContentResponse } from '../schema.ts'
import { decodeTier, decodeUsage, encodeUsage } from '../usage.ts'
import type {
  GenerateContentErrorBody,
  GenerateContentGrounding,
  GenerateContentLogprobs,
  GenerateContentWrittenCandidate,
  GenerateContentWrittenPart,
  GenerateContentWrittenResponse,
} from '../written.ts'
import {
  decodeBlocked,
  decodeFinish,
  decodeLogprobs,
  encodeBlocked,
  encodeFinish,
  encodeLogprobs,
  isBrokenCall,
  isForeignFailure,
  noteLogprobs,
} from './finish.ts'

const known = keysOf<GenerateContentResponse>()(
  'candidates promptFeedback usageMetadata modelVersion responseId createTime',
)

/**
 * @throws TranslationError `malformed` when the body is not a response of this protocol. An error
 * body becomes a response with `error`.
 */
export function decodeResponse(wire: unknown): Decoded<CanonicalResponse> {
  if (isErrorBody(wire))
    return { value: { candidates: [], error: decodeErrorInside(wire) }, notes: [] }
  const report = createGeminiReport()
  const spelling = inCamelCase(wire)
  const place = placesOf(spelling, '')
  const body = check(protocolName, GenerateContentResponse, spelling.wire, path =>
    pointerOf(place(path)),
  )
  const { candidates, promptFeedback, usageMetadata, createTime } = body
  const promptBlocked = decodeBlocked(promptFeedback)
  const createdAt = readTime(createTime)
  const names: FieldNames = {}
  const reading = { report, place, names, responseId: body.responseId ?? '' }
  const taken = new Set<number>()
  const value: CanonicalResponse = {
    candidates: (candidates ?? []).map((candidate, nth) =>
      decodeCandidate(candidate, indexOf(candidate.index, nth, taken), nth, reading),
    ),
    ...omitUndefined({
      id: body.responseId || undefined,
      model: body.modelVersion || undefined,
      createdAt,
      serviceTier: decodeTier(usageMetadata),
      usage: usageMetadata ? decodeUsage(usageMetadata) : undefined,
      promptBlocked,
      ext: extOf({
        ...unknownOf(body, known),
        promptFeedback: promptBlocked ? undefined : promptFeedback,
        createTime: createdAt === undefined ? createTime || undefined : undefined,
      }),
    }),
  }
  for (const { messages } of value.candidates)
    for (const { parts } of messages) for (const part of parts) signedBy(value.model, part)
  const spelled = inSpelling(names, spelling)
  return {
    value,
    notes: report.notes,
    ...(Object.keys(spelled).length > 0 && { fieldNames: spelled }),
  }
}

/** Usage and error of a response, as `decodeResponse` reads them; nothing else is read. */
export function outcome(wire: unknown): Outcome {
  if (isErrorBody(wire)) return { error: decodeErrorInside(wire) }
  if (!isObject(wire)) return {}
  const { usageMetadata, usage_metadata } = wire
  const counts = inCamelCase(usageMetadata ?? usage_metadata).wire
  return isObject(counts) ? { usage: decodeUsage(counts) } : {}
}

/** Adds to a signature the model that made it, which later requests need. Changes the part. */
export function signedBy(model: string | undefined, part: Part): void {
  if (
    model !== undefined &&
    part.signature?.issuer === protocolName &&
    part.signature.model === undefined
  )
    part.signature = { model, ...part.signature }
}

/** RFC 3339 time → Unix seconds, without the fraction. Undefined: not such a time. */
export function readTime(text: unknown): number | undefined {
  if (
    typeof text !== 'string' ||
    !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)
  )
    return undefined
  const seconds = Math.floor(Date.parse(text) / 1000)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

export function writeTime(createdAt: number | undefined): string | undefined {
  const time = createdAt === undefined ? undefined : new Date(createdAt * 1000)
  return time && Number.isFinite(time.getTime())
    ? time.toISOString().replace('.000Z', 'Z')
    : undefined
}

/**
 * The id of a call that came without one. `ordinal`: the number of such calls before it, so that
 * the same response always gets the same ids.
 */
export function callIdInResponse(responseId: string, candidate: number, ordinal: number): string {
  return `call_${hashId(`${responseId}/${candidate}/${ordinal}`)}`
}

type ResponseReading = Omit<Reading, 'root' | 'speaks' | 'inventedCallId'> & { responseId: string }

const knownCandidate = keysOf<GenerateContentCandidate>()(
  'content finishReason finishMessage index logprobsResult groundingMetadata',
)
const knownContent = keysOf<NonNullable<GenerateContentCandidate['content']>>()('role parts')

function decodeCandidate(
  wire: GenerateContentCandidate,
  index: number,
  nth: number,
  { report, place, names, responseId }: ResponseReading,
): Candidate {
  const { content, finishMessage, logprobsResult, groundingMetadata } = wire
  let unnamed = 0
  const reading: Reading = {
    report,
    root: '',
    place,
    names,
    speaks: 'model',
    inventedCallId: () => callIdInResponse(responseId, index, unnamed++),
  }
  const at = `/candidates/${nth}`
  const inside = below(at, 'content')
  const parts = decodeParts(content?.parts ?? [], below(inside, 'parts'), reading)
  const logprobs = logprobsResult
    ? attachLogprobs(parts, logprobsResult, below(at, 'logprobsResult'))
    : {}
  const left = groundingMetadata
    ? attachCitations(parts, groundingMetadata, () => noteRounded(at, report))
    : undefined
  const hasCalls = parts.some(({ type }) => type === 'tool-call')
  const finish = decodeFinish(wire.finishReason, finishMessage, {
    hasCalls,
    hasContent: parts.some(isContent),
    hasBrokenCall: parts.some(isBrokenCall),
  })
  return {
    index,
    at,
    messages: content
      ? [
          {
            role: 'assistant',
            origin: 'message',
            parts,
            at: inside,
            ...omitUndefined({ ext: extOf(unknownOf(content, knownContent)) }),
          },
        ]
      : [],
    ...omitUndefined({
      finish,
      logprobs: logprobs.loose,
      grounding: groundingMetadata ?? undefined,
      ext: extOf({
        ...unknownOf(wire, knownCandidate),
        finishMessage: finish ? undefined : finishMessage,
        logprobsResult: logprobs.left,
        groundingMetadata: left && omitUndefinedOrNone(left),
      }),
    }),
  }
}

/**
 * Puts the logprobs on the first text that is not empty. `loose`: there is none. `left`: unknown
 * fields. Changes the part.
 */
function attachLogprobs(
  parts: readonly Part[],
  result: JsonObject,
  at: Place,
): { loose?: TokenLogprob[]; left?: JsonObject | undefined } {
  const { tokens, left } = decodeLogprobs(result, at)
  const text = parts.find(part => part.type === 'text' && part.text !== '')
  if (text?.type !== 'text') return tokens.length > 0 ? { loose: tokens, left } : { left }
  if (tokens.length > 0) text.logprobs = tokens
  return { left }
}

/** The texts of a response, to which the offsets of grounding refer. */
const textsAtPartsOf = (parts: readonly Part[]): (TextAtPart & { part: TextPart })[] =>
  flatMap(parts, (part, place) =>
    part.type === 'text' ? [{ part, text: part.text, place: placeIn(part.at) ?? place }] : [],
  )

/**
 * The index of a part on the wire, from its pointer: joining reasoning shifts the index in the
 * list.
 */
const placeIn = (at: Place | undefined) =>
  at === undefined ? undefined : Number(/(?<!\d)\d+$/.exec(pointerOf(at))?.[0])

/**
 * Adds the citations to the texts, which it changes. Returns the fields of grounding that no
 * citation holds.
 */
function attachCitations(
  parts: readonly Part[],
  grounding: JsonObject,
  rounded: () => void,
): JsonObject {
  const textsAtParts = textsAtPartsOf(parts)
  const { found, left, rounded: isRounded } = decodeGrounding(grounding, textsAtParts)
  if (isRounded) rounded()
  for (const { textIndex, citation } of found) {
    const part = textsAtParts[textIndex]?.part
    if (!part) continue
    part.citations ??= []
    part.citations.push(citation)
  }
  return left
}

const handled = keysOf<CanonicalResponse>()(
  'id model createdAt candidates usage promptBlocked serviceTier error ext',
)

/**
 * All candidates as one response. An error or a failed candidate becomes an error body.
 * @throws TranslationError `truncated` for a response without a finish (see `options.truncated`)
 */
export function encodeResponse(
  response: CanonicalResponse,
  options: Options = {},
): Encoded<GenerateContentWrittenResponse | GenerateContentErrorBody> {
  const report = createGeminiReport(options.fieldNames)
  const {
    id,
    model,
    createdAt,
    candidates,
    usage,
    promptBlocked,
    serviceTier,
    error,
    ext,
    source,
  } = response
  if (error) {
    const wire = encodeBareError(error, report)
    reportDroppedContent(response, report)
    return { wire, notes: report.notes }
  }
  const failed = candidates.find(({ finish }) => isForeignFailure(finish))?.finish
  if (failed) {
    reportDroppedContent(response, report)
    return {
      wire: encodeErrorBody({
        status: 500,
        kind: 'internal',
        message: failed.message ?? 'the upstream failed',
      }),
      notes: report.notes,
    }
  }
  report.unwritten(response, handled, undefined)
  report.ext(ext, undefined)
  const native = source?.protocol === protocolName
  if (candidates.length === 0 && !promptBlocked && !native)
    encodeFinish(undefined, { hasCalls: false, at: undefined }, report)
  // Servers of this protocol send whole calls, with or without arguments.
  const written = candidates.map(candidate =>
    encodeCandidate(native ? candidate : markCut(candidate), { native, options, report }),
  )
  const wire: GenerateContentWrittenResponse = {
    ...ownFields(ext),
    ...(written.length > 0 && { candidates: written }),
    ...(promptBlocked && { promptFeedback: encodeBlocked(promptBlocked) }),
    ...omitUndefined<Undefinable<GenerateContentWrittenResponse>>({
      usageMetadata: encodeUsage(usage, serviceTier, report),
      modelVersion: model || undefined,
      responseId: id || undefined,
      createTime: writeTime(createdAt),
    }),
  }
  report.resolvePending(wire)
  return { wire, notes: report.notes }
}

const handledOfCandidate = keysOf<Candidate>()('index at messages finish logprobs ext')

type ResponseWriting = { native: boolean; options: Options; report: GenerateContentReport }

function encodeCandidate(
  candidate: Candidate,
  { native, options, report }: ResponseWriting,
): GenerateContentWrittenCandidate {
  const { index, at, messages, finish, logprobs, ext } = candidate
  report.node(candidate, handledOfCandidate)
  const sources = new Map<GenerateContentWrittenPart, TextPart>()
  const writing = responseWriting(report, native, (part, written) => sources.set(written, part))
  const gathered = options.signedReasoning === 'calls' && !native ? nothingGathered() : undefined
  const parts = flatMap(messages, message => encodeMessage(message, writing, gathered))
  const texts = flatMap(parts, part => sources.get(part) ?? textParts(part))
  const hasCalls = messages.some(message => message.parts.some(isCalled))
  const { logprobsResult, groundingMetadata: _, ...own } = ownFields(ext) ?? {}
  // Clients drop a turn without parts.
  const isSilent = parts.length === 0 && !native
  return {
    ...own,
    index,
    ...((messages.length > 0 || isSilent) && {
      content: { ...aroundOf(messages), role: 'model', parts: isSilent ? [{ text: '' }] : parts },
    }),
    ...(finish || !native
      ? encodeFinish(finish, { hasCalls, at, truncated: options.truncated }, report)
      : {}),
    ...omitUndefined<
      Undefinable<Pick<GenerateContentWrittenCandidate, 'logprobsResult' | 'groundingMetadata'>>
    >({
      logprobsResult: writeLogprobs([{ logprobs, at }, ...texts], logprobsResult, at, report),
      groundingMetadata: writeGrounding(texts, candidate, report),
    }),
  }
}

/** The unknown keys of the first message. */
const aroundOf = (messages: readonly Message[]) => ownFields(messages[0]?.ext)

/**
 * The text that was written for a part of another type, such as a refusal: offsets of citations
 * count it, too.
 */
export function textParts({ text, thought }: GenerateContentWrittenPart): TextPart[] {
  return typeof text === 'string' && thought !== true ? [{ type: 'text', text }] : []
}

/** Can a client give a result for this call? One without a name is not. */
export const isCalled = (part: Part) => part.type === 'tool-call' && part.name !== ''

/**
 * `gathered`: the text length and reasoning since the last call, for the next one to carry;
 * changed.
 */
function encodeMessage(
  message: Message,
  writing: Writing,
  gathered: Gathered | undefined,
): GenerateContentWrittenPart[] {
  const { report } = writing
  noteResponseEnvelope(message, report)
  return flatMap(withPhase(message), part => {
    const written = encodePart(part, writing)
    if (gathered) carryReasoning(gathered, part, written)
    return written
  })
}

/** Context for writing parts of a response. */
export function responseWriting(
  report: GenerateContentReport,
  native: boolean,
  beside: (part: TextPart, written: GenerateContentWrittenPart) => void,
): Writing {
  return {
    report,
    to: 'client',
    opens: true,
    native,
    toolName: (name, namespace, at) => responseToolName(name, namespace, at, report),
    writtenCallId: (id, part) =>
      id === '' || (native && part.type === 'tool-call' && part.idOrigin === 'synthesized')
        ? undefined
        : id,
    unresolvable: part => report.add('state.unresolvable', part.at),
    beside,
  }
}

/** Logprobs, and the JSON pointer of their node. */
/** Notes the span of a citation that is rounded to characters. `at`: path of the candidate. */
export const noteRounded = (at: Place | undefined, report: GenerateContentReport) =>
  report.once('citation.rounded', below(at ?? '', 'groundingMetadata'))

type PartLogprobs = { logprobs?: TokenLogprob[] | undefined; at?: Place | undefined }

/** `left`: what `decodeLogprobs` left. Undefined: there are none. */
export function writeLogprobs(
  partLogprobs: readonly PartLogprobs[],
  left: unknown,
  at: Place | undefined,
  report: GenerateContentReport,
): GenerateContentLogprobs | undefined {
  const tokens = flatMap(partLogprobs, ({ logprobs }) => logprobs ?? [])
  if (tokens.length === 0) return isObject(left) ? asRead(left) : undefined
  for (const { logprobs = [], at: place } of partLogprobs) noteLogprobs(logprobs, place, report)
  const lost = () =>
    report.add('field.unknown', below(below(at ?? '', 'logprobsResult'), 'topCandidates'))
  return asRead(withLeft(left, encodeLogprobs(tokens), lost))
}

function writeGrounding(
  texts: readonly TextPart[],
  { grounding, at, ext }: Candidate,
  report: GenerateContentReport,
): GenerateContentGrounding | undefined {
  if (isSameGrounding(texts, grounding)) return asRead(grounding)
  const cited = texts.map(({ text, citations = [] }) => ({ text, citations }))
  const written = encodeGrounding(cited, (text, loss) =>
    report.add(
      loss === 'all' ? 'citation.unsupported' : 'citation.approximated',
      texts[text]?.at,
      'citations',
    ),
  )
  return joinGrounding(ownObject(ext, 'groundingMetadata'), written, at, report)
}

/** Does this grounding have the citations that the texts have? */
export function isSameGrounding(
  texts: readonly TextPart[],
  grounding: unknown,
): grounding is JsonObject {
  if (!isObject(grounding)) return false
  const held: Found[] = flatMap(texts, ({ citations }, textIndex) =>
    (citations ?? []).map(citation => ({ textIndex, citation })),
  )
  return same(placed(decodeGrounding(grounding, textsAtPartsOf(texts)).found), placed(held))
}

/** In the order of the texts. */
const placed = (found: readonly Found[]) => found.toSorted((a, b) => a.textIndex - b.textIndex)

/**
 * `left`: what `decodeGrounding` left. Its lists refer to the original sources, so they are lost.
 */
export function joinGrounding(
  left: JsonObject | undefined,
  written: GenerateContentGrounding | undefined,
  at: Place | undefined,
  report: GenerateContentReport,
): GenerateContentGrounding | undefined {
  if (!left) return written
  const { groundingChunks, groundingSupports, ...rest } = left
  for (const [key, list] of Object.entries({ groundingChunks, groundingSupports }))
    if (list !== undefined)
      report.add('field.unknown', below(below(at ?? '', 'groundingMetadata'), key))
  return omitUndefinedOrNone({ ...rest, ...written })
}
