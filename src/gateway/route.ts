import type { Operation, Protocol, StoredMatch, StoredReplies } from '../protocol.ts'
import { protocols } from '../protocols/index.ts'
import type { Headers } from './headers.ts'

const all: readonly Protocol[] = Object.values(protocols)

export type Route =
  | { kind: Operation; protocol: Protocol; model?: string; stream?: boolean }
  | { kind: 'list'; protocol: Protocol }
  | { kind: 'describe'; protocol: Protocol; model: string }
  | StoredRoute
  | { kind: 'home' }
  | { kind: 'wrong-method'; protocol: Protocol; allow: string }
  | { kind: 'wrong-path'; protocol: Protocol; message: string }

/** A call about a reply of an earlier exchange. */
export type StoredRoute = { kind: 'stored'; protocol: Protocol; stored: StoredReplies; asked: StoredMatch; method: 'GET' | 'DELETE' | 'POST' }

export type Asked = { method: string; path: string; query: URLSearchParams; headers: Headers; base: string }

const listing = /^\/v\d+[a-z]*\/models(?:\/(.+))?$/

/** Is this path ours, with whatever method? A path that nearly is one of ours is: its answer says what is wrong with it. */
export function isOurs(method: string, path: string): boolean {
  const tidy = tidied(path)
  if (tidy === '/') return method === 'GET' || method === 'HEAD'
  return isEndpoint(tidy) || mendOf(tidy) !== undefined
}

/** Undefined: not one of our paths. Queries never decide but for listings, which several dialects share. */
export function routeOf({ method, path: raw, query, headers, base }: Asked): Route | undefined {
  const path = tidied(raw)
  if (path === '/') return method === 'GET' || method === 'HEAD' ? { kind: 'home' } : undefined
  const match = matchOf(path)
  if (match) {
    const { protocol, found } = match
    if (method !== 'POST') return { kind: 'wrong-method', protocol, allow: 'POST' }
    const { operation, ...told } = found
    return { kind: operation, protocol, ...told }
  }
  const list = listing.exec(path)
  if (list) {
    const protocol = dialectOf(path, headers, query)
    if (method !== 'GET' && method !== 'HEAD') return { kind: 'wrong-method', protocol, allow: 'GET, HEAD' }
    const [, model] = list
    return model === undefined ? { kind: 'list', protocol } : { kind: 'describe', protocol, model: decoded(model) }
  }
  const mend = mendOf(path) ?? mendOfListing(path)
  if (!mend) return storedOf(method, path)
  const message = `No such path: ${path}. ${mend.rule} The right URL is ${base}${mend.path}`
  return { kind: 'wrong-path', protocol: mend.protocol ?? dialectOf(mend.path, headers, query), message }
}

/** Whose shape a model listing has, and any answer that is not to one protocol's own path. */
export function dialectOf(path: string, headers: Headers, query: URLSearchParams): Protocol {
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

const [firstName] = Object.keys(protocols) as [keyof typeof protocols]

function matchOf(path: string) {
  for (const protocol of all) {
    const found = protocol.address.match(path)
    if (found) return { protocol, found }
  }
  return undefined
}

function matchStored(path: string) {
  for (const protocol of all) {
    const { stored } = protocol.address
    const asked = stored?.match(path)
    if (stored && asked) return { protocol, stored, asked }
  }
  return undefined
}

function storedOf(method: string, path: string): Route | undefined {
  const match = matchStored(path)
  if (!match) return undefined
  const { protocol, asked } = match
  const allowed = methods[asked.part].find(one => one === method)
  return allowed ? { kind: 'stored', method: allowed, ...match } : { kind: 'wrong-method', protocol, allow: methods[asked.part].join(', ') }
}

const methods = { reply: ['GET', 'DELETE'], input: ['GET'], cancel: ['POST'] } as const

type Mend = { path: string; rule: string; protocol?: Protocol }

/** The path that was meant, and the rule of composing addresses that was broken. */
function mendOf(path: string): Mend | undefined {
  const single = path.replace(/^((?:\/[^/]+)*?)(\/v\d+[a-z]*)\2+(?=\/)/, '$2')
  if (single !== path && isEndpoint(single))
    return { ...endpoint(single), rule: 'The URL must contain exactly one /v1: this client adds it by itself, so its base address ends before it.' }
  const versioned = `/v1${path}`
  if (matchOf(versioned) ?? matchStored(versioned))
    return { ...endpoint(versioned), rule: 'The URL must contain exactly one /v1: this client adds only the endpoint, so its base address ends in /v1.' }
  for (const { address } of all) {
    const short = address.path.slice(address.path.indexOf('/', 1))
    for (const used of [address.path, short]) {
      if (!path.startsWith(`${used}/`)) continue
      const rest = path.slice(used.length)
      const meant = isEndpoint(rest) ? rest : `/v1${rest}`
      if (isEndpoint(meant)) return { ...endpoint(meant), rule: 'A full endpoint is never a base address: the client adds the endpoint by itself.' }
    }
  }
  return undefined
}

/** Apart from `mendOf`, for `/models` alone may well be a page of the application around us. */
function mendOfListing(path: string): Mend | undefined {
  return /^\/models(\/|$)/.test(path)
    ? { path: `/v1${path}`, rule: 'The URL must contain exactly one /v1: this client adds only the endpoint, so its base address ends in /v1.' }
    : undefined
}

const isEndpoint = (path: string) => (matchOf(path) ?? matchStored(path)) !== undefined || listing.test(path)

function endpoint(path: string): { path: string; protocol?: Protocol } {
  const protocol = (matchOf(path) ?? matchStored(path))?.protocol
  return protocol ? { path, protocol } : { path }
}

/** A base address with a slash at its end is no fault worth an error. */
function tidied(path: string): string {
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
