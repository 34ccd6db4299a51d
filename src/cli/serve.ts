import { unwatchFile, watchFile } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import type { Recorder } from '../cassettes/index.ts'
import { type ConsoleOptions, createConsole } from '../console/index.ts'
import type { GatewayConfig, Hooks, Logger } from '../gateway/gateway.ts'
import { parseConfig } from '../gateway/options.ts'
import { createSuccession } from '../gateway/peers.ts'
import { type ConnectGateway, createServer, gateway } from '../hosts/connect.ts'
import { omitUndefined } from '../kit/fields/omit.ts'
import { isObject } from '../kit/json/json.ts'
import { createOperations, type LogFormat } from '../operations/index.ts'
import { toStdout } from '../operations/lines.ts'
import { loadWs } from '../transports/ws.ts'
import { adminChannels } from './admin-channels.ts'
import { adminSources } from './admin-sources.ts'
import { budgetWarnings } from './budget-warnings.ts'
import type { Environment } from './environment.ts'
import { keyHints } from './key-hints.ts'
import { createLive, type Live } from './live.ts'
import { helpOf } from './serve-help.ts'
import { hooksOf, recordsOf } from './serve-records.ts'
import { onParentGone, signalHandlers } from './signals.ts'
import { type ConfigSource, forOneClient, type SourceOptions, sourceOf } from './source.ts'
import { follow, withStored } from './stored-channels.ts'
import type { Primary } from './workers/worker.ts'

export type ServeOptions = SourceOptions & {
  host: string
  /** 0: any free port. */
  port: number
  /** Seconds for requests in progress after a stop signal. */
  grace?: number
  /** The format of the access log. Default: `pretty` on a terminal, else `json`. */
  log?: LogFormat
  /** Print a command for each protocol. Default false: for one. */
  examples?: boolean
  /** Keep usage records even if the configuration does not ask for it. Default false. */
  records?: boolean
  /** The folder for a cassette of each exchange. Absent: none are recorded. */
  record?: string
  /** Keep images, audio and files in cassettes. Default false. */
  recordMedia?: boolean
  /**
   * The gateway is for one client program of this process, which sends this key. Then the caller
   * handles signals, and DATABASE_URL, REDIS_URL and WIREGLOT_ADMIN_KEY are not used, unless the
   * configuration names them: they may belong to the project that the client works on.
   */
  clientKey?: string
}

export type Served = {
  host: string
  port: number
  url: string
  /** Is this a key of the configuration or of the database? */
  accepts(key: string): Promise<boolean>
  close(): Promise<void>
}

type PrintLine = (line: string) => void

/**
 * `folder` and `environment`: where configurations and keys are looked for. Default: those of the
 * process.
 */
type Surroundings = {
  out: PrintLine
  err: PrintLine
  folder: string
  environment: Environment
  /** Of a worker: the process that has started it. */
  primary: Primary
}

/**
 * Runs a gateway until the process gets a stop signal and the requests in progress are finished.
 * `out` gets lines for people and the access log; `err` gets warnings and errors, one JSON object
 * per line.
 * @throws ConfigError; Error when the options do not fit together, the port is taken or a package
 * is missing
 */
export async function serve(
  options: ServeOptions,
  surroundings: Partial<Surroundings> = {},
): Promise<Served> {
  const {
    out = toStdout,
    err = line => void process.stderr.write(`${line}\n`),
    folder = process.cwd(),
    environment = process.env,
    primary,
  } = surroundings
  const { host, port, grace = 10, log = process.stdout.isTTY ? 'pretty' : 'json' } = options
  const operations = createOperations({
    state: () => live.state(),
    more: () => ({ reloadError: live.reloadError(), records: records?.state() }),
    log,
    out,
    err,
    ...(primary && { metrics: primary.metrics }),
  })
  const { logger } = operations
  const { clientKey } = options
  // Other workers have the same to say.
  const warn = (message: string) => void (primary?.isFirst === false || logger.warn({}, message))
  const shared = clientKey === undefined ? environment : {}
  const found = await sourceOf(options, { folder, environment, shared, warn })
  const source = clientKey === undefined ? found : forOneClient(found, clientKey)
  const config = await source.read()
  // Before a database is created for it.
  const { webSocket, channels, keys } = parseConfig(config, process.env)
  if (webSocket || channels.some(({ transport }) => transport === 'websocket')) await loadWs()
  const { records, adminKey, title } = await recordsOf(config, {
    options,
    source,
    folder,
    environment,
    shared,
    logger,
    primary,
    current: () => live.config(),
    configuredNames: () => (live.config().keys ?? []).map(({ name }) => name),
  })
  const hasConsole = !isObject(config) || config.console !== false
  const recorder = await recorderOf(options, folder, logger)
  const page = hasConsole
    ? consoleOf(source, () => live, {
        ...omitUndefined({ adminKey, records, primary, cassette: recorder?.find }),
        environment,
      })
    : undefined
  const own = page?.hooks ?? records?.hooks ?? {}
  const hooks = {
    ...(await hooksOf(config, own, { records, adminKey, primary })),
    ...recorder?.hooks,
  }
  // As the gateway does, with the variables of the process.
  const merged = records && withStored(source, records.channels, process.env)
  const peersOf = createSuccession(primary?.peers)
  const live: Live = await createLive(merged ?? source, (await merged?.add(config)) ?? config, {
    create(settings) {
      for (const hint of keyHints(settings, environment)) warn(hint)
      return gatewayOf(settings, {
        host,
        logger,
        hooks: {
          ...hooks,
          ...(isObject(settings) && { peers: peersOf(settings.channels ?? []) }),
          ...primary?.storeFor(settings),
        },
      })
    },
    logger,
  })
  const current = () => live.current()
  const admin =
    records && merged && adminKey !== undefined
      ? records.admin(
          adminKey,
          adminSources({
            ...live,
            ...primary?.sources,
            environment,
            channels: adminChannels(records.channels, {
              source: merged,
              live,
              environment: process.env,
            }),
          }),
        )
      : undefined
  const server = createServer(listenerOf({ page, operations, admin, current }))
  if (webSocket) acceptSockets(server, current)
  // Longer than the idle timeouts of common proxies: otherwise they would use connections that are
  // being closed.
  server.keepAliveTimeout = 75_000
  const bound = await listen(server, host, port)
  const url = `http://${inUrl(reachable(host))}:${bound}`
  const reload = () => void live.reload()
  const watched = source.file
  if (watched !== undefined) watchFile(watched, { interval: 1000, persistent: false }, reload)
  const stopFollowing = merged && follow(merged, live.reload)
  const close = once(async () => {
    // A second signal ends the process at once.
    for (const [signal, act] of handlers) process.off(signal, act)
    clearInterval(parentTimer)
    if (watched !== undefined) unwatchFile(watched, reload)
    stopFollowing?.()
    // The port stays open meanwhile: new requests get 503 with a hint to retry.
    await live.close(grace * 1000)
    await recorder?.flush()
    await records?.close()
    server.close()
    server.closeAllConnections()
    primary?.leave()
  })
  for (const warning of await budgetWarnings(live.config(), records)) warn(warning)
  const keysFrom = config.keys?.length
    ? 'one of the configured keys'
    : hooks.authenticate && 'one made with: npx wireglot keys create NAME'
  const facts = { config: live.config(), environment, keysFrom, allExamples: options.examples }
  const lines = [
    ...helpOf(url, source, facts),
    recorder ? `${title}; cassettes: ${options.record}` : title,
    `listening on http://${inUrl(host)}:${bound}`,
  ]
  const stop = () => void close()
  if (primary)
    primary.started(lines, { reload, stop, state: live.state, metrics: operations.metrics })
  else for (const line of lines) out(line)
  const handlers = clientKey === undefined ? signalHandlers(reload, stop) : []
  for (const [signal, act] of handlers) process.on(signal, act)
  const isOfNpm = clientKey === undefined && environment['npm_lifecycle_event'] !== undefined
  const parentTimer = isOfNpm ? onParentGone(stop) : undefined
  const accepts = async (key: string) =>
    keys.some(one => one.key === key && !one.disabled) ||
    (await records?.keys.find(key))?.disabled === false
  return { host, port: bound, url, accepts, close }
}

/** Loaded only where something is recorded. */
async function recorderOf(
  { record, recordMedia }: ServeOptions,
  folder: string,
  logger: Logger,
): Promise<Recorder | undefined> {
  if (record === undefined) return undefined
  const { createRecorder } = await import('../cassettes/index.ts')
  return createRecorder(resolve(folder, record), { media: recordMedia, logger })
}

type Listener = (request: IncomingMessage, response: ServerResponse) => boolean

/** Health checks and metrics, the admin API, the console, and the gateway for all other paths. */
function listenerOf({
  page,
  operations,
  admin,
  current,
}: {
  page: { handle: Listener } | undefined
  operations: { handle: Listener }
  admin: Listener | undefined
  current(): ConnectGateway
}) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    if (page && isHome(request)) return void response.writeHead(302, { location: 'console' }).end()
    if (operations.handle(request, response)) return
    if (admin?.(request, response) || page?.handle(request, response)) return
    current()(request, response)
  }
}

/**
 * Only for a configuration with `webSocket`: with a listener, Node passes every request for an
 * upgrade to it.
 */
function acceptSockets(server: Server, current: () => ConnectGateway): void {
  server.on('upgrade', (request, socket, head) => {
    if (!current().upgrade(request, socket, head))
      socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
  })
}

/** The port, also if port 0 was requested. @throws Error when it is taken */
async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(
              `${host}:${port} is in use (EADDRINUSE): choose another --port, or 0 for any free one`,
            )
          : error,
      ),
    )
    server.listen(port, host, resolve)
  })
  return (server.address() as AddressInfo).port
}

function consoleOf(
  { isDemo }: ConfigSource,
  live: () => Live,
  {
    environment,
    primary,
    ...more
  }: Pick<ConsoleOptions, 'adminKey' | 'records' | 'cassette'> & {
    environment: Environment
    primary?: Primary
  },
) {
  const { models, verify } = adminSources({
    state: () => live().state(),
    config: () => live().config(),
    current: () => live().current(),
    environment,
  })
  return createConsole({
    gateway: () => live().current(),
    isDemo: isDemo === true,
    ...primary?.sources,
    ...(primary && { peers: primary.peers }),
    models,
    verify,
    ...more,
  })
}

/** Does a browser open the address, and not a client that looks whether the gateway is up? */
const isHome = ({ method, url, headers }: IncomingMessage) =>
  method === 'GET' && url === '/' && /\btext\/html\b/i.test(headers.accept ?? '')

function gatewayOf(
  config: GatewayConfig,
  { host, logger, hooks = {} }: { host: string; logger: Logger; hooks?: Hooks | undefined },
): ConnectGateway {
  // A file may not contain an object: the gateway has the better message for that.
  const handler = gateway(isObject(config) ? { proxy: 'env', ...config } : config, {
    ...hooks,
    logger,
  })
  if (!handler.localOnly || isLoopback(host)) return handler
  void handler.close(0)
  throw new Error(
    `listening on ${host} without keys would serve everybody: configure "keys", set "auth": "none" in the configuration, or listen on 127.0.0.1`,
  )
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

/** A host name for clients on this machine; a wildcard address becomes the loopback address. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function once(act: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined
  return () => {
    result ??= act()
    return result
  }
}
