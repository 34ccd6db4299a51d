import type { Protocol } from '../protocol.ts'
import type { Service } from './ask.ts'
import { credentialOf } from './credential.ts'
import { Refusal, refuse } from './error.ts'
import type { Identity } from './hooks.ts'
import { createKeyRing } from './keys.ts'
import type { GatewayRequest } from './request.ts'

/** Who gets in, and how often. */
export type Admission = {
  /** Neither keys nor `"auth": "none"` nor a hook: only clients on the same machine are served. */
  readonly localOnly: boolean
  /** @throws Refusal 401 */
  identify(request: GatewayRequest, protocol: Protocol): Promise<Identity>
  /** Counts one call. @throws Refusal 429 */
  count(identity: Identity): Promise<void>
}

const longestCredential = 4096

export function createAdmission({ config, hooks, limits }: Pick<Service, 'config' | 'hooks' | 'limits'>): Admission {
  const keys = createKeyRing(config.keys)
  const localOnly = keys.size === 0 && config.auth !== 'none' && !hooks.authenticate
  return {
    localOnly,
    async identify({ headers, query, method, path, local }, { address }) {
      const credential = credentialOf(address, headers, query)
      if (credential !== undefined && credential.length > longestCredential) throw unauthorized(credential)
      if (hooks.authenticate) {
        const decided = await hooks.authenticate(credential, { method, path, headers })
        if (decided) return decided
        if (decided === null || keys.size === 0) throw unauthorized(credential)
      }
      if (config.auth === 'none') return {}
      if (localOnly) {
        if (local) return {}
        throw refuse(401, 'authentication', 'this gateway has no keys, so it serves clients on its own machine only: configure "keys", or say "auth": "none"')
      }
      const identity = credential === undefined ? undefined : keys.find(credential)
      if (!identity) throw unauthorized(credential)
      return identity
    },
    async count({ name, group, requestsPerMinute = 0 }) {
      const ofGroup = group !== undefined && Object.hasOwn(config.groups, group) ? config.groups[group]?.requestsPerMinute : undefined
      const retryAfterMs = (await limits.take(`key ${name}`, requestsPerMinute)) ?? (await limits.take(`group ${group}`, ofGroup ?? 0))
      if (retryAfterMs !== undefined) throw refuse(429, 'rate_limit', 'too many requests in this minute', { retryAfterMs })
    },
  }
}

function unauthorized(credential: string | undefined): Refusal {
  const message = credential === undefined ? 'no API key was given' : 'the API key is not valid'
  return new Refusal({ status: 401, kind: 'authentication', message }, { headers: { 'www-authenticate': 'Bearer' } })
}
