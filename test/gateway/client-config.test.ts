import { describe, expect, test } from 'vitest'
import { clientNames } from '../../src/clients.ts'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { hostsOf } from './support.ts'

const config: GatewayConfig = {
  keys: [
    { name: 'alice', key: 'client-secret-a', group: 'team' },
    { name: 'root', key: 'client-secret-b' },
  ],
  groups: { team: { models: ['fast', 'deep'] } },
  channels: [{ name: 'demo', embedded: 'demo' }],
  models: ['fast', 'deep', 'hidden'].map(id => ({ id, channels: [{ name: 'demo' }] })),
}

const alice = { authorization: 'Bearer client-secret-a' }

describe.each(hostsOf(import.meta.url))('GET /client-config through %s', (_, start) => {
  test("lists every client, with the models of the key's group only, the called address, and no key", async () => {
    const ask = await start(config)
    const response = await ask('/client-config', { headers: alice })
    expect(response.status).toBe(200)
    const text = await response.text()
    const body = JSON.parse(text) as {
      address: string
      keyEnv: string
      models: string[]
      clients: Record<string, { snippets: { address: string }[] }>
    }
    expect(Object.keys(body.clients)).toEqual(clientNames)
    expect(body).toMatchObject({ keyEnv: 'WIREGLOT_KEY', models: ['fast', 'deep'] })
    expect(body.address).toMatch(/^http:\/\/(127\.0\.0\.1:\d+|gateway\.test)$/)
    expect(body.clients['codex']?.snippets[0]?.address).toBe(`${body.address}/v1`)
    expect(text).not.toContain('hidden')
    expect(text).not.toContain('client-secret')
  })

  test('contains the context window of a model, where it is configured', async () => {
    const models = [{ id: 'fast', contextTokens: 64_000, channels: [{ name: 'demo' }] }]
    const ask = await start({ ...config, models })
    const response = await ask('/client-config?client=codex&model=fast', {
      headers: { ...alice, accept: 'text/plain' },
    })
    expect(await response.text()).toContain('model_context_window = 64000')
  })

  test('one client and one model, ready to paste', async () => {
    const ask = await start(config)
    const response = await ask('/client-config?client=codex&model=deep&key-env=TEAM_KEY', {
      headers: { ...alice, accept: 'text/plain' },
    })
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
    const text = await response.text()
    expect(text).toContain('model = "deep"')
    expect(text).toContain('env_key = "TEAM_KEY"')
    expect(text).not.toContain('ANTHROPIC')
  })

  test.each([
    ['no key', '', {}, 401],
    ['a wrong key', '', { 'x-api-key': 'client-secret-c' }, 401],
    ['an unknown client', '?client=telnet', alice, 400],
    ['a model that the group does not see', '?model=hidden', alice, 404],
    ['a variable that is none', '?key-env=A%20B', alice, 400],
  ])('%s is refused', async (__, query, headers: Record<string, string>, status) => {
    const ask = await start(config)
    const response = await ask(`/client-config${query}`, { headers })
    expect(response.status).toBe(status)
    expect(await response.json()).toHaveProperty('error')
  })

  test('another method belongs to the application around us', async () => {
    const ask = await start(config)
    expect((await ask('/client-config', { method: 'POST', headers: alice })).status).toBe(404)
  })

  test('behind a proxy that ends TLS the address is https', async () => {
    const ask = await start(config)
    const response = await ask('/client-config?client=curl', {
      headers: { ...alice, 'x-forwarded-proto': 'https' },
    })
    expect(await response.json()).toMatchObject({ address: expect.stringMatching(/^https:/) })
  })

  test.each([
    [{ 'x-forwarded-host': 'llm.example.com' }, 'http://llm.example.com'],
    [
      { 'x-forwarded-host': 'llm.example.com:8443, inner', 'x-forwarded-proto': 'https,http' },
      'https://llm.example.com:8443',
    ],
  ])('behind a proxy that is called %j the address is %s', async (headers, address) => {
    const ask = await start(config)
    const response = await ask('/client-config', { headers: { ...alice, ...headers } })
    expect(await response.json()).toMatchObject({ address })
  })

  test('a host that is none is not in the settings', async () => {
    const ask = await start(config)
    const headers = { ...alice, 'x-forwarded-host': 'a"; curl evil.example.com #' }
    expect(await (await ask('/client-config', { headers })).text()).not.toContain('evil')
  })

  test('the public address of the configuration counts before all others', async () => {
    const ask = await start({ ...config, publicUrl: 'https://llm.example.com/ai/' })
    const headers = { ...alice, 'x-forwarded-host': 'other.example.com' }
    const body = (await (await ask('/client-config', { headers })).json()) as {
      clients: Record<string, { snippets: { address: string }[] }>
    }
    expect(body).toMatchObject({ address: 'https://llm.example.com/ai' })
    expect(body.clients['codex']?.snippets[0]?.address).toBe('https://llm.example.com/ai/v1')
  })
})
