import { isContent } from '../../../canonical/content.ts'
import type { CanonicalError } from '../../../canonical/error.ts'
import type { Message, Part, Place } from '../../../canonical/message.ts'
import type { Candidate, CanonicalResponse, Finish } from '../../../canonical/response.ts'
import { TranslationError } from '../../../errors.ts'
import { noteSpeaker } from '../../../kit/conversation/envelope.ts'
import { hashId } from '../../../kit/conversation/ids.ts'
import { hasWords, withPhase } from '../../../kit/conversation/phases.ts'
import { reportDroppedContent } from '../../../kit/errors/failed-response.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { indexOf } from '../../../kit/response/candidates.ts'
import { check } from '../../../kit/schema/check.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { markCut } from '../../../kit/tools/cut-calls.ts'
import type { Decoded, Encoded, Outcome } from '../../../protocol.ts'
import { decodeAssistant, encodeAssistant, isInCalls } from '../content/assistant.ts'
import { takesOneCall } from '../content/calls.ts'
import { unknownBeside } from '../content/carriers.ts'
import { attachLogprobs, encodeChoiceLogprobs, unreadOfLogprobs } from '../content/content.ts'
import { notePhases } from '../content/layout.ts'
import { noteUnstored, type StoredSignatures, takeOut } from '../content/signatures.ts'
import type { Reading, Writing } from '../content/writing.ts'
import { decodeErrorBody, encodeBareError, encodeErrorBody, isErrorBody } from '../errors.ts'
import type { Options } from '../options.ts'
import {
  type ChatCompletionsReport,
  createChatReport,
  keep,
  ownOf,
  protocolName,
  wireOf,
  withUnknown,
} from '../own.ts'
import { type ChatCompletionsChoice, ChatCompletionsResponse } from '../schema.ts'
import { decodeUsage, encodeUsage, findUsage, isEmptyValue } from '../usage.ts'
import { decodeFinish, encodeFinish, serviceTiers } from '../vocabulary.ts'
import type {
  ChatCompletionsErrorBody,
  ChatCompletionsWrittenAssistant,
  ChatCompletionsWrittenChoice,
  ChatCompletionsWrittenResponse,
} from '../written.ts'

const knownOfResponse = keysOf<ChatCompletionsResponse>()(
  'id object created model choices usage service_tier',
)
const knownOfChoice = keysOf<ChatCompletionsChoice>()('index message finish_reason logprobs')

/**
 * A complete (not streamed) response. An error body becomes `error` with no candidates, whatever
 * its HTTP status was.
 * @throws TranslationError `malformed` when the body is not a chat completion
 */
export function decodeResponse(wire: unknown, options: Options = {}): Decoded<CanonicalResponse> {
  const report = createChatReport(options.fieldNames)
  if (isErrorBody(wire))
    return { value: { candidates: [], error: decodeErrorBody(wire) }, notes: report.notes }
  const body = check(protocolName, ChatCompletionsResponse, wire)
  const { usage } = body
  const choices = body.choices ?? []
  const counted = decodeUsage(findUsage(body), body.service_tier, report)
  const taken = new Set<number>()
  const known = omitNullish({
    id: body.id || null,
    model: body.model || null,
    createdAt: readTime(body.created),
    serviceTier: body.service_tier,
  })
  const value: CanonicalResponse = {
    candidates: choices.map((choice, i) =>
      decodeChoice(choice, i, {
        index: indexOf(choice.index, i, taken),
        responseId: body.id ?? '',
        options,
        report,
      }),
    ),
    ...known,
  }
  if (counted) value.usage = counted
  const unknown = unknownOf(body, knownOfResponse)
  keep(value, counted || isEmptyValue(usage) ? unknown : { ...unknown, usage })
  const error = failureIn(choices, wire)
  if (error) value.error = error
  return { value, notes: report.notes }
}

/** Usage and error of a response, the same as `decodeResponse` gives; nothing else is read. */
export function outcome(wire: unknown): Outcome {
  if (isErrorBody(wire)) return { error: decodeErrorBody(wire) }
  if (!isObject(wire)) return {}
  const { choices } = wire
  return omitUndefined({
    usage: decodeUsage(findUsage(wire), wire['service_tier']),
    error: failureIn(Array.isArray(choices) ? choices : [], wire),
  })
}

function failureIn(choices: readonly unknown[], wire: unknown): CanonicalError | undefined {
  if (choices.length === 0)
    return {
      status: 502,
      kind: 'internal',
      message: 'the upstream returned no choices',
      protocol: protocolName,
      raw: wire,
    }
  const failed = choices.find(isFailed)
  return failed && { ...decodeErrorBody({ error: failed['error'] }), raw: wire }
}

/** Some servers put the error into the choice that failed. */
export function isFailed(choice: unknown): choice is JsonObject {
  return isObject(choice) && choice['finish_reason'] === 'error' && isObject(choice['error'])
}

/** In whole seconds. Servers that do not know the time write 0, which counts as absent. */
export function readTime(created: unknown): number | undefined {
  const seconds =
    typeof created === 'number' || typeof created === 'string'
      ? Math.floor(Number(created))
      : Number.NaN
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined
}

type Around = { index: number; responseId: string; options: Options; report: ChatCompletionsReport }

/** Is it a call of a known type? A stream leaves out calls of other types, too. */
const isKnownCall = (raw: unknown) =>
  isObject(raw) && (raw['type'] == null || raw['type'] === 'function' || raw['type'] === 'custom')

function decodeChoice(
  wire: ChatCompletionsChoice,
  position: number,
  { index: candidate, responseId, options, report }: Around,
): Candidate {
  const { message, finish_reason, logprobs } = wire
  const at = below('/choices', position)
  const reading: Reading = {
    from: 'server',
    thinkTags: options.extractThinkTags,
    seals: options.unsignedReasoning === 'seal',
    report,
    idOf: ordinal => `call_${hashId(`${responseId}/${candidate}/${ordinal}`)}`,
    legacyId: () => 'call_fn_0',
  }
  const whole = decodeAssistant(message ?? {}, below(at, 'message'), reading)
  const { parts } = whole
  const loose = isObject(logprobs)
    ? attachLogprobs(parts, { logprobs, at: below(at, 'logprobs'), report })
    : undefined
  const isBrokenCall = (part: Part) =>
    part.type === 'opaque' && isInCalls(part) && isKnownCall(part.raw)
  const holds = {
    calls: parts.some(part => part.type === 'tool-call'),
    broken: parts.some(isBrokenCall),
    empty: !parts.some(isContent),
  }
  const finish = decodeFinish(finish_reason ?? undefined, holds, { at, report })
  const value: Candidate = { index: candidate, at, messages: [whole], finish }
  if (loose) value.logprobs = loose
  const unread = isObject(logprobs) ? omitUndefinedOrNone(unreadOfLogprobs(logprobs)) : logprobs
  const unknown = unknownOf(wire, knownOfChoice)
  return keep(
    value,
    unread === undefined || unread === null ? unknown : { ...unknown, logprobs: unread },
  )
}

const handledOfResponse = keysOf<CanonicalResponse>()(
  'id model createdAt candidates usage promptBlocked serviceTier error ext source',
)

/**
 * Notes: all of `own.ts` that concern responses.
 * @throws TranslationError `truncated` when a candidate has no `finish`, unless the option
 * `truncated` is `length`
 */
export function encodeResponse(
  value: CanonicalResponse,
  options: Options = {},
): Encoded<ChatCompletionsWrittenResponse | ChatCompletionsErrorBody> {
  const report = createChatReport(options.fieldNames)
  const { id, model, createdAt, candidates, usage, promptBlocked, serviceTier, error, ext } = value
  const native = value.source?.protocol === protocolName
  if (error) {
    reportDroppedContent(value, report)
    return { wire: encodeBareError(error, report), notes: report.notes }
  }
  const failed = candidates.find(
    ({ finish }) => finish && !encodeFinish(finish, { hasCalls: false, single: false }),
  )
  if (failed) {
    reportDroppedContent(value, report)
    return { wire: encodeErrorBody(failedBy(failed.finish)), notes: report.notes }
  }

  const writing = { report, options, native, stored: {} }
  report.unwritten(value, handledOfResponse, '')
  report.ext(ext, '')
  const choices = candidates.map((candidate, i) =>
    encodeCandidate(markCut(candidate), below('/choices', i), writing),
  )
  if (choices.length === 0 && !promptBlocked) throw truncated('')
  choices.push(...encodeBlocked(promptBlocked, choices.length > 0, report))

  // Empty fields say the same as none.
  const head = native
    ? {
        id: id ?? '',
        object: 'chat.completion' as const,
        created: createdAt ?? 0,
        model: model ?? '',
      }
    : encodeHead(value, options, report)
  const body: Pick<ChatCompletionsWrittenResponse, 'choices' | 'usage' | 'service_tier'> = {
    choices,
    usage: usage && encodeUsage(usage, report, native),
    service_tier: tierOf(serviceTier, native, report),
  }
  const wire = wireOf<ChatCompletionsWrittenResponse>(Object.assign(head, body), ext)
  report.resolvePending(wire)
  return {
    wire,
    notes: report.notes,
    ...(options.signatures === 'store' && { signatures: writing.stored }),
  }
}

/** The head of every response. Fields that the source lacks are made up, with a note for each. */
export function encodeHead(
  { id, model, createdAt }: Pick<CanonicalResponse, 'id' | 'model' | 'createdAt'>,
  options: Options,
  report: ChatCompletionsReport,
) {
  const requestedModel = options.context?.request?.model
  if (id === undefined) report.add('response.id', '/id')
  if (createdAt === undefined) report.add('response.created', '/created')
  if (model === undefined) report.add('response.model', '/model')
  return {
    id: id ?? options.newId?.('chatcmpl-') ?? 'chatcmpl-0',
    object: 'chat.completion' as const,
    created: Math.floor(createdAt ?? options.now ?? 0),
    model: model ?? requestedModel ?? '',
  }
}

/**
 * The service tier of a response. A tier that only another provider has becomes `default`, with a
 * note.
 */
export function tierOf(
  tier: string | undefined,
  native: boolean,
  report: ChatCompletionsReport,
): string | undefined {
  if (tier === undefined || native || serviceTiers.has(tier)) return tier
  report.once('tier.nearest', '', 'serviceTier')
  return 'default'
}

export function failedBy(finish: Finish | undefined) {
  return {
    status: 502,
    kind: 'internal' as const,
    message: finish?.message ?? 'the upstream failed during its response',
  }
}

function truncated(path: Place): TranslationError {
  return new TranslationError(
    { code: 'truncated', protocol: protocolName, path },
    'the response stopped before its end',
  )
}

const handledOfCandidate = keysOf<Candidate>()('index at messages finish logprobs ext')

/** Makes notes for what this wire cannot say of a message. In streams, its fields come one by one. */
export function noteMessage(
  { role = 'assistant', parts = [], id, status, at }: Partial<Message>,
  report: ChatCompletionsReport,
): void {
  noteSpeaker({ role, at }, parts, report)
  report.onceEach('message.ids', at, { itemId: id, ...(status !== 'completed' && { status }) })
}

function encodeCandidate(
  candidate: Candidate,
  at: Place,
  writing: Writing & { stored: StoredSignatures },
): ChatCompletionsWrittenChoice {
  const { index, at: place, messages, finish, logprobs, ext } = candidate
  const { report, options } = writing
  report.node(candidate, handledOfCandidate)
  const [first] = messages
  for (const one of messages) noteMessage(one, report)
  const parts = flatMap(messages, withPhase)
  if (messages.length > 1) for (const message of messages) report.ext(message.ext, message.at)
  const message = encodeAssistant(
    {
      parts,
      reasoning: 'all',
      recipient: 'client',
      name: first?.name,
      at: first?.at,
      ext: messages.length === 1 ? first?.ext : undefined,
    },
    writing,
  ) ?? { role: 'assistant' as const }
  const isKept =
    options.signatures !== 'store' || writing.native || takeOut(message, writing.stored)
  if (!isKept) noteUnstored(parts, first?.at, report)
  const phases = messages.map(({ phase, at, parts }) => ({ phase, at, hasWords: hasWords(parts) }))
  notePhases(phases, isKept, writing)
  const ended = encodeEnding(finish, {
    at,
    place,
    report,
    options,
    hasCalls: parts.some(({ type }) => type === 'tool-call'),
  })
  const isShown = (part: Part) =>
    part.type === 'refusal' || (part.type === 'text' && part.text !== '')
  Object.assign(message, refusalOf(finish, parts.some(isShown), report))
  const { message: beside, ...fields } = ownOf(ext) ?? {}
  const shown: ChatCompletionsWrittenChoice = {
    index,
    message: isObject(beside)
      ? withUnknown<ChatCompletionsWrittenAssistant>(
          message,
          unknownBeside(beside, message, { at: below(place ?? '', 'message'), report }),
        )
      : message,
    finish_reason: ended,
    logprobs:
      encodeChoiceLogprobs(parts, logprobs, report) ??
      (fields['logprobs'] === undefined ? null : undefined),
  }
  return withUnknown<ChatCompletionsWrittenChoice>(shown, fields)
}

type Ending = {
  at: Place
  place: Place | undefined
  report: ChatCompletionsReport
  options: Options
  hasCalls: boolean
}

function encodeEnding(
  finish: Finish | undefined,
  { at, place, report, options, hasCalls }: Ending,
): string | undefined {
  if (!finish) {
    if (options.truncated !== 'length') throw truncated(at)
    report.add('finish.truncated-as-length', place, 'finish.reason')
    return 'length'
  }
  const written = encodeFinish(finish, { hasCalls, single: takesOneCall(options.context) })
  noteFinish(finish, written, { at: place, report })
  return written?.word ?? 'stop'
}

export function noteFinish(
  finish: Finish,
  written: ReturnType<typeof encodeFinish>,
  { at, report }: { at: Place | undefined; report: ChatCompletionsReport },
): void {
  if (written && (!written.exact || finish.approximate))
    report.add('finish.approximated', at, 'finish.reason')
  if (finish.protocol === protocolName) return
  // The message of a refusal is written as `refusal`, see `refusalOf`.
  if (finish.message !== undefined && finish.details === undefined && finish.reason !== 'refusal')
    report.add('finish.details', at, 'finish.message')
  if (finish.sequence !== undefined) report.add('finish.details', at, 'finish.sequence')
  if (finish.category !== undefined || finish.details !== undefined)
    report.add('finish.details', at, 'finish.details')
}

/**
 * A refusal without text gets a default one: clients show `refusal`, and without it the response
 * would look empty.
 */
export function refusalOf(
  finish: Finish | undefined,
  isShown: boolean,
  report: ChatCompletionsReport,
): { refusal: string } | undefined {
  if (finish?.reason !== 'refusal' || isShown) return undefined
  if (finish.message === undefined) report.add('refusal.synthesized', '/choices/0/message/refusal')
  return { refusal: finish.message ?? 'The request was refused.' }
}

/** The choice that says that the prompt was blocked, unless there is another one. */
export function encodeBlocked(
  blocked: CanonicalResponse['promptBlocked'],
  hasChoices: boolean,
  report: ChatCompletionsReport,
) {
  if (!blocked) return []
  report.add('prompt.blocked', '', 'promptBlocked')
  if (hasChoices) return []
  const refusal = blocked.message ?? `Prompt blocked: ${blocked.reason}`
  const message = { role: 'assistant' as const, content: null, refusal }
  return [{ index: 0, message, logprobs: null, finish_reason: 'content_filter' }]
}
