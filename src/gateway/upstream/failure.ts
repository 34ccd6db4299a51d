import type { CanonicalError } from '../../canonical/error.ts'
import type { Usage } from '../../canonical/response.ts'
import { retryHint, writtenHint } from '../../kit/errors/retry-hint.ts'
import { isSpent } from '../../kit/errors/spent.ts'
import { kindOfStatus } from '../../kit/errors/status.ts'
import { isBottomless, isObject, parseJson, parseObject } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import { parseFrames } from '../../sse/parse.ts'
import type { TransportResponse } from '../../transports/transport.ts'
import { failureKind, GatewayError, isRetryableStatus, reject, rejectionOf } from '../error.ts'
import { keptHeaders } from '../headers.ts'
import type { Deployment } from './catalog.ts'
import { told } from './dialect.ts'
import { redactText } from './redact.ts'
import type { RefusedField } from './refused-field.ts'

/**
 * A failed attempt. `again`: where the request may be retried: nowhere, only at another channel, or
 * also at the same one. `waitMs`: how long the upstream asks to wait before that. `wasNotSent`: the
 * request did not reach the upstream. `refusedField`: a field of the request that the upstream does
 * not accept. `usage`: what the attempt has cost.
 */
export type Failure = {
  rejection: GatewayError
  again: 'never' | 'elsewhere' | 'here'
  waitMs?: number
  wasNotSent?: true
  refusedField?: RefusedField
  usage?: Usage
}

/**
 * Statuses that may concern one channel only: its key, its balance, its permissions, or a model
 * that it lacks.
 */
const concernsChannel = new Set([401, 402, 403, 404])

function retriedWhere(status: number, headers: TransportResponse['headers']): Failure['again'] {
  if (headers['x-should-retry'] === 'false') return 'never'
  if (isRetryableStatus(status)) return 'here'
  return concernsChannel.has(status) ? 'elsewhere' : 'never'
}

/**
 * A failed attempt: where the request may go on, by its error, and by the headers of an error
 * response. The quota of a channel is its own, and stays spent, whatever the status.
 */
export function failed(
  rejection: GatewayError,
  status = rejection.error.status,
  headers: TransportResponse['headers'] = {},
): Failure {
  const isOver = isSpent(rejection.error.kind) && headers['x-should-retry'] !== 'false'
  const again = isOver ? 'elsewhere' : retriedWhere(status, headers)
  // 0 is no request for a certain wait, so our own applies.
  const waitMs = retryHint(headers, Date.now() / 1000) ?? rejection.error.retryAfterMs
  return {
    rejection,
    again,
    ...(waitMs && { waitMs }),
  }
}

/**
 * An error response of an upstream → the same error in the caller's protocol; between equal
 * protocols byte for byte.
 */
export function failureOf(
  text: string,
  { status: given, headers }: TransportResponse,
  { from, to, channel }: { from: Protocol; to: Protocol; channel: Deployment['channel'] },
): Failure {
  // Statuses beyond 599 are invalid, and some hosts cannot send them.
  const status = given > 599 ? 502 : given
  const shown = redactText(text, channel)
  const deep = isBottomless(shown)
  const whole = deep ? undefined : parseJson(shown)
  const body = whole === undefined && !deep ? eventIn(shown) : whole
  const kept = keptHeaders(headers, channel.returnHeaders)
  const failure = (rejection: GatewayError) => failed(rejection, status, headers)
  if (status < 400)
    return failure(
      reject(
        502,
        'internal',
        `the upstream responded with a redirect (${status}): is its base address right?`,
      ),
    )
  if (/^\s*</.test(shown)) {
    const message = `the upstream responded with ${status} with a web page`
    const waitMs = retryHint(headers, Date.now() / 1000) || undefined
    const error = {
      status,
      kind: kindOfStatus(status),
      message,
      ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    }
    return failure(new GatewayError(error, { headers: kept, failure: 'upstream_status' }))
  }
  const { raw, ...decoded } = from.decodeError({
    status,
    headers,
    body: body ?? shown.slice(0, 500),
  }).value
  const waitMs = saysWhen(headers) ? undefined : writtenHint({ ...decoded, raw }, Date.now() / 1000)
  const hinted = waitMs === undefined ? decoded : { ...decoded, retryAfterMs: waitMs }
  // A body that is not JSON must not be returned as JSON.
  const read = body === undefined ? hinted : { ...hinted, raw }
  const { error, isOwn } = told(read, body, { from, to })
  const wire =
    isOwn && whole !== undefined
      ? { status, headers: { ...errorHeaders(error, from, waitMs), ...kept }, body: shown }
      : undefined
  const more = { headers: kept, failure: 'upstream_status', ...(wire && { wire }) } as const
  return failure(new GatewayError(error, more))
}

/**
 * The same failure, as a refusal of the request where its vendor says so with a status of 5xx.
 * `faults`: how such errors begin.
 */
export function asRefusal(failure: Failure, faults: readonly string[]): Failure {
  const { error, headers } = failure.rejection
  const { status, message } = error
  const isFault = failureKind(failure.rejection) === 'upstream_status'
  if (status < 500 || !isFault || !faults.some(fault => message.startsWith(fault))) return failure
  const refusal = { status: 400, kind: 'invalid_request', message } as const
  const more = { headers, failure: 'upstream_status' } as const
  return { rejection: new GatewayError(refusal, more), again: 'never' }
}

const saysWhen = (headers: TransportResponse['headers']): boolean =>
  headers['retry-after'] !== undefined || headers['retry-after-ms'] !== undefined

/**
 * The headers of an error of this protocol, one of which may name it. Its id is another one for the
 * client, and retry headers stay as they are. `waitMs`: the error says in its body alone when to
 * come back.
 */
function errorHeaders(
  { requestId: _id, retryAfterMs: _ms, ...error }: CanonicalError,
  protocol: Protocol,
  waitMs: number | undefined,
): Record<string, string> {
  const retryAfterMs = waitMs === undefined ? {} : { retryAfterMs: waitMs }
  return protocol.encodeError({ ...error, ...retryAfterMs }).wire.headers
}

/** Some servers send an HTTP error body as SSE. Returns the error of the last event. */
function eventIn(text: string): unknown {
  if (!/^data:/m.test(text)) return undefined
  return parseFrames(text)
    .flatMap(({ data }) => parseObject(data) ?? [])
    .at(-1)
}

/**
 * There was no response: no connection, or it was closed, or the transport of the application has a
 * fault.
 */
export function unreachable(error: unknown): GatewayError {
  const code = codeOf(error)
  if (code === undefined && isFault(error)) return rejectionOf(error, 'upstream')
  // Codes of decompression.
  const isDamaged = /^(Z_\w+_ERROR|ERR__ERROR_FORMAT)/.test(code ?? '')
  const what = isDamaged
    ? 'the response of the upstream is damaged'
    : 'the upstream could not be reached'
  const message = `${what}${code ? ` (${code})` : ''}`
  if (/TIMEOUT|ETIMEDOUT/.test(code ?? ''))
    return new GatewayError({ status: 504, kind: 'timeout', message }, { cause: error })
  return new GatewayError(
    { status: 502, kind: 'internal', message },
    { failure: 'upstream_network', cause: error },
  )
}

/**
 * An error in a program. `fetch` throws TypeErrors, too, when there is no connection: with a cause,
 * or with words of its own in some runtimes.
 */
function isFault(error: unknown): boolean {
  const isOfProgram = [TypeError, ReferenceError, RangeError, SyntaxError].some(
    kind => error instanceof kind,
  )
  return (
    isOfProgram &&
    error instanceof Error &&
    error.cause === undefined &&
    !/^(fetch|failed to fetch|load failed|network|error (sending|reading))/i.test(error.message)
  )
}

function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; isObject(at) && depth < 4; at = at['cause'], depth++)
    if (typeof at['code'] === 'string') return at['code']
  return undefined
}
