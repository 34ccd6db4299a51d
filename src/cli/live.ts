import type { GatewayConfig, GatewayState, Logger } from '../gateway/gateway.ts'
import { longestMs } from '../gateway/options.ts'
import type { ConnectGateway } from '../hosts/connect.ts'
import type { ConfigSource } from './source.ts'

/** A gateway whose configuration can be read again. */
export type Live = {
  current(): ConnectGateway
  config(): GatewayConfig
  /** That of the current gateway, with the requests of the earlier ones. */
  state(): GatewayState
  /** Why the last reload kept the old configuration. Undefined: it did not fail. */
  reloadError(): string | undefined
  reload(): Promise<void>
  close(graceMs: number): Promise<void>
}

/** @throws ConfigError or Error when the first configuration is invalid */
export async function createLive(
  source: ConfigSource,
  first: GatewayConfig,
  { create, logger }: { create(config: GatewayConfig): ConnectGateway; logger: Logger },
): Promise<Live> {
  let config = first
  let current = create(config)
  let failed: string | undefined
  const retiring = new Set<ConnectGateway>()
  let reloading: Promise<void> = Promise.resolve()

  async function replace(): Promise<void> {
    try {
      const wanted = await source.read()
      const next = create(wanted)
      const old = current
      current = next
      config = wanted
      failed = undefined
      // Its streams end by themselves.
      retiring.add(old)
      void old.close(longestMs).finally(() => retiring.delete(old))
      logger.info({}, 'the configuration was reloaded')
    } catch (error) {
      failed = error instanceof Error ? error.message : 'unknown'
      logger.error({ error: failed }, 'the new configuration is invalid: the old one stays')
    }
  }

  return {
    current: () => current,
    config: () => config,
    state() {
      const state = current.state()
      for (const old of retiring) state.inProgress += old.state().inProgress
      return state
    },
    reloadError: () => failed,
    reload() {
      reloading = reloading.then(replace)
      return reloading
    },
    async close(graceMs) {
      await Promise.all([current, ...retiring].map(one => one.close(graceMs)))
    },
  }
}
