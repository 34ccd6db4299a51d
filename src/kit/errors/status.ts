import type { ErrorKind } from '../../canonical/error.ts'

/**
 * The HTTP status of each kind of error. Protocols whose own servers use another one override it.
 * Of several kinds with the same status, the first is what this status means where nothing else is
 * known.
 */
export const statusOfKind: Readonly<Record<ErrorKind, number>> = {
  invalid_request: 400,
  authentication: 401,
  billing: 402,
  permission: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  unprocessable: 422,
  rate_limit: 429,
  cancelled: 499,
  internal: 500,
  unavailable: 503,
  timeout: 504,
  context_length: 400,
  content_policy: 400,
  unsupported: 400,
  quota: 429,
  overloaded: 503,
}

const kinds = new Map<number, ErrorKind>(
  Object.entries(statusOfKind)
    .map(([kind, status]) => [status, kind as ErrorKind] as const)
    .reverse(),
)
// Statuses that only some servers use: request timeout, not implemented, and overloaded in the
// messages protocol.
kinds.set(408, 'timeout').set(501, 'unsupported').set(529, 'overloaded')

/**
 * What a status means where the body says nothing else. A status that is no failure (below 400) is
 * an internal error.
 */
export function kindOfStatus(status: number): ErrorKind {
  return kinds.get(status) ?? (status >= 400 && status < 500 ? 'invalid_request' : 'internal')
}
