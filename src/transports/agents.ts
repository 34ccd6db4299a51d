import { Agent, type Dispatcher, EnvHttpProxyAgent, ProxyAgent } from 'undici'

/** Agents by connection timeout and proxy, each with its own connections. */
export type Agents = {
  /** `proxy`: see `TransportCall`. A promise where a package has to be loaded first. */
  agentFor(connectMs: number, proxy: string | undefined): Dispatcher | Promise<Dispatcher>
  close(): Promise<void>
}

export function createAgents(): Agents {
  const agents = new Map<string, Dispatcher | Promise<Dispatcher>>()
  return {
    agentFor(connectMs, proxy) {
      const name = `${connectMs} ${proxy ?? ''}`
      const known = agents.get(name)
      if (known) return known
      const agent =
        proxy === undefined
          ? new Agent({ connect: { timeout: connectMs }, ...patient })
          : agentThrough(proxy, connectMs)
      agents.set(name, agent)
      return agent
    },
    async close() {
      const all = [...agents.values()]
      agents.clear()
      // One whose package is missing has nothing to close.
      await Promise.allSettled(all.map(async agent => (await agent).destroy()))
    },
  }
}

/** The gateway has its own timeouts: it knows whether the client is reading. */
const patient = {
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 30_000,
  keepAliveMaxTimeout: 600_000,
  // Proxies in front of an upstream add long ones, such as policies and cookies. By default 16 KB.
  maxHeaderSize: 128 * 1024,
}

function agentThrough(proxy: string, connectMs: number): Dispatcher | Promise<Dispatcher> {
  const timeout = { timeout: connectMs }
  const tunneled = { proxyTls: timeout, requestTls: timeout, ...patient }
  if (proxy === 'env') return new EnvHttpProxyAgent({ connect: timeout, ...tunneled })
  const url = new URL(proxy)
  return url.protocol.startsWith('socks')
    ? throughSocks(url, connectMs)
    : new ProxyAgent({ uri: proxy, ...tunneled })
}

/** undici's own SOCKS agent is experimental, warns about it and has fixed timeouts. */
async function throughSocks(
  { protocol, hostname, port, username, password }: URL,
  connectMs: number,
): Promise<Dispatcher> {
  const { socksConnector } = await import('fetch-socks').catch((cause: unknown) => {
    throw new Error('a SOCKS proxy needs the package fetch-socks: npm install fetch-socks', {
      cause,
    })
  })
  const socks = {
    type: protocol.startsWith('socks4') ? (4 as const) : (5 as const),
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 1080),
    ...(username && { userId: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  }
  const connect = socksConnector(socks, { timeout: connectMs || longestMs })
  return new Agent({
    ...patient,
    connect: (options, callback) =>
      connect(options, (...[error, socket]) =>
        error ? callback(discreet(error), null) : callback(null, socket as never),
      ),
  })
}

const longestMs = 2 ** 31 - 1

/** Errors of the package contain its options, and with them the password. */
function discreet(error: Error): Error {
  const { code } = error as { code?: unknown }
  return Object.assign(new Error(error.message), typeof code === 'string' ? { code } : {})
}
