import { faultOf, faultOfListing, isVersion, matchListing, matchOf, matchStored, noSuch, ruleOf, tidied, versionOf } from '../address/paths.ts'
import type { Headers, Operation, Protocol, StoredMatch, StoredReplies } from '../protocol.ts'
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

export type Asked = { method: string; path: string; query: URLSearchParams; headers: Headers; base: string /** Is there one for browsers? */; page?: boolean }

/** The endpoint for settings of client programs. */
const settingsPath = '/client-config'

/** The endpoints that the playground page uses. */
const playground = { state: 'GET', translate: 'POST' } as const

const playgroundOf = (path: string) => (Object.keys(playground) as (keyof typeof playground)[]).find(asked => path === `/playground/${asked}`)

/** Does a browser ask for a page, and not a client whether the gateway is up? */
const wantsPage = (headers: Headers): boolean => /\btext\/html\b/i.test(headers['accept'] ?? '')

/**
 * Is this path an exact endpoint of the gateway? An application around it keeps every other path: `/` unless there is a page, `/client-config`
 * unless there is a page or the gateway has a path of its own, and paths that are only similar to an endpoint.
 */
export function isClaimed(method: string, path: string, { page, mounted }: { page: boolean; mounted: boolean }): boolean {
  const tidy = tidied(path)
  const isRead = method === 'GET' || method === 'HEAD'
  if (tidy === '/') return page && isRead
  if (tidy === settingsPath) return (page || mounted) && isRead
  if (page && playgroundOf(tidy)) return true
  if (matchOf(tidy) ?? matchStored(tidy)) return true
  // The model id is one segment: clients encode a slash in it.
  return /^\/v1(?:[a-z]+\d*)?\/models(?:\/[^/]+)?$/.test(tidy) && !isForeignOperation(method, tidy)
}

/** Is this an operation on a model that is not supported, and not a description of a model requested in a wrong way? */
const isForeignOperation = (method: string, path: string): boolean => method === 'POST' && /:[a-z]+$/i.test(path)

/** The route of a request. Headers and query matter only for paths that several protocols share, and for paths that none has. */
export function routeOf({ method, path: raw, query, headers, base, page }: Asked): Route {
  const path = tidied(raw)
  const isRead = method === 'GET' || method === 'HEAD'
  if (path === '/' && isRead) return { kind: page && wantsPage(headers) ? 'page' : 'home' }
  if (path === settingsPath && isRead) return { kind: 'client-config', protocol: dialectOf(path, headers, query) }
  const asked = page ? playgroundOf(path) : undefined
  if (asked) {
    const protocol = dialectOf(path, headers, query)
    return method === playground[asked] ? { kind: 'playground', protocol, asked } : { kind: 'wrong-method', protocol, allow: playground[asked] }
  }
  const match = matchOf(path)
  if (match) {
    const { protocol, found } = match
    if (method !== 'POST') return { kind: 'wrong-method', protocol, allow: 'POST' }
    const { operation, ...asked } = found
    return { kind: operation, protocol, ...asked }
  }
  const list = matchListing(path)
  if (list) {
    const protocol = dialectOf(path, headers, query)
    const { model } = list
    if (isForeignOperation(method, path)) return { kind: 'wrong-path', protocol, message: noSuch(path) }
    if (method !== 'GET' && method !== 'HEAD') return { kind: 'wrong-method', protocol, allow: 'GET, HEAD' }
    return model === undefined ? { kind: 'list', protocol } : { kind: 'describe', protocol, model }
  }
  const fault = faultOf(path) ?? faultOfListing(path)
  if (!fault) return storedOf(method, path) ?? { kind: 'wrong-path', protocol: dialectNear(path, headers, query), message: noSuch(raw) }
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

function storedOf(method: string, path: string): Route | undefined {
  const match = matchStored(path)
  if (!match) return undefined
  const { protocol, asked } = match
  const allowed = methods[asked.part].find(one => one === method)
  return allowed ? { kind: 'stored', method: allowed, ...match } : { kind: 'wrong-method', protocol, allow: methods[asked.part].join(', ') }
}

const methods = { reply: ['GET', 'DELETE'], input: ['GET'], cancel: ['POST'] } as const
