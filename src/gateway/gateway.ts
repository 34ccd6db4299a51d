/**
 * The gateway without a server, for hosts of your own.
 * @module wireglot/gateway
 */
import type { Operation, Protocol } from '../protocol.ts'
import { protocols } from '../protocols/index.ts'
import { fetchTransport } from '../transports/fetch.ts'
import { type Signal, Stopper } from '../transports/stopper.ts'
import type { Transport } from '../transports/transport.ts'
import { createAdmission } from './admission.ts'
import type { Ask, Service, Trace } from './ask.ts'
import { isFault } from './attempts.ts'
import { readJson } from './body.ts'
import { createBreakers } from './breaker.ts'
import { clientSettings } from './client-settings.ts'
import { Refusal, reasonOf, refusalOf, refuse, shuttingDown, wireOf } from './error.ts'
import { generate } from './exchange.ts'
import { requestIdHeaders, safeHeaders } from './headers.ts'
import type { Hooks, Identity } from './hooks.ts'
import { createRepeats, newId } from './ids.ts'
import { createLimits } from './limits.ts'
import { createListing } from './listing.ts'
import { namedIn } from './model-name.ts'
import { demo, type GatewayConfig, longestMs, settle } from './options.ts'
import { compact, countTokens } from './own-calls.ts'
import { createPlayground } from './playground.ts'
import { report } from './record.ts'
import { type GatewayAnswer, type GatewayRequest, jsonAnswer } from './request.ts'
import { isOurs, type Route, routeOf } from './route.ts'
import { createMemory } from './store.ts'
import { answerStored } from './stored.ts'
import { createTelemetry } from './telemetry.ts'
import { createCatalog } from './upstream.ts'

export type { Signal } from '../transports/stopper.ts'
export type { Transport, TransportAnswer, TransportCall } from '../transports/transport.ts'
export type { Exchange, Hooks, Identity, Logger, Store, UsageRecord } from './hooks.ts'
export { ConfigError, type GatewayConfig } from './options.ts'
export type { GatewayAnswer, GatewayRequest, RequestBody } from './request.ts'

/** What HTTP means here, without any server. */
export type Gateway = {
  /** Is this path the gateway's, right or nearly right? Anything else belongs to the application around it. */
  serves(method: string, path: string): boolean
  /** Never rejects: whatever goes wrong is an answer in the caller's own dialect. */
  answer(request: GatewayRequest): Promise<GatewayAnswer>
  /**
   * Refuses new requests and waits for those under way; what goes on after `graceMs` (default 10,000) is told that it ends
   * here. Releases the sockets. Who calls it again may make the wait shorter.
   */
  close(graceMs?: number): Promise<void>
  /** Neither keys nor `"auth": "none"` nor a hook: only clients on the same machine are served. */
  readonly localOnly: boolean
}

/**
 * A gateway from a configuration; without one it serves the built-in demo model.
 * @throws ConfigError that names the place and what was expected there
 */
export function createGateway(config: GatewayConfig = demo, hooks: Hooks = {}, transport: () => Transport = fetchTransport): Gateway {
  const settled = settle(config, environment())
  const { page = false } = settled
  const memory = createMemory(settled.store, hooks.store, error => log('warn', { error: messageOf(error) }, 'the store of replies cannot be reached'))
  const service: Service = {
    config: settled,
    hooks,
    catalog: createCatalog(settled),
    limits: createLimits(settled.limits, error => log('warn', { error: messageOf(error) }, 'the store of the limits cannot be reached')),
    breakers: createBreakers(settled.channels, isFault),
    transport: hooks.transport ? spreadable(hooks.transport) : transport(),
    isRepeated: createRepeats(),
    ...(memory && { memory }),
    playground: createPlayground(settled.defaults),
    log,
    attempt,
  }
  const list = createListing(service)
  const admission = createAdmission(service)
  const telemetry = createTelemetry()
  const running = new Set<Stopper>()
  let closing = false
  let idle = () => {}
  const drained = new Promise<void>(resolve => {
    idle = resolve
  })
  let released: Promise<unknown> | undefined
  const lastOne = () => (closing ? { connection: 'close' } : {})

  async function answerRoute(route: Route, request: GatewayRequest, trace: Trace): Promise<GatewayAnswer> {
    switch (route.kind) {
      case 'home':
        return {
          status: 200,
          headers: { 'content-type': 'text/plain; charset=utf-8' },
          body: 'wireglot: a gateway between the wire protocols of language models\n',
        }
      case 'page':
        return service.playground.page()
      case 'wrong-path':
        throw refuse(404, 'not_found', route.message, { code: 'unknown_url' })
      case 'wrong-method': {
        if (request.headers['upgrade'] !== undefined)
          throw new Refusal(
            { status: 426, kind: 'invalid_request', message: 'no WebSocket here: use POST and server-sent events' },
            { headers: { upgrade: 'HTTP/1.1', connection: 'upgrade' } },
          )
        const { method } = request
        throw new Refusal(
          { status: 405, kind: 'invalid_request', message: `${method} is not allowed here: use ${route.allow}` },
          { headers: { allow: route.allow } },
        )
      }
      case 'list':
      case 'describe': {
        const identity = await admission.identify(request, route.protocol)
        trace.identity = identity
        const { address } = route.protocol
        if (route.kind === 'list') return jsonAnswer(address.list(await list(identity)))
        const model = service.catalog.find(route.model, identity)
        if (!model) throw unknownModel(route.model)
        return jsonAnswer(address.describe(model))
      }
      case 'client-config': {
        const identity = await admission.identify(request, route.protocol)
        trace.identity = identity
        return clientSettings(request, await list(identity))
      }
      case 'playground': {
        const identity = await admission.identify(request, route.protocol)
        trace.identity = identity
        const { playground } = service
        if (route.asked === 'state') return playground.state(identity, await list(identity))
        await admission.count(identity)
        return playground.translate(request)
      }
      case 'stored': {
        const identity = await admission.identify(request, route.protocol)
        trace.identity = identity
        await admission.count(identity)
        return answerStored(service, { ...route, request }, trace)
      }
      case 'generate':
      case 'count-tokens':
      case 'compact': {
        const identity = await admission.identify(request, route.protocol)
        trace.identity = identity
        await admission.count(identity)
        const ask = await readAsk(route, request, identity, trace)
        return answers[route.kind](service, ask, trace)
      }
      default:
        return route satisfies never
    }
  }

  async function readAsk(
    { kind: operation, protocol, ...told }: Extract<Route, { kind: Operation }>,
    request: GatewayRequest,
    identity: Identity,
    trace: Trace,
  ): Promise<Ask> {
    const body = await readJson(request, settled.defaults)
    const { outline } = body
    const named = namedIn(body, told.model)
    trace.modelAsked = named
    const routed = await attempt('route', () => hooks.route?.({ model: named, protocol: protocol.name, identity }))
    const candidates = service.catalog.candidates(routed ?? named, protocol, identity)
    if (!candidates) throw unknownModel(named)
    trace.stream = operation === 'generate' && (told.stream ?? protocol.wantsStream(outline) ?? false)
    const asList = trace.stream && (protocol.address.asList?.(request.query) ?? false)
    return { request, protocol, operation, body, model: named, stream: trace.stream, asList, candidates }
  }

  /** Hooks are guests: what they throw is told to the log and changes nothing. */
  async function attempt<T>(name: string, hook: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await hook()
    } catch (error) {
      log('warn', { hook: name, error }, 'a hook failed')
      return undefined
    }
  }

  function log(level: 'info' | 'warn' | 'error', details: object, message: string): void {
    try {
      hooks.logger?.[level](details, message)
    } catch {
      // A logger that cannot log has nobody to tell.
    }
  }

  return {
    localOnly: admission.localOnly,
    serves: (method, path) => isOurs(method, path, page),
    async answer(request) {
      const requestId = newId('req_')
      const route = routeOf({ base: '', ...request, page })
      if (!route)
        return {
          status: 404,
          headers: { 'content-type': 'application/json', ...requestIdHeaders(requestId) },
          body: JSON.stringify({ error: { message: `No such path: ${request.path}. Requests go to ${endpoints}.`, type: 'not_found' } }),
        }
      const protocol = 'protocol' in route ? route.protocol : firstProtocol
      const controller = new Stopper()
      let reported = false
      const started = Date.now()
      const trace: Trace = {
        requestId,
        started,
        observed: telemetry.start(started),
        stream: false,
        attempts: 0,
        notes: [],
        ended(status, failure) {
          if (reported) return
          reported = true
          running.delete(controller)
          if (closing && running.size === 0) idle()
          report(service, trace, protocol, status, failure)
        },
      }
      const left = () => controller.abort()
      if (request.signal.aborted) left()
      else request.signal.addEventListener('abort', left, { once: true })
      running.add(controller)
      try {
        if (closing) throw shuttingDown()
        if (sizeOf(request.headers) > longestHeaders) throw refuse(431, 'invalid_request', 'the headers are too large')
        const answer = await unlessGivenUp(answerRoute(route, { ...request, signal: controller.signal }, trace), controller.signal)
        if (typeof answer.body === 'string' || answer.body instanceof Uint8Array) trace.ended(answer.status)
        return { ...answer, headers: safeHeaders({ ...answer.headers, ...lastOne(), ...requestIdHeaders(requestId) }) }
      } catch (thrown) {
        // Whose body breaks off has gone.
        const refusal =
          controller.aborted && !(thrown instanceof Refusal) ? reasonOf(controller) : refusalOf(thrown, trace.attempts > 0 ? 'upstream' : 'request')
        trace.ended(refusal.error.status, refusal)
        const { status, headers, body } = refusal.wire ?? toText(wireOf(refusal, protocol, requestId))
        return {
          status,
          headers: safeHeaders({ 'content-type': 'application/json', ...headers, ...refusal.headers, ...requestIdHeaders(requestId) }),
          body: asksForList(route, request) && !body.trimStart().startsWith('[') ? `[${body}]` : body,
        }
      }
    },
    async close(graceMs = 10_000) {
      closing = true
      if (running.size === 0) idle()
      const timer = setTimeout(
        () => {
          for (const controller of running) controller.abort(shuttingDown())
        },
        Math.min(graceMs, longestMs),
      )
      await drained
      clearTimeout(timer)
      released ??= Promise.all([service.transport.close?.(), service.limits.close(), memory?.close()])
      await released
    },
  }
}

/** Of a call that whoever wrote the hook may spread into another: ours make its signal only when they are asked for it. */
function spreadable(hook: Transport): Transport {
  return { send: call => hook.send({ ...call, signal: call.signal }), close: async () => hook.close?.() }
}

/** Rejects when the exchange is given up for another reason than that its client has gone; so nothing that hangs can hold it. */
function unlessGivenUp<T>(answer: Promise<T>, signal: Signal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => signal.reason instanceof Refusal && reject(signal.reason), { once: true })
    answer.then(resolve, reject)
  })
}

/** A connection's address may hold a password. */
const messageOf = (error: unknown) => (error instanceof Error ? error.message : 'unknown').replaceAll(/\/\/[^@\s/]*@/g, '//***@')

const [firstProtocol] = Object.values(protocols) as [Protocol]

const endpoints = [...Object.values(protocols).map(({ address }) => address.path), '/v1/models'].join(', ')

/** The one place that knows of an environment; edge runtimes may have none. */
function environment(): Record<string, string | undefined> {
  return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {}
}

const answers = { generate, 'count-tokens': countTokens, compact }

/** Of all headers together, for hosts that set no bound themselves. */
const longestHeaders = 64 * 1024

function sizeOf(headers: Record<string, string>): number {
  let size = 0
  for (const name in headers) size += name.length + (headers[name]?.length ?? 0)
  return size
}

function unknownModel(model: string): Refusal {
  return refuse(404, 'not_found', `there is no model '${model.slice(0, 200)}' here; GET /v1/models lists those there are`, { param: 'model' })
}

/** Whoever asked for a stream as a list reads a failure as its only member. */
const asksForList = (route: Route, { query }: GatewayRequest) =>
  route.kind === 'generate' && route.stream === true && route.protocol.address.asList?.(query) === true

function toText({ status, headers, body }: { status: number; headers: Record<string, string>; body: unknown }) {
  return { status, headers, body: JSON.stringify(body) }
}
