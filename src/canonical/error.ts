import type { ExtMap, Place } from './message.ts'

/** The kind of an error, the same for all protocols. */
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

/** An error that an upstream reported. Data, not an exception. */
export type CanonicalError = {
  /** HTTP status. For an error inside a stream: the status that it would have as a response. */
  status: number
  kind: ErrorKind
  message: string
  /** In the words of `protocol`, as `code` and `param`; written only for the same protocol. */
  type?: string
  code?: string | null
  /** The invalid field, e.g. `messages[1].content`. */
  param?: string | null
  requestId?: string
  retryAfterMs?: number
  details?: unknown
  /** The protocol it was read from. Absent: made here. */
  protocol?: string
  /** The original body; written only for the same protocol. */
  raw?: unknown
  /**
   * JSON pointer into the body or event it was read from; used for the paths of notes. Absent:
   * `/error`.
   */
  at?: Place
  ext?: ExtMap
}
