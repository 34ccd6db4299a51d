import type { GatewayConfig, GatewayState, LearnedFields } from '../gateway/gateway.ts'
import { parseConfig } from '../gateway/options.ts'
import { fetchGateway } from '../hosts/fetch.ts'
import { protocolNames } from '../protocols/index.ts'
import type { AdminSources } from '../records/index.ts'
import { undiciTransport } from '../transports/undici.ts'
import { verify } from '../verify/index.ts'
import type { Environment } from './environment.ts'
import { listedModels } from './listed-models.ts'

/** What the admin API shows of a running gateway. */
export function adminSources({
  state,
  config,
  current,
  environment,
}: {
  state(): GatewayState
  config(): GatewayConfig
  current(): { learned(): LearnedFields }
  environment: Environment
}): AdminSources {
  return {
    state,
    // Without models, every id goes to all channels.
    models: () => (config().models ? listedModels(parseConfig(config(), environment)) : []),
    verify: (name, model) => verifyChannel(config(), name, model),
    learned: () => current().learned(),
  }
}

/**
 * Sends a channel a few small requests as the gateway would, without its keys, limits and store.
 * Undefined: there is no such channel.
 */
async function verifyChannel({ channels }: GatewayConfig, name: string, model: string) {
  const channel = channels.find(one => (one.name ?? one.vendor) === name)
  if (!channel) return undefined
  const gateway = fetchGateway(
    {
      auth: 'none',
      channels: [channel],
      models: [{ id: model, channels: [{ name }] }],
      defaults: { retries: 0 },
    },
    { logger: false, transport: undiciTransport() },
  )
  const [protocol] = channel.protocols ?? protocolNames
  const { ok, checks } = await verify({
    base: 'http://gateway',
    model,
    ...(protocol && { protocol }),
    fetch: gateway,
  })
  await gateway.close(0)
  return { ok, checks }
}
