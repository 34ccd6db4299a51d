import type { Note } from '../canonical/note.ts'
import { setOwn } from '../kit/json/json.ts'
import type { Headers, Protocol } from '../protocol.ts'
import type { Auth } from '../vendors/vendor.ts'
import { isKeyHeader } from './admission/credential.ts'

/** A call to a channel. `type`: of its body. */
export type Calling = {
  channel: {
    apiKey?: string | undefined
    headers: Record<string, string>
    forwardHeaders: string[]
  }
  protocol: Protocol
  /** How the key is sent. Absent: as the protocol does. */
  auth?: Auth
  accept: string
  type?: string
}

/**
 * All headers of a call to a channel. `client`: the caller, with headers for the provider if it
 * speaks the same protocol, and with those that continue its trace.
 */
export function callHeaders(
  { channel, protocol, auth, accept, type }: Calling,
  client?: { headers: Headers; isSame: boolean; traced: Headers },
): Headers {
  const clientHeaders = client && beyondConnection(client.headers)
  const sent = Object.assign(
    type
      ? { 'content-type': type, 'user-agent': 'wireglot', accept }
      : { 'user-agent': 'wireglot', accept },
    clientHeaders && forwardedHeaders(clientHeaders, channel.forwardHeaders),
    client?.traced,
    protocol.address.upstreamHeaders(
      keyIn(auth) ? undefined : channel.apiKey,
      client?.isSame ? clientHeaders : undefined,
    ),
    keyIn(auth)?.(channel.apiKey),
  )
  return safeHeaders(Object.assign(sent, channel.headers))
}

/**
 * The header of the key, where the vendor does not take that of the protocol. Undefined: that of
 * the protocol.
 */
function keyIn(auth: Auth | undefined): ((key: string | undefined) => Headers) | undefined {
  if (auth === undefined || auth === 'protocol' || auth === 'none') return undefined
  return key => {
    if (key === undefined) return {}
    if (auth === 'bearer') return { authorization: `Bearer ${key}` }
    return { [auth]: key }
  }
}

/**
 * Upstream headers that clients use: rate limits and retries. Others are returned only if the
 * configuration lists them.
 */
const kept = /^(retry-after|retry-after-ms|x-should-retry)$|^(.+-)?ratelimit-./

/**
 * The upstream headers that are returned to the client. `more`: patterns of the channel's
 * configuration.
 */
export function keptHeaders(upstream: Headers, more: readonly string[] = []): Headers {
  return only(upstream, name => kept.test(name) || (isOneOf(name, more) && !isPrivate(name)))
}

/**
 * Client headers that are forwarded to every upstream. Others are forwarded only by the protocol's
 * address or the configuration.
 */
const traced = ['traceparent', 'tracestate']

/** Of the APIs of Google: it leaves fields out of a response, and with them the usage. */
const fieldMask = 'x-goog-fieldmask'

/**
 * The client headers that are forwarded to an upstream. `more`: patterns of the channel's
 * configuration.
 */
export function forwardedHeaders(client: Headers, more: readonly string[]): Headers {
  return only(
    client,
    name =>
      traced.includes(name) || (isOneOf(name, more) && !isPrivate(name) && name !== fieldMask),
  )
}

/** The headers without those that the `connection` header lists: they are hop-by-hop. */
function beyondConnection(client: Headers): Headers {
  const listed = client['connection']?.split(',').map(name => name.trim().toLowerCase())
  return listed ? only(client, name => !listed.includes(name)) : client
}

function only(headers: Headers, isWanted: (name: string) => boolean): Headers {
  const wanted: Headers = {}
  for (const name in headers) if (isWanted(name)) setOwn(wanted, name, headers[name])
  return wanted
}

/** Does the name match one of the patterns? A `*` at the end matches any rest. */
function isOneOf(name: string, patterns: readonly string[]): boolean {
  return patterns.some(pattern => {
    const wanted = pattern.toLowerCase()
    return wanted.endsWith('*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted
  })
}

const own =
  /^(authorization|proxy-.+|cookie|set-cookie|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|content-.+|accept-encoding|expect|forwarded|x-forwarded-.+)$/

/** Is this header set by the HTTP client itself, which would refuse another value? */
export const isOfConnection = (name: string): boolean =>
  /^(content-length|transfer-encoding|keep-alive|upgrade|expect)$/i.test(name)

/**
 * Is the header hop-by-hop, or a credential? Such headers are never forwarded, whatever the
 * configuration says.
 */
export function isPrivate(name: string): boolean {
  const lower = name.toLowerCase()
  return own.test(lower) || isKeyHeader(lower)
}

export function requestIdHeaders(id: string): Headers {
  return { 'request-id': id, 'x-request-id': id }
}

const maxNotes = 20
const maxBytes = 4096

/** The header `wireglot-notes`, with as many notes as fit into a size that every proxy accepts. */
export function notesHeader(notes: readonly Note[]): Headers {
  if (notes.length === 0) return {}
  for (let count = Math.min(notes.length, maxNotes); count > 0; count--) {
    const value = ascii(JSON.stringify(notes.slice(0, count)))
    if (value.length <= maxBytes) return { 'wireglot-notes': value }
  }
  return { 'wireglot-notes': '[]' }
}

/** The same JSON with escapes instead of letters outside of ASCII, which headers cannot contain. */
function ascii(json: string): string {
  return json.replace(
    /[\u007f-\uffff]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Adds words to headers that are comma-separated lists, each word only once. */
export function withLists(headers: Headers, more: Headers = {}): Headers {
  const joined = { ...headers }
  for (const [name, value] of Object.entries(more)) {
    const words = [headers[name], value]
      .flatMap(list => list?.split(',') ?? [])
      .map(word => word.trim())
    joined[name] = [...new Set(words)].filter(Boolean).join(',')
  }
  return joined
}

/** The headers without those with an invalid name or value. */
export function safeHeaders(headers: Headers): Headers {
  for (const name in headers)
    if (!isSafe(name, headers[name])) return only(headers, one => isSafe(one, headers[one]))
  return headers
}

/** Are this name and value valid in HTTP? */
export const isSafe = (name: string, value = ''): boolean =>
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
