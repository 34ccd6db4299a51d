import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { parseConfig } from '../../src/gateway/options.ts'
import { hosts, hostsOf, post, requests, responses } from '../gateway/support.ts'
import { json, type Keys, listening, refusalOfSignature, server, withoutAws } from './support.ts'

const fixed: Keys = {
  accessKeyId: 'AKIAFIXED0000000TEST',
  secretAccessKey: 'fixed/secret+access/key+of+the+test+0001',
}
const temporary = (nth: number): Keys => ({
  accessKeyId: `ASIATEMPORARY0000${nth}`,
  secretAccessKey: `temporary/secret+access/key+of+the+test${nth}`,
  sessionToken: `session/token+of/the+test==${nth}${'x'.repeat(200)}`,
})

beforeEach(withoutAws)
afterEach(() => {
  vi.unstubAllEnvs()
  vi.useRealTimers()
})

/** The OpenAI form of Bedrock, which refuses wrong signatures. */
const bedrock = (rules: { keys: Keys[]; clock?: () => number }) =>
  server(async (received, response) => {
    const refusal = await refusalOfSignature(received, {
      service: 'bedrock',
      region: 'us-east-1',
      ...rules,
    })
    const date = { date: new Date((rules.clock ?? Date.now)()).toUTCString() }
    if (refusal)
      json(
        response,
        403,
        { message: refusal.message },
        { 'x-amzn-errortype': refusal.type, ...date },
      )
    else json(response, 200, responses['chat-completions'])
  })

const configFor = (url: string, aws: object): GatewayConfig => ({
  auth: 'none',
  channels: [
    {
      vendor: 'bedrock',
      region: 'us-east-1',
      baseUrl: `${url}/v1`,
      protocols: ['chat-completions'],
      auth: { aws },
    },
  ],
  defaults: { retries: 0 },
})

const ask = post(requests['chat-completions'])

/** A container endpoint: every response has other keys, which live for `lifeMs`. */
async function container(lifeMs: number) {
  const endpoint = await server(({ headers }, response) => {
    if (headers['authorization'] !== 'container-token-0123')
      return json(response, 403, { message: 'no' })
    const {
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      sessionToken: Token,
    } = temporary(endpoint.calls.length)
    return json(response, 200, {
      AccessKeyId,
      SecretAccessKey,
      Token,
      Expiration: new Date(Date.now() + lifeMs).toISOString(),
    })
  })
  vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${endpoint.url}/credentials`)
  vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN', 'container-token-0123')
  return endpoint
}

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test('signs with fixed keys, and sends no other key', async () => {
    const upstream = await bedrock({ keys: [fixed] })
    const send = await start(configFor(upstream.url, fixed))
    expect((await send('/v1/chat/completions', ask)).status).toBe(200)
    expect(upstream.calls[0]?.headers).not.toHaveProperty('x-api-key')
    expect(upstream.calls).toHaveLength(1)
  })

  test('gets temporary keys from the credential chain once for concurrent calls', async () => {
    const endpoint = await container(3_600_000)
    const upstream = await bedrock({ keys: [temporary(1)] })
    const send = await start(configFor(upstream.url, {}))
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async () => (await send('/v1/chat/completions', ask)).status),
    )
    expect(statuses).toEqual(statuses.map(() => 200))
    expect(endpoint.calls).toHaveLength(1)
  })

  test('renews keys that AWS refuses, and sends the call once more', async () => {
    const endpoint = await container(3_600_000)
    const upstream = await bedrock({ keys: [temporary(2)] })
    const send = await start(configFor(upstream.url, {}))
    expect((await send('/v1/chat/completions', ask)).status).toBe(200)
    expect([endpoint.calls.length, upstream.calls.length]).toEqual([2, 2])
  })

  test('gives up after the second refusal, without a secret in response or log', async () => {
    await container(3_600_000)
    const upstream = await server((received, response) =>
      json(
        response,
        403,
        { message: `expired: ${JSON.stringify(received.headers)}` },
        { 'x-amzn-errortype': 'ExpiredTokenException' },
      ),
    )
    const logged = listening()
    const send = await start(configFor(upstream.url, {}), logged.hooks)
    const response = await send('/v1/chat/completions', ask)
    const text = `${await response.text()}${logged.text()}`
    expect(response.status).toBe(403)
    expect(upstream.calls).toHaveLength(2)
    for (const { secretAccessKey, sessionToken = '' } of [temporary(1), temporary(2)]) {
      expect(text).not.toContain(secretAccessKey)
      expect(text).not.toContain(sessionToken)
    }
    expect(text).toContain('***')
  })

  test('corrects the time by the date of the refusal, also for later calls', async () => {
    const ahead = 20 * 60_000
    const upstream = await bedrock({ keys: [fixed], clock: () => Date.now() + ahead })
    const send = await start(configFor(upstream.url, fixed))
    expect((await send('/v1/chat/completions', ask)).status).toBe(200)
    expect(upstream.calls).toHaveLength(2)
    expect((await send('/v1/chat/completions', ask)).status).toBe(200)
    expect(upstream.calls).toHaveLength(3)
  })

  test('does not repeat a call that is not permitted', async () => {
    await container(3_600_000)
    const upstream = await server((_received, response) =>
      json(
        response,
        403,
        { message: 'User is not authorized to perform: bedrock:InvokeModel' },
        { 'x-amzn-errortype': 'AccessDeniedException' },
      ),
    )
    const send = await start(configFor(upstream.url, {}))
    expect((await send('/v1/chat/completions', ask)).status).toBe(403)
    expect(upstream.calls).toHaveLength(1)
  })

  test('responds with 503, never 401, when there are no credentials, and goes to the next channel', async () => {
    const endpoint = await server((_received, response) =>
      json(response, 500, { message: 'broken' }),
    )
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${endpoint.url}/credentials`)
    const upstream = await bedrock({ keys: [] })
    const other = await server((_received, response) =>
      json(response, 200, responses['chat-completions']),
    )
    const logged = listening()
    const config = configFor(upstream.url, {})
    const alone = await start(config, logged.hooks)
    const refused = await alone('/v1/chat/completions', ask)
    expect(refused.status).toBe(503)
    expect(await refused.text()).toContain('no credentials for the channel bedrock')
    expect(logged.text()).toContain('no credentials of AWS: ')
    expect(upstream.calls).toHaveLength(0)
    const both = await start({
      ...config,
      channels: [
        ...config.channels,
        { name: 'other', protocols: ['chat-completions'], baseUrl: other.url },
      ],
    })
    expect((await both('/v1/chat/completions', ask)).status).toBe(200)
  })
})

const [[, start]] = hosts as [(typeof hosts)[number]]

test('gets keys for a role from STS by the token of a workload', async () => {
  const { accessKeyId, secretAccessKey, sessionToken } = temporary(1)
  const expiration = new Date(Date.now() + 3_600_000).toISOString()
  const sts = await server((_received, response) => {
    response.writeHead(200, { 'content-type': 'text/xml' })
    response.end(
      `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey><SessionToken>${sessionToken}</SessionToken><Expiration>${expiration}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
    )
  })
  const file = join(mkdtempSync(join(tmpdir(), 'wireglot-')), 'token')
  writeFileSync(file, 'workload-token')
  vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', file)
  vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::123456789012:role/models')
  vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url)
  vi.stubEnv('AWS_REGION', 'us-east-1')
  const upstream = await bedrock({ keys: [temporary(1)] })
  const send = await start(configFor(upstream.url, {}))
  expect((await send('/v1/chat/completions', ask)).status).toBe(200)
  expect(sts.calls[0]?.text).toContain('WebIdentityToken=workload-token')
})

test('gets keys from the metadata of an instance', async () => {
  const {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: Token,
  } = temporary(1)
  const imds = await server(({ path, headers }, response) => {
    if (path === '/latest/api/token')
      return response
        .writeHead(200, { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' })
        .end('imds-token')
    if (headers['x-aws-ec2-metadata-token'] !== 'imds-token') return response.writeHead(401).end()
    if (path.endsWith('/security-credentials/')) return response.writeHead(200).end('role')
    return json(response, 200, {
      Code: 'Success',
      Type: 'AWS-HMAC',
      AccessKeyId,
      SecretAccessKey,
      Token,
      Expiration: new Date(Date.now() + 3_600_000).toISOString(),
    })
  })
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', undefined)
  vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', imds.url)
  const upstream = await bedrock({ keys: [temporary(1)] })
  const send = await start(configFor(upstream.url, {}))
  expect((await send('/v1/chat/completions', ask)).status).toBe(200)
})

test('a missing package is named, with the command that installs it', async () => {
  vi.doMock('@aws-sdk/credential-providers', () => {
    throw new Error('Cannot find package')
  })
  const upstream = await bedrock({ keys: [] })
  const logged = listening()
  const send = await start(configFor(upstream.url, {}), logged.hooks)
  expect((await send('/v1/chat/completions', ask)).status).toBe(503)
  expect(logged.text()).toContain('npm install @aws-sdk/credential-providers')
  vi.doUnmock('@aws-sdk/credential-providers')
})

describe('the configuration', () => {
  const channel = { vendor: 'bedrock', region: 'us-east-1' }
  const faultsOf =
    (more: object, environment = {}) =>
    () =>
      parseConfig({ channels: [{ ...channel, ...more }] }, environment)

  test('is complete with a vendor, a region and auth', () => {
    const [parsed] = parseConfig({ channels: [{ ...channel, auth: { aws: {} } }] }, {}).channels
    expect(parsed?.endpoints.messages?.baseUrl).toBe(
      'https://bedrock-mantle.us-east-1.api.aws/anthropic',
    )
    expect(parsed?.cloud).toEqual({ apis: [], auth: { aws: { region: 'us-east-1' } } })
  })

  test('takes secrets from the environment, and never repeats them in a fault', () => {
    const aws = { accessKeyId: 'env:ID', secretAccessKey: 'env:KEY' }
    const [parsed] = parseConfig(
      { channels: [{ ...channel, auth: { aws } }] },
      { ID: 'id', KEY: 'key' },
    ).channels
    expect(parsed?.cloud?.auth?.aws).toMatchObject({ accessKeyId: 'id', secretAccessKey: 'key' })
    expect(faultsOf({ auth: { aws } })).toThrow(
      'auth.aws.accessKeyId: expected the environment variable ID to be set',
    )
    expect(faultsOf({ auth: { aws: { secretAccessKey: 'planted-secret' } } })).toThrow(
      /auth\.aws: expected both keys, or none$/,
    )
    expect(
      faultsOf({ auth: { aws: { accessKeyId: ['planted-secret'], secretAccessKey: 's' } } }),
    ).not.toThrow(/planted/)
  })

  test('refuses auth together with an API key, an empty auth and unknown keys', () => {
    expect(faultsOf({ auth: { aws: {} }, apiKey: 'k' })).toThrow(
      'auth: expected no "apiKey" with it',
    )
    expect(faultsOf({ auth: {} })).toThrow('auth: expected one of aws, google, entra')
    expect(faultsOf({ auth: { aws: { profil: 'x' } } })).toThrow('did you mean profile?')
  })

  test('loads nothing without auth', async () => {
    const load = vi.fn()
    vi.doMock('../../src/clouds/index.ts', load)
    const other = await server((_received, response) =>
      json(response, 200, responses['chat-completions']),
    )
    const send = await start({
      auth: 'none',
      channels: [{ name: 'other', protocols: ['chat-completions'], baseUrl: other.url }],
    })
    expect((await send('/v1/chat/completions', ask)).status).toBe(200)
    expect(load).not.toHaveBeenCalled()
    vi.doUnmock('../../src/clouds/index.ts')
  })
})
