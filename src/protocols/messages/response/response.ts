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
import { check } from '../../../kit/schema/check.ts'
import { signedBy } from '../../../kit/signatures/carried.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { isLimit, markCut } from '../../../kit/tools/cut-calls.ts'
import type { Decoded, Encoded, Outcome } from '../../../protocol.ts'
import { validCallId } from '../content/calls.ts'
import { decodeContent, encodeParts } from '../content/content.ts'
import { decodeTransformations } from '../content/reasoning.ts'
import type { Carriers, Writing } from '../content/writing.ts'
import { decodeError, encodeBareError, encodeErrorBody } from '../errors.ts'
import type { Options } from '../options.ts'
import { createMessagesReport, keep, type MessagesReport, ownOf, protocolName } from '../own.ts'
import { allowedNames } from '../request/tool-choice.ts'
import { MessagesResponse } from '../schema.ts'
import { decodeUsage, encodeUsage } from '../usage.ts'
import { finishWords, responseTier, stopReasons } from '../vocabulary.ts'
import type {
  MessagesErrorBody,
  MessagesStop,
  MessagesWrittenBlock,
  MessagesWrittenResponse,
} from '../written.ts'

export const responseKeys = keysOf<MessagesResponse & { input_transformations: unknown }>()(
  'id type role model content stop_reason stop_sequence stop_details usage',
  'input_transformations',
)

/**
 * @throws TranslationError `malformed` when the body is not a messages response. An error body
 * becomes a response with `error`.
 */
export function decodeResponse(
  wire: unknown,
  { context }: Options = {},
): Decoded<CanonicalResponse> {
  if (isErrorBody(wire)) return { value: { candidates: [], error: errorIn(wire) }, notes: [] }
  const report = createMessagesReport()
  const body = check(protocolName, MessagesResponse, wire)
  const { id, model, stop_reason, stop_sequence, stop_details, usage } = body
  const { list, strange } = decodeTransformations(body['input_transformations'], report)
  const parts = decodeContent(body.content, '/content', report)
  const allowed = allowedNames(context)
  for (const part of parts) {
    if (part.signature) part.signature = signedBy(model, protocolName, part.signature)
    noteNotAllowed(part, allowed, report)
  }
  const finish = decodeFinish(stop_reason, stop_sequence, stop_details)
  const last = parts.at(-1)
  // A call that a limit cut off before its arguments came has an empty object as input.
  if (finish && isLimit(finish) && last?.type === 'tool-call' && last.input === '{}')
    last.input = ''
  const candidate: Candidate = {
    index: 0,
    messages: [{ role: 'assistant', origin: 'message', parts }],
  }
  if (finish) candidate.finish = finish
  const value: CanonicalResponse = omitUndefined({
    candidates: [candidate],
    id: id || undefined,
    model,
    usage: usage ? decodeUsage(usage) : undefined,
    serviceTier: decodeTier(usage?.service_tier),
    transformations: list,
  })
  const fields = unknownOf(body, responseKeys)
  return {
    value: keep(
      value,
      strange === undefined ? fields : { ...fields, input_transformations: strange },
    ),
    notes: report.notes,
  }
}

/** Notes a call of a tool that the request did not allow. `allowed` undefined: all are. */
export function noteNotAllowed(
  part: Part,
  allowed: readonly string[] | undefined,
  report: MessagesReport,
): void {
  if (part.type === 'tool-call' && allowed?.includes(part.name) === false)
    report.add('tool-choice.not-allowed', part.at)
}

/** Usage or error of a response, as in `decodeResponse`; nothing else is read. */
export function outcome(wire: unknown): Outcome {
  if (isErrorBody(wire)) return { error: errorIn(wire) }
  const usage = isObject(wire) ? wire['usage'] : undefined
  return isObject(usage) ? { usage: decodeUsage(usage) } : {}
}

const isErrorBody = (wire: unknown) => isObject(wire) && isObject(wire['error'])

const errorIn = (body: unknown) => decodeError({ status: 0, headers: {}, body }).value

export function decodeTier(word: string | null | undefined): string | undefined {
  return word == null ? undefined : (responseTier.toOurs(word) ?? word)
}

/** Undefined: the response has no stop reason. */
export function decodeFinish(
  raw: string | null | undefined,
  sequence: string | null | undefined,
  details: JsonObject | null | undefined,
): Finish | undefined {
  if (raw == null) return undefined
  const word = (key: string) =>
    typeof details?.[key] === 'string' ? (details[key] as string) : undefined
  return {
    reason: stopReasons.get(raw) ?? 'other',
    raw,
    protocol: protocolName,
    ...omitUndefined({
      sequence: sequence ?? undefined,
      message: word('explanation'),
      category: word('category'),
      details: details ?? undefined,
    }),
  }
}

/**
 * The first candidate as a response.
 * @throws TranslationError `truncated` for a response without a finish reason, unless `truncated`
 * is `length`
 */
export function encodeResponse(
  response: CanonicalResponse,
  options: Options = {},
): Encoded<MessagesWrittenResponse | MessagesErrorBody> {
  const report = createMessagesReport(options.fieldNames)
  const {
    id,
    model,
    createdAt,
    completedAt,
    candidates,
    usage,
    promptBlocked,
    serviceTier,
    transformations,
    error,
    ext,
    ...rest
  } = response
  if (error) {
    const wire = encodeBareError(error, report)
    reportDroppedContent(response, report)
    return { wire, notes: report.notes }
  }
  const [candidate, ...others] = candidates.map(markCut).sort((a, b) => a.index - b.index)
  if (candidate?.finish?.reason === 'error') {
    reportDroppedContent(response, report)
    return {
      wire: encodeErrorBody({
        status: 500,
        kind: 'internal',
        message: candidate.finish.message ?? 'the upstream failed',
      }),
      notes: report.notes,
    }
  }
  report.rest({ createdAt, completedAt, ...rest }, undefined)
  report.ext(ext, undefined)
  for (const { at } of others) report.add('candidates.first-only', at)
  const messages = candidate?.messages ?? []
  const parts = flatMap(messages, ({ parts: own }) => own)
  const refusal = parts.find(part => part.type === 'refusal')
  const seen: Seen = {
    calls: parts.some(({ type }) => type === 'tool-call'),
    ...omitUndefined({ refusal }),
  }
  const carriers: Carriers | undefined = options.lastSignature === 'drop' ? new Map() : undefined
  const content = flatMap(messages, message =>
    encodeMessage(message, report, omitUndefined({ carriers, endsInText: !seen.calls })),
  )
  if (carriers) dropLast(content, carriers, report)
  const isUnsigned = content.some(block => block.type === 'thinking' && block.signature === '')
  noteUnsigned(isUnsigned, candidate?.finish, report)
  if (candidate?.logprobs) report.add('field.unsupported', candidate.at, 'logprobs')
  if (candidate?.ext) report.ext(candidate.ext, candidate.at)
  const ending = { finish: candidate?.finish, at: candidate?.at, promptBlocked, seen }
  const stop = encodeFinish(ending, options, report)
  // The same response gets the same id each time it is encoded.
  const native = response.source?.protocol === protocolName
  const wire: MessagesWrittenResponse = {
    container: null,
    diagnostics: null,
    ...ownOf(ext),
    ...(native
      ? { id, model: model ?? options.context?.request?.model }
      : namesOf({ id, model }, fallbacks(options), '', report)),
    type: 'message',
    role: 'assistant',
    content,
    ...stop,
    usage: encodeUsage(usage, serviceTier, report),
    input_transformations: transformations,
  }
  report.resolvePending(wire)
  return { wire: omitUndefined(wire), notes: report.notes }
}

export type Fallbacks = { id: string; model?: string }

/** The id and the model of a response whose source has none. */
export const fallbacks = ({ newId, context }: Options): Fallbacks => ({
  id: newId?.('msg_') ?? 'msg_0',
  ...omitUndefined({ model: context?.request?.model }),
})

/** The id and the model that every response has. `at`: path of what holds them, for the notes. */
export function namesOf(
  { id, model }: { id: string | undefined; model: string | undefined },
  fallback: Fallbacks,
  at: string,
  report: MessagesReport,
): { id: string; model: string } {
  const named = model || fallback.model
  if (!id) report.add('response.id', `${at}/id`)
  if (named === undefined) report.add('response.model', `${at}/model`)
  return { id: id || fallback.id, model: named ?? 'unknown' }
}

/** Notes the empty signatures of thinking that has none, unless it came from this protocol so. */
export function noteUnsigned(
  isUnsigned: boolean,
  finish: Finish | undefined,
  report: MessagesReport,
): void {
  if (isUnsigned && finish?.protocol !== protocolName)
    report.once('reasoning.signature-empty', '/content')
}

/**
 * With `lastSignature: 'drop'` a response without calls must end in its text: `redacted_thinking`
 * after it is removed.
 */
function dropLast(
  content: MessagesWrittenBlock[],
  carriers: Carriers,
  report: MessagesReport,
): void {
  if (
    !content.some(({ type }) => type === 'text') ||
    content.some(({ type }) => type === 'tool_use')
  )
    return
  for (let last = content.at(-1); last?.type === 'redacted_thinking'; last = content.at(-1)) {
    report.add('reasoning.trailing-signature', carriers.get(last), 'signature')
    content.pop()
  }
}

function encodeMessage(
  message: Message,
  report: MessagesReport,
  layout: Pick<Writing, 'carriers' | 'endsInText'>,
): MessagesWrittenBlock[] {
  noteResponseEnvelope(message, report)
  return encodeParts(
    withPhase(message),
    Object.assign(responseWriting(report), layout),
    'assistant',
  )
}

/** How parts of a response are written. */
export const responseWriting = (report: MessagesReport): Writing => ({
  marks: [],
  place: 'conversation',
  ...blocksOfResponse(report, validCallId, {}),
})

/** What the end of a response depends on: does it call tools, and its first refusal. */
export type Seen = { calls: boolean; refusal?: { text: string; at?: Place } }

/** `at`: path of the candidate. */
type Ending = {
  finish: Finish | undefined
  at: Place | undefined
  promptBlocked: CanonicalResponse['promptBlocked']
  seen: Seen
}

/**
 * The stop fields of a response.
 * @throws TranslationError `truncated` when there is no finish reason, unless `truncated` is
 * `length`
 */
export function encodeFinish(
  { finish, at, promptBlocked, seen }: Ending,
  { truncated }: Pick<Options, 'truncated'>,
  report: MessagesReport,
): MessagesStop {
  if (finish && promptBlocked) report.add('finish.refusal', undefined, 'promptBlocked')
  if (!finish && promptBlocked) {
    report.add('finish.refusal', undefined, 'promptBlocked')
    return refusal(promptBlocked.message ?? `Prompt blocked: ${promptBlocked.reason}`)
  }
  if (!finish) {
    if (truncated !== 'length')
      throw new TranslationError(
        { code: 'truncated', protocol: protocolName, path: '' },
        'the response has no finish reason',
      )
    report.add('finish.truncated-as-length', at)
    return { stop_reason: 'max_tokens', stop_sequence: null, stop_details: null }
  }
  if (finish.protocol === protocolName)
    return {
      stop_reason: wordOf(finish),
      stop_sequence: finish.sequence ?? null,
      stop_details: finish.details ?? null,
    }
  return (
    refusedStop(finish, at, seen.refusal, report) ?? foreignStop(finish, at, seen.calls, report)
  )
}

/** The stop fields where the response was refused; undefined where it was not. */
function refusedStop(
  { reason, message, category }: Finish,
  at: Place | undefined,
  refused: Seen['refusal'],
  report: MessagesReport,
): MessagesStop | undefined {
  if (refused && (reason === 'stop' || reason === 'refusal' || reason === 'content_filter')) {
    report.add('finish.refusal', refused.at)
    return refusal(refused.text || (message ?? null))
  }
  if (reason !== 'content_filter' && reason !== 'recitation' && reason !== 'refusal')
    return undefined
  if (reason !== 'refusal') report.add('finish.approximated', at, 'finish.reason')
  return refusal(message ?? null, category)
}

/**
 * The stop fields for a finish of another protocol. Clients act on tool calls only when
 * `stop_reason` is `tool_use`.
 */
function foreignStop(
  finish: Finish,
  at: Place | undefined,
  calls: boolean,
  report: MessagesReport,
): MessagesStop {
  const { reason, approximate, sequence, details, message } = finish
  if (message !== undefined && details === undefined)
    report.add('field.unsupported', at, 'finish.message')
  if (reason === 'stop' && calls) {
    report.add('finish.tool-use', at, 'finish.reason')
    return { stop_reason: 'tool_use', stop_sequence: null, stop_details: null }
  }
  if (reason === 'tool_calls' && !calls) {
    report.add('stop.no-call', at, 'finish.reason')
    return { stop_reason: 'end_turn', stop_sequence: null, stop_details: null }
  }
  const exact = isExact({ reason, sequence })
  if (!exact || approximate) report.add('finish.approximated', at, 'finish.reason')
  return {
    stop_reason: wordOf(finish),
    stop_sequence: exact ? (sequence ?? null) : null,
    stop_details: null,
  }
}

/** `stop_reason` by the finish reason alone, whatever parts the response has. */
export function wordOf({ reason, raw, protocol, sequence }: Finish): string {
  const { word, exact } = finishWords[reason]
  if (protocol === protocolName)
    return raw !== undefined && (!exact || stopReasons.get(raw) === reason) ? raw : word
  if (isExact({ reason, sequence })) return word
  if (reason === 'stop_sequence') return finishWords.stop.word
  return word
}

/** Does a word of this protocol say all of the reason? `stop_sequence` needs the sequence. */
const isExact = ({ reason, sequence }: Pick<Finish, 'reason'> & { sequence: string | undefined }) =>
  finishWords[reason].exact && !(reason === 'stop_sequence' && sequence === undefined)

const categories = new Set([
  'cyber',
  'bio',
  'frontier_llm',
  'reasoning_extraction',
  'general_harms',
])

function refusal(explanation: string | null, category?: string): MessagesStop {
  return {
    stop_reason: 'refusal',
    stop_sequence: null,
    stop_details: {
      type: 'refusal',
      category: category !== undefined && categories.has(category) ? category : null,
      explanation,
    },
  }
}
