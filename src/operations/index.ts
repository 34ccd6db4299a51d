/**
 * Health checks, metrics for Prometheus and an access log, for a `node:http` server with the
 * gateway.
 * @module wireglot/operations
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkOptions } from '../gateway/check-options.ts'
import type { GatewayState, Logger } from '../gateway/gateway.ts'
import { isRebound } from '../gateway/local.ts'
import { createAccessLog, type LogFormat } from './access-log.ts'
import { health, type Readiness, ready } from './health.ts'
import { toStdout } from './lines.ts'
import { createMetrics, type MetricsText, type MetricValues } from './metrics.ts'

export type { LogFormat } from './access-log.ts'
export type { Readiness } from './health.ts'
export type { MetricsText, MetricValues } from './metrics.ts'

export type OperationsOptions = {
  /** What the gateway says of itself. It is called at each request and not before. */
  state(): GatewayState
  /** The format of the access log. Default `json`. */
  log?: LogFormat
  /**
   * Gets the lines of the access log. Default: standard output, to which the lines of 20 ms are
   * written together.
   */
  out?(line: string): void
  /** Gets warnings and errors, one JSON object per line. Default: standard error. */
  err?(line: string): void
  /** Further facts for `/ready`. */
  more?(): Omit<Readiness, 'gateway'>
  /** For `/metrics`, where several processes add theirs up. Default: those of this process. */
  metrics?(): Promise<MetricsText>
}

export type Operations = {
  /** For the hook `logger` of the gateway: writes the access log and counts for `/metrics`. */
  logger: Logger
  /**
   * Handles `GET` of `/health`, `/ready` and `/metrics`. False: another path, which is not touched.
   */
  handle(request: IncomingMessage, response: ServerResponse): boolean
  /** Those of this process, as plain JSON for `AggregatorRegistry.aggregate` of prom-client. */
  metrics(): Promise<MetricValues>
}

/**
 * What an operator needs in addition to a gateway.
 * @throws ConfigError for an unknown option
 * @example
 * import { createServer } from 'node:http'
 * import { type ConnectGateway, gateway } from 'wireglot/connect'
 * import { createOperations } from 'wireglot/operations'
 *
 * const operations = createOperations({ state: () => handler.state() })
 * const handler: ConnectGateway = gateway({ channels: [{ name: 'demo', embedded: 'demo' }] }, { logger: operations.logger })
 * const server = createServer((request, response) => void (operations.handle(request, response) || handler(request, response)))
 * server.listen(0, '127.0.0.1', () => server.close())
 */
export function createOperations(options: OperationsOptions): Operations {
  checkOptions(options, ['state', 'log', 'out', 'err', 'more', 'metrics'])
  const { state, log = 'json', more = () => ({}) } = options
  const { out = toStdout, err = line => void process.stderr.write(`${line}\n`) } = options
  const metrics = createMetrics(state)
  const shown = options.metrics ?? metrics.text
  return {
    logger: createAccessLog(log, { out, err, seen: metrics.count }),
    handle({ method, url = '', headers, socket }, response) {
      const path = url.split('?', 1)[0]
      if (path !== '/health' && path !== '/ready' && path !== '/metrics') return false
      const send = (status: number, type: string, body: string) => {
        response.writeHead(status, {
          'content-type': type,
          'cache-control': 'no-store',
          'content-length': Buffer.byteLength(body),
        })
        response.end(method === 'HEAD' ? undefined : body)
      }
      if (method !== 'GET' && method !== 'HEAD') {
        response.setHeader('allow', 'GET, HEAD')
        send(405, 'application/json', '{"error":{"message":"expected GET"}}')
      } else if (path !== '/health' && isRebound({ address: socket.remoteAddress, headers }))
        send(403, 'application/json', '{"error":{"message":"use the name localhost"}}')
      else if (path === '/metrics') void shown().then(({ type, body }) => send(200, type, body))
      else {
        const { status, body } =
          path === '/health' ? health() : ready({ ...more(), gateway: state() })
        send(status, 'application/json', JSON.stringify(body))
      }
      return true
    },
    metrics: metrics.values,
  }
}
