import type { ErrorKind } from '../canonical/error.ts'
import type { Note } from '../canonical/note.ts'
import type { Usage } from '../canonical/response.ts'
import type { Transport } from '../transports/transport.ts'

/**
 * Who is asking. `group`: one of the configured groups; absent: sees every model. `requestsPerMinute`: of this name alone,
 * beside the limit of the group; absent or 0: none.
 */
export type Identity = { name?: string; group?: string; requestsPerMinute?: number }

/** What one exchange was and cost. Absent means that it never came to that. */
export type UsageRecord = {
  /** ISO 8601, when the request came. */
  time: string
  requestId: string
  key?: string
  group?: string
  modelAsked?: string
  modelServed?: string
  channel?: string
  protocolIn: string
  protocolOut?: string
  stream: boolean
  /** What the client got; 499: it left. */
  status: number
  /** What went wrong, also after the status was sent. */
  failure?: ErrorKind
  /** By which the upstream knows this exchange. */
  upstreamRequestId?: string
  usage?: Usage
  /** Milliseconds. */
  firstByteMs?: number
  totalMs: number
  attempts: number
  notes: number
}

/** What notes are about. `model`: as the caller named it; `from` and `to`: the protocols of caller and upstream. */
export type Exchange = { requestId: string; model: string; channel: string; from: string; to: string }

/** The shape of pino and of console: what they have beyond these is not called. */
export type Logger = Record<'info' | 'warn' | 'error', (details: object, message: string) => void>

/**
 * Where replies are kept, as Keyv has it; a Map is one too. The values are texts. Promises are waited for, and what
 * rejects is logged: the reply is then not kept.
 */
export type Store = {
  /** What was set under the key; anything but a text counts as nothing. */
  get(key: string): unknown
  set(key: string, value: string, ttlMs?: number): unknown
  delete(key: string): unknown
}

/** Everything a host application may want to know or decide. A hook that throws is logged and breaks no exchange. */
export type Hooks = {
  /**
   * Decides instead of `keys`. Undefined: the configured keys decide; null: refused. Throwing refuses too, for nobody
   * may get in by breaking it.
   */
  authenticate?(
    credential: string | undefined,
    request: { method: string; path: string; headers: Record<string, string> },
  ): Identity | null | undefined | Promise<Identity | null | undefined>
  /** Another model id to serve this request with. */
  route?(call: { model: string; protocol: string; identity: Identity }): string | undefined | Promise<string | undefined>
  onUsage?(record: UsageRecord): void | Promise<void>
  onNotes?(notes: Note[], exchange: Exchange): void | Promise<void>
  logger?: Logger
  /** How bytes reach the upstreams. */
  transport?: Transport
  /** Keeps replies for requests that go on from them, in place of what the configuration's `store` says. */
  store?: Store
}
