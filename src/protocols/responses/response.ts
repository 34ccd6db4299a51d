import type { CanonicalError } from '../../canonical/error.ts'
import type { Message } from '../../canonical/message.ts'
import type { Candidate, CanonicalResponse, Finish } from '../../canonical/response.ts'
import { TranslationError } from '../../errors.ts'
import { check } from '../../kit/check.ts'
import { markCut } from '../../kit/cut-calls.ts'
import { defined } from '../../kit/defined.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { accepts } from '../../kit/guard.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { below } from '../../kit/path.ts'
import type { Decoded, Encoded, Outcome } from '../../protocol.ts'
import { clientCalls, expandedIn } from './client-tools.ts'
import { echoKeys } from './echo.ts'
import { callIdOf, fallbacks, itemIdOf, snapshot, startEnvelope } from './envelope.ts'
import { failureOf, noteFailure, readError, readFailure } from './error.ts'
import { decodeItems, encodeMessage } from './items.ts'
import type { ResponsesReport } from './notes.ts'
import type { Options } from './options.ts'
import { absentOf, keep, ownForm, protocolName, under, wasUnsaid } from './own.ts'
import { ResponsesResponse, ResponsesUsage } from './schema.ts'
import { decodeUsage, encodeUsage } from './usage.ts'
import { decodeFinish, encodeFinish } from './vocabulary.ts'
import { startWriting, type Writing } from './writing.ts'

/** @throws TranslationError `malformed` with the path, when the body is neither an answer nor an error */
export function decodeResponse(wire: unknown, options?: Options): Decoded<CanonicalResponse> {
  const { report } = startWriting('output', true, options)
  if (isErrorBody(wire)) return { value: { candidates: [], error: readError(wire), ...keep({}, {}, { errorBody: true }) }, notes: [] }
  const body = check(protocolName, ResponsesResponse, wire)
  if (body.output === undefined && body.status === undefined && !hasFailed(body))
    throw new TranslationError({ code: 'malformed', protocol: protocolName, path: '/output' }, 'expected the output of an answer')
  const messages = decodeItems(body.output ?? [], '/output', report, body.model ?? undefined)
  const value = {
    candidates: [decodeCandidate(body, messages)],
    ...decodeHead(body, report),
    ...(body.usage && { usage: decodeUsage(body.usage) }),
    ...(hasFailed(body) && { error: readFailure(body.error ?? {}) }),
  }
  return { value, notes: report.notes }
}

/** Usage and error of a reply, the same as from `decodeResponse`; nothing else is read. */
export function outcome(wire: unknown): Outcome {
  if (isErrorBody(wire)) return { error: readError(wire) }
  if (!isObject(wire)) return {}
  const { usage, error } = wire
  return { ...(accepts(ResponsesUsage, usage) && { usage: decodeUsage(usage) }), ...(hasFailed(wire) && { error: readFailure(error ?? {}) }) }
}

const isErrorBody = (wire: unknown) => isObject(wire) && wire['object'] !== 'response' && isError(wire)

/** The body has an error, but neither output nor status. */
const isError = ({ error, output, status }: JsonObject) => error != null && output == null && status == null

/** Some servers leave out the status of an answer that has only an error. */
const hasFailed = (body: JsonObject) => body['status'] === 'failed' || isError(body)

/** The fields of a snapshot outside its items, usage and ending. */
export function decodeHead(body: ResponsesResponse, report: ResponsesReport): Omit<CanonicalResponse, 'candidates'> {
  const {
    id,
    created_at: createdAt,
    completed_at: completedAt,
    model,
    service_tier: tier,
    status: _s,
    output: _o,
    error: _e,
    incomplete_details: _i,
    usage: _u,
    input_transformations: transformations,
    ...rest
  } = body
  const fields: JsonObject = {}
  const echo: JsonObject = {}
  for (const [key, value] of Object.entries(rest)) (echoKeys.has(key) ? echo : fields)[key] = value
  // The server's own, beside what it repeats of the request: xAI.
  const { metadata } = body
  if (isObject(metadata) && 'system_fingerprint' in metadata) fields['metadata'] = { system_fingerprint: metadata['system_fingerprint'] }
  const usual = ['id', 'created_at', 'model', 'status', 'output', 'error', 'incomplete_details', 'usage', 'completed_at', 'service_tier']
  // An error on an answer that did not fail is kept like an unknown key.
  const error = body.error != null && !hasFailed(body) ? body.error : undefined
  if (error !== undefined) fields['error'] = error
  if (body.incomplete_details != null && hasFailed(body)) fields['incomplete_details'] = body.incomplete_details
  const nothing: JsonObject = {}
  for (const key of usual) if (body[key] === null) nothing[key] = null
  if (areRemovals(transformations)) {
    for (const index of transformations.keys()) report.add('reasoning.dropped-upstream', below('/input_transformations', index))
    nothing['input_transformations'] = transformations
  } else if (transformations !== undefined) fields['input_transformations'] = transformations
  return defined({
    id: id || undefined,
    model: model ?? undefined,
    createdAt: createdAt ?? undefined,
    completedAt: completedAt ?? undefined,
    serviceTier: tier ?? undefined,
    ...keep(fields, nothing, { echo, error, ...absentOf(body, usual) }),
  })
}

/** A list that says only that reasoning of the request was removed. */
function areRemovals(value: unknown): value is JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every(entry => isObject(entry) && entry['type'] === 'reasoning' && entry['action'] === 'removed')
}

function decodeCandidate(body: ResponsesResponse, messages: Message[]): Candidate {
  const { status, incomplete_details: details } = body
  const finish = decodeFinish(status ?? (body.output ? 'completed' : undefined), details?.reason ?? undefined, awaitsClient(messages))
  return { index: 0, messages, ...(finish && { finish }), ...(!hasFailed(body) && endingForm(body)) }
}

/** The ending as it was on the wire, for what the canonical finish cannot hold, and the path of its reason. */
export function endingForm({ status: said, incomplete_details: details }: ResponsesResponse, status: unknown = said): Pick<Candidate, 'at' | 'ext'> {
  const { reason, ...rest } = details ?? {}
  const form = { ...(said != null && { status: said }), ...(details && { details }) }
  if (status === 'incomplete' && reason != null) return { at: '/incomplete_details', ...keep(rest, {}, form) }
  const unread = { ...(reason != null && { reason }), ...rest }
  return keep(under('incomplete_details', unread), {}, form)
}

/** Is there a call that only the client can answer, and that has no result yet? */
export function awaitsClient(messages: readonly Message[]): boolean {
  const parts = flatMap(messages, message => message.parts)
  const answered = new Set(
    flatMap(parts, part => (part.type === 'tool-result' ? [part.callId] : part.type === 'server-tool' && part.phase === 'result' ? [part.id] : [])),
  )
  return parts.some(part => (part.type === 'tool-call' || (part.type === 'server-tool' && part.awaitsClient === true)) && !answered.has(part.id))
}

/** @throws TranslationError `truncated` when the answer does not say how it ended */
export function encodeResponse(value: CanonicalResponse, options?: Options): Encoded<unknown> {
  const { candidates, usage, error, promptBlocked, completedAt, id, model, createdAt, serviceTier, ext, ...rest } = value
  const form = ownForm(value.ext)
  if (form?.['errorBody'] && error?.raw !== undefined) return { wire: error.raw, notes: [] }
  const writing = startWriting('output', form !== undefined, options)
  writing.expanded = expandedIn(options?.context?.request?.tools)
  const { report } = writing
  report.ext(ext, '')
  report.rest(rest, '')
  const envelope = startEnvelope(defined({ id, model, createdAt, serviceTier: serviceTier ?? usage?.serviceTier, ext }), fallbacks(options), report)
  if (completedAt !== undefined) envelope.completedAt = completedAt
  const used: string[] = []
  // Ids read from this protocol's items stay, even repeated ones, which some servers send: only readers of a stream would fail on those.
  writing.itemId = (wanted, prefix, own, native = envelope.native) => (own ? wanted : itemIdOf(wanted, prefix, { id: envelope.id, native }, used))
  const [candidate, ...others] = candidates.map(markCut).sort((a, b) => a.index - b.index)
  for (const { at } of others) report.add('candidates.first-only', at)
  if (candidate?.ext) report.ext(candidate.ext, candidate.at)
  if (candidate?.logprobs) report.add('field.unsupported', candidate.at, 'logprobs')
  const output = flatMap(candidate?.messages ?? [], message => encodeMessage(message, writing))
  if (!envelope.native) separateCalls(output, candidate, report)
  report.settle(output, '/output')
  const countsOf = (status: string) =>
    defined({ usage: encodeUsage(usage, status === 'failed' || envelope.native ? { rsMissingUsage: 'null' } : writing.options, report) })
  if (error) {
    const counts = countsOf('failed')
    noteFailure(error, true, report)
    const untold = wasUnsaid(form, 'error')
    return { wire: snapshot(envelope, { output, ...counts, status: 'failed', ...(!untold && { error: failureOrRaw(error) }) }), notes: report.notes }
  }
  const ending = encodeEnding(candidate, toldOf(candidate, { output, promptBlocked }), writing)
  if (!envelope.native && ending.status === 'incomplete') markLast(output)
  if (ending.refusal !== undefined) output.push(refusalItem(ending.refusal, writing))
  const failure =
    ending.status === 'failed' ? { error: { code: 'server_error', message: candidate?.finish?.message ?? 'the model did not finish its answer' } } : {}
  const wire = snapshot(envelope, {
    status: ending.status,
    output,
    ...countsOf(ending.status),
    ...failure,
    ...(ending.details !== undefined && { incomplete: ending.details }),
  })
  report.settle(wire)
  return { wire, notes: report.notes }
}

/** Gives calls with the id of an earlier call of the answer another id. */
function separateCalls(output: JsonObject[], candidate: Candidate | undefined, report: ResponsesReport): void {
  const used: string[] = []
  const calls = flatMap(candidate?.messages ?? [], ({ parts }) => parts.filter(({ type }) => type === 'tool-call'))
  for (const item of output)
    if (item['type'] === 'function_call' || item['type'] === 'custom_tool_call' || clientCalls.has(String(item['type'])))
      item['call_id'] = callIdOf(String(item['call_id']), used, calls.shift()?.at, report)
}

/** `response.error` of a failed answer; unchanged if it was read from this protocol. */
export function failureOrRaw(error: CanonicalError): unknown {
  const { raw } = error
  if (error.protocol !== protocolName || raw === undefined) return failureOf(error)
  const isEvent = isObject(raw) && (raw['error'] !== undefined || raw['type'] === 'error')
  return isEvent ? failureOf(error) : raw
}

/** What of an answer decides how its ending is read. */
type Told = {
  /** The prompt was refused. */
  blocked?: NonNullable<CanonicalResponse['promptBlocked']>
  /** There is a call. Without one, clients cannot tell `tool_calls` from `stop`: both are `completed`. */
  called: boolean
  /** There is a call without a result: clients read a completed answer with one as `tool_calls`. */
  waits: boolean
  /** The items, as written so far. */
  output: readonly JsonObject[]
}

/** The `refusal` part of a refusal that came without an explanation. */
const refusalText = 'The request was refused.'

const partsOf = ({ type, content }: JsonObject) => (type === 'message' && Array.isArray(content) ? content.filter(isObject) : [])
const hasText = (item: JsonObject) => partsOf(item).some(part => Boolean(part['text'] || part['refusal']))
const hasRefusal = (item: JsonObject) => partsOf(item).some(part => Boolean(part['refusal']))
const isWord = ({ type }: JsonObject) => type === 'output_text' || type === 'refusal'
const isEmpty = (item: JsonObject) => item['type'] === 'reasoning' || (item['type'] === 'message' && !hasText(item) && partsOf(item).every(isWord))

/** Is this ending a refusal? Clients ask again after `incomplete`, so a filter that let no output through is one, too. */
export const isRefusal = ({ reason }: Finish, output: readonly JsonObject[]): boolean =>
  reason === 'refusal' || (reason === 'content_filter' && output.every(isEmpty))

/** `refusal`: the text of a refusal part that has to be added, because the output has none. */
type EncodedEnding = { status: string; details?: unknown; refusal?: string }

/** `status` and `incomplete_details` of an answer. @throws TranslationError `truncated` */
export function encodeEnding(candidate: Candidate | undefined, { blocked, called, waits, output }: Told, writing: Writing): EncodedEnding {
  const { report, options } = writing
  const isMisread = candidate?.finish?.reason === 'tool_calls' ? !called : candidate?.finish?.reason === 'stop' && waits
  if (isMisread) report.add('finish.approximated', candidate?.at, 'finish.reason')
  const finish: Finish | undefined =
    candidate?.finish ?? (blocked && { reason: 'content_filter', message: blocked.message ?? `Prompt blocked: ${blocked.reason}` })
  const form = ownForm(candidate?.ext)
  if (form && (form['status'] !== undefined || form['details'] !== undefined)) {
    const details = isObject(form['details']) ? form['details'] : undefined
    const reason = typeof details?.['reason'] === 'string' ? details['reason'] : undefined
    const status = typeof form['status'] === 'string' ? form['status'] : undefined
    const meant = decodeFinish(status ?? 'completed', reason, finish?.reason === 'tool_calls')
    if (meant?.reason === finish?.reason) return { status: status ?? 'completed', ...(details && { details }) }
  }
  if (!finish) {
    if (options.truncated !== 'length')
      throw new TranslationError({ code: 'truncated', protocol: protocolName, path: '/status' }, 'the answer does not say how it ended')
    report.add('finish.truncated-as-length', candidate?.at, 'finish.reason')
    return { status: 'incomplete', details: { reason: 'max_output_tokens' } }
  }
  const isRefused = isRefusal(finish, output)
  const { status, reason, exact } = encodeFinish(isRefused ? { ...finish, reason: 'refusal' } : finish, options.strictEnums ?? false)
  if (blocked) report.add('finish.approximated', undefined, 'promptBlocked')
  if (!exact && candidate?.finish) report.add('finish.approximated', candidate.at, 'finish.reason')
  if (finish.sequence !== undefined) report.add('field.unsupported', candidate?.at, 'finish.sequence')
  if (finish.details !== undefined) report.add('field.unsupported', candidate?.at, 'finish.details')
  if (finish.category !== undefined && finish.details === undefined && exact) report.add('finish.approximated', candidate?.at, 'finish.reason')
  const isUnexplained = finish.reason === 'content_filter' && !output.some(hasText)
  const refusal = isRefused ? (output.some(hasRefusal) ? undefined : (finish.message ?? refusalText)) : isUnexplained ? finish.message : undefined
  // Only a refusal or a failure has a field for the message.
  const isSaid = refusal !== undefined || status === 'failed' || finish.details !== undefined || finish.protocol === protocolName
  if (!isSaid && finish.message !== undefined) report.add('field.unsupported', candidate?.at, 'finish.message')
  return { status, ...(reason !== undefined && { details: { reason } }), ...(refusal !== undefined && { refusal }) }
}

function toldOf(
  candidate: Candidate | undefined,
  { output, promptBlocked }: { output: JsonObject[]; promptBlocked: CanonicalResponse['promptBlocked'] },
): Told {
  const messages = candidate?.messages ?? []
  const parts = flatMap(messages, message => message.parts)
  return {
    output,
    ...(promptBlocked && { blocked: promptBlocked }),
    called: parts.some(({ type }) => type === 'tool-call' || type === 'server-tool'),
    waits: awaitsClient(messages),
  }
}

function refusalItem(refusal: string, writing: Writing): JsonObject {
  writing.report.add('refusal.synthesized', '/output')
  return { type: 'message', id: writing.itemId?.(undefined, 'msg_'), status: 'completed', role: 'assistant', content: [{ type: 'refusal', refusal }] }
}

/** Marks the item that the limit cut off: the last one. */
function markLast(output: JsonObject[]): void {
  const last = output.at(-1)
  if (last && typeof last['status'] === 'string') last['status'] = 'incomplete'
}
