import type { Message, Part, Place } from '../../../canonical/message.ts'
import type { Candidate, CanonicalResponse, Finish } from '../../../canonical/response.ts'
import { TranslationError } from '../../../errors.ts'
import { responseWriting as blocksOfResponse } from '../../../kit/conversation/block-writing.ts'
import { noteResponseEnvelope } from '../../../kit/conversation/envelope.ts'
import { withPhase } from '../../../kit/conversation/phases.ts'
import { reportDroppedContent } from '../../../kit/errors/failed-response.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { type PlacedTier, tierIn } from '../../../kit/response/usage.ts'
import { check } from '../../../kit/schema/check.ts'
import { signedBy } from '../../../kit/signatures/carried.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { startNames } from '../../../kit/text/free-names.ts'
import { isLimit, markCut } from '../../../kit/tools/cut-calls.ts'
import type { Decoded, Encoded, Outcome } from '../../../protocol.ts'
import { match } from '../address.ts'
import { validCallId } from '../content/calls.ts'
import { decodeContent, encodeParts } from '../content/content.ts'
import { issuerOf } from '../content/reasoning.ts'
import type { Reading, Writing } from '../content/writing.ts'
import { decodeError, encodeBareError } from '../errors.ts'
import { familyOf } from '../models.ts'
import type { Options } from '../options.ts'
import {
  type ConverseReport,
  createConverseReport,
  keep,
  ownOf,
  protocolName,
  withInner,
} from '../own.ts'
import { ConverseResponse } from '../schema.ts'
import { decodeUsage, encodeUsage } from '../usage.ts'
import { finishWords, stopReasons, tierWords } from '../vocabulary.ts'
import type {
  ConverseErrorBody,
  ConverseStop,
  ConverseWrittenBlock,
  ConverseWrittenResponse,
} from '../written.ts'

const responseKeys = keysOf<ConverseResponse>()(
  'output stopReason usage metrics additionalModelResponseFields serviceTier',
)
const outputKeys = keysOf<ConverseResponse['output']>()('message')
const messageKeys = keysOf<NonNullable<ConverseResponse['output']['message']>>()('role content')

/**
 * @throws TranslationError `malformed` when the body is not a converse response. An error body
 * becomes a response with `error`.
 */
export function decodeResponse(wire: unknown, options: Options = {}): Decoded<CanonicalResponse> {
  if (isErrorBody(wire)) return { value: { candidates: [], error: errorIn(wire) }, notes: [] }
  const report = createConverseReport()
  const body = check(protocolName, ConverseResponse, wire)
  const { output, stopReason, usage, serviceTier, additionalModelResponseFields } = body
  const reading = readingOf(options, report)
  const parts = decodeContent(output.message?.content, '/output/message/content', reading)
  const model = modelOf(options)
  const issuer = issuerOf(reading.family)
  for (const part of parts)
    if (part.signature) part.signature = signedBy(model, issuer, part.signature)
  const finish = decodeFinish(stopReason, additionalModelResponseFields)
  const last = parts.at(-1)
  // A call that a limit cut off before its arguments came has an empty object as input.
  if (finish && isLimit(finish) && last?.type === 'tool-call' && last.input === '{}')
    last.input = ''
  const message = keep<Message>(
    { role: 'assistant', origin: 'message', parts, at: '/output/message' },
    output.message ? unknownOf(output.message, messageKeys) : undefined,
  )
  const candidate: Candidate = { index: 0, messages: [message] }
  if (finish) candidate.finish = finish
  const value: CanonicalResponse = omitUndefined({
    candidates: [candidate],
    usage: usage ? decodeUsage(usage) : undefined,
    serviceTier: decodeTier(serviceTier?.type),
  })
  return {
    value: keep(value, unknownOfResponse(body)),
    notes: report.notes,
    fieldNames: reading.names,
  }
}

/** What belongs to a response of this model. */
export function readingOf(options: Options, report: ConverseReport): Reading {
  return { report, family: familyOf(modelOf(options), options), names: {}, isResponse: true }
}

/** The model that a response is from: that of the path its request was sent to. */
export function modelOf({ context }: Options): string | undefined {
  return (
    (context?.path === undefined ? undefined : match(context.path)?.model) ??
    context?.request?.model
  )
}

const metricsKeys = keysOf<NonNullable<ConverseResponse['metrics']>>()('latencyMs')
const tierKeys = keysOf<NonNullable<ConverseResponse['serviceTier']>>()('type')

function unknownOfResponse(body: ConverseResponse): JsonObject | undefined {
  const { output, additionalModelResponseFields: more } = body
  const around = unknownAround(body, unknownOf(body, responseKeys))
  const fields = withInner(around, 'output', unknownOf(output, outputKeys))
  return more == null || isOnlySequence(more)
    ? fields
    : { ...fields, additionalModelResponseFields: more }
}

/**
 * The unknown keys of what is next to the message, in a response or in the last event of a stream.
 * The latency measures nothing of the content.
 */
export function unknownAround(
  { metrics, serviceTier }: { metrics?: unknown; serviceTier?: unknown },
  fields: JsonObject | undefined,
): JsonObject | undefined {
  const withMetrics = withInner(
    fields,
    'metrics',
    isObject(metrics) ? unknownOf(metrics, metricsKeys) : undefined,
  )
  return withInner(
    withMetrics,
    'serviceTier',
    isObject(serviceTier) ? unknownOf(serviceTier, tierKeys) : undefined,
  )
}

/** Usage or error of a response, as in `decodeResponse`; nothing else is read. */
export function outcome(wire: unknown): Outcome {
  if (isErrorBody(wire)) return { error: errorIn(wire) }
  const usage = isObject(wire) ? wire['usage'] : undefined
  return isObject(usage) ? { usage: decodeUsage(usage) } : {}
}

/** Some servers write the message with a capital. */
const isErrorBody = (wire: unknown) =>
  isObject(wire) &&
  wire['output'] === undefined &&
  (typeof wire['message'] === 'string' ||
    typeof wire['Message'] === 'string' ||
    typeof wire['__type'] === 'string')

const errorIn = (body: unknown) => decodeError({ status: 0, headers: {}, body }).value

export function decodeTier(word: string | null | undefined): string | undefined {
  return word == null ? undefined : (tierWords.toOurs(word) ?? word)
}

/**
 * Fields of the model's own response that the client requested: here only the stop sequence that
 * matched. In a stream they are those of its last delta.
 */
function sequenceIn(fields: unknown): string | undefined {
  if (!isObject(fields)) return undefined
  const { stop_sequence: sequence, delta } = fields
  if (typeof sequence === 'string') return sequence
  if (isObject(delta)) return sequenceIn({ stop_sequence: delta['stop_sequence'] })
  return undefined
}

function isOnlySequence(fields: unknown): boolean {
  if (!isObject(fields)) return false
  const [only, ...others] = Object.keys(fields)
  if (others.length > 0) return false
  return only === undefined || only === 'stop_sequence'
    ? fields['stop_sequence'] == null || typeof fields['stop_sequence'] === 'string'
    : only === 'delta' && isOnlySequence(fields['delta'])
}

/** The additional fields, unless they only say which sequence matched. Undefined: nothing more. */
export const unknownFields = (fields: unknown): unknown =>
  fields == null || isOnlySequence(fields) ? undefined : fields

/** Undefined: the response has no stop reason. */
export function decodeFinish(raw: string | null | undefined, fields: unknown): Finish | undefined {
  if (raw == null) return undefined
  return {
    reason: stopReasons.get(raw) ?? 'other',
    raw,
    protocol: protocolName,
    ...omitUndefined({
      sequence: sequenceIn(fields),
      category: raw === 'guardrail_intervened' ? 'guardrail' : undefined,
    }),
  }
}

/**
 * The first candidate as a response. The body has no field for its id and model, so both are noted.
 * @throws TranslationError `truncated` for a response without a finish reason, unless `truncated`
 * is `length`
 */
export function encodeResponse(
  response: CanonicalResponse,
  options: Options = {},
): Encoded<ConverseWrittenResponse | ConverseErrorBody> {
  const report = createConverseReport(options.fieldNames)
  const { id, model, candidates, usage, promptBlocked, serviceTier, error, ext, ...rest } = response
  if (error) {
    const wire = encodeBareError(error, report)
    reportDroppedContent(response, report)
    return { wire, notes: report.notes }
  }
  const [candidate, ...others] = candidates.map(markCut).sort((a, b) => a.index - b.index)
  if (candidate?.finish?.reason === 'error') {
    reportDroppedContent(response, report)
    const failed = {
      status: 500,
      kind: 'internal' as const,
      message: candidate.finish.message ?? 'the upstream failed',
    }
    return { wire: encodeBareError(failed, report), notes: report.notes }
  }
  noteNames({ id, model }, report)
  report.rest(rest, undefined)
  report.ext(ext, undefined)
  for (const { at } of others) report.add('candidates.first-only', at)
  const messages = candidate?.messages ?? []
  const parts = flatMap(messages, ({ parts: own }) => own)
  const writing = responseWriting(report, options)
  const content = flatMap(messages, message => encodeMessage(message, writing))
  if (candidate?.logprobs) report.rest({ logprobs: candidate.logprobs }, candidate.at)
  if (candidate?.ext) report.ext(candidate.ext, candidate.at)
  const refusal = refusalText({ finish: candidate?.finish, promptBlocked }, hasText(parts))
  if (refusal !== undefined) content.push({ text: refusal })
  const ending: Ending = {
    finish: candidate?.finish,
    at: candidate?.at,
    promptBlocked,
    calls: parts.some(({ type }) => type === 'tool-call'),
    explained: refusal !== undefined,
  }
  const stop = encodeFinish(ending, options, report)
  const {
    output,
    additionalModelResponseFields,
    metrics,
    serviceTier: tierFields,
    ...own
  } = ownOf(ext) ?? {}
  const tier = encodeTier(tierIn(serviceTier, usage), report)
  const wire: ConverseWrittenResponse = {
    ...own,
    output: {
      ...(isObject(output) && output),
      message: { ...ownOf(messages[0]?.ext), role: 'assistant', content },
    },
    ...stop,
    ...(additionalModelResponseFields !== undefined && { additionalModelResponseFields }),
    usage: encodeUsage(usage, report),
    metrics: { ...(isObject(metrics) && metrics), latencyMs: 0 },
    serviceTier: tierOf(tier, tierFields),
  }
  report.resolvePending(wire)
  return { wire: omitUndefined(wire), notes: report.notes }
}

/**
 * The id and the model have no place in the body. Signatures and the ids of calls may still be made
 * with them.
 */
export function noteNames(
  names: { id: string | undefined; model: string | undefined },
  report: ConverseReport,
): void {
  for (const field of ['id', 'model'] as const)
    if (names[field]) report.add('response.unnamed', undefined, field)
}

const hasText = (parts: readonly Part[]) =>
  parts.some(part => (part.type === 'text' || part.type === 'refusal') && part.text !== '')

function encodeMessage(message: Message, writing: Writing): ConverseWrittenBlock[] {
  const { report } = writing
  noteResponseEnvelope(message, report)
  return encodeParts(withPhase(message), writing, 'assistant')
}

/** How parts of a response are written. */
export const responseWriting = (report: ConverseReport, options: Options): Writing => ({
  family: familyOf(options.context?.request?.model, options),
  documents: startNames(),
  ...blocksOfResponse(report, validCallId, options),
})

/** The word for a tier. Undefined: there is none. */
export function encodeTier(
  { tier, field }: PlacedTier,
  report: ConverseReport,
): string | undefined {
  const type =
    tier === undefined
      ? undefined
      : (tierWords.toWire(tier) ?? (tier === 'reserved' ? tier : undefined))
  if (tier !== undefined && type === undefined) report.add('tier.unsupported', undefined, field)
  return type
}

/** `fields`: unknown keys of the object. */
export function tierOf(
  type: string | undefined,
  fields: unknown,
): ConverseWrittenResponse['serviceTier'] {
  return type === undefined && !isObject(fields)
    ? undefined
    : omitUndefined({ ...(isObject(fields) && fields), type: type as string })
}

/**
 * How a response ends. `at`: path of the candidate. `calls`: it calls tools. `explained`: the
 * explanation of a refusal was written as text. `streamed`: the matched sequence is written where a
 * stream has it.
 */
export type Ending = {
  finish: Finish | undefined
  at: Place | undefined
  promptBlocked: CanonicalResponse['promptBlocked']
  calls: boolean
  explained: boolean
  streamed?: true
}

/**
 * The explanation of a refusal, for a response without text: the protocol has no field for it.
 * Undefined: there is none.
 */
export function refusalText(
  { finish, promptBlocked }: Pick<Ending, 'finish' | 'promptBlocked'>,
  hasWritten: boolean,
): string | undefined {
  if (hasWritten) return undefined
  if (promptBlocked && !finish)
    return promptBlocked.message || `Prompt blocked: ${promptBlocked.reason}`
  return finish?.protocol !== protocolName && finish?.reason === 'refusal'
    ? finish.message || undefined
    : undefined
}

/**
 * The stop fields of a response.
 * @throws TranslationError `truncated` when there is no finish reason, unless `truncated` is
 * `length`
 */
export function encodeFinish(
  { finish, at, promptBlocked, calls, explained, streamed }: Ending,
  { truncated }: Pick<Options, 'truncated'>,
  report: ConverseReport,
): ConverseStop {
  if (promptBlocked) report.add('finish.approximated', undefined, 'promptBlocked')
  if (!finish && promptBlocked) return { stopReason: 'content_filtered' }
  if (!finish) {
    if (truncated !== 'length')
      throw new TranslationError(
        { code: 'truncated', protocol: protocolName, path: '' },
        'the response has no stop reason',
      )
    report.add('finish.truncated-as-length', at)
    return { stopReason: 'max_tokens' }
  }
  const { reason, message, sequence, category, details, protocol } = finish
  if (message !== undefined)
    report.add(explained ? 'refusal.as-text' : 'field.unsupported', at, 'finish.message')
  if ((category !== undefined || details !== undefined) && protocol !== protocolName)
    report.add('field.unsupported', at, 'finish.details')
  const isMatch =
    sequence !== undefined && (protocol === protocolName || reason === 'stop_sequence')
  if (sequence !== undefined && !isMatch) report.add('field.unsupported', at, 'finish.sequence')
  if (protocol !== protocolName && reason === 'stop' && calls) {
    report.add('finish.tool-use', at, 'finish.reason')
    return { stopReason: 'tool_use' }
  }
  if (protocol !== protocolName && reason === 'tool_calls' && !calls) {
    report.add('stop.no-call', at, 'finish.reason')
    return { stopReason: 'end_turn' }
  }
  const { word, exact } = wordOf(finish)
  if (!exact || finish.approximate) report.add('finish.approximated', at, 'finish.reason')
  const matched = isMatch ? { stop_sequence: sequence } : undefined
  return omitUndefined({
    stopReason: word,
    additionalModelResponseFields: matched && (streamed ? { delta: matched } : matched),
  })
}

/** `stopReason` by the finish reason alone. `exact`: it says all of the reason. */
export function wordOf({ reason, raw, protocol }: Finish): { word: string; exact: boolean } {
  const own =
    protocol === protocolName &&
    raw !== undefined &&
    (!finishWords[reason].exact || stopReasons.get(raw) === reason)
  return own ? { word: raw, exact: true } : finishWords[reason]
}
