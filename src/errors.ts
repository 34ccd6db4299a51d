import type { Note } from './canonical/note.ts'

/**
 * malformed: the input is not what its protocol says · inexpressible: the target cannot say it and a note is not enough ·
 * out-of-order: a stream broke its grammar · truncated: a source stopped before its end.
 */
export type ErrorCode = 'malformed' | 'inexpressible' | 'out-of-order' | 'truncated'

const brand = Symbol.for('wireglot.TranslationError')

/** Thrown by this library; never says what a user wrote. Switch on `code`. */
export class TranslationError extends Error {
  override readonly name = 'TranslationError'
  readonly code: ErrorCode
  readonly protocol: string
  /** JSON pointer of the fault; `''` is the whole body. */
  readonly path: string
  /** What was lost, where that is the reason. */
  readonly notes?: Note[]
  /** The word that a client can act on, where the caller's dialect has one. */
  readonly reason?: string

  constructor(at: { code: ErrorCode; protocol: string; path: string; notes?: Note[]; reason?: string; cause?: unknown }, message: string) {
    super(`${at.protocol}${at.path ? ` at ${at.path}` : ''}: ${message}`, at.cause === undefined ? undefined : { cause: at.cause })
    this.code = at.code
    this.protocol = at.protocol
    this.path = at.path
    if (at.notes) this.notes = at.notes
    if (at.reason) this.reason = at.reason
    Object.defineProperty(this, brand, { value: true })
  }

  /** Holds across two copies of this package. */
  static is(value: unknown): value is TranslationError {
    return typeof value === 'object' && value !== null && brand in value
  }
}
