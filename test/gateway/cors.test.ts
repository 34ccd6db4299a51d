import { describe, expect, test } from 'vitest'
import { ConfigError, createGateway } from '../../src/gateway/gateway.ts'
import { asking, hostsOf, one, paths, responses, sendJson, upstream } from './support.ts'

const origin = 'https://app.example.com'
const config = (url: string, origins: string[]) => one(url, 'messages', { cors: { origins } })
const preflight = (from: string): RequestInit => ({
  method: 'OPTIONS',
  headers: {
    origin: from,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization, content-type',
  },
})

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test('responds to a preflight request of an allowed origin without a key', async () => {
    const { url } = await upstream()
    const ask = await start({
      ...config(url, [origin]),
      auth: undefined,
      keys: [{ name: 'k', key: 'secret-of-a-client' }],
    })
    const response = await ask(paths.messages, preflight(origin))
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe(origin)
    expect(response.headers.get('access-control-allow-headers')).toBe('authorization, content-type')
    expect(response.headers.get('access-control-allow-methods')).toContain('POST')
    expect(response.headers.get('access-control-max-age')).toBe('7200')
    expect(response.headers.get('vary')).toContain('origin')
  })

  test('names the setting where there is none', async () => {
    const { url } = await upstream()
    const ask = await start(one(url, 'messages'))
    const response = await ask(paths.messages, preflight(origin))
    expect(response.status).toBe(405)
    expect(await response.text()).toContain('need \\"cors\\" in the configuration')
  })

  test('adds the headers to responses, streams and errors, and never allows credentials', async () => {
    const { url } = await upstream(sendJson(200, responses.messages))
    const ask = await start(config(url, [origin]))
    for (const [path, init] of [
      asking('messages', {}, { origin }),
      asking('messages', { stream: true }, { origin }),
      asking('messages', { model: 'other' }, { origin }),
    ]) {
      const response = await ask(path, init)
      expect(response.headers.get('access-control-allow-origin')).toBe(origin)
      expect(response.headers.get('access-control-expose-headers')).toBe('*')
      expect(response.headers.get('access-control-allow-credentials')).toBeNull()
      await response.text()
    }
  })

  test('allows every origin with a star', async () => {
    const { url } = await upstream(sendJson(200, responses.messages))
    const ask = await start(config(url, ['*']))
    expect(
      (await ask(paths.messages, preflight('https://other.test'))).headers.get(
        'access-control-allow-origin',
      ),
    ).toBe('*')
    expect(
      (await ask(...asking('messages', {}, { origin: 'null' }))).headers.get(
        'access-control-allow-origin',
      ),
    ).toBe('*')
  })

  test.each([
    'https://app.example.com.evil.test',
    'http://app.example.com',
    'https://app.example.com:8443',
    'null',
  ])('does not allow another origin: %s', async other => {
    const { url } = await upstream(sendJson(200, responses.messages))
    const ask = await start(config(url, [origin]))
    const refused = await ask(paths.messages, preflight(other))
    expect(refused.status).toBe(405)
    const response = await ask(...asking('messages', {}, { origin: other }))
    for (const { headers } of [refused, response])
      expect([...headers.keys()].filter(name => name.startsWith('access-control'))).toEqual([])
    expect(response.headers.get('vary')).toBe('origin')
  })

  test('is off by default', async () => {
    const { url } = await upstream(sendJson(200, responses.messages))
    const ask = await start(one(url, 'messages'))
    expect((await ask(paths.messages, preflight(origin))).status).toBe(405)
    expect(
      (await ask(...asking('messages', {}, { origin }))).headers.get('access-control-allow-origin'),
    ).toBeNull()
  })
})

test('warns when every web page can use a gateway without keys', () => {
  const warned = (more: object) => {
    const warnings: string[] = []
    const logger = { info() {}, warn: (_: object, text: string) => warnings.push(text), error() {} }
    createGateway({ ...config('http://127.0.0.1:1', ['*']), ...more }, { logger })
    return warnings
  }
  expect(warned({})).toEqual([expect.stringContaining('allows every web page')])
  const keys = [{ name: 'app', key: 'client-secret' }]
  expect(warned({ auth: undefined, keys })).toEqual([])
  expect(warned({ cors: { origins: [origin] } })).toEqual([])
})

test.each(['app.example.com', 'https://app.example.com/', 'https://*.example.com', ''])(
  'refuses %s as an origin',
  written => {
    expect(() => createGateway(config('http://127.0.0.1:1', [written]))).toThrow(ConfigError)
  },
)
