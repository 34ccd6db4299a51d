import { encoded, join } from '../../sse/bytes.ts'
import type { TransportResponse } from '../../transports/transport.ts'
import { isPrivate } from '../headers.ts'
import type { ChannelEntry } from '../options.ts'
import { spellingsOf } from '../secret-shapes.ts'

/**
 * In UTF-16 units. Shorter ones, such as "ollama" or "EMPTY" for local servers, may be ordinary
 * words of a response.
 */
const shortestSecret = 12
/** Replaces a secret. */
const instead = '***'

type Chunk = Uint8Array | string
type Channel = Pick<ChannelEntry, 'apiKey' | 'headers'>

/**
 * Does the name of this header suggest that its value is a secret? Short values may be ordinary
 * words of a response.
 */
const isSecretByName = (name: string, secret: string) =>
  /(^|-)(auth|authorization|(api|auth|access)?(key|token)|secret|password)$/i.test(name) &&
  secret.length >= shortestSecret

/** By channel: to work them out takes as long as to read a short response. */
const found = new WeakMap<Channel, Search[]>()

function searchesOf(channel: Channel): Search[] {
  const known = found.get(channel)
  if (known) return known
  const searches = searchesFor(secretsOf(channel))
  found.set(channel, searches)
  return searches
}

/** All secrets in calls to this channel, in all spellings in which an upstream may repeat them. */
export function secretsOf({ apiKey, headers }: Channel): string[] {
  const secrets = apiKey ? [apiKey] : []
  for (const [name, value] of Object.entries(headers)) {
    const secret = value.replace(/^\S+\s+/, '')
    if (isPrivate(name) || isSecretByName(name, secret)) secrets.push(secret)
  }
  return secrets.flatMap(spellingsOf)
}

/** An error message of an upstream, with all secrets of the channel replaced. */
export function redactText(text: string, channel: Channel): string {
  return secretsOf(channel).reduce(
    (shown, secret) => (secret ? shown.replaceAll(sightOf(secret), instead) : shown),
    text,
  )
}

/**
 * What to search for. A short secret must be a separate word: it could be part of other words, and
 * of codes that clients need.
 */
function sightOf(secret: string): string | RegExp {
  if (secret.length >= shortestSecret) return secret
  return new RegExp(`(?<![\\w-])${secret.replace(/[^\w\s]/g, '\\$&')}(?![\\w-])`, 'g')
}

/**
 * The response with all secrets of the channel replaced: some upstreams repeat their API key in an
 * error, in a stream or in a header.
 */
export function withoutSecrets(response: TransportResponse, channel: Channel): TransportResponse {
  const { secrets: fetched } = response
  const clean = searchesOf(channel).reduce(without, response)
  return fetched ? searchesFor(fetched.flatMap(spellingsOf)).reduce(without, clean) : clean
}

function without({ status, headers, body }: TransportResponse, search: Search): TransportResponse {
  const clean: TransportResponse['headers'] = {}
  for (const name in headers) clean[name] = headers[name]?.replaceAll(search.secret, instead) ?? ''
  return {
    status,
    headers: clean,
    body: { [Symbol.asyncIterator]: () => redactChunks(body[Symbol.asyncIterator](), search) },
  }
}

function redactChunks(chunks: AsyncIterator<Chunk>, search: Search): AsyncIterator<Chunk> {
  const redactor = createRedactor(search)
  const clean = ({ done, value }: IteratorResult<Chunk>): IteratorResult<Chunk, undefined> => {
    if (!done) return { value: redactor.push(encoded(value)), done: false }
    const rest = redactor.end()
    return rest.length > 0 ? { value: rest, done: false } : { value: undefined, done: true }
  }
  return {
    next: () => chunks.next().then(clean),
    async return() {
      await chunks.return?.()
      return { value: undefined, done: true }
    },
  }
}

/**
 * How a secret is searched for: by Boyer-Moore-Horspool. `leaps`: by the byte at the place of the
 * secret's last byte, how far the search may skip.
 */
type Search = { secret: string; wanted: Uint8Array; leaps: Uint32Array }

const searchesFor = (secrets: readonly string[]): Search[] =>
  secrets.filter(({ length }) => length >= shortestSecret).map(searchFor)

export function searchFor(secret: string): Search {
  const wanted = new TextEncoder().encode(secret)
  const { length } = wanted
  const leaps = new Uint32Array(256).fill(length)
  for (let i = 0; i < length - 1; i++) leaps[wanted[i] as number] = length - 1 - i
  return { secret, wanted, leaps }
}

/**
 * Replaces a secret in a stream of bytes, also where it is cut. Only bytes that may be the
 * beginning of the secret are held back.
 */
export function createRedactor({ wanted, leaps }: Search): {
  push(chunk: Uint8Array): Uint8Array
  end(): Uint8Array
} {
  const { length } = wanted
  let held = nothing

  const isSecretAt = (bytes: Uint8Array, at: number, upTo = length): boolean => {
    for (let i = 0; i < upTo; i++) if (bytes[at + i] !== wanted[i]) return false
    return true
  }
  const find = (bytes: Uint8Array, from: number): number => {
    for (
      let last = from + length - 1;
      last < bytes.length;
      last += leaps[bytes[last] as number] as number
    )
      if (isSecretAt(bytes, last - length + 1)) return last - length + 1
    return -1
  }
  /** Where a suffix begins that may be the beginning of the secret. The end: there is none. */
  const mayBegin = (bytes: Uint8Array, from: number): number => {
    if (leaps[bytes.at(-1) as number] === length) return bytes.length
    for (let at = Math.max(from, bytes.length - length + 1); at < bytes.length; at++)
      if (isSecretAt(bytes, at, bytes.length - at)) return at
    return bytes.length
  }

  return {
    push(chunk) {
      const bytes = held.length > 0 ? join([held, chunk], held.length + chunk.length) : chunk
      let from = 0
      const parts: Uint8Array[] = []
      for (let at = find(bytes, 0); at >= 0; at = find(bytes, from)) {
        parts.push(bytes.subarray(from, at), cover)
        from = at + length
      }
      const end = mayBegin(bytes, from)
      held = end === bytes.length ? nothing : bytes.slice(end)
      const rest = from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end)
      if (parts.length === 0) return rest
      parts.push(rest)
      return join(
        parts,
        parts.reduce((sum, part) => sum + part.length, 0),
      )
    },
    end() {
      const rest = held
      held = nothing
      return rest
    },
  }
}

const nothing = new Uint8Array()
const cover = new TextEncoder().encode(instead)
