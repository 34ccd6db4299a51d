import { writeExact } from '../kit/json/digits.ts'
import type { Operation } from '../protocol.ts'
import type { Admission } from './admission/admission.ts'
import { isOriginAllowed } from './admission/cors.ts'
import { asksFor, hasTools } from './asked.ts'
import { type ReadBody, readJson } from './body/body.ts'
import { checkedName, namedIn } from './body/model-name.ts'
import { changedRequest } from './body-hooks.ts'
import { unsealed } from './compaction/unsealed.ts'
import { withEffort } from './effort-suffix.ts'
import { clientSettings } from './endpoints/client-settings.ts'
import { createListing, type Listing } from './endpoints/listing.ts'
import { compact, countTokens } from './endpoints/provider-calls.ts'
import { GatewayError, isUnknownModel, reject, unknownModel } from './error.ts'
import { generate } from './exchange.ts'
import type { Identity } from './hooks.ts'
import { holdUntilEnd } from './in-flight.ts'
import { hasUnread } from './media/media.ts'
import type { Share } from './memory.ts'
import { passThrough } from './passing/pass.ts'
import { type GatewayRequest, type GatewayResponse, jsonResponse } from './request.ts'
import type { RequestContext, Service, Trace } from './request-context.ts'
import { type Route, rejectionFor } from './route.ts'
import { handleStored } from './stored/calls.ts'
import { conversationKey } from './upstream/sticky.ts'
import { likelyUse, reserve } from './use.ts'

/** The response to a request whose route is known. @throws GatewayError, TranslationError */
export type Dispatch = (
  route: Route,
  request: GatewayRequest,
  trace: Trace,
) => Promise<GatewayResponse>

type OpenRoute = Extract<Route, { kind: 'home' | 'wrong-path' | 'wrong-method' }>
type CallRoute = Extract<Route, { kind: Operation }>

export function createDispatch(service: Service, admission: Admission): Dispatch {
  const list = createListing(service)
  return async (route, request, trace) => {
    if (isOpen(route)) return handleOpen(route, request)
    const identity = await admission.identify(request, route.protocol)
    trace.identity = identity
    const memory = service.memory.share(identity.id ?? identity.name)
    trace.memory = memory
    holdUntilEnd(memory.release, trace, request.signal)
    const known = { request, identity, trace, memory }
    // A call that is refused in any case counts for no limit: its client should read why, and not
    // of a limit that its retries have reached.
    if (!isCounted(route) || rejectionFor(route, identity))
      return handleKnown(service, list, route, known)
    const counted = await admission.count(identity)
    if (counted) trace.rateLimit = counted.headers
    const entering = admission.enter(identity, request.signal)
    if (entering) holdUntilEnd(await entering, trace, request.signal)
    try {
      return await handleKnown(service, list, route, known)
    } catch (error) {
      if (counted && isUnknownModel(error)) trace.rateLimit = await counted.giveBack()
      throw error
    }
  }
}

const isOpen = (route: Route): route is OpenRoute =>
  route.kind === 'home' || route.kind === 'wrong-path' || route.kind === 'wrong-method'

/** Listings do not count as calls, and neither does a connection: its messages do. */
const isCounted = ({ kind }: Exclude<Route, OpenRoute>) =>
  kind !== 'list' && kind !== 'describe' && kind !== 'client-config' && kind !== 'socket'

/** Routes that need no key. */
async function handleOpen(route: OpenRoute, request: GatewayRequest): Promise<GatewayResponse> {
  switch (route.kind) {
    case 'home':
      return {
        status: 200,
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body: 'wireglot: a gateway between the wire protocols of language models\n',
      }
    case 'wrong-path':
      throw reject(404, 'not_found', route.message, { code: 'unknown_url' })
    case 'wrong-method':
      throw wrongMethod(request, route.allow)
    default:
      return route satisfies never
  }
}

function wrongMethod({ method, headers }: GatewayRequest, allow: string): GatewayError {
  if (headers['upgrade'] !== undefined)
    return new GatewayError(
      {
        status: 426,
        kind: 'invalid_request',
        message: 'no WebSocket here: use POST and server-sent events',
      },
      { headers: { upgrade: 'HTTP/1.1', connection: 'upgrade' } },
    )
  return new GatewayError(
    {
      status: 405,
      kind: 'invalid_request',
      message: `${method} is not allowed here: use ${allow}${hintFor(method)}`,
    },
    { headers: { allow } },
  )
}

/** What a browser asks before it sends a request of another origin. */
const hintFor = (method: string) =>
  method === 'OPTIONS' ? '; web pages of other origins need "cors" in the configuration' : ''

/** A request whose client is known. */
type Known = { request: GatewayRequest; identity: Identity; trace: Trace; memory: Share }

/** Routes that need authentication. */
async function handleKnown(
  service: Service,
  list: Listing,
  route: Exclude<Route, OpenRoute>,
  known: Known,
): Promise<GatewayResponse> {
  const { catalog } = service
  const { request, identity, trace } = known
  switch (route.kind) {
    case 'list': {
      const { address } = route.protocol
      const { models, failure } = await list(identity)
      if (failure) throw failure
      return jsonResponse(address.list(models), {}, address.listJson)
    }
    case 'describe': {
      const model = catalog.find(route.model, identity)
      if (!model) throw unknownModel(route.model)
      return jsonResponse(route.protocol.address.describe(model))
    }
    case 'client-config':
      return clientSettings(request, {
        models: (await list(identity)).models,
        learned: learnedFor(service, identity),
        webSocket: service.config.webSocket,
        publicUrl: service.config.publicUrl,
      })
    case 'socket':
      if (!isOriginAllowed(service.config.cors, request.headers))
        throw reject(
          403,
          'permission',
          'this origin may not open a WebSocket here: list it in "cors"',
        )
      return { status: 101, headers: {}, body: '', memory: connectionOf(service, known) }
    case 'pass':
      return passThrough(service, route, known)
    case 'stored':
      return handleStored(service, { ...route, request }, trace)
    case 'generate':
    case 'count-tokens':
    case 'compact': {
      const asked = await readContext(service, route, known)
      const incoming = service.seal ? await unsealed(service.seal, asked, identity) : asked
      if (request.generates?.() === false) return { status: 200, headers: {}, body: '' }
      if (route.kind !== 'count-tokens')
        await reserve(service, trace, incoming.candidates, () =>
          likelyUse(incoming.body, incoming.protocol),
        )
      return handlers[route.kind](service, incoming, trace)
    }
    default:
      return route satisfies never
  }
}

const handlers = { generate, 'count-tokens': countTokens, compact }

/** The memory of a WebSocket connection, which ends with its signal. @throws GatewayError 429 */
function connectionOf(
  { config, inFlight, memory }: Service,
  { request: { signal }, identity: { id, name } }: Known,
): Share {
  const client = id ?? name
  const leave = inFlight.take(`sockets ${client}`, config.limits.webSocketsPerKey)
  if (!leave) throw reject(429, 'rate_limit', 'too many WebSocket connections for this API key')
  const share = memory.share(client)
  const end = () => {
    leave()
    share.release()
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  return share
}

async function readContext(
  service: Service,
  route: CallRoute,
  known: Known,
): Promise<RequestContext> {
  const { catalog, hooks, attempt } = service
  const { request, identity, trace } = known
  const { kind: operation, protocol, ...inPath } = route
  if (inPath.model !== undefined) {
    trace.requestedModel = checkedName(inPath.model)
    // Before the body is read.
    if (!hooks.route && !catalog.find(inPath.model, identity)) throw unknownModel(inPath.model)
  }
  const received = await readBody(service, route, known)
  const named = namedIn(received, inPath.model)
  trace.requestedModel = named
  const asked = catalog.asked(named, identity)
  const body = asked ? withEffort(received, protocol, asked) : received
  const { outline } = body
  const routed = await attempt('route', () =>
    hooks.route?.({ model: named, protocol: protocol.name, identity, request: trace.request }),
  )
  const requested = {
    hasTools: hasTools(outline),
    fallbacks: operation === 'generate',
    conversation: () => conversationKey(request.headers, body, protocol),
    toolTypes: () => protocol.toolTypes?.(body.value) ?? [],
    asks: (what: Parameters<typeof asksFor>[2]) => asksFor(body.value, protocol, what),
  }
  const own = catalog.candidates(routed ?? asked?.model ?? named, protocol, identity, requested)
  const [first] = own ?? []
  const other = operation === 'generate' ? first?.entry.media?.route : undefined
  const better =
    first && other !== undefined && hasUnread({ protocol, body, request }, first)
      ? catalog.candidates(other, protocol, identity, { ...requested, fallbacks: false })
      : undefined
  const candidates =
    better && other !== undefined
      ? [...better.map(one => ({ ...one, fallback: other })), ...(own ?? [])]
      : own
  if (!candidates) throw unknownModel(named)
  trace.stream =
    operation === 'generate' && (inPath.stream ?? protocol.wantsStream(outline) ?? false)
  const asList = trace.stream && (protocol.address.asList?.(request.query) ?? false)
  return {
    request,
    protocol,
    operation,
    body,
    model: named,
    stream: trace.stream,
    asList,
    candidates,
  }
}

/** The body of a request, or the one that `onRequest` replaces it by. @throws GatewayError */
async function readBody(
  service: Service,
  route: CallRoute,
  { request, identity, trace, memory }: Known,
): Promise<ReadBody> {
  const body = await readJson(request, { memory, ...service.config.defaults })
  trace.tape?.({ type: 'request', body: body.bytes ?? writeExact(body.value) })
  const rejection = rejectionFor(route, identity)
  if (!rejection && !service.hooks.onRequest) return body
  trace.requestedModel = namedIn(body, route.model)
  // Only now, so that the record names the model.
  if (rejection) throw rejection
  const call = {
    protocol: route.protocol,
    model: trace.requestedModel,
    body: body.value,
    options: { path: request.path },
  }
  const change = await changedRequest(service, trace, call)
  return change ? { value: change.body, outline: change.body, length: body.length } : body
}

/** What upstreams have refused, by the name of each model that the key sees. */
function learnedFor({ learned, catalog }: Service, identity: Identity): Record<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { entry, model, field } of learned.all()) {
    // An entry with `*` matches many names, so the name in the request is shown.
    const name = entry.endsWith('*') ? model : entry
    if (catalog.find(name, identity))
      found.set(name, [...new Set([...(found.get(name) ?? []), field])])
  }
  return Object.fromEntries(found)
}
