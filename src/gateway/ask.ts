import type { Note } from '../canonical/note.ts'
import type { Usage } from '../canonical/response.ts'
import type { Operation, Protocol } from '../protocol.ts'
import type { Resolvers } from '../translate/references.ts'
import type { Transport } from '../transports/transport.ts'
import type { ReadBody } from './body.ts'
import type { Breakers } from './breaker.ts'
import type { Refusal } from './error.ts'
import type { Hooks, Identity } from './hooks.ts'
import type { Limits } from './limits.ts'
import type { Settled } from './options.ts'
import type { Playground } from './playground.ts'
import type { GatewayRequest } from './request.ts'
import type { Memory } from './store.ts'
import type { Observed } from './telemetry.ts'
import type { Candidate, Catalog } from './upstream.ts'

/** What every exchange of one gateway shares. */
export type Service = {
  config: Settled
  hooks: Hooks
  catalog: Catalog
  limits: Limits
  breakers: Breakers
  transport: Transport
  /** Was there a reply of this id before? */
  isRepeated(id: string): boolean
  /** Absent: nothing is kept of an exchange when it is over. */
  memory?: Memory
  playground: Playground
  /** Never throws. */
  log(level: 'info' | 'warn' | 'error', details: object, message: string): void
  /** Hooks are guests: what they throw is told to the log and changes nothing. */
  attempt<T>(name: string, hook: () => T | Promise<T>): Promise<T | undefined>
}

/** A request whose model is known: who may serve it, and how the caller wants the answer. */
export type Ask = {
  request: GatewayRequest
  /** The caller's. */
  protocol: Protocol
  operation: Operation
  body: ReadBody
  /** As the caller named it. */
  model: string
  stream: boolean
  /** The stream as one JSON list of its events. */
  asList?: boolean
  candidates: Candidate[]
  /** What it refers to. Absent: not looked up yet. */
  recalled?: Recalled
}

/** What the gateway knows of the replies that a request refers to: looked up beforehand, for translation is synchronous. */
export type Recalled = {
  /** Lookups of everything that was found. */
  known: Resolvers
  /** The same without what the candidate's own provider keeps: there the reference stays a reference. */
  resolversFor(candidate: Candidate): Resolvers
  /** The proof of reasoning that was kept for a tool call, by the call's id. */
  proof(callId: string): string | undefined
  /** Is the reply to be kept, so that it can be asked for again? */
  keeps: boolean
}

/** What becomes known of an exchange while it goes on; its record is made of this. */
export type Trace = {
  requestId: string
  /** Milliseconds since 1970, as `firstByte`. */
  started: number
  observed: Observed
  identity?: Identity
  stream: boolean
  modelAsked?: string
  candidate?: Candidate
  attempts: number
  /** Channels whose limit for the whole exchange is running. */
  limitedBy?: Set<string>
  upstreamRequestId?: string
  firstByte?: number
  notes: Note[]
  usage?: Usage
  /** Called when the last byte is out or nothing more will come; only the first call counts. */
  ended(status: number, failure?: Refusal): void
}
