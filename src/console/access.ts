import type { IncomingMessage } from 'node:http'
import type { GatewayError, Identity } from '../gateway/gateway.ts'
import { createComparison, Refused, rejectOtherSites, shownKey } from '../records/json-calls.ts'

/**
 * Who uses the console. The operator sees everything; a client with a key of its own sees its own
 * records and models.
 */
export type Access = { role: 'operator' } | { role: 'client'; identity: Identity }

export type Gatekeeper = {
  /** @throws Refused 401 or 403 */
  decide(request: IncomingMessage): Promise<Access>
  isAdmin(key: string | undefined): boolean
}

type Guarded = { localOnly: boolean; identify(request: IncomingMessage): Promise<Identity> }

/**
 * Without an admin key, every client of a gateway without keys is its operator: such a gateway
 * serves its own machine only. Every other client shows a key of the gateway.
 */
export function createGatekeeper(adminKey: string | undefined, gateway: () => Guarded): Gatekeeper {
  const isAdmin = adminKey === undefined ? () => false : createComparison(adminKey)
  return {
    isAdmin,
    async decide(request) {
      rejectOtherSites(request)
      if (isAdmin(shownKey(request))) return { role: 'operator' }
      const guarded = gateway()
      const identity = await guarded.identify(request).catch((error: unknown) => {
        throw refusedAs(error)
      })
      return adminKey === undefined && guarded.localOnly
        ? { role: 'operator' }
        : { role: 'client', identity }
    },
  }
}

function refusedAs(error: unknown): unknown {
  const { error: { status, message } = {} } = error as Partial<GatewayError>
  return status !== undefined && message !== undefined ? new Refused(status, message) : error
}
