import { createGateway, type GatewayConfig } from '../gateway/gateway.ts'
import { isObject, parseJson } from '../kit/json/json.ts'
import { undiciTransport } from '../transports/undici.ts'
import type { Vendor } from '../vendors/index.ts'
import { vendors } from '../vendors/index.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const all: readonly Vendor[] = Object.values(vendors)

/** Vendors whose key is in the environment, and whose URL needs no name of the user in it. */
export function vendorsIn(environment: Environment): Vendor[] {
  return all.filter(
    ({ keyVariable, endpoints }) =>
      keyVariable !== undefined && environment[keyVariable] && !endpoints[0].baseUrl.includes('{'),
  )
}

/**
 * A configuration that serves all models of these vendors. A name such as `gpt-5` goes to the
 * vendor that lists it, `vendor/model` to the named one. `warn`: called for a vendor whose models
 * cannot be listed; names that no client lists go to each vendor in turn.
 */
export async function configFor(
  found: readonly Vendor[],
  warn: (message: string) => void,
  list: List = modelsOf,
): Promise<GatewayConfig> {
  const channels = found.map(({ name, keyVariable, passThrough }) => ({
    name,
    vendor: name,
    apiKey: `env:${keyVariable}`,
    ...(passThrough && { passThrough: [...passThrough] }),
  })) as GatewayConfig['channels']
  const names = found.map(({ name }) => name)
  const lists = await Promise.all(
    channels.map(channel =>
      list(channel).catch((error: Error) => void warn(`${channel.name}: ${error.message}`)),
    ),
  )
  const serving = new Map<string, string[]>()
  for (const [index, ids] of lists.entries())
    for (const id of ids ?? []) serving.set(id, [...(serving.get(id) ?? []), names[index] ?? ''])
  return {
    channels,
    models: [
      ...[...serving]
        .filter(([id]) => !id.includes('*'))
        .map(([id, by]) => ({ id, channels: by.map((name, priority) => ({ name, priority })) })),
      ...names.map(name => ({ id: `${name}/*`, channels: [{ name, model: '*' }] })),
      { id: '*', channels: names.map((name, priority) => ({ name, priority })) },
    ],
  }
}

/**
 * A configuration that sends every model to one vendor.
 * @throws Error if its key is not in the environment, or its address has a name of the user in it
 */
export function vendorConfig(name: string, environment: Environment): GatewayConfig {
  const vendor = all.find(one => one.name === name)
  if (!vendor) throw new Error(`there is no vendor ${name}`)
  const { title, keyVariable, endpoints } = vendor
  if (endpoints[0].baseUrl.includes('{'))
    throw new Error(
      `${title} needs a configuration with its address: npx wireglot vendors ${name} shows a channel`,
    )
  if (keyVariable !== undefined && !environment[keyVariable])
    throw new Error(`${title} needs its key in the environment: export ${keyVariable}=…`)
  const apiKey = keyVariable === undefined ? {} : { apiKey: `env:${keyVariable}` }
  return { channels: [{ vendor: name, ...apiKey }] as GatewayConfig['channels'] }
}

/** What several processes share: limits and stored responses, if there is a Redis for them. */
export const sharedIn = (environment: Environment): Pick<GatewayConfig, 'limits' | 'store'> =>
  environment['REDIS_URL']
    ? { limits: { redis: 'env:REDIS_URL' }, store: { redis: 'env:REDIS_URL' } }
    : {}

/** @throws Error with the reason */
type List = (channel: GatewayConfig['channels'][number]) => Promise<string[]>

/** The ids that the upstream of a channel lists. @throws Error with the reason */
export async function modelsOf(channel: GatewayConfig['channels'][number]): Promise<string[]> {
  const gateway = createGateway(
    {
      auth: 'none',
      proxy: 'env',
      channels: [channel],
      models: [{ id: '*', channels: [{ name: String(channel.name) }] }],
    },
    { logger: false },
    undiciTransport,
  )
  try {
    const request = {
      method: 'GET',
      path: '/v1/models',
      query: new URLSearchParams(),
      headers: {},
      signal: new AbortController().signal,
      local: true,
    }
    const { status, body } = await gateway.handle({
      ...request,
      body: { parsed: undefined },
      raw: undefined,
    })
    const listed = typeof body === 'string' ? parseJson(body) : undefined
    if (status !== 200)
      throw new Error(errorIn(listed) ?? `the models cannot be listed (${status})`)
    const entries = isObject(listed) && Array.isArray(listed['data']) ? listed['data'] : []
    return entries.flatMap(entry =>
      isObject(entry) && typeof entry['id'] === 'string' ? entry['id'] : [],
    )
  } finally {
    await gateway.close(0)
  }
}

function errorIn(body: unknown): string | undefined {
  const error = isObject(body) ? body['error'] : undefined
  return isObject(error) && typeof error['message'] === 'string' ? error['message'] : undefined
}
