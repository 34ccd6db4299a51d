import { mergeOptions } from '../kit/fields/option-groups.ts'
import { isObject } from '../kit/json/json.ts'
import { isNamed } from '../models/names.ts'
import { type ModelSettings, modelSettings } from '../models/settings.ts'
import type { ProtocolName, WrittenOptions } from '../protocols/index.ts'
import type { Asked, Endpoint, Fact, Vendor } from './vendor.ts'

/** What the facts about a vendor and a model mean for one request. */
export type VendorSettings = {
  /** Defaults for the mapping options of requests. */
  options: WrittenOptions
  /** The same for reading responses. */
  responseOptions: WrittenOptions
  /** Fields that are dropped from the request, as the protocol of the vendor names them. */
  unsupported: string[]
  /** Fields that are dropped next to others. Absent: none. */
  dependent?: ModelSettings['dependent']
  /** The most tokens that the model takes. */
  limits: ModelSettings['limits']
}

/** Nothing is known that applies. */
export const noRules: VendorSettings = {
  options: {},
  responseOptions: {},
  unsupported: [],
  limits: {},
}

/**
 * What applies to requests of this protocol and model. `vendor` absent: what is known of the model
 * alone. `model` absent: only what applies to every model.
 */
export function vendorSettings(
  vendor: Vendor | undefined,
  protocol: ProtocolName,
  model: string | undefined,
): VendorSettings {
  const ofModel = modelSettings(protocol, model)
  if (!vendor) return ofModel ?? noRules
  const facts = factsFor(vendor, protocol, model)
  // Makers serve their models as these are; other servers have ways of their own.
  const before = ofModel?.maker === vendor.name ? facts.filter(({ models }) => !models) : []
  const after = before.length > 0 ? facts.filter(({ models }) => models) : facts
  const optionsOf = (list: readonly Fact[]) => list.map(({ options }) => options)
  return {
    options: mergeOptions(...optionsOf(before), ofModel?.options, ...optionsOf(after)),
    responseOptions: mergeOptions(...facts.map(({ responseOptions }) => responseOptions)),
    limits: ofModel?.limits ?? {},
    ...(ofModel?.dependent && { dependent: ofModel.dependent }),
    unsupported: [
      ...new Set([
        ...(ofModel?.unsupported ?? []),
        ...facts.flatMap(({ refuses = [] }) => refuses),
      ]),
    ],
  }
}

/** The fields that are dropped from this request, which is one of the protocol of the settings. */
export function refusedIn(
  { unsupported, dependent = [] }: VendorSettings,
  body: unknown,
): readonly string[] {
  if (dependent.length === 0 || !isObject(body)) return unsupported
  const fields = dependent.flatMap(({ field, beside, isTaken }) => {
    const value = field.split('.').reduce<unknown>(under, body)
    return value == null || isTaken(value) || !beside(body) ? [] : [field]
  })
  return fields.length > 0 ? [...new Set([...unsupported, ...fields])] : unsupported
}

const under = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined)

/** The facts that apply, in their order. */
export function factsFor(
  { facts }: Vendor,
  protocol: ProtocolName,
  model: string | undefined,
): Fact[] {
  return facts.filter(
    ({ protocols, models }) =>
      (protocols?.includes(protocol) ?? true) &&
      (models?.some(pattern => model !== undefined && isNamed(model, pattern)) ?? true),
  )
}

/**
 * What decides about the protocol of a request. `toolTypes`: of its tools. `asks`: whether it asks
 * for something else; called only where a fact depends on it. `served`: the protocols that can be
 * used; absent: all of the vendor.
 */
export type RequestTraits = {
  model: string | undefined
  hasTools: boolean
  toolTypes?: () => readonly string[]
  asks?: (what: Exclude<Asked, 'tools'>) => boolean
  served?: readonly ProtocolName[]
}

/**
 * The protocol for a request: that of the caller where the vendor serves it well, else the vendor's
 * best one, unless the model or a tool needs another.
 */
export function protocolFor(
  vendor: Vendor,
  caller: ProtocolName,
  { model, hasTools, toolTypes = () => [], asks = () => false, served }: RequestTraits,
): ProtocolName {
  const open = vendor.endpoints.filter(({ protocol }) => served?.includes(protocol) ?? true)
  const [best = vendor.endpoints[0]] = open
  const own = open.find(({ protocol }) => protocol === caller)
  const wanted = own && own.support !== 'partial' ? own : best
  const wants = (what: Asked) => (what === 'tools' ? hasTools : asks(what))
  const rule = factsFor(vendor, wanted.protocol, model).findLast(
    ({ speak }) => speak && (speak.when === 'always' || wants(speak.when)),
  )
  const chosen = open.find(({ protocol }) => protocol === rule?.speak?.protocol) ?? wanted
  const takes = ({ tools }: Endpoint) =>
    tools === undefined || toolTypes().every(type => tools.includes(type))
  return takes(chosen) ? chosen.protocol : (open.find(takes) ?? chosen).protocol
}

export function endpointOf({ endpoints }: Vendor, protocol: ProtocolName): Endpoint | undefined {
  return endpoints.find(endpoint => endpoint.protocol === protocol)
}

/**
 * The vendor with an endpoint on the host of this URL, whose path begins with that of the endpoint.
 * Local servers are not recognized.
 */
export function vendorAt(all: readonly Vendor[], url: string): Vendor | undefined {
  if (!URL.canParse(url)) return undefined
  const { hostname, pathname } = new URL(url)
  if (hostname === 'localhost') return undefined
  const basesOf = ({ endpoints }: Vendor) =>
    endpoints.flatMap(({ baseUrl, regions = {} }) => [baseUrl, ...Object.values(regions)])
  return all.find(vendor => basesOf(vendor).some(base => isAt(base, hostname, pathname)))
}

/**
 * The endpoints of a vendor under this URL: those whose base URL matches the longest part of it.
 * None: it is another server, such as a proxy.
 */
export function endpointsAt({ endpoints }: Vendor, url: string): Endpoint[] {
  if (!URL.canParse(url)) return []
  const { hostname, pathname } = new URL(url)
  const lengthOf = (base: string) => (isAt(base, hostname, pathname) ? base.split('/').length : 0)
  const found = endpoints.map(endpoint => ({
    endpoint,
    length: Math.max(...[endpoint.baseUrl, ...Object.values(endpoint.regions ?? {})].map(lengthOf)),
  }))
  const longest = Math.max(...found.map(({ length }) => length))
  return longest === 0
    ? []
    : found.flatMap(({ endpoint, length }) => (length === longest ? [endpoint] : []))
}

function isAt(base: string, hostname: string, pathname: string): boolean {
  const [host = '', ...steps] = base.slice(base.indexOf('//') + 2).split('/')
  const isHost = new RegExp(
    `^${host.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[\\w-]+')}$`,
  ).test(hostname)
  // What the user fills in is not compared, and the version may be missing.
  const open = steps.findIndex(step => step.includes('{'))
  const known = open < 0 ? steps : steps.slice(0, open)
  const least = /^v\d/.test(known.at(-1) ?? '') ? known.slice(0, -1) : known
  return isHost && pathname.startsWith(`/${least.join('/')}`)
}
