/**
 * The gateway without a server, for hosts of your own.
 * @module wireglot/gateway
 */
import type { Protocol } from '../protocol.ts'
import { protocols } from '../protocols/index.ts'
import { createSeal } from '../stores/seal.ts'
import { PlainAbortController, type Signal } from '../transports/abort-controller.ts'
import { fetchTransport } from '../transports/fetch.ts'
import type { Transport } from '../transports/transport.ts'
import { createAdmission } from './admission/admission.ts'
import { createCors } from './admission/cors.ts'
import { createLongWork } from './body/long-work.ts'
import { createPrefixes } from './cache-prefix.ts'
import { checkHooks } from './check-hooks.ts'
import { createDispatch } from './dispatch.ts'
import { GatewayError, reasonOf, reject, rejectionOf, shuttingDown, wireOf } from './error.ts'
import { notesHeader, requestIdHeaders, safeHeaders } from './headers.ts'
import { type Hooks, hookRequest, type Identity } from './hooks.ts'
import { createRepeats, newRequestId } from './ids.ts'
import { createInFlight } from './in-flight.ts'
import { createLimits } from './limits.ts'
import { loggerTo } from './log.ts'
import { createMemory, defaultMemoryBytes } from './memory.ts'
import { ConfigError, demo, type GatewayConfig, type ParsedConfig, parseConfig } from './options.ts'
import { createPassPaths } from './passing/paths.ts'
import { listenToPeers, senderOf } from './peers.ts'
import { report, wordsOf } from './record.ts'
import type { ClientRequest, GatewayRequest, GatewayResponse } from './request.ts'
import type { Service, Trace } from './request-context.ts'
import { isCall, isClaimed, matchPath, type PathMatch, type Route, routeOf } from './route.ts'
import { createRunning } from './running.ts'
import { createBackground } from './stored/background.ts'
import { createResponseStore } from './stored/response-store.ts'
import { secretsOfConfig, startTape, tapedResponse } from './tape.ts'
import { createTelemetry } from './telemetry.ts'
import { verdictOn } from './upstream/attempts.ts'
import { createBreakers } from './upstream/breaker.ts'
import { createCatalog } from './upstream/catalog.ts'
import { createLearned, type LearnedFields } from './upstream/learned.ts'
import { createSend } from './upstream/send.ts'

export type { Signal } from '../transports/abort-controller.ts'
export type {
  SocketMessage,
  SocketMessages,
  Transport,
  TransportCall,
  TransportResponse,
} from '../transports/transport.ts'
export { type FailureKind, type GatewayError, reject } from './error.ts'
export type {
  Attempt,
  BodyCall,
  BodyChange,
  Exchange,
  HookRequest,
  Hooks,
  Identity,
  LikelyUse,
  Logger,
  McpClient,
  Peers,
  ServerToolCall,
  ServerToolInput,
  ServerToolName,
  ServerToolResult,
  ServerTools,
  Store,
  StreamCall,
  Tape,
  TapedCall,
  TapedChannel,
  TapedSettings,
  TapeEvent,
  UsageRecord,
  WebToolCall,
} from './hooks.ts'

export { ConfigError, type ConfigFault, type GatewayConfig } from './options.ts'
export type { ClientRequest, GatewayRequest, GatewayResponse, RequestBody } from './request.ts'
export { mcpTool } from './server-tools/mcp.ts'
export type { LearnedField, LearnedFields } from './upstream/learned.ts'

/** The gateway, independent of any HTTP server. */
export type Gateway = {
  /** Matches the path of a request, for `claims` and `handle`. */
  match(path: string): PathMatch
  /**
   * Is this path an exact endpoint of the gateway? Every other path belongs to the application.
   * `mounted`: the gateway has a path of its own within it.
   */
  claims(match: PathMatch, method: string, mounted: boolean): boolean
  /**
   * Never rejects: every failure becomes an error response in the caller's protocol. `match`: of
   * its path, if the host has it already.
   */
  handle(request: GatewayRequest, match?: PathMatch): Promise<GatewayResponse>
  /**
   * Refuses new requests, waits up to `graceMs` milliseconds (default 10,000) for those in
   * progress, ends the rest with an error, and releases the sockets. A second call may shorten the
   * wait.
   */
  close(graceMs?: number): Promise<void>
  /**
   * Only clients on this machine are served, because there are neither keys nor `"auth": "none"`
   * nor the hook `authenticate`.
   */
  readonly localOnly: boolean
  /** What a host needs to serve WebSocket. Undefined: the configuration does not ask for it. */
  readonly sockets: SocketSettings | undefined
  /** What happens at this moment, for health checks and metrics. */
  state(): GatewayState
  /** The fields that are left out of requests, because upstreams have refused them. */
  learned(): LearnedFields
  /**
   * The client of a request, by its key. Its rate limits are neither checked nor counted.
   * @throws GatewayError 401
   */
  identify(request: ClientRequest): Promise<Identity>
}

/**
 * `messageLimitBytes`: of a client's message. `eventLimit`: of an event, in UTF-16 units. `pingMs`:
 * between two pings; 0: none.
 */
export type SocketSettings = {
  messageLimitBytes: number
  depthLimit: number
  eventLimit: number
  pingMs: number
}

/**
 * `isClosing`: `close` was called. `inProgress`: the number of open exchanges. `webSocket`: the
 * configuration lets clients connect that way. `publicUrl`: of the configuration. `store`: of
 * responses; absent: there is none.
 */
export type GatewayState = {
  isClosing: boolean
  inProgress: number
  webSocket: boolean
  publicUrl?: string
  channels: ChannelState[]
  store?: 'ok' | 'unreachable'
}

/**
 * `breaker`: whether the circuit breaker lets requests through. `lastError`: of its last failure,
 * without the words of the upstream; absent: it has not failed.
 */
export type ChannelState = {
  name: string
  breaker: 'closed' | 'open' | 'probing'
  lastError?: string
}

/**
 * Creates a gateway. Without a configuration it serves the built-in demo model.
 * @throws ConfigError when the configuration is invalid or a hook is unknown. It names the path and
 * what is expected there
 *
 * @example
 * import { createGateway } from 'wireglot/gateway'
 *
 * const gateway = createGateway()
 * const request = { method: 'GET', path: '/v1/models', query: new URLSearchParams(), headers: {}, body: { parsed: undefined }, local: true }
 * console.log((await gateway.handle({ ...request, signal: new AbortController().signal })).status) // 200
 */
export function createGateway(
  config: GatewayConfig = demo,
  hooks: Hooks = {},
  transport: () => Transport = fetchTransport,
): Gateway {
  const parsed = parseConfig(config, environment())
  checkHooks(hooks)
  const service = serviceOf(parsed, hooks, transport)
  const admission = createAdmission(service)
  const isOpen = parsed.keys.length === 0 && !hooks.authenticate
  if (isOpen && parsed.cors?.origins.includes('*')) service.log('warn', { cors: '*' }, openToPages)
  const dispatch = createDispatch(service, admission)
  const cors = createCors(parsed.cors)
  const passPaths = createPassPaths(parsed.channels)
  const matched = (path: string) => matchPath(path, passPaths)
  const running = createRunning()
  const begin = createBeginning(service, running)

  return {
    localOnly: admission.localOnly,
    sockets: parsed.webSocket ? socketSettings(parsed.defaults) : undefined,
    match: matched,
    state: () => stateOf(service, running),
    learned: () => service.learned,
    identify: request => admission.identify(request, firstProtocol),
    claims: (match, method, mounted) => isClaimed(match, method, { mounted, hints: parsed.hints }),
    async handle(request, match = matched(request.path)) {
      const preflight = cors?.preflight(request)
      if (preflight) return { ...preflight, headers: safeHeaders(preflight.headers) }
      const shared = cors?.headers(request)
      const route = routeOf(match, { base: '', ...request })
      const protocol = 'protocol' in route ? route.protocol : firstProtocol
      const { trace, controller } = begin(request, { match, route, protocol })
      const { requestId, tape } = trace
      const heard = (response: GatewayResponse) => (tape ? tapedResponse(tape, response) : response)
      try {
        if (running.isClosing()) throw shuttingDown()
        if (sizeOf(request.headers) > longestHeaders)
          throw reject(431, 'invalid_request', 'the headers are too large')
        // A connection is there for longer than its handshake.
        const signal = route.kind === 'socket' ? request.signal : controller.signal
        const pending = dispatch(route, { ...request, signal }, trace)
        const response = await unlessGivenUp(pending, controller.signal)
        if (typeof response.body === 'string' || response.body instanceof Uint8Array)
          endWhole(trace, response.status, request.signal)
        const lastOne = running.isClosing() ? { connection: 'close' } : {}
        const headers = Object.assign(
          {},
          response.headers,
          lastOne,
          trace.rateLimit,
          shared,
          requestIdHeaders(requestId),
        )
        return heard({ ...response, headers: safeHeaders(headers) })
      } catch (thrown) {
        const rejection = rejectionFor(thrown, controller, trace)
        trace.ended(rejection.error.status, rejection)
        const notes = parsed.defaults.notesHeader ? notesHeader(rejection.notes) : {}
        const rejected = rejectionResponse(rejection, {
          protocol,
          headers: { ...notes, ...trace.rateLimit, ...shared, ...requestIdHeaders(requestId) },
          requestId,
          asList: asksForList(route, request),
        })
        return heard(rejected)
      }
    },
    async close(graceMs = 10_000) {
      await running.close(graceMs)
      await service.release()
    },
  }
}

const openToPages = [
  'there are no keys, and cors allows every web page:',
  'whatever page is open in a browser that reaches this gateway can use it',
].join(' ')

type Asked = { match: PathMatch; route: Route; protocol: Protocol }

/** How exchanges begin: each has a trace, and a controller that its client or the gateway aborts. */
function createBeginning(service: Service, running: ReturnType<typeof createRunning>) {
  const telemetry = createTelemetry()
  const { onRequest, onResponse, onStream, onUsage, onNotes, onAttempt, route, tape } =
    service.hooks
  const hooks = [onRequest, onResponse, onStream, onUsage, onNotes, onAttempt, route]
  const hasHooks = hooks.some(Boolean)
  const taping = tape && {
    hook: tape,
    secrets: secretsOfConfig(service.config),
    log: service.log,
  }

  return (request: GatewayRequest, { match, route: asked, protocol }: Asked) => {
    const controller = new PlainAbortController()
    // By itself, so that an open stream does not keep the whole request in memory.
    const { signal } = request
    const left = () => controller.abort()
    const started = Date.now()
    const requestId = newRequestId()
    const trace: Trace = {
      requestId,
      tape: taping && startTape(taping, { requestId, route: asked, request }),
      // Without hooks, an open stream does not keep the request of the host in memory, which may
      // hold the parsed body.
      request: hookRequest(request, hasHooks),
      started,
      observed: telemetry.start(started),
      stream: false,
      attempts: 0,
      notes: [],
      isOver: false,
      endings: [],
      ended(status, failure) {
        if (trace.isOver) return
        trace.isOver = true
        signal.removeEventListener('abort', left)
        running.leave(controller)
        for (const act of trace.endings) act()
        report(service, trace, { protocol, isCall: isCall(match), status, failure })
      },
    }
    if (signal.aborted) left()
    else signal.addEventListener('abort', left, { once: true })
    running.enter(controller)
    return { trace, controller }
  }
}

/**
 * Why an exchange failed. When a client disconnects, reading its body also fails: the disconnection
 * is the cause to report.
 */
function rejectionFor(thrown: unknown, controller: PlainAbortController, trace: Trace) {
  if (controller.aborted && !(thrown instanceof GatewayError)) return reasonOf(controller)
  return rejectionOf(thrown, trace.attempts > 0 ? 'upstream' : 'request')
}

function stateOf(
  { config, breakers, responseStore }: Service,
  running: ReturnType<typeof createRunning>,
): GatewayState {
  return {
    isClosing: running.isClosing(),
    webSocket: config.webSocket,
    ...(config.publicUrl !== undefined && { publicUrl: config.publicUrl }),
    inProgress: running.count(),
    ...(responseStore && { store: responseStore.isAway() ? 'unreachable' : 'ok' }),
    channels: config.channels.map(channel => {
      const failed = breakers.lastFailure(channel)
      const lastError = failed && 'rejection' in failed ? wordsOf(failed.rejection) : undefined
      return {
        name: channel.name,
        breaker: breakers.state(channel),
        ...(lastError !== undefined && { lastError }),
      }
    }),
  }
}

/**
 * The exchange ends with a whole response. One that was only read for its usage has nobody to get
 * it.
 */
function endWhole(trace: Trace, status: number, signal: Signal): void {
  if (signal.aborted) trace.ended(499, reasonOf(signal))
  else trace.ended(status)
}

const socketSettings = ({
  bodyLimitBytes,
  depthLimit,
  eventLimit,
  keepAliveMs,
}: ParsedConfig['defaults']): SocketSettings => ({
  messageLimitBytes: bodyLimitBytes,
  depthLimit,
  eventLimit,
  pingMs: keepAliveMs,
})

/**
 * Creates what all exchanges share. `release` frees its resources; it may be called several times.
 */
function serviceOf(
  config: ParsedConfig,
  hooks: Hooks,
  transport: () => Transport,
): Service & { release(): Promise<unknown> } {
  const responseStore = createResponseStore(config.store, hooks.store, {
    isAway: error =>
      log('warn', { error: messageOf(error) }, 'the response store cannot be reached'),
    isBroken: key =>
      log('warn', { key }, 'the response store returned something that is not a response'),
  })
  const limits = createLimits(
    config.limits,
    error => log('warn', { error: messageOf(error) }, 'the store of the limits cannot be reached'),
    hooks.peers,
  )
  const send = senderOf(hooks.peers)
  const breakers = createBreakers(config.channels, verdictOn, send.circuit)
  const learned = createLearned(send.learned)
  const logger = hooks.logger ?? toConsole
  const bytes = hooks.transport ? spreadable(hooks.transport) : transport()
  let released: Promise<unknown> | undefined
  checkTransport(config, bytes, hooks.transport !== undefined)
  const stopListening = listenToPeers(hooks.peers, { breakers, learned })

  async function attempt<T>(name: string, hook: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await hook()
    } catch (error) {
      log('warn', { hook: name, error }, 'a hook failed')
      return undefined
    }
  }

  function log(level: 'info' | 'warn' | 'error', details: object, message: string): void {
    // A logger that fails cannot be reported anywhere.
    try {
      const written: unknown = logger === false ? undefined : logger[level](details, message)
      if (written instanceof Promise) written.catch(() => {})
    } catch {}
  }

  return {
    config,
    hooks,
    catalog: createCatalog(config),
    limits,
    inFlight: createInFlight(config.defaults),
    memory: createMemory(
      config.limits.memoryBytes ?? defaultMemoryBytes(config.defaults.bodyLimitBytes),
    ),
    longWork: createLongWork(),
    breakers,
    learned,
    background: createBackground(),
    descriptions: new Map(),
    ...(config.defaults.cachePrefix && { prefixes: createPrefixes() }),
    send: createSend(bytes, log),
    isRepeated: createRepeats(),
    ...(config.compaction && { seal: createSeal(config.compaction.key, 'compaction') }),
    ...(responseStore && { responseStore }),
    log,
    attempt,
    release() {
      stopListening()
      released ??= Promise.all([bytes.close?.(), limits.close(), responseStore?.close()])
      return released
    },
  }
}

/**
 * Can the transport do what the channels ask for? One of the application may have proxies of its
 * own.
 * @throws ConfigError
 */
function checkTransport(
  { channels }: ParsedConfig,
  { usesProxies, usesWebSocket }: Transport,
  isOfApplication: boolean,
): void {
  const hasProxy = ({ proxy }: ParsedConfig['channels'][number]) =>
    Boolean(proxy) && proxy !== 'env'
  const through = isOfApplication || usesProxies ? undefined : channels.find(hasProxy)
  if (through)
    throw new ConfigError(
      'proxy',
      `expected none for the channel ${through.name}: this host sends requests with \`fetch\`, which has no proxies`,
    )
  for (const channel of channels) {
    const { name, transport } = channel
    if (transport === 'http') continue
    if (!usesWebSocket)
      throw new ConfigError(
        'transport',
        `expected http for the channel ${name}: the transport of this host has no WebSocket`,
      )
    if (hasProxy(channel))
      throw new ConfigError(
        'proxy',
        `expected none for the channel ${name}: WebSocket connections use no proxy`,
      )
  }
}

/** A refusal in the caller's protocol. `asList`: as the only member of a JSON list. */
function rejectionResponse(
  rejection: GatewayError,
  {
    protocol,
    requestId,
    headers: more,
    asList,
  }: { protocol: Protocol; requestId: string; headers: Record<string, string>; asList: boolean },
): GatewayResponse {
  const { status, headers, body } = rejection.wire ?? writtenFor(protocol, rejection, requestId)
  return {
    status,
    headers: safeHeaders({
      'content-type': 'application/json',
      ...headers,
      ...rejection.headers,
      ...more,
    }),
    body: asList && !body.trimStart().startsWith('[') ? `[${body}]` : body,
  }
}

/**
 * A transport of the application. It gets plain objects, which it may spread: in our calls `signal`
 * is a getter that creates the AbortSignal.
 */
function spreadable(hook: Transport): Transport {
  return {
    usesWebSocket: hook.usesWebSocket === true,
    send: call => hook.send({ ...call, signal: call.signal }),
    close: async () => hook.close?.(),
  }
}

/**
 * Rejects when the exchange is aborted for a reason other than its client's disconnection, so that
 * nothing that hangs can block it.
 */
function unlessGivenUp<T>(pending: Promise<T>, signal: Signal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener(
      'abort',
      () => signal.reason instanceof GatewayError && reject(signal.reason),
      { once: true },
    )
    pending.then(resolve, reject)
  })
}

const toConsole = loggerTo(line => console.error(line))

/** A Redis URL may contain a password. */
const messageOf = (error: unknown) =>
  (error instanceof Error ? error.message : 'unknown').replaceAll(/\/\/[^@\s/]*@/g, '//***@')

const [firstProtocol] = Object.values(protocols) as [Protocol]

/** The environment variables; only this function reads them. Edge runtimes may have none. */
function environment(): Record<string, string | undefined> {
  return (
    (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {}
  )
}

/** The limit for all headers together, for hosts that do not have one. */
const longestHeaders = 64 * 1024

function sizeOf(headers: Record<string, string>): number {
  let size = 0
  for (const name in headers) size += name.length + (headers[name]?.length ?? 0)
  return size
}

/** Clients that ask for a stream as a list get an error as its only member. */
const asksForList = (route: Route, { query }: GatewayRequest) =>
  route.kind === 'generate' &&
  route.stream === true &&
  route.protocol.address.asList?.(query) === true

function writtenFor(protocol: Protocol, rejection: GatewayError, requestId: string) {
  const { status, headers, body } = wireOf(rejection, protocol, requestId)
  return { status, headers, body: JSON.stringify(body) }
}
