import type { GatewayState } from '../gateway/gateway.ts'

/** The state of a process that serves a gateway. `reloadError`: why the last change of the configuration was not used. `records`: of the usage records; absent: none are kept. */
export type Readiness = { gateway: GatewayState; reloadError?: string | undefined; records?: object | undefined }

/** `status`: of the HTTP response. */
export type HealthReport = { status: 200 | 503; body: object }

/** For `/health`: the process runs. */
export const health = (): HealthReport => ({ status: 200, body: { status: 'ok' } })

/**
 * For `/ready`: should this process get requests? Not while it shuts down, nor when no channel gets requests. A configuration that was
 * refused, and a store or database that cannot be reached, are reported, but requests are still served.
 */
export function ready({ gateway, reloadError, records }: Readiness): HealthReport {
  const { isClosing, channels, store = 'none' } = gateway
  const isServed = channels.length === 0 || channels.some(({ breaker }) => breaker !== 'open')
  const isReady = !isClosing && isServed
  return {
    status: isReady ? 200 : 503,
    body: {
      status: isReady ? 'ready' : isClosing ? 'shutting down' : 'no channel gets requests',
      channels,
      store,
      ...(records && { records }),
      reload: reloadError === undefined ? 'ok' : reloadError,
    },
  }
}
