import {
  type ClientConfig,
  clientConfig,
  clientConfigText,
  clientNames,
  defaultKeyEnv,
  isClientName,
  isEnvName,
} from '../../clients/index.ts'
import type { ModelInfo } from '../../protocol.ts'
import { reject, unknownModel } from '../error.ts'
import { type GatewayRequest, type GatewayResponse, jsonResponse } from '../request.ts'

/**
 * What a key sees. `learned`: by model, the fields that are left out of requests because an
 * upstream has refused them. `webSocket`: connections are accepted. `publicUrl`: of the
 * configuration.
 */
type Seen = {
  models: readonly ModelInfo[]
  learned: Record<string, string[]>
  webSocket: boolean
  publicUrl: string | undefined
}

/**
 * Settings of client programs for the models that this key sees. Query parameters: `client`,
 * `model` and `key-env`. With `accept: text/plain` they are ready to paste. They do not contain the
 * key.
 * @throws GatewayError 400 for an invalid parameter, 404 for a model that the key does not see
 */
export function clientSettings(
  { base = '', query, headers }: GatewayRequest,
  { models, learned, webSocket, publicUrl }: Seen,
): GatewayResponse {
  const requested = query.get('client')
  const model = query.get('model')
  const keyEnv = query.get('key-env') ?? defaultKeyEnv
  const ids = models.map(({ id }) => id)
  if (requested !== null && !isClientName(requested))
    throw reject(400, 'invalid_request', `the client is one of ${clientNames.join(', ')}`, {
      param: 'client',
    })
  if (model !== null && !ids.includes(model)) throw unknownModel(model)
  if (!isEnvName(keyEnv))
    throw reject(400, 'invalid_request', 'key-env is the name of an environment variable', {
      param: 'key-env',
    })
  // Without a `host` header, `base` is only the path that we are mounted at.
  const address = publicUrl ?? (URL.canParse(base) ? base : `http://localhost${base}`)
  const options = {
    base: address,
    models: ids,
    limits: Object.fromEntries(models.map(one => [one.id, one])),
    keyEnv,
    webSocket,
    ...(model !== null && { model }),
  }
  const configs: ClientConfig[] = (requested === null ? clientNames : [requested]).map(client =>
    clientConfig(client, options),
  )
  if (/^text\/plain\b/.test(headers['accept'] ?? ''))
    return {
      status: 200,
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: configs.map(clientConfigText).join('\n'),
    }
  return jsonResponse({
    address,
    keyEnv,
    models: ids,
    learned,
    clients: Object.fromEntries(configs.map(({ client, ...config }) => [client, config])),
  })
}
