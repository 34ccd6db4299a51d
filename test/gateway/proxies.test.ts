import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import {
  type AddressInfo,
  connect as connectTo,
  createServer as createTcpServer,
  type Socket,
} from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { serve } from '../../src/cli/serve.ts'
import {
  ConfigError,
  createGateway,
  type GatewayConfig,
  type Hooks,
} from '../../src/gateway/gateway.ts'
import { fetchGateway } from '../../src/hosts/fetch.ts'
import {
  after,
  asking,
  hosts,
  listen,
  mounted,
  one,
  responses,
  sendJson,
  sendStream,
  sent,
  streams,
  until,
  upstream,
} from './support.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.doUnmock('fetch-socks')
})

const good = sendJson(200, responses.messages)

/** A proxy that tunnels. `targets`: where to; `open`: tunnels at this moment. */
async function connectProxy(status = 200) {
  const seen = {
    url: '',
    targets: [] as string[],
    authorization: [] as (string | undefined)[],
    open: 0,
  }
  const server = createServer((_request, response) => response.writeHead(501).end())
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    seen.targets.push(request.url ?? '')
    seen.authorization.push(request.headers['proxy-authorization'])
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
    const [host = '', port = ''] = (request.url ?? '').split(':')
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    tunnel(socket, connectTo(Number(port), host), seen, head)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  seen.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return seen
}

function tunnel(
  client: Socket,
  target: Socket,
  seen: { open: number },
  head: Buffer = Buffer.alloc(0),
): void {
  seen.open++
  target.write(head)
  client.pipe(target).pipe(client)
  for (const socket of [client, target]) {
    socket.on('error', () => {})
    socket.on('close', () => {
      client.destroy()
      target.destroy()
    })
  }
  client.on('close', () => seen.open--)
  after(() => client.destroy())
}

/** A SOCKS5 server (RFC 1928), with a password (RFC 1929) if there is a `secret`. */
async function socksProxy(secret?: string) {
  const seen = { port: 0, targets: [] as string[], open: 0 }
  const server = createTcpServer(async socket => {
    socket.on('error', () => {})
    const read = reader(socket)
    const [, methods = 0] = await read(2)
    const offered = await read(methods)
    const method = secret === undefined ? 0 : 2
    if (!offered.includes(method)) return void socket.end(Buffer.from([5, 0xff]))
    socket.write(Buffer.from([5, method]))
    if (secret !== undefined) {
      const [, nameLength = 0] = await read(2)
      await read(nameLength)
      const [length = 0] = await read(1)
      const isRight = (await read(length)).toString() === secret
      socket.write(Buffer.from([1, isRight ? 0 : 1]))
      if (!isRight) return void socket.end()
    }
    const [, , , type] = await read(4)
    const [length = 0] = type === 3 ? await read(1) : [4]
    const address = await read(length)
    const host = type === 3 ? address.toString() : address.join('.')
    const port = (await read(2)).readUInt16BE()
    seen.targets.push(`${host}:${port}`)
    const target = connectTo(port, host === 'upstream.internal' ? '127.0.0.1' : host, () => {
      socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
      tunnel(socket, target, seen)
    })
    target.on('error', () => socket.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  seen.port = (server.address() as AddressInfo).port
  return seen
}

/** Reads exactly so many bytes, and leaves the rest for later. */
function reader(socket: Socket) {
  return async (length: number): Promise<Buffer> => {
    for (;;) {
      const read = length === 0 ? Buffer.alloc(0) : (socket.read(length) as Buffer | null)
      if (read) return read
      await new Promise(resolve => {
        socket.once('readable', resolve)
        socket.once('close', resolve)
      })
      if (socket.destroyed) return Buffer.alloc(length)
    }
  }
}

async function ask(
  config: GatewayConfig,
  hooks: Hooks = { logger: false },
  more: Record<string, unknown> = {},
): Promise<Response> {
  const url = await listen(mounted(config, hooks))
  const [path, init] = asking('messages', more)
  return fetch(url + path, init)
}

const hostOf = (url: string) => new URL(url).host

describe('an HTTP proxy', () => {
  test('tunnels the calls of its channel', async () => {
    const [seen, proxy] = [await upstream(good), await connectProxy()]
    expect((await ask(one(seen.url, 'messages', {}, {}, { proxy: proxy.url }))).status).toBe(200)
    expect(proxy.targets).toEqual([hostOf(seen.url)])
    expect(seen.calls[0]?.headers['x-api-key']).toBe('upstream-secret')
  })

  test('is used by all channels of the gateway except those with `false`', async () => {
    const [first, second, proxy] = [
      await upstream(sendJson(500, {})),
      await upstream(good),
      await connectProxy(),
    ]
    const config: GatewayConfig = {
      auth: 'none',
      proxy: proxy.url,
      channels: [
        { name: 'first', protocols: ['messages'], baseUrl: first.url },
        { name: 'second', protocols: ['messages'], baseUrl: second.url, proxy: false },
      ],
      models: [
        {
          id: 'm',
          channels: [
            { name: 'first', priority: 0 },
            { name: 'second', priority: 1 },
          ],
        },
      ],
      defaults: { retries: 0 },
    }
    expect((await ask(config)).status).toBe(200)
    expect(proxy.targets).toEqual([hostOf(first.url)])
    expect(second.calls.length).toBe(1)
  })

  test('gets user and password of its URL', async () => {
    const [seen, proxy] = [await upstream(good), await connectProxy()]
    expect(
      (await ask(one(seen.url, 'messages', { proxy: proxy.url.replace('//', '//me:p%40ss@') })))
        .status,
    ).toBe(200)
    expect(proxy.authorization).toEqual([`Basic ${Buffer.from('me:p@ss').toString('base64')}`])
  })

  test('causes a network error without its password when it refuses or is unreachable', async () => {
    const [seen, proxy] = [await upstream(good), await connectProxy(407)]
    for (const url of [proxy.url, 'http://127.0.0.1:1']) {
      const logged: unknown[] = []
      const log = (...line: unknown[]) =>
        void logged.push(
          JSON.stringify(line, (_, value) =>
            value instanceof Error ? { ...value, message: value.message } : value,
          ),
        )
      const response = await ask(
        one(seen.url, 'messages', { proxy: url.replace('//', '//me:hidden-password@') }),
        {
          logger: { info: log, warn: log, error: log },
        },
      )
      expect(response.status).toBe(502)
      expect(await response.text()).not.toContain('hidden-password')
      await until(() => logged.length > 0)
      expect(logged.join('\n')).not.toContain('hidden-password')
    }
    expect(seen.calls.length).toBe(0)
  })

  test('passes streams, and is left when the client leaves', async () => {
    const [seen, proxy] = [
      await upstream(
        sendStream(streams.messages),
        sendStream([...streams.messages.slice(0, 3), 60_000]),
      ),
      await connectProxy(),
    ]
    const config = one(seen.url, 'messages', { proxy: proxy.url })
    expect(await sent(await (await ask(config, {}, { stream: true })).text(), 'messages')).toBe(
      'Hello',
    )
    const leaving = new AbortController()
    const url = await listen(mounted(config, { logger: false }))
    const [path, init] = asking('messages', { stream: true })
    const response = await fetch(url + path, { ...init, signal: leaving.signal })
    await response.body?.getReader().read()
    leaving.abort()
    await until(() => seen.aborted === 1)
  })

  test('is taken from the environment with `env`, but not for hosts in NO_PROXY', async () => {
    const [seen, proxy] = [await upstream(good), await connectProxy()]
    vi.stubEnv('HTTP_PROXY', proxy.url)
    vi.stubEnv('http_proxy', undefined)
    vi.stubEnv('NO_PROXY', '')
    vi.stubEnv('no_proxy', undefined)
    expect((await ask(one(seen.url, 'messages', { proxy: 'env' }))).status).toBe(200)
    expect(proxy.targets.length).toBe(1)
    expect(
      (await ask(one(seen.url, 'messages'))).status,
      'middleware ignores the environment',
    ).toBe(200)
    expect(proxy.targets.length).toBe(1)
    vi.stubEnv('NO_PROXY', '127.0.0.1')
    expect((await ask(one(seen.url, 'messages', { proxy: 'env' }))).status).toBe(200)
    expect(proxy.targets.length).toBe(1)
  })

  test.each([
    ['uses that of the environment', {}, 1],
    ['does not with `"proxy": false`', { proxy: false as const }, 0],
  ])('wireglot serve %s', async (_what, more, times) => {
    const [seen, proxy] = [await upstream(good), await connectProxy()]
    vi.stubEnv('HTTP_PROXY', proxy.url)
    vi.stubEnv('http_proxy', undefined)
    vi.stubEnv('NO_PROXY', '')
    vi.stubEnv('no_proxy', undefined)
    const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
    const file = join(folder, 'config.json')
    await writeFile(file, JSON.stringify(one(seen.url, 'messages', more)))
    const served = await serve(
      { config: file, host: '127.0.0.1', port: 0, log: 'off' },
      { out: () => {}, err: () => {}, folder, environment: {} },
    )
    after(() => served.close())
    const [path, init] = asking('messages')
    expect((await fetch(served.url + path, init)).status).toBe(200)
    expect(proxy.targets.length).toBe(times)
  })
})

describe('a SOCKS proxy', () => {
  test.each(['socks', 'socks5', 'socks5h'])(
    'tunnels with %s:// and resolves the name',
    async scheme => {
      const [seen, proxy] = [await upstream(good), await socksProxy()]
      const { port } = new URL(seen.url)
      const config = one(
        `http://upstream.internal:${port}`,
        'messages',
        {},
        {},
        { proxy: `${scheme}://127.0.0.1:${proxy.port}` },
      )
      expect((await ask(config)).status).toBe(200)
      expect(proxy.targets).toEqual([`upstream.internal:${port}`])
    },
  )

  test('gets user and password, and a wrong one reaches no log', async () => {
    const [seen, proxy] = [await upstream(good), await socksProxy('right password')]
    const config = (password: string) =>
      one(seen.url, 'messages', {
        proxy: `socks5://me:${encodeURIComponent(password)}@127.0.0.1:${proxy.port}`,
      })
    expect((await ask(config('right password'))).status).toBe(200)
    const logged: unknown[] = []
    const log = (...line: unknown[]) =>
      void logged.push(
        JSON.stringify(line, (_, value) =>
          value instanceof Error ? { ...value, message: value.message } : value,
        ),
      )
    const refused = await ask(config('wrong password'), {
      logger: { info: log, warn: log, error: log },
    })
    expect([refused.status, await refused.text()]).toEqual([
      502,
      expect.not.stringContaining('wrong password'),
    ])
    await until(() => logged.length > 0)
    expect(logged.join('\n')).not.toMatch(/wrong(%20| )password/)
  })

  test('says which package is missing', async () => {
    vi.doMock('fetch-socks', () => {
      throw new Error('not installed')
    })
    const logged: unknown[] = []
    const log = (...line: unknown[]) =>
      void logged.push(
        JSON.stringify(line, (_, value) => (value instanceof Error ? value.message : value)),
      )
    const response = await ask(
      one('http://127.0.0.1:1', 'messages', { proxy: 'socks5://127.0.0.1:1' }),
      { logger: { info: log, warn: log, error: log } },
    )
    expect(response.status).toBe(502)
    await until(() => logged.join().includes('npm install fetch-socks'))
  })
})

test('the fetch host refuses a proxy, unless its transport is of the application', async () => {
  const config = one('http://127.0.0.1:1', 'messages', { proxy: 'http://127.0.0.1:1' })
  expect(() => fetchGateway(config)).toThrow(ConfigError)
  const [, fetched] = hosts
  const seen: unknown[] = []
  const response = await fetched?.[1](config, {
    transport: {
      async send({ proxy }) {
        seen.push(proxy)
        return {
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: new Blob([JSON.stringify(responses.messages)]).stream() as never,
        }
      },
    },
  })
  expect((await response?.(...asking('messages')))?.status).toBe(200)
  expect(seen).toEqual(['http://127.0.0.1:1'])
})

test.each(['ftp://host', 'host:8080', 'socks6://host', '', true])('refuses the proxy %j', proxy => {
  expect(() => createGateway(one('http://127.0.0.1:1', 'messages', {}, {}, { proxy }))).toThrow(
    /expected/,
  )
})
