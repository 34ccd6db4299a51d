import { isObject } from '../kit/json/json.ts'
import type { Note } from '../notes.ts'
import type { Protocol } from '../protocol.ts'
import { failureKind, type GatewayError } from './error.ts'
import type { UsageRecord } from './hooks.ts'
import type { Service, Trace } from './request-context.ts'
import { useByModel, useOf } from './use.ts'

/** How an exchange ended. `protocol`: of the caller. `isCall`: of an endpoint of this protocol. */
type Ending = {
  protocol: Protocol
  isCall: boolean
  status: number
  failure: GatewayError | undefined
}

/** Reports a finished exchange to the log, the telemetry and the hooks. */
export function report({ hooks, log, attempt }: Service, trace: Trace, ending: Ending): void {
  const { candidate, notes, request, requestId, requestedModel, observed } = trace
  const { protocol, failure } = ending
  const isKnown = requestedModel !== undefined
  // A record that nobody gets is not made: it costs as much as a hundredth of a small request.
  const record =
    hooks.logger || (isKnown && (hooks.onUsage || trace.tape || observed.isRecording()))
      ? recordOf(trace, ending)
      : undefined
  if (isKnown && record) observed.end(record)
  trace.tape?.({ type: 'end', notes: [...notes], ...(isKnown && record && { record }) })
  if (failure && failure.error.status >= 500) {
    const error = discreet(failure.cause) ?? wordsOf(failure)
    log(
      'error',
      { requestId, ...(candidate && { channel: candidate.channel.name }), error },
      wordsOf(failure),
    )
  }
  const { method, path } = request
  // Records lack the words of an error that may repeat the request. The log has them, without those
  // of upstreams: a client with a wrong setting is found by nothing else.
  if (record)
    log(
      'info',
      { ...record, method, path, ...(failure && { errorMessage: wordsOf(failure) }) },
      'exchange',
    )
  if (!isKnown) return
  if (record && hooks.onUsage) void attempt('onUsage', () => hooks.onUsage?.(record, request))
  if (notes.length > 0 && candidate)
    void attempt('onNotes', () =>
      hooks.onNotes?.(
        notes as Note[],
        {
          requestId,
          model: requestedModel,
          channel: candidate.channel.name,
          from: protocol.name,
          to: candidate.protocol.name,
        },
        request,
      ),
    )
}

/**
 * The record for the log. Without the upstream's own error message, which may repeat the
 * conversation.
 */
export function wordsOf(failure: GatewayError): string {
  const { status, kind } = failure.error
  return isOfUpstream(failure) ? `the upstream failed: ${status} ${kind}` : failure.message
}

/** Has the upstream written the message? */
const isOfUpstream = ({ failure, error: { protocol } }: GatewayError) =>
  protocol !== undefined || failure === 'upstream_status'

/** A refusal of a request may repeat a part of it. */
const isDiscreet = (failure: GatewayError) =>
  isOfUpstream(failure) || failure.error.status >= 500 || publicStatuses.has(failure.error.status)

const publicStatuses: ReadonlySet<number> = new Set([404, 429])

/**
 * An error without the data that was received: undici attaches data that is not HTTP, which may be
 * the response itself.
 */
function discreet(error: unknown): unknown {
  for (let at = error, depth = 0; isObject(at) && depth < 4; at = at['cause'], depth++)
    if (at['data'] !== undefined) Reflect.set(at, 'data', undefined)
  return error
}

function recordOf(trace: Trace, ending: Ending): UsageRecord {
  const {
    requestId,
    started,
    identity,
    stream,
    requestedModel,
    passed,
    candidate,
    attempts,
    firstByte,
    notes,
    upstreamRequestId,
    cachePrefix,
  } = trace
  const { protocol, isCall, status, failure } = ending
  const usage = useOf(trace, failure)
  const usageByModel = useByModel(trace, failure)
  const emulated = notes.filter(({ kind }) => kind === 'emulated').length
  return {
    time: new Date(started).toISOString(),
    requestId,
    protocolIn: isCall ? protocol.name : 'none',
    stream,
    status,
    totalMs: Date.now() - started,
    attempts,
    notes: notes.length,
    ...(identity?.name !== undefined && { key: identity.name }),
    ...(identity?.id !== undefined && { keyId: identity.id }),
    ...(identity?.group !== undefined && { group: identity.group }),
    ...(requestedModel !== undefined && { requestedModel }),
    ...(passed !== undefined && { path: passed }),
    ...(candidate && {
      modelServed: candidate.model,
      channel: candidate.channel.name,
      protocolOut: candidate.protocol.name,
      ...(candidate.channel.vendor && {
        provider: candidate.channel.vendor.telemetryName ?? candidate.channel.vendor.name,
      }),
    }),
    ...(usage && { usage: onlyCounts(usage) }),
    ...(usageByModel && { usageByModel: withoutOthers(usageByModel) }),
    ...(cachePrefix && { cachePrefix }),
    ...(failure && {
      failure: failureKind(failure),
      error: failure.error.kind,
      ...(isDiscreet(failure) && { errorMessage: wordsOf(failure) }),
    }),
    ...(upstreamRequestId !== undefined && { upstreamRequestId }),
    ...(firstByte !== undefined && { firstByteMs: firstByte - started }),
    ...(notes.length > 0 && { noteCodes: [...new Set(notes.map(({ code }) => code))] }),
    ...(emulated > 0 && { emulated }),
  }
}

const withoutOthers = (all: Record<string, Used>): Record<string, Used> =>
  Object.fromEntries(Object.entries(all).map(([model, { ext: _, ...used }]) => [model, used]))

type Used = NonNullable<UsageRecord['usage']>

/**
 * The unknown fields of usage that are numbers, such as the cost. Others may contain any text, and
 * are left out.
 */
function onlyCounts({ ext, ...counts }: Used): Used {
  const numbers = Object.entries(ext ?? {}).flatMap(([protocol, { fields = {} }]) => {
    const counted = Object.entries(fields).filter(
      ([key, value]) => typeof value === 'number' && /^\w{1,40}$/.test(key),
    )
    return counted.length > 0 ? [[protocol, { fields: Object.fromEntries(counted) }] as const] : []
  })
  return numbers.length > 0 ? { ...counts, ext: Object.fromEntries(numbers) } : counts
}
