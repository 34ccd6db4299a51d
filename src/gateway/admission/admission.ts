import type { Protocol } from '../../protocol.ts'
import type { Signal } from '../../transports/abort-controller.ts'
import { GatewayError, reject, tooManyAtOnce } from '../error.ts'
import { hookRequest, type Identity } from '../hooks.ts'
import type { Release } from '../in-flight.ts'
import type { Taken } from '../limits.ts'
import type { ClientRequest } from '../request.ts'
import type { Service } from '../request-context.ts'
import { credentialsOf, longestCredential } from './credential.ts'
import { createKeyRing } from './keys.ts'

/** Authentication and rate limits of clients. */
export type Admission = {
  /**
   * Only clients on this machine are served: there are neither keys nor `"auth": "none"` nor the
   * hook `authenticate`.
   */
  readonly localOnly: boolean
  /** @throws GatewayError 401 */
  identify(request: ClientRequest, protocol: Protocol): Promise<Identity>
  /**
   * Counts one call of this client. Undefined: it has no limit.
   * @throws GatewayError 429 when it has reached it
   */
  count(identity: Identity): Promise<Counted | undefined>
  /**
   * Waits until this client may have another request in progress. Undefined: it has no limit.
   * @throws GatewayError 429 when its queue is full or the wait too long
   */
  enter(identity: Identity, signal: Signal): Promise<Release> | undefined
}

/** `headers`: they show the client its limit. */
export type Counted = {
  headers: Record<string, string>
  /** Uncounts the call. Returns the headers without it. */
  giveBack(): Promise<Record<string, string>>
}

type Parts = Pick<Service, 'config' | 'hooks' | 'limits' | 'inFlight'>

export function createAdmission(parts: Parts): Admission {
  const { config, hooks, limits, inFlight } = parts
  const keys = createKeyRing(config.keys)
  const localOnly = keys.size === 0 && config.auth !== 'none' && !hooks.authenticate
  const decide = createDecision(parts, { keys, localOnly })
  const guesses = createGuesses(config.defaults.wrongKeysPerMinute, limits)

  /**
   * Does a refusal of this request count as a wrong key? Without a key it does not, except with a
   * hook, which may find keys anywhere.
   */
  const mayBeGuess = ({ headers, query }: ClientRequest, { address }: Protocol) =>
    hooks.authenticate !== undefined || credentialsOf(address, headers, query).length > 0

  return {
    localOnly,
    async identify(request, protocol) {
      const { address: from } = request
      guesses.check(from)
      try {
        return await decide(request, protocol)
      } catch (error) {
        const isRefused = error instanceof GatewayError && error.error.kind === 'authentication'
        if (isRefused && mayBeGuess(request, protocol)) await guesses.count(from)
        throw error
      }
    },
    count: createCount(parts),
    enter(identity, signal) {
      const { concurrentRequests: limit = 0 } = identity
      if (limit === 0) return undefined
      const rejection = () => tooManyAtOnce(429, 'API key')
      return inFlight.wait({ name: ownerOf(identity), limit, signal, rejection })
    },
  }
}

/** Who sends a request, by the hook, or by its key. */
function createDecision(
  { config, hooks }: Parts,
  { keys, localOnly }: { keys: ReturnType<typeof createKeyRing>; localOnly: boolean },
) {
  return async (request: ClientRequest, { address }: Protocol): Promise<Identity> => {
    const { headers, query, local } = request
    const credentials = credentialsOf(address, headers, query)
    const [credential] = credentials
    if (credentials.some(({ length }) => length > longestCredential)) throw unauthorized(credential)
    if (hooks.authenticate) {
      const decided = await hooks.authenticate(credential, hookRequest(request))
      if (decided) return decided
      if (decided === null || (keys.size === 0 && config.auth !== 'none'))
        throw unauthorized(credential)
    }
    if (config.auth === 'none') return {}
    if (localOnly) {
      if (local) return {}
      throw reject(401, 'authentication', thisMachineOnly)
    }
    for (const shown of credentials) {
      const identity = keys.find(shown)
      if (identity) return identity
    }
    throw unauthorized(credential)
  }
}

const thisMachineOnly =
  'this gateway has no keys, so it serves clients on its own machine only: configure "keys", or set "auth": "none"'

/** Counts calls against the client's own limit and its group's. */
function createCount({ config: { groups }, limits }: Parts): Admission['count'] {
  return async identity => {
    const { group, requestsPerMinute: ownLimit = 0 } = identity
    const isKnown = group !== undefined && Object.hasOwn(groups, group)
    const groupLimit = (isKnown && groups[group]?.requestsPerMinute) || 0
    const own = await limits.take(ownerOf(identity), ownLimit)
    const isFull = own?.waitMs !== undefined
    const shared = isFull ? undefined : await limits.take(`group ${group}`, groupLimit)
    const narrow = narrower(own, shared)
    if (!narrow) return undefined
    const headers = limitHeaders(narrow)
    const retryAfterMs = own?.waitMs ?? shared?.waitMs
    if (retryAfterMs !== undefined) {
      const message = 'too many requests in this minute'
      throw new GatewayError(
        { status: 429, kind: 'rate_limit', message, retryAfterMs },
        { headers },
      )
    }
    return {
      headers,
      async giveBack() {
        if (own) await limits.giveBack(ownerOf(identity), ownLimit)
        if (shared) await limits.giveBack(`group ${group}`, groupLimit)
        return limitHeaders({ ...narrow, remaining: narrow.remaining + 1 })
      },
    }
  }
}

/** Of two limits, the one that leaves less. */
function narrower(own: Taken | undefined, shared: Taken | undefined): Taken | undefined {
  if (!own || !shared) return own ?? shared
  return shared.remaining < own.remaining ? shared : own
}

/** The name of a client's own limits. */
const ownerOf = ({ id, name }: Identity) => (id === undefined ? `key ${name}` : `key id ${id}`)

/** The names that most clients read. `reset`: as the OpenAI API writes it. */
const limitHeaders = ({ limit, remaining, resetMs }: Taken): Record<string, string> => ({
  'x-ratelimit-limit-requests': String(limit),
  'x-ratelimit-remaining-requests': String(remaining),
  'x-ratelimit-reset-requests': `${Math.ceil(resetMs / 1000)}s`,
})

/** The number of refused addresses that are remembered; then the oldest is forgotten. */
const mostAddresses = 10_000

/**
 * Limits wrong keys per address: after too many the address is refused for the rest of the minute,
 * even with a valid key.
 */
function createGuesses(perMinute: number, limits: Service['limits']) {
  /** On the clock of `performance.now()`, which nobody sets back. */
  const refusedUntil = new Map<string, number>()
  return {
    /** @throws GatewayError 429 */
    check(address: string | undefined): void {
      const until = address === undefined ? undefined : refusedUntil.get(address)
      if (address === undefined || until === undefined) return
      const retryAfterMs = until - performance.now()
      if (retryAfterMs > 0)
        throw reject(429, 'rate_limit', 'too many wrong API keys in this minute', { retryAfterMs })
      refusedUntil.delete(address)
    },
    async count(address: string | undefined): Promise<void> {
      if (address === undefined) return
      const taken = await limits.take(`wrong keys ${address}`, perMinute)
      if (taken?.waitMs === undefined) return
      const [oldest] = refusedUntil.keys()
      if (refusedUntil.size >= mostAddresses && oldest !== undefined) refusedUntil.delete(oldest)
      refusedUntil.set(address, performance.now() + taken.waitMs)
    },
  }
}

function unauthorized(credential: string | undefined): GatewayError {
  const message = credential === undefined ? 'no API key was given' : 'the API key is not valid'
  return new GatewayError(
    { status: 401, kind: 'authentication', message },
    { headers: { 'www-authenticate': 'Bearer' } },
  )
}
