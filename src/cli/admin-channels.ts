import { ConfigError, type GatewayConfig } from '../gateway/gateway.ts'
import {
  type AdminChannels,
  ChannelError,
  type ChannelModel,
  type Channels,
  type OpenedChannel,
  type ShownChannel,
} from '../records/index.ts'
import { type Environment, modelsOf } from './environment.ts'
import type { Live } from './live.ts'
import {
  allVendors,
  check,
  everyModel,
  type MergedSource,
  modelFault,
  namesOf,
  type Taken,
  type Wanted,
} from './stored-channels.ts'

/** The channels of the configuration and of the database, for the admin API. */
export function adminChannels(
  channels: Channels,
  {
    source,
    live,
    environment,
  }: {
    source: MergedSource
    live: Pick<Live, 'config' | 'reload' | 'reloadError'>
    environment: Environment
  },
): AdminChannels {
  async function shown(name: string): Promise<ShownChannel> {
    await live.reload()
    const one = source.stored().find(channel => channel.name === name)
    if (!one) throw new ChannelError('missing', name)
    const fault = live.reloadError()
    return { ...shownOf(one, source.faults()), ...(fault !== undefined && { fault }) }
  }

  return {
    async list() {
      if (await source.isStale()) await live.reload()
      return {
        channels: [
          ...ofConfiguration(source.own()),
          ...source.stored().map(one => shownOf(one, source.faults())),
        ],
        takesKeys: channels.takesKeys,
        vendors: listedVendors,
      }
    },
    async create(wanted) {
      const taken = namesOf(source.own())
      check(wanted, taken, environment)
      checkModels(wanted.models, taken)
      await channels.create(wanted)
      return shown(wanted.name)
    },
    async change(name, change) {
      const before = (await channels.open()).channels.find(one => one.name === name)
      if (!before) throw new ChannelError('missing', name)
      const { apiKey, models } = change
      const taken = namesOf(source.own())
      if (apiKey) check({ ...before, apiKey }, taken, environment)
      if (models) check({ ...withoutKey(before), models }, taken, environment)
      checkModels(models, taken)
      await channels.change(name, change)
      return shown(name)
    },
    async delete(name) {
      await channels.delete(name)
      await live.reload()
    },
    async models(name) {
      const channel = live.config().channels.find(one => (one.name ?? one.vendor) === name)
      return channel && (await modelsOf(channel))
    },
  }
}

/** A key that cannot be used now is no reason to refuse other changes. */
const withoutKey = ({ apiKey: _, ...others }: OpenedChannel): Wanted => others

/** @throws ConfigError if the configuration has one of them, or one is there twice */
function checkModels(models: readonly ChannelModel[] = [], { models: taken }: Taken): void {
  const clashing = models.filter(({ id }) => taken.has(id))
  if (clashing.length > 0) throw new ConfigError('models', modelFault(clashing))
  if (new Set(models.map(({ id }) => id)).size < models.length)
    throw new ConfigError('models', 'expected each model once')
}

const shownOf = (
  { apiKey: _, fault: __, ...info }: OpenedChannel,
  faults: ReadonlyMap<string, string>,
): ShownChannel => {
  const fault = faults.get(info.name)
  return { ...info, from: 'console', ...(fault !== undefined && { fault }) }
}

function ofConfiguration(config: GatewayConfig): ShownChannel[] {
  const { channels, models = everyModel(config) } = config
  return channels.map(({ name, vendor, baseUrl, protocols, apiKey, embedded }) => {
    const own = name ?? vendor ?? ''
    const served = models.flatMap(({ id, channels: links }) =>
      links
        .filter(link => link.name === own)
        .map(({ model }) => ({ id, ...(model !== undefined && { model }) })),
    )
    const key = apiKey?.startsWith('env:') ? apiKey : 'configured'
    return {
      name: own,
      from: 'file',
      ...(vendor !== undefined && { vendor }),
      ...(embedded && { vendor: embedded }),
      ...(baseUrl !== undefined && { baseUrl }),
      ...(protocols && { protocols }),
      ...(apiKey && { key }),
      models: served,
      disabled: false,
    }
  })
}

/** Those whose address needs no name of the user. */
const listedVendors = allVendors
  .filter(({ endpoints }) => !endpoints[0].baseUrl.includes('{'))
  .map(({ name, title, keyVariable }) => ({
    name,
    title,
    ...(keyVariable !== undefined && { keyVariable }),
  }))
