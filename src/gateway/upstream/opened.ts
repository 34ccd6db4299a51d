import type { Note } from '../../canonical/note.ts'
import type { Outcome, TranslationContext } from '../../protocol.ts'
import type { Settings } from '../../translate/settings.ts'
import type { StreamTranslator } from '../../translate/stream-translator.ts'
import type { freshIds } from '../ids.ts'
import type { Deployment } from './catalog.ts'
import type { Shape } from './learned.ts'
import type { Watched } from './response.ts'

/** The request for a candidate, ready to be sent. */
export type Prepared = {
  candidate: Deployment
  /** The value of `bytes`, for the demo model. */
  body?: unknown
  bytes: string | Uint8Array<ArrayBuffer> | undefined
  /** Does the request ask the upstream for a stream? */
  stream: boolean
  notes: Note[]
  /**
   * Of the request before refused fields were left out. Absent: none of this request was refused.
   */
  shape?: Shape
  /** Settings for translating the response. */
  settings: ReturnType<typeof freshIds> &
    Pick<Settings, 'hideUsage' | 'renewId' | 'model' | 'strict'> & {
      context: TranslationContext
      keepsDigits?: true
      maxEventLength: number
    }
}

/** A successful response of an upstream. `idleMs`: the longest silence; 0: no limit. */
export type Opened = Pick<Prepared, 'candidate' | 'settings'> &
  Watched & {
    kind: 'json' | 'stream'
    idleMs: number
    /** The whole body, where the attempt has read it. */
    read?: ReadResponse
    /** A stream for the client whose first content the attempt has read. */
    begun?: Begun
  }

/** `out`: what the translator has written so far. `body`: what it has not read. */
export type Begun = {
  translator: StreamTranslator<Uint8Array | string>
  body: AsyncIterator<Uint8Array | string>
  out: Uint8Array | string
}

/** `outcome`: absent where nobody has looked for it. */
export type ReadResponse = {
  value: unknown
  bytes?: Uint8Array<ArrayBuffer>
  outcome?: Outcome
}
