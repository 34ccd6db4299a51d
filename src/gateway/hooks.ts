import type { ErrorKind } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Note as AnyNote } from '../canonical/note.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResponse, Usage } from '../canonical/response.ts'
import type { McpServer, ServerTool } from '../canonical/tool.ts'
import type { Note } from '../notes.ts'
import type { Headers } from '../protocol.ts'
import type { ProtocolName } from '../protocols/index.ts'
import type { Transport } from '../transports/transport.ts'
import type { FailureKind, GatewayError } from './error.ts'
import type { ClientRequest } from './request.ts'

/** The client. */
export type Identity = {
  /**
   * Clients of one name share their limits and their stored responses, unless they have different
   * ids.
   */
  name?: string
  /**
   * What is kept of the client belongs to it, in place of the name. For names that another client
   * may get later.
   */
  id?: string
  /** One of the configured groups. Absent: all models are visible. */
  group?: string
  /**
   * The ids that it may use, of those that its group sees. A `*` at the end matches any rest.
   * Absent: all of these.
   */
  models?: readonly string[]
  /** The limit of this name, in addition to that of the group. Absent or 0: no limit. */
  requestsPerMinute?: number
  /** The same for requests in progress at the same time. */
  concurrentRequests?: number
  /**
   * The error of `reject(…)` for every call that costs something. Listings, token counts and
   * settings stay open. Absent: none.
   */
  rejection?: GatewayError
}

/**
 * The usage record of one exchange. A field is absent if the exchange ended before it was known.
 */
export type UsageRecord = {
  /** Time of the request, ISO 8601. */
  time: string
  requestId: string
  key?: string
  /** The id of the client, if it has one. */
  keyId?: string
  group?: string
  requestedModel?: string
  modelServed?: string
  /**
   * Of a request that passed to another endpoint: the entry of `passThrough` that lists its path.
   * `requestedModel` is the same where it names no model.
   */
  path?: string
  channel?: string
  /**
   * The vendor of the upstream, by its name in the conventions of OpenTelemetry. Absent: unknown.
   */
  provider?: string
  /** Of the client. `none`: a listing, settings of clients, or a path without an endpoint. */
  protocolIn: string
  protocolOut?: string
  stream: boolean
  /** HTTP status of the response; 499: the client disconnected. */
  status: number
  /** What failed, also after the status was sent. */
  failure?: FailureKind
  /** The error of the failure, in the terms of all protocols. */
  error?: ErrorKind
  /**
   * What the gateway says of the failure, without the words of the upstream. Absent where it may
   * repeat the request.
   */
  errorMessage?: string
  /** The request id of the upstream. */
  upstreamRequestId?: string
  /**
   * `estimated`: some of it by the sizes of request and response, because the upstream has not
   * counted or the client has left before.
   */
  usage?: Usage & { estimated?: true }
  /**
   * What each model has used of it, by its upstream's name: one that described an image, or that
   * began an answer that another has continued. Absent: `modelServed` has used all.
   */
  usageByModel?: Record<string, Usage>
  /**
   * How much of the prompt begins as in the request before of its conversation. Tokens, estimated.
   * `lost`: those of the earlier prompt that a cache of the provider cannot give. Absent: the first
   * request of a conversation, or not known.
   */
  cachePrefix?: { kept: number; lost: number }
  /** Milliseconds. */
  firstByteMs?: number
  totalMs: number
  attempts: number
  notes: number
  /** The codes of the notes, each one once. Absent: there are none. */
  noteCodes?: string[]
  /** The notes of what stood in for something that the model lacks. Absent: there are none. */
  emulated?: number
}

/**
 * What a request is likely to use: its input by its size, its output by its token limit. `model`:
 * the upstream's name; empty: not known.
 */
export type LikelyUse = {
  requestId: string
  identity: Identity
  model: string
  /** Tokens. */
  input: number
  output: number
}

/**
 * One request to an upstream. A client's request has several if it is retried, or fails over to
 * another channel.
 */
export type Attempt = {
  requestId: string
  identity: Identity
  channel: string
  /** The upstream's name of the model. */
  model: string
  protocol: ProtocolName
  /** The JSON that was sent, in UTF-8. It contains the prompt. */
  body: string | Uint8Array
  /** Of the translation of the request. */
  notes: readonly Note[]
  /** Milliseconds until the upstream began to respond, or failed. */
  ms: number
  /** Absent: it succeeded. */
  failure?: {
    status: number
    kind: FailureKind
    /** Without text of the upstream. */
    message: string
    /**
     * The text of the upstream, which may repeat the prompt. Secrets of the channel are replaced.
     */
    upstreamMessage?: string
  }
}

/** The exchange of some notes. */
export type Exchange = {
  requestId: string
  /** The name that the client used. */
  model: string
  channel: string
  /** The protocol of the client. */
  from: string
  /** The protocol of the upstream. */
  to: string
}

type Chunk = Uint8Array | string

/** A channel with the upstream's name of the model. */
export type TapedChannel = { channel: string; model: string; protocol: ProtocolName }

/**
 * What the configuration says of the way to an upstream, as it is written there, without addresses
 * and secrets: a gateway with these settings translates the request again in the same way.
 */
export type TapedSettings = {
  channel: Record<string, unknown>
  model: Record<string, unknown>
  defaults: Record<string, unknown>
}

/**
 * What happens in an exchange. `attempt`: the number of the attempt, from 1. Bodies and headers may
 * contain secrets and prompts.
 */
export type TapeEvent =
  /** The client's body, decompressed. Absent in exchanges without one. */
  | { type: 'request'; body: Chunk }
  /** The channels that may serve the request, in the order in which they are tried. */
  | { type: 'route'; candidates: (TapedChannel & { fallback?: string })[] }
  /**
   * A channel was passed over. `resting`: it has failed too often; `busy`: it has as many requests
   * as it may have.
   */
  | ({ type: 'skip'; reason: 'resting' | 'busy' } & TapedChannel)
  /** A request is about to be sent to an upstream. `url`: empty for the demo model. */
  | ({
      type: 'send'
      attempt: number
      vendor?: string
      method: string
      url: string
      headers: Headers
      body: Chunk
      notes: readonly AnyNote[]
      settings: TapedSettings
    } & TapedChannel)
  /** The upstream's response has begun. Secrets of the channel are replaced in it. */
  | { type: 'receive'; attempt: number; status: number; headers: Headers }
  /** A part of it. The frames of binary event streams come as text/event-stream. */
  | { type: 'received'; attempt: number; chunk: Chunk }
  /** Its body has ended. `broken`: the connection broke before. */
  | { type: 'receive.end'; attempt: number; broken: boolean }
  /** An attempt has begun to respond, or has failed. `ms`: until then. */
  | { type: 'tried'; attempt: number; ms: number; failure?: Attempt['failure'] }
  /** The response to the client begins. */
  | { type: 'respond'; status: number; headers: Headers }
  /** A part of it. */
  | { type: 'responded'; chunk: Chunk }
  /** Its body has ended. `broken`: the connection is broken off. */
  | { type: 'respond.end'; broken: boolean }
  /** The exchange is over. `record`: absent for requests that name no model. */
  | { type: 'end'; record?: UsageRecord; notes: readonly AnyNote[] }

/** Gets the events of one exchange, in their order. It should keep what it gets, and work later. */
export type Tape = (event: TapeEvent) => void

/**
 * A call to an endpoint that is about to be handled. `secrets`: those of the configuration and of
 * this request, which may be anywhere in the events.
 */
export type TapedCall<Raw = unknown> = {
  requestId: string
  protocol: ProtocolName
  operation: 'generate' | 'count-tokens' | 'compact' | 'pass'
  query: URLSearchParams
  request: HookRequest<Raw>
  secrets: readonly string[]
}

/** A logger such as pino or console. Only these methods are used. */
export type Logger = Record<'info' | 'warn' | 'error', (details: object, message: string) => void>

/**
 * A key-value store for responses, such as Keyv or a Map. Values are strings. Promises are awaited;
 * a rejection is logged, and the response is then not stored.
 */
export type Store = {
  /** The value of the key. Anything but a string counts as absent. */
  get(key: string): unknown
  /** Stores a value for `ttlMs` milliseconds; absent: without limit. */
  set(key: string, value: string, ttlMs?: number): unknown
  /** Removes a value, if there is one. */
  delete(key: string): unknown
}

/**
 * Other processes that serve the same configuration. What they send each other is plain JSON, and
 * of no use to anybody else.
 */
export type Peers = {
  /**
   * Adds to the count of a name in all processes together. The count starts again `windowMs`
   * milliseconds after its first call, which is in `resetMs`. A rejection is logged, and the
   * process then counts by itself, unless `limits.onFailure` is `closed`. Not used with
   * `limits.redis`.
   */
  count(name: string, calls: number, windowMs: number): Promise<{ count: number; resetMs: number }>
  /** Sends a message to every other process. Must not throw. */
  send(message: object): void
  /** `receive` gets every message of another process. Returns a function that ends that. */
  listen(receive: (message: object) => void): () => void
}

/**
 * The request of the client, without its body. Header names are lower case. `raw`: the request
 * object of the host, with everything that earlier middleware added to it: `req` in Express and
 * Connect, `Request` in the fetch host.
 */
export type HookRequest<Raw = unknown> = {
  method: string
  path: string
  headers: Record<string, string>
  raw: Raw
}

export const hookRequest = (
  { method, path, headers, raw }: ClientRequest,
  hasRaw = true,
): HookRequest => ({
  method,
  path,
  headers,
  raw: hasRaw ? raw : undefined,
})

/** A body for `onRequest` or `onResponse`. Do not change it: return another one. */
export type BodyCall<Canonical, Raw = unknown> = {
  /** The protocol of the client. */
  protocol: ProtocolName
  /** The name in the request. */
  model: string
  identity: Identity
  request: HookRequest<Raw>
  /** As it is on the wire. */
  body: unknown
  /**
   * The same in the model of all protocols. It is decoded on first use.
   * @throws TranslationError `malformed` for an invalid body
   */
  readonly canonical: Canonical
}

/**
 * The body to use instead, in the client's protocol or in the canonical model. Nothing: the body
 * stays.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook without a return statement keeps the body, which TypeScript 5 takes for `void`.
export type BodyChange<Canonical> = { body: unknown } | { canonical: Canonical } | void

/** The exchange of a stream for `onStream`. */
export type StreamCall<Raw = unknown> = Pick<
  BodyCall<unknown, Raw>,
  'protocol' | 'model' | 'identity' | 'request'
>

/** The hooks that are functions. */
export const callbackNames = [
  'authenticate',
  'route',
  'onRequest',
  'onResponse',
  'onStream',
  'reserve',
  'onUsage',
  'onAttempt',
  'onNotes',
  'tape',
  'documentText',
] as const satisfies readonly (keyof Hooks)[]

// biome-ignore lint/suspicious/noConfusingVoidType: a hook without a return statement rejects nothing.
type Reserved = GatewayError | undefined | void

/** Tools of providers that an application can run instead. */
export type ServerToolName = 'web_search' | 'web_fetch'

/** What a model asks of each tool. */
export type ServerToolInput = { web_search: { query: string }; web_fetch: { url: string } }

/**
 * What a tool returns: text, or pages with their addresses, which clients show and responses cite.
 * @example
 * import type { ServerToolResult } from 'wireglot/gateway'
 *
 * const result: ServerToolResult = { results: [{ url: 'https://example.org', title: 'Example', text: 'An example.' }] }
 * console.log(typeof result) // object
 */
export type ServerToolResult =
  | string
  | { text?: string; results?: { url: string; title?: string; text?: string }[] }

/** The exchange of a tool. `signal`: aborted when the client leaves, and after a minute. */
export type ServerToolCall<Raw = unknown> = Pick<BodyCall<unknown, Raw>, 'identity' | 'request'> & {
  signal: AbortSignal
}

/** What the request says of a tool that searches or reads the web. */
export type WebToolCall<Raw = unknown> = ServerToolCall<Raw> & {
  settings: NonNullable<ServerTool['common']>
}

/**
 * A connected MCP client, such as `Client` of `@modelcontextprotocol/sdk`. Only these methods are
 * used.
 */
export type McpClient = {
  /** Lists the server's tools, a page at a time: `nextCursor` of one page is `cursor` of the next. */
  listTools(params?: { cursor?: string }): Promise<{
    tools: {
      name: string
      description?: string | undefined
      inputSchema: object
      annotations?: { readOnlyHint?: boolean | undefined } | undefined
    }[]
    nextCursor?: string | undefined
  }>
  /** Runs one tool. The result is what the server answered, in MCP's form (`content`, `isError`). */
  callTool(
    params: { name: string; arguments?: Record<string, unknown> },
    resultSchema?: undefined,
    options?: { signal?: AbortSignal },
  ): Promise<unknown>
}

/** Runs tools of providers, by name. What it throws is logged; the model reads that it failed. */
export type ServerTools<Raw = unknown> = {
  /** Finds pages for a query. */
  web_search?(
    input: ServerToolInput['web_search'],
    call: WebToolCall<Raw>,
  ): ServerToolResult | Promise<ServerToolResult>
  /** Reads one page. */
  web_fetch?(
    input: ServerToolInput['web_fetch'],
    call: WebToolCall<Raw>,
  ): ServerToolResult | Promise<ServerToolResult>
  /**
   * The client of an MCP server that a request names, connected: its tools are run here. `url` and
   * `authorization`: as the request says. Undefined: they are not run here.
   */
  mcp?(
    server: Pick<McpServer, 'label' | 'url' | 'authorization'>,
    call: ServerToolCall<Raw>,
  ): McpClient | undefined | Promise<McpClient | undefined>
}

/**
 * Callbacks of the application. An exception in a hook is logged and does not affect the exchange,
 * unless the hook says otherwise.
 */
export type Hooks<Raw = unknown> = {
  /**
   * Authenticates a client, in place of `keys`. Undefined: the configured keys decide. Null:
   * refused. An exception also refuses, so that no client gets in by provoking one.
   */
  authenticate?(
    credential: string | undefined,
    request: HookRequest<Raw>,
  ): Identity | null | undefined | Promise<Identity | null | undefined>
  /** Returns another model id to use for this request. Undefined: the requested one. */
  route?(call: {
    model: string
    protocol: string
    identity: Identity
    request: HookRequest<Raw>
  }): string | undefined | Promise<string | undefined>
  /**
   * Reads or replaces the body of a request before it is routed and translated, for example to
   * redact it. Throw `reject(…)` to reject the request. Any other exception rejects it with status
   * 500, so that no fault of a guardrail lets a body pass.
   */
  onRequest?(
    call: BodyCall<CanonicalRequest, Raw>,
  ): BodyChange<CanonicalRequest> | Promise<BodyChange<CanonicalRequest>>
  /**
   * The same for a complete response, before it is sent or stored. Streams that `onStream` does not
   * take are collected first and sent at once at their end; clients get keep-alive comments until
   * then. Errors of upstreams do not pass this hook.
   */
  onResponse?(
    call: BodyCall<CanonicalResponse, Raw>,
  ): BodyChange<CanonicalResponse> | Promise<BodyChange<CanonicalResponse>>
  /**
   * Reads or replaces a stream while it is sent. Return the events to send, mostly from an `async
   * function*` that yields those of `events`: change, hold back or add text, or `throw reject(…)`
   * to end the stream with an error. Undefined: this stream is not changed, but goes to
   * `onResponse`, if there is one. An upstream's error is an `error` event. Any exception but a
   * refusal ends the stream with status 500.
   */
  onStream?(
    events: AsyncIterable<CanonicalEvent>,
    call: StreamCall<Raw>,
  ): AsyncIterable<CanonicalEvent> | undefined
  /**
   * Decides, before a request is sent to an upstream, whether its client may use so much. Returns
   * an error of `reject(…)` if it may not. What is reserved ends when `onUsage` gets the record of
   * the request.
   */
  reserve?(use: LikelyUse): Reserved | Promise<Reserved>
  /** Gets the usage record at the end of each exchange. */
  onUsage?(record: UsageRecord, request: HookRequest<Raw>): void | Promise<void>
  /** Gets each attempt at an upstream, when it began to respond or has failed. */
  onAttempt?(attempt: Attempt, request: HookRequest<Raw>): void | Promise<void>
  /** Gets the notes of a translation, if there are any. */
  onNotes?(notes: Note[], exchange: Exchange, request: HookRequest<Raw>): void | Promise<void>
  /**
   * Called before a request is handled. What it returns gets everything that client and upstreams
   * send in this exchange, with secrets: `createRecorder` of `wireglot/cassettes` removes them and
   * writes a file. Undefined: this exchange is not taped.
   */
  tape?(call: TapedCall<Raw>): Tape | undefined
  /**
   * Runs tools of providers, such as `web_search`, and of MCP servers, for models that lack them. The
   * model gets functions; its client sees the tool of its own protocol.
   */
  serverTools?: ServerTools<Raw>
  /**
   * The text of a document, such as a PDF, for models that read none. `mime`: as the client says.
   * Undefined, or an exception: the document stays as it would without the hook.
   */
  documentText?(
    document: { bytes: Uint8Array; mime?: string; filename?: string },
    call: ServerToolCall<Raw>,
  ): string | undefined | Promise<string | undefined>
  /**
   * Default: warnings and errors go to `console.error`, one JSON object per line. `false`: nothing
   * is logged.
   */
  logger?: Logger | false
  /**
   * The HTTP client for upstreams. Default: undici in the connect host, else the global `fetch`.
   */
  transport?: Transport
  /**
   * Stores responses, for requests that continue them, in place of `memory` or `redis` in the
   * configuration's `store`.
   */
  store?: Store
  /**
   * Other processes that serve the same configuration: with it, limits of requests per minute,
   * circuit breakers and fields that upstreams have refused hold in all of them together.
   */
  peers?: Peers
}
