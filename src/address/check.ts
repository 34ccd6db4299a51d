import type { Protocol } from '../protocol.ts'
import { type ProtocolName, protocolNames, protocols } from '../protocols/index.ts'
import {
  faultOf,
  isEndpoint,
  mountOf,
  type PathRule,
  ruleOf,
  tidied,
  versionOf,
  withoutSlashes,
  withoutVersion,
} from './paths.ts'

/** What a client appends to its configured address. */
export type Appends = 'nothing' | 'endpoint' | 'version-and-endpoint'

/** How a client uses its address. */
export type AddressUsage = { protocol: ProtocolName; appends: Appends }

/** The rule that a base URL breaks. */
export type AddressRule =
  | PathRule
  | 'not-a-url'
  | 'scheme'
  | 'insecure'
  | 'tls-on-this-machine'
  | 'spaces'
  | 'credentials'
  | 'query'
  | 'fragment'
  | 'slashes'
  | 'page'

/**
 * `message`: the fault and how to correct it. `severe`: requests will fail; otherwise they may
 * work.
 */
export type AddressFault = { rule: AddressRule; severe: boolean; message: string }

/**
 * `address`: what to configure, or to request if the client appends nothing. `fits`: the given
 * address is right for this usage.
 */
export type AddressRow = AddressUsage & {
  address: string
  fits: boolean /** What the client would ask for with the given address. */
  request: string
}

/** The result of `checkAddress`. */
export type AddressCheck = {
  given: string
  /** The service root, without version and endpoint. Absent: the text is not an address. */
  root?: string
  /**
   * What paths are appended to: the root, or the whole address if it ends in a version segment of
   * the service's own.
   */
  service?: string
  /** What to configure: for the requested usage, otherwise the root. */
  address?: string
  faults: AddressFault[]
  /** All usages, or only the requested one. */
  usages: AddressRow[]
}

const everyUsage: readonly AddressUsage[] = protocolNames.flatMap(protocol =>
  (['nothing', 'endpoint', 'version-and-endpoint'] as const).map(appends => ({
    protocol,
    appends,
  })),
)

/**
 * The address to configure for a client, or to request if the client appends nothing. `base`: the
 * service root; a version, an endpoint, a query or slashes after it are ignored.
 * @throws RangeError when `base` is no URL
 * @example
 * import { addressFor } from 'wireglot/clients'
 *
 * console.log(addressFor('https://api.example/v1', { protocol: 'messages', appends: 'version-and-endpoint' })) // https://api.example
 */
export function addressFor(base: string, usage: AddressUsage & { model?: string }): string {
  const url = urlIn(base)
  if (!url)
    throw new RangeError(`"${base}" is not a URL: an address begins with https:// or http://`)
  return composed(rootOf(url), usage)
}

/**
 * Where models are listed. @throws RangeError when `base` is no URL
 * @example
 * import { listingAddress } from 'wireglot/clients'
 *
 * console.log(listingAddress('https://api.example')) // https://api.example/v1/models
 */
export function listingAddress(base: string): string {
  return `${addressFor(base, { protocol: firstName, appends: 'endpoint' })}/models`
}

const [firstName] = protocolNames as [ProtocolName]

/**
 * The faults of a base address, and the right address for each usage. `usage`: only for this one.
 * @example
 * import { checkAddress } from 'wireglot/clients'
 *
 * console.log(JSON.stringify(checkAddress('https://api.example/v1/v1'))) // … https://api.example …
 */
export function checkAddress(given: string, usage?: AddressUsage): AddressCheck {
  const url = urlIn(given)
  if (!url) return { given, faults: [faultOfText(given)], usages: [] }
  const root = rootOf(url)
  const usages = (usage ? [usage] : everyUsage).map(one => rowOf(url, root, one))
  const address = usage ? composed(root, usage) : root
  const structural = structureFaults(url, root, usage)
  // If a part is already wrong, the whole address needs no further fault.
  const composing =
    usage && !structural.some(({ severe }) => severe) ? compositionFault(url, root, usage) : []
  const service = hasForeignVersion(url) ? url.origin + tidied(url.pathname) : root
  return {
    given,
    root,
    service,
    address,
    faults: [...textFaults(given, url), ...structural, ...composing],
    usages,
  }
}

function composed(
  root: string,
  { protocol, appends, model = 'MODEL' }: AddressUsage & { model?: string },
): string {
  const path = pathOf(protocols[protocol], model)
  if (appends === 'nothing') return root + path
  return appends === 'endpoint' ? root + versionOf(path) : root
}

function rowOf(url: URL, root: string, usage: AddressUsage): AddressRow {
  const path = pathOf(protocols[usage.protocol], 'MODEL')
  const given = url.origin + withoutSlashes(url.pathname)
  const request =
    usage.appends === 'nothing'
      ? given
      : given + (usage.appends === 'endpoint' ? withoutVersion(path) : path)
  return {
    ...usage,
    address: composed(root, usage),
    fits: given === composed(root, usage) && !url.search && !url.hash,
    request,
  }
}

function pathOf({ address }: Protocol, model: string): string {
  return address.target({ operation: 'generate', model, stream: false }) ?? address.path
}

/** How the gateway would handle the request that this client would send. */
function compositionFault(url: URL, root: string, usage: AddressUsage): AddressFault[] {
  const { request, address, fits } = rowOf(url, root, usage)
  const path = request.slice(root.length)
  if (
    fits ||
    (usage.appends !== 'nothing' && isEndpoint(path)) ||
    (usage.appends === 'endpoint' && hasForeignVersion(url))
  )
    return []
  const { rule } = faultOf(path) ?? { rule: 'missing-version' as const }
  const version = versionOf(pathOf(protocols[usage.protocol], 'MODEL'))
  if (usage.appends === 'nothing')
    return [
      {
        rule,
        severe: true,
        message: `This client appends nothing, so its address must be complete: use ${address}`,
      },
    ]
  return [
    {
      rule,
      severe: true,
      message: `${ruleOf(rule, version)} It would request ${request}: use ${address}`,
    },
  ]
}

/** Some services have their own version segment in place of the protocol's. */
function hasForeignVersion({ pathname }: URL): boolean {
  const { versions, endpoint } = mountOf(pathname)
  const last = withoutSlashes(pathname).replace(/^.*(?=\/)/, '')
  return (
    versions === 1 &&
    !endpoint &&
    !protocolNames.some(name => versionOf(protocols[name].address.path) === last)
  )
}

function structureFaults(url: URL, root: string, usage: AddressUsage | undefined): AddressFault[] {
  const faults: AddressFault[] = []
  const { versions, endpoint } = mountOf(url.pathname)
  const instead = usage ? composed(root, usage) : root
  if (versions > 1)
    faults.push({
      rule: 'doubled-version',
      severe: true,
      message: `The URL must contain exactly one version (/v1), and this one has ${versions}: use ${instead}`,
    })
  if (endpoint && usage?.appends !== 'nothing')
    faults.push({
      rule: 'endpoint-as-base',
      severe: true,
      message: `${ruleOf('endpoint-as-base', '/v1')} Use ${instead}`,
    })
  if (isPage(url))
    faults.push({
      rule: 'page',
      severe: true,
      message:
        'This looks like a web page (a console, a login, documentation), which returns HTML. The API has another address, which the console shows.',
    })
  if (url.search)
    faults.push({
      rule: 'query',
      severe: true,
      message: `Clients append their path to the address, here to its query. Leave out "?" and everything after it, and use ${instead}`,
    })
  if (url.hash)
    faults.push({
      rule: 'fragment',
      severe: true,
      message: `The part after "#" is for browsers. Leave it out and use ${instead}`,
    })
  if (url.username || url.password)
    faults.push({
      rule: 'credentials',
      severe: true,
      message:
        'Do not put a key into an address, where it would be logged. Set it as the key of the client.',
    })
  return faults
}

function textFaults(given: string, url: URL): AddressFault[] {
  const faults: AddressFault[] = []
  if (/^[\s'"«`<]|[\s'"»`>]$/.test(given))
    faults.push({
      rule: 'spaces',
      severe: true,
      message: 'The address has spaces or quotes around it. Remove them.',
    })
  if (/[^:]\/\/|\/$/.test(given.trim().replace(/[?#].*$/s, '')))
    faults.push({
      rule: 'slashes',
      severe: false,
      message:
        'The address ends in a slash or has two in a row. Some clients then request a path with "//", which many services refuse. Remove it.',
    })
  if (url.protocol === 'http:' && !isNear(url.hostname))
    faults.push({
      rule: 'insecure',
      severe: false,
      message: `http sends the key in the clear, and many services redirect it, which turns a POST into a GET: use ${`https:${url.href.slice(5)}`.replace(/\/$/, '')}`,
    })
  if (url.protocol === 'https:' && isOwn(url.hostname))
    faults.push({
      rule: 'tls-on-this-machine',
      severe: false,
      message:
        'A gateway on this machine normally uses http. With https the connection fails, unless a proxy with a certificate listens there.',
    })
  return faults
}

function faultOfText(given: string): AddressFault {
  const scheme = /^\s*([a-z][a-z\d+.-]*):\/\//i.exec(given)?.[1]?.toLowerCase()
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    const websocket = scheme === 'ws' || scheme === 'wss'
    return {
      rule: 'scheme',
      severe: true,
      message: `An address begins with https:// or http://, not with ${scheme}://${websocket ? ': plain HTTP with server-sent events is what clients use unless their settings say otherwise' : ''}.`,
    }
  }
  return {
    rule: 'not-a-url',
    severe: true,
    message:
      'This is not a URL: an address begins with https:// or http:// and a host, like https://gateway.example.',
  }
}

/** Removes spaces and quotes, which come from copying. */
function urlIn(text: string): URL | undefined {
  try {
    const url = new URL(text.replace(/^[\s'"«`<]+|(?<![\s'"»`>])[\s'"»`>]+$/g, ''))
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined
  } catch {
    return undefined
  }
}

function rootOf(url: URL): string {
  const { mount } = mountOf(url.pathname)
  const page = mount.split('/').findIndex(segment => pages.test(segment))
  return url.origin + (page < 0 ? mount : mount.split('/').slice(0, page).join('/'))
}

const pages =
  /^(?:console|dashboard|login|log-in|signin|sign-in|settings|account|api-?keys|keys|tokens?|docs|documentation|playground|pricing|billing|[\w-]+\.(?:html?|php|aspx?))$/i
const pageHosts = /^(?:console|dashboard|docs|platform|login|auth)\./i

function isPage({ pathname, hostname, hash }: URL): boolean {
  const { mount, versions } = mountOf(pathname)
  return (
    mount.split('/').some(segment => pages.test(segment)) ||
    hash.startsWith('#/') ||
    (versions === 0 && pageHosts.test(hostname))
  )
}

const isOwn = (host: string) => /^(?:127(?:\.\d+){3}|\[::1\]|(?:[\w-]+\.)*localhost)$/i.test(host)

/**
 * True for this machine and for private networks, where plain http is common: private addresses and
 * names that are not public.
 */
function isNear(host: string): boolean {
  return (
    isOwn(host) ||
    /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[f[cd])/i.test(host) ||
    !host.includes('.') ||
    /\.(?:local|internal|lan|test)$/i.test(host)
  )
}
