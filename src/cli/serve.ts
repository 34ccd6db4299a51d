import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { curlOf } from '../clients/curl.ts'
import { usualKeyEnv } from '../clients/index.ts'
import type { GatewayConfig } from '../gateway/gateway.ts'
import { loggerTo } from '../gateway/log.ts'
import { demo } from '../gateway/options.ts'
import { gateway } from '../hosts/connect.ts'
import { isObject } from '../kit/json/json.ts'
import { isProtocolName, protocolNames } from '../protocols/index.ts'
import { readJsonFile } from './json-file.ts'

export type ServeOptions = {
  /** JSON file with the configuration. Without this and `upstream`: the demo model. */
  config?: string
  host: string
  /** 0: any free port. */
  port: number
  upstream?: string
  upstreamProtocol?: string
  /** Name of the environment variable with the upstream's key. */
  upstreamKeyEnv?: string
  /** Seconds for requests in progress when the process is asked to stop. */
  grace?: number
}

export type Served = { host: string; port: number; url: string; close(): Promise<void> }

/**
 * Runs a gateway until the process is asked to stop and the requests in progress are answered. `out` gets lines for people; the last
 * one says that the gateway is listening. `err` gets warnings and errors, one JSON object per line.
 * @throws ConfigError; Error when the options do not fit together or the port is taken
 */
export async function serve(
  options: ServeOptions,
  { out = line => void process.stdout.write(`${line}\n`), err = line => void process.stderr.write(`${line}\n`) }: Partial<Record<'out' | 'err', Tell>> = {},
): Promise<Served> {
  const { host, port, grace = 10 } = options
  const config = await configOf(options)
  const wanted = config === undefined ? demo : config
  // The file may not contain an object: the gateway has the better message for that.
  const handler = gateway(isObject(wanted) ? { page: true, ...wanted } : wanted, { logger: loggerTo(err) })
  if (handler.localOnly && !isLoopback(host))
    throw new Error(
      `listening on ${host} without keys would serve everybody: configure "keys", say "auth": "none" in the configuration, or listen on 127.0.0.1`,
    )
  const server = createServer(handler)
  // Longer than the idle timeouts of usual proxies: otherwise they would use connections that are being closed.
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
    // The port stays open meanwhile: new requests get 503 with a hint to retry.
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

/** Example commands for all protocols, which work as printed. */
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

/** A placeholder in examples if the configuration names no model. */
const anyModel = 'MODEL'

function modelOf(config: GatewayConfig | undefined): string {
  if (!config) return 'demo'
  return config.models?.find(({ id }) => !id.endsWith('*'))?.id ?? anyModel
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
