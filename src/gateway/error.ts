import type { CanonicalError, ErrorKind } from '../canonical/error.ts'
import type { Note } from '../canonical/note.ts'
import { TranslationError } from '../errors.ts'
import { endedEarly } from '../kit/errors/failed-response.ts'
import { isSpent } from '../kit/errors/spent.ts'
import { dotted } from '../kit/notes/path.ts'
import type { Protocol, WireError } from '../protocol.ts'
import type { Signal } from '../transports/abort-controller.ts'

/**
 * Whose fault a failure is: the client's or its request's; an error status of the upstream; no
 * connection to it, or a broken one; a time limit of the channel; a response of it that cannot be
 * used; or a fault of the gateway and its hooks.
 */
export type FailureKind =
  | 'client'
  | 'upstream_status'
  | 'upstream_network'
  | 'upstream_timeout'
  | 'upstream_invalid'
  | 'gateway'

/** Official SDKs do not retry a response with this header. */
const noRetry = { 'x-should-retry': 'false' }

/** An exchange that ends with an error. `wireOf` writes it in the caller's protocol. */
export class GatewayError extends Error {
  readonly error: CanonicalError
  readonly headers: Record<string, string>
  /** The upstream's response, if it is in the caller's protocol already. */
  readonly wire: { status: number; headers: Record<string, string>; body: string } | undefined
  /** The notes, if the request was refused because of what would be lost. */
  readonly notes: readonly Note[]
  /** What failed, if status and protocol of the error do not show it. */
  readonly failure: FailureKind | undefined

  constructor(
    error: CanonicalError,
    {
      headers = {},
      wire,
      notes = [],
      failure,
      cause,
    }: Partial<Pick<GatewayError, 'headers' | 'wire' | 'notes' | 'failure' | 'cause'>> = {},
  ) {
    super(error.message, { cause })
    this.error = error
    // A quota that is spent stays so for longer than a client should wait: without this header,
    // some retry for minutes.
    this.headers = isSpent(error.kind) ? { ...headers, ...noRetry } : headers
    this.wire = wire
    this.notes = notes
    this.failure = failure
  }
}

/**
 * What failed. An error of our own that is not the client's is about the response of the upstream,
 * or a fault of the gateway.
 */
export function failureKind({ failure, error: { protocol, status } }: GatewayError): FailureKind {
  if (failure) return failure
  if (protocol !== undefined) return 'upstream_status'
  if (status < 500) return 'client'
  if (status === 504) return 'upstream_timeout'
  return status === 502 ? 'upstream_invalid' : 'gateway'
}

/**
 * An error to throw in `onRequest`, `onResponse` or `onStream`: the client gets it with this
 * status, in its own protocol.
 * @example
 * import { fetchGateway, reject } from 'wireglot/fetch'
 *
 * const gateway = fetchGateway(
 *   { auth: 'none', channels: [{ name: 'demo', embedded: 'demo' }] },
 *   {
 *     onRequest() {
 *       throw reject(403, 'permission', 'closed on Sundays')
 *     },
 *   },
 * )
 * const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: 'demo', messages: [] }) }
 * console.log((await gateway('http://localhost/v1/chat/completions', init)).status) // 403
 */
export function reject(
  status: number,
  kind: ErrorKind,
  message: string,
  more: Partial<CanonicalError> = {},
): GatewayError {
  return new GatewayError({ status, kind, message, ...more })
}

/** A hook on bodies or streams threw something else than `reject(…)`. */
export function hookFailed(name: string, cause: unknown): GatewayError {
  return new GatewayError(
    { status: 500, kind: 'internal', message: `the hook ${name} failed` },
    { cause, failure: 'gateway' },
  )
}

export function unknownModel(model: string): GatewayError {
  return reject(
    404,
    'not_found',
    `there is no model '${model.slice(0, 200)}' here; GET /v1/models lists the models`,
    { param: 'model' },
  )
}

/** No model here has the requested name. An upstream's own error of this kind has a protocol. */
export const isUnknownModel = (thrown: unknown): boolean =>
  thrown instanceof GatewayError &&
  thrown.error.status === 404 &&
  thrown.error.param === 'model' &&
  thrown.error.protocol === undefined

/** `retryAfterMs`: until the channel takes requests again. */
export function channelAtLimit(retryAfterMs: number): GatewayError {
  return reject(429, 'rate_limit', 'the upstream channel is at its limit of requests per minute', {
    retryAfterMs,
  })
}

/**
 * The queue of a key or a channel is full, or the wait in it was too long. `whose`: the name of the
 * limit.
 */
export function tooManyAtOnce(status: 429 | 503, whose: string): GatewayError {
  const message = `too many requests at the same time for this ${whose}, and no place in its queue in time`
  return reject(status, status === 429 ? 'rate_limit' : 'unavailable', message, {
    retryAfterMs: 1_000,
  })
}

/** The upstream has ended its stream properly for HTTP, but not for its protocol. */
export function streamEndedEarly(): GatewayError {
  return reject(endedEarly.status, endedEarly.kind, endedEarly.message)
}

/** The connection broke in the middle of the upstream's response. */
export function brokenOff(cause: unknown): GatewayError {
  return new GatewayError(
    { status: 502, kind: 'internal', message: 'the upstream broke the connection' },
    { failure: 'upstream_network', cause },
  )
}

/** The client has disconnected. The error is only recorded. */
export function clientLeft(): GatewayError {
  return reject(499, 'cancelled', 'the client closed the connection')
}

/** The gateway is shutting down; another process may be up soon. */
export function shuttingDown(): GatewayError {
  return new GatewayError(
    {
      status: 503,
      kind: 'unavailable',
      message: 'the gateway is shutting down',
      retryAfterMs: 1000,
    },
    { headers: { connection: 'close' } },
  )
}

/** Why an exchange was aborted: by default, because its client has disconnected. */
export function reasonOf({ reason }: Signal): GatewayError {
  return reason instanceof GatewayError ? reason : clientLeft()
}

/**
 * An error inside a stream or response of an upstream, as an HTTP error. Without its raw event,
 * which is no error body.
 */
export function failedStream(
  { raw: _, ...error }: CanonicalError,
  notes: readonly Note[] = [],
): GatewayError {
  const failed = { ...error, status: error.status >= 400 ? error.status : 502 }
  return error.protocol === undefined && error.kind === 'unsupported'
    ? refusedByStrict(failed, { notes })
    : new GatewayError(failed)
}

/**
 * An upstream that refuses the gateway's own key is a fault of the gateway: with its 401 clients
 * would ask their users to log in again, whose key is fine. No retry helps.
 */
export function forClient(rejection: GatewayError): GatewayError {
  const { error, headers } = rejection
  const isOfKey = error.status === 401 || (error.status === 403 && error.kind === 'authentication')
  if (!isOfKey || failureKind(rejection) !== 'upstream_status') return rejection
  const message = `the upstream refuses the key of the gateway: ${error.message}`
  return new GatewayError(
    { status: 502, kind: 'internal', message },
    { headers: { ...headers, ...noRetry }, failure: 'upstream_status' },
  )
}

/** Is it worth sending a request again that failed with this status? */
export const isRetryableStatus = (status: number) =>
  status === 408 || status === 429 || status >= 500

export const mayRetry = ({ error, headers }: GatewayError) =>
  isRetryableStatus(error.status) && headers['x-should-retry'] !== 'false'

/** A retry would be refused by `strict` as well, so `x-should-retry` is false. */
function refusedByStrict(
  error: CanonicalError,
  more: { notes?: readonly Note[]; cause?: unknown },
): GatewayError {
  return new GatewayError(error, { ...more, headers: noRetry })
}

/**
 * Anything thrown → the Refusal for the client. `side`: whose body a `TranslationError` is about.
 * Unexpected errors become an internal error without details, which only the log gets.
 */
export function rejectionOf(thrown: unknown, side: 'request' | 'upstream'): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  if (!TranslationError.is(thrown))
    return new GatewayError(
      { status: 500, kind: 'internal', message: 'internal error of the gateway' },
      { cause: thrown },
    )
  const { code, message, path, reason, notes } = thrown
  const noted = notes && { notes }
  const more = { cause: thrown, ...noted }
  if (side === 'upstream') {
    const error = {
      status: 502,
      kind: 'internal',
      message: `the upstream's response cannot be used: ${message}`,
    } as const
    return code === 'inexpressible'
      ? refusedByStrict({ ...error, kind: 'unsupported' }, more)
      : new GatewayError(error, { cause: thrown })
  }
  const details = reason === undefined ? noted : { error_code: reason }
  return new GatewayError(
    {
      status: 400,
      kind: code === 'inexpressible' ? 'unsupported' : 'invalid_request',
      message,
      ...(path && { param: dotted(path) }),
      ...(reason !== undefined && { code: reason }),
      ...(details && { details }),
    },
    more,
  )
}

/** The error in the caller's protocol. */
export function wireOf({ error }: GatewayError, protocol: Protocol, requestId: string): WireError {
  try {
    return protocol.encodeError({ ...error, requestId }).wire
  } catch {
    return { status: error.status, headers: {}, body: { error: { message: error.message } } }
  }
}
