import type { Note } from '../canonical/note.ts'
import type { CanonicalResponse, Usage } from '../canonical/response.ts'
import type { Operation, Protocol } from '../protocol.ts'
import type { Seal } from '../stores/seal.ts'
import type { Resolvers } from '../translate/references.ts'
import type { StreamTranslator } from '../translate/stream-translator.ts'
import type { TransportCall, TransportResponse } from '../transports/transport.ts'
import type { Ending } from './at-end.ts'
import type { ReadBody } from './body/body.ts'
import type { LongWork } from './body/long-work.ts'
import type { Prefixes } from './cache-prefix.ts'
import type { GatewayError } from './error.ts'
import type { HookRequest, Hooks, Identity, Tape, UsageRecord } from './hooks.ts'
import type { InFlight } from './in-flight.ts'
import type { Limits } from './limits.ts'
import type { Memory, Share } from './memory.ts'
import type { ChannelEntry, ParsedConfig } from './options.ts'
import type { GatewayRequest } from './request.ts'
import type { Background } from './stored/background.ts'
import type { ResponseStore } from './stored/response-store.ts'
import type { Observed } from './telemetry.ts'
import type { Breakers } from './upstream/breaker.ts'
import type { Catalog, Deployment } from './upstream/catalog.ts'
import type { Failure } from './upstream/failure.ts'
import type { Learned } from './upstream/learned.ts'
import type { Opened } from './upstream/opened.ts'

/** What all exchanges of a gateway share. */
export type Service = {
  config: ParsedConfig
  hooks: Hooks
  catalog: Catalog
  limits: Limits
  inFlight: InFlight
  memory: Memory
  longWork: LongWork
  breakers: Breakers<Opened | Failure>
  /** Fields that upstreams refused. */
  learned: Learned
  background: Background
  /** Absent: nobody wants to know. */
  prefixes?: Prefixes
  /**
   * Sends a call to a channel. Rejects when there is no response; a response of any status
   * resolves.
   */
  send(
    channel: ChannelEntry,
    call: TransportCall,
    onNotes?: (notes: readonly Note[]) => void,
  ): Promise<TransportResponse>
  /** Has a response with this id been seen before? */
  isRepeated(id: string): boolean
  /** What images show, by the hash of each, as models that see have described it. */
  descriptions: Map<string, Promise<string | undefined>>
  /** Seals compactions. Absent: there is no key. */
  seal?: Seal
  /** The store for responses. Absent: nothing is kept. */
  responseStore?: ResponseStore
  /** Never throws. */
  log(level: 'info' | 'warn' | 'error', details: object, message: string): void
  /** Calls a hook. What it throws is logged, and the result is undefined. */
  attempt<T>(name: string, hook: () => T | Promise<T>): Promise<T | undefined>
}

/** A request with its candidates, and the form in which the caller wants the response. */
export type RequestContext = {
  request: GatewayRequest
  /** Of the caller. */
  protocol: Protocol
  operation: Operation
  body: ReadBody
  /** What was done with the request before it is translated. */
  notes?: readonly Note[]
  /** Of an attempt that continues a broken stream: the body for a candidate. */
  bodyFor?: (candidate: Deployment) => ReadBody
  /** The name that the caller used. */
  model: string
  stream: boolean
  /** The caller wants the stream as one JSON list. */
  asList?: boolean
  candidates: Deployment[]
  /** Present: the request passes through unchanged. */
  passing?: Passing
  /** The data that it refers to. Absent: not looked up yet. */
  recalled?: Recalled
}

/**
 * A request that passes through unchanged. `type`: its content type. `isJson`: so it is. `bytes`:
 * the body for a candidate. Undefined: it has no body.
 */
export type Passing = {
  path: string
  method: 'POST' | 'GET' | 'DELETE'
  type?: string
  isJson: boolean
  bytes(candidate: Deployment): string | Uint8Array<ArrayBuffer> | undefined
}

/** Stored data that a request refers to. Loaded beforehand, because translation is synchronous. */
export type Recalled = {
  /** Resolvers for everything that was found. */
  known: Resolvers
  /**
   * The same without what the candidate's own provider stores, which can be sent to it as a
   * reference.
   */
  resolversFor(candidate: Deployment): Resolvers
  /** The reasoning signature that was stored for a tool call. */
  storedSignature(callId: string): string | undefined
  /** Should the gateway store the response? */
  keeps: boolean
}

/** What is known of an exchange so far; its usage record is made of this. */
export type Trace = Ending & {
  requestId: string
  /** For hooks. */
  request: HookRequest
  /** Unix milliseconds, like `firstByte`. */
  started: number
  observed: Observed
  identity?: Identity
  stream: boolean
  requestedModel?: string
  /** The entry of `passThrough` that lists the path. Absent: the request does not pass through. */
  passed?: string
  candidate?: Deployment
  attempts: number
  /** Channels whose `totalMs` timer is running. */
  limitedBy?: Set<string>
  upstreamRequestId?: string
  firstByte?: number
  notes: Note[]
  /** As the upstream counted. */
  usage?: Usage
  /** What earlier attempts have used, whose streams broke and were continued. */
  spent?: UsageRecord['usage']
  /** The same by the upstream's name of the model. */
  spentBy?: ReadonlyMap<string, Usage>
  /** The upstream's name of the model that was asked last. */
  sentTo?: string
  /**
   * Input tokens of what was sent to the upstream, by its size. Absent: nothing was sent that costs
   * anything.
   */
  sent?: number
  /**
   * Of the upstream's response so far: see `StreamTranslator`. Absent: none came, or its usage is
   * known.
   */
  received?: Pick<StreamTranslator, 'written' | 'finished'> &
    Partial<Pick<StreamTranslator, 'usage' | 'id'>>
  /** The id of a response that came as a whole. */
  responseId?: string
  /** Output tokens, by the limit of a response that is generated after the exchange. */
  expected?: number
  /** The memory that the request takes. Absent: its client is not known yet. */
  memory?: Share
  /** See `UsageRecord`. */
  cachePrefix?: UsageRecord['cachePrefix']
  /** Gets everything that is sent. Absent: nobody wants it. */
  tape?: Tape | undefined
  /** Headers that show the client its rate limit. Absent: it has none. */
  rateLimit?: Record<string, string>
  /**
   * Ends the exchange: the last byte was sent, or nothing more will be. Only the first call counts.
   */
  ended(status: number, failure?: GatewayError): void
}

/** The response of a model to a request. Rejects with a GatewayError or a TranslationError. */
export type Answering = (
  service: Service,
  incoming: RequestContext,
  trace: Trace,
) => Promise<CanonicalResponse>
