import type { GatewayConfig } from '../gateway/gateway.ts'
import { demo } from '../gateway/options.ts'
import { isObject } from '../kit/json/json.ts'
import { isProtocolName, protocolNames, protocols } from '../protocols/index.ts'
import { findConfig, readConfig } from './config-file.ts'
import { configFor, type Environment, sharedIn, vendorConfig, vendorsIn } from './environment.ts'

/**
 * Where the configuration comes from. `title`: for people. `file`: to watch. `isFound`: no option
 * named it, so it may surprise.
 */
export type ConfigSource = {
  title: string
  file?: string
  isFound?: true
  isDemo?: true
  read(): Promise<GatewayConfig>
}

export type SourceOptions = {
  /**
   * File with the configuration. Without this, `vendor` and `upstream`: a file of the folder, the
   * vendors whose keys are set, or the demo model.
   */
  config?: string
  /** One vendor for every model, with the key from its usual environment variable. */
  vendor?: string
  upstream?: string
  upstreamProtocol?: string
  /** Name of the environment variable with the upstream's key. */
  upstreamKeyEnv?: string
}

/** `shared`: names what processes share. It is empty for a gateway that shares nothing. */
type Finding = {
  folder: string
  environment: Environment
  shared: Environment
  warn(message: string): void
}

/** @throws Error when the options do not fit together */
export async function sourceOf(
  options: SourceOptions,
  { folder, environment, shared, warn }: Finding,
): Promise<ConfigSource> {
  const { config, vendor, upstream, upstreamProtocol, upstreamKeyEnv } = options
  if (config !== undefined && upstream !== undefined)
    throw new Error('give either --config or --upstream')
  if (upstream === undefined && (upstreamProtocol !== undefined || upstreamKeyEnv !== undefined))
    throw new Error('--upstream-protocol and --upstream-key-env belong to --upstream')
  if (upstream !== undefined)
    return {
      title: `upstream ${upstream}`,
      read: async () => upstreamConfig(upstream, upstreamProtocol, upstreamKeyEnv),
    }
  if (vendor !== undefined)
    return { title: `vendor ${vendor}`, read: async () => vendorConfig(vendor, environment) }
  const file = config ?? (await findConfig(folder))
  if (file !== undefined)
    return {
      title: `configuration: ${file}`,
      file,
      read: async () => (await readConfig(file)) as GatewayConfig,
      ...(config === undefined && { isFound: true }),
    }
  const vendors = vendorsIn(environment)
  if (vendors.length === 0)
    return {
      title:
        'the built-in demo model, no network: set the key of a vendor, or give --config or --env-file',
      isDemo: true,
      read: async () => translatedDemo,
    }
  const names = vendors.map(({ title, keyVariable }) => `${title} (${keyVariable})`)
  return {
    title: `vendors with a key in the environment: ${names.join(', ')}`,
    read: async () => ({ ...(await configFor(vendors, warn)), ...sharedIn(shared) }),
  }
}

/**
 * The demo model behind one protocol, so that a newcomer sees a translation: one that demands a
 * token limit, which the example does not have.
 */
const translatedDemo: GatewayConfig = {
  ...demo,
  channels: demo.channels.map(channel => ({
    ...channel,
    protocols: protocolNames.filter(name => 'outputLimit' in protocols[name]),
  })),
}

function upstreamConfig(
  upstream: string,
  protocol: string | undefined,
  keyEnv: string | undefined,
): GatewayConfig {
  if (protocol === undefined || !isProtocolName(protocol))
    throw new Error(`--upstream needs --upstream-protocol: ${protocolNames.join(', ')}`)
  return {
    channels: [
      {
        name: 'upstream',
        protocols: [protocol],
        baseUrl: upstream,
        ...(keyEnv !== undefined && { apiKey: `env:${keyEnv}` }),
      },
    ],
  }
}

/**
 * The source of a gateway for one client program, which sends this key: it has no console, and
 * accepts the key beside the configured ones.
 */
export function forOneClient(source: ConfigSource, key: string): ConfigSource {
  return {
    ...source,
    async read() {
      const config = await source.read()
      // A file may not contain an object: the gateway has the better message for that.
      if (!isObject(config)) return config
      const { keys = [] } = config
      const accepted = config.auth === 'none' ? {} : { keys: [...keys, { name: 'run', key }] }
      return { ...config, console: false, ...accepted }
    },
  }
}
