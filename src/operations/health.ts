import type { GatewayState } from '../gateway/gateway.ts'

/**
 * The state of a process that serves a gateway. `reloadError`: why the last change of the
 * configuration was not used. `records`: of the usage records; absent: none are kept.
 */
export type Readiness = {
  gateway: GatewayState
  reloadError?: string | undefined
  records?: object | undefined
}

/** `status`: of the HTTP response. */
export type HealthReport = { status: 200 | 503; body: object }

/** For `/health`: the process runs. */
export const health = (): HealthReport => ({ status: 200, body: { status: 'ok' } })

/**
 * For `/ready`: should this process get requests? Not while it shuts down. Everything else is only
 * reported: an open circuit breaker is the state of an upstream, which every other process would
 * see too; with a refused configuration, or a store or database that cannot be reached, requests
 * are still served.
 */
export function ready({ gateway, reloadError, records }: Readiness): HealthReport {
  const { isClosing, channels, store = 'none' } = gateway
  return {
    status: isClosing ? 503 : 200,
    body: {
      status: isClosing ? 'shutting down' : 'ready',
      channels,
      store,
      ...(records && { records }),
      reload: reloadError === undefined ? 'ok' : reloadError,
    },
  }
}
