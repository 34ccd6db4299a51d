import { secretParameter, secretShape, spellingsOf } from '../gateway/secret-shapes.ts'

/** Replaces a secret. */
const instead = '***'
/** "redacted" in base64, so that what decodes the file still can. */
const noMedia = 'cmVkYWN0ZWQ='

/** In UTF-16 units. Shorter secrets are replaced where they are a word of their own. */
const shortestSecret = 12

const privateHeader =
  /^(authorization|proxy-.+|cookie|set-cookie)$|(^|-)(auth|authorization|key|token|secret|password|credential|signature|assertion|jwt)s?$/i
const publicHeader = /ratelimit|^idempotency-key$/i

/**
 * Values of fields that are named like secrets, also in JSON inside of a string. `token` alone is
 * the text of a token in log probabilities.
 */
const secretField =
  /((?:authorization|api[-_]?key|secret|password|passwd|access[-_]?key|private[-_]?key|[-_]token)\\?"\s{0,9}:\s{0,9}\\?")(?:[^"\\]|\\[^"])+/gi

/** Content of media in JSON: long base64 in the fields of all protocols, and in `data:` URLs. */
const mediaField =
  /("(?:data|bytes|b64_json|partial_image_b64|file_data|result|imageBytes|videoBytes)"\s{0,9}:\s{0,9}")[\w+/=-]{64,}/g
const mediaUrl = /(;base64,)[\w+/=-]{64,}/g

/** Removes secrets from what is written into a cassette. */
export type Redactor = {
  text(text: string): string
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
    shown = shown.replace(secretField, `$1${instead}`).replace(secretShape, instead)
    return media
      ? shown
      : shown.replace(mediaField, `$1${noMedia}`).replace(mediaUrl, `$1${noMedia}`)
  }
  const isPrivate = (name: string) =>
    keyNames.headers.includes(name) || (privateHeader.test(name) && !publicHeader.test(name))
  const isKeyParameter = (name: string) =>
    keyNames.query.includes(name) || secretParameter.test(name)
  const query = (given: URLSearchParams): string => {
    const shown = new URLSearchParams()
    for (const [name, value] of given)
      shown.append(name, isKeyParameter(name) ? instead : text(value))
    return shown.size === 0 ? '' : `?${shown}`
  }
  return {
    text,
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
  return new RegExp(`(?<![\\w-])${secret.replace(/[^\w\s]/g, '\\$&')}(?![\\w-])`, 'g')
}
