import type { CloudSettings } from '../clouds/settings.ts'
import type { Operation, Protocol, SocketWire } from '../protocol.ts'
import type { ProtocolName } from '../protocols/index.ts'
import { protocolNames } from '../protocols/index.ts'
import { socketOf } from '../protocols/sockets.ts'
import { vendors } from '../vendors/index.ts'
import {
  endpointOf,
  endpointsAt,
  noRules,
  protocolFor,
  type RequestTraits,
  type VendorSettings,
  vendorAt,
  vendorSettings,
} from '../vendors/settings.ts'
import type { Auth, CloudApi, Vendor } from '../vendors/vendor.ts'

/** Where a channel sends requests of one protocol. `auth`: how its key is sent. */
export type Endpoint = { baseUrl: string; addVersion: boolean; auth: Auth; api?: CloudApi }

/** What a configuration says of an upstream. */
type Written = {
  name?: string | undefined
  vendor?: keyof typeof vendors | 'generic' | undefined
  baseUrl?: string | undefined
  addVersion: boolean
  protocols?: readonly ProtocolName[] | undefined
  api?: CloudApi | undefined
  apiVersion?: string | undefined
  auth?: CloudSettings['auth']
} & Parts

/** What a channel fills in where a vendor's base URL has `{region}` and the like. */
type Parts = {
  region?: string | undefined
  project?: string | undefined
  resource?: string | undefined
}

/**
 * The vendor of a channel: named, or recognized by its base URL. Undefined: unknown, or `generic`.
 */
export function vendorOf({
  vendor,
  baseUrl,
}: Pick<Written, 'vendor' | 'baseUrl'>): Vendor | undefined {
  if (vendor === 'generic') return undefined
  if (vendor !== undefined) return vendors[vendor]
  return baseUrl === undefined ? undefined : vendorAt(Object.values(vendors), baseUrl)
}

/**
 * A channel as the gateway uses it: `endpoints` by protocol, best one first. `chooses`: the vendor
 * decides which protocol a request is sent with.
 */
export function withVendor<Channel extends Written>({ vendor: named, ...channel }: Channel) {
  const vendor = vendorOf({ vendor: named, baseUrl: channel.baseUrl })
  const endpoints = endpointsOf(channel, vendor)
  const spoken = Object.keys(endpoints) as ProtocolName[]
  return {
    ...channel,
    name: channel.name ?? named ?? '',
    vendor,
    endpoints,
    cloud: cloudOf(channel, endpoints),
    protocols: channel.protocols ?? (spoken.length > 0 ? spoken : undefined),
    chooses: vendor !== undefined && channel.protocols === undefined,
  }
}

/** What the channel's cloud needs. Undefined: its calls are plain ones. */
function cloudOf(
  { auth, region, apiVersion }: Omit<Written, 'vendor'>,
  endpoints: Endpoints,
): CloudSettings | undefined {
  const apis = Object.values(endpoints).flatMap(({ api }) => api ?? [])
  if (!auth && apis.length === 0) return undefined
  return { apis, apiVersion, auth: auth?.aws ? { aws: { region, ...auth.aws } } : auth }
}

function endpointsOf(
  { baseUrl, addVersion, protocols = [], api, ...parts }: Omit<Written, 'vendor'>,
  vendor: Vendor | undefined,
): Endpoints {
  const [best, ...others] = vendor?.endpoints ?? []
  const own = [best, ...others].flatMap(endpoint => (endpoint ? [endpoint.protocol] : []))
  // Under a base URL of the user are the protocols that the vendor has under it, or under one base
  // URL, whose version belongs to the path.
  const there = vendor && baseUrl !== undefined ? endpointsAt(vendor, baseUrl) : []
  const shared =
    there.length > 0
      ? there
      : [best, ...others].filter(
          endpoint =>
            endpoint && best && withoutVersion(endpoint.baseUrl) === withoutVersion(best.baseUrl),
        )
  const endpoints: Endpoints = {}
  const usual = baseUrl === undefined ? own : shared.flatMap(endpoint => endpoint?.protocol ?? [])
  for (const protocol of protocols.length > 0 ? protocols : usual) {
    const plain = vendor && endpointOf(vendor, protocol)
    const wrapped = plain?.apis?.find(one => one.api === api)
    const known = wrapped ?? plain
    const auth = known?.auth ?? 'protocol'
    const also = known?.api && { api: known.api }
    if (baseUrl !== undefined) {
      // Under the base URL of a wrapping is nothing else.
      if (api === undefined || known?.api === api)
        endpoints[protocol] = {
          baseUrl,
          addVersion: addVersion && known?.addVersion !== false,
          auth,
          ...also,
        }
    } else if (known) {
      const base =
        (!wrapped && parts.region !== undefined && plain?.regions?.[parts.region]) || known.baseUrl
      endpoints[protocol] = {
        baseUrl: filled(base, parts),
        addVersion: known.addVersion ?? true,
        auth,
        ...also,
      }
    }
  }
  return endpoints
}

const withoutVersion = (baseUrl: string) => baseUrl.replace(/\/v\d+\/?$/, '')

/** The base URL with the parts that the channel has. */
function filled(baseUrl: string, parts: Parts): string {
  return baseUrl.replaceAll(
    /\{(region|project|resource)\}/g,
    (open, name: keyof Parts) => parts[name] ?? open,
  )
}

/** The parts of a vendor's base URLs that the channel does not fill in, such as `{resource}`. */
export function openPartsOf(
  { endpoints }: Vendor,
  { protocols, ...channel }: Pick<Written, 'protocols' | 'api'> & Parts,
): string[] {
  const used = protocols
    ? endpoints.filter(({ protocol }) => protocols.includes(protocol))
    : endpoints
  const bases = used.map(({ baseUrl, regions = {} }) =>
    filled(regions[channel.region ?? ''] ?? baseUrl, channel),
  )
  return [...new Set(bases.flatMap(base => base.match(/\{\w+\}/g) ?? []))]
}

type Endpoints = Partial<Record<ProtocolName, Endpoint>>
type Chosen = { vendor: Vendor | undefined; chooses: boolean; endpoints: Endpoints }

/** The protocol for a request, where the vendor decides. Undefined: it does not. */
export function chosenProtocol(
  { vendor, chooses, endpoints }: Chosen,
  caller: Protocol,
  requested: RequestTraits,
): ProtocolName | undefined {
  const name = protocolNames.find(one => one === caller.name)
  return vendor && chooses && name
    ? protocolFor(vendor, name, { ...requested, served: Object.keys(endpoints) as ProtocolName[] })
    : undefined
}

/**
 * What applies to requests of this protocol and model, by the facts about both and the vendor.
 * Toward an unknown server of the caller's own protocol nothing does.
 */
export function vendorRules(
  { vendor }: Pick<Chosen, 'vendor'>,
  { name }: Protocol,
  { model, caller }: { model: string; caller: Protocol },
): VendorSettings {
  const protocol = protocolNames.find(one => one === name)
  return protocol && (vendor || caller.name !== name)
    ? vendorSettings(vendor, protocol, model)
    : noRules
}

/** The proxy of a channel, as a field of a call. */
export const proxyOf = ({ proxy }: { proxy?: string | false | undefined }): { proxy?: string } =>
  proxy ? { proxy } : {}

/** How requests to this channel are sent over WebSocket. Undefined: over HTTP. */
export function socketFor(
  { transport }: { transport: 'http' | 'websocket' },
  protocol: Protocol,
  operation: Operation,
): SocketWire | undefined {
  return transport === 'websocket' && operation === 'generate' ? socketOf(protocol) : undefined
}

/** Undefined: the channel has no calls of this protocol. */
export function endpointFor(
  { endpoints }: { endpoints: Endpoints },
  { name }: Protocol,
): Endpoint | undefined {
  const protocol = protocolNames.find(one => one === name)
  return protocol && endpoints[protocol]
}
