import {
  faultOf,
  faultOfListing,
  isEndpoint,
  isVersion,
  matchListing,
  matchOf,
  matchStored,
  mountOf,
  noSuch,
  ruleOf,
  tidied,
  versionOf,
} from '../address/paths.ts'
import type {
  Headers,
  Operation,
  Protocol,
  RequestMatch,
  StoredMatch,
  StoredResponses,
} from '../protocol.ts'
import { protocols } from '../protocols/index.ts'
import { socketOf } from '../protocols/sockets.ts'
import type { GatewayError } from './error.ts'
import type { Identity } from './hooks.ts'
import type { PassPaths } from './passing/paths.ts'

const all: readonly Protocol[] = Object.values(protocols)

export type Route =
  | { kind: Operation; protocol: Protocol; model?: string; stream?: boolean }
  | { kind: 'list'; protocol: Protocol }
  | { kind: 'describe'; protocol: Protocol; model: string }
  | StoredRoute
  | PassRoute
  | { kind: 'home' }
  | { kind: 'socket'; protocol: Protocol }
  | { kind: 'client-config'; protocol: Protocol }
  | { kind: 'wrong-method'; protocol: Protocol; allow: string }
  | { kind: 'wrong-path'; protocol: Protocol; message: string }

/** A call about a stored response. */
export type StoredRoute = {
  kind: 'stored'
  protocol: Protocol
  stored: StoredResponses
  requested: StoredMatch
  method: 'GET' | 'DELETE' | 'POST'
}

/**
 * A call to another endpoint of an upstream. `listed`: the entry of `passThrough`. `protocol`: for
 * errors.
 */
export type PassRoute = {
  kind: 'pass'
  protocol: Protocol
  path: string
  listed: string
  method: 'POST' | 'GET' | 'DELETE'
}

type RequestInfo = {
  method: string
  query: URLSearchParams
  headers: Headers
  base: string
  upgrades?: boolean
}

/**
 * The error that the identity has for this call. Undefined: the call is free, or the client may
 * make it.
 */
export function rejectionFor(route: Route, { rejection }: Identity): GatewayError | undefined {
  const costs =
    route.kind === 'generate' ||
    route.kind === 'compact' ||
    (route.kind === 'pass' && route.method === 'POST')
  return costs ? rejection : undefined
}

/** The endpoint for settings of client programs. */
const settingsPath = '/client-config'

/**
 * What a path is, before its method, headers and query are known. `path`: without repeated and
 * trailing slashes.
 */
export type PathMatch = { raw: string; path: string } & (
  | { kind: 'home' | 'settings' | 'none' }
  | { kind: 'call'; protocol: Protocol; found: RequestMatch }
  | { kind: 'stored'; found: Omit<StoredRoute, 'kind' | 'method'> }
  | { kind: 'listing'; model?: string }
  | { kind: 'pass'; listed: string }
)

/**
 * Matches a path once, both for claiming the request and for routing it. `passPaths`: of the
 * configuration.
 */
export function matchPath(raw: string, passPaths: PassPaths = () => undefined): PathMatch {
  const path = tidied(raw)
  const at = { raw, path }
  if (path === '/') return { kind: 'home', ...at }
  if (path === settingsPath) return { kind: 'settings', ...at }
  const call = matchOf(path)
  if (call) return { kind: 'call', ...at, ...call }
  const listing = matchListing(path)
  if (listing) return { kind: 'listing', ...at, ...listing }
  const found = matchStored(path)
  if (found) return { kind: 'stored', ...at, found }
  const listed = passPaths(path)
  return listed === undefined ? { kind: 'none', ...at } : { kind: 'pass', ...at, listed }
}

/**
 * Is this the path of a call of a protocol? Others, such as listings, are of all protocols or none.
 */
export const isCall = ({ kind }: PathMatch): boolean =>
  kind === 'call' || kind === 'stored' || kind === 'pass'

/**
 * Is this path an exact endpoint of the gateway? An application around it keeps every other path:
 * `/`, `/client-config` unless the gateway has a path of its own, and, without `hints`, paths that
 * are only similar to an endpoint.
 */
export function isClaimed(
  match: PathMatch,
  method: string,
  { mounted, hints = false }: { mounted: boolean; hints?: boolean },
): boolean {
  const isRead = method === 'GET' || method === 'HEAD'
  switch (match.kind) {
    case 'settings':
      return mounted && isRead
    case 'call':
    case 'stored':
    case 'pass':
      return true
    case 'listing':
      // The model id is one segment: clients encode a slash in it.
      return (
        /^\/v1(?:[a-z]+\d*)?\/models(?:\/[^/]+)?$/.test(match.path) &&
        !isForeignOperation(method, match.path)
      )
    case 'none':
      return hints && hasHint(match.path, method)
    case 'home':
      return false
    default:
      return match satisfies never
  }
}

/**
 * Is this path nearly right, with a method that the right one takes? `GET /messages` may be a page
 * of the application.
 */
function hasHint(path: string, method: string): boolean {
  const fault = faultOf(path) ?? faultOfListing(path)
  if (!fault) return false
  if (matchOf(fault.path)) return method === 'POST'
  if (matchListing(fault.path)) return method === 'GET'
  return true
}

/**
 * Is this an operation on a model that is not supported, and not a description of a model requested
 * in a wrong way?
 */
const isForeignOperation = (method: string, path: string): boolean =>
  method === 'POST' && /:[a-z]+$/i.test(path)

/**
 * The route of a request. Headers and query matter only for paths that several protocols share, and
 * for paths that none has.
 */
export function routeOf(
  match: PathMatch,
  { method, query, headers, base, upgrades }: RequestInfo,
): Route {
  const { path } = match
  const isRead = method === 'GET' || method === 'HEAD'
  if (match.kind === 'home' && isRead) return { kind: 'home' }
  if (match.kind === 'settings' && isRead)
    return { kind: 'client-config', protocol: dialectOf(path, headers, query) }
  if (match.kind === 'call') {
    const { protocol, found } = match
    if (upgrades && method === 'GET' && found.operation === 'generate' && socketOf(protocol))
      return { kind: 'socket', protocol }
    if (method !== 'POST') return { kind: 'wrong-method', protocol, allow: 'POST' }
    const { operation, ...requested } = found
    return { kind: operation, protocol, ...requested }
  }
  if (match.kind === 'listing') {
    const protocol = dialectOf(path, headers, query)
    const { model } = match
    if (isForeignOperation(method, path))
      return { kind: 'wrong-path', protocol, message: noSuch(path) }
    if (method !== 'GET' && method !== 'HEAD')
      return { kind: 'wrong-method', protocol, allow: 'GET, HEAD' }
    return model === undefined ? { kind: 'list', protocol } : { kind: 'describe', protocol, model }
  }
  if (match.kind === 'pass') {
    const protocol = dialectNear(path, headers, query)
    const wanted = passing.find(one => one === method)
    return wanted
      ? { kind: 'pass', protocol, path, listed: match.listed, method: wanted }
      : { kind: 'wrong-method', protocol, allow: passing.join(', ') }
  }
  const fault = faultOf(path) ?? faultOfListing(path)
  if (!fault && match.kind === 'stored') return storedOf(method, match.found)
  if (!fault)
    return (
      behindPrefix(path, { base, headers, query }) ?? {
        kind: 'wrong-path',
        protocol: dialectNear(path, headers, query),
        message: noSuch(match.raw),
      }
    )
  const message = `No such path: ${path}. ${ruleOf(fault.rule, versionOf(fault.path))} The right URL is ${base}${fault.path}`
  return {
    kind: 'wrong-path',
    protocol: fault.protocol ?? dialectOf(fault.path, headers, query),
    message,
  }
}

/**
 * A path that ends in an endpoint: the gateway is mounted at another path than its client or its
 * application says.
 */
function behindPrefix(
  path: string,
  { base, headers, query }: Pick<RequestInfo, 'base' | 'headers' | 'query'>,
): Route | undefined {
  // The search takes longer with each step of the path.
  if (path.length > longestSearched) return undefined
  const { mount } = mountOf(path)
  const endpoint = path.slice(mount.length)
  if (mount === '' || !isEndpoint(endpoint)) return undefined
  const call = matchOf(endpoint) ?? matchStored(endpoint)
  return {
    kind: 'wrong-path',
    protocol: call?.protocol ?? dialectOf(endpoint, headers, query),
    message: `No such path: ${path}. This path ends in an endpoint: the right URL is ${base}${endpoint}, or mount with basePath: '${mount}' (fetchGateway) or app.use('${mount}', …) (Express and Connect).`,
  }
}

const longestSearched = 500

/** The protocol of a request to a path that several share, by headers and query. */
function dialectOf(path: string, headers: Headers, query: URLSearchParams): Protocol {
  let best: Protocol = protocols[firstName]
  let most = 0
  for (const protocol of all) {
    const claim = protocol.address.listingClaim(path, headers, query)
    if (claim > most) {
      most = claim
      best = protocol
    }
  }
  return best
}

/**
 * The protocol that a path without an endpoint belongs to: by the endpoint that it extends,
 * otherwise as the listing of the same version.
 */
function dialectNear(path: string, headers: Headers, query: URLSearchParams): Protocol {
  const extended = all.find(({ address }) => path.startsWith(`${address.path}/`))
  return extended ?? dialectOf(`/${path.split('/').find(isVersion) ?? 'v1'}/models`, headers, query)
}

const [firstName] = Object.keys(protocols) as [keyof typeof protocols]

function storedOf(method: string, found: Omit<StoredRoute, 'kind' | 'method'>): Route {
  const { protocol, requested } = found
  const allowed = methods[requested.part].find(one => one === method)
  return allowed
    ? { kind: 'stored', method: allowed, ...found }
    : { kind: 'wrong-method', protocol, allow: methods[requested.part].join(', ') }
}

const passing = ['POST', 'GET', 'DELETE'] as const

const methods = { response: ['GET', 'DELETE'], input: ['GET'], cancel: ['POST'] } as const
