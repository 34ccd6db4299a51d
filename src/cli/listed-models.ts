import { vendorRules } from '../gateway/channel.ts'
import type { ChannelEntry, ModelEntry, ParsedConfig } from '../gateway/options.ts'
import { overlap } from '../gateway/upstream/patterns.ts'
import { omitUndefined } from '../kit/fields/omit.ts'
import { knownModel } from '../models/index.ts'
import { protocolNames, protocols } from '../protocols/index.ts'
import type { ListedModel, Prices } from '../records/index.ts'
import { priceOf } from '../records/prices.ts'

/** What the console and the admin API show of the configured models. */
export function listedModels({
  models,
  channels,
  groups,
  prices = {},
}: ParsedConfig): ListedModel[] {
  return models.map(entry => {
    const { id, aliases, contextTokens, maxOutputTokens, streaming } = entry
    const { model } = knownModel(entry.channels[0]?.model ?? id) ?? {}
    const names = [id, ...aliases]
    const seeing = Object.keys(groups).filter(name =>
      groups[name]?.models.some(pattern => names.some(one => overlap(pattern, one))),
    )
    return {
      id,
      aliases,
      ...omitUndefined({
        contextTokens: contextTokens ?? model?.contextTokens,
        maxOutputTokens: maxOutputTokens ?? model?.outputTokens,
      }),
      streaming,
      groups: seeing,
      channels: entry.channels.flatMap(link => {
        const channel = channels.find(one => one.name === link.name)
        return channel ? [channelOf(entry, link, channel, prices)] : []
      }),
    }
  })
}

function channelOf(
  { id, unsupported }: ModelEntry,
  { name, model = id }: ModelEntry['channels'][number],
  channel: ChannelEntry,
  prices: Prices,
): ListedModel['channels'][number] {
  const spoken = channel.protocols ?? protocolNames
  const ofVendor = spoken.flatMap(one => {
    const protocol = protocols[one]
    return channel.embedded
      ? []
      : vendorRules(channel, protocol, { model, caller: protocol }).unsupported
  })
  const price = priceOf(model, prices)
  return {
    name,
    model,
    protocols: spoken,
    refused: [...new Set([...unsupported, ...ofVendor])],
    ...(price && { price }),
  }
}
