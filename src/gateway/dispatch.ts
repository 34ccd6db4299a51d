import type { Operation, Protocol } from '../protocol.ts'
import type { Admission } from './admission/admission.ts'
import { isOriginAllowed } from './admission/cors.ts'
import type { Ask, Service, Trace } from './ask.ts'
import { type ReadBody, readJson } from './body/body.ts'
import { namedIn } from './body/model-name.ts'
import { changedRequest } from './body-hooks.ts'
import { clientSettings } from './endpoints/client-settings.ts'
import { createListing, type Listing } from './endpoints/listing.ts'
import { compact, countTokens } from './endpoints/provider-calls.ts'
import { Refusal, refuse, unknownModel } from './error.ts'
import { generate } from './exchange.ts'
import type { Identity } from './hooks.ts'
import { holdUntilEnd } from './in-flight.ts'
import { passThrough } from './passing/pass.ts'
import { type GatewayRequest, type GatewayResponse, jsonResponse } from './request.ts'
import type { Route } from './route.ts'
import { handleStored } from './stored/calls.ts'
import { hasTools } from './upstream/prepare.ts'
import { conversationKey } from './upstream/sticky.ts'

/** The response to a request whose route is known. @throws Refusal, TranslationError */
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
    const limit = isCounted(route) ? await admission.count(identity) : undefined
    if (limit) trace.rateLimit = limit
    const entering = isCounted(route) ? admission.enter(identity, request.signal) : undefined
    if (entering) holdUntilEnd(await entering, trace, request.signal)
    return handleKnown(service, list, route, { request, identity, trace })
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
      throw refuse(404, 'not_found', route.message, { code: 'unknown_url' })
    case 'wrong-method':
      throw wrongMethod(request, route.allow)
    default:
      return route satisfies never
  }
}

function wrongMethod({ method, headers }: GatewayRequest, allow: string): Refusal {
  if (headers['upgrade'] !== undefined)
    return new Refusal(
      {
        status: 426,
        kind: 'invalid_request',
        message: 'no WebSocket here: use POST and server-sent events',
      },
      { headers: { upgrade: 'HTTP/1.1', connection: 'upgrade' } },
    )
  return new Refusal(
    {
      status: 405,
      kind: 'invalid_request',
      message: `${method} is not allowed here: use ${allow}`,
    },
    { headers: { allow } },
  )
}

/** Routes that need authentication. */
async function handleKnown(
  service: Service,
  list: Listing,
  route: Exclude<Route, OpenRoute>,
  { request, identity, trace }: { request: GatewayRequest; identity: Identity; trace: Trace },
): Promise<GatewayResponse> {
  const { catalog } = service
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
      })
    case 'socket':
      if (!isOriginAllowed(service.config.cors, request.headers))
        throw refuse(
          403,
          'permission',
          'this origin may not open a WebSocket here: list it in "cors"',
        )
      return { status: 101, headers: {}, body: '' }
    case 'pass':
      return passThrough(service, route, { request, identity, trace })
    case 'stored':
      return handleStored(service, { ...route, request }, trace)
    case 'generate':
    case 'count-tokens':
    case 'compact':
      return handlers[route.kind](
        service,
        await readAsk(service, route, { request, identity, trace }),
        trace,
      )
    default:
      return route satisfies never
  }
}

const handlers = { generate, 'count-tokens': countTokens, compact }

async function readAsk(
  service: Service,
  { kind: operation, protocol, ...inPath }: CallRoute,
  { request, identity, trace }: { request: GatewayRequest; identity: Identity; trace: Trace },
): Promise<Ask> {
  const { catalog, hooks, attempt } = service
  const body = await readBody(service, request, { protocol, inPath: inPath.model, trace })
  const { outline } = body
  const named = namedIn(body, inPath.model)
  trace.requestedModel = named
  const routed = await attempt('route', () =>
    hooks.route?.({ model: named, protocol: protocol.name, identity, request: trace.request }),
  )
  const candidates = catalog.candidates(routed ?? named, protocol, identity, {
    hasTools: hasTools(outline),
    fallbacks: operation === 'generate',
    conversation: () => conversationKey(request.headers, body, protocol),
    toolTypes: () => protocol.toolTypes?.(body.value) ?? [],
  })
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

/** The body of a request, or the one that `onRequest` replaces it by. @throws Refusal */
async function readBody(
  service: Service,
  request: GatewayRequest,
  { protocol, inPath, trace }: { protocol: Protocol; inPath: string | undefined; trace: Trace },
): Promise<ReadBody> {
  const body = await readJson(request, service.config.defaults)
  if (!service.hooks.onRequest) return body
  trace.requestedModel = namedIn(body, inPath)
  const call = {
    protocol,
    model: trace.requestedModel,
    body: body.value,
    options: { path: request.path },
  }
  const change = await changedRequest(service, trace, call)
  return change ? { value: change.body, outline: change.body } : body
}

/** What upstreams have refused, by the name of each model that the key sees. */
function learnedFor({ learned, catalog }: Service, identity: Identity): Record<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { entry, model, fields } of learned.all()) {
    // An entry with `*` matches many names, so the name in the request is shown.
    const name = entry.endsWith('*') ? model : entry
    if (catalog.find(name, identity))
      found.set(name, [...new Set([...(found.get(name) ?? []), ...fields])])
  }
  return Object.fromEntries(found)
}
