import { urlOf } from '../../address/paths.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import { TranslationError } from '../../errors.ts'
import { hashHex } from '../../kit/conversation/ids.ts'
import { isOverflowMessage } from '../../kit/errors/full-context.ts'
import { parseJson } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import type { ProtocolName } from '../../protocols/index.ts'
import { textOf } from '../../sse/bytes.ts'
import { textOfFrames } from '../../sse/framing.ts'
import { framesOfList } from '../../sse/list.ts'
import { streamHeaders } from '../../sse/write.ts'
import { changesResponse, refuseIfStrict } from '../../translate/settings.ts'
import { PlainAbortController, type Signal } from '../../transports/abort-controller.ts'
import { replay } from '../../transports/bodies.ts'
import type {
  SocketMessages,
  TransportCall,
  TransportResponse,
} from '../../transports/transport.ts'
import { isKeyParameter } from '../admission/credential.ts'
import { atEnd } from '../at-end.ts'
import { renamed } from '../body/outline.ts'
import { endpointFor, socketFor } from '../channel.ts'
import { estimateBody } from '../endpoints/estimate.ts'
import {
  channelAtLimit,
  failureKind,
  GatewayError,
  reasonOf,
  reject,
  rejectionOf,
} from '../error.ts'
import { type Calling, callHeaders, safeHeaders, withLists } from '../headers.ts'
import type { Attempt } from '../hooks.ts'
import { freshIds } from '../ids.ts'
import { wordsOf } from '../record.ts'
import type { Passing, RequestContext, Service, Trace } from '../request-context.ts'
import { tapedChannel, tapedSettings, tapedUpstream } from '../tape.ts'
import { forgetCall } from '../use.ts'
import type { Deployment } from './catalog.ts'
import { demoUpstream } from './demo.ts'
import { told } from './dialect.ts'
import { asRefusal, type Failure, failed, failureOf, unreachable } from './failure.ts'
import { type Contentless, withContent } from './first-content.ts'
import type { Opened, Prepared } from './opened.ts'
import { demanding, prepare } from './prepare.ts'
import { redactText, withoutSecrets } from './redact.ts'
import { type RefusedField, refusedField } from './refused-field.ts'
import { beginningOf, readSome, watch } from './response.ts'

/** `dropped`: fields that the candidate has refused of this request. */
export type Target = {
  candidate: Deployment
  controller: PlainAbortController
  dropped: RefusedField[]
}

/** One attempt at one candidate. */
export async function call(
  service: Service,
  received: RequestContext,
  trace: Trace,
  { candidate, controller, dropped }: Target,
): Promise<Opened | Failure> {
  const { channel } = candidate
  const incoming = received.bodyFor ? { ...received, body: received.bodyFor(candidate) } : received
  // Its call is only read to its end: see `drainMs`.
  if (incoming.request.signal.aborted)
    return { rejection: reasonOf(incoming.request.signal), again: 'never', wasNotSent: true }
  const taken = await service.limits.take(`channel ${channel.name}`, channel.requestsPerMinute)
  if (taken?.waitMs !== undefined) {
    const rejection = channelAtLimit(taken.waitMs)
    return { rejection, again: 'elsewhere', wasNotSent: true }
  }
  const fields = dropped.map(({ field }) => field)
  let prepared: Prepared
  let embedded: TransportResponse | undefined
  try {
    prepared = incoming.passing
      ? passed(service, incoming.passing, candidate)
      : await prepare(service, incoming, candidate, fields)
    // The parsed body takes ten times the memory of its text: released while the upstream works.
    incoming.body.forget?.()
    if (channel.embedded) {
      tapeSent(service, trace, prepared, { method: 'POST', url: '', headers: {} })
      embedded = taped(trace, responseOfDemo(incoming, prepared))
    }
  } catch (error) {
    return { rejection: rejectionOf(error, 'request'), again: 'never', wasNotSent: true }
  }
  trace.notes = [...(incoming.notes ?? []), ...prepared.notes]
  // An attempt before it has cost something, though it failed.
  if (trace.usage) forgetCall(trace)
  trace.sentTo = candidate.model
  const sent = sizeSent(incoming, prepared)
  if (sent !== undefined) trace.sent = sent
  const began = performance.now()
  if (!embedded) limitTotal(channel, trace, controller)
  const result = embedded
    ? openedBy(prepared, controller)(embedded, prepared.stream ? 'stream' : 'json')
    : await send(service, incoming, trace, { prepared, signal: controller.signal })
  if ('again' in result && !mayStillCost(result)) delete trace.sent
  const usage = 'again' in result ? result.usage : undefined
  if (usage) trace.usage = usage
  else delete trace.usage
  if (service.hooks.onAttempt || trace.tape)
    reportAttempt(service, trace, { prepared, result, ms: Math.round(performance.now() - began) })
  // Only now it is certain that these fields, and nothing else, were refused.
  if (!('again' in result) && prepared.shape) {
    const lasting = dropped.filter(({ once }) => !once).map(({ field }) => field)
    service.learned.learn(candidate, prepared.shape, lasting)
  }
  return result
}

function responseOfDemo(
  { operation, recalled }: RequestContext,
  { candidate: { model, protocol }, body, stream, settings }: Prepared,
): TransportResponse {
  return demoUpstream(body, protocol, {
    ...freshIds(),
    ...demanding(operation, protocol),
    model,
    stream,
    state: { ...settings.context.request?.state, ...(recalled?.keeps && { store: true }) },
  })
}

/** The input tokens of a request by its size. Undefined: it costs nothing. */
function sizeSent({ operation, passing }: RequestContext, { bytes }: Prepared): number | undefined {
  if (operation === 'count-tokens' || bytes === undefined) return undefined
  return estimateBody(bytes, !passing || passing.isJson)
}

/**
 * The client has left, or the time is over: the upstream may have worked all the same. One that
 * refuses a request, or is not there, has not.
 */
const mayStillCost = ({ rejection: { error, cause } }: Failure) =>
  error.kind === 'cancelled' ||
  (error.kind === 'timeout' && error.protocol === undefined && cause === undefined)

function reportAttempt(
  { hooks, attempt }: Service,
  { requestId, identity = {}, request, notes, tape, attempts }: Trace,
  { prepared, result, ms }: { prepared: Prepared; result: Opened | Failure; ms: number },
): void {
  const { candidate, bytes } = prepared
  const { channel, model, protocol } = candidate
  const failure = 'again' in result ? { failure: failureIn(result, channel) } : undefined
  tape?.({ type: 'tried', attempt: attempts, ms, ...failure })
  if (!hooks.onAttempt) return
  const made: Attempt = {
    requestId,
    identity,
    channel: channel.name,
    model,
    protocol: protocol.name as ProtocolName,
    body: bytes ?? '',
    notes: [...notes] as Attempt['notes'],
    ms,
    ...failure,
  }
  void attempt('onAttempt', () => hooks.onAttempt?.(made, request))
}

function tapeSent(
  { config }: Service,
  { tape, attempts }: Trace,
  { candidate, bytes, notes }: Prepared,
  { method, url, headers }: Pick<TransportCall, 'method' | 'url' | 'headers'>,
): void {
  const { vendor } = candidate.channel
  tape?.({
    type: 'send',
    attempt: attempts,
    ...tapedChannel(candidate),
    ...(vendor && { vendor: vendor.name }),
    method,
    url,
    headers,
    body: bytes ?? '',
    notes: [...notes],
    settings: tapedSettings(candidate, config.defaults),
  })
}

const taped = ({ tape, attempts }: Trace, response: TransportResponse): TransportResponse =>
  tape ? tapedUpstream(tape, attempts, response) : response

function failureIn(
  { rejection }: Failure,
  channel: Deployment['channel'],
): NonNullable<Attempt['failure']> {
  const { status, protocol } = rejection.error
  const kind = failureKind(rejection)
  const isOfUpstream = protocol !== undefined || kind === 'upstream_status'
  return {
    status,
    kind,
    message: wordsOf(rejection),
    ...(isOfUpstream && { upstreamMessage: redactText(rejection.message, channel) }),
  }
}

type Opening = (response: TransportResponse, kind: Opened['kind']) => Opened

/**
 * Sends the request. `signal`: of the exchange. A timeout aborts only this attempt, so that the
 * next one may be tried.
 */
async function send(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  { prepared, signal }: { prepared: Prepared; signal: Signal },
): Promise<Opened | Failure> {
  const { channel, protocol: to } = prepared.candidate
  const { proxy, timeouts } = channel
  const { connectMs, firstByteMs, idleMs } = timeouts
  const { passing } = incoming
  const own = linked(signal)
  const tooLate = () => own.abort(reject(504, 'timeout', 'the upstream did not respond in time'))
  const timer = firstByteMs ? setTimeout(tooLate, firstByteMs) : undefined
  try {
    const { url, headers } = target(incoming, trace, prepared)
    const post = new Post({
      method: passing?.method ?? 'POST',
      url,
      headers,
      body: prepared.bytes,
      stop: own,
      connectMs,
      proxy,
      socket: passing ? undefined : socketFor(channel, to, incoming.operation),
    })
    tapeSent(service, trace, prepared, post)
    const received = await service.send(channel, post, notes => {
      trace.notes.push(...notes)
      refuseIfStrict(trace.notes, service.config.defaults.strict, to.name)
    })
    const response = taped(trace, withoutSecrets(withoutFraming(received, to), channel))
    const id = response.headers[to.address.requestIdHeader]
    if (id !== undefined) trace.upstreamRequestId = id
    const refused = (failure: Failure) => {
      if (passing || prepared.bytes === undefined) return failure
      const faults = channel.vendor?.requestFaults?.words ?? []
      return withRefusedField(asRefusal(failure, faults), prepared.bytes)
    }
    if (response.status < 200 || response.status >= 300) {
      const text = await readSome(watch(response.body, idleMs, own))
      return refused(failureOf(text, response, { from: to, to: incoming.protocol, channel }))
    }
    if (!incoming.stream) trace.firstByte = Date.now()
    const opened = openedBy(prepared, own)
    const result = await recognized(response, opened, passing ? 'any' : prepared.stream)
    clearTimeout(timer)
    const taken =
      'again' in result || incoming.operation !== 'generate' || passing
        ? result
        : await begun(service, incoming, result, own.signal)
    if (!('again' in taken)) return taken
    // The response is not used, and an unread body would block its connection.
    own.abort()
    return refused(taken)
  } catch (error) {
    return failureOfThrown(error, own.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** An error that came with a status of 200, in the words of the caller's protocol. */
function inWords(rejection: GatewayError, from: Protocol, to: Protocol): GatewayError {
  if (rejection.error.protocol === undefined) return rejection
  const { body } = from.encodeError(rejection.error).wire
  // Without a status, an unknown word for it reads as a failure of the server.
  const isFull = rejection.error.kind === 'internal' && isOverflowMessage(rejection.error.message)
  const read: CanonicalError = isFull
    ? { ...rejection.error, status: 400, kind: 'context_length' }
    : rejection.error
  const { error } = told(read, body, { from, to })
  return error === rejection.error
    ? rejection
    : new GatewayError(error, { headers: rejection.headers, failure: 'upstream_status' })
}

/** The response with its first content. `signal`: of the attempt. @throws when it was aborted */
async function begun(
  service: Service,
  incoming: RequestContext,
  opened: Opened,
  signal: Signal,
): Promise<Opened | Failure> {
  const { protocol, stream } = incoming
  const isSame = opened.candidate.protocol === protocol
  const { responseStore, hooks } = service
  // The bridge reads all of it.
  const isBare = !responseStore && !hooks.onResponse && !changesResponse(opened.settings)
  const passes = isSame && !stream && isBare
  let result: Opened | Contentless
  try {
    const to = stream && !hooks.onResponse ? protocol : undefined
    result = await withContent(opened, { passes, to })
  } catch (error) {
    if (signal.aborted) throw error
    return failed(rejectionOf(error, 'upstream'))
  }
  if (!('error' in result)) return result
  const { usage, asIs } = result
  const error = inWords(result.error, opened.candidate.protocol, protocol)
  const wire =
    isSame && !stream && asIs
      ? {
          status: 200,
          headers: {},
          body: textOf(
            opened.settings.model === undefined
              ? asIs
              : (renamed(asIs, opened.settings.model) ?? asIs),
          ),
        }
      : undefined
  return {
    ...failed(wire ? new GatewayError(error.error, { wire }) : error),
    ...(usage && { usage }),
  }
}

/** `signal`: of the attempt. */
function failureOfThrown(error: unknown, signal: Signal): Failure {
  if (signal.aborted) {
    const { reason } = signal
    const rejection = reason instanceof GatewayError ? reason : rejectionOf(error, 'upstream')
    return { rejection, again: 'elsewhere' }
  }
  if (TranslationError.is(error))
    return { rejection: rejectionOf(error, 'request'), again: 'never', wasNotSent: true }
  if (error instanceof GatewayError) {
    const isAway = error.failure === 'upstream_network'
    return { rejection: error, again: isAway ? 'elsewhere' : 'never' }
  }
  const rejection = unreachable(error)
  return { rejection, again: failureKind(rejection) === 'gateway' ? 'never' : 'here' }
}

/** Says which field of the request was refused. */
function withRefusedField(failure: Failure, sent: NonNullable<Prepared['bytes']>): Failure {
  const read = () => parseJson(typeof sent === 'string' ? sent : textOf(sent))
  const refused = refusedField(failure.rejection.error, read)
  return refused ? { ...failure, refusedField: refused } : failure
}

/**
 * A function of its own, so that its closures do not keep the request in memory: a stream may be
 * open for long.
 */
function openedBy({ candidate, settings }: Prepared, controller: PlainAbortController): Opening {
  const { idleMs } = candidate.channel.timeouts
  return (response, kind) => ({
    candidate,
    settings,
    response,
    kind,
    idleMs,
    watched: (body, silence) => watch(body, silence ?? idleMs, controller),
  })
}

type Way = Pick<Deployment['channel'], 'proxy'> & { socket: SocketMessages | undefined }

class Post implements TransportCall {
  readonly method: TransportCall['method']
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: Prepared['bytes']
  readonly stop: PlainAbortController
  readonly connectMs: number
  readonly proxy?: string
  readonly socket?: SocketMessages

  constructor({
    method,
    url,
    headers,
    body,
    stop,
    connectMs,
    proxy,
    socket,
  }: Pick<Post, 'method' | 'url' | 'headers' | 'body' | 'stop' | 'connectMs'> & Way) {
    this.method = method
    this.url = url
    this.headers = headers
    this.body = body
    this.stop = stop
    this.connectMs = connectMs
    if (proxy) this.proxy = proxy
    if (socket) this.socket = socket
  }

  get signal(): AbortSignal {
    return this.stop.platform
  }
}

/**
 * Starts the `totalMs` timer of the channel, once per exchange: from the first attempt to the last
 * byte of the response.
 */
export function limitTotal(
  { name, timeouts: { totalMs } }: Deployment['channel'],
  trace: Trace,
  controller: PlainAbortController,
): void {
  if (!totalMs || trace.limitedBy?.has(name)) return
  trace.limitedBy = new Set(trace.limitedBy).add(name)
  const tooLong = () => controller.abort(reject(504, 'timeout', 'the upstream took too long'))
  const timer = setTimeout(tooLong, totalMs)
  atEnd(trace, () => clearTimeout(timer))
}

/**
 * The response, with a stream of binary frames as text/event-stream. Without a content type its
 * first bytes decide: text stays unchanged.
 */
function withoutFraming(response: TransportResponse, { framing }: Protocol): TransportResponse {
  const type = response.headers['content-type'] ?? ''
  if (!framing || (type !== '' && !type.startsWith(framing.contentType))) return response
  if (type === '') return { ...response, body: textOfFrames(response.body, framing) }
  return {
    ...response,
    headers: { ...response.headers, 'content-type': streamHeaders['content-type'] },
    body: textOfFrames(response.body, framing),
  }
}

/** The request for a candidate, with the original body except for the name of the model. */
function passed({ config }: Service, passing: Passing, candidate: Deployment): Prepared {
  const { name } = candidate.protocol
  const settings = {
    context: { from: name, to: name },
    maxEventLength: config.defaults.eventLimit,
    ...freshIds(),
  }
  return { candidate, bytes: passing.bytes(candidate), stream: false, notes: [], settings }
}

/**
 * Is the response JSON, a stream or neither? Decided by its first bytes, because some servers send
 * streams as JSON and JSON as streams; else by its content type. `any`: a request that passes
 * through accepts everything but a web page.
 */
async function recognized(
  response: TransportResponse,
  opened: (response: TransportResponse, kind: Opened['kind']) => Opened,
  stream: boolean | 'any',
): Promise<Opened | Failure> {
  const type = response.headers['content-type'] ?? ''
  const isJson = /^application\/([\w.+-]+\+)?json/i.test(type)
  if (/html/i.test(type)) return notResponse()
  if (stream === 'any') return opened(response, 'json')
  const iterator = response.body[Symbol.asyncIterator]()
  const { start, read } = await beginningOf(iterator)
  const replayed = { ...response, body: replay(read, iterator) }
  const isObject = /^\s*\{/.test(start)
  const isEvent = /^\s*(data|event|id|retry)?:/.test(start)
  if (isEvent || (!isObject && /^text\/event-stream/i.test(type))) return opened(replayed, 'stream')
  // A JSON list is a stream in list form.
  if (/^\s*\[/.test(start) && (stream || !isJson))
    return opened({ ...replayed, body: framesOfList(replayed.body) }, 'stream')
  return isJson || isObject ? opened(replayed, 'json') : notResponse()
}

const notResponse = (): Failure =>
  failed(
    reject(
      502,
      'internal',
      'the upstream returned a web page or something else that is not a response: check its base address',
    ),
  )

function target(
  incoming: RequestContext,
  trace: Trace,
  { candidate, stream, settings }: Prepared,
): { url: string; headers: Record<string, string> } {
  const { channel, protocol, model } = candidate
  const { request, operation, protocol: caller, passing } = incoming
  if (passing) {
    const { path, type } = passing
    const accept = request.headers['accept'] ?? '*/*'
    const call = { channel, protocol, caller: protocol, path, accept, ...(type && { type }) }
    return addressed(call, request, trace)
  }
  const path = protocol.address.target({ operation, model, stream })
  if (path === undefined) throw reject(404, 'not_found', 'the channel has no such call')
  const type = 'application/json'
  const accept = stream ? (protocol.framing?.contentType ?? 'text/event-stream') : type
  const call = { channel, protocol, caller, path, accept, type }
  const place = addressed(call, request, trace)
  const { headers: more } = settings.context
  return more ? { url: place.url, headers: safeHeaders(withLists(place.headers, more)) } : place
}

type Addressed = Calling & { channel: Deployment['channel']; caller: Protocol; path: string }

/**
 * URL and headers of a call to a channel. Headers for the provider are forwarded from clients of
 * the same protocol.
 */
export function addressed(
  { caller, path, ...calling }: Addressed,
  request: RequestContext['request'],
  { observed, identity }: Pick<Trace, 'observed' | 'identity'>,
): { url: string; headers: Record<string, string> } {
  const { channel, protocol } = calling
  const endpoint = endpointFor(channel, protocol)
  if (!endpoint) throw reject(404, 'not_found', 'the channel has no such call')
  const isSame = protocol === caller
  const url = urlOf(endpoint.baseUrl, path, endpoint.addVersion)
  const headers = callHeaders(
    { auth: endpoint.auth, ...calling },
    { headers: ofClient(request.headers, identity), isSame, traced: observed.headers() },
  )
  return { url: isSame ? withQuery(url, request.query) : url, headers }
}

const idempotencyKey = 'idempotency-key'

/**
 * The headers of a client. Clients share the key of the channel, so one must not get what another
 * has asked for.
 */
function ofClient(
  headers: RequestContext['request']['headers'],
  identity: Trace['identity'],
): RequestContext['request']['headers'] {
  const { [idempotencyKey]: key } = headers
  const client = identity?.id ?? identity?.name
  if (key === undefined || client === undefined) return headers
  return { ...headers, [idempotencyKey]: hashHex(`${client}\n${key}`, 32) }
}

/**
 * Parameters of the APIs of Google that leave fields out of a response, and with them the usage.
 */
const masks: ReadonlySet<string> = new Set(['fields', '$fields'])

/**
 * Adds the client's query, without keys, masks of fields and parameters that the address has
 * already.
 */
function withQuery(address: string, query: URLSearchParams): string {
  if (query.size === 0) return address
  const url = new URL(address)
  const ours = new Set(url.searchParams.keys())
  for (const [name, value] of query)
    if (!isKeyParameter(name) && !ours.has(name) && !masks.has(name))
      url.searchParams.append(name, value)
  return url.href
}

/** A controller that is also aborted by the signal. */
export function linked(signal: Signal): PlainAbortController {
  const controller = new PlainAbortController()
  if (signal.aborted) controller.abort(signal.reason)
  else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true })
  return controller
}
