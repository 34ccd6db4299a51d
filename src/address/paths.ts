import { unescaped } from '../kit/text/text.ts'
import type { Protocol, RequestMatch, StoredMatch, StoredResponses } from '../protocol.ts'
import { protocols } from '../protocols/index.ts'

const all: readonly Protocol[] = Object.values(protocols)

/** A path segment with the version of an API: `/v1`, `/v1beta`. */
export const isVersion = (segment: string): boolean => /^v\d+(?:[a-z]+\d*)?$/.test(segment)
const listing = /^\/v\d+(?:[a-z]+\d*)?\/models(?:\/(.+))?$/

/** The rules for composing an address; `ruleOf` has them as sentences. */
export type PathRule = 'doubled-version' | 'missing-version' | 'endpoint-as-base'

/** The intended path, and the violated rule. */
export type PathFault = { rule: PathRule; path: string; protocol?: Protocol }

/** A rule as a sentence. `version`: the segment that the path must contain once, with its slash. */
export function ruleOf(rule: PathRule, versionPath: string): string {
  switch (rule) {
    case 'doubled-version':
      return `The URL must contain exactly one ${versionPath}: this client adds it by itself, so its base address ends before it.`
    case 'missing-version':
      if (versionPath === '')
        return 'The paths of this client have no version, so its base address ends before one.'
      return `The URL must contain exactly one ${versionPath}: this client adds only the endpoint, so its base address ends in ${versionPath}.`
    case 'endpoint-as-base':
      return 'A full endpoint is never a base address: the client adds the endpoint by itself.'
    default:
      return rule satisfies never
  }
}

const endpoints = [...all.map(({ address }) => address.path), '/v1/models'].join(', ')

/** The message for a path that is not served and not similar to any that is. */
export const noSuch = (path: string): string =>
  `No such path: ${path}. Requests go to ${endpoints}.`

/** The operation, protocol and model of a POST to this path. */
export function matchOf(path: string): { protocol: Protocol; found: RequestMatch } | undefined {
  for (const protocol of all) {
    const found = protocol.address.match(path)
    if (found) return { protocol, found }
  }
  return undefined
}

/** The stored response that this path refers to. */
export function matchStored(
  path: string,
): { protocol: Protocol; stored: StoredResponses; requested: StoredMatch } | undefined {
  for (const protocol of all) {
    const { stored } = protocol.address
    const requested = stored?.match(path)
    if (stored && requested) return { protocol, stored, requested }
  }
  return undefined
}

/** Is this the listing of models, or of one of them? */
export function matchListing(path: string): { model?: string } | undefined {
  const found = listing.exec(path)
  if (!found) return undefined
  const [, model] = found
  return model === undefined ? {} : { model: unescaped(model) }
}

/** The fault of a path that is similar to one of ours; relative to the service root. */
export function faultOf(path: string): PathFault | undefined {
  const single = path.replace(/^.*?(?:\/v\d+(?:[a-z]+\d*)?)+(?=\/v\d+(?:[a-z]+\d*)?\/)/, '')
  if (single !== path && isEndpoint(single)) return fault('doubled-version', single)
  const versioned = `/v1${path}`
  if (matchOf(versioned) ?? matchStored(versioned)) return fault('missing-version', versioned)
  for (const { address } of all) {
    for (const used of [address.path, withoutVersion(address.path)]) {
      if (!path.startsWith(`${used}/`)) continue
      const rest = path.slice(used.length)
      const meant = isEndpoint(rest) ? rest : `/v1${rest}`
      if (isEndpoint(meant)) return fault('endpoint-as-base', meant)
    }
  }
  return undefined
}

/** Not part of `faultOf`, because `/models` may be a page of the surrounding application. */
export function faultOfListing(path: string): PathFault | undefined {
  return /^\/models(\/|$)/.test(path) ? { rule: 'missing-version', path: `/v1${path}` } : undefined
}

export const isEndpoint = (path: string) =>
  (matchOf(path) ?? matchStored(path) ?? matchListing(path)) !== undefined

function fault(rule: PathRule, path: string): PathFault {
  const protocol = (matchOf(path) ?? matchStored(path))?.protocol
  return protocol ? { rule, path, protocol } : { rule, path }
}

/** A trailing slash of the base address is not an error. */
export function tidied(path: string): string {
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
}

/** The text without the slashes at its end. Each run of slashes is looked at once. */
export const withoutSlashes = (text: string): string => text.replace(/(?<!\/)\/+$/, '')

/** `/v1` of `/v1/messages`. */
export function versionOf(path: string): string {
  return path.slice(0, path.length - withoutVersion(path).length)
}

/** `/messages` of `/v1/messages`. Some paths have no version. */
export function withoutVersion(path: string): string {
  const end = path.indexOf('/', 1)
  return isVersion(path.slice(1, end)) ? path.slice(end) : path
}

/**
 * The URL of a call. Without the protocol's version if the base ends in its own, or if none is to
 * be added.
 */
export function urlOf(base: string, target: string, addVersion = true): string {
  const root = withoutSlashes(base)
  return addVersion && !isVersion(root.slice(root.lastIndexOf('/') + 1))
    ? root + target
    : root + withoutVersion(target)
}

/** The part before version and endpoint, and how many versions it contains. */
export function mountOf(path: string): { mount: string; versions: number; endpoint: boolean } {
  let segments = tidied(path).split('/').filter(Boolean)
  let versions = 0
  let endpoint = false
  for (;;) {
    const begin = segments.findIndex((_, index) => isEndpointOrTail(segments.slice(index)))
    if (begin >= 0) {
      if (isVersion(segments[begin] ?? '')) versions++
      endpoint = true
      segments = segments.slice(0, begin)
    } else if (isVersion(segments.at(-1) ?? '')) {
      versions++
      segments = segments.slice(0, -1)
    } else return { mount: segments.map(segment => `/${segment}`).join(''), versions, endpoint }
  }
}

function isEndpointOrTail(segments: readonly string[]): boolean {
  const tail = `/${segments.join('/')}`
  return [tail, `/v1${tail}`].some(
    path => matchOf(path) ?? matchStored(path) ?? (matchListing(path) && path.endsWith('/models')),
  )
}
