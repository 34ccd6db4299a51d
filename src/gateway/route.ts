import { faultOf, faultOfListing, isVersion, matchListing, matchOf, matchStored, noSuch, ruleOf, tidied, versionOf } from '../address/paths.ts'
import type { Headers, Operation, Protocol, RequestMatch, StoredMatch, StoredReplies } from '../protocol.ts'
import { protocols } from '../protocols/index.ts'

const all: readonly Protocol[] = Object.values(protocols)

export type Route =
  | { kind: Operation; protocol: Protocol; model?: string; stream?: boolean }
  | { kind: 'list'; protocol: Protocol }
  | { kind: 'describe'; protocol: Protocol; model: string }
  | StoredRoute
  | { kind: 'home' }
  | { kind: 'page' }
  | { kind: 'client-config'; protocol: Protocol }
  | { kind: 'playground'; protocol: Protocol; asked: keyof typeof playground }
  | { kind: 'wrong-method'; protocol: Protocol; allow: string }
  | { kind: 'wrong-path'; protocol: Protocol; message: string }

/** A call about a stored reply. */
export type StoredRoute = { kind: 'stored'; protocol: Protocol; stored: StoredReplies; asked: StoredMatch; method: 'GET' | 'DELETE' | 'POST' }

type Asked = { method: string; query: URLSearchParams; headers: Headers; base: string /** Is there one for browsers? */; page?: boolean }

/** The endpoint for settings of client programs. */
const settingsPath = '/client-config'

/** The endpoints that the playground page uses. */
const playground = { state: 'GET', translate: 'POST' } as const

const playgroundOf = (path: string) => (Object.keys(playground) as (keyof typeof playground)[]).find(asked => path === `/playground/${asked}`)

/** Does a browser ask for a page, and not a client whether the gateway is up? */
const wantsPage = (headers: Headers): boolean => /\btext\/html\b/i.test(headers['accept'] ?? '')

/** What a path is, before its method, headers and query are known. `path`: without repeated and trailing slashes. */
export type PathMatch = { raw: string; path: string } & (
  | { kind: 'home' | 'settings' | 'none' }
  | { kind: 'playground'; asked: keyof typeof playground }
  | { kind: 'call'; protocol: Protocol; found: RequestMatch }
  | { kind: 'stored'; found: Omit<StoredRoute, 'kind' | 'method'> }
  | { kind: 'listing'; model?: string }
)

/** Matches a path once, both for claiming the request and for routing it. */
export function matchPath(raw: string): PathMatch {
  const path = tidied(raw)
  const at = { raw, path }
  if (path === '/') return { ...at, kind: 'home' }
  if (path === settingsPath) return { ...at, kind: 'settings' }
  const asked = playgroundOf(path)
  if (asked) return { ...at, kind: 'playground', asked }
  const call = matchOf(path)
  if (call) return { ...at, kind: 'call', ...call }
  const listing = matchListing(path)
  if (listing) return { ...at, kind: 'listing', ...listing }
  const found = matchStored(path)
  return found ? { ...at, kind: 'stored', found } : { ...at, kind: 'none' }
}

/**
 * Is this path an exact endpoint of the gateway? An application around it keeps every other path: `/` unless there is a page, `/client-config`
 * unless there is a page or the gateway has a path of its own, and paths that are only similar to an endpoint.
 */
export function isClaimed(match: PathMatch, method: string, { page, mounted }: { page: boolean; mounted: boolean }): boolean {
  const isRead = method === 'GET' || method === 'HEAD'
  switch (match.kind) {
    case 'home':
      return page && isRead
    case 'settings':
      return (page || mounted) && isRead
    case 'playground':
      return page
    case 'call':
    case 'stored':
      return true
    case 'listing':
      // The model id is one segment: clients encode a slash in it.
      return /^\/v1(?:[a-z]+\d*)?\/models(?:\/[^/]+)?$/.test(match.path) && !isForeignOperation(method, match.path)
    case 'none':
      return false
    default:
      return match satisfies never
  }
}

/** Is this an operation on a model that is not supported, and not a description of a model requested in a wrong way? */
const isForeignOperation = (method: string, path: string): boolean => method === 'POST' && /:[a-z]+$/i.test(path)

/** The route of a request. Headers and query matter only for paths that several protocols share, and for paths that none has. */
export function routeOf(match: PathMatch, { method, query, headers, base, page }: Asked): Route {
  const { path } = match
  const isRead = method === 'GET' || method === 'HEAD'
  if (match.kind === 'home' && isRead) return { kind: page && wantsPage(headers) ? 'page' : 'home' }
  if (match.kind === 'settings' && isRead) return { kind: 'client-config', protocol: dialectOf(path, headers, query) }
  if (match.kind === 'playground' && page) {
    const { asked } = match
    const protocol = dialectOf(path, headers, query)
    return method === playground[asked] ? { kind: 'playground', protocol, asked } : { kind: 'wrong-method', protocol, allow: playground[asked] }
  }
  if (match.kind === 'call') {
    const { protocol, found } = match
    if (method !== 'POST') return { kind: 'wrong-method', protocol, allow: 'POST' }
    const { operation, ...asked } = found
    return { kind: operation, protocol, ...asked }
  }
  if (match.kind === 'listing') {
    const protocol = dialectOf(path, headers, query)
    const { model } = match
    if (isForeignOperation(method, path)) return { kind: 'wrong-path', protocol, message: noSuch(path) }
    if (method !== 'GET' && method !== 'HEAD') return { kind: 'wrong-method', protocol, allow: 'GET, HEAD' }
    return model === undefined ? { kind: 'list', protocol } : { kind: 'describe', protocol, model }
  }
  const fault = faultOf(path) ?? faultOfListing(path)
  if (!fault)
    return match.kind === 'stored'
      ? storedOf(method, match.found)
      : { kind: 'wrong-path', protocol: dialectNear(path, headers, query), message: noSuch(match.raw) }
  const message = `No such path: ${path}. ${ruleOf(fault.rule, versionOf(fault.path))} The right URL is ${base}${fault.path}`
  return { kind: 'wrong-path', protocol: fault.protocol ?? dialectOf(fault.path, headers, query), message }
}

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

/** The protocol that a path without an endpoint belongs to: by the endpoint that it extends, otherwise as the listing of the same version. */
function dialectNear(path: string, headers: Headers, query: URLSearchParams): Protocol {
  const extended = all.find(({ address }) => path.startsWith(`${address.path}/`))
  return extended ?? dialectOf(`/${path.split('/').find(isVersion) ?? 'v1'}/models`, headers, query)
}

const [firstName] = Object.keys(protocols) as [keyof typeof protocols]

function storedOf(method: string, found: Omit<StoredRoute, 'kind' | 'method'>): Route {
  const { protocol, asked } = found
  const allowed = methods[asked.part].find(one => one === method)
  return allowed ? { kind: 'stored', method: allowed, ...found } : { kind: 'wrong-method', protocol, allow: methods[asked.part].join(', ') }
}

const methods = { reply: ['GET', 'DELETE'], input: ['GET'], cancel: ['POST'] } as const
