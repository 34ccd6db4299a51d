import type { GatewayConfig, LearnedFields } from '../gateway/gateway.ts'
import { parseConfig } from '../gateway/options.ts'
import { fetchGateway } from '../hosts/fetch.ts'
import { isObject, parseJson } from '../kit/json/json.ts'
import { protocolNames } from '../protocols/index.ts'
import type { AdminChannels, AdminSources } from '../records/index.ts'
import { undiciTransport } from '../transports/undici.ts'
import { type Check, verify } from '../verify/index.ts'
import type { Environment } from './environment.ts'
import { listedModels } from './listed-models.ts'

/** What the admin API shows of a running gateway. */
export function adminSources({
  state,
  config,
  current,
  environment,
  channels,
}: {
  state: AdminSources['state']
  config(): GatewayConfig
  current(): { learned(): LearnedFields }
  environment: Environment
  channels?: AdminChannels
}): AdminSources {
  return {
    state,
    // Without models, every id goes to all channels.
    models: () => (config().models ? listedModels(parseConfig(config(), environment)) : []),
    verify: (name, model) => verifyChannel(config(), environment, name, model),
    learned: () => current().learned(),
    ...(channels && { channels }),
  }
}

type Channel = GatewayConfig['channels'][number]

/** A gateway with one channel alone, without keys, limits and store. */
const gatewayOf = (channel: Channel, id: string) =>
  fetchGateway(
    {
      auth: 'none',
      channels: [channel],
      models: [{ id, channels: [{ name: channel.name ?? channel.vendor ?? '' }] }],
      defaults: { retries: 0 },
    },
    { logger: false, transport: undiciTransport() },
  )

/**
 * Checks the upstream of a channel: its address, its key and its listing. Then it is sent a few
 * small requests, as the gateway would. Undefined: there is no such channel.
 */
async function verifyChannel(
  config: GatewayConfig,
  environment: Environment,
  name: string,
  model: string,
) {
  const channel = config.channels.find(one => (one.name ?? one.vendor) === name)
  if (!channel) return undefined
  const upstream = await checkUpstream(channel, environment, model)
  const gateway = gatewayOf(channel, model)
  const [protocol] = channel.protocols ?? protocolNames
  const { checks } = await verify({
    base: 'http://gateway',
    model,
    ...(protocol && { protocol }),
    fetch: gateway,
  })
  await gateway.close(0)
  // The address and the listing are those of the gateway in this process.
  const sent = checks.filter(({ scope }) => scope !== 'address' && scope !== 'service')
  const all = [...upstream, ...sent]
  return { ok: all.every(({ result }) => result !== 'failed'), checks: all }
}

/** By its listing, which needs the address, the connection and the key. */
async function checkUpstream(
  channel: Channel,
  environment: Environment,
  model: string,
): Promise<Check[]> {
  if (channel.embedded) return []
  const [parsed] = parseConfig({ channels: [channel] }, environment).channels
  const [endpoint] = Object.values(parsed?.endpoints ?? {})
  const address: Check = {
    scope: 'address',
    name: 'the address',
    result: 'passed',
    detail: endpoint?.baseUrl ?? 'that of the vendor',
  }
  const gateway = gatewayOf(channel, '*')
  const began = performance.now()
  const response = await gateway(new Request('http://gateway/v1/models'))
  const ms = Math.round(performance.now() - began)
  const body = parseJson(await response.text())
  await gateway.close(0)
  const listing = { scope: 'service' as const, name: 'the listing of models', ms }
  if (response.status !== 200) {
    const { error } = isObject(body) ? body : {}
    const detail = isObject(error) ? String(error['message']) : `status ${response.status}`
    const isKey = /status 40[13]/.test(detail)
    const fix = isKey
      ? 'The upstream refuses the key of this channel: check it, and its rights.'
      : 'Check the address of the channel, and that its server is up and can be reached from here.'
    return [address, { ...listing, result: 'failed', detail, fix }]
  }
  const ids = isObject(body) && Array.isArray(body['data']) ? body['data'] : []
  if (ids.length === 0) return [address, { ...listing, result: 'skipped', detail: 'it has none' }]
  const isListed = ids.some(one => isObject(one) && one['id'] === model)
  return [
    address,
    { ...listing, result: 'passed', detail: `${ids.length} models` },
    {
      scope: 'service',
      name: 'the model is listed',
      result: isListed ? 'passed' : 'warned',
      detail: isListed ? model : `${model} is not among them`,
      ...(!isListed && {
        fix: 'Compare the name with those of the listing: it may be a typing error.',
      }),
    },
  ]
}
