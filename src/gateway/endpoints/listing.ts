import { idsIn } from '../../address/listed.ts'
import { urlOf } from '../../address/paths.ts'
import type { ModelInfo } from '../../protocol.ts'
import { protocols } from '../../protocols/index.ts'
import type { Service } from '../ask.ts'
import type { Identity } from '../hooks.ts'
import type { ChannelEntry, ModelEntry } from '../options.ts'
import { withoutSecrets } from '../upstream/blot.ts'

/** How long an upstream's listing is cached. */
const freshMs = 60_000
/** Timeout for an upstream's listing. */
const patienceMs = 5_000

/** In UTF-16 units. A longer listing counts as one that failed. */
const longestListing = 16 * 1024 * 1024

export type Listing = (identity: Identity) => Promise<ModelInfo[]>

/** The configured models and, for ids that end in `*`, the matching ones of the upstream's listing. */
export function createListing({ config, catalog, transport }: Pick<Service, 'config' | 'catalog' | 'transport'>): Listing {
  const known = new Map<string, { ids: Promise<string[]>; until: number }>()

  function idsOf(channel: ChannelEntry): Promise<string[]> {
    const now = Date.now()
    const found = known.get(channel.name)
    if (found && found.until > now) return found.ids
    // An upstream without a listing must not make ours fail, and one that fails has the models that it had.
    const ids = ask(channel).catch(() => found?.ids ?? [])
    known.set(channel.name, { ids, until: now + freshMs })
    return ids
  }

  async function ask(channel: ChannelEntry): Promise<string[]> {
    const { baseUrl, addVersion, protocols: spoken, apiKey, headers, timeouts } = channel
    const [name] = spoken ?? []
    if (baseUrl === undefined || name === undefined) return []
    const { address } = protocols[name]
    const answer = await transport.send({
      url: urlOf(baseUrl, address.listing ?? '/v1/models', addVersion),
      method: 'GET',
      headers: { accept: 'application/json', ...address.upstreamHeaders(apiKey, undefined), ...headers },
      body: undefined,
      signal: AbortSignal.timeout(patienceMs),
      connectMs: timeouts.connectMs,
    })
    const { body, status } = withoutSecrets(answer, channel)
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of body) {
      text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
      if (text.length > longestListing) throw new Error('the listing is too long')
    }
    if (status !== 200) throw new Error(`the listing is refused with status ${status}`)
    return idsIn(protocols[name], JSON.parse(text))
  }

  /** The models of the upstream's listing that match an id with `*`, with the names that clients use. */
  async function fitting({ id, channels }: ModelEntry): Promise<string[]> {
    const prefix = id.slice(0, -1)
    const found: string[] = []
    for (const { name, model } of channels) {
      const channel = config.channels.find(one => one.name === name)
      // When all names are served by one model, they are not listed.
      if (!channel || (model !== undefined && !model.endsWith('*'))) continue
      const own = model?.slice(0, -1) ?? prefix
      for (const theirs of await idsOf(channel)) if (theirs.startsWith(own)) found.push(prefix + theirs.slice(own.length))
    }
    return found
  }

  return async identity => {
    const models = new Map(catalog.list(identity).map(model => [model.id, model]))
    for (const entry of config.models) {
      if (!entry.id.endsWith('*')) continue
      for (const id of await fitting(entry)) {
        const info = models.has(id) ? undefined : catalog.find(id, identity)
        if (info) models.set(info.id, info)
      }
    }
    return [...models.values()]
  }
}
