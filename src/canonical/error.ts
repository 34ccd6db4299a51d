import type { ExtMap } from './message.ts'

export type ErrorKind =
  | 'invalid_request'
  | 'authentication'
  | 'billing'
  | 'permission'
  | 'not_found'
  | 'conflict'
  | 'too_large'
  | 'unprocessable'
  | 'rate_limit'
  | 'quota'
  | 'cancelled'
  | 'internal'
  | 'unavailable'
  | 'overloaded'
  | 'timeout'
  | 'context_length'
  | 'content_policy'
  | 'unsupported'

/** What an upstream said went wrong. Data, not an exception. */
export type CanonicalError = {
  /** HTTP status. Inside a stream: the one that the same error has outside. */
  status: number
  kind: ErrorKind
  message: string
  /** The wire's own words, for the same protocol. */
  type?: string
  code?: string | null
  /** The field at fault, as people write it: `messages[1].content`. */
  param?: string | null
  requestId?: string
  retryAfterMs?: number
  details?: unknown
  /** Protocol it was said in. Absent when it was made here. */
  protocol?: string
  /** The body as it came, for the same protocol. */
  raw?: unknown
  /** Where it stood in the body or event, a JSON pointer. Absent: under `error`. Only notes read it. */
  at?: string
  ext?: ExtMap
}
