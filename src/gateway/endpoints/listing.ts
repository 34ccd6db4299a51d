import { idsIn } from '../../address/listed.ts'
import { urlOf } from '../../address/paths.ts'
import type { ModelInfo } from '../../protocol.ts'
import { protocols } from '../../protocols/index.ts'
import { proxyOf } from '../channel.ts'
import { failureKind, GatewayError, reject } from '../error.ts'
import { callHeaders } from '../headers.ts'
import type { Identity } from '../hooks.ts'
import type { ChannelEntry, ModelEntry } from '../options.ts'
import type { Service } from '../request-context.ts'
import { unreachable } from '../upstream/failure.ts'
import { withoutSecrets } from '../upstream/redact.ts'

/** How long an upstream's listing is cached. */
const freshMs = 60_000
/** Timeout for an upstream's listing. */
const timeoutMs = 5_000

/** In UTF-16 units. A longer listing counts as one that failed. */
const longestListing = 16 * 1024 * 1024

/** `failure`: there are no models, because the listing of an upstream failed. */
export type Listing = (
  identity: Identity,
) => Promise<{ models: ModelInfo[]; failure?: GatewayError }>

/** `until`: on the clock of `performance.now()`, which nobody sets back. */
type Known = { ids: Promise<string[]>; until: number; failure?: GatewayError }

/**
 * The configured models and, for ids that end in `*`, the matching ones of the upstream's listing.
 */
export function createListing({
  config,
  catalog,
  send,
}: Pick<Service, 'config' | 'catalog' | 'send'>): Listing {
  const known = new Map<string, Known>()

  function listingOf(channel: ChannelEntry): Known {
    const now = performance.now()
    const found = known.get(channel.name)
    if (found && found.until > now) return found
    const ids = ask(channel).catch((error: unknown) => {
      const reason = error instanceof GatewayError ? error : unreachable(error)
      const message = `no models can be listed; channel ${channel.name}: ${reason.message}`
      listed.failure = new GatewayError(
        { ...reason.error, message },
        { failure: failureKind(reason), cause: error },
      )
      // An upstream whose listing fails has the models that it had.
      return found?.ids ?? []
    })
    const listed: Known = { ids, until: now + freshMs }
    known.set(channel.name, listed)
    return listed
  }

  async function ask(channel: ChannelEntry): Promise<string[]> {
    const { embedded, protocols: spoken, timeouts } = channel
    if (embedded) return [embedded]
    const [name] = spoken ?? []
    const endpoint = name && channel.endpoints[name]
    if (endpoint === undefined || name === undefined) return []
    const protocol = protocols[name]
    const response = await send(channel, {
      url: urlOf(endpoint.baseUrl, protocol.address.listing ?? '/v1/models', endpoint.addVersion),
      method: 'GET',
      headers: callHeaders({ channel, protocol, auth: endpoint.auth, accept: 'application/json' }),
      body: undefined,
      signal: AbortSignal.timeout(timeoutMs),
      connectMs: timeouts.connectMs,
      ...proxyOf(channel),
    })
    const { body, status } = withoutSecrets(response, channel)
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of body) {
      text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
      if (text.length > longestListing)
        throw reject(502, 'internal', 'the listing of the upstream is too long')
    }
    // An upstream without a listing must not make ours fail.
    if (missing.has(status)) return []
    if (status !== 200)
      throw reject(502, 'internal', `the upstream refused its listing with status ${status}`)
    return idsIn(protocol, parsed(text))
  }

  /**
   * The models of the upstream's listing that match an id with `*`, with the names that clients
   * use.
   */
  async function fitting(
    { id, channels }: ModelEntry,
    failures: GatewayError[],
  ): Promise<string[]> {
    const prefix = id.slice(0, -1)
    const found: string[] = []
    for (const { name, model } of channels) {
      const channel = config.channels.find(one => one.name === name)
      // When all names are served by one model, they are not listed.
      if (!channel || (model !== undefined && !model.endsWith('*'))) continue
      const own = model?.slice(0, -1) ?? prefix
      const listed = listingOf(channel)
      for (const theirs of await listed.ids)
        if (theirs.startsWith(own)) found.push(prefix + theirs.slice(own.length))
      if (listed.failure) failures.push(listed.failure)
    }
    return found
  }

  return async identity => {
    const failures: GatewayError[] = []
    const models = new Map(catalog.list(identity).map(model => [model.id, model]))
    for (const entry of config.models) {
      if (!entry.id.endsWith('*')) continue
      for (const id of await fitting(entry, failures)) {
        const info = models.has(id) ? undefined : catalog.find(id, identity)
        if (info) models.set(info.id, info)
      }
    }
    const [failure] = models.size === 0 ? failures : []
    return { models: [...models.values()], ...(failure && { failure }) }
  }
}

/** The statuses of servers that have no listing. */
const missing = new Set([404, 405, 501])

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new GatewayError(
      { status: 502, kind: 'internal', message: 'the listing of the upstream is not JSON' },
      { cause },
    )
  }
}
