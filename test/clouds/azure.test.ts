import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { parseConfig } from '../../src/gateway/options.ts'
import { hosts, hostsOf, post, requests, responses } from '../gateway/support.ts'
import { json, listening, server } from './support.ts'

const tokenOf = (nth: number) => `eyJ0eXAi.token-of-the-test-${nth}.${'x'.repeat(60)}`
const clientSecret = 'client~secret~of~the~test~0123456789'

beforeEach(() => {
  for (const name of [
    'AZURE_TENANT_ID',
    'AZURE_CLIENT_ID',
    'AZURE_CLIENT_SECRET',
    'AZURE_FEDERATED_TOKEN_FILE',
    'IDENTITY_ENDPOINT',
    'IDENTITY_HEADER',
  ])
    vi.stubEnv(name, undefined)
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.doUnmock('@azure/identity')
})

/**
 * The identity endpoint of App Service: every response is another token, which lives for so many
 * seconds.
 */
async function identity({ seconds = 3_600, status = 200 } = {}) {
  const found = await server(({ headers }, response) => {
    if (headers['x-identity-header'] !== 'identity-header-0123') return json(response, 401, {})
    if (status !== 200)
      return json(response, status, { error: 'broken', error_description: tokenOf(0) })
    const expires_on = String(Math.floor(Date.now() / 1000) + seconds)
    return json(response, 200, {
      access_token: tokenOf(found.calls.length),
      expires_on,
      token_type: 'Bearer',
      resource: 'https://cognitiveservices.azure.com',
    })
  })
  vi.stubEnv('IDENTITY_ENDPOINT', `${found.url}/msi/token`)
  vi.stubEnv('IDENTITY_HEADER', 'identity-header-0123')
  return found
}

/** Azure OpenAI, which accepts what `isValid` says. */
const azure = (isValid: (authorization: string) => boolean) =>
  server(({ headers }, response) =>
    isValid(headers['authorization'] ?? '')
      ? json(response, 200, responses['chat-completions'])
      : json(response, 401, {
          error: { code: '401', message: `Access denied: ${headers['authorization']}` },
        }),
  )

const configFor = (baseUrl: string, channel: object = {}): GatewayConfig => ({
  auth: 'none',
  channels: [
    {
      vendor: 'azure',
      protocols: ['chat-completions'],
      baseUrl: `${baseUrl}/openai/v1`,
      ...channel,
    },
  ],
  defaults: { retries: 0 },
})
const ask = post(requests['chat-completions'])
const path = '/v1/chat/completions'

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test('gets a token of a managed identity for the scope of Azure OpenAI', async () => {
    const tokens = await identity()
    const upstream = await azure(authorization => authorization.startsWith('Bearer eyJ0eXAi.token'))
    const send = await start(configFor(upstream.url, { auth: { entra: {} } }))
    const statuses = await Promise.all(
      Array.from({ length: 4 }, async () => (await send(path, ask)).status),
    )
    expect(statuses).toEqual([200, 200, 200, 200])
    expect(tokens.calls.length).toBeLessThanOrEqual(1)
    expect(upstream.calls[0]?.headers).not.toHaveProperty('api-key')
    expect(upstream.calls[0]?.path).toBe('/openai/v1/chat/completions')
    if (tokens.calls[0])
      expect(tokens.calls[0].path).toContain(
        encodeURIComponent('https://cognitiveservices.azure.com'),
      )
  })

  test('sends an API key as api-key, with the deployment in the path and the version in the query', async () => {
    const upstream = await server((_received, response) =>
      json(response, 200, responses['chat-completions']),
    )
    const channel = {
      baseUrl: `${upstream.url}/openai/deployments`,
      api: 'deployments',
      apiKey: 'azure-key-0123456789',
    }
    const send = await start(configFor(upstream.url, channel))
    expect(
      (await send(path, post({ ...requests['chat-completions'], model: 'my gpt' }))).status,
    ).toBe(200)
    expect(upstream.calls[0]?.path).toBe(
      '/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21',
    )
    expect(upstream.calls[0]?.headers).toMatchObject({ 'api-key': 'azure-key-0123456789' })
    expect(upstream.calls[0]?.headers).not.toHaveProperty('authorization')
  })

  test('uses the deployment of the base URL and the version of the channel', async () => {
    const upstream = await server((_received, response) =>
      json(response, 200, responses['chat-completions']),
    )
    const channel = {
      baseUrl: `${upstream.url}/openai/deployments/fixed`,
      api: 'deployments',
      apiVersion: '2025-01-01-preview',
      apiKey: 'azure-key-0123456789',
    }
    const send = await start(configFor(upstream.url, channel))
    expect((await send(`${path}?api-version=2024-06-01`, ask)).status).toBe(200)
    expect((await send(path, ask)).status).toBe(200)
    // Between equal protocols the query of the client passes.
    expect(upstream.calls.map(({ path: requested }) => requested)).toEqual([
      '/openai/deployments/fixed/chat/completions?api-version=2024-06-01',
      '/openai/deployments/fixed/chat/completions?api-version=2025-01-01-preview',
    ])
  })
})

const [[, start]] = hosts as [(typeof hosts)[number]]

/** The package with credentials of its own, because it asks only authorities with TLS. */
function simulatedPackage(
  getToken: (
    kind: string,
    scope: string,
  ) => Promise<{ token: string; expiresOnTimestamp: number } | null>,
) {
  const made: unknown[][] = []
  const kind = (name: string) =>
    class {
      constructor(...options: unknown[]) {
        made.push([name, ...options])
      }
      getToken = (scope: string) => getToken(name, scope)
    }
  vi.doMock('@azure/identity', () => ({
    ClientSecretCredential: kind('secret'),
    DefaultAzureCredential: kind('default'),
  }))
  return made
}

test('renews a token that Azure refuses, and sends the call once more', async () => {
  let count = 0
  const made = simulatedPackage(async () => ({
    token: tokenOf(++count),
    expiresOnTimestamp: Date.now() + 3_600_000,
  }))
  const upstream = await azure(authorization => authorization === `Bearer ${tokenOf(2)}`)
  const entra = {
    tenantId: 'tenant',
    clientId: 'client',
    clientSecret,
    scope: 'https://ai.azure.com/.default',
    authorityHost: 'https://login.example',
  }
  const send = await start(configFor(upstream.url, { auth: { entra } }))
  expect((await send(path, ask)).status).toBe(200)
  expect(upstream.calls).toHaveLength(2)
  expect(made[0]).toEqual([
    'secret',
    'tenant',
    'client',
    clientSecret,
    { authorityHost: 'https://login.example' },
  ])
})

test('renews a token before it expires, and gives up after the second refusal without a token in response or log', async () => {
  let count = 0
  simulatedPackage(async () => ({
    token: tokenOf(++count),
    expiresOnTimestamp: Date.now() + 1_000,
  }))
  const upstream = await azure(() => false)
  const logged = listening()
  const send = await start(
    configFor(upstream.url, { auth: { entra: { clientId: 'managed' } } }),
    logged.hooks,
  )
  const response = await send(path, ask)
  const text = `${await response.text()}${logged.text()}`
  expect([response.status, upstream.calls.length]).toEqual([502, 2])
  expect(text).toContain('***')
  expect(text).not.toMatch(/token-of-the-test/)
  await new Promise(resolve => setTimeout(resolve, 1_050))
  await send(path, ask)
  expect(upstream.calls.at(-1)?.headers['authorization']).toBe(`Bearer ${tokenOf(3)}`)
})

test('responds with 503 when there is no token, with the reason in the log and no secret', async () => {
  simulatedPackage(async () => {
    throw new Error(`AADSTS7000215: invalid client secret ${clientSecret} in ${tokenOf(1)}`)
  })
  const upstream = await azure(() => true)
  const logged = listening()
  const send = await start(
    configFor(upstream.url, { auth: { entra: { tenantId: 't', clientId: 'c', clientSecret } } }),
    logged.hooks,
  )
  const response = await send(path, ask)
  expect(response.status).toBe(503)
  const text = `${await response.text()}${logged.text()}`
  expect(text).toContain('no access token of Entra: AADSTS7000215')
  expect(text).not.toContain(clientSecret)
  expect(text).not.toMatch(/token-of-the-test/)
})

test('a missing package is named, with the command that installs it', async () => {
  vi.doMock('@azure/identity', () => {
    throw new Error('Cannot find package')
  })
  const logged = listening()
  const send = await start(configFor('http://127.0.0.1:9', { auth: { entra: {} } }), logged.hooks)
  expect((await send(path, ask)).status).toBe(503)
  expect(logged.text()).toContain('npm install @azure/identity')
})

test('a channel is complete with a resource, and says what a secret needs', () => {
  const [channel] = parseConfig(
    { channels: [{ vendor: 'azure', resource: 'acme', auth: { entra: {} } }] },
    {},
  ).channels
  expect(channel?.endpoints.responses?.baseUrl).toBe('https://acme.openai.azure.com/openai/v1')
  const dated = parseConfig(
    {
      channels: [
        { vendor: 'azure', resource: 'acme', api: 'deployments', apiKey: 'azure-key-0123456789' },
      ],
    },
    {},
  ).channels[0]
  expect(dated?.endpoints['chat-completions']?.baseUrl).toBe(
    'https://acme.openai.azure.com/openai/deployments',
  )
  expect(() =>
    parseConfig(
      { channels: [{ vendor: 'azure', resource: 'acme', auth: { entra: { clientSecret: 's' } } }] },
      {},
    ),
  ).toThrow('expected tenantId and clientId with')
  expect(() => parseConfig({ channels: [{ vendor: 'azure', auth: { entra: {} } }] }, {})).toThrow(
    'or set resource',
  )
  expect(() => parseConfig({ channels: [{ vendor: 'openai', api: 'deployments' }] }, {})).toThrow(
    'api: expected one of none',
  )
})
