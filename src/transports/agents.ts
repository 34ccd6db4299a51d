import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool, ProxyAgent } from 'undici'

/** `proxy`: see `TransportCall`. `http2`: offered where the server takes it. */
type Wanted = { connectMs: number; proxy: string | undefined; http2: boolean }

/** Agents by what is wanted, each with its own connections. */
export type Agents = {
  /** A promise where a package has to be loaded first. */
  agentFor(wanted: Wanted): Dispatcher | Promise<Dispatcher>
  close(): Promise<void>
}

export function createAgents(): Agents {
  const agents = new Map<string, Dispatcher | Promise<Dispatcher>>()
  return {
    agentFor({ connectMs, proxy, http2 }) {
      const name = `${connectMs} ${http2} ${proxy ?? ''}`
      const known = agents.get(name)
      if (known) return known
      const options = { ...patient, allowH2: http2 }
      const agent =
        proxy === undefined
          ? new Agent({ connect: { timeout: connectMs }, ...options, factory: pooled })
          : agentThrough(proxy, connectMs, options)
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

/**
 * Servers without TLS are near, and a new connection to them costs little. Those of Python and Node
 * close an idle one after 5 seconds, which a request that is just being sent does not survive.
 */
const pooled = (origin: string | URL, options: object): Dispatcher =>
  new Pool(
    origin,
    String(origin).startsWith('http:') ? { ...options, keepAliveTimeout: 4000 } : options,
  )

type Options = typeof patient & { allowH2: boolean }

function agentThrough(
  proxy: string,
  connectMs: number,
  options: Options,
): Dispatcher | Promise<Dispatcher> {
  const timeout = { timeout: connectMs }
  const tunneled = { proxyTls: timeout, requestTls: timeout, ...options }
  if (proxy === 'env') return new EnvHttpProxyAgent({ connect: timeout, ...tunneled })
  const url = new URL(proxy)
  return url.protocol.startsWith('socks')
    ? throughSocks(url, connectMs, options)
    : new ProxyAgent({ uri: proxy, ...tunneled })
}

/** undici's own SOCKS agent is experimental, warns about it and has fixed timeouts. */
async function throughSocks(
  { protocol, hostname, port, username, password }: URL,
  connectMs: number,
  options: Options,
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
    ...options,
    connect: (target, callback) =>
      connect(target, (...[error, socket]) =>
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
