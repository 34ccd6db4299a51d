import type { Message, Part, RefusalPart } from '../../../canonical/message.ts'
import type { Candidate, CanonicalResponse, Finish } from '../../../canonical/response.ts'
import { TranslationError } from '../../../errors.ts'
import { keysOf } from '../../../kit/fields/keys.ts'
import {
  omitNullish,
  omitNullishOrNone,
  omitUndefined,
  omitUndefinedOrNone,
} from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, setOwn } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { check } from '../../../kit/schema/check.ts'
import { accepts } from '../../../kit/schema/guard.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { startNames } from '../../../kit/text/free-names.ts'
import { markCut } from '../../../kit/tools/cut-calls.ts'
import type { Decoded, Encoded, Outcome } from '../../../protocol.ts'
import { clientCalls, expandedIn } from '../content/client-tools.ts'
import { encodeWords } from '../content/content.ts'
import { decodeItems, encodeMessage } from '../content/items.ts'
import { startWriting, type Writing } from '../content/writing.ts'
import { failureOf, noteFailure, readError, readFailure } from '../errors.ts'
import type { Options } from '../options.ts'
import { fieldsOf, keep, protocolName, type ResponsesReport } from '../own.ts'
import { ResponsesResponse, ResponsesUsage } from '../schema.ts'
import { decodeUsage, encodeUsage } from '../usage.ts'
import { decodeFinish, encodeFinish } from '../vocabulary.ts'
import type { ResponsesWrittenItem, ResponsesWrittenResponse } from '../written.ts'
import {
  callIdOf,
  echoKeys,
  fallbacks,
  itemIdOf,
  snapshot,
  startEnvelope,
  startIds,
  useId,
} from './envelope.ts'

/**
 * @throws TranslationError `malformed` with the path, when the body is neither a response nor an
 * error
 */
export function decodeResponse(wire: unknown, options?: Options): Decoded<CanonicalResponse> {
  const { report } = startWriting('output', true, options)
  if (isErrorBody(wire)) return { value: { candidates: [], error: readError(wire) }, notes: [] }
  const body = check(protocolName, ResponsesResponse, wire)
  if (body.output === undefined && body.status === undefined && !hasFailed(body))
    throw new TranslationError(
      { code: 'malformed', protocol: protocolName, path: '/output' },
      'expected the output of a response',
    )
  const messages = decodeItems(body.output ?? [], '/output', report, body.model ?? undefined)
  const value = {
    candidates: [decodeCandidate(body, messages)],
    ...decodeHead(body, report),
    ...(body.usage && { usage: decodeUsage(body.usage) }),
    ...(hasFailed(body) && { error: readFailure(body.error ?? {}) }),
  }
  return { value, notes: report.notes }
}

/** Usage and error of a response, the same as from `decodeResponse`; nothing else is read. */
export function outcome(wire: unknown): Outcome {
  if (isErrorBody(wire)) return { error: readError(wire) }
  if (!isObject(wire)) return {}
  const { usage, error } = wire
  return {
    ...(accepts(ResponsesUsage, usage) && { usage: decodeUsage(usage) }),
    ...(hasFailed(wire) && { error: readFailure(error ?? {}) }),
  }
}

const isErrorBody = (wire: unknown) =>
  isObject(wire) && wire['object'] !== 'response' && isError(wire)

/** The body has an error, but neither output nor status. */
const isError = ({ error, output, status }: JsonObject) =>
  error != null && output == null && status == null

/** Some servers leave out the status of a response that has only an error. */
const hasFailed = (body: JsonObject) => body['status'] === 'failed' || isError(body)

const known = keysOf<ResponsesResponse & { input_transformations?: unknown }>()(
  'id object created_at completed_at status model output error incomplete_details usage',
  'service_tier input_transformations',
)

/** The fields of a snapshot outside its items, usage and ending. */
export function decodeHead(
  body: ResponsesResponse,
  report: ResponsesReport,
): Omit<CanonicalResponse, 'candidates'> {
  const { input_transformations: transformations, metadata } = body
  const fields: JsonObject = {}
  const echo: JsonObject = {}
  for (const key in body)
    if (!known[key] && body[key] !== null) setOwn(echoKeys.has(key) ? echo : fields, key, body[key])
  // Fields that the server adds to those it repeats from the request: xAI.
  if (isObject(metadata) && metadata['system_fingerprint'] != null)
    fields['metadata'] = { system_fingerprint: metadata['system_fingerprint'] }
  // An error on a response that did not fail, and the reason why a failed one is incomplete, are
  // kept like unknown keys.
  if (body.error != null && !hasFailed(body)) fields['error'] = body.error
  if (body.incomplete_details != null && hasFailed(body))
    fields['incomplete_details'] = body.incomplete_details
  const isRemoval = areRemovals(transformations)
  if (isRemoval)
    for (const index of transformations.keys())
      report.add('reasoning.dropped-upstream', below('/input_transformations', index))
  else if (transformations != null) fields['input_transformations'] = transformations
  const head: Omit<CanonicalResponse, 'candidates'> = omitNullish({
    id: body.id || undefined,
    model: body.model,
    createdAt: body.created_at,
    completedAt: body.completed_at,
    serviceTier: body.service_tier,
    transformations: isRemoval ? transformations : undefined,
    echo: omitUndefinedOrNone(echo),
  })
  return keep(head, omitUndefinedOrNone(fields))
}

/** A list that says only that reasoning of the request was removed. */
function areRemovals(value: unknown): value is JsonObject[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      entry => isObject(entry) && entry['type'] === 'reasoning' && entry['action'] === 'removed',
    )
  )
}

function decodeCandidate(body: ResponsesResponse, messages: Message[]): Candidate {
  const { status, incomplete_details: details } = body
  const finish = decodeFinish(
    status ?? (body.output ? 'completed' : undefined),
    details?.reason ?? undefined,
    awaitsClient(messages),
  )
  const candidate: Candidate = { index: 0, messages }
  if (finish) candidate.finish = finish
  return hasFailed(body) ? candidate : readEnding(candidate, body)
}

/**
 * Adds to an ending what the canonical finish does not hold, and the path of its reason. The status
 * is kept of a response that has not ended.
 */
export function readEnding<T extends Pick<Candidate, 'at' | 'ext' | 'finish'>>(
  ending: T,
  { status, incomplete_details: details }: ResponsesResponse,
): T {
  const { reason, ...rest } = details ?? {}
  if (reason == null || ending.finish?.raw !== reason)
    return keep(
      ending,
      omitNullishOrNone({
        status: ending.finish ? undefined : status,
        incomplete_details: omitNullishOrNone({ reason, ...rest }),
      }),
    )
  ending.at = '/incomplete_details'
  return keep(ending, omitNullishOrNone(rest))
}

/** Is there a call that needs a result of the client and has none yet? */
export function awaitsClient(messages: readonly Message[]): boolean {
  const parts = flatMap(messages, message => message.parts)
  const withResult = new Set(
    flatMap(parts, part => {
      if (part.type === 'tool-result') return [part.callId]
      // Those of other providers are not written.
      const isOwn = part.type === 'server-tool' && part.protocol === protocolName
      return isOwn && part.phase === 'result' ? [part.id] : []
    }),
  )
  return parts.some(
    part =>
      (part.type === 'tool-call' || (part.type === 'server-tool' && part.awaitsClient === true)) &&
      !withResult.has(part.id),
  )
}

const handled = keysOf<CanonicalResponse>()(
  'id model createdAt completedAt candidates usage promptBlocked serviceTier transformations',
  'echo error ext source',
)

/** @throws TranslationError `truncated` when the response has no finish reason */
export function encodeResponse(
  value: CanonicalResponse,
  options?: Options,
): Encoded<ResponsesWrittenResponse> {
  const { candidates, usage, error, promptBlocked, completedAt, ext } = value
  const native = value.source?.protocol === protocolName
  const writing = startWriting('output', native, options)
  writing.expanded = expandedIn(options?.context?.request?.tools)
  const { report } = writing
  report.ext(ext, '')
  report.unwritten(value, handled, '')
  const envelope = startEnvelope(value, fallbacks(options), report)
  if (completedAt !== undefined) envelope.completedAt = completedAt
  const used = startIds()
  // Ids of this protocol's items stay, even repeated ones, which some servers send: only readers of
  // a stream would fail on those.
  writing.itemId = (wanted, prefix, own = native) => {
    if (!native || !wanted) return itemIdOf(wanted, prefix, { id: envelope.id, native: own }, used)
    return useId(used, wanted)
  }
  const [candidate, ...others] = candidates.map(markCut).sort((a, b) => a.index - b.index)
  for (const { at } of others) report.add('candidates.first-only', at)
  if (candidate?.ext) report.ext(candidate.ext, candidate.at)
  if (candidate?.logprobs) report.add('field.unsupported', candidate.at, 'logprobs')
  const output = flatMap(candidate?.messages ?? [], message => encodeMessage(message, writing))
  if (!native) separateCalls(output, candidate, report)
  report.resolvePending(output, '/output')
  const countsOf = (status: string) =>
    omitUndefined({
      usage: encodeUsage(usage, { mayLack: status === 'failed' || native }, report),
    })
  if (error) {
    const counts = countsOf('failed')
    noteFailure(error, true, report)
    return {
      wire: snapshot(envelope, { output, ...counts, status: 'failed', error: failureOf(error) }),
      notes: report.notes,
    }
  }
  const ending = encodeEnding(
    candidate,
    outputTextOf(candidate, { output, promptBlocked }),
    writing,
  )
  if (!native && ending.status === 'incomplete') markLast(output)
  if (ending.refusal !== undefined) output.push(refusalItem(ending.refusal, writing))
  const failure =
    ending.status === 'failed'
      ? {
          error: {
            code: 'server_error',
            message: candidate?.finish?.message ?? 'the model did not finish its response',
          },
        }
      : {}
  const wire = snapshot(envelope, {
    status: ending.status,
    output,
    ...countsOf(ending.status),
    ...failure,
    ...(ending.details !== undefined && { incomplete: ending.details }),
  })
  report.resolvePending(wire)
  return { wire, notes: report.notes }
}

/** Gives calls with the id of an earlier call of the response another id. */
function separateCalls(
  output: ResponsesWrittenItem[],
  candidate: Candidate | undefined,
  report: ResponsesReport,
): void {
  const used = startNames()
  const calls = flatMap(candidate?.messages ?? [], ({ parts }) =>
    parts.filter(part => part.type === 'tool-call'),
  )
  let nth = 0
  for (const item of output)
    if (
      'call_id' in item &&
      (item.type === 'function_call' ||
        item.type === 'custom_tool_call' ||
        clientCalls.has(item.type))
    )
      item.call_id = callIdOf(String(item.call_id), used, calls[nth++], report)
}

/** What of a response decides how its ending is read. */
type EndingContext = {
  /** The prompt was refused. */
  blocked?: NonNullable<CanonicalResponse['promptBlocked']>
  /**
   * There is a call. Without one, clients cannot distinguish `tool_calls` from `stop`: both are
   * `completed`.
   */
  called: boolean
  /**
   * There is a call without a result: clients read a completed response with one as `tool_calls`.
   */
  waits: boolean
  /** The items, as written so far. */
  output: readonly JsonObject[]
}

/** The `refusal` part of a refusal that came without an explanation. */
const refusalText = 'The request was refused.'

const partsOf = ({ type, content }: JsonObject) =>
  type === 'message' && Array.isArray(content) ? content.filter(isObject) : []
/** Do clients read this part as a call? Tools that another provider ran are left out. */
export const isCall = (part: Part): boolean =>
  part.type === 'tool-call' || (part.type === 'server-tool' && part.protocol === protocolName)

const hasText = (item: JsonObject) =>
  partsOf(item).some(part => Boolean(part['text'] || part['refusal']))
const hasRefusal = (item: JsonObject) => partsOf(item).some(part => Boolean(part['refusal']))
const isWord = ({ type }: JsonObject) => type === 'output_text' || type === 'refusal'
const isEmpty = (item: JsonObject) =>
  item['type'] === 'reasoning' ||
  (item['type'] === 'message' && !hasText(item) && partsOf(item).every(isWord))

/**
 * Is this ending a refusal? Clients ask again after `incomplete`, so a filter of another provider
 * that let no output through is one, too.
 */
export const isRefusal = ({ reason, protocol }: Finish, output: readonly JsonObject[]): boolean =>
  reason === 'refusal' ||
  (reason === 'content_filter' && protocol !== protocolName && output.every(isEmpty))

/** `refusal`: the text of a refusal part that has to be added, because the output has none. */
type EncodedEnding = { status: string; details?: unknown; refusal?: string }

/** `status` and `incomplete_details` of a response. @throws TranslationError `truncated` */
export function encodeEnding(
  candidate: Candidate | undefined,
  context: EndingContext,
  { report, options }: Writing,
): EncodedEnding {
  const { blocked } = context
  noteMisread(candidate, context, report)
  const finish: Finish | undefined =
    candidate?.finish ??
    (blocked && {
      reason: 'content_filter',
      message: blocked.message ?? `Prompt blocked: ${blocked.reason}`,
    })
  const fields = fieldsOf(candidate?.ext) ?? {}
  const unread = candidate?.at === undefined ? fields['incomplete_details'] : fields
  // The response has not ended.
  if (!finish && typeof fields['status'] === 'string')
    return { status: fields['status'], ...omitUndefined({ details: unread }) }
  // An ending of this protocol in a word that no other has.
  if (
    finish?.reason === 'other' &&
    finish.protocol === protocolName &&
    finish.raw !== undefined &&
    candidate?.at === undefined
  )
    return { status: finish.raw, ...omitUndefined({ details: unread }) }
  if (!finish) {
    if (options.truncated !== 'length')
      throw new TranslationError(
        { code: 'truncated', protocol: protocolName, path: '/status' },
        'the response has no finish reason',
      )
    report.add('finish.truncated-as-length', candidate?.at, 'finish.reason')
    return { status: 'incomplete', details: { reason: 'max_output_tokens' } }
  }
  noteBlocked(blocked, report)
  const isRefused = isRefusal(finish, context.output)
  const { status, reason, exact } = encodeFinish(
    isRefused ? { ...finish, reason: 'refusal' } : finish,
  )
  const refusal = refusalOf(finish, isRefused, context.output)
  noteUnwritten(
    finish,
    candidate,
    { isExact: exact, hasMessage: refusal !== undefined || status === 'failed' },
    report,
  )
  const details = omitUndefinedOrNone({ reason, ...(isObject(unread) && unread) })
  return { status, ...omitUndefined({ details, refusal }) }
}

/** Clients distinguish `tool_calls` from `stop` by whether a call waits for its result. */
function noteMisread(
  candidate: Candidate | undefined,
  { called, waits }: EndingContext,
  report: ResponsesReport,
): void {
  const reason = candidate?.finish?.reason
  const isMisread = reason === 'tool_calls' ? !called : reason === 'stop' && waits
  if (isMisread) report.add('finish.approximated', candidate?.at, 'finish.reason')
}

/** The text of a refusal part that has to be added. */
function refusalOf(
  { reason, message }: Finish,
  isRefused: boolean,
  output: EndingContext['output'],
): string | undefined {
  if (isRefused) return output.some(hasRefusal) ? undefined : (message ?? refusalText)
  return reason === 'content_filter' && !output.some(hasText) ? message : undefined
}

/**
 * What of a finish its status and reason do not hold. `hasMessage`: a refusal or a failure has its
 * message.
 */
function noteUnwritten(
  { approximate, sequence, details, category, message, protocol }: Finish,
  candidate: Candidate | undefined,
  { isExact, hasMessage }: { isExact: boolean; hasMessage: boolean },
  report: ResponsesReport,
): void {
  if ((!isExact || (approximate && protocol !== protocolName)) && candidate?.finish)
    report.add('finish.approximated', candidate.at, 'finish.reason')
  if (sequence !== undefined) report.add('field.unsupported', candidate?.at, 'finish.sequence')
  if (details !== undefined) report.add('field.unsupported', candidate?.at, 'finish.details')
  if (category !== undefined && details === undefined && isExact)
    report.add('finish.approximated', candidate?.at, 'finish.reason')
  const hasOutput = hasMessage || details !== undefined || protocol === protocolName
  if (!hasOutput && message !== undefined)
    report.add('field.unsupported', candidate?.at, 'finish.message')
}

function outputTextOf(
  candidate: Candidate | undefined,
  {
    output,
    promptBlocked,
  }: { output: ResponsesWrittenItem[]; promptBlocked: CanonicalResponse['promptBlocked'] },
): EndingContext {
  const messages = candidate?.messages ?? []
  const parts = flatMap(messages, message => message.parts)
  return {
    output,
    ...(promptBlocked && { blocked: promptBlocked }),
    called: parts.some(isCall),
    waits: awaitsClient(messages),
  }
}

/** Notes a blocked prompt of a response that also has an ending. */
export function noteBlocked(blocked: EndingContext['blocked'], report: ResponsesReport): void {
  if (blocked) report.add('finish.approximated', undefined, 'promptBlocked')
}

/** The refusal of a response whose output has none. */
export function makeRefusal(text: string, report: ResponsesReport): RefusalPart {
  report.add('refusal.synthesized', '/output')
  return { type: 'refusal', text }
}

function refusalItem(text: string, writing: Writing): ResponsesWrittenItem {
  return {
    type: 'message',
    id: writing.itemId?.(undefined, 'msg_'),
    status: 'completed',
    role: 'assistant',
    content: [encodeWords(makeRefusal(text, writing.report), 'assistant', writing)],
  }
}

/** Marks the item that the limit cut off: the last one. */
function markLast(output: ResponsesWrittenItem[]): void {
  const last = output.at(-1)
  if (last && typeof last.status === 'string') last.status = 'incomplete'
}
