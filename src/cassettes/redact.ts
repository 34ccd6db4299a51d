import { secretParameter, secretShape, spellingsOf } from '../gateway/secret-shapes.ts'

/** Replaces a secret. */
export const instead = '***'
/** "redacted" in base64, so that what decodes the file still can. */
const noMedia = 'cmVkYWN0ZWQ='

/** In UTF-16 units. Shorter secrets are replaced where they are a word of their own. */
const shortestSecret = 12

const privateHeader =
  /^(authorization|proxy-.+|cookie|set-cookie)$|(key|token|secret|password|credential|(^|-)(auth|authorization|signature|assertion|jwt))s?$/i
const publicHeader = /ratelimit|^idempotency-key$/i
/** Of addresses that are signed. */
const signature = /^sig$|signature|password|^auth/i

/**
 * Values of fields that are named like secrets. `token` alone is the text of a token in log
 * probabilities.
 */
const secretField =
  /((?:authorization|api[-_]?key|secret|password|passwd|passphrase|access[-_]?key|private[-_]?key|[-_a-z]token)"\s{0,9}:\s{0,9}")(?:[^"\\]|\\[\s\S])+/gi
/** The same in JSON inside of a string. */
const nestedField =
  /((?:authorization|api[-_]?key|secret|password|passwd|passphrase|access[-_]?key|private[-_]?key|[-_a-z]token)\\"\s{0,9}:\s{0,9}\\")(?:[^"\\]|\\[^"\\]|\\\\(?:\\["\\]|[^"\\]))+/gi
/** Deeper inside, up to a quote in the value. */
const deepField =
  /((?:authorization|api[-_]?key|secret|password|passwd|passphrase|access[-_]?key|private[-_]?key|[-_a-z]token)\\{3,7}"\s{0,9}:\s{0,9}\\{3,7}")(?:[^"\\]|\\+[^"\\])+/gi
/** As in files of variables, in headers that a text shows, and in addresses of databases. */
const secretVariable = /((?:KEY|TOKEN|SECRET|PASSWORD)=(?:\\{0,7}["'])?)[^\s"'\\]{6,}/g
const shownHeader = /(authorization: (?:basic|token) )[\w+/=.~-]{6,}/gi
const passwordInUrl = /(:\/\/[\w.%+-]{0,40}:)[^\s"'\\/@:]{1,80}(?=@)/g

/** Content of media in JSON: long base64 in the fields of all protocols, and in `data:` URLs. */
const mediaField =
  /("(?:data|bytes|b64_json|partial_image_b64|file_data|result|imageBytes|videoBytes)\\{0,7}"\s{0,9}:\s{0,9}\\{0,7}")(?:[\w+/=-]|\\{1,7}(?:[nr/]|u00[23]\w)){64,}/g
const mediaUrl = /(;base64,)(?:[\w+/=-]|\\{1,7}(?:[nr/]|u00[23]\w)){64,}/g

/** Removes secrets from what is written into a cassette. */
export type Redactor = {
  text(text: string): string
  /** Where secrets are in a text. */
  secretsIn(text: string): Span[]
  headers(headers: Record<string, string>): Record<string, string>
  /** With `?`, or empty. */
  query(query: URLSearchParams): string
  url(url: string): string
}

/**
 * `media`: keep images, audio and files. `keyNames`: headers and query parameters in which clients
 * of some protocol send keys.
 */
export type Redaction = {
  media: boolean
  keyNames: { headers: readonly string[]; query: readonly string[] }
}

/** A part of a text, in UTF-16 units. */
export type Span = readonly [from: number, to: number]

/** Each with what comes before the secret, if it has that. */
const shapes = [
  secretField,
  nestedField,
  deepField,
  secretVariable,
  shownHeader,
  passwordInUrl,
  secretShape,
] as const

/** `secrets`: values that are replaced wherever they are. */
export function createRedactor(
  secrets: readonly string[],
  { media, keyNames }: Redaction,
): Redactor {
  const sights = sightsOf(secrets)

  const text = (given: string): string => {
    let shown = given
    for (const { secret, sight } of sights)
      if (shown.includes(secret)) shown = shown.replaceAll(sight, instead)
    for (const shape of shapes)
      shown = shown.replace(shape, (_, before: unknown) =>
        typeof before === 'string' ? before + instead : instead,
      )
    return media
      ? shown
      : shown.replace(mediaField, `$1${noMedia}`).replace(mediaUrl, `$1${noMedia}`)
  }
  const secretsIn = (given: string): Span[] => {
    const known = sights.flatMap(({ secret, sight }) =>
      given.includes(secret)
        ? spansOf(given, typeof sight === 'string' ? plain(sight) : sight)
        : [],
    )
    return [...known, ...shapes.flatMap(shape => spansOf(given, shape))]
  }
  const isPrivate = (name: string) =>
    keyNames.headers.includes(name) || (privateHeader.test(name) && !publicHeader.test(name))
  const isKeyParameter = (name: string) =>
    keyNames.query.includes(name) || secretParameter.test(name) || signature.test(name)
  const query = (given: URLSearchParams): string => {
    const shown = new URLSearchParams()
    for (const [name, value] of given)
      shown.append(name, isKeyParameter(name) ? instead : text(value))
    return shown.size === 0 ? '' : `?${shown}`
  }
  return {
    text,
    secretsIn,
    query,
    headers: headers =>
      Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          isPrivate(name.toLowerCase()) ? instead : text(value),
        ]),
      ),
    url(given) {
      if (!URL.canParse(given)) return text(given)
      const url = new URL(given)
      const { username, password, origin, pathname, host, protocol } = url
      const base = username || password ? `${protocol}//${instead}@${host}` : origin
      return text(base + pathname) + query(url.searchParams)
    },
  }
}

type Sight = { secret: string; sight: string | RegExp }

/** Those of the configuration are the same each time, and so is often the key of the client. */
let last: { key: string; sights: Sight[] } = { key: '', sights: [] }

function sightsOf(secrets: readonly string[]): Sight[] {
  const key = secrets.join('\n')
  if (key !== last.key) {
    const spelled = [...new Set(secrets.flatMap(spellingsOf))].filter(Boolean)
    // The longest first: one may contain another.
    spelled.sort((one, other) => other.length - one.length)
    last = { key, sights: spelled.map(secret => ({ secret, sight: sightOf(secret) })) }
  }
  return last.sights
}

function sightOf(secret: string): string | RegExp {
  if (secret.length >= shortestSecret) return secret
  return new RegExp(`(?<![\\w-])${plain(secret).source}(?![\\w-])`, 'g')
}

const plain = (secret: string) => new RegExp(secret.replace(/[^\w\s]/g, '\\$&'), 'g')

const spansOf = (text: string, shape: RegExp): Span[] =>
  Array.from(text.matchAll(shape), ({ 0: found, 1: before = '', index }) => [
    index + before.length,
    index + found.length,
  ])
