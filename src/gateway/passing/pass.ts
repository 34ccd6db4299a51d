import type { Protocol } from '../../protocol.ts'
import { protocols } from '../../protocols/index.ts'
import { streamHeaders } from '../../sse/write.ts'
import { isOtherSite } from '../admission/cors.ts'
import { credentialsOf } from '../admission/credential.ts'
import { isJson } from '../body/body.ts'
import { clientLeft, reasonOf, reject, rejectionOf, unknownModel } from '../error.ts'
import { keptHeaders } from '../headers.ts'
import type { Identity } from '../hooks.ts'
import type { Share } from '../memory.ts'
import type { ParsedConfig } from '../options.ts'
import type { GatewayRequest, GatewayResponse } from '../request.ts'
import type { RequestContext, Service, Trace } from '../request-context.ts'
import { type PassRoute, rejectionFor } from '../route.ts'
import { openFirst } from '../upstream/attempts.ts'
import type { Deployment } from '../upstream/catalog.ts'
import type { Opened } from '../upstream/opened.ts'
import { readWhole } from '../upstream/response.ts'
import { likelyUseOfPassed, reserve } from '../use.ts'
import { type PassedBody, readPassed } from './body.ts'
import { isModelField } from './form.ts'
import { passes } from './paths.ts'
import { readUsage, takeUsage } from './usage.ts'

type PassRequest = { request: GatewayRequest; identity: Identity; trace: Trace; memory: Share }

/**
 * Sends a request unchanged, except for the name of its model, to a channel that lists its path,
 * and returns the response unchanged.
 * @throws GatewayError
 */
export async function passThrough(
  service: Service,
  route: PassRoute,
  { request, identity, trace, memory }: PassRequest,
): Promise<GatewayResponse> {
  const { hooks, config, attempt } = service
  const { protocol, path, listed, method } = route
  rejectWebPages(request, protocol, config.cors)
  const body = await readPassed(request, { ...config.defaults, memory })
  trace.tape?.({ type: 'request', body: body.sent(false).bytes(body.model ?? '') ?? '' })
  trace.passed = listed
  trace.requestedModel = body.model ?? listed
  const rejection = rejectionFor(route, identity)
  if (rejection) throw rejection
  const isLimited = isLimitedTo(identity, config.groups)
  if (isLimited) rejectUnclear(request, body)
  const { model } = body
  const routed =
    model === undefined
      ? undefined
      : await attempt('route', () =>
          hooks.route?.({ model, protocol: protocol.name, identity, request: trace.request }),
        )
  const candidates =
    model === undefined
      ? anyOf(service, route, identity)
      : ofModel(service, routed ?? model, { route, identity })
  const isRenamed = candidates.some(({ model: served }) => served !== model)
  const { type, bytes } = body.sent(isLimited || (model !== undefined && isRenamed))
  const incoming: RequestContext = {
    request,
    protocol,
    operation: 'generate',
    body: { outline: undefined, value: undefined },
    model: model ?? '',
    stream: false,
    candidates,
    passing: {
      path,
      method,
      ...(type !== undefined && { type }),
      isJson: body.outline !== undefined,
      bytes: ({ model: served }) => bytes(served),
    },
  }
  if (method === 'POST')
    await reserve(service, trace, candidates, () =>
      likelyUseOfPassed(path, body.outline, bytes(model ?? '') ?? ''),
    )
  const opened = await openFirst(service, incoming, trace).opened
  trace.firstByte = Date.now()
  return responseOf(opened, request, trace)
}

/**
 * Browsers let any web page send forms and load images from anywhere, without asking the server
 * first. They never add a key.
 */
function rejectWebPages(
  { method, headers }: GatewayRequest,
  { address }: Protocol,
  cors: ParsedConfig['cors'],
): void {
  if (credentialsOf(address, headers, new URLSearchParams()).length > 0) return
  if (method === 'POST' && !isJson(headers) && headers['origin'] !== undefined)
    throw reject(403, 'permission', 'a web page has to send a key in a header with a form')
  if (method !== 'POST' && isOtherSite(cors, headers))
    throw reject(403, 'permission', 'a web page of another site has to send a key in a header')
}

/** May this client use certain models only? */
function isLimitedTo({ group, models }: Identity, groups: ParsedConfig['groups']): boolean {
  const ofGroup = group !== undefined && Object.hasOwn(groups, group) ? groups[group]?.models : []
  const lists = group === undefined ? [models] : [models, ofGroup]
  return lists.some(list => list && !list.includes('*'))
}

/**
 * Refuses a request in which the upstream might read another model than the gateway.
 * @throws GatewayError 400, 403
 */
function rejectUnclear({ method, query }: GatewayRequest, { model, isClear }: PassedBody): void {
  if ([...query.keys()].some(isModelField))
    throw reject(403, 'permission', 'this API key cannot name a model in the query')
  if (method === 'POST' && model === undefined)
    throw reject(
      403,
      'permission',
      'this API key is for certain models: the request has to name its model, as JSON or as a form with one field `model`',
    )
  if (!isClear)
    throw reject(400, 'invalid_request', 'the form has a field name with unusual letters')
}

function ofModel(
  { catalog }: Service,
  model: string,
  { route, identity }: { route: PassRoute; identity: Identity },
): Deployment[] {
  const candidates = catalog.candidates(model, route.protocol, identity)
  if (!candidates) throw unknownModel(model)
  const able = candidates.filter(({ channel }) => passes(channel, route.path))
  if (able.length === 0)
    throw reject(
      404,
      'not_found',
      `no channel of the model '${model.slice(0, 200)}' serves ${route.path}`,
      { param: 'model' },
    )
  return able
}

/**
 * The channels for a request that names no model: all that list its path and serve a model that the
 * key sees.
 */
function anyOf(
  { config, catalog }: Service,
  { path, protocol }: PassRoute,
  identity: Identity,
): Deployment[] {
  const able = config.channels.filter(
    channel => passes(channel, path) && catalog.reaches(channel, identity),
  )
  if (able.length === 0)
    throw reject(404, 'not_found', `no channel that this key may use serves ${path}`)
  return able.flatMap(channel => {
    const isOf = ({ name }: { name: string }) => name === channel.name
    const entry = config.models.find(({ channels }) => channels.some(isOf))
    const link = entry?.channels.find(isOf)
    const [first = protocol.name] = channel.protocols ?? []
    const spoken = channel.protocols?.some(name => name === protocol.name)
      ? protocol
      : (Object.values(protocols).find(({ name }) => name === first) ?? protocol)
    return entry && link ? [{ channel, entry, link, model: '', protocol: spoken }] : []
  })
}

async function responseOf(
  opened: Opened,
  request: GatewayRequest,
  trace: Trace,
): Promise<GatewayResponse> {
  const { response, candidate } = opened
  const { status } = response
  const type = response.headers['content-type'] ?? ''
  const disposition = response.headers['content-disposition']
  const headers = {
    ...keptHeaders(response.headers, candidate.channel.returnHeaders),
    'content-type': harmless(type),
    'x-content-type-options': 'nosniff',
    ...(disposition !== undefined && { 'content-disposition': disposition }),
  }
  if (/^application\/([\w.+-]+\+)?json/i.test(type)) {
    const bytes = await readWhole(opened)
    takeUsage(bytes, trace)
    return { status, headers, body: bytes }
  }
  trace.memory?.release()
  const isStream = /^text\/event-stream/i.test(type)
  trace.stream = isStream
  const { signal } = request
  const left = () => trace.ended(499, reasonOf(signal))
  if (signal.aborted) left()
  else signal.addEventListener('abort', left, { once: true })
  return {
    status,
    headers: isStream ? { ...headers, ...streamHeaders } : headers,
    body: ended(opened, request.signal, trace),
  }
}

/**
 * Types that browsers do not run: as HTML, a script of an upstream could use the gateway with the
 * rights of its page.
 */
const harmless = (type: string) =>
  /^(application\/([\w.-]+\+)?json|application\/(octet-stream|x-ndjson|pdf)|text\/(plain|event-stream|vtt|csv)|(audio|video)\/[\w.+-]+|image\/(?!svg)[\w.+-]+)\s*(;|$)/i.test(
    type,
  )
    ? type
    : 'application/octet-stream'

/** The chunks of a response. The exchange ends with them. */
async function* ended(
  { response, watched }: Opened,
  signal: GatewayRequest['signal'],
  trace: Trace,
): AsyncGenerator<Uint8Array | string> {
  const read = trace.stream ? readUsage(trace) : undefined
  try {
    for await (const chunk of watched(response.body)) {
      read?.(chunk)
      yield chunk
    }
    trace.ended(response.status)
  } catch (error) {
    const rejection = signal.aborted ? reasonOf(signal) : rejectionOf(error, 'upstream')
    trace.ended(rejection.error.kind === 'cancelled' ? 499 : response.status, rejection)
    throw error
  } finally {
    // Nothing happens where it has ended already.
    trace.ended(499, clientLeft())
  }
}
