import type { Note } from '../canonical/note.ts'

export type Headers = Record<string, string>

/** Beside these, only what the protocol's address asks for and what the channel's configuration says. */
export const upstreamDefaults: Headers = { 'content-type': 'application/json', 'user-agent': 'wireglot' }

/** What an upstream says of limits and retries, and the client acts on. Nothing else of its headers travels. */
const kept = /^(retry-after|retry-after-ms|x-should-retry|(.+-)?ratelimit-.+)$/

export function keptHeaders(upstream: Headers): Headers {
  return Object.fromEntries(Object.entries(upstream).filter(([name]) => kept.test(name)))
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

/** A value that may stand in a header; undefined when it may not. */
export function safeHeaders(headers: Headers): Headers {
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)),
  )
}
