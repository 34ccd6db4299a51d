import type { CanonicalError } from '../canonical/error.ts'
import type { Note } from '../canonical/note.ts'
import type { Usage } from '../canonical/response.ts'
import type { Signatures } from '../protocol.ts'
import type { Seen, StreamReader } from './stream-reader.ts'

/**
 * Bytes of a stream in one protocol in, text of a stream in another one out; synchronous, one call
 * per network chunk.
 */
export type StreamTranslator<Out = string> = {
  /**
   * Returns the text to send now, possibly `''`. The split of the bytes into chunks does not change
   * the whole text.
   */
  push(chunk: Uint8Array | string): Out
  /**
   * Call it once when the source has ended; returns the rest of the text. A stream that was cut off
   * ends with an error event: `why`, if given.
   */
  end(why?: CanonicalError): Out
  /**
   * A frame that keeps an idle connection open. `''` where it would come in the middle of another
   * one.
   */
  ping(): string
  readonly notes: Note[]
  readonly usage: Usage | undefined
  /** The id of the response. Undefined: it has not begun, or has none. */
  readonly id: string | undefined
  /**
   * Text, reasoning and input of tools so far: about so many bytes. For an estimate where the usage
   * is missing.
   */
  readonly written: number
  /**
   * A part of a message has begun. Before, an error or an early end is a failed call, which can be
   * made again.
   */
  readonly hasContent: boolean
  /**
   * Signatures that the caller stores itself (`signatures: 'store'`), for the next request.
   * Complete after `end`.
   */
  readonly signatures: Signatures
  /** The response ended properly: not cut off, and not with an error. */
  readonly finished: boolean
  /**
   * Changes with each finish reason, once every candidate has one: the response is complete, though
   * usage and metadata may follow. 0: it is not, or its protocol has a last event.
   */
  readonly finishes: number
  /** Further frames in the same chunk after the end of the response. */
  readonly after: string
  /** True at the end if the bytes after the last blank line are not a parseable frame. */
  readonly cutFrame: boolean
  /** The source has ended without an error, but the response is not complete. */
  readonly endedEarly: boolean
  /**
   * The error that the stream ended with. When the upstream fails at once, it is set before any
   * output.
   */
  readonly error: CanonicalError | undefined
  /** The error that the finish reason reports, in a stream that ended properly. */
  readonly failedEnd: CanonicalError | undefined
}

export type Own<Out> = Pick<StreamTranslator<Out>, 'push' | 'end' | 'ping'> & {
  notes(): Note[]
  signatures(): Signatures
  failure(): CanonicalError | undefined
}

/** A class, since an object literal with getters is slow in V8. */
export class Translator<Out> implements StreamTranslator<Out> {
  readonly push: Own<Out>['push']
  readonly end: Own<Out>['end']
  readonly ping: Own<Out>['ping']
  readonly #own: Own<Out>
  readonly #seen: Seen
  readonly #reader: StreamReader

  constructor(own: Own<Out>, reader: StreamReader) {
    this.push = own.push
    this.end = own.end
    this.ping = own.ping
    this.#own = own
    this.#seen = reader.seen
    this.#reader = reader
  }

  get notes(): Note[] {
    return this.#own.notes()
  }

  get signatures(): Signatures {
    return this.#own.signatures()
  }

  get usage(): Usage | undefined {
    return this.#seen.usage
  }

  get id(): string | undefined {
    return this.#seen.id
  }

  get written(): number {
    return this.#seen.written
  }

  get hasContent(): boolean {
    return this.#seen.hasContent
  }

  get finished(): boolean {
    return this.#seen.clean && !this.#own.failure()
  }

  get finishes(): number {
    return this.#reader.finishes
  }

  get endedEarly(): boolean {
    const { ended, clean, error } = this.#seen
    return ended && !clean && error === undefined
  }

  get after(): string {
    return this.#seen.after
  }

  get cutFrame(): boolean {
    return this.#seen.cutFrame
  }

  get error(): CanonicalError | undefined {
    return this.#seen.error ?? this.#own.failure()
  }

  get failedEnd(): CanonicalError | undefined {
    return this.#seen.failedEnd
  }
}
