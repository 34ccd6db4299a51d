import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { curlOf } from '../clients/curl.ts'
import { usualKeyEnv } from '../clients/index.ts'
import type { GatewayConfig, Logger } from '../gateway/gateway.ts'
import { demo } from '../gateway/options.ts'
import { gateway } from '../hosts/connect.ts'
import { isObject } from '../kit/json.ts'
import { isProtocolName, protocolNames } from '../protocols/index.ts'
import { readJsonFile } from './json-file.ts'

export type ServeOptions = {
  /** File with the configuration, JSON. Neither this nor `upstream`: the built-in demo model. */
  config?: string
  host: string
  /** 0: any that is free. */
  port: number
  upstream?: string
  upstreamProtocol?: string
  /** Environment variable that holds the upstream's key. */
  upstreamKeyEnv?: string
  /** Seconds that answers under way get when the process is told to stop. */
  grace?: number
}

export type Served = { host: string; port: number; url: string; close(): Promise<void> }

/**
 * Runs a gateway until the process is told to stop, and then until what is under way has been answered. `out` gets the lines
 * for people; the last one says that it listens. `err` is told what goes wrong, one JSON a line.
 * @throws ConfigError; Error when the options do not fit together or the port is taken
 */
export async function serve(
  options: ServeOptions,
  { out = line => void process.stdout.write(`${line}\n`), err = line => void process.stderr.write(`${line}\n`) }: Partial<Record<'out' | 'err', Tell>> = {},
): Promise<Served> {
  const { host, port, grace = 10 } = options
  const config = await configOf(options)
  const wanted = config === undefined ? demo : config
  // What a file holds may be no object, which the gateway says better.
  const handler = gateway(isObject(wanted) ? { page: true, ...wanted } : wanted, { logger: loggerTo(err) })
  if (handler.localOnly && !isLoopback(host))
    throw new Error(
      `listening on ${host} without keys would serve everybody: configure "keys", say "auth": "none" in the configuration, or listen on 127.0.0.1`,
    )
  const server = createServer(handler)
  // Longer than the idle limits of the proxies in front, or they would use sockets that are just being closed.
  server.keepAliveTimeout = 75_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new Error(`${host}:${port} is taken (EADDRINUSE): give another --port, or 0 for any that is free`) : error),
    )
    server.listen(port, host, resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  const url = `http://${inUrl(reachable(host))}:${bound}`
  const close = once(async () => {
    // The door stays open meanwhile: whoever comes is told to come again.
    await handler.close(grace * 1000)
    server.close()
    server.closeAllConnections()
  })
  for (const line of helpOf(url, config)) out(line)
  out(`listening on http://${inUrl(host)}:${bound}`)
  const stop = () => {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
    void close()
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  return { host, port: bound, url, close }
}

type Tell = (line: string) => void

/** Warnings and errors. A line for each exchange would tell who asks what, which nobody has ordered here. */
function loggerTo(tell: Tell): Logger {
  const inWords = (_: string, value: unknown) => (value instanceof Error ? value.message : value)
  const at = (level: string) => (details: object, message: string) =>
    tell(JSON.stringify({ time: new Date().toISOString(), level, message, ...details }, inWords))
  return { info() {}, warn: at('warn'), error: at('error') }
}

async function configOf({ config, upstream, upstreamProtocol, upstreamKeyEnv }: ServeOptions): Promise<GatewayConfig | undefined> {
  if (config !== undefined && upstream !== undefined) throw new Error('give either --config or --upstream')
  if (config !== undefined) return (await readJsonFile(config)) as GatewayConfig
  if (upstream === undefined) {
    if (upstreamProtocol !== undefined || upstreamKeyEnv !== undefined) throw new Error('--upstream-protocol and --upstream-key-env belong to --upstream')
    return undefined
  }
  if (upstreamProtocol === undefined || !isProtocolName(upstreamProtocol))
    throw new Error(`say what the upstream speaks: --upstream-protocol ${protocolNames.join('|')}`)
  const channel = {
    name: 'upstream',
    protocols: [upstreamProtocol],
    baseUrl: upstream,
    ...(upstreamKeyEnv !== undefined && { apiKey: `env:${upstreamKeyEnv}` }),
  }
  return { channels: [channel] }
}

/** How to reach each protocol, as commands that work as they are printed. */
function helpOf(url: string, config: GatewayConfig | undefined): string[] {
  const model = modelOf(config)
  const lines = [config ? served(model) : 'the built-in demo model, no network: give --config or --upstream for another', `base URL: ${url}`]
  if (config?.page !== false) lines.push(`playground: ${url}/`)
  lines.push('')
  const keyed = config?.keys?.length ? { keyEnv: usualKeyEnv } : {}
  if (config?.keys?.length) lines.push(`export ${usualKeyEnv}=...   # one of the configured keys`, '')
  for (const name of protocolNames) lines.push(`# ${name}`, curlOf(url, name, { model, stream: true, ...keyed }), '')
  lines.push(
    'Without "stream":true the answer is one JSON.',
    `Settings for client programs: wireglot client-config claude-code --base ${url} --model ${model}`,
    '',
  )
  return lines
}

const served = (model: string) => (model === anyModel ? `models: those of the upstream; write one in place of ${anyModel}` : `model: ${model}`)

/** Stands for a model where the configuration names none. */
const anyModel = 'MODEL'

function modelOf(config: GatewayConfig | undefined): string {
  if (!config) return 'demo'
  return config.models?.find(({ id }) => !id.endsWith('*'))?.id ?? anyModel
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

/** Where a client on this machine finds a server that listens everywhere. */
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
