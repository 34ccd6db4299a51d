import { ConfigError, type GatewayConfig } from '../gateway/gateway.ts'
import { parseConfig } from '../gateway/options.ts'
import type { ChannelAddress, ChannelModel, Channels, OpenedChannel } from '../records/index.ts'
import { type Vendor, vendors } from '../vendors/index.ts'
import type { Environment } from './environment.ts'
import { variableIn } from './key-hints.ts'
import type { ConfigSource } from './source.ts'

type Channel = GatewayConfig['channels'][number]
type Models = NonNullable<GatewayConfig['models']>
/** A channel before it is in use. */
export type Wanted = ChannelAddress & {
  name: string
  apiKey?: string
  models?: readonly ChannelModel[]
}

/** A configuration with the channels of the database. `faults`: why one is not in use, by its name. */
type Merged = { config: GatewayConfig; faults: ReadonlyMap<string, string> }

/**
 * Adds channels and models to a configuration, which stays the first source: what has a name of it
 * is left out. So is a channel that would make the whole invalid.
 */
export function merged(
  config: GatewayConfig,
  stored: readonly OpenedChannel[],
  environment: Environment,
): Merged {
  const faults = new Map<string, string>()
  const used: { channel: Channel; models: readonly ChannelModel[] }[] = []
  const taken = namesOf(config)
  for (const one of stored) {
    const { name, models, disabled } = one
    const fault = one.fault ?? faultOf(one, taken, environment)
    const clashing = models.filter(({ id }) => taken.models.has(id))
    const left = fault ?? (clashing.length > 0 ? modelFault(clashing) : undefined)
    if (left !== undefined) faults.set(name, left)
    if (fault === undefined && !disabled)
      used.push({
        channel: channelOf(one),
        models: models.filter(({ id }) => !taken.models.has(id)),
      })
  }
  if (used.length === 0) return { config, faults }
  return {
    config: {
      ...config,
      channels: [...config.channels, ...used.map(({ channel }) => channel)],
      models: [...(config.models ?? everyModel(config)), ...modelsIn(used)],
    },
    faults,
  }
}

export type Taken = { channels: ReadonlySet<string>; models: ReadonlySet<string> }

export const namesOf = ({ channels, models = [] }: GatewayConfig): Taken => ({
  channels: new Set(channels.map(({ name, vendor }) => name ?? vendor ?? '')),
  models: new Set(models.flatMap(({ id, aliases = [] }) => [id, ...aliases])),
})

const channelOf = ({ name, vendor, baseUrl, protocols, apiKey }: Wanted): Channel =>
  ({
    name,
    ...(vendor !== undefined && { vendor }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(protocols && { protocols }),
    ...(apiKey !== undefined && { apiKey }),
  }) as Channel

/** What a configuration without models does, as a model: every id goes to all of its channels. */
export const everyModel = ({ channels }: GatewayConfig): Models => [
  { id: '*', channels: channels.map(({ name, vendor }) => ({ name: name ?? vendor ?? '' })) },
]

/** A model that several channels serve goes to the one first that was added first. */
function modelsIn(used: readonly { channel: Channel; models: readonly ChannelModel[] }[]): Models {
  const links = new Map<string, Models[number]['channels']>()
  for (const { channel, models } of used)
    for (const { id, model } of models) {
      const own = links.get(id) ?? []
      own.push({
        name: channel.name ?? '',
        priority: own.length,
        ...(model !== undefined && { model }),
      })
      links.set(id, own)
    }
  return [...links].map(([id, channels]) => ({ id, channels }))
}

export const modelFault = (clashing: readonly ChannelModel[]) =>
  `the configuration has ${clashing.map(({ id }) => id).join(', ')} already`

/** Why a channel cannot be used beside a configuration. Undefined: it can. */
function faultOf(wanted: Wanted, taken: Taken, environment: Environment): string | undefined {
  try {
    check(wanted, taken, environment)
    return undefined
  } catch (error) {
    return error instanceof ConfigError
      ? error.faults.map(({ message }) => message).join('; ')
      : String(error)
  }
}

/** @throws ConfigError if a channel cannot be used beside a configuration */
export function check(wanted: Wanted, { channels }: Taken, environment: Environment): void {
  const { name, apiKey, models = [] } = wanted
  if (channels.has(name))
    throw new ConfigError('', `the configuration has a channel ${name} already`)
  if (apiKey !== undefined) checkKey(apiKey, environment)
  const ids =
    models.length > 0 ? { models: modelsIn([{ channel: channelOf(wanted), models }]) } : {}
  parseConfig({ channels: [channelOf(wanted)], ...ids }, environment)
}

export const allVendors: readonly Vendor[] = Object.values(vendors)
const ofVendors: ReadonlySet<string | undefined> = new Set(
  allVendors.map(({ keyVariable }) => keyVariable),
)

/**
 * Who adds a channel says where its key is sent, so it may not name any secret of the process.
 * @throws ConfigError
 */
function checkKey(apiKey: string, environment: Environment): void {
  const meant = variableIn(apiKey, environment)
  if (meant !== undefined)
    throw new ConfigError('apiKey', `for an environment variable, write env:${meant}`)
  const variable = apiKey.startsWith('env:') ? apiKey.slice(4) : undefined
  if (variable !== undefined && !ofVendors.has(variable) && !variable.endsWith('_API_KEY'))
    throw new ConfigError(
      'apiKey',
      'expected a variable whose name ends in _API_KEY, or that of a known vendor: others belong into the configuration',
    )
}

/** A source whose configurations have the channels of the database, too. */
export type MergedSource = ConfigSource & {
  /** Adds them to a configuration that was read already. */
  add(config: GatewayConfig): Promise<GatewayConfig>
  /** Without those of the database. */
  own(): GatewayConfig
  stored(): readonly OpenedChannel[]
  faults(): ReadonlyMap<string, string>
  /** Has the database changed since it was read? */
  isStale(): Promise<boolean>
}

export function withStored(
  source: ConfigSource,
  channels: Channels,
  environment: Environment,
): MergedSource {
  let own: GatewayConfig = { channels: [] }
  let stored: readonly OpenedChannel[] = []
  let version: string | undefined
  let faults: ReadonlyMap<string, string> = new Map()

  /** While the database is away, what it had counts on. */
  async function open(): Promise<void> {
    const opened = await channels.open().catch(() => undefined)
    if (opened) ({ channels: stored, version } = opened)
  }

  function mergedWith(config: GatewayConfig): GatewayConfig {
    // The gateway says what is wrong with a configuration.
    if (!isValid(config, environment)) return config
    const all = merged(config, stored, environment)
    own = config
    faults = all.faults
    return all.config
  }

  return {
    ...source,
    async add(config) {
      await open()
      return mergedWith(config)
    },
    async read() {
      // First: the file may be invalid.
      await open()
      return mergedWith(await source.read())
    },
    own: () => own,
    stored: () => stored,
    faults: () => faults,
    isStale: async () => (await channels.version()) !== version,
  }
}

function isValid(config: GatewayConfig, environment: Environment): boolean {
  try {
    parseConfig(config, environment)
    return true
  } catch {
    return false
  }
}

const followMs = 2000

/** Reads the channels again when another process has changed them. Returns what ends it. */
export function follow(source: MergedSource, reload: () => Promise<void>): () => void {
  let isLooking = false
  async function look() {
    if (isLooking) return
    isLooking = true
    // A database that is away is looked at again.
    if (await source.isStale().catch(() => false)) await reload()
    isLooking = false
  }
  const timer = setInterval(() => void look(), followMs).unref()
  return () => clearInterval(timer)
}

const shortestEncryptionKey = 32

/** What encrypts the keys of channels in the database. @throws Error if it is too short */
export function encryptionKeyIn({ WIREGLOT_ENCRYPTION_KEY: key }: Environment): string | undefined {
  if (key && key.length < shortestEncryptionKey)
    throw new Error(
      `WIREGLOT_ENCRYPTION_KEY has ${key.length} characters: at least ${shortestEncryptionKey} are needed`,
    )
  return key || undefined
}
