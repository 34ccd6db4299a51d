import { omitUndefined } from '../../kit/fields/omit.ts'
import { knownModel } from '../../models/index.ts'
import type { ModelInfo, Protocol } from '../../protocol.ts'
import { protocols } from '../../protocols/index.ts'
import type { RequestTraits } from '../../vendors/settings.ts'
import { chosenProtocol } from '../channel.ts'
import { type Asked, namedEfforts, splitEffort } from '../effort-suffix.ts'
import type { Identity } from '../hooks.ts'
import type { ChannelEntry, FailureCause, ModelEntry, ParsedConfig } from '../options.ts'
import { isMatch, overlap } from './patterns.ts'
import { scoreOf } from './sticky.ts'

/** A channel that can serve a model. */
export type Deployment = {
  channel: ChannelEntry
  entry: ModelEntry
  /** The settings of the model for this channel. */
  link: ModelEntry['channels'][number]
  /** The upstream's name of the model. */
  model: string
  /** The protocol for this upstream. */
  protocol: Protocol
  /**
   * The id of the fallback model that this candidate serves. Absent: it serves the requested model.
   */
  fallback?: string
  /** It is only for requests that have failed of one of these causes. */
  on?: readonly FailureCause[]
}

/**
 * What a request asks for, as far as it decides about its candidates. `fallbacks`: also those of
 * its fallback models. `conversation`: a key for the conversation, whose requests all go to the
 * same one of equal channels; called only where there are several.
 */
type RoutedRequest = Pick<RequestTraits, 'hasTools' | 'toolTypes' | 'asks'> & {
  fallbacks?: boolean
  conversation?: () => string | undefined
}

/** The models and the channels that serve them. */
export type Catalog = {
  /** In the order in which to try them. Undefined: there is no such model for this group. */
  candidates(
    model: string,
    caller: Protocol,
    identity: Identity,
    requested?: RoutedRequest,
  ): Deployment[] | undefined
  list(identity: Identity): ModelInfo[]
  find(model: string, identity: Identity): ModelInfo | undefined
  /** The model and the effort that a name with a suffix asks for. Undefined: it has none. */
  asked(name: string, identity: Identity): Asked | undefined
  /** Does this channel serve a model that the group can see? */
  reaches(channel: ChannelEntry, identity: Identity): boolean
}

/** `isForeign`: the channel does not speak the caller's protocol. */
type Ranked = { candidate: Deployment; priority: number; isForeign: boolean; weight: number }

/**
 * A model that the group sees. `own`: the id for its channels. `rest`: what the `*` of a pattern
 * matched.
 */
type Found = { entry: ModelEntry; own: string; rest: string }

export function createCatalog({ models, channels, groups }: ParsedConfig): Catalog {
  const channelOf = new Map(channels.map(channel => [channel.name, channel]))
  const known = createIds(models)
  const { sees, seesAny } = createVisibility(groups)
  const inTurn = createTurns()

  const lookUp = (id: string, identity: Identity): Found | undefined => {
    const entry = known.exact(id)
    if (entry) {
      const own = id === entry.id || entry.id.endsWith('*') ? id : entry.id
      return sees(identity, id) || sees(identity, own) ? { entry, own, rest: '' } : undefined
    }
    const pattern = sees(identity, id) ? known.pattern(id) : undefined
    return pattern && { entry: pattern.entry, own: id, rest: id.slice(pattern.prefix.length) }
  }

  const candidatesOf = (
    { entry, own, rest }: Found,
    caller: Protocol,
    requested: RoutedRequest,
  ): Deployment[] => {
    const ranked = entry.channels.flatMap((link): Ranked[] => {
      const { name, model, weight, priority } = link
      const channel = channelOf.get(name)
      if (!channel) return []
      const served = (model?.endsWith('*') ? model.slice(0, -1) + rest : model) ?? own
      const protocol = spokenWith(channel, caller, { model: served, ...requested })
      const candidate = { channel, entry, link, model: served, protocol }
      return [{ candidate, priority, isForeign: protocol !== caller, weight }]
    })
    ranked.sort(byRank)
    return inTurn(entry, ranked, requested).map(({ candidate }) => candidate)
  }

  const asked = (name: string, identity: Identity): Asked | undefined => {
    const split = known.exact(name) ? undefined : splitEffort(name)
    return split && lookUp(split.model, identity)?.entry.suffixes ? split : undefined
  }

  return {
    asked,
    candidates(id, caller, identity, requested = { hasTools: false }) {
      const found = lookUp(id, identity)
      if (!found) return undefined
      const own = candidatesOf(found, caller, requested)
      if (!requested.fallbacks || found.entry.fallbacks.length === 0) return own
      const others = found.entry.fallbacks.flatMap(one => {
        const { model: fallback, ...when } = typeof one === 'string' ? { model: one } : one
        const other = lookUp(fallback, identity)
        const served = other ? candidatesOf(other, caller, requested) : []
        return served.map(candidate => ({ ...candidate, fallback, ...when }))
      })
      return [...own, ...others]
    },
    list(identity) {
      return models
        .filter(({ id }) => !id.endsWith('*') && sees(identity, id))
        .flatMap(entry => suffixed(entry).map(id => infoOf(id, entry)))
    },
    find(id, identity) {
      const found = lookUp(asked(id, identity)?.model ?? id, identity)
      return found && infoOf(id, found.entry)
    },
    reaches({ name }, identity) {
      const served = models.filter(entry => entry.channels.some(one => one.name === name))
      return seesAny(identity, served.flatMap(idsOf))
    },
  }
}

/** The id of a model, and those with an effort that it is known to take. */
function suffixed({ id, suffixes, channels }: ModelEntry): string[] {
  if (!suffixes) return [id]
  const { model } = knownModel(channels[0]?.model ?? id) ?? {}
  const efforts = model?.efforts?.split(' ') ?? usualEfforts
  return [id, ...namedEfforts.filter(one => efforts.includes(one)).map(one => `${id}-${one}`)]
}

const usualEfforts = ['low', 'medium', 'high']

const idsOf = ({ id, aliases }: ModelEntry) => [id, ...aliases]

/** Entries by their ids and aliases. Of several patterns that match, the longest one counts. */
function createIds(models: readonly ModelEntry[]) {
  const named = models.flatMap(entry => idsOf(entry).map(id => ({ id, entry })))
  const exact = new Map<string, ModelEntry>()
  for (const { id, entry } of named) if (!id.endsWith('*')) exact.set(id, entry)
  const patterns = named
    .filter(({ id }) => id.endsWith('*'))
    .map(({ id, entry }) => ({ prefix: id.slice(0, -1), entry }))
    .sort((a, b) => b.prefix.length - a.prefix.length)
  return {
    exact: (id: string) => exact.get(id),
    pattern: (id: string) => patterns.find(({ prefix }) => id.startsWith(prefix)),
  }
}

/** Which ids a client sees, by its key and its group. */
function createVisibility(groups: ParsedConfig['groups']) {
  const allowedIn = (group: string) =>
    Object.hasOwn(groups, group) ? (groups[group]?.models ?? []) : []
  return {
    sees({ group, models: own }: Identity, id: string): boolean {
      if (own && !own.some(pattern => isMatch(pattern, id))) return false
      return group === undefined || allowedIn(group).some(pattern => isMatch(pattern, id))
    },
    /** Of ids that may be patterns themselves. */
    seesAny({ group, models: own }: Identity, ids: readonly string[]): boolean {
      if (own && !ids.some(id => own.some(pattern => overlap(pattern, id)))) return false
      if (group === undefined) return ids.length > 0
      return ids.some(id => allowedIn(group).some(pattern => overlap(pattern, id)))
    },
  }
}

const byRank = (a: Ranked, b: Ranked) =>
  a.priority - b.priority || Number(a.isForeign) - Number(b.isForeign) || b.weight - a.weight

/**
 * Orders the equal candidates at the front: by their conversation, or one of them first in turns by
 * weight.
 */
function createTurns() {
  const turns = new Map<string, number>()
  return (entry: ModelEntry, ranked: Ranked[], { conversation }: RoutedRequest): Ranked[] => {
    const [first] = ranked
    const isPeer = (one: Ranked) =>
      one.priority === first?.priority && one.isForeign === first.isForeign
    const peers = ranked.filter(isPeer)
    if (peers.length < 2) return ranked
    const key = entry.sticky ? conversation?.() : undefined
    if (key !== undefined) return [...byScore(peers, key), ...ranked.slice(peers.length)]
    const turn = turns.get(entry.id) ?? 0
    turns.set(entry.id, turn + 1)
    const weights = peers.map(({ weight }) => weight)
    const chosen = peers[byTurn(weights, turn)]
    return chosen ? [chosen, ...ranked.filter(one => one !== chosen)] : ranked
  }
}

/** The order of equal candidates for a conversation: always the same one. */
function byScore(peers: Ranked[], key: string): Ranked[] {
  const score = new Map<Ranked, number>()
  for (const one of peers) score.set(one, scoreOf(key, one.candidate.channel.name, one.weight))
  return peers.sort((a, b) => (score.get(b) ?? 0) - (score.get(a) ?? 0))
}

/**
 * The caller's own protocol, if the channel has it, so that bytes can pass unchanged; else the
 * channel's first one.
 */
function spokenWith(channel: ChannelEntry, caller: Protocol, requested: RequestTraits): Protocol {
  const { protocols: spoken } = channel
  const chosen = chosenProtocol(channel, caller, requested)
  if (chosen) return protocols[chosen]
  if (!spoken || spoken.some(name => name === caller.name)) return caller
  const [first] = spoken
  return first ? protocols[first] : caller
}

/** The index of the channel whose turn it is. Not random, so that runs can be repeated. */
function byTurn(weights: readonly number[], turn: number): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  // The golden ratio spreads the turns evenly for any weights.
  let place = ((turn * 0.618_033_988_749_895) % 1) * total
  for (const [index, weight] of weights.entries()) {
    if (place < weight) return index
    place -= weight
  }
  return 0
}

/** The limits of a model that the configuration does not state are those that are known of it. */
function infoOf(
  id: string,
  { displayName, contextTokens, maxOutputTokens, channels }: ModelEntry,
): ModelInfo {
  const { model } = knownModel(channels[0]?.model ?? id) ?? {}
  return omitUndefined({
    id,
    displayName,
    contextTokens: contextTokens ?? model?.contextTokens,
    maxOutputTokens: maxOutputTokens ?? model?.outputTokens,
  })
}
