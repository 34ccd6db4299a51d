import type { Place } from './canonical/message.ts'
import type { Note } from './canonical/note.ts'
import { pointerOf } from './canonical/place.ts'

/**
 * malformed: the input does not follow its protocol · inexpressible: the target protocol cannot
 * express it, and a note would not be enough or is forbidden by `strict` · out-of-order: the events
 * of a stream came in an illegal order · truncated: the input stopped before its end.
 */
export type ErrorCode = 'malformed' | 'inexpressible' | 'out-of-order' | 'truncated'

const brand = Symbol.for('wireglot.TranslationError')

/** Thrown by all translating functions. The root exports it with the type of its notes. */
export class TranslationError extends Error {
  override readonly name = 'TranslationError'
  readonly code: ErrorCode
  /** The protocol that was read or written when it happened. */
  readonly protocol: string
  /** JSON pointer into the body; `''` is the whole body. */
  readonly path: string
  /** The notes made so far, when the error is about what would be lost. */
  declare readonly notes?: Note[]
  /** A machine-readable code for the client, if its protocol has one for this error. */
  declare readonly reason?: string

  constructor(
    at: {
      code: ErrorCode
      protocol: string
      path: Place
      notes?: Note[]
      reason?: string
      cause?: unknown
    },
    message: string,
  ) {
    const path = pointerOf(at.path)
    // The path of what cannot be expressed is in the source, and `protocol` may be the target:
    // together they would mislead.
    const place = at.code === 'inexpressible' ? path : `${at.protocol}${path && ` at ${path}`}`
    super(
      place ? `${place}: ${message}` : message,
      at.cause === undefined ? undefined : { cause: at.cause },
    )
    this.code = at.code
    this.protocol = at.protocol
    this.path = path
    if (at.notes) this.notes = at.notes
    if (at.reason) this.reason = at.reason
    Object.defineProperty(this, brand, { value: true })
  }

  /** As `instanceof`, but also true for errors of another copy of this package. */
  static is(value: unknown): value is TranslationError {
    return typeof value === 'object' && value !== null && brand in value
  }
}
