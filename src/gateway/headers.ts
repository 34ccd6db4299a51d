import type { Note } from '../canonical/note.ts'
import { isKeyHeader } from './credential.ts'

export type Headers = Record<string, string>

/** Headers of every upstream call. All others come from the protocol's address or from the channel's configuration. */
export const upstreamDefaults = (accept: string): Headers => ({ 'content-type': 'application/json', 'user-agent': 'wireglot', accept })

/** Headers of an upstream that clients act on: limits and retries. No other goes back to the client unless the configuration asks for it. */
const kept = /^(retry-after|retry-after-ms|x-should-retry|(.+-)?ratelimit-.+)$/

/** The headers of an upstream's answer that go back to the client. `more`: patterns that the channel's configuration adds. */
export function keptHeaders(upstream: Headers, more: readonly string[] = []): Headers {
  return only(upstream, name => kept.test(name) || (isOneOf(name, more) && !isPrivate(name)))
}

/** Headers of a client that go on to every upstream. All others stay here unless its protocol or the configuration lets them through. */
const traced = ['traceparent', 'tracestate']

/** The headers of a client that go on to an upstream. `more`: patterns that the channel's configuration adds. */
export function forwardedHeaders(client: Headers, more: readonly string[]): Headers {
  return only(client, name => traced.includes(name) || (isOneOf(name, more) && !isPrivate(name)))
}

/** A client's headers without those that its `connection` header lists: they are for this connection alone. */
export function beyondConnection(client: Headers): Headers {
  const listed = client['connection']?.split(',').map(name => name.trim().toLowerCase())
  return listed ? only(client, name => !listed.includes(name)) : client
}

function only(headers: Headers, isWanted: (name: string) => boolean): Headers {
  const wanted: Headers = {}
  for (const name in headers) if (isWanted(name)) wanted[name] = headers[name] as string
  return wanted
}

/** Does the name fit one of the patterns? A star at the end of a pattern stands for any rest. */
function isOneOf(name: string, patterns: readonly string[]): boolean {
  return patterns.some(pattern => {
    const wanted = pattern.toLowerCase()
    return wanted.endsWith('*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted
  })
}

const own =
  /^(authorization|proxy-.+|cookie|set-cookie|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|content-.+|accept-encoding|expect|forwarded|x-forwarded-.+)$/

/** Do HTTP clients write this header themselves, and refuse calls that bring their own? */
export const isOfConnection = (name: string): boolean => /^(content-length|transfer-encoding|keep-alive|upgrade|expect)$/i.test(name)

/** Belongs to this connection or to this client's account: never sent on, whatever the configuration says. */
export function isPrivate(name: string): boolean {
  const lower = name.toLowerCase()
  return own.test(lower) || isKeyHeader(lower)
}

export function requestIdHeaders(id: string): Headers {
  return { 'request-id': id, 'x-request-id': id }
}

const maxNotes = 20
const maxBytes = 4096

/** `wireglot-notes`: as many of the first notes as fit into a header that every proxy lets through. */
export function notesHeader(notes: readonly Note[]): Headers {
  if (notes.length === 0) return {}
  for (let count = Math.min(notes.length, maxNotes); count > 0; count--) {
    const value = ascii(JSON.stringify(notes.slice(0, count)))
    if (value.length <= maxBytes) return { 'wireglot-notes': value }
  }
  return { 'wireglot-notes': '[]' }
}

/** The same JSON in ASCII: headers take no other letters. */
function ascii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The headers with more words in those that are comma-separated lists; each word stands there once. */
export function withLists(headers: Headers, more: Headers = {}): Headers {
  const joined = { ...headers }
  for (const [name, value] of Object.entries(more)) {
    const words = [headers[name], value].flatMap(list => list?.split(',') ?? []).map(word => word.trim())
    joined[name] = [...new Set(words)].filter(Boolean).join(',')
  }
  return joined
}

/** The headers without those whose name or value HTTP does not allow. */
export function safeHeaders(headers: Headers): Headers {
  for (const name in headers) if (!isSafe(name, headers[name])) return only(headers, one => isSafe(one, headers[one]))
  return headers
}

/** May this name and this value stand in a header? */
export const isSafe = (name: string, value = ''): boolean => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
