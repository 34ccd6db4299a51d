import { Buffer, isAscii, isUtf8 } from 'node:buffer'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  listen,
  one,
  paths,
  post,
  requests,
  responses,
  sendJson,
  streams,
  upstream,
} from './support.ts'

/**
 * What Node has and other runtimes have not, taken away here. `npm run test:runtimes` asks the
 * runtimes themselves.
 */

const root = new URL('../../', import.meta.url).pathname

/** Two letters that are no ASCII, and one that takes two units. */
const greeting = 'Grüße 🙂'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.doUnmock('undici')
  vi.resetModules()
})

describe('a runtime in place of Node', () => {
  const throwing = () => {
    throw new Error('A Node.js API is used which is not supported in the Edge Runtime.')
  }
  const runtimes: [string, process: object][] = [
    ['has no `transcode` (Bun 1.3.0)', { getBuiltinModule: () => ({ isAscii, isUtf8, Buffer }) }],
    ['throws when a module is loaded (edge runtime of Next)', { getBuiltinModule: throwing }],
    ['has no modules (Bun 1.2)', {}],
  ]

  test.each(runtimes)('%s', async (_, stub) => {
    const { url, calls } = await upstream(sendJson(200, responses.messages))
    vi.resetModules()
    vi.stubGlobal('process', stub)
    const { fetchGateway } = await import('../../src/hosts/fetch.ts')
    vi.unstubAllGlobals()
    const handler = fetchGateway(one(url, 'messages'))
    const received = {
      ...requests['chat-completions'],
      messages: [{ role: 'user', content: greeting }],
    }
    const response = await handler(
      new Request(`http://gateway.test${paths['chat-completions']}`, post(received)),
    )
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Hello' } }] })
    expect(calls[0]?.text).toContain(greeting)
    await handler.close(0)
  })

  test('has something of its own in the place of undici (Bun): upstreams are called by fetch', async () => {
    const { url } = await upstream(sendJson(200, responses.messages))
    vi.resetModules()
    vi.doMock('undici', () => ({ Agent: class {} }))
    const { gateway } = await import('../../src/hosts/connect.ts')
    const handler = gateway(one(url, 'messages'))
    const response = await fetch((await listen(handler)) + paths.messages, post(requests.messages))
    expect(await response.json()).toEqual(responses.messages)
    await handler.close(0)
  })
})

describe('bundled for a platform that has nothing of Node', () => {
  const platform = [
    'TextEncoder',
    'TextDecoder',
    'URL',
    'URLSearchParams',
    'setTimeout',
    'clearTimeout',
    'crypto',
    'fetch',
    'atob',
    'btoa',
  ]
  platform.push(
    'Request',
    'Response',
    'Headers',
    'ReadableStream',
    'AbortController',
    'AbortSignal',
    'performance',
    'queueMicrotask',
  )
  let bundle: string

  beforeAll(async () => {
    const contents = `export { fetchGateway } from './src/hosts/fetch.ts'; export * from './src/index.ts'`
    const options = {
      bundle: true,
      format: 'iife',
      platform: 'browser',
      globalName: 'wireglot',
      write: false,
      logLevel: 'silent',
    } as const
    const { outputFiles, warnings } = await build({
      stdin: { contents, resolveDir: root },
      ...options,
    })
    expect(warnings.map(({ text }) => text)).toEqual([])
    bundle = outputFiles[0]?.text ?? ''
  })

  const loaded = (more: object = {}) => {
    const context = createContext({
      ...Object.fromEntries(
        platform.map(name => [name, globalThis[name as keyof typeof globalThis]]),
      ),
      ...more,
    })
    return runInContext(`${bundle}; wireglot`, context) as typeof import('../../src/index.ts') &
      typeof import('../../src/hosts/fetch.ts')
  }

  test('requests and streams are translated', () => {
    const { translateRequest, createStreamTranslator } = loaded()
    expect(
      translateRequest(requests['chat-completions'], { from: 'chat-completions', to: 'messages' })
        .body,
    ).toMatchObject({ messages: [{ role: 'user' }] })
    const translator = createStreamTranslator({ from: 'messages', to: 'chat-completions' })
    expect(translator.push(streams.messages.join('')) + translator.end()).toContain('[DONE]')
    expect(translator.finished).toBe(true)
  })

  test('a gateway responds, and stores responses in memory', async () => {
    const { fetchGateway } = loaded()
    const handler = fetchGateway({
      auth: 'none',
      store: { memory: true },
      channels: [{ name: 'demo', embedded: 'demo' }],
    })
    const ask = (path: string, init?: RequestInit) =>
      handler(new Request(`http://gateway.test${path}`, init))
    const { id } = (await (await ask(paths.responses, post(requests.responses))).json()) as {
      id: string
    }
    expect(await (await ask(`${paths.responses}/${id}`)).json()).toMatchObject({
      id,
      status: 'completed',
    })
  })

  test('a gateway is created without timers, randomness, signals and calls, which older workers allow only during a request', () => {
    const refused = function refused() {
      throw new Error('Disallowed operation called within global scope')
    }
    const crypto = { getRandomValues: refused, randomUUID: refused }
    const { fetchGateway } = loaded({
      AbortController: refused,
      setTimeout: refused,
      fetch: refused,
      crypto,
    })
    expect(
      fetchGateway(one('http://upstream.test', 'messages', { store: { memory: true } })),
    ).toBeTypeOf('function')
  })

  test('a store in Redis, which needs sockets, is refused by name', async () => {
    const { fetchGateway } = loaded()
    const warned: object[] = []
    const logger = { info() {}, warn: (details: object) => void warned.push(details), error() {} }
    const handler = fetchGateway(
      one('http://upstream.test', 'messages', { store: { redis: 'redis://store.test' } }),
      { logger },
    )
    const response = await handler(new Request(`http://gateway.test${paths.responses}/resp_1`))
    expect(response.status).toBe(503)
    expect(warned).toMatchObject([{ error: expect.stringContaining('Redis needs sockets') }])
  })

  test('limits that should be shared through Redis are counted here, and the log has the reason', async () => {
    const { fetchGateway } = loaded()
    const warned: object[] = []
    const logger = { info() {}, warn: (details: object) => void warned.push(details), error() {} }
    const channels = [{ name: 'demo', embedded: 'demo' as const, requestsPerMinute: 1 }]
    const handler = fetchGateway(
      { auth: 'none', limits: { redis: 'redis://limits.test' }, channels },
      { logger },
    )
    const ask = () =>
      handler(new Request(`http://gateway.test${paths.messages}`, post(requests.messages)))
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 429])
    expect(warned).toMatchObject([{ error: expect.stringContaining('Redis needs sockets') }])
    await handler.close(0)
  })
})
